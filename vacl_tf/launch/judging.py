# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Evaluates and films trained policies, with any number of agents."""

import dataclasses
import pathlib
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf import reading
from vacl_tf import types
from vacl_tf.curriculum import base as curriculum_base
from vacl_tf.environments import base
from vacl_tf.environments import rendering
from vacl_tf.environments import simulator
from vacl_tf.launch import command_line
from vacl_tf.launch import records
from vacl_tf.launch import run_folder
from vacl_tf.training import checkpoints
from vacl_tf.training import evaluation
from vacl_tf.training import export
from vacl_tf.training import players
from vacl_tf.training import policy_files
from vacl_tf.training import rollout
from vacl_tf.training import run as run_lib

_CHECKPOINTS = 'checkpoints'
_ITERATION = 'run/iteration/.ATTRIBUTES/VARIABLE_VALUE'  # Key in a checkpoint.
_NUM_FILMED = 4
_PAUSE_FRAMES = 15  # At the end of a film, before it starts again.
# Separates these tasks from those of training and its evaluations.
_STREAM = 1_000_003


class Options(NamedTuple):
  """How to play.

  Attributes:
    num_tasks: number of tasks to play.
    seed: seed of tasks and actions.
    is_greedy: whether to take the most likely actions.
  """

  num_tasks: int
  seed: int
  is_greedy: bool


class Policy(NamedTuple):
  """A trained policy, and the world and roles that it was trained in."""

  acting: export.Policy
  world: config.EnvironmentConfig  # Constants of the training world.
  roles: list[dict[str, Any]]  # See `export.described`.


def load(
  run_dir: pathlib.Path | None,
  saved_model: pathlib.Path | None,
  run_graph: bool,
) -> Policy:
  """Returns the policy of a run, or an exported one.

  Raises:
    UsageError: there is no policy, or it can't be read.
    ValueError: the policy was not made by this library.
  """
  if bool(run_dir) == bool(saved_model):
    raise command_line.UsageError('give either a run_dir or a saved_model')
  if saved_model:
    run_folder.check_name(saved_model, 'saved_model')
  else:
    run_folder.check_name(run_dir)
  try:
    if saved_model:
      return _exported(saved_model, run_graph)
    is_exported = bool(reading.kind(run_dir / 'saved_model'))
    if is_exported and not _is_outdated(run_dir):
      return _exported(run_dir / 'saved_model', run_graph)
    return _from_checkpoint(run_dir, run_graph)
  except checkpoints.UnusableError as error:
    raise command_line.UsageError(str(error)) from error
  except reading.UnreadableError as error:
    raise command_line.UsageError(
      f'{error}; give the run_dir of another run'
    ) from error


def _exported(directory: pathlib.Path, run_graph: bool) -> Policy:
  """Returns an exported policy."""
  policy, facts = policy_files.load_policy(directory, run_graph)
  world = policy_files.trained_world(directory, facts)
  return Policy(policy, world, facts['roles'])


def _from_checkpoint(run_dir: pathlib.Path, run_graph: bool) -> Policy:
  """Returns the policy of a run that is in progress or was killed."""
  cfg = records.read_config(run_dir)
  if run_graph:
    raise command_line.UsageError(
      f'{run_dir} has no saved model of its newest checkpoint, so there is no '
      'graph to run; leave out run_graph'
    )
  try:
    bounds.check(cfg)
    envs = environments.load_all(cfg)
  except (ImportError, ValueError, TypeError) as error:
    raise command_line.UsageError(f'{run_dir}/config.json: {error}') from error
  directory = run_dir / _CHECKPOINTS
  try:
    reading.check_folder(directory)
  except FileNotFoundError:
    pass  # The run has not saved yet.
  try:
    run = run_lib.Run(cfg, envs)
  except curriculum_base.CurriculumError as error:
    raise command_line.UsageError(
      f'curriculum={cfg.curriculum.name}: {error}'
    ) from error
  saved = checkpoints.Checkpointer(run, directory, 1)
  if not saved.read_newest():
    raise command_line.UsageError(
      f'{run_dir} has neither saved_model/ nor an intact checkpoint yet'
    )
  policy = export.ExportedPolicy(run.judged, envs[-1].roles)
  return Policy(policy, cfg.environment, export.described(envs[-1].roles))


def _is_outdated(run_dir: pathlib.Path) -> bool:
  """Returns whether a run has gone on since its policy was exported."""
  try:
    facts = reading.read_json(run_dir / 'saved_model' / 'policy.json')
    reading.check_folder(run_dir / _CHECKPOINTS)
  except (FileNotFoundError, reading.UnreadableError):
    return False  # Reading the policy reports what is wrong.
  iteration = facts.get('iteration')
  return isinstance(iteration, int) and iteration < _newest_iteration(run_dir)


def _newest_iteration(run_dir: pathlib.Path) -> int:
  """Returns the iteration of the newest intact checkpoint, -1 without one."""
  newest = -1
  for index in (run_dir / _CHECKPOINTS).glob('ckpt-*.index'):
    try:
      reader = tf.train.load_checkpoint(str(index.with_suffix('')))
      newest = max(newest, int(reader.get_tensor(_ITERATION)))
    except (tf.errors.OpError, ValueError, IndexError, TypeError):
      continue  # The checkpoint is damaged, or has just been removed.
  return newest


def wanted_counts(
  trained: config.EnvironmentConfig,
  num_agents: int | None,
  num_boxes: int | None,
) -> dict[str, int | None]:
  """Returns {field: number of entities}; as in training if both are None."""
  if num_agents is not None:
    return {'num_agents': num_agents, 'num_boxes': num_boxes}
  if num_boxes is not None:
    return {'num_agents': trained.num_agents, 'num_boxes': num_boxes}
  return dict(zip(trained.count_fields, trained.counts, strict=True))


def make_world(
  trained: config.EnvironmentConfig,
  counts: dict[str, int | None],
  horizon: int | None = None,
) -> config.EnvironmentConfig:
  """Returns the constants of the training world with other entity counts.

  Args:
    trained: constants of the training world.
    counts: {field: number of entities}.
    horizon: steps of an episode; None for as many as in training.

  Raises:
    ValueError: there is no such world.
  """
  task = catalog.TASKS.get(trained.name)
  wanted = task.with_counts(**counts)
  changes = dict(zip(wanted.count_fields, wanted.counts, strict=True))
  if horizon is not None:
    changes['horizon'] = int(horizon)  # JSON has no NumPy integers.
  world = dataclasses.replace(trained, **changes)
  task.check(world)
  return world


def environment(policy: Policy, world: config.EnvironmentConfig) -> base.World:
  """Returns the world to play in.

  Raises:
    UsageError: the world can't be made, or the policy can't play it.
  """
  with command_line.as_usage_error(ImportError, ValueError, TypeError):
    env = environments.make(world)
  if export.described(env.roles) != policy.roles:
    raise command_line.UsageError(
      f'the policy was made for another version of {env.name}: its '
      f'observations are {reading.one_line(policy.roles)}'
    )
  return env


@simulator.out_of_graphs()
def judge(
  policy: Policy, world: config.EnvironmentConfig, options: Options
) -> dict[str, Any]:
  """Returns the results on fresh target tasks, by name.

  Raises:
    UsageError: the policy can't play the world.
  """
  task, judged = catalog.TASKS.get(world.name), world.horizon
  horizons = task.judged_horizons(world)
  longest = dataclasses.replace(world, horizon=max((judged, *horizons)))
  env = environment(policy, longest)
  player = players.ExportedPlayer(policy.acting, env, options.is_greedy)
  progress = player.progress(options.num_tasks, seed_of(options))
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
    'num_tasks': options.num_tasks,
    'horizon': judged,
    'seed': options.seed,
    'policy': 'greedy' if options.is_greedy else 'stochastic',
    'coverage': value[judged]._asdict(),
    'success': success._asdict(),
    'coverage_after': {
      str(steps): value[steps].mean for steps in sorted(value)
    },
    'unstable_worlds': player.num_unstable,
  }


@simulator.out_of_graphs()
def film(
  policy: Policy,
  world: config.EnvironmentConfig,
  options: Options,
  path: str,
) -> str:
  """Writes a video of a few episodes; returns its path."""
  env = environment(policy, world)
  player = players.ExportedPlayer(policy.acting, env, options.is_greedy)
  try:
    steps = player.film(_NUM_FILMED, seed_of(options))
    frames = [
      rendering.with_header(
        rendering.tile(pictures), f'step {step} of {len(steps) - 1}', env.legend
      )
      for step, pictures in enumerate(steps)
    ]
    frames += _PAUSE_FRAMES * frames[-1:]
    return str(rendering.write_video(frames, command_line.folder(path)))
  except base.WorldError:
    raise
  except OSError as error:
    raise command_line.UsageError(
      f'video={path} cannot be written ({reading.reason(error)}); give another '
      'one'
    ) from error
  except (NotImplementedError, ValueError) as error:
    raise command_line.UsageError(f'video={path}: {error}') from error


def seed_of(options: Options) -> types.Seed:
  """Returns the seed of tasks and worlds, which training never uses."""
  return randomness.fold(randomness.root(options.seed), _STREAM)
