# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Algorithm 1: sample tasks, collect, learn, update the curriculum."""

import math
import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base as curriculum_base
from vacl_tf.curriculum import checks as curriculum_checks
from vacl_tf.environments import base
from vacl_tf.learning import ppo
from vacl_tf.learning import update
from vacl_tf.training import feedback
from vacl_tf.training import not_finite
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

# Any infinite metric ends training; NaN ends it only in one of these.
_WATCHED = (
  'policy_loss',
  'value_loss',
  'entropy',
  'return_mean',
  # A loss may be finite although its gradient is not.
  'policy_gradient_norm',
  'value_gradient_norm',
)


class DivergedError(Exception):
  """A quantity of training is not finite; the message names it."""


def iterate(
  run: run_lib.Run, programs: programs_lib.Programs, cfg: config.Config
) -> types.Metrics:
  """Runs one iteration of Algorithm 1; returns its metrics."""
  stream = randomness.Stream
  if run.curriculum.can_probe:
    _probe(run, programs, cfg)
  batches = programs.sample(run.seed(stream.SAMPLE))
  _check(run, programs, batches, cfg)
  in_play = [i for i, batch in enumerate(batches) if int(batch.size)]

  # Maximise L1: improve the policy on the tasks of the present curriculum.
  run.note_decay_start()
  run.learner.anneal(int(run.env_steps), int(run.decay_start))
  found = {i: [] for i in in_play}
  for rollout_index in range(cfg.training.num_rollouts):
    collected = {}
    for i in in_play:
      seed = run.own_seed(stream.COLLECT, rollout_index, i)
      collected[i] = _collect(run, programs, i, batches[i], seed)
      _note_reward(run, programs, i, collected[i])
    metrics, samples = programs.learn(
      collected, run.own_seed(stream.LEARN, rollout_index)
    )
    if not _are_finite(metrics):
      _check_observations(run, programs, collected)
    for i in in_play:
      found[i].append(_told(programs, i, collected[i], samples[i]))
  metrics |= _of_worlds(programs, in_play)

  # Maximise L2: update the curriculum with the feedback on its tasks.
  resets = cfg.progression.reset_optimizer
  was_in_play = run.curriculum.in_play() if resets else None
  told = programs.update(
    batches,
    _feedback(run, batches, found),
    run.coverage[:, -1],
    run.seed(stream.UPDATE),
  )
  metrics = together(metrics, told, run)
  if resets and tf.reduce_any(run.curriculum.in_play() & ~was_in_play):
    for optimizer in run.learner.optimizers:
      optimizer.reset()
  run.iteration.assign_add(1)
  run.average()
  return metrics


def _of_worlds(
  programs: programs_lib.Programs, in_play: list[int]
) -> types.Metrics:
  """Returns the metrics of the worlds, summed over counts and replicas."""
  found = {}
  for i in in_play:
    for name, number in programs.counts[i].metrics().items():
      found[name] = number + found.get(name, 0)
  return programs.replicas.sum(found) if found else {}


def _check(
  run: run_lib.Run,
  programs: programs_lib.Programs,
  batches: tuple[types.TaskBatch, ...],
  cfg: config.Config,
  is_probe: bool = False,
) -> None:
  """Raises CurriculumError for tasks that can't be played."""
  _check_sizes(run, programs, batches, is_probe)
  source = run.curriculum.source
  for i, batch in enumerate(batches):
    if int(batch.size):
      space = programs.counts[i].env.task_space
      if cfg.training.checks_tasks:
        curriculum_checks.check_tasks(batch, space, source)
      else:
        curriculum_checks.check_numbers(batch, space.num_dims, source)


def _are_finite(metrics: types.Metrics) -> bool:
  return all(math.isfinite(float(metrics[name])) for name in _WATCHED)


def _check_observations(
  run: run_lib.Run,
  programs: programs_lib.Programs,
  collected: dict[int, update.RolloutBatch],
) -> None:
  """Raises WorldError if observations are why metrics are not finite."""
  for i, batch in collected.items():
    env, num_worlds = programs.counts[i].env, int(batch.size)
    where = not_finite.in_observations(env, batch.trajectory, num_worlds)
    if where:
      raise base.WorldError(
        f'observation: expected finite numbers, given {where} of an episode '
        f'at iteration {int(run.iteration) + 1}'
      )


def together(
  metrics: types.Metrics, told: types.Metrics, run: run_lib.Run
) -> types.Metrics:
  """Returns the metrics of the learner, then those of the curriculum.

  Raises:
    CurriculumError: a metric of the curriculum has the name of another metric,
      is not a number, or is infinite although those of the learner are finite.
  """
  others = {*metrics, *run.score_names, *progress(run), 'wall_seconds'}
  curriculum_checks.check_names(told, others, 'update')
  if _are_finite(metrics):
    numbers = {name: np.asarray(x).tolist() for name, x in told.items()}
    curriculum_checks.check_metrics(numbers, numbers, 'update')
  return metrics | told


def _check_sizes(
  run: run_lib.Run,
  programs: programs_lib.Programs,
  batches: tuple[types.TaskBatch, ...],
  is_probe: bool,
) -> None:
  """Raises CurriculumError if there are more or fewer tasks than required."""
  source, multiple = run.curriculum.source, programs.world_multiple
  if len(batches) == 1:
    curriculum_checks.check_size(batches[0], multiple, source, is_probe)
    return
  sizes = [int(batch.size) for batch in batches]
  rows = [len(batch.phi) for batch in batches]
  is_whole = any(sizes) and not any(size % multiple for size in sizes)
  is_held = all(0 <= x <= y for x, y in zip(sizes, rows, strict=True))
  if not is_held or not (is_probe or is_whole):
    allowed = '' if is_probe else f'multiples of {multiple}, not all 0, and '
    raise curriculum_base.CurriculumError(
      f'{source}: expected sizes that are {allowed}at most the number of rows, '
      f'given sizes {sizes} and {rows} rows'
    )


def _collect(
  run: run_lib.Run,
  programs: programs_lib.Programs,
  index: int,
  batch: types.TaskBatch,
  seed: types.Seed,
) -> update.RolloutBatch:
  """Plays this replica's share of a batch; counts the steps of all replicas."""
  count = programs.counts[index]
  mine = programs.replicas.share(batch)
  trajectory = count.collect(mine, seed)
  run.env_steps.assign_add(count.env.horizon * int(batch.size))
  return update.RolloutBatch(trajectory, mine.size)


def _note_reward(
  run: run_lib.Run,
  programs: programs_lib.Programs,
  index: int,
  batch: update.RolloutBatch,
) -> None:
  """Stores the mean reward, which is subtracted from rewards of probes."""
  if run.mean_reward is not None:
    mean = programs.learn.counts[index].mean_reward(batch)
    run.mean_reward.scatter_nd_update([[index]], mean[None])


def _told(
  programs: programs_lib.Programs,
  index: int,
  collected: update.RolloutBatch,
  samples: ppo.Samples | tuple,
) -> types.TaskFeedback:
  """Returns the feedback on a roll-out, gathered from all replicas."""
  found = programs.counts[index].feedback(
    collected.trajectory, samples, collected.size
  )
  return programs.replicas.gather(found)


def _probe(
  run: run_lib.Run, programs: programs_lib.Programs, cfg: config.Config
) -> None:
  """Plays tasks that the curriculum wants feedback on, without learning."""
  stream = randomness.Stream.PROBE
  batches = programs.probe(run.seed(stream, 0))
  _check(run, programs, batches, cfg, is_probe=True)
  found = {}
  for i, batch in enumerate(batches):
    if int(batch.size):
      count = programs.counts[i]
      seed = run.own_seed(stream, 1, i)
      collected = _collect(run, programs, i, batch, seed)
      samples = ()
      if count.wants_critic:
        if run.mean_reward is not None and np.isnan(run.mean_reward[i]).any():
          _note_reward(run, programs, i, collected)  # There is none yet.
        mean = None if run.mean_reward is None else run.mean_reward[i]
        samples, _ = programs.learn.counts[i].prepare(collected, mean)
      found[i] = [_told(programs, i, collected, samples)]
  if found:
    told = _feedback(run, batches, found)
    programs.note_probe(batches, told, run.seed(stream, 2))


def _feedback(
  run: run_lib.Run,
  batches: tuple[types.TaskBatch, ...],
  found: dict[int, list[types.TaskFeedback]],
) -> tuple[types.TaskFeedback, ...]:
  """Returns the feedback on all batches, given that on each roll-out."""
  fields = run.curriculum.feedback
  return tuple(
    feedback.over_rollouts(found[i])
    if i in found
    else feedback.nothing(fields, batch)
    for i, batch in enumerate(batches)
  )


def evaluate(
  run: run_lib.Run, programs: programs_lib.Programs
) -> dict[str, float]:
  """Returns greedy coverage and success on fresh tasks; stores the coverage.

  Both belong to the last entity count, which is the goal of the run. With
  several entity counts, each count in play also has its own coverage.

  Raises:
    WorldError: the progress of a user's world is NaN.
  """
  last = len(programs.counts) - 1
  is_due = run.curriculum.in_play().numpy()
  is_due[last] = True
  seed = run.own_seed(randomness.Stream.EVALUATE)
  coverages = [math.nan] * len(programs.counts)
  for i in np.flatnonzero(is_due).tolist():  # The last count comes last.
    evaluated = programs.counts[i].evaluate(seed)
    value, success = programs.replicas.gather(evaluated)
    coverages[i] = float(tf.reduce_mean(value))
    if math.isnan(coverages[i]):
      raise base.WorldError('progress: expected numbers from 0 to 1, given NaN')
    latest = tf.concat([run.coverage[i, 1:], [coverages[i]]], 0)
    run.coverage.scatter_nd_update([[i]], latest[None])
  of_counts = coverages if last else ()
  scores = (coverages[last], float(np.mean(success)), *of_counts)
  return dict(zip(run.score_names, scores, strict=True))


def is_finished(run: run_lib.Run, length: config.RunLength) -> bool:
  """Returns whether a run has reached its last step or its coverage."""
  is_good = run.has_reached(length.stop_at_coverage)
  return is_good or int(run.env_steps) >= length.num_env_steps


def _checked(metrics: types.Metrics, iteration: int) -> dict[str, float]:
  """Returns metrics as numbers.

  Metrics that are not in _WATCHED may be NaN if there was nothing to measure.

  Raises:
    DivergedError: a metric is infinite, or NaN.
    WorldError: the mean reward is: the fault of the world, not of the policy.
  """
  row = {name: float(value) for name, value in metrics.items()}
  mean = row.get('reward_mean', 0.0)
  if not math.isfinite(mean):
    raise base.WorldError(
      f'reward: expected finite numbers, given a mean of {mean} at iteration '
      f'{iteration}'
    )
  for name, number in row.items():
    if math.isinf(number) or (name in _WATCHED and math.isnan(number)):
      raise DivergedError(f'{name} is {number} at iteration {iteration}')
  return row


def train(
  run: run_lib.Run,
  programs: programs_lib.Programs,
  cfg: config.Config,
  length: config.RunLength,
  *,
  log: Callable[[dict[str, float]], None],
  save: Callable[[], None],
  should_stop: Callable[[], bool],
  began: float,
) -> bool:
  """Trains until the run is finished or asked to stop, then saves.

  Args:
    run: the run to train, in place.
    programs: its compiled functions.
    cfg: the config that both were made with.
    length: when to end, evaluate and save.
    log: logs the row of an iteration.
    save: writes a checkpoint of the run, and all rows logged before it.
    should_stop: called after each iteration; returns whether to stop.
    began: time.monotonic() when this process began.

  Returns:
    Whether the run is finished.

  Raises:
    DivergedError, WorldError: a metric, or a reward, an observation or the
      progress of a user's world, is not finite. The last checkpoint is usable.
  """
  before, is_done, must_stop = float(run.wall_seconds), False, False
  while not (is_done or must_stop):
    row = _checked(iterate(run, programs, cfg), int(run.iteration))
    scores = dict.fromkeys(run.score_names, math.nan)
    is_due = int(run.iteration) % length.evaluation_interval == 0
    if is_due:
      scores = evaluate(run, programs)
    must_stop = programs.replicas.any(should_stop())  # All replicas at once.
    is_done = is_finished(run, length)
    coverage = run.coverage.numpy()
    if is_done and not is_due:
      scores = evaluate(run, programs)
    seconds = before + time.monotonic() - began
    run.wall_seconds.assign(np.array(seconds))  # A float would never be freed.
    log({**progress(run), 'wall_seconds': seconds, **scores, **row})
    is_due = int(run.iteration) % length.checkpoint_interval == 0
    if is_due or is_done or must_stop:
      # After logging, so that a kill can't lose a row that a checkpoint counts.
      _save_with(run, coverage, save)
  return is_done


def _save_with(
  run: run_lib.Run, coverage: np.ndarray, save: Callable[[], None]
) -> None:
  """Saves the run without the coverage of the closing evaluation.

  An uninterrupted run would not have made that evaluation.
  """
  closing = run.coverage.numpy()
  run.coverage.assign(coverage)
  save()
  run.coverage.assign(closing)


def progress(run: run_lib.Run) -> dict[str, float]:
  """Returns how far a run has come."""
  return {
    'iteration': int(run.iteration),
    'env_steps': int(run.env_steps),
  }
