# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the tasks of the particle world have in common."""

import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types

NUM_MOVES = 5  # None, +x, -x, +y, -y.
_JITTER = 0.01  # Of a body about its landmark in an easy task, metres.


def beside(
  landmark: tf.Tensor, num: int, *, order: types.Seed, offset: types.Seed
) -> tf.Tensor:
  """Returns [B, num, 2] places beside distinct random landmarks [B, m, 2].

  Args:
    landmark: m >= num points.
    num: places to return.
    order: seed of which landmarks.
    offset: seed of how far off.
  """
  ranks = randomness.uniform(order, tf.shape(landmark)[:2])
  chosen = tf.gather(landmark, tf.argsort(ranks)[:, :num], batch_dims=1)
  # One offset for both coordinates, as in the released code.
  jitter = randomness.uniform(
    offset, tf.shape(chosen[..., :1]), -_JITTER, _JITTER
  )
  return chosen + jitter


def worlds_last(x: tf.Tensor) -> tf.Tensor:
  """Returns [2, n, B] of [B, n, 2], the layout of `physics`, or back."""
  return tf.transpose(x, [2, 1, 0])


def agents_first(x: tf.Tensor) -> tf.Tensor:
  """Returns [B, n, m, F] of [F, m, n, B]."""
  return tf.transpose(x, [3, 2, 1, 0])


def without_self(x: tf.Tensor) -> tf.Tensor:
  """Drops the diagonal: [F, self, other, B] -> [F, n - 1, n, B], order kept.

  The n agents themselves are third in the result; second are, for agent i,
  all of 0 .. n - 1 but i.
  """
  size, num = x.shape[0], x.shape[1]
  flat = tf.reshape(x, [size, num * num, -1])[:, 1:]
  rows = tf.reshape(flat, [size, num - 1, num + 1, flat.shape[-1]])
  flat = tf.reshape(rows[:, :, :-1], [size, num * (num - 1), -1])
  by_agent = tf.reshape(flat, [size, num, num - 1, flat.shape[-1]])
  return tf.transpose(by_agent, [0, 2, 1, 3])
