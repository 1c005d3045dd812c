# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks of what a curriculum returns; its errors become one line."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import reading
from vacl_tf import types
from vacl_tf import user_code
from vacl_tf.curriculum import base
from vacl_tf.environments import base as environment_base
from vacl_tf.environments import simulator
from vacl_tf.environments import task_space


def as_tensors(
  batches: Any, source: str, num_counts: int = 1, is_probe: bool = False
) -> tuple[types.TaskBatch, ...]:
  """Returns batches whose phi and size are tensors, with the same tickets.

  Args:
    batches: return value of `Curriculum.sample` or `probe`.
    source: where the batches come from.
    num_counts: number of entity counts.
    is_probe: whether they are of `probe`, which may return ().

  Raises:
    base.CurriculumError: batches is no tuple of one TaskBatch per entity count,
      or tasks are a scalar.
  """
  is_tuple = isinstance(batches, tuple)
  if not is_tuple or not all(isinstance(x, types.TaskBatch) for x in batches):
    raise base.CurriculumError(
      f'{source}: expected a tuple of types.TaskBatch, one per entity count, '
      f'given {reading.one_line(repr(batches))}'
    )
  if len(batches) != num_counts and (batches or not is_probe):
    raise base.CurriculumError(
      f'{source}: expected {num_counts} TaskBatch, one per entity count, given '
      f'{len(batches)}'
    )
  found = tuple(
    batch._replace(
      phi=tf.cast(batch.phi, tf.float32), size=tf.cast(batch.size, tf.int32)
    )
    for batch in batches
  )
  if any(batch.phi.shape.rank == 0 for batch in found):
    raise base.CurriculumError(
      f'{source}: expected tasks of shape [B, D], given a scalar'
    )
  return found


def draws(
  made: base.Curriculum,
  num_tasks: int,
  num_counts: int = 1,
  is_probe: bool = False,
) -> Callable[[types.Seed], tuple[types.TaskBatch, ...]]:
  """Returns a function of seeds that draws tasks as tensors.

  Args:
    made: the curriculum.
    num_tasks: number of tasks to draw.
    num_counts: number of entity counts that it draws tasks for.
    is_probe: whether to draw by `probe` instead of `sample`.
  """
  draw = made.probe if is_probe else made.sample
  return lambda seed: as_tensors(
    draw(num_tasks, seed), made.source, num_counts, is_probe
  )


def check_size(
  batch: types.TaskBatch, num_tasks: int, source: str, is_probe: bool = False
) -> None:
  """Raises base.CurriculumError if a batch has a wrong number of tasks.

  Args:
    batch: batch of `Curriculum.sample` or `probe`, for one entity count.
    num_tasks: number of tasks that were asked for.
    source: where the tasks come from.
    is_probe: whether it is of `probe`; any number of its rows may be played.
  """
  rows, size = len(batch.phi), int(batch.size)
  if rows != num_tasks or not (0 if is_probe else rows) <= size <= rows:
    wanted = f'at most {num_tasks}' if is_probe else f'{num_tasks}'
    raise base.CurriculumError(
      f'{source}: expected {num_tasks} tasks and a size of {wanted}, given '
      f'{rows} tasks and a size of {size}'
    )


def check_numbers(
  batch: types.TaskBatch, num_dims: int, source: str
) -> np.ndarray:
  """Returns those tasks of a batch that will be played.

  Args:
    batch: batch of `Curriculum.sample` or `probe`.
    num_dims: numbers in a task (D).
    source: where the tasks come from.

  Raises:
    base.CurriculumError: the tasks do not have the shape [B, D], or one of them
      is not finite.
  """
  tasks = np.asarray(batch.phi)
  if tasks.ndim != 2 or tasks.shape[1] != num_dims:
    raise base.CurriculumError(
      f'{source}: expected tasks of shape [B, {num_dims}], given '
      f'{list(tasks.shape)}'
    )
  tasks = tasks[: int(batch.size)]
  is_finite = np.isfinite(tasks).all(1)
  if not is_finite.all():
    row = int(np.argmin(is_finite))
    raise base.CurriculumError(
      f'{source}: expected finite numbers, given {tasks[row].tolist()} in row '
      f'{row}'
    )
  return tasks


def check_tasks(
  batch: types.TaskBatch, space: task_space.TaskSpace, source: str
) -> None:
  """Checks those tasks of a batch that will be played.

  Args:
    batch: batch of `Curriculum.sample` or `probe`.
    space: task space that decides which tasks are feasible.
    source: where the tasks come from.

  Raises:
    base.CurriculumError: as `check_numbers`, or a task is not feasible.
  """
  tasks = check_numbers(batch, space.num_dims, source)
  is_legal = np.asarray(space.feasible(tf.constant(tasks, tf.float32)))
  is_good = is_legal.all(1)
  if not is_good.all():
    row = int(np.argmin(is_good))
    entity = int(np.argmin(is_legal[row]))
    raise base.CurriculumError(
      f'{source}: expected feasible tasks, given {tasks[row].tolist()} in row '
      f'{row}, whose entity {entity} is outside of the legal region; `clip` '
      'moves it there'
    )


def named(metrics: Any, source: str = 'update') -> types.Metrics:
  """Returns the metrics of `Curriculum.update` if they have names.

  Args:
    metrics: return value of `update`.
    source: where the metrics come from.

  Raises:
    base.CurriculumError: the metrics are no dictionary.
  """
  if not isinstance(metrics, Mapping):
    raise base.CurriculumError(
      f'{source}: expected a dictionary of numbers by name, given '
      f'{reading.one_line(repr(metrics))}; end with `return {{}}` if there are '
      'none'
    )
  return metrics


def check_names(
  names: Collection[str], taken: Collection[str], source: str
) -> None:
  """Raises CurriculumError if names of metrics are taken already."""
  if doubled := sorted(set(names) & set(taken)):
    raise base.CurriculumError(
      f'{source}: {doubled[0]} is the name of a metric of training itself; '
      'give this number another name'
    )


def check_metrics(
  found: Mapping[str, Any], names: Collection[str], source: str
) -> types.Metrics:
  """Returns the metrics of a curriculum on the host, in the order of `names`.

  Args:
    found: metrics that `update` returned.
    names: names of the metrics that it returned the first time.
    source: where the metrics come from.

  Raises:
    base.CurriculumError: the names differ, or a value is infinite or no number.
  """
  if set(found) != set(names):
    raise base.CurriculumError(
      f'{source}: expected the same names as in the first call, '
      f'{sorted(names)}, given {sorted(found)}'
    )
  numbers = {}
  for name in names:
    try:
      with np.errstate(over='ignore'):
        numbers[name] = np.asarray(found[name], np.float32)
    except (TypeError, ValueError):
      numbers[name] = np.full([1], np.inf)
    if numbers[name].ndim or np.isinf(numbers[name]):
      raise base.CurriculumError(
        f'{source}: expected a number or NaN for {name}, given {found[name]!r}'
      )
  return {name: tf.constant(number) for name, number in numbers.items()}


def called(source: str, function: Callable[[], Any]) -> Any:
  """Calls a user's function; its exceptions become one-line errors.

  Raises:
    base.CurriculumError: the function failed, or tried to end the process.
    environment_base.WorldError: the world failed while it drew or judged tasks
      for the function.
  """
  try:
    return function()
  except (base.CurriculumError, environment_base.WorldError):
    raise
  except (Exception, SystemExit) as error:
    if (world := simulator.raised(error)) is not None:
      raise environment_base.WorldError(world) from error
    raise base.CurriculumError(
      f'{source} failed: {user_code.told(error)}'
    ) from error
