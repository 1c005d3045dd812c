# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for statistics, against values by hand and laws."""

import math
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import statistics


def _draws(*sizes):
  rng = np.random.default_rng(1)
  return [rng.uniform(size=size) for size in sizes]


class AreaTest(parameterized.TestCase):
  def test_by_hand(self):
    # Trapezoids of 2, 4 and 2 steps, then 2 * 0.9.
    steps, values = np.array([2, 6, 8]), np.array([0.1, 0.5, 0.9])
    want = (2 * 0.05 + 4 * 0.3 + 2 * 0.7 + 2 * 0.9) / 10
    self.assertAlmostEqual(statistics.area(steps, values, 10), want)

  def test_what_lies_beyond_the_budget_is_cut_off(self):
    steps, values = np.array([0, 8, 12]), np.array([0.0, 0.0, 1.0])
    # Between 8 and 10 the curve rises to a half.
    self.assertAlmostEqual(statistics.area(steps, values, 10), 0.05)

  @parameterized.parameters(1.0, 7.0, 30.0)
  def test_of_a_constant(self, last):
    steps = np.linspace(0.0, last, 4)
    self.assertAlmostEqual(statistics.area(steps, np.full(4, 0.3), 10), 0.3)

  def test_is_linear_and_monotone(self):
    steps = np.array([1, 2, 5, 9])
    one, other = _draws(4, 4)
    areas = [statistics.area(steps, x, 10) for x in (one, other, one + other)]
    self.assertAlmostEqual(areas[0] + areas[1], areas[2])
    self.assertLess(areas[0], statistics.area(steps, one + 0.1, 10))

  def test_a_curve_that_ends_keeps_its_last_value(self):
    steps, values = np.array([1, 2, 5]), np.array([0.2, 0.4, 0.6])
    longer = statistics.area(
      np.append(steps, [7, 10]), np.append(values, [0.6, 0.6]), 10
    )
    self.assertAlmostEqual(statistics.area(steps, values, 10), longer)

  def test_who_is_judged_late_has_no_advantage(self):
    steps = np.linspace(0, 10, 11)
    for first in range(11):
      late = statistics.area(steps[first:], steps[first:] / 10, 10)
      self.assertAlmostEqual(late, 0.5)

  def test_more_points_on_the_same_line_change_nothing(self):
    steps = np.linspace(0, 10, 3)
    fine = np.linspace(0, 10, 101)
    self.assertAlmostEqual(
      statistics.area(steps, steps / 10, 10),
      statistics.area(fine, fine / 10, 10),
    )


class WorstMeanTest(parameterized.TestCase):
  @parameterized.parameters((25.0, 0.3), (50.0, 0.2), (51.0, 0.5), (100.0, 0.6))
  def test_by_hand(self, per_cent, want):
    ranked, values = np.array([3, 0, 2, 1]), np.array([0.9, 0.3, 1.1, 0.1])
    found = statistics.worst_mean(ranked, values, per_cent)
    self.assertAlmostEqual(found, want)

  def test_two_passes_are_not_fooled_by_luck(self):
    """Of tasks that are all alike the worst ones are so by chance."""
    first, second = (
      x < 0.8 for x in np.random.default_rng(0).random((2, 5000))
    )
    self.assertEqual(statistics.worst_mean(first, first, 10.0), 0.0)
    found = statistics.worst_mean(first, second, 10.0)
    self.assertAlmostEqual(found, 0.8, delta=0.06)


class StepsToTest(parameterized.TestCase):
  @parameterized.parameters(
    ([0.9, 0.9, 0.9], 3),
    ([0.8, 0.9, 0.9, 0.9], 4),
    ([0.0, 1.0, 1.0, 1.0, 1.0], 4),
    # A mean of three forgives a dip, but not a deep one.
    ([1.0, 1.0, 1.0, 0.8, 1.0], 3),
    ([1.0, 1.0, 1.0, 0.2, 1.0, 1.0, 1.0], 7),
    ([1.0, 1.0, 1.0, 0.2], None),
    ([0.5] * 10, None),
    ([1.0, 1.0], None),
    ([], None),
  )
  def test_by_hand(self, values, want):
    steps = np.arange(1, len(values) + 1)
    found = statistics.steps_to(steps, np.array(values), 0.9)
    self.assertEqual(found, want)

  @parameterized.parameters(
    ((0.9, 0.9, 0.9),),
    ((539 / 600, 139 / 150, 7 / 8),),  # The mean is 9/10.
    ((2117 / 2500, 1121 / 1250, 2391 / 2500),),
  )
  def test_rounded_values_reach_the_level_of_their_mean(self, values):
    values = np.array(values, np.float32).astype(np.float64)
    self.assertEqual(statistics.steps_to(np.arange(3), values, 0.9), 2)
    self.assertIsNone(statistics.steps_to(np.arange(3), values, 0.90001))

  def test_a_lower_level_is_never_reached_later(self):
    steps = np.arange(1, 31)
    values = np.sort(_draws(30)[0]) + 0.1 * _draws(30)[0]
    found = [
      statistics.steps_to(steps, values, level)
      for level in np.linspace(0.0, 1.0, 21)
    ]
    found = [math.inf if x is None else x for x in found]
    self.assertEqual(found, sorted(found))


class ChanceTest(parameterized.TestCase):
  @parameterized.parameters(
    ([0.0] * 4, False),  # Not yet at half of 10 steps.
    ([0.0] * 5, True),
    ([0.0] * 5 + [1.0] * 5, True),  # What comes later changes nothing.
    ([0.5, 0.5, 0.0, 0.0, 0.0], True),
    ([0.0, 0.0, 0.1, 0.1, 0.1], False),  # At the level is not below it.
    ([0.0, 0.0, 0.0, 0.0, 0.4], False),
    ([], False),
  )
  def test_by_hand(self, values, want):
    steps = np.arange(1, len(values) + 1)
    for dtype in (np.float64, np.float32):
      given = np.array(values, dtype).astype(np.float64)
      found = statistics.is_at_chance(steps, given, 10, 0.1)
      self.assertEqual(found, want)

  def test_two_evaluations_are_too_few(self):
    steps, values = np.array([4, 5, 9]), np.zeros(3)
    self.assertFalse(statistics.is_at_chance(steps, values, 10, 0.1))

  def test_once_true_it_stays_so(self):
    for seed in range(20):
      values = np.random.default_rng(seed).uniform(0, 0.2, 20)
      steps = np.arange(1, 21) * 0.5
      found = [
        statistics.is_at_chance(steps[:n], values[:n], 10, 0.1)
        for n in range(1, 21)
      ]
      self.assertLen(set(found[9:]), 1)


class AggregateTest(parameterized.TestCase):
  @parameterized.parameters(
    ([1.0], 1.0),
    ([0.0, 1.0, 5.0], 2.0),
    ([0.0, 1.0, 2.0, 100.0], 1.5),
    # Of 5 one at each end, of 8 two.
    ([9.0, 1.0, 2.0, 3.0, -9.0], 2.0),
    ([0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 50.0, 60.0], 2.5),
  )
  def test_interquartile_mean(self, scores, want):
    found = statistics.interquartile_mean([np.array(scores)])
    self.assertAlmostEqual(float(found), want)

  def test_interquartile_mean_of_as_many_runs_pools_the_tasks(self):
    one, other = _draws(7, 7)
    middle = np.sort(np.concatenate([one, other]))[3:11]  # 14 // 4 are cut.
    self.assertAlmostEqual(
      float(statistics.interquartile_mean([one, other])), middle.mean()
    )

  @parameterized.parameters((4, 4), (8, 4), (4, 12), (2, 6))
  def test_interquartile_mean_weighs_tasks_alike(self, *repeats):
    groups = _draws(4, 4)
    found = statistics.interquartile_mean(
      [np.repeat(x, k) for x, k in zip(groups, repeats, strict=True)]
    )
    self.assertAlmostEqual(
      float(found), float(statistics.interquartile_mean(groups))
    )
    # One run of 0 in one task, four of 1 in the other.
    groups = [np.zeros(1), np.ones(4)]
    self.assertAlmostEqual(float(statistics.interquartile_mean(groups)), 0.5)

  def test_mean_weighs_tasks_alike(self):
    groups = [np.array([1.0]), np.array([0.0, 0.0, 0.6])]
    self.assertAlmostEqual(float(statistics.mean(groups)), 0.6)

  def test_statistics_work_along_the_last_axis(self):
    rows = np.stack(_draws(6, 6, 6))
    for statistic in (statistics.mean, statistics.interquartile_mean):
      want = [statistic([row]) for row in rows]
      np.testing.assert_allclose(statistic([rows]), want)

  def test_probability_of_improvement(self):
    ours, theirs = np.array([1.0, 2.0]), np.array([0.0, 1.0, 3.0])
    # 1 beats 0 and ties with 1; 2 beats two of three.
    found = statistics.probability_of_improvement([ours], [theirs])
    self.assertAlmostEqual(float(found), 3.5 / 6)
    found = statistics.probability_of_improvement(
      [ours, ours], [theirs, ours + 5]
    )
    self.assertAlmostEqual(float(found), 3.5 / 12)

  def test_it_is_the_same_in_parts(self):
    rng = np.random.default_rng(0)
    ours, theirs = rng.integers(9, size=(2, 50, 4)).astype(float)
    whole = statistics.probability_of_improvement([ours], [theirs])
    with mock.patch.object(statistics, '_MOST_PAIRS', 30):
      parts = statistics.probability_of_improvement([ours], [theirs])
    np.testing.assert_array_equal(parts, whole)

  def test_probabilities_of_both_directions_sum_to_one(self):
    one, other = _draws(5, 8)
    one[0] = other[0]
    forth = statistics.probability_of_improvement([one], [other])
    back = statistics.probability_of_improvement([other], [one])
    self.assertAlmostEqual(float(forth + back), 1.0)
    self.assertEqual(
      float(statistics.probability_of_improvement([one], [one])), 0.5
    )


class BootstrapTest(parameterized.TestCase):
  def test_two_runs_by_hand(self):
    # Means are 0, 0.5 and 1 with chances 1/4, 1/2 and 1/4.
    found = statistics.bootstrap(statistics.mean, [[0.0, 1.0]])
    self.assertEqual(found, (0.5, 0.0, 1.0))

  def test_is_that_of_the_normal_law_for_many_runs(self):
    scores = np.random.default_rng(0).normal(3.0, 2.0, 400)
    found = statistics.bootstrap(statistics.mean, [scores], num_draws=20_000)
    half = 1.96 * scores.std() / 20
    np.testing.assert_allclose(
      found, np.mean(scores) + np.array([0, -half, half]), atol=0.01
    )

  def test_tasks_are_strata(self):
    # Two tasks far apart, each without spread: mixed, they would have some.
    groups = [np.zeros(5), np.ones(5)]
    found = statistics.bootstrap(statistics.mean, groups)
    self.assertEqual(found, (0.5, 0.5, 0.5))

  def test_samples_are_drawn_apart(self):
    # The same runs: were they drawn alike, it would be 0.5 always.
    scores = [np.arange(5.0)]
    found = statistics.bootstrap(
      statistics.probability_of_improvement, scores, scores
    )
    self.assertEqual(found.value, 0.5)
    self.assertBetween(found.low, 0.01, 0.3)
    self.assertAlmostEqual(found.low + found.high, 1.0, delta=0.05)

  def test_is_the_same_each_time_and_wherever_the_scores_lie(self):
    groups = _draws(5, 6)
    found = statistics.bootstrap(statistics.interquartile_mean, groups)
    again = statistics.bootstrap(statistics.interquartile_mean, groups)
    self.assertEqual(found, again)
    moved = statistics.bootstrap(
      statistics.interquartile_mean, [2 * x + 1 for x in groups]
    )
    np.testing.assert_allclose(moved, 2 * np.array(found) + 1)

  def test_one_run_has_no_interval(self):
    found = statistics.bootstrap(statistics.mean, [[0.4]])
    self.assertEqual(found.value, 0.4)
    self.assertTrue(math.isnan(found.low) and math.isnan(found.high))

  def test_nor_has_what_it_is_compared_with(self):
    found = statistics.bootstrap(
      statistics.probability_of_improvement, [[0.1, 0.2, 0.9]], [[0.5]]
    )
    self.assertAlmostEqual(found.value, 1 / 3)
    self.assertTrue(math.isnan(found.low) and math.isnan(found.high))


class MeanBandTest(parameterized.TestCase):
  def test_it_is_the_bootstrap_at_each_point(self):
    values = np.random.default_rng(0).normal(size=[5, 3])
    low, high = statistics.mean_band(values, num_draws=50_000)
    for point in range(3):
      found = statistics.bootstrap(statistics.mean, [values[:, point]])
      self.assertAlmostEqual(low[point], found.low, delta=0.02)
      self.assertAlmostEqual(high[point], found.high, delta=0.02)

  def test_it_lies_within_the_runs_around_their_mean(self):
    values = np.random.default_rng(1).uniform(size=[8, 50])
    low, high = statistics.mean_band(values)
    self.assertTrue((low > values.min(0)).all())
    self.assertTrue((high < values.max(0)).all())
    self.assertTrue(((low < values.mean(0)) & (values.mean(0) < high)).all())

  def test_of_two_runs_it_is_the_runs(self):
    values = np.array([[1.0, 5.0], [3.0, 2.0]])
    low, high = statistics.mean_band(values)
    np.testing.assert_allclose((low, high), ([1.0, 2.0], [3.0, 5.0]))


if __name__ == '__main__':
  absltest.main()
