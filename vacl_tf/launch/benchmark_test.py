# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rate that is quoted is one of work that was done."""

from unittest import mock

from absl.testing import absltest

from vacl_tf import environments
from vacl_tf.environments.hide_and_seek import speed
from vacl_tf.launch import benchmark


class EnvOnlyTest(absltest.TestCase):
  def test_it_counts_steps_of_all_worlds(self):
    rate = benchmark.env_only(
      num_agents=3, num_worlds=4, num_steps=5, repeats=1
    )
    self.assertGreater(rate, 0)

  def test_what_mujoco_did_is_told_beside_the_rate(self):
    figures = {
      name: 2.0
      for name in ('physics_us', 'contacts', 'constraint_rows', 'holding')
    }
    figures |= {'step_us': 50.0, 'ratio': 1.25, 'locked': 0.5, 'cpu_us': 1.0}
    env = environments.load('ramp_use')
    with mock.patch.object(speed, 'measure', return_value=figures):
      found = benchmark._env_alone(env, repeats=1)
    self.assertEqual(found['env_steps_per_second'], 20_000)
    self.assertEqual((found['env_ratio'], found['env_locked']), (1.25, 0.5))
    self.assertNotIn('env_cpu_us', found)

  def test_a_particle_world_has_a_rate_alone(self):
    env = environments.load('simple_spread', num_agents=3)
    with mock.patch.object(benchmark, 'env_only', return_value=7.4) as alone:
      found = benchmark._env_alone(env, repeats=2)
    self.assertEqual(found, {'env_steps_per_second': 7})
    alone.assert_called_once_with('simple_spread', 3, repeats=2)

  def test_timed_tells_the_first_call_from_the_best(self):
    calls = []
    first, best = benchmark._timed(lambda: calls.append(0) or (), 3)
    self.assertLen(calls, 4)
    self.assertGreaterEqual(first, 0)
    self.assertGreaterEqual(best, 0)


if __name__ == '__main__':
  absltest.main()
