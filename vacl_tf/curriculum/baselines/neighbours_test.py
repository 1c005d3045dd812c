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


class AppendedTest(absltest.TestCase):
  def test_it_is_a_list_whose_oldest_leave(self):
    rng = np.random.default_rng(0)
    rows, number, expected = np.zeros([10, 2]), np.array(0), []
    for size in (0, 4, 3, 0, 6, 25, 10):
      new = rng.normal(size=[size, 2])
      rows, number = neighbours.appended(rows, number, new)
      expected = [*expected, *new][-10:]
      self.assertEqual(rows.shape, (10, 2))
      self.assertLen(expected, number)
      np.testing.assert_array_equal(
        rows[:number], np.reshape(expected, [-1, 2])
      )


if __name__ == '__main__':
  absltest.main()
