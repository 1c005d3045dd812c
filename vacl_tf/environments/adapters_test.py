# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for adapters. `adapters_tasks_test` goes through all tasks."""

import dm_env
import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized
from dm_env import specs
from dm_env import test_utils

from vacl_tf import environments
from vacl_tf import types
from vacl_tf.environments import adapters
from vacl_tf.environments import shapes
from vacl_tf.environments.particle import spread
from vacl_tf.testing import fakes
from vacl_tf.testing import particle_oracle as oracle

_HORIZON = 6


class _TwoRoles(spread.Spread):
  """Simple-Spread whose first agent is a role of its own, seen by masks.

  Its last step ends the world.
  """

  is_terminal = True

  def __init__(self) -> None:
    super().__init__('simple_spread', 3, _HORIZON)
    (role,) = self.roles
    self.roles = (
      role._replace(
        name='leader', num_agents=1, mask_kinds=('agents',), egocentric=None
      ),
      role._replace(
        name='others',
        num_agents=2,
        action=types.discrete(4),
        mask_kinds=('agents',),
        egocentric=None,
      ),
    )

  def observation_bounds(self):
    return 2 * super().observation_bounds()

  def step(self, state, action):
    return super().step(state, (tf.concat(action, 1),))

  def observe(self, state):
    (seen,) = super().observe(state)
    masks = {'agents': tf.ones(seen.entities['agents'].shape[:-1], tf.bool)}
    seen = types.Observation(seen.own, seen.entities, masks)
    return tuple(
      tf.nest.map_structure(lambda x, rows=rows: x[:, rows], seen)
      for rows in (slice(0, 1), slice(1, 3))
    )

  def reward(self, state):
    (reward,) = super().reward(state)
    return reward[:, :1], reward[:, 1:]


def _spread(num_agents=2):
  return environments.load('simple_spread', num_agents, horizon=_HORIZON)


def _speaker_listener():
  return environments.load('speaker_listener', horizon=_HORIZON)


def _random_action(view, rng):
  def draw(spec):
    if np.issubdtype(spec.dtype, np.integer):
      return rng.integers(0, spec.maximum + 1, spec.shape, np.int32)
    drawn = rng.uniform(spec.minimum, spec.maximum, spec.shape)
    return drawn.astype(np.float32)

  return tf.nest.map_structure(draw, view.action_spec())


class _MixinTest(test_utils.EnvironmentTestMixin):
  horizon = _HORIZON

  def make_action_sequence(self):
    rng = np.random.default_rng(0)
    for _ in range(2 * self.horizon + 3):  # Past two ends of episodes.
      yield _random_action(self.environment, rng)

  def make_object_under_test(self):
    return adapters.DmEnv(self.make_env())


class ContinuousMixinTest(_MixinTest, absltest.TestCase):
  def make_env(self):
    return fakes.DriftingWorld(_HORIZON)


class EarlyEndMixinTest(_MixinTest, absltest.TestCase):
  def make_env(self):
    return fakes.EndingWorld()


class TwoRolesMixinTest(_MixinTest, absltest.TestCase):
  def make_env(self):
    return _TwoRoles()


class DmEnvTest(tf.test.TestCase, parameterized.TestCase):
  def play(self, seed):
    view = adapters.DmEnv(_spread(), seed)
    rng = np.random.default_rng(0)
    steps = [view.reset()]
    for _ in range(2 * _HORIZON + 1):  # One more is the reset.
      steps.append(view.step(_random_action(view, rng)))
    return steps

  def test_specs(self):
    view = adapters.DmEnv(_spread(num_agents=3))
    expected = {'own': (3, 4), 'agents': (3, 2, 2), 'landmarks': (3, 3, 3)}
    for name, spec in view.observation_spec().items():
      self.assertEqual(spec.shape, expected.pop(name))
      self.assertEqual(spec.dtype, np.float32)
    self.assertEmpty(expected)
    action = view.action_spec()
    self.assertIsInstance(action, specs.BoundedArray)
    self.assertEqual((action.shape, action.dtype), ((3,), np.int32))
    self.assertEqual((action.minimum, action.maximum), (0, 4))
    reward = view.reward_spec()
    self.assertEqual((reward.shape, reward.dtype), ((3,), np.float32))

  def test_a_trajectory_is_that_of_the_oracle(self):
    view = adapters.DmEnv(_spread(num_agents=3), seed=5)
    observation = view.reset().observation
    position = observation['own'][:, 2:].astype(np.float64)
    velocity = np.zeros_like(position)
    landmark = position[0] + observation['landmarks'][0, :, 1:]
    rng = np.random.default_rng(1)
    for _ in range(_HORIZON):
      action = _random_action(view, rng)
      step = view.step(action)
      position, velocity = oracle.step(position, velocity, action)
      own = np.concatenate([velocity, position], 1)
      self.assertAllClose(step.observation['own'], own, atol=1e-4)
      self.assertAllClose(step.reward, oracle.reward(position, landmark))

  def test_same_seed_same_episodes(self):
    for one, other in zip(self.play(3), self.play(3), strict=True):
      self.assertEqual(one.step_type, other.step_type)
      tf.nest.map_structure(
        self.assertAllEqual, one.observation, other.observation
      )
      if not one.first():
        self.assertAllEqual(one.reward, other.reward)

  def test_seeds_and_episodes_differ(self):
    starts = [
      step.observation['own']
      for seed in (3, 4)
      for step in self.play(seed)
      if step.first()
    ]
    self.assertLen(starts, 4)
    for index, start in enumerate(starts):
      for other in starts[:index]:
        self.assertNotAllClose(start, other)

  def test_an_episode_has_as_many_steps_as_the_horizon(self):
    steps = self.play(0)
    self.assertTrue(steps[_HORIZON].last())
    self.assertTrue(steps[_HORIZON + 1].first())
    self.assertSameElements(
      [step.step_type for step in steps[1:_HORIZON]], [dm_env.StepType.MID]
    )

  def test_a_particle_world_is_cut_off_with_discount_one(self):
    steps = self.play(0)
    self.assertEqual(steps[1].discount, 1.0)
    self.assertEqual(steps[_HORIZON].discount, 1.0)

  def test_a_world_that_ends_has_discount_zero(self):
    view = adapters.DmEnv(_TwoRoles())
    rng = np.random.default_rng(0)
    view.reset()
    steps = [view.step(_random_action(view, rng)) for _ in range(_HORIZON)]
    self.assertTrue(steps[-1].last())
    discounts = [step.discount for step in steps]
    self.assertEqual(discounts, [1.0] * (_HORIZON - 1) + [0.0])

  def test_several_roles_are_told_apart_by_name(self):
    view = adapters.DmEnv(_TwoRoles())
    self.assertSetEqual(
      set(view.observation_spec()),
      {
        f'{role}/{name}'
        for role in ('leader', 'others')
        for name in ('own', 'agents', 'landmarks', 'agents_mask')
      },
    )
    action = {'leader': np.array([1]), 'others': np.array([3, 0])}
    view.reset()
    step = view.step(action)
    self.assertEqual(step.reward['leader'].shape, (1,))
    self.assertEqual(step.reward['others'].shape, (2,))
    self.assertAllClose(step.observation['leader/own'][:, :2], [[0.5, 0.0]])
    velocity = step.observation['others/own'][:, :2]
    self.assertAllClose(velocity, [[0.0, 0.5], [0.0, 0.0]])

  def test_roles_that_differ_in_what_they_see_and_do(self):
    view = adapters.DmEnv(_speaker_listener())
    found = {name: spec.shape for name, spec in view.observation_spec().items()}
    self.assertEqual(found, {'speaker/own': (1, 3), 'listener/own': (1, 11)})
    action = view.action_spec()
    self.assertEqual(action['speaker'].maximum, 2)
    self.assertEqual(action['listener'].maximum, 4)
    view.reset()
    step = view.step({'speaker': np.array([2]), 'listener': np.array([1])})
    heard = step.observation['listener/own'][0]
    self.assertAllClose(heard[:2], [0.5, 0.0])
    self.assertAllEqual(heard[8:], [0.0, 0.0, 1.0])
    self.assertEqual(step.reward['speaker'], step.reward['listener'])

  def test_the_state_can_be_drawn(self):
    env = _spread()
    view = adapters.DmEnv(env)
    self.assertIsNone(view.state)
    view.reset()
    (scene,) = env.draw(view.state)
    self.assertIsInstance(scene, shapes.Scene)

  @parameterized.parameters('simple_spread', 'ramp_use')
  def test_there_are_pictures_of_any_task(self, name):
    env = environments.load(name)
    view = adapters.DmEnv(env)
    view.reset()
    [[picture]] = env.pictures([view.state])
    self.assertEqual((picture.dtype, picture.shape[-1]), (np.uint8, 3))

  def test_a_world_that_ends_early_ends_the_episode(self):
    view = adapters.DmEnv(fakes.EndingWorld())
    rng = np.random.default_rng(0)
    steps = [view.step(_random_action(view, rng)) for _ in range(9)]
    kinds = [step.step_type.name for step in steps]
    self.assertEqual(kinds, 2 * ['FIRST', 'MID', 'MID', 'LAST'] + ['FIRST'])
    self.assertEqual(
      [step.discount for step in steps], 2 * [None, 1.0, 1.0, 0.0] + [None]
    )

  def test_continuous_actions_are_bounded_numbers(self):
    view = adapters.DmEnv(
      fakes.DriftingWorld(_HORIZON), phi=np.array([0.0, 1.0, 0.5, 1.0])
    )
    spec = view.action_spec()
    self.assertEqual((spec.shape, spec.dtype), ((2, 1), np.float32))
    view.reset()
    own = view.step(np.array([[0.25], [-1]])).observation['own']
    self.assertAllClose(own, [[0.25], [0.0]])


class TasksTest(tf.test.TestCase, parameterized.TestCase):
  def test_a_given_task_starts_every_episode(self):
    phi = np.linspace(-2.0, 2.0, 8)
    view = adapters.DmEnv(_spread(), phi=phi)
    for _ in range(2):
      own = view.reset().observation['own']
      self.assertAllClose(own[:, 2:], phi[:4].reshape(2, 2))

  def test_a_reset_can_be_told_a_seed_and_a_task(self):
    view, phi = adapters.DmEnv(_spread()), np.linspace(-2.0, 2.0, 8)
    starts = [view.reset(seed=seed).observation['own'] for seed in (4, None, 4)]
    self.assertAllEqual(starts[0], starts[2])
    self.assertNotAllClose(starts[0], starts[1])
    options = {'task': phi, 'num_agents': 2}
    own = view.reset(options=options).observation['own']
    self.assertAllClose(own[:, 2:], phi[:4].reshape(2, 2))
    self.assertNotAllClose(view.reset().observation['own'], own)
    for options, message in (
      ({'task': phi[:-1]}, r"options\['task'\] has shape \[7\]; allowed: \[8"),
      ({'num_agents': 3}, r"\['num_agents'\]=3; allowed: 2"),
      ({'phi': phi}, r"unknown keys \['phi'\]"),
    ):
      with self.assertRaisesRegex(ValueError, message):
        view.reset(options=options)

  def test_closing_twice_is_harmless(self):
    view = adapters.DmEnv(_spread())
    view.close()
    view.close()
    with self.assertRaisesRegex(ValueError, 'closed'):
      view.reset()

  def test_tasks_are_drawn_as_told(self):
    env = _spread()
    view = adapters.DmEnv(env, sample_tasks=env.task_space.sample_easy)
    for _ in range(5):
      flags = view.reset().observation['landmarks'][..., 0]
      self.assertAllEqual(flags, np.ones([2, 2]))

  def test_an_illegal_task_is_refused_with_the_nearest_legal_one(self):
    env = _spread()
    phi = np.array([0.0, 1.0, 9.0, 0.5, 0.0, 0.0, 0.0, -7.0])
    with self.assertRaisesRegex(
      ValueError, r'9\.0.*\[1, 3\].*nearest'
    ) as error:
      adapters.DmEnv(env, phi=phi)
    offered = str(error.exception).split('[')[-1].rstrip('].').split(',')
    offered = np.array([float(number) for number in offered])
    self.assertAllClose(offered, phi.clip(-3.0, 3.0), atol=0.011)
    adapters.DmEnv(env, phi=offered)

  @parameterized.parameters(
    (np.zeros(7), r'shape \[7\]; allowed: \[8\]'),
    (np.full([8], np.nan), 'allowed: finite'),
  )
  def test_what_is_no_task_at_all_is_refused(self, phi, message):
    with self.assertRaisesRegex(ValueError, message):
      adapters.DmEnv(_spread(), phi=phi)

  def test_illegal_draws_are_refused(self):
    view = adapters.DmEnv(
      _spread(), sample_tasks=lambda num_tasks, seed: tf.fill([num_tasks, 8], 4)
    )
    with self.assertRaisesRegex(ValueError, 'nearest legal task'):
      view.reset()

  def test_a_task_and_a_way_to_draw_exclude_each_other(self):
    env = _spread()
    sample_tasks = env.task_space.sample_easy
    with self.assertRaisesRegex(ValueError, 'both given'):
      adapters.DmEnv(env, phi=np.zeros(8), sample_tasks=sample_tasks)


class BadActionTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(
    (np.array([0, 5]), r'action=\[0, 5\].*2 integers from 0 to 4'),
    (np.array([-1, 0]), r'action=\[-1, 0\]'),
    (np.array([0.0, 1.0]), 'float64'),
    (np.array([True, False]), 'bool'),
    (np.array([0]), r'shape \[1\]'),
    (3, r'shape \[\]'),
  )
  def test_is_refused_and_leaves_the_world_alone(self, action, message):
    view = adapters.DmEnv(_spread())
    view.reset()
    before = view.state
    with self.assertRaisesRegex(ValueError, message):
      view.step(action)
    self.assertIs(view.state, before)

  @parameterized.parameters(
    ([[0.5], [1.5]], r'allowed: numbers of shape \[2, 1\] from \[-1.0\] to'),
    ([[0.5], [np.nan]], 'nan'),
    ([0.5, 0.5], r'shape \[2\]'),
    ([['a'], ['b']], r'allowed: numbers of shape'),
  )
  def test_is_refused_where_it_is_not_within_bounds(self, action, message):
    view = adapters.DmEnv(fakes.DriftingWorld(_HORIZON))
    view.reset()
    with self.assertRaisesRegex(ValueError, message):
      view.step(action)

  @parameterized.parameters(
    (np.zeros(3, np.int32), 'allowed keys: leader, others'),
    ({'leader': [0]}, 'allowed keys: leader, others'),
    ({'leader': [0], 'others': [0, 4]}, r"action\['others'\].*from 0 to 3"),
  )
  def test_is_refused_for_several_roles(self, action, message):
    view = adapters.DmEnv(_TwoRoles())
    view.reset()
    with self.assertRaisesRegex(ValueError, message):
      view.step(action)

  @parameterized.parameters(
    (
      {'speaker': [3], 'listener': [0]},
      r"action\['speaker'\]=\[3\] .*allowed: 1 integer from 0 to 2.*spec",
    ),
    (
      {'speaker': [0], 'listener': [5]},
      r"action\['listener'\]=\[5\] .*allowed: 1 integer from 0 to 4.*spec",
    ),
    ({'speaker': [0]}, 'allowed keys: speaker, listener'),
    ({'speaker': 0, 'listener': [0]}, r"action\['speaker'\]=0 .*shape \[\]"),
  )
  def test_messages_are_refused_as_actions_are(self, action, message):
    view = adapters.DmEnv(_speaker_listener())
    view.reset()
    before = view.state
    with self.assertRaisesRegex(ValueError, message) as error:
      view.step(action)
    self.assertNotIn('\n', str(error.exception))
    self.assertIs(view.state, before)


if __name__ == '__main__':
  absltest.main()
