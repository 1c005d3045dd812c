# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Seeds that differ give streams that differ, and equal ones the same."""

import math

import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import randomness


class RandomnessTest(tf.test.TestCase, parameterized.TestCase):
  def test_streams_steps_and_workers_all_differ(self):
    seeds = {
      tuple(randomness.fold(root, stream, step).numpy())
      for root in map(randomness.root, (0, 1, 0), (0, 0, 1))
      for stream in randomness.Stream
      for step in range(5)
    }
    self.assertLen(seeds, 3 * len(randomness.Stream) * 5)

  @parameterized.parameters(-1, 1.5, 2**31, math.nan, '1', None)
  def test_what_is_no_seed_is_refused(self, seed):
    with self.assertRaisesRegex(ValueError, '^seed=.*; allowed: whole numbers'):
      randomness.root(seed)

  def test_uniform_has_the_moments_of_its_interval(self):
    found = randomness.uniform(randomness.root(4), [100_000], -3.0, 3.0)
    self.assertAllInRange(found, -3.0, 3.0)
    self.assertNear(float(tf.reduce_mean(found)), 0.0, 0.03)
    self.assertNear(float(tf.math.reduce_std(found)), 3.0**0.5, 0.02)

  def test_the_same_seed_gives_the_same_numbers(self):
    compiled = tf.function(randomness.uniform, jit_compile=True)
    for draw in (randomness.uniform, compiled):
      first = draw(randomness.root(2), [50])
      self.assertAllEqual(first, draw(randomness.root(2), [50]))
      self.assertNotAllEqual(first, draw(randomness.root(3), [50]))
      self.assertAllInRange(first, 0.0, 1.0)

  def test_numbers_and_seeds_are_those_of_tensorflow(self):
    # So that any program can draw them again.
    def of_ours(seed):
      return randomness.uniform(seed, [70]), randomness.fold(seed, 3)

    def of_tensorflow(seed):
      return (
        tf.random.stateless_uniform([70], seed, alg='philox'),
        tf.random.fold_in(seed, 3, alg='philox'),
      )

    for compiled in (False, True):
      found, wanted = (
        tf.function(draw, jit_compile=compiled)
        for draw in (of_ours, of_tensorflow)
      )
      for numbers in ((0, 0), (5, -7), (2**31 - 1, 123), (-5, -(2**31))):
        seed = tf.constant(numbers)
        for mine, theirs in zip(found(seed), wanted(seed), strict=True):
          self.assertAllEqual(mine, theirs)


if __name__ == '__main__':
  tf.test.main()
