# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Attention of several heads against automatic differentiation."""

import functools

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.networks import multi_head


class AttendTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.product(has_mask=(False, True), jit=(None, False, True))
  def test_values_and_gradients_equal_automatic_differentiation(
    self, has_mask, jit
  ):
    rng = np.random.default_rng(6)
    inputs = [tf.constant(rng.normal(size=[3, 5, 4, 2])) for _ in range(3)]
    dy = rng.normal(size=[3, 5, 4, 2])
    mask = rng.integers(0, 2, [3, 5]).astype(bool)
    mask[:, 1] = True
    mask = tf.constant(mask) if has_mask else None

    def literally(query, key, value, mask):
      scores = tf.einsum('nshd,nthd->nhst', query, key)
      weights = tf.exp(scores)
      if mask is not None:
        weights *= tf.cast(mask, tf.float64)[:, None, None]
      weights /= tf.reduce_sum(weights, -1, keepdims=True)
      return tf.einsum('nhst,nthd->nshd', weights, value)

    def results(attend):
      with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = attend(*inputs, mask)
      return [y, *tape.gradient(y, inputs, output_gradients=dy)]

    found = functools.partial(results, multi_head.attend)
    if jit is not None:
      found = tf.function(found, jit_compile=jit, autograph=False)
    for one, other in zip(found(), results(literally), strict=True):
      self.assertAllClose(one, other, rtol=1e-12, atol=1e-12)

  def test_absent_tokens_have_no_gradient(self):
    rng = np.random.default_rng(6)
    inputs = [tf.constant(rng.normal(size=[2, 3, 4, 2])) for _ in range(3)]
    mask = tf.constant([[True, True, False]] * 2)
    with tf.GradientTape() as tape:
      tape.watch(inputs)
      y = multi_head.attend(*inputs, mask)[:, :2]
      loss = tf.reduce_sum(y**2)
    for gradient in tape.gradient(loss, inputs):
      self.assertAllEqual(gradient[:, 2], tf.zeros_like(gradient[:, 2]))
      self.assertGreater(np.max(np.abs(gradient[:, :2])), 1e-3)


if __name__ == '__main__':
  tf.test.main()
