# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The task space of an external trainer, which says what is feasible.

Curricula see a box with sides of equal length, whatever the units of the
trainer are, since some of their constants are lengths tuned on such a map.
"""

import functools
import threading
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.environments import box_tasks
from vacl_tf.environments import simulator
from vacl_tf.environments import task_space

HALF_SIDE = 3.0  # As in Simple-Spread, which the default constants fit.
_NUM_KNOWN = 1000  # Tasks among which `clip` looks for feasible ones.

# Given tasks [k, D] in the trainer's units, returns bool [k, num_entities].
Oracle = Callable[[np.ndarray], np.ndarray]


class TrainerSpace(task_space.BoxTaskSpace):
  """Tasks anywhere in a box, feasible where the trainer says so.

  Attributes:
    failure: last exception of the oracle, or of a draw or a check that depends
      on it. It is kept here because TensorFlow raises another one instead.
  """

  def __init__(
    self,
    low: np.ndarray,
    high: np.ndarray,
    entity_size: int,
    easy: np.ndarray | None,
    oracle: Oracle | None,
  ) -> None:
    """Initialises the space.

    Args:
      low: [D] smallest numbers of a task, in the trainer's units.
      high: [D] largest numbers, above low.
      entity_size: how many numbers belong to one entity, a divisor of D.
      easy: [m, D] easy tasks, in the trainer's units; None if there are none.
      oracle: function that says which entities are legal; None if all tasks in
        the box are. It is called from other threads, one call at a time.
    """
    half = np.full([len(low) // entity_size, 1, entity_size], HALF_SIDE)
    super().__init__(-half, half, num_agents=1)
    self._bounds = low, high
    # The bounds as float32, rounded towards the inside of the box.
    rim = low.astype(np.float32), high.astype(np.float32)
    self._rim = (
      np.where(rim[0] < low, np.nextafter(rim[0], rim[1]), rim[0]),
      np.where(rim[1] > high, np.nextafter(rim[1], rim[0]), rim[1]),
    )
    self._easy = easy
    self._oracle = oracle
    self.is_compiled = oracle is None
    # Independent operations of a graph run at the same time.
    self._lock = threading.Lock()
    self._asked = np.zeros([0, len(low)], np.float32)  # Tasks of the last call.
    self._told = np.zeros([0, self.num_entities], bool)  # Its answers.
    self.failure: Exception | None = None

  def to_trainer(self, phi: np.ndarray) -> np.ndarray:
    """Returns tasks [k, D] in the trainer's units."""
    low, high = self._bounds
    share = (phi.astype(np.float64) + HALF_SIDE) / (2 * HALF_SIDE)
    return np.clip((low + share * (high - low)).astype(np.float32), *self._rim)

  def from_trainer(self, tasks: np.ndarray) -> np.ndarray:
    """Returns phi [k, D] of tasks in the trainer's units."""
    low, high = self._bounds
    share = (tasks.astype(np.float64) - low) / (high - low)
    return ((2.0 * share - 1.0) * HALF_SIDE).astype(np.float32)

  def feasible(self, phi: tf.Tensor) -> tf.Tensor:
    inside = super().feasible(phi)
    if self._oracle is None:
      return inside
    legal = tf.numpy_function(self._ask, [phi, inside], tf.bool, stateful=False)
    return tf.reshape(legal, tf.shape(inside))

  def clip(self, phi: tf.Tensor, seed: types.Seed) -> tf.Tensor:
    """Moves points to the rim of the box, then infeasible ones to known ones.

    The known tasks are the easy tasks and a sample of the feasible ones. An
    infeasible entity gets the numbers of the nearest one of the same entity; if
    the task as a whole is still infeasible, the nearest task replaces it.
    """
    inside = super().clip(phi, seed)
    if self._oracle is None:
      return inside
    moved = tf.numpy_function(self._moved, [inside], tf.float32, stateful=False)
    return tf.ensure_shape(moved, phi.shape)

  def sample_easy(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    """Returns random easy tasks, which repeat if there are too few."""
    if not num_tasks:
      return tf.zeros([0, self.num_dims])
    if self._easy is None:
      raise ValueError(
        'easy=None: this curriculum starts from easy tasks; give some'
      )
    phi = tf.constant(self._easy_phi)
    order = tf.argsort(randomness.uniform(seed, [len(phi)]))
    return tf.gather(phi, tf.gather(order, tf.range(num_tasks) % len(order)))

  def sample_uniform(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    if self._oracle is None:
      return super().sample_uniform(num_tasks, seed)
    phi = tf.numpy_function(
      lambda seed: self._draw(num_tasks, seed), [seed], tf.float32
    )
    return tf.ensure_shape(phi, [num_tasks, self.num_dims])

  def _draw(self, num_tasks: int, seed: np.ndarray) -> np.ndarray:
    """Returns feasible tasks [num_tasks, D]."""
    rng = base.generator(seed)
    try:
      return box_tasks.draw_feasible(
        num_tasks, lambda size: self._anywhere(size, rng), self._legal
      )
    except simulator.WorldError as error:
      self.failure = error
      raise

  def _anywhere(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns tasks [num_tasks, D] of the box, feasible or not."""
    shape = [num_tasks, self.num_dims]
    return rng.uniform(-HALF_SIDE, HALF_SIDE, shape).astype(np.float32)

  @functools.cached_property
  def _easy_phi(self) -> np.ndarray:
    """The easy tasks [K, D] that are feasible as the trainer will get them."""
    # Rounding may move a task on the rim outside, or make it infeasible.
    phi = np.clip(self.from_trainer(self._easy), -HALF_SIDE, HALF_SIDE)
    if self._oracle is not None:
      phi = phi[self._legal(phi).all(1)]
    if not len(phi):
      self.failure = ValueError(
        f'easy: all {len(self._easy)} tasks become infeasible when they are '
        'rounded to 32 bits; give some that are further inside of what is '
        'feasible'
      )
      raise self.failure
    return phi

  @functools.cached_property
  def _known(self) -> np.ndarray:
    """Feasible tasks [K, D], to which `clip` moves infeasible ones."""
    seed = np.zeros([2], np.int32)  # The same after a resume.
    known = self._anywhere(_NUM_KNOWN, base.generator(seed))
    known = known[self._legal(known).all(1)]
    if self._easy is not None:
      known = np.concatenate([self._easy_phi, known])
    return known if len(known) else self._draw(1, seed)

  def _moved(self, phi: np.ndarray) -> np.ndarray:
    """Returns tasks of the box [..., D], of which infeasible ones are moved."""
    rows = phi.reshape([-1, self.num_dims]).copy()
    is_finite = np.isfinite(rows).all(1)  # NaN must not become a good task.
    given, scale = rows[is_finite], np.ones([self.num_dims])
    if not self._legal(given).all():  # Known tasks are costly to find.
      rows[is_finite] = box_tasks.moved_to_known(
        given, self._known, self._legal, self.entity_of_dim, scale
      )
    return rows.reshape(phi.shape)

  def _legal(self, rows: np.ndarray) -> np.ndarray:
    """Returns bool [K, num_entities]: the legal entities of rows of the box."""
    return self._ask(rows, np.full([len(rows), self.num_entities], True))

  def _ask(self, phi: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Returns bool [..., num_entities]: the legal entities of phi [..., D].

    Only rows that differ from the last call are sent to the trainer. When noise
    is redrawn, most rows are the same as before.
    """
    rows = phi.reshape([-1, self.num_dims])
    inside = inside.reshape([-1, self.num_entities])
    with self._lock:
      legal, is_new = inside.copy(), np.full([len(rows)], True)
      if rows.shape == self._asked.shape:
        is_new = (rows != self._asked).any(-1)
        legal[~is_new] = self._told[~is_new]
      is_new &= inside.any(-1)
      if is_new.any():
        try:
          legal[is_new] &= self._oracle(self.to_trainer(rows[is_new]))
        except Exception as error:
          self.failure = error
          raise
      self._asked, self._told = rows.copy(), legal
    return legal.reshape([*phi.shape[:-1], self.num_entities])
