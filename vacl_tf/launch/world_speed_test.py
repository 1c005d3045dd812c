# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rate that is quoted is one of work that was done."""

from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from dm_env import specs

from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments.hide_and_seek import speed
from vacl_tf.launch import world_speed
from vacl_tf.testing import fakes


class EnvAloneTest(parameterized.TestCase):
  def test_it_counts_steps_of_all_worlds(self):
    rate = world_speed.env_only(
      'simple_spread', num_agents=3, num_worlds=4, num_steps=5, repeats=1
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
      found = world_speed.figures(env, repeats=1)
    self.assertEqual(found['env_steps_per_second'], 20_000)
    self.assertEqual((found['env_ratio'], found['env_locked']), (1.25, 0.5))
    self.assertNotIn('env_cpu_us', found)

  def test_a_world_in_a_graph_has_a_rate_alone(self):
    env = environments.load('simple_spread', num_agents=3)
    with mock.patch.object(
      world_speed, '_steps_in_graph', return_value=7.4
    ) as alone:
      found = world_speed.figures(env, repeats=2)
    self.assertEqual(found, {'env_steps_per_second': 7})
    alone.assert_called_once_with(env, 500, 70, 2)

  @parameterized.parameters('_steps_in_graph', '_steps_on_host')
  def test_any_world_can_be_stepped(self, name):
    steps = getattr(world_speed, name)
    self.assertGreater(steps(fakes.LineWorld(), 3, 4, repeats=1), 0)

  @parameterized.parameters(
    (types.discrete(3), np.int32, 0, 2),
    (types.multi_discrete((2, 2, 5)), np.int32, 0, 4),
    (specs.BoundedArray((2,), np.float32, -0.5, 2.0), np.float32, -0.5, 2.0),
  )
  def test_random_actions_are_those_of_the_role(self, spec, dtype, low, high):
    role = fakes.LineWorld().roles[0]._replace(action=spec)
    actions = world_speed._random_actions(role, [70, 50], randomness.root(0), 1)
    actions = actions.numpy()
    self.assertEqual(actions.shape, (70, 50, role.num_agents, *spec.shape))
    self.assertEqual(actions.dtype, dtype)
    for action in actions[0, :, 0]:
      spec.validate(action)
    self.assertAlmostEqual(actions.min(), low, delta=0.01)
    self.assertAlmostEqual(actions.max(), high, delta=0.01)

  def test_timed_tells_the_first_call_from_the_best(self):
    calls = []
    first, best = world_speed.timed(lambda: calls.append(0) or (), 3)
    self.assertLen(calls, 4)
    self.assertGreaterEqual(first, 0)
    self.assertGreaterEqual(best, 0)


if __name__ == '__main__':
  absltest.main()
