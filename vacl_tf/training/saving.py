# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that never lose a run, and policies that need no vacl_tf."""

import json
import pathlib
import re
import shutil
from collections.abc import Callable
from typing import Any

import tensorflow as tf

import vacl_tf
from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.networks import policy_value
from vacl_tf.networks import recurrent
from vacl_tf.training import rollout

# What TensorFlow raises for files that are cut short, damaged or of another
# object.
_BROKEN = (tf.errors.OpError, AssertionError, IndexError, ValueError)
_NUMBER = re.compile(r'ckpt-(\d+)\.')
_GRAPH_NODE = re.compile(r'{{.*?}} ?')  # Where in a graph; no help to a user.

Exported = Callable[..., dict[str, tf.Tensor]]  # `act` of an exported policy.


class UnusableError(Exception):
  """What was saved can't be read; the message says the remedy."""


class Checkpointer:
  """Saves a run and brings the newest whole checkpoint back.

  tf.train.CheckpointManager alone starts afresh in silence when its
  `checkpoint` file is missing and fails on a truncated checkpoint. Here files
  are tried from the newest on, a broken one is set aside as *.broken, and its
  number is never used again.
  """

  def __init__(
    self, run: tf.Module, directory: pathlib.Path, max_to_keep: int
  ) -> None:
    self._run = run
    self._checkpoint = tf.train.Checkpoint(run=run)
    self._directory = directory
    self._max_to_keep = max_to_keep
    self._manager: tf.train.CheckpointManager | None = None

  def restore(self, report: Callable[[str], None]) -> bool:
    """Restores the newest checkpoint that is whole, to train on from it.

    Args:
      report: is told of each broken one, which is set aside.

    Returns:
      Whether there was one; False only if the directory holds none at all.

    Raises:
      UnusableError: there are checkpoint files, but none is whole.
    """

    def set_aside(number: int, reason: str) -> None:
      for path in self._directory.glob(f'ckpt-{number}.*'):
        path.rename(f'{path}.broken')
      report(
        f'{self._directory}/ckpt-{number} is broken and set aside ({reason})'
      )

    is_restored = self.read_newest(set_aside)
    if not is_restored and any(self._directory.glob('ckpt-*')):
      raise UnusableError(
        f'no checkpoint in {self._directory} is whole; to start anew, use '
        'another --run_dir or remove this one'
      )
    self._start_manager()
    return is_restored

  def read_newest(
    self, on_broken: Callable[[int, str], None] = lambda number, reason: None
  ) -> bool:
    """Reads the newest checkpoint that is whole; returns if there was one."""
    for number in sorted(self._numbers('.index'), reverse=True):
      try:
        path = str(self._directory / f'ckpt-{number}')
        # Anew each time: one that failed to restore tries again later on.
        self._checkpoint = tf.train.Checkpoint(run=self._run)
        self._checkpoint.restore(path).assert_existing_objects_matched()
        return True
      except _BROKEN as error:
        on_broken(number, _first_line(error))
    return False

  def save(self) -> str:
    """Writes the next checkpoint, then removes the oldest ones."""
    return self._manager.save(1 + max(self._numbers(), default=0))

  def _numbers(self, suffix: str = '') -> set[int]:
    """Returns the numbers of checkpoint files whose names end in suffix."""
    names = [path.name for path in self._directory.glob(f'ckpt-*{suffix}')]
    return {int(found.group(1)) for found in map(_NUMBER.match, names) if found}

  def _start_manager(self) -> None:
    """Makes the manager know the files there are, whatever it wrote last."""
    self._directory.mkdir(parents=True, exist_ok=True)
    names = [f'ckpt-{number}' for number in sorted(self._numbers('.index'))]
    if names:
      # The file that a manager looks at, in the format of its text proto.
      lines = [f'model_checkpoint_path: "{names[-1]}"']
      for name in names:
        # Without a time above 0 the manager would never remove it.
        lines += [f'all_model_checkpoint_paths: "{name}"']
        lines += ['all_model_checkpoint_timestamps: 1.0']
      write_text(self._directory / 'checkpoint', '\n'.join(lines) + '\n')
    self._manager = tf.train.CheckpointManager(
      self._checkpoint, str(self._directory), self._max_to_keep
    )


def _first_line(error: Exception) -> str:
  """Returns what an error says, short enough for one line."""
  text = _GRAPH_NODE.sub('', str(error)).strip() or repr(error)
  return text.splitlines()[0][:200]


def write_text(path: pathlib.Path, text: str) -> None:
  """Writes a file whole or not at all."""
  beside = path.with_name(path.name + '.new')
  beside.write_text(text)
  beside.replace(path)


def write_json(path: pathlib.Path, content: Any) -> None:
  """Writes a JSON file whole or not at all."""
  write_text(path, json.dumps(content, indent=2) + '\n')


class ExportedPolicy(tf.Module):
  """The networks behind two functions, for any number of worlds and agents."""

  def __init__(
    self,
    network: policy_value.PolicyValue | recurrent.PolicyValue,
    roles: tuple[types.Role, ...],
  ) -> None:
    super().__init__(name='policy')
    self._roles = roles
    self._policies = network.policies  # The value is of no use any more.
    act, specs, sizes = self._act, _specs(roles), {}
    if isinstance(network, recurrent.PolicyValue):
      self._remember = network.act
      act, sizes = self._act_with_memory, {'memory': network.hidden_size}
    for name, size in sizes.items():
      specs[name] = tf.TensorSpec([None, None, size], name=name)
    self.act = tf.function(act, autograph=False).get_concrete_function(
      seed=tf.TensorSpec([2], tf.int32, 'seed'),
      greedy=tf.TensorSpec([], tf.bool, 'greedy'),
      **specs,
    )
    self.initial_state = tf.function(
      lambda batch, n: {
        name: tf.zeros(tf.stack([batch, n, size]))
        for name, size in sizes.items()
      },
      input_signature=[
        tf.TensorSpec([], tf.int32, 'batch'),
        tf.TensorSpec([], tf.int32, 'n'),
      ],
    )

  def _act(
    self, seed: types.Seed, greedy: tf.Tensor, **seen: tf.Tensor
  ) -> dict[str, tf.Tensor]:
    """Returns `action` [B, n] and `logits` [B, n, A] for flat observations."""
    found = {}
    for index, role in enumerate(self._roles):
      start = prefix(self._roles, role)
      observation = types.Observation(
        own=seen[start + 'own'],
        entities={kind: seen[start + kind] for kind in role.entity_sizes},
        masks={},
      )
      logits = self._policies[index](observation)
      found[start + 'logits'] = logits
      found[start + 'action'] = tf.where(
        greedy,
        rollout.greedy(logits),
        rollout.explore(logits, seed + index),
      )
    return found

  def _act_with_memory(
    self,
    seed: types.Seed,
    greedy: tf.Tensor,
    memory: tf.Tensor,
    **seen: tf.Tensor,
  ) -> dict[str, tf.Tensor]:
    """Returns `action` [B, n, heads], `logits` of all heads and `memory`."""
    own = seen.pop('own')
    distribution, memory = self._remember(own, seen, memory)
    shape = [tf.shape(own)[0], tf.shape(own)[1], distribution.num_heads]
    drawn = distribution.draw(randomness.uniform(seed, tf.stack(shape)))
    return {
      'action': tf.where(greedy, distribution.mode(), drawn),
      'logits': distribution.logits,
      'memory': memory,
    }


def export(
  network: policy_value.PolicyValue | recurrent.PolicyValue,
  env: base.World,
  cfg: config.Config,
  directory: pathlib.Path,
) -> None:
  """Writes a SavedModel with `act` and `initial_state`, and policy.json.

  A directory that is already there is replaced once the new one is whole.
  """
  beside = directory.with_name(directory.name + '.new')
  shutil.rmtree(beside, ignore_errors=True)
  exported = ExportedPolicy(network, env.roles)
  tf.saved_model.save(exported, str(beside), signatures={'act': exported.act})
  write_json(beside / 'policy.json', facts(env, cfg))
  shutil.rmtree(directory, ignore_errors=True)
  beside.rename(directory)


def facts(env: base.World, cfg: config.Config) -> dict[str, Any]:
  """Returns what is needed to use a policy without the run that made it."""
  space = env.task_space
  return {
    'env': env.name,
    'num_agents': cfg.environment.num_agents,
    'num_boxes': cfg.environment.num_boxes,
    'horizon': env.horizon,
    'num_task_dims': space.num_dims,
    'num_task_entities': space.num_entities,
    'roles': described(env.roles),
    'config': config.leaves(cfg),
    'version': vacl_tf.__version__,
  }


def described(roles: tuple[types.Role, ...]) -> list[dict[str, Any]]:
  """Returns what the networks of the roles depend on, as JSON has it."""
  return [
    {
      'name': role.name,
      'num_actions': list(role.num_actions)
      if isinstance(role.num_actions, tuple)
      else role.num_actions,
      'own_size': role.own_size,
      'entity_sizes': dict(role.entity_sizes),
    }
    for role in roles
  ]


def load_policy(
  directory: pathlib.Path,
) -> tuple[Exported, dict[str, Any]]:
  """Returns `act` of an exported policy and what policy.json says.

  Raises:
    UnusableError: there is no exported policy in the directory.
  """
  try:
    known = json.loads((directory / 'policy.json').read_text())
    loaded = tf.saved_model.load(str(directory))
    act = loaded.signatures['act']
  except (OSError, ValueError, KeyError, tf.errors.OpError) as error:
    raise UnusableError(
      f'{directory} holds no exported policy ({_first_line(error)}); give the '
      'saved_model folder of a run'
    ) from error
  # The function does not keep alive what its variables belong to.
  act.policy = loaded
  return act, known


def flat(
  roles: tuple[types.Role, ...], observations: types.Observations
) -> dict[str, tf.Tensor]:
  """Returns observations under the flat names of an exported policy."""
  named = {}
  for role, observation in zip(roles, observations, strict=True):
    start = prefix(roles, role)
    named[start + 'own'] = observation.own
    for kind, seen in observation.entities.items():
      named[start + kind] = seen
  return named


def prefix(roles: tuple[types.Role, ...], role: types.Role) -> str:
  """Returns what tells the roles' names apart, nothing if there is one."""
  return f'{role.name}_' if len(roles) > 1 else ''


def _specs(roles: tuple[types.Role, ...]) -> dict[str, tf.TensorSpec]:
  """Returns the arguments of `act` that are observations."""
  specs = {}
  for role in roles:
    start = prefix(roles, role)
    name = start + 'own'
    specs[name] = tf.TensorSpec([None, None, role.own_size], name=name)
    for kind, size in role.entity_sizes.items():
      name = start + kind
      specs[name] = tf.TensorSpec([None, None, None, size], name=name)
  return specs
