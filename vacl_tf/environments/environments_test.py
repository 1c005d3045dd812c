# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests of the package: worlds by name and from configs."""

import dataclasses
import math
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import environments
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf.environments import base
from vacl_tf.testing import fakes


class LoadTest(parameterized.TestCase):
  def test_a_world_is_made_of_its_constants(self):
    for name in catalog.TASKS.names():
      env = environments.make(catalog.TASKS.get(name).world)
      self.assertEqual(env.name, name)
      self.assertEqual(env.counts, catalog.TASKS.get(name).world.counts)

  def test_an_unknown_name_is_refused_with_the_known_ones(self):
    with self.assertRaisesRegex(ValueError, 'nowhere.*allowed.*simple_spread'):
      environments.load('nowhere')

  @parameterized.parameters(
    ('simple_spread', 0, 100),
    ('simple_spread', 1, 100),
    ('simple_spread', 101, 100),
    ('hard_spread', 9, 8),
    ('push_ball', 9, 8),
  )
  def test_an_impossible_number_of_agents_is_refused(self, name, given, most):
    with self.assertRaisesRegex(ValueError, f'{given}.*allowed: 2 to {most}'):
      environments.load(name, num_agents=given)

  @parameterized.parameters(1, 3)
  def test_the_only_possible_number_of_agents_is_named(self, given):
    with self.assertRaisesRegex(ValueError, f'={given} .*; allowed: 2$'):
      environments.load('speaker_listener', num_agents=given)

  @parameterized.parameters(
    ({'name': 'simple_spread', 'num_boxes': 2}, r'num_boxes=2 .*leave it out'),
    ({'name': 'ramp_use', 'num_boxes': 1}, r'num_boxes=1 .*leave it out'),
    ({'name': 'lock_and_return', 'num_boxes': 9}, r'=9 .*allowed: 1 to 8'),
    ({'name': 'lock_and_return', 'num_agents': 9}, r'=9 .*allowed: 1 to 8'),
    ({'name': 'ramp_use', 'num_agents': 2}, r'=2 .*allowed: 1$'),
    ({'name': 'ramp_use', 'horizon': 30}, r'horizon=30 .* 60, .*leave it out'),
  )
  def test_an_impossible_world_is_refused(self, given, message):
    with self.assertRaisesRegex(ValueError, message):
      environments.load(**given)

  @parameterized.product(
    name=catalog.TASKS.names(),
    horizon=(0, -1, 2.5, math.nan, math.inf, 10**9, True, '70'),
  )
  def test_an_impossible_horizon_is_refused(self, name, horizon):
    with self.assertRaisesRegex(ValueError, '^horizon=.*; (all|give|leave)'):
      environments.load(name, horizon=horizon)

  @parameterized.product(
    name=catalog.TASKS.names(), given=(-1, 2.5, math.nan, 10**9, '4')
  )
  def test_a_number_of_agents_that_is_none_is_refused(self, name, given):
    with self.assertRaisesRegex(ValueError, 'num_agents=.*; (allowed|give)'):
      environments.load(name, num_agents=given)
    world = catalog.TASKS.get(name).world
    with self.assertRaisesRegex(ValueError, 'num_agents=.*; (allowed|give)'):
      environments.make(dataclasses.replace(world, num_agents=given))

  @parameterized.parameters(
    ('reach', math.nan), ('reach', 'far'), ('has_box', 1), ('has_box', 'no')
  )
  def test_a_constant_of_another_kind_is_refused(self, field, value):
    with self.assertRaisesRegex(ValueError, f'^{field}=.*; (allowed|give)'):
      environments.load('ramp_use', **{field: value})

  @parameterized.parameters(
    ('lock_and_return', 'reach', 0.5),
    ('lock_and_return', 'has_box', False),
    ('ramp_use', 'sees_birthplace', True),
    ('simple_spread', 'reward_scale', 0.1),
  )
  def test_a_constant_of_another_task_is_refused(self, name, field, value):
    with self.assertRaisesRegex(ValueError, f'{field}.* is unknown'):
      environments.load(name, **{field: value})

  @parameterized.parameters(
    (None, None, (2, 2)), (4, None, (4, 4)), (None, 3, (3, 3)), (4, 2, (4, 2))
  )
  def test_agents_and_boxes_stand_in_for_each_other(
    self, agents, boxes, counts
  ):
    env = environments.load('lock_and_return', agents, num_boxes=boxes)
    self.assertEqual(env.counts, counts)
    self.assertEqual(
      env.task.slots, {'agents': counts[0] - 1, 'boxes': counts[1]}
    )

  def test_constants_reach_their_task(self):
    env = environments.load(
      'ramp_use', has_box=False, reward_scale=0.1, reach=0.5
    )
    self.assertEqual(set(env.roles[0].entity_sizes), {'hiders', 'ramps'})
    self.assertEqual((env.task.reward_scale, env.task.reach), (0.1, 0.5))

  def test_a_misspelt_task_in_a_config_is_refused(self):
    cfg = overrides.replace(
      presets.make(env='push_ball'), {'environment.name': 'pull'}
    )
    with self.assertRaisesRegex(ValueError, "'pull' is unknown; did"):
      environments.load_all(cfg)

  def test_what_the_critic_alone_observes_is_where_an_agent_was_born(self):
    for shown in (False, True):
      env = environments.load('lock_and_return', sees_birthplace=shown)
      found = [
        env.task.features['own'][i].name
        for i in env.roles[0].critic_only_position
      ]
      expected = [] if shown else ['birthplace_x', 'birthplace_y']
      self.assertEqual(found, expected)
    self.assertIsNone(
      environments.load('ramp_use').roles[0].critic_only_position
    )

  def test_every_count_of_a_path_is_loaded(self):
    cfg = presets.make(env='lock_and_return', path='2x2,4x2,4x4')
    counts = [env.counts for env in environments.load_all(cfg)]
    self.assertEqual(counts, [(2, 2), (4, 2), (4, 4)])

  def test_who_observes_no_entities_has_no_transform(self):
    for role in environments.load('speaker_listener').roles:
      self.assertIsNone(role.egocentric)

  @parameterized.parameters(
    ('simple_spread', True), ('push_ball', True), ('hard_spread', False)
  )
  def test_open_squares_are_those_without_walls(self, name, expected):
    [role] = environments.load(name).roles
    self.assertEqual(role.egocentric.is_open_square, expected)


class GoalsTest(parameterized.TestCase):
  """A task with goals is solved while there is a mover at each."""

  @parameterized.parameters(
    ('simple_spread', 3), ('hard_spread', 2), ('push_ball', 2)
  )
  def test_what_led_to_a_state_solves_the_task_with_goals_there(
    self, name, num_agents
  ):
    env = environments.load(name, num_agents=num_agents)
    space, seed = env.task_space, randomness.root(3)
    both = [space.sample_easy(10, seed), space.sample_target(10, seed)]
    phi = np.concatenate(both)
    actions = np.random.default_rng(0).integers(0, 5, [25, 20, num_agents])

    def last(tasks):
      state = env.place(tf.constant(tasks), seed)
      for action in actions:
        state = env.step(state, (tf.constant(action, tf.int32),))
      return state

    final = env.read_task(last(phi)).numpy()
    made = phi.copy()
    for mover, goal in space.goals:
      at = [space.entity_of_dim == entity for entity in (mover, goal)]
      moved = (final[:, at[0]] != phi[:, at[0]]).any(1)
      self.assertGreater(moved.sum(), 2)
      np.testing.assert_array_equal(final[:, at[1]], phi[:, at[1]])
      made[:, at[1]] = final[:, at[0]]
    np.testing.assert_array_equal(env.progress(last(made)), np.ones([20]))
    self.assertLess(np.mean(env.progress(last(phi))), 0.5)

  def test_others_have_none(self):
    for name in ('speaker_listener', 'lock_and_return', 'ramp_use'):
      self.assertEmpty(environments.load(name).task_space.goals)


class ForeignTest(parameterized.TestCase):
  """Tasks that a user registers are looked at when they are made."""

  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.dict(catalog.TASKS._entries))

  def _register(self, make):
    spec = catalog.TASKS.get('simple_spread')
    world = dataclasses.replace(spec.world, name='mine', num_agents=2)
    world = dataclasses.replace(world, horizon=fakes.HORIZON)
    catalog.register_task(dataclasses.replace(spec, world=world, make=make))

  def test_a_sound_one(self):
    self._register(lambda world: fakes.LineWorld())
    self.assertIsInstance(environments.load('mine'), fakes.LineWorld)

  @parameterized.parameters(
    (lambda world: world.nothing, 'make failed: AttributeError: .*nothing'),
    (lambda world: None, 'make: expected a base.HostWorld or .* NoneType'),
    (
      lambda world: fakes.LineWorld(world.horizon + 1),
      r'make: expected a world with \(counts, horizon\) .*, given \(\(2,\), ',
    ),
    (
      lambda world: _with_space(_NoFeasible()),
      'feasible failed: AttributeError: .*nothing',
    ),
    (
      lambda world: _with_space(_NoDims()),
      'check of the world failed: AttributeError: .*nothing',
    ),
  )
  def test_faults(self, make, message):
    self._register(make)
    with self.assertRaisesRegex(base.WorldError, f'^env=mine: {message}'):
      environments.load('mine')


class _NoDims(fakes.LineTaskSpace):
  @property
  def entity_of_dim(self):
    return self.nothing


class _NoFeasible(fakes.LineTaskSpace):
  def feasible(self, phi):
    return self.nothing


def _with_space(space):
  world = fakes.LineWorld()
  world.task_space = space
  return world


if __name__ == '__main__':
  absltest.main()
