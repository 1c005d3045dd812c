# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for dm_env_view."""

import dm_env
import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from dm_env import specs
from dm_env import test_utils

from vacl_tf.environments import hide_and_seek
from vacl_tf.environments.hide_and_seek import dm_env_view
from vacl_tf.environments.hide_and_seek import mechanics

_NAMES = ('lock_and_return', 'ramp_use')


def _random_action(view, rng):
  spec = view.action_spec()
  return rng.integers(0, spec.maximum + 1, spec.shape, np.int32)


class _MixinTest(test_utils.EnvironmentTestMixin):
  def make_action_sequence(self):
    rng = np.random.default_rng(0)
    for _ in range(2 * 60 + 3):  # Past two ends of episodes.
      yield _random_action(self.environment, rng)


class LockAndReturnMixinTest(_MixinTest, absltest.TestCase):
  def make_object_under_test(self):
    return dm_env_view.DmEnv(hide_and_seek.load('lock_and_return'))


class FourAgentsMixinTest(_MixinTest, absltest.TestCase):
  def make_object_under_test(self):
    task = hide_and_seek.load('lock_and_return', num_agents=4)
    return dm_env_view.DmEnv(task, sample_tasks=task.sample_easy)


class RampUseMixinTest(_MixinTest, absltest.TestCase):
  def make_object_under_test(self):
    return dm_env_view.DmEnv(hide_and_seek.load('ramp_use'))


def _play(view, seed=0):
  """Returns the timesteps of two episodes."""
  rng = np.random.default_rng(seed)
  return [view.step(_random_action(view, rng)) for _ in range(122)]


class DmEnvTest(parameterized.TestCase):
  @parameterized.parameters(*_NAMES)
  def test_episodes_have_60_steps_and_end_the_world(self, name):
    steps = _play(dm_env_view.DmEnv(hide_and_seek.load(name)))
    for step, timestep in enumerate(steps):
      place = step % 61
      self.assertEqual(timestep.first(), place == 0)
      self.assertEqual(timestep.last(), place == 60)
      self.assertEqual(
        timestep.discount, None if place == 0 else float(place < 60)
      )

  @parameterized.parameters(*_NAMES)
  def test_seeds_decide(self, name):
    def episode(seed):
      view = dm_env_view.DmEnv(hide_and_seek.load(name), seed)
      return [timestep.observation['own'] for timestep in _play(view)]

    one, again, other = episode(3), episode(3), episode(4)
    np.testing.assert_array_equal(one, again)
    self.assertTrue(np.any(np.array(one) != np.array(other)))
    self.assertTrue(np.any(one[0] != one[61]))  # The next episode.

  def test_specs_name_shapes_and_bounds(self):
    task = hide_and_seek.load('lock_and_return', num_agents=4, num_boxes=2)
    view = dm_env_view.DmEnv(task)
    spec = view.observation_spec()
    shapes = {name: (x.name, x.shape, x.dtype) for name, x in spec.items()}
    self.assertEqual(
      shapes,
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
    self.assertEqual(action.shape, (4, 5))
    np.testing.assert_array_equal(action.maximum, [10, 10, 10, 1, 1])
    self.assertEqual(view.reward_spec().shape, (4,))
    view.reset()
    timestep = view.step(action.generate_value())
    self.assertEqual(timestep.reward.shape, (4,))
    self.assertEqual(timestep.reward.dtype, np.float32)

  def test_it_shows_what_the_actor_sees(self):
    view = dm_env_view.DmEnv(hide_and_seek.load('lock_and_return'))
    observation = view.reset().observation
    actor = view.worlds.observe().actor
    np.testing.assert_array_equal(observation['own'], actor.own[0])
    np.testing.assert_array_equal(observation['own'][:, 8:10], 0.0)

  def test_a_task_can_be_given(self):
    phi = [40, 10, 50, 12, 20, 20, 30, 31]
    task = hide_and_seek.load('lock_and_return')
    view = dm_env_view.DmEnv(task, phi=phi)
    corners = []
    for _ in range(2):
      view.reset()
      np.testing.assert_array_equal(view.worlds.read_task(), [phi])
      corners.append(view.worlds.state.position[0, :, :2])
    self.assertTrue(np.all(corners[0] != corners[1]))  # Jitter.

  def test_tasks_can_be_drawn_by_another_rule(self):
    task = hide_and_seek.load('ramp_use')
    view = dm_env_view.DmEnv(task, sample_tasks=task.sample_easy)
    for _ in range(10):
      view.reset()
      [[x, y, ramp_x, ramp_y]] = view.worlds.read_task()
      self.assertEqual(abs(x - ramp_x) + abs(y - ramp_y), 3)

  @parameterized.parameters(
    ([3, 3, 30, 3], r'ramp is outside of its cells.*nearest.*, 26.0, 16.0\]'),
    ([3, 3, 4, 4], r'ramp stands on seeker.*nearest legal task is \[3.0, 3.0,'),
    ([3, 3], r'phi has shape \[2\]; allowed: \[..., 4\]'),
    ([[3, 3, 8, 8]], r'phi has shape \[1, 4\]; allowed: \[4\]'),
  )
  def test_an_impossible_task_is_refused(self, phi, message):
    with self.assertRaisesRegex(ValueError, message) as caught:
      dm_env_view.DmEnv(hide_and_seek.load('ramp_use'), phi=phi)
    self.assertNotIn('\n', str(caught.exception))

  def test_two_sources_of_tasks_are_refused(self):
    task = hide_and_seek.load('ramp_use')
    with self.assertRaisesRegex(ValueError, 'phi and sample_tasks are both'):
      dm_env_view.DmEnv(task, phi=[3, 3, 8, 8], sample_tasks=task.sample_easy)

  @parameterized.parameters(
    ([5, 5, 5, 0], r'shape \[4\]\); allowed: integers of shape \[1, 5\]'),
    (
      [[5, 5, 5, 0, 2]],
      r'0, 2\]\] .*allowed: .* from 0 to \[10, 10, 10, 1, 1\]',
    ),
    ([[0.5, 5, 5, 0, 1]], 'float64'),
  )
  def test_an_impossible_action_is_refused(self, action, message):
    view = dm_env_view.DmEnv(hide_and_seek.load('ramp_use'))
    view.reset()
    with self.assertRaisesRegex(ValueError, message):
      view.step(action)

  def test_the_first_step_begins_an_episode(self):
    view = dm_env_view.DmEnv(hide_and_seek.load('ramp_use'))
    timestep = view.step([mechanics.NO_OP])
    self.assertEqual(timestep.step_type, dm_env.StepType.FIRST)


if __name__ == '__main__':
  absltest.main()
