# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Sums over the agent-samples of an iteration.

They add up over entity counts and over replicas.
"""

from typing import NamedTuple

import tensorflow as tf


class Sums(NamedTuple):
  """Over the agent-samples of an iteration, [roles]."""

  number: tf.Tensor
  advantage: tf.Tensor
  square_advantage: tf.Tensor
  returns: tf.Tensor
  square_returns: tf.Tensor
  reward: tf.Tensor


def total(x: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
  """Returns the sum over the worlds below `size` of [T, B, n]."""
  counts = tf.cast(tf.range(x.shape[1]) < size, tf.float32)[:, None]
  return tf.reduce_sum(counts * x)


def number(x: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
  """Returns how many numbers of [T, B, n] are of worlds below `size`."""
  return float(x.shape[0] * x.shape[2]) * tf.cast(size, tf.float32)


def of_rollout(
  advantage: tf.Tensor, returns: tf.Tensor, reward: tf.Tensor, size: tf.Tensor
) -> Sums:
  """Returns sums over the worlds below `size` of [T, B, n]."""
  return Sums(
    number=number(advantage, size),
    advantage=total(advantage, size),
    square_advantage=total(advantage * advantage, size),
    returns=total(returns, size),
    square_returns=total(returns * returns, size),
    reward=total(reward, size),
  )
