# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Short trials of what users register: does it fulfil its contract?

Each trial returns a line on what it found. If something is wrong, it raises
ValueError or CurriculumError with a message of one line.
"""

import contextlib
import functools
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from dm_env import specs

from vacl_tf import agents
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf import tracing
from vacl_tf import types
from vacl_tf import user_code
from vacl_tf.curriculum import base as curriculum_base
from vacl_tf.curriculum import checks as curriculum_checks
from vacl_tf.environments import base
from vacl_tf.environments import checked_simulator
from vacl_tf.environments import simulator
from vacl_tf.environments import task_spec
from vacl_tf.launch import library
from vacl_tf.launch import plot_curriculum
from vacl_tf.learning import ppo
from vacl_tf.learning import sums
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import rollout
from vacl_tf.training import run as run_lib

_NUM_WORLDS = 50
_FEW_WORLDS = 10  # If they are large.
_MANY = 16  # Most entities of a kind to try, or twice the task's own number.
_ROUNDS = 30
_RESUMED_AFTER = 10
_ATOL = 1e-3  # Between placed tasks and the same tasks read back.


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
  """
  task = catalog.TASKS.get(name)
  line, is_easier, offset = _of_counts(task, {}, _NUM_WORLDS)
  if larger := _larger_counts(task):
    told = ' and '.join(f'{field}={x}' for field, x in larger.items())
    try:
      *_, other = _of_counts(task, larger, _FEW_WORLDS)
    except (Exception, SystemExit) as error:
      raise ValueError(told + told_of(error, name)) from error
    line += f'; also played with {told}'
    offset = max(offset, other)
  if not is_easier:
    line += ' (easy ones should be easier: check sample_easy)'
  if offset > _ATOL:
    line += (
      f' (read_task differs by up to {offset:.2g} from the task just placed; '
      'it should return that task, unless worlds start with noise)'
    )
  return line


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
) -> tuple[str, bool, float]:
  """Tries a task with an entity count; {} for its own.

  Returns:
    A line on what was found, whether easy tasks are easier, and the largest
    difference between a placed task and `read_task`.
  """
  env = environments.make(_checked_world(task, counts))
  space = env.task_space
  (easy, offset), (target, _) = (
    _play(env, sample, num_worlds)
    for sample in (space.sample_easy, space.sample_target)
  )
  counted = ', '.join(f'{x.num_agents} x {x.name}' for x in env.roles)
  pictures = _check_pictures(env)
  line = (
    f'{counted}, {space.num_dims} numbers a task, {env.horizon} steps; with '
    f'random actions progress is {easy:.2f} on easy and {target:.2f} on target '
    f'tasks; {pictures}'
  )
  return line, easy > target, offset


def _checked_world(
  task: task_spec.TaskSpec, counts: Mapping[str, int]
) -> config.EnvironmentConfig:
  """Returns the constants of a world, after a check of presets and map."""
  for preset in task.presets:
    try:
      cfg = library.make_config(task.name, **counts, preset=preset)
      library.make_length(cfg)
      plot_curriculum.layout_of(cfg)
    except ValueError as error:
      if preset == 'default':
        raise
      raise ValueError(f'preset={preset}{told_of(error)}') from error
  return library.make_config(task.name, **counts).environment


def _play(
  env: base.World,
  sample: Callable[[int, types.Seed], tf.Tensor],
  num_worlds: int,
) -> tuple[float, float]:
  """Plays an episode of random actions.

  Returns:
    The mean progress at its end, and the largest difference between a placed
    task and `read_task` at its beginning.
  """
  phi = np.asarray(sample(num_worlds, randomness.root(1)))
  rng, progress = np.random.default_rng(0), []
  made = checked_simulator.Checked(env.make_simulator(num_worlds), env)
  with contextlib.closing(made) as worlds:
    worlds.place(phi, [0, 0])
    offset = np.abs(worlds.read_task() - phi).max()
    for _ in range(env.horizon):
      progress.append(_step(env, worlds, rng).progress)
  return float(np.mean(progress[-rollout.VALUE_WINDOW :])), float(offset)


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


def of_curriculum(name: str, env: str) -> str:
  """Lets a curriculum choose tasks for some rounds, with made-up values.

  After some rounds, a second curriculum takes over the variables of the first
  one, as when a run is resumed. From then on both must do the same.
  """
  cfg = library.make_config(env, curriculum=name, entity_counts='')
  world = environments.make(cfg.environment)
  made, twin = (
    _Program(curriculum.make(cfg, [world], randomness.root(0)), world, cfg)
    for _ in range(2)
  )
  seconds = []
  for index in range(_ROUNDS):
    began = time.perf_counter()
    found = made.round(index)
    seconds.append(time.perf_counter() - began)
    if index == _RESUMED_AFTER:
      twin.resume_from(made)
    elif index > _RESUMED_AFTER:
      _check_alike(found, twin.round(index), index - _RESUMED_AFTER)
  _check_metrics(found[1], world, cfg)
  told = ', '.join(x for x in found[1] if x != 'training_value') or 'none'
  return (
    f'{_ROUNDS} rounds of {cfg.training.num_tasks} tasks of {env}, '
    f'{1e3 * np.median(seconds):.1f} ms each; all feasible; resumes exactly; '
    f'metrics: {told}'
  )


def _check_metrics(
  told: Mapping[str, Any], world: base.World, cfg: config.Config
) -> None:
  """Raises CurriculumError for metrics that training would refuse."""
  run = run_lib.Run(cfg, [world])
  _, learned = run.learner.combine(
    sums.Sums(*(tf.ones([1]) for _ in sums.Sums._fields))
  )
  programs = programs_lib.Programs(run, [world], cfg, use_xla=False)
  with contextlib.closing(programs):
    [count] = programs.counts
    measured = (*ppo.STEP_METRICS, *learned, *count.metrics())
  loop.together(dict.fromkeys(measured, 0.0), dict(told), run)


_Round = tuple[list[np.ndarray], dict[str, np.ndarray]]  # Tasks, metrics.


class _Program:
  """A curriculum as training calls it, without worlds."""

  def __init__(
    self,
    made: curriculum_base.Curriculum,
    world: base.World,
    cfg: config.Config,
  ) -> None:
    self._made, self._world = made, world
    self._num_tasks = number = cfg.training.num_tasks
    traced = _as_it_is
    if made.is_compiled:
      is_pure = world.task_space.is_compiled
      traced = tracing.program if is_pure else tracing.graph
    draws = functools.partial(curriculum_checks.draws, made, number)
    self._sample = traced(draws())
    self._probe = traced(draws(is_probe=True))
    self._note_probe = traced(made.note_probe)
    self._update = traced(
      lambda *told: curriculum_checks.named(made.update(*told))
    )

  def resume_from(self, other: '_Program') -> None:
    """Takes over everything that a checkpoint of the other would contain."""
    mine, its = self._made.variables, other._made.variables
    if len(mine) != len(its):
      raise curriculum_base.CurriculumError(
        f'it had {len(mine)} variables when it was made and {len(its)} later; '
        'create all of them when it is made'
      )
    for variable, value in zip(mine, its, strict=True):
      variable.assign(value)

  def round(self, index: int) -> _Round:
    """Calls what an iteration calls; returns tasks and metrics."""
    seeds = randomness.split(randomness.fold(randomness.root(2), index), 4)
    tasks = []
    if self._made.can_probe:
      probes = self._probe(seeds[0])
      if probes and int(probes[0].size):
        tasks.append(self._checked(probes[0], is_probe=True))
        self._note_probe(probes, (self._feedback(probes, index),), seeds[1])
    batches = self._sample(seeds[2])
    tasks.append(self._checked(batches[0]))
    metrics = self._update(
      batches,
      (self._feedback(batches, index),),
      tf.constant([np.nan], tf.float32),
      seeds[3],
    )
    return tasks, {name: np.asarray(x) for name, x in metrics.items()}

  def _checked(
    self, batch: types.TaskBatch, is_probe: bool = False
  ) -> np.ndarray:
    """Checks a batch; returns those of its tasks that would be played."""
    space, source = self._world.task_space, self._made.source
    curriculum_checks.check_size(batch, self._num_tasks, source, is_probe)
    curriculum_checks.check_tasks(batch, space, source)
    return np.array(batch.phi)[: int(batch.size)]

  def _feedback(
    self, batches: tuple[types.TaskBatch, ...], index: int
  ) -> types.TaskFeedback:
    return _feedback(self._made.feedback, batches[0], self._world, index)


def _as_it_is(function: Callable) -> Callable:
  return function


def _feedback(
  fields: tuple[str, ...],
  batch: types.TaskBatch,
  world: base.World,
  index: int,
) -> types.TaskFeedback:
  """Returns made-up feedback: values are 0, 0.5 or 1, equally likely."""
  rng = np.random.default_rng(index)
  number = len(batch.phi)
  value = rng.choice([0.0, 0.5, 1.0], number)
  found = dict.fromkeys(fields, value) | {'value': value}
  if 'final_task' in fields:
    found['final_task'] = np.asarray(
      world.task_space.sample_uniform(number, randomness.root(index))
    )
  return types.TaskFeedback(
    **{name: tf.constant(x, tf.float32) for name, x in found.items()}
  )


def _check_alike(one: _Round, other: _Round, number: int) -> None:
  """Raises CurriculumError if the rounds of two curricula differ."""
  are_alike = len(one[0]) == len(other[0]) and all(
    map(np.array_equal, one[0], other[0])
  )
  if not are_alike:
    raise curriculum_base.CurriculumError(
      f'{number} rounds after a resume it chooses other tasks than without a '
      'resume: keep all that it learns in its state, and draw random numbers '
      'only from the generator that it is given'
    )
  for name, value in one[1].items():
    if not np.array_equal(value, other[1].get(name, np.inf), equal_nan=True):
      raise curriculum_base.CurriculumError(
        f'{number} rounds after a resume {name} differs from its value without '
        'a resume: keep all that it learns in its state'
      )
