# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Value normalisation by running moments of the returns."""

import tensorflow as tf

_MIN_VARIANCE = 1e-2  # As in the released code's normaliser.


class ValueNormalizer(tf.Module):
  """Exponential moving mean and mean square, with bias correction.

  In float32 the deviation is lost in rounding if it is below a thousandth of
  the mean. `ppo.center_rewards` keeps the mean of the returns near 0.
  """

  def __init__(self, decay: float, is_active: bool) -> None:
    """Initialises the moments; an inactive normaliser is the identity."""
    super().__init__(name='value_normalizer')
    self._decay = decay
    self._is_active = is_active
    self._mean = tf.Variable(0.0, trainable=False, name='mean')
    self._square = tf.Variable(0.0, trainable=False, name='square')
    self._weight = tf.Variable(0.0, trainable=False, name='weight')

  def update(self, mean: tf.Tensor, square: tf.Tensor) -> None:
    """Updates the moments with those of an iteration's returns."""
    rate = 1.0 - self._decay
    self._mean.assign_add(rate * (mean - self._mean))
    self._square.assign_add(rate * (square - self._square))
    self._weight.assign_add(rate * (1.0 - self._weight))

  def _moments(self) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns mean and standard deviation; 0 and 1 before any update."""
    if not self._is_active:
      return tf.constant(0.0), tf.constant(1.0)
    has_seen = self._weight > 0.0
    weight = tf.where(has_seen, self._weight, 1.0)
    mean = self._mean / weight
    variance = tf.maximum(self._square / weight - mean * mean, _MIN_VARIANCE)
    return mean, tf.sqrt(tf.where(has_seen, variance, 1.0))

  def normalize(self, returns: tf.Tensor) -> tf.Tensor:
    """Returns normalised returns, the targets of the value network."""
    mean, deviation = self._moments()
    return (returns - mean) / deviation

  def denormalize(self, value: tf.Tensor) -> tf.Tensor:
    """Returns predictions of the value network on the scale of returns."""
    mean, deviation = self._moments()
    return value * deviation + mean
