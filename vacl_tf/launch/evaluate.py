# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Evaluates a trained policy: python -m vacl_tf.launch.evaluate --run_dir=DIR.

Works for a number of agents that the policy never saw.
"""

import dataclasses
import json
import os
import pathlib
import sys
from typing import Any, NamedTuple

import numpy as np
from absl import flags

from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import reading
from vacl_tf.launch import command_line
from vacl_tf.launch import records

# oneDNN complains about integers, in a line that means nothing to a user.
os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')
with command_line.quiet_imports():
  import tensorflow as tf

  tf.config.list_physical_devices('GPU')  # Looking for one complains too.

from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import rendering
from vacl_tf.training import checkpoints
from vacl_tf.training import evaluation
from vacl_tf.training import export
from vacl_tf.training import files
from vacl_tf.training import players
from vacl_tf.training import policy_files
from vacl_tf.training import rollout
from vacl_tf.training import run as run_lib

_SAVED_MODEL = flags.DEFINE_string(
  'saved_model', None, 'Folder of an exported policy, instead of --run_dir.'
)
_RUN_GRAPH = flags.DEFINE_bool(
  'run_graph',
  False,
  'Run the program that the saved model is; only if you trust its author.',
)
_NUM_AGENTS = flags.DEFINE_list(
  'num_agents', None, 'Agents in each world, like 4,8,24; default: as trained.'
)
_NUM_BOXES = flags.DEFINE_integer(
  'num_boxes',
  None,
  'Boxes, if the task has any; default: as trained, or as --num_agents.',
)
_NUM_TASKS = flags.DEFINE_integer(
  'num_tasks', 500, 'Tasks.', lower_bound=2, upper_bound=100_000
)
_VIDEO = flags.DEFINE_string(
  'video', None, 'FILE.gif or FILE.mp4 of four episodes.'
)
_STOCHASTIC = flags.DEFINE_bool(
  'stochastic', False, 'Act as in training instead of greedily.'
)

_CHECKPOINTS = 'checkpoints'
_ITERATION = 'run/iteration/.ATTRIBUTES/VARIABLE_VALUE'  # In one of them.
_NUM_FILMED = 4
# Keeps these tasks apart from those of training and its evaluations.
_STREAM = 1_000_003


class _Policy(NamedTuple):
  """A trained policy and what is known of it."""

  acting: export.Policy
  world: config.EnvironmentConfig  # That it was trained in.
  roles: list[dict[str, Any]]  # See `export.described`.


def _from_checkpoint(run_dir: pathlib.Path) -> _Policy:
  """Returns the policy of a run that is in progress or was killed."""
  cfg = records.read_config(run_dir)
  try:
    bounds.check(cfg)
    envs = environments.load_all(cfg)
  except (ImportError, ValueError, TypeError) as error:
    raise command_line.UsageError(f'{run_dir}/config.json: {error}') from error
  directory = run_dir / _CHECKPOINTS
  try:
    reading.check_folder(directory)
  except FileNotFoundError:
    pass  # It has not saved yet.
  except reading.UnreadableError as error:
    raise command_line.UsageError(
      f'{error}; give the run_dir of another run'
    ) from error
  run = run_lib.Run(cfg, envs)
  saved = checkpoints.Checkpointer(run, directory, 1)
  if not saved.read_newest():
    raise command_line.UsageError(
      f'{run_dir} has neither saved_model/ nor a whole checkpoint yet'
    )
  policy = export.ExportedPolicy(run.agent, envs[-1].roles)
  return _Policy(policy, cfg.environment, export.described(envs[-1].roles))


def _exported(directory: pathlib.Path) -> _Policy:
  """Returns an exported policy."""
  policy, facts = policy_files.load_policy(directory, _RUN_GRAPH.value)
  world = policy_files.trained_world(directory, facts)
  return _Policy(policy, world, facts['roles'])


def _is_outdated(run_dir: pathlib.Path) -> bool:
  """Returns whether a run has gone on since its policy was exported."""
  try:
    facts = reading.read_json(run_dir / 'saved_model' / 'policy.json')
    reading.check_folder(run_dir / _CHECKPOINTS)
  except (FileNotFoundError, reading.UnreadableError):
    return False  # Whoever reads the policy says what is wrong.
  iteration = facts.get('iteration')
  return isinstance(iteration, int) and iteration < _newest_iteration(run_dir)


def _newest_iteration(run_dir: pathlib.Path) -> int:
  """Returns the iteration of the newest whole checkpoint, -1 if none is."""
  newest = -1
  for index in (run_dir / _CHECKPOINTS).glob('ckpt-*.index'):
    try:
      reader = tf.train.load_checkpoint(str(index.with_suffix('')))
      newest = max(newest, int(reader.get_tensor(_ITERATION)))
    except (tf.errors.OpError, ValueError, IndexError, TypeError):
      continue  # It is damaged, or was removed meanwhile.
  return newest


def _load() -> _Policy:
  """Returns the policy that the flags name."""
  run_dir, saved_model = command_line.RUN_DIR.value, _SAVED_MODEL.value
  if (run_dir is None) == (saved_model is None):
    raise command_line.UsageError('give either --run_dir or --saved_model')
  if saved_model is not None:
    return _exported(command_line.folder(saved_model))
  folder = command_line.folder(run_dir)
  if (folder / 'saved_model').exists() and not _is_outdated(folder):
    return _exported(folder / 'saved_model')
  return _from_checkpoint(folder)


def _counts(trained: config.EnvironmentConfig) -> list[dict[str, int | None]]:
  """Returns the wanted numbers of entities, by field of the world."""
  num_boxes = _NUM_BOXES.value
  if _NUM_AGENTS.value is None:
    if num_boxes is None:
      return [dict(zip(trained.count_fields, trained.counts, strict=True))]
    return [{'num_agents': trained.num_agents, 'num_boxes': num_boxes}]
  try:
    numbers = [int(number) for number in _NUM_AGENTS.value]
  except ValueError:
    numbers = []
  if not numbers:
    raise command_line.UsageError(
      f'num_agents={",".join(_NUM_AGENTS.value)} is not a list of numbers; '
      'give one like 4,8,24'
    )
  return [{'num_agents': x, 'num_boxes': num_boxes} for x in numbers]


def _world(
  trained: config.EnvironmentConfig, counts: dict[str, int | None]
) -> config.EnvironmentConfig:
  """Returns the constants of the world with the wanted counts.

  These are the ones of training, except those that follow from the counts.
  """
  task = catalog.TASKS.get(trained.name)
  wanted = task.with_counts(**counts)
  usual = task.with_counts(
    **dict(zip(trained.count_fields, trained.counts, strict=True))
  )
  names = [field.name for field in dataclasses.fields(wanted)]
  changes = {
    name: getattr(wanted, name)
    for name in names
    if getattr(wanted, name) != getattr(usual, name)
  }
  return dataclasses.replace(trained, **changes)


def _environment(
  policy: _Policy, world: config.EnvironmentConfig
) -> base.World:
  """Returns the world to play in.

  Raises:
    UsageError: there is none, or the policy can't play it.
  """
  try:
    env = environments.make(world)
  except (ImportError, ValueError, TypeError) as error:
    raise command_line.UsageError(str(error)) from error
  if export.described(env.roles) != policy.roles:
    raise command_line.UsageError(
      f'the policy was made for another version of {env.name}: its '
      f'observations are {reading.one_line(policy.roles)}'
    )
  return env


def _judge(policy: _Policy, world: config.EnvironmentConfig) -> dict[str, Any]:
  """Returns the results on fresh target tasks, by name."""
  task, judged = catalog.TASKS.get(world.name), world.horizon
  horizons = task.judged_horizons(world)
  longest = dataclasses.replace(world, horizon=max((judged, *horizons)))
  env = _environment(policy, longest)
  player = players.ExportedPlayer(policy.acting, env, not _STOCHASTIC.value)
  progress = player.progress(_NUM_TASKS.value, _seed())
  value = {
    steps: evaluation.estimate(np.asarray(rollout.task_value(progress[:steps])))
    for steps in (judged, *horizons)
  }
  success = evaluation.estimate(
    np.asarray(rollout.is_success(progress[:judged]), np.float32)
  )
  return {
    'env': world.name,
    'num_agents': world.num_agents,
    'counts': entity_counts.spelled(world.counts),
    'trained_with': entity_counts.spelled(policy.world.counts),
    'num_tasks': _NUM_TASKS.value,
    'horizon': judged,
    'seed': command_line.SEED.value,
    'policy': 'stochastic' if _STOCHASTIC.value else 'greedy',
    'coverage': value[judged]._asdict(),
    'success': success._asdict(),
    'coverage_after': {
      str(steps): value[steps].mean for steps in sorted(value)
    },
    'unstable_worlds': player.num_unstable,
  }


def _seed() -> types.Seed:
  return randomness.fold(randomness.root(command_line.SEED.value), _STREAM)


def _check_video(path: str) -> None:
  try:
    rendering.check_suffix(pathlib.Path(path))
  except ValueError as error:
    raise command_line.UsageError(f'video: {error}') from error


def _film(policy: _Policy, world: config.EnvironmentConfig, path: str) -> str:
  """Writes a video of a few tasks; returns where it is."""
  env = _environment(policy, world)
  player = players.ExportedPlayer(policy.acting, env, not _STOCHASTIC.value)
  try:
    steps = player.film(_NUM_FILMED, _seed())
    frames = [rendering.tile(pictures) for pictures in steps]
    return str(rendering.write_video(frames, command_line.folder(path)))
  except (NotImplementedError, OSError, ValueError) as error:
    raise command_line.UsageError(f'video={path}: {error}') from error


def _print(found: list[dict[str, Any]]) -> None:
  """Prints a line for each number of agents."""
  first = found[0]
  print(
    f'{first["env"]}, {first["policy"]} policy trained with n = '
    f'{first["trained_with"]}, {first["num_tasks"]} target tasks each'
  )
  measures = catalog.TASKS.get(first['env']).measures
  print('agents  steps  {:23}  {}'.format(*measures))
  for row in found:
    coverage = evaluation.Estimate(**row['coverage'])
    success = evaluation.Estimate(**row['success'])
    line = f'{row["counts"]:>6}  {row["horizon"]:5}  {coverage}  {success}'
    others = [
      f'{mean:.4f} after {steps}'
      for steps, mean in row['coverage_after'].items()
      if int(steps) != row['horizon']
    ]
    print('  '.join([line, *others]))
  print('(means over tasks with their 95 % interval over tasks, one policy)')
  if num_unstable := sum(row['unstable_worlds'] for row in found):
    print(f'({num_unstable} diverged simulations were reset)')


def main() -> int:
  """Prints coverage, success rate and their intervals."""
  if _VIDEO.value:
    _check_video(_VIDEO.value)
  try:
    policy = _load()
    trained = policy.world
    worlds = [_world(trained, counts) for counts in _counts(trained)]
    for world in worlds:  # All of them, before the first is played.
      catalog.TASKS.get(world.name).check(world)
  except (checkpoints.UnusableError, ValueError) as error:
    raise command_line.UsageError(str(error)) from error
  try:
    found = [_judge(policy, world) for world in worlds]
  except base.WorldError as error:
    return command_line.fail(f'env={trained.name}: {error}')
  except (tf.errors.OpError, TypeError, ValueError) as error:
    if not _RUN_GRAPH.value:
      raise
    return command_line.fail(
      f'{_SAVED_MODEL.value}: its graph cannot play {trained.name} '
      f'({files.first_line(error)}); give another --saved_model'
    )
  if not command_line.JSON.value:
    _print(found)
  elif len(found) == 1:
    print(json.dumps(found[0]))
  else:
    print(json.dumps({row['counts']: row for row in found}))
  if _VIDEO.value:
    path = _film(policy, worlds[-1], _VIDEO.value)
    # Standard output is JSON's alone.
    output = sys.stderr if command_line.JSON.value else sys.stdout
    print(f'video: {path}', file=output)
  return 0


if __name__ == '__main__':
  command_line.start(main, is_printer=True)
