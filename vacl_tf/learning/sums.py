# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Sums over the agent-samples of an iteration.

The sums of several entity counts and of several replicas can be added.
"""

from typing import NamedTuple

import tensorflow as tf


class Sums(NamedTuple):
  """Sums over the agent-samples of an iteration, [roles]."""

  number: tf.Tensor
  advantage: tf.Tensor
  square_advantage: tf.Tensor
  returns: tf.Tensor
  square_returns: tf.Tensor
  reward: tf.Tensor


def total(x: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
  """Returns the sum of x [T, B, n] over the first `size` worlds."""
  counts = tf.cast(tf.range(x.shape[1]) < size, tf.float32)[:, None]
  return tf.reduce_sum(counts * x)


def number(x: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
  """Returns how many numbers of x [T, B, n] the first `size` worlds have."""
  return float(x.shape[0] * x.shape[2]) * tf.cast(size, tf.float32)


def of_rollout(
  advantage: tf.Tensor, returns: tf.Tensor, reward: tf.Tensor, size: tf.Tensor
) -> Sums:
  """Returns the sums of tensors [T, B, n] over the first `size` worlds."""
  return Sums(
    number=number(advantage, size),
    advantage=total(advantage, size),
    square_advantage=total(advantage * advantage, size),
    returns=total(returns, size),
    square_returns=total(returns * returns, size),
    reward=total(reward, size),
  )
