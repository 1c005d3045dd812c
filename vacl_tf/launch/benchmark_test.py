# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rate that is quoted is one of work that was done."""

from absl.testing import absltest

from vacl_tf.launch import benchmark


class EnvOnlyTest(absltest.TestCase):
  def test_it_counts_steps_of_all_worlds(self):
    rate = benchmark.env_only(
      num_agents=3, num_worlds=4, num_steps=5, repeats=1
    )
    self.assertGreater(rate, 0)

  def test_timed_tells_the_first_call_from_the_best(self):
    calls = []
    first, best = benchmark._timed(lambda: calls.append(0) or (), 3)
    self.assertLen(calls, 4)
    self.assertGreaterEqual(first, 0)
    self.assertGreaterEqual(best, 0)


if __name__ == '__main__':
  absltest.main()
