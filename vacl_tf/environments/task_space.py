# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Task vectors (phi): their layout, legal region and standard draws."""

import abc

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types

_EDGE = 0.01  # Width of the rim that clipped coordinates land in; sheet 2.4.


class TaskSpace(abc.ABC):
  """The tasks of one environment with one entity count.

  A task vector phi is the concatenation of its entities' coordinates. A
  curriculum knows an environment by this class alone.

  Attributes:
    num_dims: numbers in a task vector (D).
    num_entities: entities that a task places.
    count: number of agents, written into every TaskBatch.
    entity_of_dim: int [D], the entity that each number belongs to.
  """

  num_dims: int
  num_entities: int
  count: int
  entity_of_dim: np.ndarray

  @abc.abstractmethod
  def feasible(self, phi: tf.Tensor) -> tf.Tensor:
    """Returns bool [..., num_entities]: which entities of phi are legal."""

  @abc.abstractmethod
  def clip(self, phi: tf.Tensor, seed: types.Seed) -> tf.Tensor:
    """Returns phi [..., D] moved, entity by entity, into the legal region."""

  @abc.abstractmethod
  def sample_easy(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    """Returns [num_tasks, D] tasks that begin (almost) solved, GetEasy."""

  @abc.abstractmethod
  def sample_uniform(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    """Returns [num_tasks, D] tasks, uniform over the legal region."""

  def sample_target(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    """Returns [num_tasks, D] tasks of the distribution to be solved, p."""
    return self.sample_uniform(num_tasks, seed)


class BoxTaskSpace(TaskSpace):
  """Points in the plane, each anywhere in a box of its own."""

  def __init__(self, low: np.ndarray, high: np.ndarray, count: int) -> None:
    """Initialises the space.

    Args:
      low: [num_entities, 2] lower corners, in metres.
      high: [num_entities, 2] upper corners, in metres.
      count: number of agents.
    """
    self.num_entities = len(low)
    self.num_dims = 2 * self.num_entities
    self.count = count
    self.entity_of_dim = np.repeat(np.arange(self.num_entities), 2)
    self._low = tf.constant(low.reshape(-1), tf.float32)
    self._high = tf.constant(high.reshape(-1), tf.float32)

  def feasible(self, phi: tf.Tensor) -> tf.Tensor:
    inside = (phi >= self._low) & (phi <= self._high)
    shape = tf.concat([tf.shape(phi)[:-1], [self.num_entities, 2]], 0)
    return tf.reduce_all(tf.reshape(inside, shape), -1)

  def clip(self, phi: tf.Tensor, seed: types.Seed) -> tf.Tensor:
    rim = randomness.uniform(seed, tf.shape(phi), 0.0, _EDGE)
    phi = tf.where(phi < self._low, self._low + rim, phi)
    return tf.where(phi > self._high, self._high - rim, phi)

  def sample_uniform(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    return randomness.uniform(
      seed, [num_tasks, self.num_dims], self._low, self._high
    )
