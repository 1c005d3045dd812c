# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for adapters: the same view of every task, and of MuJoCo's worlds."""

import functools

import dm_env
import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized
from dm_env import specs
from dm_env import test_utils

from vacl_tf import environments
from vacl_tf.environments import adapters

_HORIZON = 6


def _random_action(view, rng):
  return tf.nest.map_structure(
    lambda spec: rng.integers(0, spec.maximum + 1, spec.shape, np.int32),
    view.action_spec(),
  )


@functools.cache
def _world(name):
  """Returns a world whose simulator is compiled once, for all views of it."""
  env = environments.load(name, horizon=_HORIZON)
  env.make_simulator = functools.cache(env.make_simulator)
  return env


@functools.cache
def _play(name, seed, number=0):
  """Returns the timesteps of two episodes; each number plays them again."""
  del number
  view = adapters.DmEnv(environments.load(name), seed)
  rng = np.random.default_rng(0)
  return [view.step(_random_action(view, rng)) for _ in range(122)]


class _MixinTest(test_utils.EnvironmentTestMixin):
  horizon = _HORIZON

  def make_action_sequence(self):
    rng = np.random.default_rng(0)
    for _ in range(2 * self.horizon + 3):  # Past two ends of episodes.
      yield _random_action(self.environment, rng)

  def make_object_under_test(self):
    return adapters.DmEnv(self.make_env())


class SpreadMixinTest(_MixinTest, absltest.TestCase):
  def make_env(self):
    return _world('simple_spread')


class HardSpreadMixinTest(_MixinTest, absltest.TestCase):
  def make_env(self):
    return _world('hard_spread')


class PushBallMixinTest(_MixinTest, absltest.TestCase):
  def make_env(self):
    return _world('push_ball')


class LockAndReturnMixinTest(_MixinTest, absltest.TestCase):
  horizon = 60

  def make_env(self):
    return environments.load('lock_and_return')


class FourAgentsMixinTest(_MixinTest, absltest.TestCase):
  horizon = 60

  def make_object_under_test(self):
    env = environments.load('lock_and_return', num_agents=4)
    return adapters.DmEnv(env, sample_tasks=env.task_space.sample_easy)


class RampUseMixinTest(_MixinTest, absltest.TestCase):
  horizon = 60

  def make_env(self):
    return environments.load('ramp_use')


class SpeakerListenerMixinTest(_MixinTest, absltest.TestCase):
  def make_env(self):
    return _world('speaker_listener')


@parameterized.parameters('lock_and_return', 'ramp_use')
class MujocoTest(tf.test.TestCase, parameterized.TestCase):
  def test_episodes_have_60_steps_and_end_the_world(self, name):
    for step, timestep in enumerate(_play(name, 3)):
      place = step % 61
      self.assertEqual(timestep.first(), place == 0)
      self.assertEqual(timestep.last(), place == 60)
      self.assertEqual(
        timestep.discount, None if place == 0 else float(place < 60)
      )

  def test_seeds_decide(self, name):
    one, again, other = (
      [timestep.observation['own'] for timestep in _play(name, *which)]
      for which in ((3,), (3, 1), (4,))
    )
    self.assertAllEqual(one, again)
    self.assertTrue(np.any(np.array(one) != np.array(other)))
    self.assertTrue(np.any(one[0] != one[61]))  # The next episode.

  def test_the_first_step_begins_an_episode(self, name):
    view = adapters.DmEnv(environments.load(name))
    timestep = view.step(view.action_spec().generate_value())
    self.assertEqual(timestep.step_type, dm_env.StepType.FIRST)


class ViewOfMujocoTest(tf.test.TestCase):
  def test_specs_name_shapes_and_bounds(self):
    env = environments.load('lock_and_return', num_agents=4, num_boxes=2)
    view = adapters.DmEnv(env)
    spec = view.observation_spec()
    found = {name: (x.name, x.shape, x.dtype) for name, x in spec.items()}
    self.assertEqual(
      found,
      {
        'own': ('own', (4, 11), np.float32),
        'agents': ('agents', (4, 3, 8), np.float32),
        'boxes': ('boxes', (4, 2, 15), np.float32),
      },
    )
    np.testing.assert_allclose(spec['own'].maximum[:2], 12.0)
    np.testing.assert_allclose(spec['own'].minimum[:2], 0.0)
    self.assertEqual(spec['own'].maximum[-1], 1.0)
    action = view.action_spec()
    self.assertIsInstance(action, specs.BoundedArray)
    self.assertEqual((action.shape, action.dtype), ((4, 5), np.int32))
    np.testing.assert_array_equal(action.maximum, [10, 10, 10, 1, 1])
    self.assertEqual(view.reward_spec().shape, (4,))
    view.reset()
    timestep = view.step(action.generate_value())
    self.assertEqual(timestep.reward.shape, (4,))
    self.assertEqual(timestep.reward.dtype, np.float32)

  def test_it_shows_what_the_policy_observes(self):
    view = adapters.DmEnv(environments.load('lock_and_return'))
    observation = view.reset().observation
    [found] = view.simulator.observe()
    np.testing.assert_array_equal(observation['own'], found.own[0])
    np.testing.assert_array_equal(observation['own'][:, 8:10], 0.0)
    self.assertNotAllEqual(found.critic_own[0, :, 8:10], np.zeros([2, 2]))


class TasksOfMujocoTest(tf.test.TestCase, parameterized.TestCase):
  def test_a_given_task_starts_every_episode(self):
    phi = [40, 10, 50, 12, 20, 20, 30, 31]
    view = adapters.DmEnv(environments.load('lock_and_return'), phi=phi)
    corners = []
    for _ in range(2):
      view.reset()
      np.testing.assert_array_equal(view.simulator.read_task(), [phi])
      corners.append(view.state.position[0, :, :2])
    self.assertTrue(np.all(corners[0] != corners[1]))  # Jitter.

  def test_tasks_are_drawn_as_told(self):
    env = environments.load('ramp_use')
    view = adapters.DmEnv(env, sample_tasks=env.task_space.sample_easy)
    for _ in range(10):
      view.reset()
      [[x, y, ramp_x, ramp_y]] = view.simulator.read_task()
      self.assertEqual(abs(x - ramp_x) + abs(y - ramp_y), 3)

  @parameterized.parameters(
    ([3, 3, 30, 3], r'entities \[1\] .*nearest legal task is about \[3\.0, 3'),
    (
      [3, 3, 4, 4],
      r'entities \[1\] .*overlap others.*nearest.*about \[3\.0, 3\.0,',
    ),
    ([3, 3], r'phi has shape \[2\]; allowed: \[4\]'),
    ([[3, 3, 8, 8]] * 2, r'phi has shape \[2, 4\]; allowed: \[4\] or \[1, 4\]'),
  )
  def test_an_impossible_task_is_refused(self, phi, message):
    with self.assertRaisesRegex(ValueError, message) as caught:
      adapters.DmEnv(environments.load('ramp_use'), phi=phi)
    self.assertNotIn('\n', str(caught.exception))

  @parameterized.parameters(
    ([5, 5, 5, 0], r'shape \[4\]\); allowed: integers of shape \[1, 5\]'),
    (
      [[5, 5, 5, 0, 2]],
      r'0, 2\]\] .*allowed: .* from 0 to \[10, 10, 10, 1, 1\]',
    ),
    ([[0.5, 5, 5, 0, 1]], 'float64'),
  )
  def test_an_impossible_action_is_refused(self, action, message):
    view = adapters.DmEnv(environments.load('ramp_use'))
    view.reset()
    with self.assertRaisesRegex(ValueError, message):
      view.step(action)


class InfosTest(tf.test.TestCase):
  def test_progress_is_the_share_of_covered_landmarks(self):
    phi = np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 2.0, 2.0])
    view = adapters.DmEnv(
      environments.load('simple_spread', 2, horizon=_HORIZON), phi=phi
    )
    self.assertIsNone(view.progress)
    for _ in range(2):
      view.reset()
      self.assertIsNone(view.progress)
      for _ in range(_HORIZON):
        seen = view.step(np.array([0, 1])).observation
        covered = seen['landmarks'][0, :, 0].mean()
        self.assertEqual((view.progress, covered), (0.5, 0.5))

  def test_the_task_is_that_of_the_latest_episode(self):
    view = adapters.DmEnv(
      environments.load('simple_spread', 2, horizon=_HORIZON)
    )
    self.assertIsNone(view.task)
    tasks = []
    for _ in range(2):
      own = view.reset().observation['own']
      tasks.append(view.task)
      self.assertAllClose(view.task[:4].reshape(2, 2), own[:, 2:])
      view.task.fill(9.0)  # A copy.
      view.step(np.array([1, 1]))
      self.assertAllEqual(view.task, tasks[-1])
    self.assertNotAllClose(*tasks)


if __name__ == '__main__':
  absltest.main()
