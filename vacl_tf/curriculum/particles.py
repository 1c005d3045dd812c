# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Task sets of bounded size: the particles that represent q(phi)."""

from typing import NamedTuple

import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import tracing
from vacl_tf import types

_BLOCK = 96  # Rows whose distances are computed together; fits the cache.
_GROUP = 16  # Columns that are reduced to their minimum before sorting.


class Rows(NamedTuple):
  """Tasks and their statistics; S rows."""

  phi: tf.Tensor  # [S, D]
  value: tf.Tensor  # [S] latest value, NaN before the first.
  generation: tf.Tensor  # [S] int32: 0 for easy tasks, else the parent's + 1.
  age: tf.Tensor  # [S] int32: updates since the task was added.
  # [S, D] the task that this one was expanded from, NaN if there is none or it
  # is unknown. It is only used in pictures; training does not depend on it.
  parent: tf.Tensor


def novelty(phi: tf.Tensor, count: tf.Tensor, neighbours: int) -> tf.Tensor:
  """Returns each row's mean distance to its nearest other rows.

  This is D(phi, Q) of the paper's diversified queue (appendix on
  implementation details). In sets of at most `neighbours` rows, novelty is the
  sum of all distances divided by the size of the set, as in the released code.

  Args:
    phi: [S, D]; the rows from `count` on are empty.
    count: [] int32, number of rows in use.
    neighbours: number of nearest rows (k).

  Returns:
    [S], infinite for empty rows.
  """
  size = phi.shape[0]
  is_empty = tf.range(size) >= count
  nearest = _smallest_squares(phi, is_empty, min(neighbours, size - 1))
  is_there = nearest < float('inf')
  distance = tf.where(is_there, tf.sqrt(tf.maximum(nearest, 0.0)), 0.0)
  share = tf.where(count > neighbours, neighbours, tf.maximum(count, 1))
  mean = tf.reduce_sum(distance, -1) / tf.cast(share, tf.float32)
  return tf.where(is_empty, float('inf'), mean)


def _smallest_squares(
  phi: tf.Tensor, is_empty: tf.Tensor, number: int
) -> tf.Tensor:
  """Returns each row's smallest squared distances to other non-empty rows.

  Rows are processed in blocks, so that distances stay in the cache. Only a few
  groups of columns are sorted for each row: each of its `number` smallest
  distances lies in one of the `number` groups with the smallest minima.

  Args:
    phi: [S, D].
    is_empty: bool [S].
    number: number of distances to return per row.

  Returns:
    [S, number], infinite where there are fewer other rows.
  """
  size, num_dims = phi.shape
  group = max(min(_GROUP, size // max(number, 1)), 1)
  groups = -(-size // group)
  blocks = -(-size // _BLOCK)
  column, spare = tf.range(groups * group), groups * group - size
  padded = tf.pad(phi, [[0, spare], [0, 0]])
  norm = tf.where(is_empty, float('inf'), tf.reduce_sum(phi * phi, -1))
  norm = tf.pad(norm, [[0, spare]], constant_values=float('inf'))
  rows = tf.pad(phi, [[0, blocks * _BLOCK - size], [0, 0]])
  rows = tf.reshape(rows, [blocks, _BLOCK, num_dims])

  def of_block(block: tf.Tensor) -> tf.Tensor:
    mine = tf.gather(rows, block)
    own_norm = tf.reduce_sum(mine * mine, -1, keepdims=True)
    square = own_norm + norm - 2.0 * tf.matmul(mine, padded, None, True)
    is_self = column == (block * _BLOCK + tf.range(_BLOCK))[:, None]
    square = tf.where(is_self, float('inf'), square)
    # A group consists of columns at a fixed stride: the minimum then reduces a
    # leading axis, which runs at memory speed.
    minima = tf.reduce_min(tf.reshape(square, [_BLOCK, group, groups]), 1)
    near = tf.math.top_k(-minima, number).indices
    members = near[:, None] + groups * tf.range(group)[:, None]
    candidates = tf.gather(
      square, tf.reshape(members, [_BLOCK, -1]), batch_dims=1
    )
    return -tf.math.top_k(-candidates, number).values

  found = tf.map_fn(of_block, tf.range(blocks), fn_output_signature=tf.float32)
  return tf.reshape(found, [-1, number])[:size]


_NOVELTY = tracing.program(novelty)


class ParticleSet(tf.Module):
  """Variables of fixed size, of which the first `count` rows are in use.

  Rows are in the order in which they were added. The set may hold more rows
  than its capacity (children that were not played yet) until `evict` is called.

  Attributes:
    capacity: largest number of rows after `evict`.
    count: number of rows in use.
    rows: all rows, in use or not.
  """

  def __init__(
    self,
    capacity: int,
    room: int,
    num_dims: int,
    eviction: str,
    neighbours: int,
    name: str,
  ) -> None:
    """Makes an empty set.

    Args:
      capacity: largest number of rows after `evict` (C).
      room: number of rows that the set can hold beyond its capacity.
      num_dims: length of a task vector (D).
      eviction: which rows `evict` removes: 'fifo' the oldest, 'random' random
        ones, 'diverse' those with the lowest novelty.
      neighbours: number of nearest rows in the novelty (k).
      name: name of the set.
    """
    super().__init__(name=name)
    size = capacity + room
    self.capacity = capacity
    self._eviction = eviction
    self._neighbours = neighbours
    self.count = tf.Variable(0, trainable=False, name='count')
    self.rows = Rows(
      phi=tf.Variable(tf.zeros([size, num_dims]), trainable=False, name='phi'),
      value=tf.Variable(
        tf.fill([size], float('nan')), trainable=False, name='value'
      ),
      generation=tf.Variable(
        tf.zeros([size], tf.int32), trainable=False, name='generation'
      ),
      age=tf.Variable(tf.zeros([size], tf.int32), trainable=False, name='age'),
      parent=tf.Variable(
        tf.fill([size, num_dims], float('nan')), trainable=False, name='parent'
      ),
    )

  @property
  def size(self) -> int:
    """Number of all rows, in use or not."""
    return self.rows.phi.shape[0]

  def in_use(self) -> tf.Tensor:
    """Returns bool [size]: which rows hold a task."""
    return tf.range(self.size) < self.count

  def _assign(self, rows: Rows, count: tf.Tensor) -> None:
    for variable, value in zip(self.rows, rows, strict=True):
      variable.assign(value)
    self.count.assign(count)

  def keep(self, mask: tf.Tensor) -> None:
    """Keeps only the rows in use where mask [size] is True."""
    mask &= self.in_use()
    blank = Rows(*map(tf.zeros_like, self.rows))
    blank = blank._replace(parent=tf.fill(self.rows.parent.shape, float('nan')))
    rows, count = _write(blank, tf.constant(0), self.rows, mask)
    self._assign(rows, count)

  def append(self, rows: Rows, mask: tf.Tensor) -> None:
    """Adds the rows where mask is True; removes the oldest if needed."""
    latest = tf.cumsum(tf.cast(mask, tf.int32), reverse=True)
    mask &= latest <= self.size
    surplus = self.count + _number(mask) - self.size
    self.keep(tf.range(self.size) >= surplus)
    self._assign(*_write(self.rows, self.count, rows, mask))

  def evict(self, seed: types.Seed) -> None:
    """Removes rows until no more than the capacity are left."""
    surplus = self.count - self.capacity
    if self._eviction == 'fifo':
      self.keep(tf.range(self.size) >= surplus)
      return

    def drop_lowest() -> tf.Tensor:
      if self._eviction == 'random':
        score = randomness.uniform(seed, [self.size])
        score = tf.where(self.in_use(), score, float('inf'))
      else:
        # If an update calls code on the host, it is not compiled as a whole.
        # Compiling the novelty alone then halves its time.
        score = _NOVELTY(
          self.rows.phi.read_value(),
          self.count.read_value(),
          neighbours=self._neighbours,
        )
      rank = tf.argsort(tf.argsort(score, stable=True))
      return rank >= surplus

    # The cost of novelty is quadratic, so it is computed only if needed.
    self.keep(
      tf.cond(surplus > 0, drop_lowest, lambda: tf.ones([self.size], tf.bool))
    )


def _number(mask: tf.Tensor) -> tf.Tensor:
  """Returns how many entries of the mask are True, int32."""
  return tf.reduce_sum(tf.cast(mask, tf.int32))


def _write(
  old: Rows, count: tf.Tensor, new: Rows, mask: tf.Tensor
) -> tuple[Rows, tf.Tensor]:
  """Returns rows `old` with the masked rows of `new` written from `count` on.

  Rows that are masked out, or do not fit, go to an extra row that is cut off.
  """
  size = old.phi.shape[0]
  place = count + tf.cumsum(tf.cast(mask, tf.int32)) - 1
  place = tf.where(mask, tf.minimum(place, size), size)[:, None]
  # A single scatter of row numbers serves all fields, because XLA takes seconds
  # to compile each scatter.
  source = tf.tensor_scatter_nd_update(
    tf.range(size + 1), place, size + tf.range(mask.shape[0])
  )[:-1]
  written = [
    tf.gather(tf.concat([before, fresh], 0), source)
    for before, fresh in zip(old, new, strict=True)
  ]
  return Rows(*written), tf.minimum(count + _number(mask), size)
