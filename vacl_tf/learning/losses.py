# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Losses of proximal policy optimisation (Schulman et al. 2017)."""

import tensorflow as tf


def generalized_advantages(
  reward: tf.Tensor,
  value: tf.Tensor,
  discount: tf.Tensor,
  gamma: float,
  gae_lambda: float,
) -> tf.Tensor:
  """Returns generalized advantage estimates of episodes (Schulman et al. 2016).

  Args:
    reward: [T, B, n].
    value: [T + 1, B, n]; the last one is that of the state after step T.
    discount: [T, B], 0 where the world ends with a step, else 1.
    gamma: discount factor.
    gae_lambda: lambda of the estimates.

  Returns:
    [T, B, n].
  """
  discount = discount[..., None]
  error = reward + gamma * discount * value[1:] - value[:-1]
  decay = gamma * gae_lambda * discount
  return tf.scan(
    lambda later, now: now[0] + now[1] * later,
    (error, decay),
    tf.zeros_like(error[0]),
    reverse=True,
  )


def clipped_policy_loss(
  ratio: tf.Tensor, advantage: tf.Tensor, clip: float
) -> tf.Tensor:
  """Returns the elementwise clipped surrogate loss."""
  bounded = tf.clip_by_value(ratio, 1.0 - clip, 1.0 + clip)
  return -tf.minimum(ratio * advantage, bounded * advantage)


def huber(error: tf.Tensor, delta: float) -> tf.Tensor:
  """Returns the Huber loss: quadratic up to delta, linear beyond."""
  size = tf.abs(error)
  inner = tf.minimum(size, delta)
  return 0.5 * inner * inner + delta * (size - inner)


def clipped_value_loss(
  value: tf.Tensor,
  acting_value: tf.Tensor,
  target: tf.Tensor,
  clip: float,
  delta: float,
) -> tf.Tensor:
  """Returns the larger of the Huber losses of value and clipped value."""
  step = tf.clip_by_value(value - acting_value, -clip, clip)
  near = huber(acting_value + step - target, delta)
  return tf.maximum(huber(value - target, delta), near)
