# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Intervals that hold what they promise, and evaluation's determinism."""

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf.testing import fakes
from vacl_tf.training import evaluation


class EstimateTest(tf.test.TestCase):
  def test_by_hand(self):
    found = evaluation.estimate(np.array([0.25, 1.0, 1.0, 0.75]))
    error = 1.96 * (0.375 / 3.0) ** 0.5 / 2.0  # Squares of deviations: 0.375.
    self.assertAlmostEqual(found.mean, 0.75)
    self.assertAlmostEqual(found.low, 0.75 - error)
    self.assertEqual(found.high, 1.0)

  def test_shares_by_hand(self):
    found = evaluation.estimate(np.array([0.0, 1.0, 1.0, 1.0]))
    self.assertAlmostEqual(found.mean, 0.75)
    self.assertAllClose(found[1:], [0.3006, 0.9544], atol=1e-4)

  def test_agreement_is_no_certainty(self):
    for num in (10, 2000):
      found = evaluation.estimate(np.ones(num))
      self.assertEqual((found.mean, found.high), (1.0, 1.0))
      self.assertAlmostEqual(found.low, num / (num + 1.96**2))

  def test_the_interval_covers_the_truth_as_often_as_it_says(self):
    rng = np.random.default_rng(0)
    for draw, truth in (
      (lambda: rng.random(200) < 0.7, 0.7),
      (lambda: rng.random(200) ** 2, 1.0 / 3.0),
    ):
      hits = 0
      for _ in range(1000):
        found = evaluation.estimate(draw())
        hits += found.low <= truth <= found.high
      self.assertBetween(hits, 920, 975)


class EvaluateTest(tf.test.TestCase):
  def test_progress_depends_on_policy_and_seed_alone(self):
    env = fakes.LineWorld()

    def stay(observations, memory, seed):
      del seed
      return (tf.zeros(observations[0].own.shape[:2], tf.int32),), memory

    def right(observations, memory, seed):
      [actions], memory = stay(observations, memory, seed)
      return (2 + actions,), memory

    seed = randomness.root(3)
    progress = evaluation.evaluate(stay, env, 64, seed)
    self.assertEqual(progress.shape, [env.horizon, 64])
    self.assertAllInRange(progress, 0.0, 1.0)
    for block in (None, 32):
      again = evaluation.evaluate(stay, env, 64, seed, block)
      self.assertAllEqual(progress, again)
    filled_up = evaluation.evaluate(stay, env, 64, seed, 33)
    self.assertEqual(filled_up.shape, progress.shape)
    other = evaluation.evaluate(right, env, 64, seed)
    self.assertNotAllEqual(progress, other)


if __name__ == '__main__':
  tf.test.main()
