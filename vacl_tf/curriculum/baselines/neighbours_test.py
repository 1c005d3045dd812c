# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for neighbours, against sorting all distances."""

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.curriculum.baselines import neighbours


class NearestTest(parameterized.TestCase):
  @parameterized.parameters(1, 4, 30, 50)
  def test_they_are_the_first_by_distance(self, number):
    rng = np.random.default_rng(0)
    points, known = rng.normal(size=[20, 5]), rng.normal(size=[30, 5])
    found = neighbours.nearest(points, known, number)
    distance = np.linalg.norm(points[:, None] - known, axis=-1)
    expected = np.argsort(distance, 1)[:, :number]
    np.testing.assert_array_equal(np.sort(found), np.sort(expected))


if __name__ == '__main__':
  absltest.main()
