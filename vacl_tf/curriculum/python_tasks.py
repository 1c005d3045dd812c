# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The tasks of a world, for curricula in NumPy."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from vacl_tf import tracing
from vacl_tf import types
from vacl_tf.curriculum import svgd
from vacl_tf.environments import task_space

_MOST_REDRAWS = 100  # Bound on the draws of noise.
_LEAST_ROWS = 16  # Fewest rows for which noise is traced.


class Tasks:
  """The tasks of a world, in NumPy.

  Attributes:
    num_dims: length of a task vector (D).
    num_entities: number of entities that a task places.
    entity_of_dim: int [D], the entity that each number belongs to.
    num_agents: number of agents that act in a world.
    goals: pairs (mover, goal) of entities, as in `task_space.TaskSpace`.
  """

  def __init__(self, space: task_space.TaskSpace) -> None:
    self._space = space
    # Tracing makes it several times as fast as eager operations.
    self._perturb = (
      tracing.graph(self._noisy) if space.is_compiled else self._noisy
    )
    self.num_agents = space.num_agents
    self.num_dims = space.num_dims
    self.num_entities = space.num_entities
    self.entity_of_dim = space.entity_of_dim
    self.goals = space.goals

  def easy(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns [num_tasks, D] tasks that begin (almost) solved."""
    return self._drawn(self._space.sample_easy, num_tasks, rng)

  def target(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns [num_tasks, D] target tasks, those to be solved in the end."""
    return self._drawn(self._space.sample_target, num_tasks, rng)

  def _drawn(
    self,
    draw: Callable[[int, types.Seed], tf.Tensor],
    num_tasks: int,
    rng: np.random.Generator,
  ) -> np.ndarray:
    seed = _seed(rng)  # Even for no tasks, so that later draws do not change.
    if not num_tasks:  # Users' functions need not handle 0 tasks.
      return np.zeros([0, self.num_dims], np.float32)
    return draw(num_tasks, seed).numpy()

  def clip(self, tasks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Returns tasks [K, D] moved into the legal region."""
    return self._space.clip(_float32(tasks), _seed(rng)).numpy()

  def perturbed(
    self,
    tasks: np.ndarray,
    half_width: float,
    rng: np.random.Generator,
    probability: float = 1.0,
  ) -> np.ndarray:
    """Returns feasible tasks [K, D] with uniform noise.

    Noise is redrawn for entities that it makes infeasible; entities that are
    infeasible in all redraws stay where they are. If another entity has moved
    to that place, the task is returned without noise.

    Args:
      tasks: [K, D], feasible.
      half_width: half-width of the noise, in units of tasks.
      rng: random generator.
      probability: probability that an entity is perturbed.
    """
    number = len(tasks)
    if not number:
      return np.asarray(tasks, np.float32)
    # Powers of two, so that only a few sizes are traced, each once.
    size = max(1 << (number - 1).bit_length(), _LEAST_ROWS)
    rows = np.resize(tasks, [size, self.num_dims])
    moved = self._perturb(
      _float32(rows),
      tf.constant(half_width, tf.float32),
      tf.constant(probability, tf.float32),
      _seed(rng),
    )
    return moved[:number].numpy()

  def _noisy(
    self,
    tasks: tf.Tensor,
    half_width: tf.Tensor,
    probability: tf.Tensor,
    seed: types.Seed,
  ) -> tf.Tensor:
    moved = svgd.feasible_noise(
      self._space, tasks, half_width, probability, _MOST_REDRAWS, seed
    )
    is_legal = tf.reduce_all(self._space.feasible(moved), -1, keepdims=True)
    return tf.where(is_legal, moved, tasks)

  def canonical(self, tasks: np.ndarray) -> np.ndarray:
    """Returns tasks [K, D] with entities of a kind sorted by x, then y.

    Tasks that differ only in the order of these entities become equal, which
    makes distances between tasks meaningful.
    """
    tasks = np.array(tasks)
    for entities in self._space.alike:
      dims = [np.flatnonzero(self.entity_of_dim == x) for x in entities]
      points = tasks[:, np.array(dims)]  # [K, entities of the kind, numbers]
      order = np.lexsort(np.moveaxis(points[..., ::-1], -1, 0))
      points = np.take_along_axis(points, order[..., None], 1)
      flat = points.reshape(len(tasks), np.size(dims))
      tasks[:, np.concatenate(dims)] = flat
    return tasks

  def hindsight(self, tasks: np.ndarray, final: np.ndarray) -> np.ndarray:
    """Returns tasks [K, D] with each goal where its mover ended.

    The actions that led from `tasks` to `final` solve the tasks returned, which
    need not be feasible.

    Args:
      tasks: [K, D] tasks, as their episodes began.
      final: [K, D] tasks that describe the last states of these episodes.
    """
    made = np.array(tasks)
    for mover, goal in self.goals:
      made[:, self.entity_of_dim == goal] = final[
        :, self.entity_of_dim == mover
      ]
    return made

  def feasible(self, tasks: np.ndarray) -> np.ndarray:
    """Returns bool [K, num_entities]: which entities of tasks are legal."""
    return self._space.feasible(_float32(tasks)).numpy()


def judge(
  space: task_space.TaskSpace,
) -> Callable[[tf.Tensor], np.ndarray]:
  """Returns a function that says which tasks [K, D] are legal, as bool [K].

  The function is traced once for each K, which makes it several times as fast.
  """

  def are_legal(tasks: tf.Tensor) -> tf.Tensor:
    return tf.reduce_all(space.feasible(tasks), -1)

  traced = tracing.graph(are_legal) if space.is_compiled else are_legal
  return lambda tasks: traced(tasks).numpy()


def _seed(rng: np.random.Generator) -> types.Seed:
  return tf.constant(rng.integers(-(2**31), 2**31, 2), tf.int32)


def _float32(tasks: np.ndarray) -> tf.Tensor:
  return tf.constant(np.asarray(tasks, np.float32))
