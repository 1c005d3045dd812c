# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for robustness, with a policy whose success is known by task."""

import itertools
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import presets
from vacl_tf.environments import map_layout
from vacl_tf.launch import judging
from vacl_tf.launch import robustness

_NUM_TASKS = 60


class _Player:
  """Covers landmarks in tasks whose first agent is on the right."""

  num_unstable = 0

  def __init__(self, policy, env, is_greedy):
    assert not is_greedy
    self._horizon = env.horizon

  def progress_of(self, phi, seed):
    luck = np.random.default_rng(seed.numpy().view(np.uint32)).random(len(phi))
    is_solved = np.where(phi[:, 0] > 0.0, luck < 0.9, luck < 0.2)
    return np.tile(is_solved.astype(np.float32), [self._horizon, 1])


class RobustnessTest(parameterized.TestCase):
  def _judge(self, env='simple_spread', num_repeats=20, num_tasks=_NUM_TASKS):
    world = presets.make(env=env).environment
    options = judging.Options(num_tasks, 3, True)
    policy = mock.Mock(roles=None)
    made = judging.environments.make(world)
    self.enter_context(
      mock.patch.object(judging, 'environment', lambda *_: made)
    )
    self.enter_context(
      mock.patch.object(robustness.players, 'ExportedPlayer', _Player)
    )
    return robustness.judge(policy, world, options, num_repeats)

  def test_the_worst_tasks_are_those_on_the_left(self):
    found = self._judge()
    worst = found['success_of_worst']
    self.assertLess(worst['1'], 0.5)
    self.assertAlmostEqual(worst['20'], 0.2, delta=0.1)
    self.assertAlmostEqual(worst['100'], 0.55, delta=0.15)
    self.assertLess(worst['50'], worst['100'])
    self.assertEqual(found, self._judge())

  @parameterized.parameters('simple_spread', 'push_ball', 'hard_spread')
  def test_strata_are_quarters_in_order(self, env):
    found = self._judge(env, 2)
    self.assertLen(found['strata'], 2)
    for parts in found['strata'].values():
      ends = [x for part in parts for x in (part['from'], part['to'])]
      self.assertEqual(ends, sorted(ends))
      mean = np.mean([part['success'] for part in parts])
      self.assertAlmostEqual(mean, found['success_of_worst']['100'], delta=0.2)
    lines = list(robustness.lines(found))
    self.assertIn('60 target tasks, 2 episodes each', lines[0])
    self.assertLen(lines, 2 + len(robustness.WORST) + 2 * 5)
    told = [line for line in lines if line.startswith('quarters by')]
    self.assertLen(told, 2)
    self.assertTrue(all(line.endswith('(metres)') for line in told))

  def test_of_two_tasks_there_are_two_strata(self):
    for parts in self._judge(num_tasks=2)['strata'].values():
      self.assertLen(parts, 2)

  def test_of_one_kind_there_is_no_way_to_a_goal(self):
    room = (-1.0, 1.0, -1.0, 1.0)
    layout = map_layout.MapLayout(('point',), 'point', 'point', room, room)
    phi = np.array([[0.0, 0.0, 0.3, 0.4]])
    [(name, lengths)] = robustness._lengths(layout, phi)
    self.assertEqual(name, 'two nearest points')
    np.testing.assert_allclose(lengths, [0.5])

  def test_the_longest_way_is_that_of_the_best_matching(self):
    rng = np.random.default_rng(0)
    for movers, goals in rng.uniform(-3.0, 3.0, [20, 2, 4, 2]):
      ways = [
        np.linalg.norm(movers - goals[list(order)], axis=-1)
        for order in itertools.permutations(range(4))
      ]
      best = min(ways, key=sum)
      self.assertAlmostEqual(
        robustness._longest_way(movers, goals), best.max(), places=6
      )


if __name__ == '__main__':
  absltest.main()
