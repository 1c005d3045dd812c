# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The ratio of two densities of tasks, from distances to nearest neighbours.

Q. Wang, S. R. Kulkarni, S. Verdu, Divergence estimation for multidimensional
densities via k-nearest-neighbor distances, 2009, with a fixed k. The mean of
the negative log ratio over draws of q is their estimate of KL(q || p). In many
dimensions this estimate is far too small where q is thin in some directions
(docs/paper.md).
"""

import tensorflow as tf

from vacl_tf import types

_NEIGHBOURS = 5  # k: a small k is noisy, a large one less local.
# Metres. Tasks that are closer count as this far apart: a batch may hold copies
# of a task, and their distance of 0 has no logarithm.
_LEAST_DISTANCE = 1e-3
# Memory grows with the square of the number of tasks, so larger batches are
# thinned to this many rows.
_MOST_ROWS = 1000


def thinned(
  batch: types.TaskBatch, value: tf.Tensor
) -> tuple[types.TaskBatch, tf.Tensor]:
  """Returns at most _MOST_ROWS evenly spaced tasks and values, no tickets."""
  every = -(-batch.phi.shape[0] // _MOST_ROWS)
  size = (batch.size + every - 1) // every
  return types.TaskBatch(batch.phi[::every], size), value[::every]


def log_ratio(phi: tf.Tensor, target: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
  """Returns an estimate of log p(x) / q(x) at tasks x that are drawn from q.

  It compares as many tasks of p as of q, so that its mean is 0 for q = p.

  Args:
    phi: [B, D] tasks, of which the first `size` are drawn from q.
    target: [B, D] tasks, drawn from p.
    size: [] int32, number of tasks drawn from q.

  Returns:
    [B], 0 if there are too few tasks for k neighbours; rows from `size` on are
    meaningless.
  """
  num_rows, num_dims = phi.shape
  if num_rows <= _NEIGHBOURS:
    return tf.zeros([num_rows])
  row = tf.range(num_rows)
  is_absent = row >= size
  own = _kth_distance(phi, phi, is_absent | (row == row[:, None]))
  other = _kth_distance(phi, target, is_absent)
  num = tf.cast(tf.maximum(size, 2), tf.float32)
  ratio = num_dims * tf.math.log(own / other) + tf.math.log((num - 1.0) / num)
  return tf.where(size > _NEIGHBOURS, ratio, 0.0)


def _kth_distance(
  phi: tf.Tensor, others: tf.Tensor, is_excluded: tf.Tensor
) -> tf.Tensor:
  """Returns [B]: distance of each task to the k-th nearest of the others.

  Args:
    phi: [B, D].
    others: [B, D].
    is_excluded: bool [B] or [B, B], which of the others do not count.
  """
  # Computing this from norms and a product would leave rounding errors for
  # tasks that are close.
  square = tf.reduce_sum((phi[:, None] - others[None]) ** 2, -1)
  square = tf.where(is_excluded, float('inf'), square)
  nearest = -tf.math.top_k(-square, _NEIGHBOURS).values
  return tf.sqrt(tf.maximum(nearest[:, -1], _LEAST_DISTANCE**2))
