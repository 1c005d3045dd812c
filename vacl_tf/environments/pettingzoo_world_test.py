# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import pettingzoo
from absl.testing import absltest
from absl.testing import parameterized
from gymnasium import spaces

from vacl_tf.environments import base
from vacl_tf.environments import pettingzoo_world

_AGENTS = ('a', 'b', 'c')


class Env(pettingzoo.ParallelEnv):
  """Agent number i dies in step lives[i]."""

  def __init__(self, lives=(9, 9, 9), limit=9):
    self.possible_agents = list(_AGENTS)
    self.lives, self.limit = dict(zip(_AGENTS, lives, strict=True)), limit
    box = spaces.Dict(
      own=spaces.Box(0, 9, [1]),
      agents=spaces.Box(0, 9, [2, 1]),
      agents_mask=spaces.MultiBinary(2),
    )
    self.spaces = dict.fromkeys(_AGENTS, (spaces.Discrete(3), box))

  def action_space(self, agent):
    return self.spaces[agent][0]

  def observation_space(self, agent):
    return self.spaces[agent][1]

  def reset(self, seed=None, options=None):
    self.agents, self.time, self.task = list(_AGENTS), 0, options['task']
    return self._observe(_AGENTS), {}

  def step(self, actions):
    assert list(actions) == self.agents, actions
    self.time += 1
    agents = self.agents
    ended = {x: self.time >= self.lives[x] for x in agents}
    cut = {x: self.time >= self.limit and not ended[x] for x in agents}
    self.agents = [x for x in agents if not (ended[x] or cut[x])]
    rewards = {x: float(actions[x]) for x in agents}
    infos = {x: {'progress': 0.5 if x == 'a' else 1.0} for x in agents}
    return self._observe(agents), rewards, ended, cut, infos

  def _observe(self, agents):
    return {
      x: {
        'own': np.float32([1 + self.time]),
        'agents': np.ones([2, 1], np.float32),
        'agents_mask': np.ones([2], np.int8),
      }
      for x in agents
    }


def _reset(world):
  return world.reset(np.zeros([1]), np.random.default_rng(0))


_ACTIONS = np.int32([0, 1, 2])


class PettingZooWorldTest(parameterized.TestCase):
  def test_agents_are_rows_in_their_order(self):
    env = Env()
    world = pettingzoo_world.PettingZooWorld(env)
    self.assertEqual(world.num_agents, 3)
    found = _reset(world)
    self.assertEqual(found['agents'].shape, (3, 2, 1))
    step = world.step(_ACTIONS)
    np.testing.assert_allclose(step.reward, [0.0, 1.0, 2.0])
    self.assertAlmostEqual(step.progress, 2.5 / 3)
    self.assertFalse(step.has_ended or step.is_cut)

  def test_the_dead_observe_nothing_and_are_paid_nothing(self):
    world = pettingzoo_world.PettingZooWorld(Env(lives=(9, 1, 2)))
    _reset(world)
    first = world.step(_ACTIONS)
    self.assertEqual(first.observation['own'].ravel().tolist(), [2, 2, 2])
    second = world.step(_ACTIONS)
    self.assertEqual(second.reward.tolist(), [0, 0, 2])
    self.assertEqual(second.observation['own'].ravel().tolist(), [3, 0, 3])
    mask = second.observation['agents_mask']
    self.assertEqual(mask.tolist(), [[1, 1], [0, 0], [1, 1]])
    self.assertAlmostEqual(second.progress, 0.75)
    third = world.step(_ACTIONS)
    self.assertEqual(third.observation['own'].ravel().tolist(), [4, 0, 0])
    again = _reset(world)
    self.assertEqual(again['own'].ravel().tolist(), [1, 1, 1])

  @parameterized.parameters(
    ((1, 1, 1), 9, True, False),
    ((9, 9, 9), 1, False, True),
    ((1, 9, 9), 1, False, True),
    ((1, 9, 9), 9, False, False),
  )
  def test_the_world_ends_with_its_last_agent(self, lives, limit, ends, is_cut):
    world = pettingzoo_world.PettingZooWorld(Env(lives, limit))
    _reset(world)
    step = world.step(_ACTIONS)
    self.assertEqual((step.has_ended, step.is_cut), (ends, is_cut))

  @parameterized.parameters(
    (0, spaces.Discrete(4), r'action_space of b: Discrete\(4\), but Discrete'),
    (
      1,
      spaces.Box(0, 9, [5]),
      'observation_space of b: Box.*all agents need the same',
    ),
  )
  def test_agents_that_differ_are_told(self, index, space, message):
    env = Env()
    pair = list(env.spaces['b'])
    pair[index] = space
    env.spaces['b'] = tuple(pair)
    with self.assertRaisesRegex(base.WorldError, message):
      pettingzoo_world.PettingZooWorld(env)

  def test_spaces_that_change_are_told(self):
    env = Env()
    world = pettingzoo_world.PettingZooWorld(env)
    _reset(world)
    env.spaces['c'] = (spaces.Discrete(5), env.spaces['c'][1])
    with self.assertRaisesRegex(base.WorldError, 'of c: .* it must not change'):
      _reset(world)

  def test_unbounded_forces_are_told(self):
    env = Env()
    pair = (spaces.Box(-np.inf, np.inf, [2]), env.spaces['a'][1])
    env.spaces = dict.fromkeys(_AGENTS, pair)
    with self.assertRaisesRegex(base.WorldError, 'not bounded; give it finite'):
      pettingzoo_world.PettingZooWorld(env)


if __name__ == '__main__':
  absltest.main()
