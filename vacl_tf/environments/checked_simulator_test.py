# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for checked_simulator: a broken world for each fault."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized
from dm_env import specs

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import checked_simulator
from vacl_tf.environments import task_space
from vacl_tf.testing import fakes


class _Space(task_space.BoxTaskSpace):
  def __init__(self):
    corner = np.ones([3, 1, 2])
    super().__init__(-corner, corner, num_agents=3)

  def sample_easy(self, num_tasks, seed):
    return 0.1 * self.sample_uniform(num_tasks, seed)


class _World(base.HostWorld):
  """Three agents in the plane; the world that a test breaks in one place."""

  name = 'toy'
  horizon = 3

  def __init__(self, **faults):
    self.faults = faults
    self.task_space = _Space()
    self.roles = (
      types.Role(
        'walker',
        2,
        specs.BoundedArray([2], np.float32, -1.0, 1.0),
        own_size=2,
        entity_sizes={'others': 2},
        mask_kinds=('others',),
        critic_only_position=(0, 1),
      ),
      types.Role('idler', 1, types.discrete(3), 1, {}),
    )

  def make_simulator(self, num_worlds):
    return _Simulator(self, num_worlds)


class _Simulator(base.Simulator):
  def __init__(self, world, num_worlds):
    self.num_worlds = num_worlds
    self._faults = world.faults

  def _of(self, name, value):
    return self._faults.get(name, value)

  def place(self, phi, seed):
    self._phi = phi

  def observe(self):
    b, f = self.num_worlds, np.float32
    walker = types.Observation(
      self._of('own', np.zeros([b, 2, 2], f)),
      self._of('entities', {'others': np.zeros([b, 2, 4, 2], f)}),
      self._of('masks', {'others': np.ones([b, 2, 4], bool)}),
      self._of('critic_own', np.zeros([b, 2, 2], f)),
    )
    idler = types.Observation(np.zeros([b, 1, 1], f), {})
    return self._of('observations', (walker, idler))

  def step(self, actions):
    b, f = self.num_worlds, np.float32
    moves, choices = actions
    assert moves.shape == (b, 2, 2) and choices.shape == (b, 1)
    return self._of(
      'outcome',
      base.Outcome(
        self._of('reward', (np.zeros([b, 2], f), np.zeros([b, 1], f))),
        self._of('progress', np.ones([b], f)),
        self._of('discount', np.ones([b], f)),
      ),
    )

  def read_task(self):
    return self._of('phi', self._phi)


def _check(**faults):
  checked_simulator.check_world(_World(**faults))


_NAN = np.full([2, 2, 2], np.nan, np.float32)
_IDLER = types.Observation(np.zeros([2, 1, 1], np.float32), {})


class HostWorldTest(tf.test.TestCase, parameterized.TestCase):
  def test_a_sound_world_passes(self):
    _check()

  @parameterized.named_parameters(
    (
      'own_shape',
      {'own': np.zeros([2, 2, 3], np.float32)},
      'walker, own: expected float32 of shape [2, 2, 2], given float32 of '
      'shape [2, 2, 3]',
    ),
    (
      'own_axes',
      {'own': np.zeros([2, 2], np.float32)},
      'own: expected float32 of shape [2, 2, 2], given float32 of shape [2, 2]',
    ),
    (
      'own_dtype',
      {'own': np.zeros([2, 2, 2])},
      'given float64 of shape [2, 2, 2]',
    ),
    (
      'nan',
      {'own': _NAN},
      'walker, own: expected finite numbers, given nan at [0, 0, 0]',
    ),
    (
      'critic_own_shape',
      {'critic_own': np.zeros([2, 2, 1], np.float32)},
      'walker, critic_own: expected float32 of shape [2, 2, 2], given',
    ),
    (
      'critic_own_missing',
      {'critic_own': ()},
      'walker, critic_own: expected an array, as the role has a critic_only_',
    ),
    (
      'kinds',
      {'entities': {'other': _NAN[..., None]}},
      "walker, entities: expected the kinds ['others'], given ['other']",
    ),
    (
      'entities_shape',
      {'entities': {'others': np.zeros([2, 2, 4, 3], np.float32)}},
      "entities['others']: expected float32 of shape [2, 2, any, 2], given",
    ),
    (
      'masks_missing',
      {'masks': {}},
      "masks: expected the kinds ['others'], given []",
    ),
    (
      'masks_shape',
      {'masks': {'others': np.ones([2, 2, 5], bool)}},
      "masks['others']: expected bool of shape [2, 2, 4], given bool of",
    ),
    (
      'masks_dtype',
      {'masks': {'others': np.ones([2, 2, 4], np.float32)}},
      'expected bool of shape [2, 2, 4], given float32',
    ),
    (
      'num_observations',
      {'observations': (_IDLER,)},
      'observations: expected a tuple of 2, one for each role; given a tuple '
      'of 1',
    ),
    (
      'no_tuple',
      {'observations': _IDLER.own},
      'observations: expected a tuple of 2, one for each role; given ndarray',
    ),
    (
      'no_observation',
      {'observations': (_IDLER.own, _IDLER)},
      'observation of walker: expected a types.Observation, given ndarray',
    ),
    (
      'no_outcome',
      {'outcome': (0, 0, 0)},
      'step: expected a base.Outcome, given tuple',
    ),
    (
      'num_rewards',
      {'reward': (np.zeros([2, 3], np.float32),)},
      'reward: expected a tuple of 2, one for each role; given a tuple of 1',
    ),
    (
      'reward_shape',
      {'reward': (np.zeros([2, 2], np.float32), np.zeros([2], np.float32))},
      'reward of idler: expected float32 of shape [2, 1], given float32 of',
    ),
    (
      'reward_nan',
      {'reward': (_NAN[..., 0], np.zeros([2, 1], np.float32))},
      'reward of walker: expected finite numbers, given nan at [0, 0]',
    ),
    (
      'progress_high',
      {'progress': np.array([0.5, 1.5], np.float32)},
      'progress: expected numbers from 0 to 1, given [0.5, 1.5]',
    ),
    (
      'progress_dtype',
      {'progress': np.array([True, False])},
      'progress: expected float32 of shape [2], given bool of shape [2]',
    ),
    (
      'discount_low',
      {'discount': np.array([-1, 1], np.float32)},
      'discount: expected numbers from 0 to 1, given [-1.0, 1.0]',
    ),
    (
      'discount_shape',
      {'discount': np.ones([2, 1], np.float32)},
      'discount: expected float32 of shape [2], given float32 of shape [2, 1]',
    ),
    (
      'phi_shape',
      {'phi': np.zeros([2, 4], np.float32)},
      'read_task(): expected float32 of shape [2, 6], given float32 of shape',
    ),
  )
  def test_each_fault_is_told_in_a_line(self, faults, message):
    with self.assertRaises(ValueError) as caught:
      _check(**faults)
    self.assertIn(message, str(caught.exception))
    self.assertNotIn('\n', str(caught.exception))

  def test_the_number_of_agents_is_that_of_the_roles(self):
    world = _World()
    world.task_space.num_agents = 2
    with self.assertRaisesRegex(
      ValueError, 'task_space.num_agents: expected 3, .* given 2$'
    ):
      checked_simulator.check_world(world)

  def test_only_the_first_of_each_is_checked(self):
    world = _World()
    simulator = checked_simulator.Checked(world.make_simulator(2), world)
    phi = world.task_space.sample_easy(2, randomness.root(0)).numpy()
    actions = (np.zeros([2, 2, 2], np.float32), np.zeros([2, 1], int))
    for _ in range(2):
      simulator.place(phi, [0])
      simulator.observe()
      simulator.step(actions)
      world.faults['progress'] = np.full([2], 7.0)
      world.faults['own'] = _NAN
    self.assertAllEqual(simulator.step(actions).progress, [7.0, 7.0])

  def test_it_is_the_simulator_otherwise(self):
    env = fakes.LineWorld()
    phi = env.task_space.sample_uniform(4, randomness.root(0)).numpy()
    plain = env.make_simulator(4)
    checked = checked_simulator.Checked(env.make_simulator(4), env)
    self.assertEqual((checked.num_worlds, checked.num_unstable), (4, 0))
    for each in (plain, checked):
      each.place(phi, [0])
    actions = (np.ones([4, 2], int),)
    tf.nest.map_structure(
      self.assertAllEqual, plain.step(actions), checked.step(actions)
    )
    tf.nest.map_structure(
      self.assertAllEqual,
      (plain.observe(), plain.state, plain.read_task()),
      (checked.observe(), checked.state, checked.read_task()),
    )
    checked.close()


class _Growing(fakes.LineWorld):
  def step(self, state, action):
    state = super().step(state, action)
    return state._replace(position=tf.concat([state.position] * 2, 1))


class _Retyped(fakes.LineWorld):
  def step(self, state, action):
    return tuple(super().step(state, action))


class _Percent(fakes.LineWorld):
  def progress(self, state):
    return 100.0 * super().progress(state)


class _Whole(fakes.LineWorld):
  def reward(self, state):
    return tuple(tf.cast(x, tf.int32) for x in super().reward(state))


class EnvironmentTest(tf.test.TestCase, parameterized.TestCase):
  def test_a_sound_environment_passes(self):
    checked_simulator.check_environment(fakes.LineWorld())

  @parameterized.parameters(
    (
      _Growing,
      r'state after step, leaf 0: expected float32 of shape \[2, 2\], given '
      r'float32 of shape \[2, 4\]',
    ),
    (_Retyped, 'state after step: expected the structure of the state'),
    (_Percent, r'progress: expected numbers from 0 to 1, given \[100.0, 100.0'),
    (_Whole, r'reward of agent: expected float32 .* given int32'),
  )
  def test_each_fault_is_told_in_a_line(self, make, message):
    for check in (
      checked_simulator.check_environment,
      checked_simulator.check_world,
    ):
      with self.assertRaisesRegex(ValueError, message) as caught:
        check(make())
      self.assertNotIn('\n', str(caught.exception))


class _BadSpace(fakes.LineTaskSpace):
  """A task space with one method, or attribute, exchanged."""

  def __init__(self, **faults):
    for name, fault in faults.items():
      setattr(self, name, fault)


class TaskSpaceTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.named_parameters(
    (
      'easy',
      {
        'sample_easy': lambda num, seed: tf.tile(
          [[0.0, 9.0, 0.0, 2.0]], [num, 1]
        )
      },
      r'sample_easy: expected feasible tasks, given \[0.0, 9.0, 0.0, 2.0\] of '
      r'which entities \[1, 3\] \(counted from 0\) are not',
    ),
    (
      'shape',
      {'sample_easy': lambda num, seed: tf.zeros([num, 3])},
      r'sample_easy: expected float32 of shape \[50, 4\], given float32 of '
      r'shape \[50, 3\]',
    ),
    (
      'dtype',
      {'sample_uniform': lambda num, seed: np.zeros([num, 4])},
      'sample_uniform: expected float32 .* given float64',
    ),
    (
      'nan',
      {'sample_target': lambda num, seed: tf.fill([num, 4], np.nan)},
      r'sample_target: expected finite numbers, given nan at \[0, 0\]',
    ),
    (
      'clip',
      {'clip': lambda phi, seed: phi},
      'clip: expected feasible tasks, given .* are not',
    ),
    (
      'feasible',
      {'feasible': lambda phi: tf.reduce_all(tf.abs(phi) < 9.0, -1)},
      r'feasible: expected bool of shape \[50, 4\], given bool of shape \[50\]',
    ),
    (
      'entities',
      {'entity_of_dim': np.array([0, 0, 1, 1])},
      r'entity_of_dim=\[0, 0, 1, 1\]; expected all of 0 to 3',
    ),
    (
      'dims',
      {'entity_of_dim': np.arange(5)},
      r'entity_of_dim: expected integers of shape \[4\], given int64 of',
    ),
  )
  def test_each_fault_is_told_in_a_line(self, faults, message):
    world = fakes.LineWorld()
    world.task_space = _BadSpace(**faults)
    with self.assertRaisesRegex(ValueError, message) as caught:
      checked_simulator.check_world(world)
    self.assertNotIn('\n', str(caught.exception))


if __name__ == '__main__':
  tf.test.main()
