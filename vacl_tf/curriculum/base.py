# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The two verbs of a curriculum, and the simplest one."""

import abc

import tensorflow as tf

from vacl_tf import types
from vacl_tf.environments import task_space


class Curriculum(tf.Module, abc.ABC):
  """Decides which tasks are played next.

  All state lives in variables, so that a checkpoint holds it.
  """

  @abc.abstractmethod
  def sample(
    self, num_tasks: int, seed: types.Seed, size: tf.Tensor | None = None
  ) -> tuple[types.TaskBatch, ...]:
    """Returns tasks to play, one TaskBatch per entity count.

    Args:
      num_tasks: rows of the batch; with several entity counts, worlds in all,
        if they were all of one count.
      seed: of this draw.
      size: [] int32, only so many of the rows are wanted; None for all.
    """

  @abc.abstractmethod
  def update(
    self,
    batches: tuple[types.TaskBatch, ...],
    values: tuple[tf.Tensor, ...],
    evaluation: tf.Tensor,
    seed: types.Seed,
  ) -> types.Metrics:
    """Learns from how the tasks of `sample` went.

    Args:
      batches: what `sample` returned.
      values: [B] in [0, 1] per batch: progress over the last steps.
      evaluation: [number of counts] latest greedy coverage per entity count,
        NaN where there is none yet.
      seed: of this update.

    Returns:
      Metrics of the curriculum's state.
    """

  def in_play(self) -> tf.Tensor:
    """Returns bool [number of counts]: which the next batches have tasks of."""
    return tf.constant([True])

  def history(self) -> dict[str, tf.Tensor]:
    """Returns what a picture of this curriculum needs, by name."""
    return {}


def fresh_batch(
  space: task_space.TaskSpace, phi: tf.Tensor, size: tf.Tensor | None = None
) -> types.TaskBatch:
  """Returns a batch of tasks phi [B, D] that nobody wants a value for."""
  rows = tf.shape(phi)[0]
  return types.TaskBatch(
    phi=phi,
    count=tf.constant(space.count),
    origin=tf.fill([rows], int(types.Origin.FRESH)),
    slot=tf.zeros([rows], tf.int32),
    size=rows if size is None else size,
  )


class Uniform(Curriculum):
  """No curriculum: every task comes from the target distribution."""

  def __init__(self, space: task_space.TaskSpace) -> None:
    super().__init__(name='uniform')
    self._space = space

  def sample(
    self, num_tasks: int, seed: types.Seed, size: tf.Tensor | None = None
  ) -> tuple[types.TaskBatch, ...]:
    phi = self._space.sample_target(num_tasks, seed)
    return (fresh_batch(self._space, phi, size),)

  def update(
    self,
    batches: tuple[types.TaskBatch, ...],
    values: tuple[tf.Tensor, ...],
    evaluation: tf.Tensor,
    seed: types.Seed,
  ) -> types.Metrics:
    del evaluation, seed
    return {'training_value': mean_value(batches[0], values[0])}


def mean_value(batch: types.TaskBatch, value: tf.Tensor) -> tf.Tensor:
  """Returns the mean of value [B] over the tasks that were played."""
  was_played = tf.range(tf.shape(value)[0]) < batch.size
  total = tf.reduce_sum(tf.where(was_played, value, 0.0))
  return total / tf.cast(tf.maximum(batch.size, 1), tf.float32)
