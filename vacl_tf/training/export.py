# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exported policies, which need only TensorFlow: SavedModel, policy.json."""

import pathlib
import shutil
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import tensorflow as tf

import vacl_tf
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf import user_code
from vacl_tf.agents import base as agent_base
from vacl_tf.environments import base
from vacl_tf.networks import distributions
from vacl_tf.training import files

_FACTS = 'policy.json'
_OLD = '.old'


class Policy(Protocol):
  """Interface of an exported policy; see `ExportedPolicy`."""

  act: Callable[..., dict[str, tf.Tensor]]
  initial_state: Callable[..., dict[str, tf.Tensor]]


class ExportedPolicy(tf.Module):
  """An agent's policies as two functions, for any number of worlds and agents.

  `act` takes the observations under flat names (see `flat`), `seed` [2],
  `greedy` [] and, if the agent has a memory, its leaves: `memory`, or
  `memory_0`, `memory_1` and so on. It returns `action` and the parameters of
  its distribution for each role, and the memory after the step. `initial_state`
  takes the number of worlds, `batch`, and the number of agents, `n`, which is a
  list if there are several roles. It returns the initial memory.
  """

  def __init__(
    self, agent: agent_base.Agent, roles: tuple[types.Role, ...]
  ) -> None:
    super().__init__(name='policy')
    self._roles = roles
    self._agent_act = agent.act
    self._policies = agent.policies  # Acting does not need the values.
    if agent.others:  # Without any, names stay as in older policies.
      self._others = agent.others
    self._initial = agent.initial_memory
    num_roles = len(roles)
    self._structure = self._initial(
      tf.constant(1), [tf.constant(1)] * num_roles
    )
    leaves = tf.nest.flatten(self._structure)
    others = tf.nest.flatten(
      self._initial(tf.constant(2), [tf.constant(2)] * num_roles)
    )
    self._names = memory_names(len(leaves))
    memory_specs = {
      # The numbers of worlds and agents may vary.
      name: tf.TensorSpec(_varying(x.shape, y.shape), x.dtype, name)
      for name, x, y in zip(self._names, leaves, others, strict=True)
    }
    self.act = tf.function(self._act, autograph=False).get_concrete_function(
      seed=tf.TensorSpec([2], tf.int32, 'seed'),
      greedy=tf.TensorSpec([], tf.bool, 'greedy'),
      **specs(roles),
      **memory_specs,
    )
    self.initial_state = tf.function(
      self._first,
      input_signature=[
        tf.TensorSpec([], tf.int32, 'batch'),
        tf.TensorSpec([num_roles][: num_roles > 1], tf.int32, 'n'),
      ],
      autograph=False,
    )

  def _first(self, batch: tf.Tensor, n: tf.Tensor) -> dict[str, tf.Tensor]:
    counts = tf.unstack(n) if len(self._roles) > 1 else [n]
    leaves = tf.nest.flatten(self._initial(batch, counts))
    return dict(zip(self._names, leaves, strict=True))

  def _act(
    self, seed: types.Seed, greedy: tf.Tensor, **given: tf.Tensor
  ) -> dict[str, tf.Tensor]:
    memory = tf.nest.pack_sequence_as(
      self._structure, [given[name] for name in self._names]
    )
    observations = tuple(
      _observation(given, prefix(self._roles, role), role)
      for role in self._roles
    )
    chosen, memory = self._agent_act(observations, memory)
    found = dict(zip(self._names, tf.nest.flatten(memory), strict=True))
    for index, role in enumerate(self._roles):
      start, distribution = prefix(self._roles, role), chosen[index]
      shape = tf.shape(observations[index].own)[:2]
      shape = tf.concat([shape, [*role.action.shape]], 0)
      # Not seed + 1: the first role may be given that seed in the next step.
      own_seed = randomness.fold(seed, index) if index else seed
      drawn = distribution.draw(randomness.uniform(own_seed, shape))
      outputs = distribution.outputs()
      found |= {start + name: x for name, x in outputs.items()}
      found[start + 'action'] = tf.where(greedy, distribution.mode(), drawn)
    return found


def check(agent: agent_base.Agent, roles: tuple[types.Role, ...]) -> None:
  """Raises ValueError if an agent of a user's can't be exported."""
  try:
    ExportedPolicy(agent, roles).initial_state.get_concrete_function()
  except Exception as error:
    raise ValueError(f'export failed: {user_code.told(error)}') from error


def _varying(one: tf.TensorShape, other: tf.TensorShape) -> list[int | None]:
  """Returns the dimensions of two shapes, None where they differ."""
  return [a if a == b else None for a, b in zip(one, other, strict=True)]


def memory_names(number: int) -> list[str]:
  """Returns the flat names of the leaves of a memory."""
  if number == 1:
    return ['memory']
  return [f'memory_{index}' for index in range(number)]


def export(
  agent: agent_base.Agent,
  env: base.World,
  cfg: config.Config,
  directory: pathlib.Path,
  progress: Mapping[str, float] | None = None,
) -> None:
  """Writes a SavedModel with `act` and `initial_state`, and policy.json.

  An existing directory is replaced once the new one is complete.

  Args:
    agent: the agent whose policies are exported.
    env: world in which the agent was trained.
    cfg: constants with which the agent was trained.
    directory: where to write.
    progress: how far training had come; part of policy.json.

  Raises:
    WriteError: the directory can't be written; the old one is unchanged.
  """
  beside, old = _beside(directory)
  exported = ExportedPolicy(agent, env.roles)
  with files.writing(directory, tf.errors.OpError):
    shutil.rmtree(beside, ignore_errors=True)
    try:
      tf.saved_model.save(
        exported, str(beside), signatures={'act': exported.act}
      )
      for path in beside.rglob('*'):
        files.sync(path)
      # Written last: its presence shows that the export is complete.
      files.write_json(beside / _FACTS, facts(env, cfg) | dict(progress or {}))
    except Exception:
      shutil.rmtree(beside, ignore_errors=True)
      raise
    if directory.exists():
      shutil.rmtree(old, ignore_errors=True)
      directory.rename(old)
    beside.rename(directory)
    files.sync(directory.parent)
    shutil.rmtree(old, ignore_errors=True)


def recover(directory: pathlib.Path) -> None:
  """Cleans up after an interrupted export; keeps a complete policy, if any.

  Raises:
    WriteError: a folder can't be renamed or removed.
  """
  with files.writing(directory):
    for beside in _beside(directory):
      if not directory.exists() and (beside / _FACTS).exists():
        beside.rename(directory)
      if beside.exists():
        shutil.rmtree(beside)


def _beside(directory: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
  """Returns where a new policy is written, and where the old one is kept."""
  name = directory.name
  return directory.with_name(name + files.NEW), directory.with_name(name + _OLD)


def facts(env: base.World, cfg: config.Config) -> dict[str, Any]:
  """Returns what is needed to use a policy without its run."""
  space, world = env.task_space, cfg.environment
  return {
    'env': env.name,
    **dict(zip(world.count_fields, world.counts, strict=True)),
    # JSON can't encode NumPy's numbers.
    'horizon': int(env.horizon),
    'num_task_dims': int(space.num_dims),
    'num_task_entities': int(space.num_entities),
    'roles': described(env.roles),
    'config': overrides.leaves(cfg),
    'version': vacl_tf.__version__,
  }


def described(roles: tuple[types.Role, ...]) -> list[dict[str, Any]]:
  """Returns the properties of roles that networks depend on, as JSON."""
  return [
    {
      'name': role.name,
      **_action(role),
      'own_size': int(role.own_size),
      'entity_sizes': {x: int(size) for x, size in role.entity_sizes.items()},
      **({'mask_kinds': list(role.mask_kinds)} if role.mask_kinds else {}),
    }
    for role in roles
  ]


def _action(role: types.Role) -> dict[str, Any]:
  """Returns the number of choices, or the bounds, of an action."""
  spec = role.action
  if spec.dtype.kind == 'f':
    return {'low': spec.minimum.tolist(), 'high': spec.maximum.tolist()}
  if not spec.shape:
    return {'num_actions': distributions.num_outputs(spec)}
  return {'num_actions': list(distributions.sizes(spec))}


def flat(
  roles: tuple[types.Role, ...], observations: types.Observations
) -> dict[str, tf.Tensor]:
  """Returns observations under the flat names of an exported policy.

  The names are `own`, each kind of entity and `<kind>_mask`. If there are
  several roles, all names begin with `<role>_`.
  """
  named = {}
  for role, observation in zip(roles, observations, strict=True):
    start = prefix(roles, role)
    named[start + 'own'] = observation.own
    for kind in role.entity_sizes:
      named[start + kind] = observation.entities[kind]
    for kind in role.mask_kinds:
      named[f'{start}{kind}_mask'] = observation.masks[kind]
  return named


def _observation(
  given: Mapping[str, tf.Tensor], start: str, role: types.Role
) -> types.Observation:
  """Returns the observation of a role; the inverse of `flat`."""
  return types.Observation(
    own=given[start + 'own'],
    entities={kind: given[start + kind] for kind in role.entity_sizes},
    masks={kind: given[f'{start}{kind}_mask'] for kind in role.mask_kinds},
  )


def prefix(roles: tuple[types.Role, ...], role: types.Role) -> str:
  """Returns the prefix of a role's flat names; '' if there is only one role."""
  return f'{role.name}_' if len(roles) > 1 else ''


def specs(roles: tuple[types.Role, ...]) -> dict[str, tf.TensorSpec]:
  """Returns the specs of those arguments of `act` that are observations."""
  found = {}
  for role in roles:
    start = prefix(roles, role)
    name = start + 'own'
    found[name] = tf.TensorSpec([None, None, role.own_size], name=name)
    for kind, size in role.entity_sizes.items():
      name = start + kind
      found[name] = tf.TensorSpec([None, None, None, size], name=name)
    for kind in role.mask_kinds:
      name = f'{start}{kind}_mask'
      found[name] = tf.TensorSpec([None, None, None], tf.bool, name)
  return found
