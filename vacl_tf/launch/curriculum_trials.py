# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A short trial of a curriculum that users register; see `trials`."""

import contextlib
import functools
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf import tracing
from vacl_tf import types
from vacl_tf.curriculum import base as curriculum_base
from vacl_tf.curriculum import checks as curriculum_checks
from vacl_tf.environments import base
from vacl_tf.launch import library
from vacl_tf.learning import ppo
from vacl_tf.learning import sums
from vacl_tf.training import feedback
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import rollout
from vacl_tf.training import run as run_lib

_ROUNDS = 30
_PERIOD = 14  # Rounds in which the made-up policy becomes good, and bad again.
# The policy has been good and bad by then; it becomes good and bad once more.
_RESUMED_AFTER = 17
_FIRST_EVALUATED = 3  # The result of an evaluation is NaN until this round.
_NUM_ROLLOUTS = 2  # Of each task.
_CRITIC_ERROR = 0.1  # Standard deviation.


def of_curriculum(name: str, env: str) -> str:
  """Lets a curriculum choose tasks for some rounds, with made-up values.

  The made-up policy becomes better and worse again, twice. In between, a second
  curriculum takes over the variables of the first one, as when a run is
  resumed. From then on both must do the same.

  Raises:
    curriculum_base.CurriculumError: the curriculum breaks its contract.
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
      tf.constant([_evaluation(index)], tf.float32),
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


def _skill(index: int) -> float:
  """Returns the chance to solve a task in a round: 0.05 to 0.95 and back."""
  return 0.95 - 0.9 * abs(2.0 * (index % _PERIOD) / _PERIOD - 1.0)


def _evaluation(index: int) -> float:
  return np.nan if index < _FIRST_EVALUATED else _skill(index)


def _feedback(
  fields: tuple[str, ...],
  batch: types.TaskBatch,
  world: base.World,
  index: int,
) -> types.TaskFeedback:
  """Returns made-up feedback: each roll-out gets 1 if it is solved, else 0."""
  rng = np.random.default_rng(index)
  number, skill = len(batch.phi), _skill(index)
  is_solved = rng.random([_NUM_ROLLOUTS, number]) < skill
  predicted = np.clip(rng.normal(skill, _CRITIC_ERROR, number), 0.0, 1.0)
  advantage = is_solved - predicted
  last_start = max(1, world.horizon - rollout.VALUE_WINDOW + 1)
  share, is_any = is_solved.mean(0), is_solved.any(0)
  found = {
    'value': share,
    'success': share,
    'episode_return': share,
    'positive_advantage': np.maximum(advantage, 0.0).mean(0),
    'value_error': np.abs(advantage).mean(0),
    'initial_value': predicted,
    'mean_value': predicted,
    'max_return': is_any,
    'max_target': is_any,
    'success_time': is_any * rng.integers(1, last_start + 1, number),
  }
  if 'final_task' in fields:  # Easy ones are those that begin solved.
    space, seed = world.task_space, randomness.root(index)
    easy, other = (
      space.sample_easy(number, seed),
      space.sample_uniform(number, seed),
    )
    found['final_task'] = np.where(is_solved[-1][:, None], easy, other)
  told = {x: tf.constant(found[x], tf.float32) for x in ('value', *fields)}
  return feedback.of_played(types.TaskFeedback(**told), batch.size)


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
