# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Task vectors (phi): their layout, legal region and standard draws."""

import abc

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types

_EDGE = 0.01  # Width of the rim that clipped coordinates land in.


class TaskSpace(abc.ABC):
  """The tasks of one environment with one entity count.

  A task vector phi is the concatenation of its entities' coordinates. Curricula
  know an environment only through this class.

  Attributes:
    num_dims: numbers in a task vector (D).
    num_entities: entities that a task places.
    num_agents: agents that act in a world.
    entity_of_dim: int [D], the entity that each number belongs to.
    alike: interchangeable entities, one tuple for each kind: swapping two
      entities of a kind gives the same task.
    goals: pairs (mover, goal) of entities, if a task is solved while there is
      any mover at each goal; otherwise ().
    is_compiled: whether XLA can compile the functions of the space.
  """

  num_dims: int
  num_entities: int
  num_agents: int
  entity_of_dim: np.ndarray
  alike: tuple[tuple[int, ...], ...] = ()
  goals: tuple[tuple[int, int], ...] = ()
  is_compiled: bool = True

  @abc.abstractmethod
  def feasible(self, phi: tf.Tensor) -> tf.Tensor:
    """Returns bool [..., num_entities]: which entities of phi are legal."""

  @abc.abstractmethod
  def clip(self, phi: tf.Tensor, seed: types.Seed) -> tf.Tensor:
    """Returns phi [..., D] moved, entity by entity, into the legal region."""

  @abc.abstractmethod
  def sample_easy(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    """Returns [num_tasks, D] tasks that begin (almost) solved; GetEasy."""

  @abc.abstractmethod
  def sample_uniform(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    """Returns [num_tasks, D] tasks, uniform over the legal region."""

  def sample_target(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    """Returns [num_tasks, D] target tasks, drawn from the distribution p."""
    return self.sample_uniform(num_tasks, seed)


class WithoutTarget(TaskSpace):
  """A task space that hides its target distribution.

  Target tasks are uniform over the legal region instead.
  """

  def __init__(self, space: TaskSpace) -> None:
    self._space = space
    self.num_dims = space.num_dims
    self.num_entities = space.num_entities
    self.num_agents = space.num_agents
    self.entity_of_dim = space.entity_of_dim
    self.alike = space.alike
    self.goals = space.goals
    self.is_compiled = space.is_compiled

  def feasible(self, phi: tf.Tensor) -> tf.Tensor:
    return self._space.feasible(phi)

  def clip(self, phi: tf.Tensor, seed: types.Seed) -> tf.Tensor:
    return self._space.clip(phi, seed)

  def sample_easy(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    return self._space.sample_easy(num_tasks, seed)

  def sample_uniform(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    return self._space.sample_uniform(num_tasks, seed)


class BoxTaskSpace(TaskSpace):
  """Points, each of which lies in its own union of boxes."""

  def __init__(
    self, low: np.ndarray, high: np.ndarray, num_agents: int
  ) -> None:
    """Initialises the space.

    Args:
      low: [num_entities, num_boxes, point_size] lower corners, in metres for
        points in the plane (point_size 2). The boxes of an entity do not
        overlap, or they are all the same box.
      high: [num_entities, num_boxes, point_size] upper corners.
      num_agents: agents that act in a world.
    """
    self.num_entities, _, self._point_size = np.shape(low)
    self.num_dims = self._point_size * self.num_entities
    self.num_agents = num_agents
    self.entity_of_dim = np.repeat(
      np.arange(self.num_entities), self._point_size
    )
    self._low = tf.constant(low, tf.float32)
    self._high = tf.constant(high, tf.float32)

  def feasible(self, phi: tf.Tensor) -> tf.Tensor:
    points = self._points(phi)[..., None, :]  # [..., entities, 1, point_size]
    inside = (points >= self._low) & (points <= self._high)
    return tf.reduce_any(tf.reduce_all(inside, -1), -1)

  def clip(self, phi: tf.Tensor, seed: types.Seed) -> tf.Tensor:
    """Moves points to the rim of the box that is nearest along x.

    If several boxes are equally near, points move to the one that is nearest
    along y, the last axis of a point. The released code does the same, except
    where x lies between two boxes: it does not move such points
    (docs/reproduction.md, Hard-Spread).
    """
    points = self._points(phi)
    point = points[..., None, :]  # [..., entities, 1, point_size]
    distance = tf.nn.relu(tf.maximum(self._low - point, point - self._high))
    low, high = self._corners(
      tf.argmin(distance[..., 0] + 1e-6 * distance[..., -1], -1)
    )
    rim = randomness.uniform(seed, tf.shape(points), 0.0, _EDGE)
    points = tf.where(points < low, low + rim, points)
    points = tf.where(points > high, high - rim, points)
    return tf.reshape(points, tf.shape(phi))

  def sample_uniform(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    which = randomness.fold(seed, 1)
    area = tf.reduce_prod(self._high - self._low, -1)  # [entities, boxes]
    bounds = tf.cumsum(area, 1) / tf.reduce_sum(area, 1, keepdims=True)
    share = randomness.uniform(which, [num_tasks, self.num_entities, 1])
    low, high = self._corners(
      tf.reduce_sum(tf.cast(share >= bounds[:, :-1], tf.int32), -1)
    )
    points = randomness.uniform(seed, tf.shape(low), low, high)
    return tf.reshape(points, [num_tasks, self.num_dims])

  def _corners(self, box: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns low and high [..., entities, point_size] of the given boxes."""
    chosen = tf.one_hot(box, self._low.shape[1])[..., None]
    low, high = chosen * self._low, chosen * self._high
    return tf.reduce_sum(low, -2), tf.reduce_sum(high, -2)

  def _points(self, phi: tf.Tensor) -> tf.Tensor:
    """Returns [..., num_entities, point_size]."""
    point = [self.num_entities, self._point_size]
    shape = tf.concat([tf.shape(phi)[:-1], point], 0)
    return tf.reshape(phi, shape)


def equal_parts(number: int, parts: int) -> tuple[tuple[int, ...], ...]:
  """Returns the numbers below `number`, in order, in equal parts."""
  size = number // parts
  return tuple(
    tuple(range(part * size, (part + 1) * size)) for part in range(parts)
  )


def canonical(space: TaskSpace, phi: tf.Tensor) -> tf.Tensor:
  """Returns tasks [K, D] with entities of a kind sorted by x, then y.

  Tasks that differ only in the order of interchangeable entities become equal.
  This is graph code; NumPy curricula call `python_curriculum.Tasks.canonical`.
  """
  for entities in space.alike:
    dims = np.stack(
      [np.flatnonzero(space.entity_of_dim == x) for x in entities]
    )
    points = tf.gather(phi, dims, axis=1)  # [K, entities of the kind, numbers]
    for number in reversed(range(dims.shape[1])):
      order = tf.argsort(points[..., number], stable=True)
      points = tf.gather(points, order, batch_dims=1)
    others = np.setdiff1d(np.arange(space.num_dims), dims)
    flat = tf.reshape(points, [-1, dims.size])
    joined = tf.concat([tf.gather(phi, others, axis=1), flat], 1)
    place = np.argsort(np.concatenate([others, dims.ravel()]))
    phi = tf.gather(joined, place, axis=1)
  return phi
