# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The contract of a curriculum, and the simplest one.

A curriculum is a subclass of `Curriculum`, made from a `Setting`. One call of
`catalog.register_curriculum` makes it available to every task and agent.
"""

import abc
import dataclasses
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import config
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import task_space


@dataclasses.dataclass(frozen=True, kw_only=True)
class Setting:
  """Constructor argument of a curriculum: the tasks of one entity count.

  Attributes:
    cfg: all constants of the run; the curriculum's own are cfg.curriculum.
    space: the task space.
    world: the world in which the tasks are played, for curricula that train
      networks on its observations; None if there is no world.
    num_tasks: number of tasks in an iteration that trains only this count.
    most_tasks: number of rows of the largest batch, at least num_tasks. It is
      larger if entity progression trains two counts together and plays more
      worlds of the smaller count.
    seed: random seed of the initial state.
  """

  cfg: config.Config
  space: task_space.TaskSpace
  world: base.World | None = None
  num_tasks: int
  most_tasks: int
  seed: types.Seed


class CurriculumError(Exception):
  """A user's curriculum broke its contract; the message is one line."""


class UnsuitableError(CurriculumError, ValueError):
  """A curriculum can't be used for a task; the message is one line."""


class Curriculum(tf.Module, abc.ABC):
  """Chooses the tasks of each iteration.

  An iteration calls `probe` and `note_probe` (if there are any probes), then
  `sample`, then `update`. All state belongs in variables, so that checkpoints
  contain it.

  Attributes:
    feedback: names of the fields of `types.TaskFeedback` that `update` and
      `note_probe` use besides `value`. Fields that are not named are ().
    is_compiled: whether the methods that take a seed are TensorFlow graph code.
      If so, they are traced once and compiled by XLA. If not, they run eagerly
      on the host and may use any Python library: their arguments are eager
      tensors, which NumPy functions accept, and the batches that they return
      may hold arrays.
  """

  feedback: tuple[str, ...] = ()
  is_compiled: bool = True

  @property
  def can_probe(self) -> bool:
    """Whether `probe` may return tasks; if not, it is never called."""
    return type(self).probe is not Curriculum.probe

  @property
  def source(self) -> str:
    """Method that draws the tasks, with file and line, for error messages."""
    return source_of(type(self).sample)

  @abc.abstractmethod
  def sample(
    self, num_tasks: int, seed: types.Seed, size: tf.Tensor | None = None
  ) -> tuple[types.TaskBatch, ...]:
    """Returns the tasks to train on, one TaskBatch per entity count.

    Args:
      num_tasks: number of rows (B) of the batch. With several entity counts,
        number of worlds in an iteration that trains a single count.
      seed: random seed of this draw.
      size: [] int32, number of rows that will be played; None for all. The
        batch gets this size.
    """

  @abc.abstractmethod
  def update(
    self,
    batches: tuple[types.TaskBatch, ...],
    feedback: tuple[types.TaskFeedback, ...],
    evaluation: tf.Tensor,
    seed: types.Seed,
  ) -> types.Metrics:
    """Learns from how the policy did on the tasks of `sample`.

    Args:
      batches: what `sample` returned, with the same tickets.
      feedback: per batch, how its tasks went; rows from batch.size on are 0.
      evaluation: [entity counts] latest coverage of the greedy policy on the
        target tasks, NaN where it is unknown: before the first evaluation, or
        if a client does not report it.
      seed: random seed of this update.

    Returns:
      Scalar metrics; their names are the same in every call.
    """

  def probe(
    self, num_tasks: int, seed: types.Seed, size: tf.Tensor | None = None
  ) -> tuple[types.TaskBatch, ...]:
    """Returns tasks to play without training on them, before `sample`.

    Their steps count as environment steps. A curriculum that does not probe in
    every iteration returns a batch of size 0 in the other iterations.

    Args:
      num_tasks: number of rows of the batch.
      seed: random seed of this draw.
      size: [] int32, the largest allowed size of the batch; None for
        num_tasks.

    Returns:
      One TaskBatch per entity count, or () if this curriculum never probes.
    """
    del num_tasks, seed, size
    return ()

  def note_probe(
    self,
    batches: tuple[types.TaskBatch, ...],
    feedback: tuple[types.TaskFeedback, ...],
    seed: types.Seed,
  ) -> None:
    """Learns from how the policy did on the tasks of `probe`.

    Args:
      batches: what `probe` returned, with the same tickets.
      feedback: per batch, as in `update`.
      seed: random seed of this update.
    """

  def in_play(self) -> tf.Tensor:
    """Returns bool [entity counts]: those the next iteration may train."""
    return tf.constant([True])

  def history(self) -> dict[str, tf.Tensor | np.ndarray]:
    """Returns arrays [rows, ...] to record in curriculum.npz, by name."""
    return {}


class Uniform(Curriculum):
  """No curriculum: every task comes from the target distribution."""

  def __init__(self, setting: Setting) -> None:
    super().__init__(name='uniform')
    self._space = setting.space

  def sample(
    self, num_tasks: int, seed: types.Seed, size: tf.Tensor | None = None
  ) -> tuple[types.TaskBatch, ...]:
    return (fresh_batch(self._space.sample_target(num_tasks, seed), size),)

  def update(
    self,
    batches: tuple[types.TaskBatch, ...],
    feedback: tuple[types.TaskFeedback, ...],
    evaluation: tf.Tensor,
    seed: types.Seed,
  ) -> types.Metrics:
    del evaluation, seed
    return {'training_value': mean_value(batches[0], feedback[0].value)}


def fresh_batch(
  phi: tf.Tensor, size: tf.Tensor | None = None
) -> types.TaskBatch:
  """Returns a batch of tasks phi [B, D] without a ticket.

  Args:
    phi: [B, D] tasks.
    size: [] int32, number of tasks to play; None for all.
  """
  return types.TaskBatch(phi, tf.shape(phi)[0] if size is None else size)


def check_goals(goals: tuple[tuple[int, int], ...]) -> None:
  """Raises UnsuitableError if a task space does not name its `goals`."""
  if not goals:
    raise UnsuitableError(
      'the space of this task has no `goals`, pairs (mover, goal) of entities; '
      'allowed: another curriculum, or a task that has them, such as '
      'Simple-Spread'
    )


def source_of(function: Callable[..., Any]) -> str:
  """Returns the name of a function or method, its file and its line."""
  code = getattr(function, '__code__', None)
  if code is None:
    return function.__name__
  name = pathlib.Path(code.co_filename).name
  return f'{code.co_name} ({name}, line {code.co_firstlineno})'


def generator(seed: types.Seed) -> np.random.Generator:
  """Returns a NumPy generator for a seed [2], for code on the host."""
  return np.random.default_rng(np.asarray(seed).view(np.uint32))


def mean_value(batch: types.TaskBatch, value: tf.Tensor) -> tf.Tensor:
  """Returns the mean of value [B] over the tasks that were played."""
  was_played = tf.range(tf.shape(value)[0]) < batch.size
  total = tf.reduce_sum(tf.where(was_played, value, 0.0))
  return total / tf.cast(tf.maximum(batch.size, 1), tf.float32)
