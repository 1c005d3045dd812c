# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for mixture: against SciPy's densities, and the law of EM."""

import numpy as np
from absl.testing import absltest
from scipy import stats

from vacl_tf.curriculum.baselines import mixture


def _blobs():
  """Returns rows of which three in four lie about (4, 4), others about 0."""
  rng = np.random.default_rng(0)
  return np.concatenate(
    [rng.normal(0.0, 1.0, [100, 2]), rng.normal(4.0, 0.5, [300, 2])]
  )


def _fit(rows, num_components, num_steps, seed=0):
  rng = np.random.default_rng(seed)
  return mixture.fit(rows, num_components, num_steps, rng)


def _densities(rows, found):
  return np.stack(
    [
      weight * stats.multivariate_normal.pdf(rows, mean, np.diag(variance))
      for weight, mean, variance in zip(*found, strict=True)
    ],
    1,
  )


class MixtureTest(absltest.TestCase):
  def test_shares_are_those_of_the_densities(self):
    rows = _blobs()
    found = _fit(rows, 3, 4)
    density = _densities(rows, found)
    np.testing.assert_allclose(
      mixture._shares(rows, found),
      density / density.sum(1, keepdims=True),
      rtol=1e-7,
      atol=1e-12,
    )

  def test_steps_make_rows_likelier(self):
    rows = _blobs()
    mean = [
      np.log(_densities(rows, _fit(rows, 4, steps)).sum(1)).mean()
      for steps in range(12)
    ]
    self.assertGreater(np.diff(mean).min(), -1e-4)  # Variances have a floor.
    self.assertGreater(mean[-1], mean[0] + 0.1)

  def test_it_finds_two_blobs(self):
    weight, mean, variance = _fit(_blobs(), 2, 30)
    order = np.argsort(weight)
    np.testing.assert_allclose(weight[order], [0.25, 0.75], atol=0.02)
    np.testing.assert_allclose(mean[order], [[0, 0], [4, 4]], atol=0.3)
    np.testing.assert_allclose(
      variance[order], [[1, 1], [0.25, 0.25]], atol=0.3
    )

  def test_rows_that_are_all_the_same(self):
    found = _fit(np.full([20, 3], 7.0), 5, 10)
    for array in found:
      self.assertTrue(np.isfinite(array).all())
    np.testing.assert_allclose(found.weight @ found.mean, [7.0] * 3)


if __name__ == '__main__':
  absltest.main()
