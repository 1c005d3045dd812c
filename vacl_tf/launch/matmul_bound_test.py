# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.launch import matmul_bound


class FlopsTest(parameterized.TestCase):
  def test_a_layer_and_its_gradient(self):
    # Forward one product, backward two, each of 2 * 7 * 5 * 3.
    weights = tf.Variable(tf.ones([5, 3]))

    @tf.function
    def gradient(x):
      with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.square(x @ weights))
      return tape.gradient(loss, [x, weights])

    found = matmul_bound.flops(gradient, tf.ones([7, 5]), loop_steps=1)
    self.assertEqual(found, 3 * 2 * 7 * 5 * 3)

  @parameterized.product(a=(False, True), b=(False, True))
  def test_a_batch_of_transposed_products(self, a, b):
    shapes = ([4, 5, 7] if a else [4, 7, 5], [4, 3, 5] if b else [4, 5, 3])

    @tf.function
    def product(x, y):
      return tf.matmul(x, y, transpose_a=a, transpose_b=b)

    found = matmul_bound.flops(product, *map(tf.ones, shapes), loop_steps=1)
    self.assertEqual(found, 4 * 2 * 7 * 5 * 3)

  def test_inner_loops_count_as_often_as_they_run(self):
    @tf.function
    def nested(x):
      def inner(index, y):
        return index + 1, y @ y

      def outer(index, y):
        _, y = tf.while_loop(lambda i, _: i < 6, inner, (0, y @ y))
        return index + 1, y

      return tf.while_loop(lambda i, _: i < 9, outer, (0, x))[1]

    found = matmul_bound.flops(nested, tf.ones([2, 2]), loop_steps=6)
    self.assertEqual(found, (1 + 6) * 2 * 2 * 2 * 2)

  def test_speed_is_that_of_a_machine(self):
    found = matmul_bound.flops_per_second(1)
    self.assertBetween(found, 1e7, 1e15)


if __name__ == '__main__':
  absltest.main()
