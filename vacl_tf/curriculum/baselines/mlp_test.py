# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for mlp: gradients against differences, steps against their laws."""

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.curriculum.baselines import mlp

_SIZES = (3, 5, 4, 2)
_EPSILON = 1e-6


class MlpTest(parameterized.TestCase):
  @parameterized.product(
    unit=({}, {'slope': 0.2}, {'is_tanh': True}), num_networks=(None, 3)
  )
  def test_gradients_are_finite_differences(self, unit, num_networks):
    rng = np.random.default_rng(0)
    network = mlp.Mlp(_SIZES, **unit)
    parameters = network.initial(rng, num_networks).astype(float)
    parameters += 0.1 * rng.standard_normal(parameters.shape)  # Biases, too.
    x = rng.standard_normal([7, 3])
    weight = rng.standard_normal([*parameters.shape[:-1], 7, 2])

    def loss(parameters, x):
      return (weight * network.apply(parameters, x)[-1] ** 2).sum()

    layers = network.apply(parameters, x)
    found = network.gradients(parameters, layers, 2 * weight * layers[-1])
    for index, array in enumerate((parameters, x)):
      expected = np.zeros(array.shape)
      for place in np.ndindex(array.shape):
        moved = [[parameters.copy(), x.copy()] for _ in range(2)]
        moved[0][index][place] += _EPSILON
        moved[1][index][place] -= _EPSILON
        expected[place] = (loss(*moved[0]) - loss(*moved[1])) / (2 * _EPSILON)
      # All networks have the same input, so that it has a gradient of each.
      gradient = found[index]
      if gradient.ndim > array.ndim:
        gradient = gradient.sum(0)
      np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)

  def test_networks_of_an_array_are_networks_of_their_own(self):
    rng = np.random.default_rng(0)
    network = mlp.Mlp(_SIZES)
    parameters = network.initial(rng, 3)
    self.assertEqual(parameters.shape, (3, network.num_parameters))
    self.assertEqual(parameters.dtype, np.float32)
    x = rng.standard_normal([7, 3], np.float32)
    together = network.apply(parameters, x)[-1]
    self.assertEqual(together.dtype, np.float32)
    for one, alone in zip(together, parameters, strict=True):
      np.testing.assert_allclose(
        one, network.apply(alone, x)[-1], rtol=1e-5, atol=1e-6
      )

  def test_hidden_units_are_tanhs_if_wanted(self):
    network = mlp.Mlp((1, 1, 1), is_tanh=True)
    *_, hidden, out = network.apply(np.array([2.0, 1.0, 3.0, -1.0]), [[0.5]])
    np.testing.assert_allclose(hidden, [[np.tanh(2.0)]])
    np.testing.assert_allclose(out, [[3.0 * np.tanh(2.0) - 1.0]])

  def test_initial_outputs_neither_vanish_nor_explode(self):
    network = mlp.Mlp((64, 256, 256, 64), slope=1.0)  # Linear: scale is kept.
    parameters = network.initial(np.random.default_rng(0))
    x = np.random.default_rng(1).standard_normal([500, 64])
    self.assertBetween(network.apply(parameters, x)[-1].std(), 0.7, 1.4)

  def test_extent_scales_rows_to_a_cube(self):
    rows = np.random.default_rng(0).uniform(2.0, 9.0, [20, 3])
    rows[:, 2] = 5.0  # Nothing varies here, and nothing is divided by 0.
    middle, half_width = mlp.extent(rows)
    scaled = (rows - middle) / half_width
    np.testing.assert_allclose(scaled.min(0), [-1.0, -1.0, 0.0])
    np.testing.assert_allclose(scaled.max(0), [1.0, 1.0, 0.0])

  @parameterized.parameters('rms_prop', 'adam')
  def test_optimisers_find_a_minimum_whatever_the_scale(self, name):
    goal = np.array([1.0, -2.0, 0.5])
    scale = np.array([1e-3, 1.0, 1e3])
    parameters, square = np.zeros(3), np.zeros(3)
    moments = np.zeros([2, 3])
    for step in range(3000):
      gradient = scale * (parameters - goal)
      if name == 'adam':
        parameters, moments = mlp.adam(
          parameters, gradient, moments, step, 0.01
        )
      else:
        parameters, square = mlp.rms_prop(parameters, gradient, square, 0.01)
    np.testing.assert_allclose(parameters, goal, atol=0.02)

  def test_first_steps(self):
    gradient = np.array([-3.0, 0.2])
    moved, _ = mlp.adam(np.zeros(2), gradient, np.zeros([2, 2]), 0, 0.01)
    np.testing.assert_allclose(moved, [0.01, -0.01], rtol=1e-5)
    moved, square = mlp.rms_prop(np.zeros(2), gradient, np.zeros(2), 0.01)
    np.testing.assert_allclose(square, 0.1 * gradient**2)
    # Without bias correction: 1 / sqrt(1 - decay) as long.
    np.testing.assert_allclose(moved, np.sqrt([1e-3] * 2) * [1, -1], rtol=1e-5)


if __name__ == '__main__':
  absltest.main()
