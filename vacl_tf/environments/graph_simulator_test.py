# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for graph_simulator; `conformance_test` has the laws of simulators."""

from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf.environments import graph_simulator
from vacl_tf.testing import fakes

_NUM_WORLDS = 3


class _Terminal(fakes.LineWorld):
  is_terminal = True


def _phi(env, num_worlds=_NUM_WORLDS):
  seed = randomness.root(0)
  return env.task_space.sample_uniform(num_worlds, seed).numpy()


def _actions(env, step):
  rng = np.random.default_rng(step)
  return tuple(
    rng.integers(0, role.action.maximum + 1, [_NUM_WORLDS, role.num_agents])
    for role in env.roles
  )


class GraphSimulatorTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters('simple_spread', 'push_ball', 'speaker_listener')
  def test_an_episode_is_that_of_the_environment(self, name):
    env = environments.load(name)
    simulator = env.make_simulator(_NUM_WORLDS)
    self.assertIsInstance(simulator, graph_simulator.GraphSimulator)
    seed = tf.constant([5, -6])
    state = env.place(tf.constant(_phi(env)), seed)
    simulator.place(_phi(env), seed.numpy().view(np.uint32).tolist())
    for step in range(10):
      tf.nest.map_structure(
        self.assertAllClose, simulator.observe(), env.observe(state)
      )
      self.assertAllClose(simulator.read_task(), env.read_task(state))
      actions = _actions(env, step)
      state = env.step(state, tuple(tf.constant(x, tf.int32) for x in actions))
      outcome = simulator.step(actions)
      tf.nest.map_structure(
        self.assertAllClose, outcome.reward, env.reward(state)
      )
      self.assertAllClose(outcome.progress, env.progress(state))
      self.assertAllEqual(outcome.discount, np.ones([_NUM_WORLDS]))
    tf.nest.map_structure(self.assertAllClose, simulator.state, state)

  def test_what_it_returns_are_arrays(self):
    env = fakes.LineWorld()
    simulator = env.make_simulator(_NUM_WORLDS)
    simulator.place(_phi(env), [0])
    found = simulator.observe(), simulator.step(_actions(env, 0))
    for leaf in tf.nest.flatten(found):
      self.assertIsInstance(leaf, np.ndarray)
    self.assertIsInstance(simulator.read_task(), np.ndarray)

  @parameterized.parameters((fakes.LineWorld, 1.0), (_Terminal, 0.0))
  def test_only_a_terminal_world_ends(self, make, last):
    env = make(horizon=4)
    simulator = env.make_simulator(_NUM_WORLDS)
    for _ in range(2):
      simulator.place(_phi(env), [0])
      found = [simulator.step(_actions(env, 0)).discount[1] for _ in range(4)]
      self.assertEqual(found, [1.0, 1.0, 1.0, last])

  @parameterized.parameters(
    ([1, 2], [1, 3]), ([1], [2]), ([1, 2, 3], [1, 2, 4]), ([1, 2], [1, 2, 0])
  )
  def test_all_numbers_of_a_seed_count(self, one, other):
    env = environments.load('speaker_listener')
    simulator = env.make_simulator(50)
    goals = []
    for seed in (one, one, other):
      simulator.place(_phi(env, 50), seed)
      goals.append(simulator.state.goal.numpy())
    self.assertAllEqual(goals[0], goals[1])
    self.assertNotAllEqual(goals[0], goals[2])

  def test_steps_are_traced_once(self):
    env = fakes.LineWorld()
    simulator = env.make_simulator(_NUM_WORLDS)
    with mock.patch.object(env, 'reward', side_effect=env.reward) as reward:
      for episode in range(2):
        simulator.place(_phi(env), [episode])
        for step in range(3):
          simulator.step(_actions(env, step))
    self.assertEqual(reward.call_count, 1)

  def test_tasks_come_first(self):
    simulator = fakes.LineWorld().make_simulator(_NUM_WORLDS)
    self.assertIsNone(simulator.state)
    for call in (
      simulator.observe,
      simulator.read_task,
      lambda: simulator.step((np.zeros([_NUM_WORLDS, 2], int),)),
    ):
      with self.assertRaisesRegex(ValueError, 'before place; call place first'):
        call()

  def test_there_is_a_task_for_each_world(self):
    env = fakes.LineWorld()
    simulator = env.make_simulator(_NUM_WORLDS)
    with self.assertRaisesRegex(ValueError, r'\[2, 4\]; allowed: \[3, 4\]'):
      simulator.place(_phi(env, 2), [0])

  def test_worlds_have_pictures(self):
    env = environments.load('hard_spread')
    simulator = env.make_simulator(2)
    simulator.place(_phi(env, 2), [0])
    rows = env.pictures([simulator.state, simulator.state])
    self.assertEqual(np.shape(rows)[:2], (2, 2))
    self.assertAllEqual(rows[0], rows[1])


if __name__ == '__main__':
  tf.test.main()
