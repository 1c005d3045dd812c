# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Running moments against sums of all that was seen."""

import numpy as np
import tensorflow as tf

from vacl_tf.learning import value_normalizer


def _update(made, returns):
  returns = tf.convert_to_tensor(returns)
  made.update(tf.reduce_mean(returns), tf.reduce_mean(returns * returns))


class ValueNormalizerTest(tf.test.TestCase):
  def test_identity_before_the_first_update(self):
    made = value_normalizer.ValueNormalizer(0.9, True)
    self.assertAllClose(made.normalize(tf.constant([-2.0, 5.0])), [-2.0, 5.0])
    self.assertAllClose(made.denormalize(tf.constant([3.0])), [3.0])

  def test_first_update_is_not_drawn_to_zero(self):
    made = value_normalizer.ValueNormalizer(0.99, True)
    returns = tf.constant([[1.0, 3.0], [5.0, 7.0]])
    _update(made, returns)
    self.assertAllClose(
      made.normalize(returns), (returns - 4.0) / 5.0**0.5, 1e-4, 1e-4
    )

  def test_equals_the_weighted_moments_of_all_updates(self):
    made = value_normalizer.ValueNormalizer(0.8, True)
    rng = np.random.default_rng(0)
    seen = rng.normal(3.0, 2.0, [5, 40]) + np.arange(5)[:, None]
    for returns in seen:
      _update(made, tf.constant(returns, tf.float32))
    weight = 0.8 ** np.arange(4, -1, -1)
    weight /= np.sum(weight)
    mean = weight @ np.mean(seen, 1)
    deviation = np.sqrt(weight @ np.mean(seen**2, 1) - mean**2)
    self.assertAllClose(
      made.denormalize(tf.constant([0.0, 1.0])), [mean, mean + deviation], 1e-4
    )

  def test_round_trip(self):
    made = value_normalizer.ValueNormalizer(0.9, True)
    for scale in (1.0, 50.0):
      _update(made, scale * tf.range(10.0))
      x = tf.constant([-3.0, 0.0, 40.0])
      self.assertAllClose(made.denormalize(made.normalize(x)), x, 1e-4, 1e-4)

  def test_equal_returns_are_not_blown_up(self):
    made = value_normalizer.ValueNormalizer(0.9, True)
    _update(made, tf.fill([9], 2.0))
    self.assertAllClose(made.normalize(tf.constant([2.0, 2.1])), [0.0, 1.0])

  def test_inactive_is_the_identity(self):
    made = value_normalizer.ValueNormalizer(0.9, False)
    _update(made, tf.range(10.0))
    x = tf.constant([-3.0, 40.0])
    self.assertAllEqual(made.normalize(x), x)
    self.assertAllEqual(made.denormalize(x), x)


if __name__ == '__main__':
  tf.test.main()
