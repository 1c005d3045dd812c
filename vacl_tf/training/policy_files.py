# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads exported policies from files that anyone may have made.

A SavedModel is a program: whoever runs its graph runs what its author wrote. By
default no graph is run here: our own code builds the network that policy.json
describes, and the files provide only its variables.
"""

import os
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

from vacl_tf import agents
from vacl_tf import bounds
from vacl_tf import config
from vacl_tf import environments
from vacl_tf import presets
from vacl_tf import reading
from vacl_tf.environments import checked_simulator
from vacl_tf.training import checkpoints
from vacl_tf.training import export
from vacl_tf.training import files

_POLICY, _FACTS = 'saved_model', 'policy.json'
_VALUE = '.ATTRIBUTES/VARIABLE_VALUE'
_OBJECTS = '_CHECKPOINTABLE_OBJECT_GRAPH'  # An entry beside the variables.
# Parts of the names of variables, today and in older policies.
_RENAMED = ('encoder/hops/0/', 'encoder/')


class _Graph(NamedTuple):
  """A policy that runs the graph of a SavedModel."""

  act: Any
  initial_state: Any
  owner: Any  # Keeps the variables alive, which the functions do not.


def load_policy(
  directory: str | pathlib.Path, run_graph: bool = False
) -> tuple[export.Policy, dict[str, Any]]:
  """Returns an exported policy and the content of its policy.json.

  Args:
    directory: a run folder that has a saved_model folder, or that folder.
    run_graph: whether to run the graph in the folder instead of reading its
      variables into a network that is built here. Use this only for a policy
      whose author you trust as you would trust a program's. It is the way to
      use a policy whose world or agent is not known here.

  Raises:
    ValueError: the directory holds no exported policy, or the policy can't be
      used in this way.
  """
  directory = _exported(pathlib.Path(os.path.expanduser(directory)))
  if found := files.unreadable(directory):
    raise checkpoints.UnusableError(
      f'{directory} contains {found}, which TensorFlow cannot read in a path; '
      'rename the folder or move it'
    )
  facts = _read_facts(directory)
  if run_graph:
    return _load_graph(directory), facts
  try:
    # A policy may have been trained with a curriculum that is not known here.
    cfg = _restore(facts, lambda name: not name.startswith('curriculum.'))
    bounds.check(cfg)
    policy = _build(cfg, facts)
  except (ImportError, ValueError) as error:
    raise _unusable_facts(
      directory,
      f'{error}; if you trust its author, give run_graph to run its graph',
    ) from error
  _fill(policy, directory)
  return policy, facts


def _exported(directory: pathlib.Path) -> pathlib.Path:
  """Returns the saved_model folder of a run folder, or else the folder."""
  inside = directory / _POLICY
  try:
    is_run = not reading.kind(directory / _FACTS) and reading.kind(inside)
  except reading.UnreadableError:
    return directory  # Reading the policy reports what is wrong.
  return inside if is_run else directory


def trained_world(
  directory: pathlib.Path, facts: dict[str, Any]
) -> config.EnvironmentConfig:
  """Returns the constants of the world that a policy was trained in.

  Raises:
    UnusableError: the world is not known here, or a constant is not valid.
  """
  try:
    of_world = _restore(facts, lambda name: name.startswith('environment.'))
    return of_world.environment
  except ValueError as error:
    raise _unusable_facts(directory, error) from error


def _restore(
  facts: dict[str, Any], is_wanted: Callable[[str], bool]
) -> config.Config:
  """Returns the config of policy.json; fields not wanted have defaults."""
  values = facts['config'].items()
  cfg = presets.restore({name: x for name, x in values if is_wanted(name)})
  bounds.check_leaves(cfg, 'config.')
  return cfg


def _read_facts(directory: pathlib.Path) -> dict[str, Any]:
  """Returns the content of policy.json."""
  try:
    facts = reading.read_json(directory / _FACTS)
    for folder in (directory, directory / 'variables'):
      reading.check_folder(folder)
  except (FileNotFoundError, reading.UnreadableError) as error:
    raise checkpoints.UnusableError(
      f'{directory} holds no exported policy ({reading.reason(error)}); give '
      'a run folder that has one, or its saved_model folder'
    ) from error
  for name, kind in (('config', dict), ('roles', list)):
    if not isinstance(facts.get(name), kind):
      raise checkpoints.UnusableError(
        f'{directory}/policy.json has no {name!r}; export the policy again'
      )
  return facts


def _unusable_facts(
  directory: pathlib.Path, reason: Any
) -> checkpoints.UnusableError:
  return checkpoints.UnusableError(
    f'{directory}/policy.json: {reading.one_line(reason)}'
  )


def _load_graph(directory: pathlib.Path) -> _Graph:
  """Returns a policy that runs the graph of a SavedModel."""
  try:
    loaded = tf.saved_model.load(str(directory))
    act = loaded.signatures['act']
    _, inputs = act.structured_input_signature
    has_memory = any(x == 'memory' or x.startswith('memory_') for x in inputs)
    first = loaded.initial_state if has_memory else lambda batch, n: {}
    return _Graph(act, first, loaded)
  except Exception as error:  # A foreign graph may raise anything.
    raise checkpoints.UnusableError(
      f'{directory} holds no exported policy '
      f'({files.first_line(error)}); give the saved_model folder of a run'
    ) from error


def _build(cfg: config.Config, facts: dict[str, Any]) -> export.ExportedPolicy:
  """Returns an untrained policy as the facts describe it."""
  world = environments.make(cfg.environment)
  roles = world.roles
  if export.described(roles) != facts['roles']:
    raise ValueError(
      f'it was made for another version of {cfg.environment.name}: its '
      f'observations are {reading.one_line(facts["roles"])}'
    )
  agents.check(cfg, roles, lambda: checked_simulator.first_observations(world))
  return export.ExportedPolicy(agents.make(cfg, roles), roles)


def _fill(policy: export.ExportedPolicy, directory: pathlib.Path) -> None:
  """Sets the variables of a policy to those of a SavedModel."""
  wanted = _variables(policy)
  try:
    reader = tf.train.load_checkpoint(str(directory / 'variables/variables'))
    shapes = reader.get_variable_to_shape_map()
    shapes.pop(_OBJECTS, None)
    if not shapes.keys() >= wanted.keys():
      wanted = {
        x.replace(*_RENAMED): variable for x, variable in wanted.items()
      }
    expected = {name: x.shape.as_list() for name, x in wanted.items()}
    if shapes != expected:
      different = sorted(
        x for x in shapes | expected if shapes.get(x) != expected.get(x)
      )
      raise ValueError(f'{different[0]} does not fit the described network')
    for name, variable in wanted.items():
      variable.assign(reader.get_tensor(name))
  except (tf.errors.OpError, ValueError, IndexError, RuntimeError) as error:
    raise checkpoints.UnusableError(
      f'{directory}/variables cannot be read '
      f'({files.first_line(error)}); give the saved_model folder of '
      'another run'
    ) from error


def _variables(policy: export.ExportedPolicy) -> dict[str, tf.Variable]:
  """Returns the variables by their names in a SavedModel.

  TensorFlow names a variable by the shortest path to it, breadth first.
  """
  view = tf.train.TrackableView(policy)
  paths, nodes = {id(policy): ''}, [policy]
  for node in nodes:  # The list grows meanwhile.
    for name, child in view.children(node).items():
      if id(child) not in paths:
        name = name.replace('.', '..').replace('/', '.S')
        paths[id(child)] = f'{paths[id(node)]}{name}/'
        nodes.append(child)
  return {
    paths[id(node)] + _VALUE: node
    for node in nodes
    if isinstance(node, tf.Variable)
  }
