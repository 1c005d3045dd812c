# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Short trials of tasks and agents: do they fulfil their contract?

Each trial returns a line on what it found. If something is wrong, it raises
ValueError or CurriculumError with a message of one line.
"""

import contextlib
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from dm_env import specs
from scipy import stats

from vacl_tf import agents
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf import user_code
from vacl_tf.curriculum import base as curriculum_base
from vacl_tf.environments import base
from vacl_tf.environments import box_tasks
from vacl_tf.environments import checked_simulator
from vacl_tf.environments import simulator
from vacl_tf.environments import task_space
from vacl_tf.environments import task_spec
from vacl_tf.launch import library
from vacl_tf.launch import plot_curriculum
from vacl_tf.training import rollout

_NUM_WORLDS = 50
_FEW_WORLDS = 10  # If they are large.
_MANY = 16  # Most entities of a kind to try, or twice the task's own number.
_ATOL = 1e-3  # Between placed tasks and the same tasks read back.
# The best progress of episodes with random actions. On easy tasks it is this
# much above that on target tasks, or as good and above the second number.
_CLEARLY, _ALMOST_SOLVED = 0.1, 0.9
_RARELY = 0.05  # Up to here, random actions solve next to no target tasks.
_NUM_DRAWS = 500
_OTHER = 0.2  # Distance between two distributions of a number; 0.1 is chance.
_MOST_UNEQUAL = 3.0  # Ratio of the widths of two numbers of a task.


class _Played(NamedTuple):
  """How tasks went with random actions, means over the tasks."""

  best: float  # Largest progress of an episode.
  final: float  # Progress in the last steps.
  offset: float  # Largest difference between a placed task and `read_task`.


def told_of(error: BaseException, name: str = '') -> str:
  """Returns an error in words, to be appended to the name of what was tried.

  That is the message of a check of ours, or else what the user's code raised,
  also inside a graph.
  """
  checks = curriculum_base.CurriculumError | base.WorldError
  is_ours = isinstance(error, ValueError) and not user_code.is_within(error)
  if is_ours or isinstance(error, checks):
    return ': ' + re.sub(rf'^\w+={name}: ', '', str(error))
  return f' failed: {user_code.told(error)}'


def of_task(name: str) -> str:
  """Plays easy and target tasks with random actions, and draws some worlds.

  The task's own entity count is tried, and a larger one if the task has one.
  What may be a mistake is a note, a line of its own.
  """
  task = catalog.TASKS.get(name)
  line, space, easy, target = _of_counts(task, {}, _NUM_WORLDS)
  offset = easy.offset
  if larger := _larger_counts(task):
    told = ' and '.join(f'{field}={x}' for field, x in larger.items())
    try:
      *_, other, _ = _of_counts(task, larger, _FEW_WORLDS)
    except (Exception, SystemExit) as error:
      raise ValueError(told + told_of(error, name)) from error
    line += f'; also played with {told}'
    offset = max(offset, other.offset)
  lines = [line]
  if not _are_easier(space, easy, target):
    lines.append(
      f'note: progress reaches {easy.best:.2f} on easy and {target.best:.2f} '
      'on target tasks; VACL expands from tasks that begin (almost) solved: '
      'check the function that draws easy tasks'
    )
  lines += _notes_on_widths(space)
  if offset > _ATOL:
    lines.append(
      f'note: read_task differs by up to {offset:.2g} from the task just '
      'placed; it should return that task, unless worlds start with noise'
    )
  return '\n'.join(lines)


def _are_easier(
  space: task_space.TaskSpace, easy: _Played, target: _Played
) -> bool:
  """Returns whether easy tasks are clearly easier, or nothing can tell."""
  is_clear = easy.best > target.best + _CLEARLY
  if is_clear or easy.best >= max(target.best, _ALMOST_SOLVED):
    return True
  if target.best > _RARELY:
    return False
  # Random actions hardly ever solve anything. Are the tasks others, at least?
  tasks = (
    np.asarray(sample(_NUM_DRAWS, randomness.root(1))).T
    for sample in (space.sample_easy, space.sample_target)
  )
  return any(
    stats.ks_2samp(one, other).statistic > _OTHER
    for one, other in zip(*tasks, strict=True)
  )


def _notes_on_widths(space: task_space.TaskSpace) -> list[str]:
  """Returns a note if numbers in a box have very different widths."""
  if not isinstance(space, box_tasks.Box):
    return []
  widths = np.ptp(space.sides, -1).ravel()
  ends = np.argmax(widths), np.argmin(widths)
  if widths[ends[0]] <= _MOST_UNEQUAL * widths[ends[1]]:
    return []
  rows = space.entity_of_dim
  widest, narrowest = (
    f'{widths[x]:.3g} wide in row {rows[x]} ({space.kinds[rows[x]]})'
    for x in ends
  )
  return [
    f'note: numbers of a task are {widest}, but {narrowest}; the noise of a '
    'curriculum is the same for all: scale them to similar widths '
    '(docs/guides/own_world.md)'
  ]


def _larger_counts(task: task_spec.TaskSpec) -> dict[str, int]:
  """Returns larger numbers of entities; {} if the task has none."""
  own = task.world.counts
  larger = [
    min(most, max(_MANY, 2 * number))
    for most, number in zip(task.most, own, strict=True)
  ]
  if tuple(larger) == own:
    return {}
  return dict(zip(task.world.count_fields, larger, strict=True))


def _of_counts(
  task: task_spec.TaskSpec, counts: Mapping[str, int], num_worlds: int
) -> tuple[str, task_space.TaskSpace, _Played, _Played]:
  """Tries a task with an entity count; {} for its own.

  Returns:
    A line on what was found, the space of tasks, and how easy and target tasks
    went.
  """
  env = environments.make(_checked_world(task, counts))
  space = env.task_space
  easy, target = (
    _play(env, sample, num_worlds)
    for sample in (space.sample_easy, space.sample_target)
  )
  counted = ', '.join(f'{x.num_agents} x {x.name}' for x in env.roles)
  pictures = _check_pictures(env)
  line = (
    f'{counted}, {space.num_dims} numbers a task, {env.horizon} steps; with '
    f'random actions progress reaches {easy.best:.2f} on easy and '
    f'{target.best:.2f} on target tasks, and is {easy.final:.2f} and '
    f'{target.final:.2f} at the end; {pictures}'
  )
  return line, space, easy, target


def _checked_world(
  task: task_spec.TaskSpec, counts: Mapping[str, int]
) -> config.EnvironmentConfig:
  """Returns the constants of a world, after a check of presets and map."""
  for preset in task.presets:
    try:
      cfg = _make_config(task, counts, preset)
      library.make_length(cfg)
      plot_curriculum.layout_of(cfg)
    except ValueError as error:
      if preset == 'default':
        raise
      raise ValueError(f'preset={preset}{told_of(error)}') from error
  return _make_config(task, counts, 'default').environment


def _make_config(
  task: task_spec.TaskSpec, counts: Mapping[str, int], preset: str
) -> config.Config:
  """Returns the constants of a run that ends with these entity counts."""
  path = [task.world.counts, tuple(counts.values())] if counts else None
  return library.make_config(task.name, entity_counts=path, preset=preset)


def _play(
  env: base.World,
  sample: Callable[[int, types.Seed], tf.Tensor],
  num_worlds: int,
) -> _Played:
  """Plays an episode of random actions."""
  phi = np.asarray(sample(num_worlds, randomness.root(1)))
  rng, progress = np.random.default_rng(0), []
  made = checked_simulator.Checked(env.make_simulator(num_worlds), env)
  with contextlib.closing(made) as worlds:
    worlds.place(phi, [0, 0])
    offset = np.abs(worlds.read_task() - phi).max()
    for _ in range(env.horizon):
      progress.append(_step(env, worlds, rng).progress)
  return _Played(
    best=float(np.max(progress, 0).mean()),
    final=float(np.mean(progress[-rollout.VALUE_WINDOW :])),
    offset=float(offset),
  )


def _step(
  env: base.World, worlds: base.Simulator, rng: np.random.Generator
) -> base.Outcome:
  """Plays one step, with a random action for every agent."""
  worlds.observe()
  return worlds.step(
    tuple(
      _draw(role.action, [worlds.num_worlds, role.num_agents], rng)
      for role in env.roles
    )
  )


def _check_pictures(env: base.World) -> str:
  """Draws a world at its start, after a step and at its end.

  Returns:
    A description of the pictures, or that there are none.

  Raises:
    base.WorldError: the pictures can't be drawn, or do not make a film.
  """
  rng = np.random.default_rng(0)
  phi = np.asarray(env.task_space.sample_easy(1, randomness.root(1)))
  made = checked_simulator.Checked(env.make_simulator(1), env)
  with contextlib.closing(made) as worlds:
    worlds.place(phi, [0, 0])
    states = [worlds.state]
    for step in range(env.horizon):
      _step(env, worlds, rng)
      if step in (0, env.horizon - 1):
        states.append(worlds.state)
    found = simulator.called('pictures', _pictures, env, states)
  if found is None:
    return 'no pictures'
  drawn = [np.asarray(picture) for step in found for picture in step]
  is_first_right = drawn[0].ndim == 3 and drawn[0].shape[2] == 3
  wanted = list(drawn[0].shape) if is_first_right else '[height, width, 3]'
  for picture in drawn:
    if picture.dtype != np.uint8 or list(picture.shape) != wanted:
      raise base.WorldError(
        f'pictures: expected uint8 of shape {wanted}, the same in every step, '
        f'given {picture.dtype} of shape {list(picture.shape)}'
      )
  return f'pictures of {wanted[1]} x {wanted[0]}'


def _pictures(
  env: base.World, states: list[Any]
) -> list[list[base.Picture]] | None:
  """Returns pictures of a world, None if it has none."""
  try:
    return env.pictures(states)
  except NotImplementedError:
    return None


def _draw(
  action: specs.BoundedArray, leading: list[int], rng: np.random.Generator
) -> np.ndarray:
  """Returns uniform actions [*leading, *action.shape]."""
  size = [*leading, *action.shape]
  if np.issubdtype(action.dtype, np.floating):
    drawn = rng.uniform(action.minimum, action.maximum, size)
    return drawn.astype(action.dtype)
  most = np.add(action.maximum, 1)
  return rng.integers(action.minimum, most, size, dtype=action.dtype)


def of_agent(name: str, env: str) -> str:
  """Makes an agent for the roles of a task; checks that it can play."""
  cfg = library.make_config(env, agent=name)
  world = environments.make(cfg.environment)
  library.check_playable(cfg, world)
  made = agents.make(cfg, world.roles)
  number = sum(x.shape.num_elements() for x in made.trainable_variables)
  return f'plays {env} with {number:,} parameters'
