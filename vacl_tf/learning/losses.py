# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The maths of proximal policy optimisation (algorithm sheet, section 4)."""

import tensorflow as tf


def generalized_advantages(
  reward: tf.Tensor,
  value: tf.Tensor,
  discount: float,
  trace_decay: float,
  is_terminal: bool,
) -> tf.Tensor:
  """Returns generalized advantage estimates of whole episodes.

  Args:
    reward: [T, ...].
    value: [T + 1, ...], the last one of the state after step T.
    discount: gamma.
    trace_decay: lambda.
    is_terminal: whether nothing follows step T; else its value bootstraps.

  Returns:
    [T, ...].
  """
  if is_terminal:
    value = tf.concat([value[:-1], tf.zeros_like(value[-1:])], 0)
  error = reward + discount * value[1:] - value[:-1]
  return tf.scan(
    lambda later, now: now + discount * trace_decay * later,
    error,
    tf.zeros_like(error[0]),
    reverse=True,
  )


def clipped_policy_loss(
  ratio: tf.Tensor, advantage: tf.Tensor, clip: float
) -> tf.Tensor:
  """Returns the elementwise clipped surrogate, to be minimised."""
  bounded = tf.clip_by_value(ratio, 1.0 - clip, 1.0 + clip)
  return -tf.minimum(ratio * advantage, bounded * advantage)


def huber(error: tf.Tensor, delta: float) -> tf.Tensor:
  """Returns half the square up to delta, then linear."""
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
  """Returns the larger Huber loss of the value and of its clipped step."""
  step = tf.clip_by_value(value - acting_value, -clip, clip)
  near = huber(acting_value + step - target, delta)
  return tf.maximum(huber(value - target, delta), near)
