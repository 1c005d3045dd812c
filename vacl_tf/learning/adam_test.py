# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fused Adam is Sonnet's, number by number."""

import numpy as np
import sonnet as snt
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.learning import adam

_SHAPES = ((3, 2), (4,), ())


class AdamTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(False, True)
  def test_it_steps_as_sonnet_does(self, is_compiled):
    rng = np.random.default_rng(0)
    start = [rng.normal(size=shape).astype(np.float32) for shape in _SHAPES]
    rate = tf.Variable(0.1)
    found, wanted = (
      [tf.Variable(x) for x in start],
      [tf.Variable(x) for x in start],
    )
    fused = adam.Adam(rate, epsilon=1e-2)
    plain = snt.optimizers.Adam(rate, epsilon=1e-2)
    fused._initialize(found)  # No variable is made while it is compiled.
    step = tf.function(
      lambda gradients: fused.apply(gradients, found), jit_compile=is_compiled
    )
    for number in range(5):
      rate.assign(0.1 / (1 + number))
      # Small ones show where epsilon is added.
      gradients = [
        tf.constant(0.01 * rng.normal(size=shape), tf.float32)
        for shape in _SHAPES
      ]
      step(gradients)
      plain.apply(gradients, wanted)
    self.assertEqual(fused.step, 5)
    for mine, sonnets in (
      (found, wanted),
      (fused.m, plain.m),
      (fused.v, plain.v),
    ):
      for x, y in zip(mine, sonnets, strict=True):
        self.assertAllClose(x, y, 1e-5, 1e-7)
    self.assertNotAllClose(found[0], start[0])

  def test_after_a_reset_it_steps_as_a_new_one_does(self):
    rng = np.random.default_rng(1)
    parameters = [tf.Variable(rng.normal(size=[3, 2]).astype(np.float32))]
    old, new = (adam.Adam(tf.Variable(0.1)) for _ in range(2))
    step = tf.function(lambda gradients: old.apply(gradients, parameters))

    def draw():
      return [tf.constant(rng.normal(size=[3, 2]), tf.float32)]

    old._initialize(parameters)
    for _ in range(3):
      step(draw())
    old.reset()
    others = [tf.Variable(parameters[0])]
    for number in range(1, 4):
      gradients = draw()
      step(gradients)
      new.apply(gradients, others)
      self.assertEqual(old.step, number)
      self.assertAllClose(parameters[0], others[0], 1e-6, 1e-7)


if __name__ == '__main__':
  tf.test.main()
