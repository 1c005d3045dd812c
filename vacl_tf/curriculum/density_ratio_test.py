# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Ratios of densities against SciPy's neighbours and known divergences."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized
from scipy import spatial

from vacl_tf import types
from vacl_tf.curriculum import density_ratio

_K = 5


def _by_trees(phi, target):
  """The estimate, written with trees; the nearest of a task is itself."""
  own = spatial.KDTree(phi).query(phi, _K + 1)[0][:, -1]
  other = spatial.KDTree(target).query(phi, _K)[0][:, -1]
  num, num_dims = phi.shape
  return num_dims * np.log(own / other) + np.log((num - 1) / len(target))


def _draw(rng, num, num_dims, half_width):
  shape = [num, num_dims]
  return rng.uniform(-half_width, half_width, shape).astype(np.float32)


def _log_ratio(phi, target, size=None):
  size = tf.constant(len(phi) if size is None else size)
  return density_ratio.log_ratio(
    tf.constant(phi), tf.constant(target), size
  ).numpy()


class DensityRatioTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters((30, 1), (120, 2), (120, 16))
  def test_equals_that_of_trees(self, num, num_dims):
    rng = np.random.default_rng(num_dims)
    phi, target = _draw(rng, num, num_dims, 1), _draw(rng, num, num_dims, 3)
    want = _by_trees(phi, target)
    self.assertAllClose(_log_ratio(phi, target), want, 1e-3, 1e-3)

  @parameterized.parameters(1, 2, 16)
  def test_is_0_on_average_for_equal_densities(self, num_dims):
    rng = np.random.default_rng(0)
    means = [
      np.mean(_log_ratio(*(_draw(rng, 120, num_dims, 3) for _ in range(2))))
      for _ in range(40)
    ]
    error = np.std(means) / np.sqrt(len(means))
    self.assertLess(np.abs(np.mean(means)), 4 * error + 0.02)

  @parameterized.parameters(1, 2)
  def test_box_within_a_box(self, num_dims):
    rng = np.random.default_rng(1)
    found = _log_ratio(
      _draw(rng, 1500, num_dims, 1), _draw(rng, 1500, num_dims, 3)
    )
    self.assertAllClose(np.mean(found), -num_dims * np.log(3.0), atol=0.1)

  def test_normal_distributions(self):
    rng = np.random.default_rng(2)
    phi = rng.normal(1.0, 0.5, [1500, 1]).astype(np.float32)
    target = rng.normal(0.0, 1.0, [1500, 1]).astype(np.float32)
    divergence = np.log(2.0) + (0.5**2 + 1.0**2) / 2.0 - 0.5
    found = _log_ratio(phi, target)
    self.assertAllClose(np.mean(found), -divergence, atol=0.12)

  def test_rows_that_were_not_played_do_not_count(self):
    rng = np.random.default_rng(3)
    phi, target = _draw(rng, 40, 4, 1), _draw(rng, 40, 4, 3)
    want = _log_ratio(phi[:25], target[:25])
    phi[25:], target[25:] = phi[0], phi[0]
    self.assertAllClose(_log_ratio(phi, target, 25)[:25], want)

  def test_copies_are_finite(self):
    rng = np.random.default_rng(4)
    target = _draw(rng, 20, 4, 3)
    found = _log_ratio(np.tile(target[:1], [20, 1]), target)
    distance = np.sort(np.linalg.norm(target - target[0], axis=1))[_K - 1]
    want = 4 * np.log(1e-3 / distance) + np.log(19 / 20)
    self.assertAllClose(found, np.full(20, want), 1e-4)

  @parameterized.parameters((3, 3), (20, 5), (20, 0))
  def test_too_few_tasks_for_all_neighbours(self, num_rows, size):
    rng = np.random.default_rng(5)
    phi, target = _draw(rng, num_rows, 4, 1), _draw(rng, num_rows, 4, 3)
    self.assertAllEqual(_log_ratio(phi, target, size), np.zeros(num_rows))

  @parameterized.parameters((1000, 990, 1), (1001, 990, 2), (4500, 3001, 5))
  def test_of_many_tasks_some_do(self, num_rows, size, every):
    phi = np.arange(2.0 * num_rows, dtype=np.float32).reshape([num_rows, 2])
    batch = types.TaskBatch(tf.constant(phi), tf.constant(size))
    few, value = density_ratio.thinned(batch, tf.constant(phi[:, 0]))
    self.assertAllEqual(few.phi, phi[::every])
    self.assertAllEqual(value, phi[::every, 0])
    # Those that were played come first among them, too.
    self.assertAllEqual(value[: few.size], phi[:size:every, 0])


if __name__ == '__main__':
  tf.test.main()
