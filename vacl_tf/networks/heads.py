# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Actions that consist of several choices (hide-and-seek sheet, section 7)."""

import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions


class Heads:
  """Independent choices, made together: one probability of them all."""

  def __init__(self, logits: tf.Tensor, sizes: tuple[int, ...]) -> None:
    """Makes the joint distribution.

    Args:
      logits: [..., sum(sizes)], head after head.
      sizes: choices of each head.
    """
    self.logits = logits
    self.num_heads = len(sizes)
    self._parts = tf.split(logits, sizes, -1)
    self._joint = tfd.JointDistributionSequential(
      [tfd.Categorical(logits=part) for part in self._parts]
    )

  def log_prob(self, action: tf.Tensor) -> tf.Tensor:
    """Returns [...] of actions int32 [..., heads]."""
    return self._joint.log_prob(tf.unstack(action, axis=-1))

  def entropy(self) -> tf.Tensor:
    """Returns [...]: the mean over heads, as the released code has it."""
    return self._joint.entropy() / len(self._parts)

  def draw(self, uniform: tf.Tensor) -> tf.Tensor:
    """Returns actions int32 [..., heads] by uniform numbers of that shape."""
    numbers = tf.unstack(uniform, axis=-1)
    pairs = zip(self._parts, numbers, strict=True)
    return tf.stack([draw_actions(*pair) for pair in pairs], -1)

  def mode(self) -> tf.Tensor:
    """Returns the likeliest actions, int32 [..., heads]."""
    return tf.stack([tf.argmax(x, -1, tf.int32) for x in self._parts], -1)


def draw_actions(logits: tf.Tensor, uniform: tf.Tensor) -> tf.Tensor:
  """Returns int32 actions [...] of logits [..., A] by uniform numbers [...].

  One number an action, where sampling by Gumbel noise would need A.
  """
  bounds = tf.cumsum(tf.nn.softmax(logits), -1)[..., :-1]
  return tf.reduce_sum(tf.cast(uniform[..., None] >= bounds, tf.int32), -1)
