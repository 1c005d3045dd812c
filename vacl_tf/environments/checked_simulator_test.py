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


def _space(**attributes):
  space = _Space()
  for name, value in attributes.items():
    setattr(space, name, value)
  return space


def _role(name, entity_sizes=None, mask_kinds=()):
  return types.Role(
    name, 3, types.discrete(2), 2, entity_sizes or {}, mask_kinds
  )


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
    ('own_ragged', {'own': [[1.0], [1.0, 2.0]]}, 'own failed: ValueError: '),
    (
      'no_entities',
      {'entities': None},
      'entities: expected a dict, given None',
    ),
    ('own_dtype', {'own': np.zeros([2, 2, 2])}, 'given float64 of shape [2,'),
    (
      'nan',
      {'own': _NAN},
      'walker, own: expected finite numbers, given nan in world 0, agent 0, ',
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
      'reward of walker: expected finite numbers, given nan in world 0, a',
    ),
    (
      'progress_high',
      {'progress': np.array([0.5, 1.5], np.float32)},
      'progress: expected numbers from 0 to 1, given 1.5 in world 1',
    ),
    (
      'progress_dtype',
      {'progress': np.array([True, False])},
      'progress: expected float32 of shape [2], given bool of shape [2]',
    ),
    (
      'discount_low',
      {'discount': np.array([-1, 1], np.float32)},
      'discount: expected numbers from 0 to 1, given -1.0 in world 0',
    ),
    (
      'discount_shape',
      {'discount': np.ones([2, 1], np.float32)},
      'discount: expected float32 of shape [2], given float32 of shape [2, 1]',
    ),
    (
      'phi_shape',
      {'phi': np.zeros([2, 4], np.float32)},
      'read_task: expected float32 of shape [2, 6], given float32 of shape',
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

  def test_faults_that_come_later_are_found(self):
    world = _World()
    simulator = checked_simulator.Checked(world.make_simulator(2), world)
    phi = np.array([[0.5, 0.0, 0.0] * 2, [0.1, 0.25, 0.5] * 2], np.float32)
    actions = (np.zeros([2, 2, 2], np.float32), np.zeros([2, 1], int))
    simulator.place(phi, [0])
    simulator.observe()
    simulator.step(actions)
    others = np.zeros([2, 2, 4, 2], np.float32)
    others[1, 0, 3, 1] = np.inf
    world.faults['progress'] = np.array([1.0, np.nan], np.float32)
    world.faults['entities'] = {'others': others}
    world.faults['phi'] = others[:, 0].reshape([2, 8])[:, 2:]
    later = ', after 2 steps of the task [0.1, 0.25, 0.5, 0.1, 0.25, 0.5]'
    for method, message in (
      (lambda: simulator.step(actions), 'given nan in world 1'),
      (simulator.observe, 'given inf in world 1, agent 0, entity 3, number 1'),
      (simulator.read_task, 'given inf in world 1, number 5'),
    ):
      with self.assertRaises(base.WorldError) as caught:
        method()
      self.assertEndsWith(str(caught.exception), message + later)

  def test_a_mean_may_be_above_1_by_rounding(self):
    _check(progress=np.array([1.0 + 1e-6, 0.0], np.float32))

  @parameterized.parameters('place', 'observe', 'step', 'read_task', 'close')
  def test_what_a_simulator_raises_is_told_in_a_line(self, name):
    class Failing(_Simulator):
      pass

    def fail(*arguments):
      raise KeyError('no such')

    setattr(Failing, name, fail)
    world = _World()
    world.make_simulator = lambda num_worlds: Failing(world, num_worlds)
    with self.assertRaisesRegex(
      base.WorldError, f"^{name} failed: KeyError: 'no such'"
    ):
      checked_simulator.check_world(world)

  def test_a_world_does_not_end_the_process(self):
    class Failing(_Simulator):
      def step(self, actions):
        raise self._faults['raised']

    world = _World()
    world.make_simulator = lambda num_worlds: Failing(world, num_worlds)
    world.faults['raised'] = SystemExit(3)
    with self.assertRaisesRegex(base.WorldError, '^step failed: SystemExit: 3'):
      checked_simulator.check_world(world)
    world.faults['raised'] = KeyboardInterrupt()
    with self.assertRaises(KeyboardInterrupt):
      checked_simulator.check_world(world)

  @parameterized.parameters(
    ({'horizon': '9'}, 'horizon: expected a whole number, given str'),
    ({'roles': types.discrete(2)}, 'roles: expected tuple, given BoundedArray'),
    ({'task_space': _space(num_entities=None)}, 'num_entities: expected a w'),
    (
      {'roles': (5,)},
      r'roles\[0\]: expected a types.Role, given int; .*\(role,\)',
    ),
    ({'task_space': None}, 'task_space: expected TaskSpace, given NoneType'),
    (
      {'roles': (types.Role('walker', 3, 5, 2, {}),)},
      r'roles\[0\].action: expected what types.discrete, .* given 5',
    ),
    ({'roles': (_role('two words'),)}, r"\[0\].name: .* given 'two words'"),
    ({'roles': (_role('a'), _role('a'))}, r"\[1\].name: .* given 'a'"),
    (
      {'roles': (_role('a', {'big box': 1}),)},
      "entities 'big box': expected a",
    ),
    (
      {'roles': (_role('a', {'own': 1}),)},
      "entities 'own': .*; own, seed, greedy",
    ),
    ({'roles': (_role('a', {'memory_1': 1}),)}, "'memory_1': expected"),
    *(
      ({'roles': (_role('a', {name: 1}),)}, f"entities '{name}': expected a")
      for name in ('self', 'class', '_x')
    ),
    (
      {'roles': (_role('a', {'x': 1, 'x_mask': 1}, ('x',)),)},
      "entities 'x_mask': expected",
    ),
    (
      {'make_simulator': lambda num_worlds: None},
      'make_simulator: expected a base.Simulator, given NoneType',
    ),
    (
      {'make_simulator': lambda: None},
      'make_simulator failed: TypeError: .* takes 0 positional arguments',
    ),
  )
  def test_what_a_world_says_of_itself(self, attributes, message):
    world = _World()
    for name, value in attributes.items():
      setattr(world, name, value)
    with self.assertRaisesRegex(base.WorldError, message):
      checked_simulator.check_world(world)

  def test_worlds_are_closed_whatever_they_do(self):
    closed = []

    class Failing(_Simulator):
      def step(self, actions):
        raise KeyError

      def close(self):
        closed.append(self)

    world = _World()
    world.make_simulator = lambda num_worlds: Failing(world, num_worlds)
    with self.assertRaisesRegex(base.WorldError, '^step failed: KeyError'):
      checked_simulator.check_world(world)
    self.assertLen(closed, 1)

  def test_something_else(self):
    with self.assertRaisesRegex(
      base.WorldError, 'expected a base.HostWorld or .* given _Space'
    ):
      checked_simulator.check_world(_Space())

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


if __name__ == '__main__':
  tf.test.main()
