# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Initialiser, normalisation and its gradient."""

from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.networks import blocks


def _plain_standardize(x):
  mean = tf.reduce_mean(x, 1, keepdims=True)
  variance = tf.reduce_mean((x - mean) ** 2, 1, keepdims=True)
  return (x - mean) / tf.sqrt(variance + 1e-5)


class OrthogonalTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters((5, 8, 2.0**0.5), (8, 5, 0.01), (6, 6, 1.0))
  def test_shorter_side_is_orthogonal(self, rows, columns, gain):
    found = blocks.orthogonal(np.random.default_rng(0), rows, columns, gain)
    self.assertEqual(found.shape, (rows, columns))
    self.assertEqual(found.dtype, np.float32)
    shorter = found if rows <= columns else found.T
    self.assertAllClose(
      shorter @ shorter.T, gain**2 * np.eye(min(rows, columns)), atol=1e-6
    )

  def test_depends_on_the_seed_alone(self):
    def draw(seed):
      return blocks.orthogonal(np.random.default_rng(seed), 4, 3, 1.0)

    tf.random.set_seed(1)
    one = draw(7)
    tf.random.set_seed(2)
    self.assertAllEqual(one, draw(7))
    self.assertNotAllClose(one, draw(8))

  def test_has_no_preferred_sign(self):
    rng = np.random.default_rng(0)
    corner = [blocks.orthogonal(rng, 3, 3, 1.0)[0, 0] for _ in range(200)]
    self.assertLess(abs(np.mean(np.sign(corner))), 0.3)


class StandardizeTest(tf.test.TestCase):
  def test_equals_the_plain_formula_with_its_gradient(self):
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(0.5, 1.5, [7, 16]), tf.float32)
    weight = tf.constant(rng.normal(size=[7, 16]), tf.float32)
    found = []
    for function in (blocks.standardize, _plain_standardize):
      with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
        loss = tf.reduce_sum(weight * tf.sin(y))
      found.append((y, tape.gradient(loss, x)))
    self.assertAllClose(*found, rtol=1e-4, atol=1e-5)

  def test_gradient_equals_numerical_differences(self):
    x = tf.constant(np.random.default_rng(1).normal(size=[2, 5]), tf.float32)
    theory, numeric = tf.test.compute_gradient(blocks.standardize, [x], 1e-2)
    self.assertAllClose(theory, numeric, atol=2e-3)

  def test_a_constant_row_is_finite(self):
    x = tf.fill([1, 8], 3.0)
    with tf.GradientTape() as tape:
      tape.watch(x)
      y = blocks.standardize(x)
    self.assertAllClose(y, np.zeros([1, 8]))
    self.assertAllInRange(tape.gradient(y, x), -1.0, 1.0)


class ReductionTest(tf.test.TestCase):
  """Sums are products on a CPU and reductions on a GPU."""

  def test_both_ways_give_the_same(self):
    x = tf.constant(np.random.default_rng(4).normal(size=[9, 6]), tf.float32)
    found, uses_products = [], []
    spec = tf.TensorSpec([None, 6])
    for devices in ([], ['a GPU']):
      with mock.patch.object(
        tf.config, 'get_visible_devices', lambda kind, x=devices: x
      ):
        found.append(
          (
            blocks.sum_rows(x),
            blocks.sum_columns(x),
            blocks.sum_columns(x, 0.5),
            *tf.test.compute_gradient(blocks.standardize, [x])[0],
          )
        )
        for function in (blocks.sum_rows, blocks.sum_columns):
          program = tf.function(function).get_concrete_function(spec)
          kinds = {op.type for op in program.graph.get_operations()}
          uses_products.append('MatMul' in kinds)
    self.assertEqual(uses_products, [True, True, False, False])
    self.assertAllClose(*found, rtol=1e-5, atol=1e-6)
    self.assertAllClose(found[0][0], x.numpy().sum(0), rtol=1e-5, atol=1e-6)
    self.assertAllClose(found[0][2][:, 0], x.numpy().sum(1) / 2, 1e-5, 1e-6)


class LinearTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.named_parameters(('wider', 3, 8), ('narrower', 8, 3))
  def test_equals_the_plain_formula_with_its_gradients(self, inputs, outputs):
    rng = np.random.default_rng(2)
    shapes = [7, inputs], [inputs, outputs], [outputs], [inputs]
    given = [tf.constant(rng.normal(size=x), tf.float32) for x in shapes]
    found = []
    for function in (blocks.linear, lambda x, w, b, s: (s * x) @ w + b):
      with tf.GradientTape() as tape:
        tape.watch(given)
        y = function(*given)
        loss = tf.reduce_sum(tf.sin(y))
      found.append((y, *tape.gradient(loss, given)))
    for one, other in zip(*found, strict=True):
      self.assertAllClose(one, other, rtol=1e-4, atol=1e-5)


class BlockTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(('relu', 3.0), ('tanh', 2.0))
  def test_activation(self, name, size):
    block = blocks.Block(np.random.default_rng(0), 2, 6, name)
    x = size * tf.constant([[1.0, -2.0], [0.3, 0.1]])
    line = x @ block.linear.w + block.linear.b
    plain = tf.nn.relu(line) if name == 'relu' else tf.tanh(line)
    self.assertAllClose(block(x), _plain_standardize(plain), 1e-4, 1e-4)

  def test_reads_the_affines_of_several_inputs(self):
    rng = np.random.default_rng(0)
    layer = blocks.Folded(rng, 5, 4)
    layer.b.assign(rng.normal(size=4))
    affines = (blocks.Affine(2), blocks.Affine(3))
    for affine in affines:
      affine.scale.assign(rng.normal(size=affine.scale.shape))
      affine.offset.assign(rng.normal(size=affine.offset.shape))
    parts = [tf.constant(rng.normal(size=[6, k]), tf.float32) for k in (2, 3)]
    applied = tf.concat(
      [
        part * affine.scale + affine.offset
        for part, affine in zip(parts, affines, strict=True)
      ],
      1,
    )
    self.assertAllClose(
      layer(tf.concat(parts, 1), affines), applied @ layer.w + layer.b, 1e-5
    )


if __name__ == '__main__':
  tf.test.main()
