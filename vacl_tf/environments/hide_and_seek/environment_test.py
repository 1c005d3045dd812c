# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for environment: worlds in batches. `handling_test` has the rules."""

import contextlib
from unittest import mock

import mujoco
import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments import hide_and_seek
from vacl_tf.environments.hide_and_seek import entities
from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek import mechanics

_NAMES = ('lock_and_return', 'ramp_use')


def _worlds(name, num_worlds, threads=2):
  return environment.HideAndSeekWorlds(
    hide_and_seek.load(name), num_worlds, threads
  )


def _tasks(task, num, seed=0):
  """Returns tasks, easy and uniform ones in turn; the first ones are alike."""
  rng = np.random.default_rng(seed)
  phi = np.stack([task.sample_easy(99, rng), task.sample_uniform(99, rng)], 1)
  return phi.reshape(198, -1)[:num]


def _actions(task, num, seed):
  """Returns random actions, alike for the first worlds."""
  rng = np.random.default_rng(seed)
  shape = [99, len(task.actors), 1]
  actions = [rng.integers(0, most, shape) for most in mechanics.HEADS]
  return np.concatenate(actions, -1)[:num]


def _play(worlds, num_steps, place_seed=0, seed=0):
  """Returns states and outcomes of an episode's first steps."""
  worlds.place(_tasks(worlds.task, worlds.num_worlds, seed), place_seed)
  return _go_on(worlds, num_steps, seed)


def _go_on(worlds, num_steps, seed=0):
  found = []
  for step in range(num_steps):
    actions = _actions(worlds.task, worlds.num_worlds, 100 * seed + step)
    outcome = worlds.step(actions)
    found.append((worlds.state, outcome))
  return found


class _Case(parameterized.TestCase):
  def assert_same(self, ones, others, rows=slice(None)):
    """Checks that the first episodes' rows are the second ones."""
    for one, other in zip(ones, others, strict=True):
      for name in ('position', 'velocity', 'is_locked', 'locker', 'held'):
        np.testing.assert_array_equal(
          getattr(one[0], name)[rows], getattr(other[0], name), name
        )
      for x, y in zip(one[1], other[1], strict=True):
        np.testing.assert_array_equal(x[rows], y)


class SleepTest(parameterized.TestCase):
  @parameterized.parameters(*_NAMES)
  def test_worlds_are_as_if_nobody_slept(self, name):
    compiled = entities.compile_model

    def without_sleep(*args):
      model = compiled(*args)
      model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
      return model

    ours = _worlds(name, 99)
    with mock.patch.object(entities, 'compile_model', without_sleep):
      awake = _worlds(name, 99)
    pairs = zip(_play(ours, 20), _play(awake, 20), strict=True)
    for (one, _), (other, _) in pairs:
      # Of two that touch, little things make large ones in the end.
      apart = np.abs(one.position - other.position).max((1, 2))
      self.assertLess(np.median(apart), 1e-4)
      self.assertLess(np.quantile(apart, 0.9), 1e-3)
      is_other = np.any(one.held != other.held, 1)
      is_other |= np.any(one.is_locked != other.is_locked, 1)
      self.assertLess(is_other.mean(), 0.02)
    first_thing = ours.task.cast.num_agents - ours.task.cast.num_entities
    for worlds, low, high in ((ours, 0.5, 0.99), (awake, 0.0, 0.0)):
      is_asleep = worlds.physics.bind('body_awake')[:, first_thing:] == 0
      self.assertBetween(is_asleep.mean(), low, high)


@parameterized.parameters(*_NAMES)
class PlaceTest(_Case):
  def test_everybody_stands_where_the_task_says(self, name):
    worlds = _worlds(name, 99)
    phi = _tasks(worlds.task, 99)
    shifted = phi + np.random.default_rng(0).uniform(-0.49, 0.49, phi.shape)
    worlds.place(shifted, 7)
    np.testing.assert_array_equal(worlds.read_task(), phi)
    state = worlds.state
    corner = state.position[..., :2]
    jitter = corner - 0.2 * np.floor(corner / 0.2 + 1e-9)
    self.assertBetween(jitter.min(), 0.0, 0.005)
    self.assertBetween(jitter.max(), 0.095, 0.1)
    np.testing.assert_allclose(jitter.mean((0, 1)), 0.05, atol=0.006)
    np.testing.assert_array_equal(state.position[..., 2:], 0.0)
    np.testing.assert_array_equal(state.velocity, 0.0)
    num_agents = worlds.task.cast.num_agents
    np.testing.assert_array_equal(state.birthplace, corner[:, :num_agents])
    self.assertEqual(state.step, 0)
    self.assertFalse(np.any(state.is_locked))
    np.testing.assert_array_equal(state.held, mechanics.NOTHING)

  def test_nobody_touches_anybody(self, name):
    """But for arms, which reach 3 cm beyond the square of their agent."""
    worlds = _worlds(name, 60)
    worlds.place(_tasks(worlds.task, 60), 0)
    model = worlds.physics.model
    is_arm = model.geom_size[:, 0] == 0.05
    is_arm &= model.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE
    is_floor = model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
    for world in range(60):
      data = worlds.physics.get_data(world)
      mujoco.mj_forward(model, data)
      for contact in data.contact:
        if not is_floor[contact.geom].any():
          self.assertTrue(is_arm[contact.geom].any())
          self.assertGreater(contact.dist, -0.0301)

  def test_a_new_episode_forgets_the_last_one(self, name):
    """Even what MuJoCo's solver would have begun from."""
    used, fresh = _worlds(name, 20), _worlds(name, 20)
    _play(used, 25, seed=1)
    self.assert_same(_play(used, 12), _play(fresh, 12))

  def test_poses_in_closed_form_are_those_of_mujoco(self, name):
    worlds = _worlds(name, 8)
    _play(worlds, 12)
    cast, state = worlds.task.cast, worlds.state
    half_sizes, aims = cast.half_sizes(), cast.aims()
    centre = mechanics.centres(state.position, half_sizes)
    aim = centre + mechanics.turned(aims, state.position[..., 3])
    for world in range(8):
      model, data = worlds.physics.model, worlds.physics.get_data(world)
      mujoco.mj_forward(model, data)
      for index in range(cast.num_entities):
        body = model.body(entities.entity_name(index)).id
        np.testing.assert_allclose(
          data.xpos[body], centre[world, index], atol=1e-12
        )
        np.testing.assert_allclose(
          data.geom_xpos[model.body_geomadr[body]], aim[world, index], atol=1e-9
        )
        axes = mechanics.turned(np.eye(3), state.position[world, index, 3])
        np.testing.assert_allclose(
          data.xmat[body].reshape(3, 3).T, axes, atol=1e-12
        )


@parameterized.parameters(*_NAMES)
class StepTest(_Case):
  def test_seeds_and_actions_decide_whatever_the_threads(self, name):
    played = _play(_worlds(name, 30, threads=1), 30)
    self.assert_same(played, _play(_worlds(name, 30, threads=3), 30))
    held = np.array([state.held for state, _ in played])
    self.assertTrue(np.any(held != mechanics.NOTHING))
    self.assertTrue(any(state.is_locked.any() for state, _ in played))

  def test_another_seed_is_another_episode(self, name):
    worlds = _worlds(name, 3)
    [(one, _)], [(other, _)] = _play(worlds, 1), _play(worlds, 1, place_seed=1)
    differs = one.position[..., :2] != other.position[..., :2]
    self.assertTrue(np.all(differs))

  def test_a_world_is_the_same_alone_and_in_company(self, name):
    many = _play(_worlds(name, 40), 25)
    for num in (1, 5):
      self.assert_same(many, _play(_worlds(name, num), 25), slice(num))

  def test_two_groups_can_take_turns(self, name):
    one, other = _worlds(name, 6), _worlds(name, 9)
    alone = _play(one, 10), _play(other, 10, seed=2)
    one.place(_tasks(one.task, 6), 0)
    other.place(_tasks(other.task, 9, 2), 0)
    turns = [], []
    for step in range(10):
      for worlds, seed, found in ((one, 0, turns[0]), (other, 200, turns[1])):
        actions = _actions(worlds.task, worlds.num_worlds, seed + step)
        outcome = worlds.step(actions)
        found.append((worlds.state, outcome))
    self.assert_same(alone[0], turns[0])
    self.assert_same(alone[1], turns[1])

  def test_nobody_leaves_the_floor(self, name):
    worlds = _worlds(name, 40)
    side = worlds.task.arena.side
    for state, outcome in _play(worlds, worlds.task.horizon):
      self.assertBetween(state.position[..., :2].min(), 0.1, side)
      self.assertLess(state.position[..., :2].max(), side - 0.35)
      self.assertBetween(state.position[..., 2].min(), -0.05, 0.0)
      self.assertBetween(outcome.progress.min(), 0.0, 1.0)
    self.assertEqual(worlds.num_unstable, 0)
    self.assertEqual(state.step, worlds.task.horizon)

  def test_outputs_are_those_of_the_legend(self, name):
    worlds = _worlds(name, 5)
    task, agents = worlds.task, len(worlds.task.actors)
    [(_, outcome)] = _play(worlds, 1)
    self.assertEqual(outcome.reward.shape, (5, agents))
    self.assertEqual(outcome.reward.dtype, np.float32)
    self.assertEqual(outcome.progress.shape, (5,))
    self.assertEqual(outcome.progress.dtype, np.float32)
    self.assertEqual(outcome.is_success.shape, (5,))
    self.assertEqual(outcome.is_success.dtype, bool)
    seen = worlds.observe()
    self.assertSameElements(['own', *seen.entities], task.features)
    self.assertEmpty(seen.masks)
    has_secret = task.critic_only_position is not None
    for own in (seen.own, seen.critic_own) if has_secret else (seen.own,):
      self.assertEqual(own.dtype, np.float32)
      self.assertEqual(own.shape, (5, agents, len(task.features['own'])))
    for kind, tokens in seen.entities.items():
      self.assertEqual(tokens.dtype, np.float32)
      self.assertEqual(tokens.shape[:2], (5, agents))
      self.assertLen(task.features[kind], tokens.shape[-1])

  def test_what_was_returned_does_not_change_later(self, name):
    worlds = _worlds(name, 4)
    [(state, outcome)] = _play(worlds, 1)
    seen = worlds.observe()
    kept = [*outcome, seen.own, *seen.entities.values(), state.position]
    kept.append(np.asarray(seen.critic_own))
    copies = [x.copy() for x in kept]
    _go_on(worlds, 3)
    for x, copy in zip(kept, copies, strict=True):
      np.testing.assert_array_equal(x, copy)


class UnstableTest(_Case):
  def setUp(self):
    super().setUp()
    # MuJoCo writes down its warnings wherever it is.
    self.enter_context(contextlib.chdir(self.create_tempdir().full_path))

  @parameterized.product(name=_NAMES, speed=(np.nan, 1e12, 1e5))
  def test_a_broken_world_begins_anew_and_the_others_go_on(self, name, speed):
    calm, broken = _worlds(name, 6), _worlds(name, 6)
    for worlds in (calm, broken):
      _play(worlds, 5)
    broken.physics.bind('qvel')[2, 0] = speed
    quiet, loud = _go_on(calm, 1, 3), _go_on(broken, 1, 3)
    self.assertEqual(broken.num_unstable, 1)
    self.assertEqual(calm.num_unstable, 0)
    state = loud[0][0]
    phi = _tasks(broken.task, 6)
    np.testing.assert_array_equal(broken.read_task()[2], phi[2])
    np.testing.assert_array_equal(state.velocity[2], 0.0)
    self.assertFalse(np.any(state.is_locked[2]))
    np.testing.assert_array_equal(state.held[2], mechanics.NOTHING)
    self.assertEqual(state.step, 6)
    others = [0, 1, 3, 4, 5]
    quiet += _go_on(calm, 6, 4)
    loud += _go_on(broken, 6, 4)
    for one, other in zip(quiet, loud, strict=True):
      np.testing.assert_array_equal(
        one[0].position[others], other[0].position[others]
      )
    self.assertEqual(broken.num_unstable, 1)
    self.assertTrue(np.all(np.isfinite(broken.observe().own)))

  def test_a_crowd_at_full_force_does_not_break_its_world(self):
    """It did with sparse Jacobians, MuJoCo's choice for so many joints."""
    task = hide_and_seek.load('lock_and_return', num_agents=8, num_boxes=8)
    worlds = environment.HideAndSeekWorlds(task, 40)
    rng = np.random.default_rng(0)
    worlds.place(task.sample_easy(40, rng), 0)
    motors = rng.integers(0, 2, [40, 8, 3])
    for _ in range(40):
      motors = np.where(rng.random(motors.shape) < 0.1, 1 - motors, motors)
      flags = rng.random([40, 8, 2]) < 0.9
      worlds.step(np.concatenate([10 * motors, flags], -1))
    self.assertEqual(worlds.num_unstable, 0)

  def test_who_is_thrown_out_breaks_its_world(self):
    worlds = _worlds('lock_and_return', 4)
    _play(worlds, 2)
    worlds.physics.bind('qpos').reshape(4, 4, 4)[3, 1, :2] = 14.0, 5.0
    _go_on(worlds, 1)
    self.assertEqual(worlds.num_unstable, 1)
    np.testing.assert_array_equal(
      worlds.read_task()[3], _tasks(worlds.task, 4)[3]
    )

  def test_it_stands_elsewhere_in_its_cells(self):
    worlds = _worlds('ramp_use', 3)
    _play(worlds, 2)
    first = worlds.state.birthplace
    worlds.physics.bind('qvel')[1, 0] = np.nan
    _go_on(worlds, 1)
    again = worlds.state.birthplace
    np.testing.assert_array_equal(first[[0, 2]], again[[0, 2]])
    self.assertTrue(np.all(first[1] != again[1]))


class ErrorTest(_Case):
  @parameterized.parameters(
    (0, 1, 'num_worlds=0; allowed: 1 or more'),
    (1, -2, 'threads=-2; allowed: 0 or more'),
  )
  def test_impossible_numbers(self, num_worlds, threads, message):
    with self.assertRaisesRegex(ValueError, message):
      _worlds('ramp_use', num_worlds, threads)

  def test_tasks_come_first(self):
    with self.assertRaisesRegex(ValueError, 'step was called before place'):
      _worlds('ramp_use', 1).step(np.zeros([1, 1, 5], int))

  def test_illegal_tasks(self):
    worlds = _worlds('ramp_use', 2)
    with self.assertRaisesRegex(ValueError, 'ramp stands on seeker'):
      worlds.place(np.array([[3, 3, 9, 9], [3, 3, 4, 4]]), 0)
    with self.assertRaisesRegex(ValueError, r'\[3, 4\]; allowed: \[2, 4\]'):
      worlds.place(np.tile([3, 3, 9, 9], [3, 1]), 0)

  @parameterized.parameters(
    (np.zeros([2, 1, 5]), r'float64 of shape \[2, 1, 5\]; allowed: integers'),
    (np.zeros([2, 5], int), r'int64 of shape \[2, 5\]; allowed: .*\[2, 1, 5\]'),
    (np.full([2, 1, 5], 2), r'to \[2, 2, 2, 2, 2\]; allowed: .*10, 1, 1\]'),
    (np.full([2, 1, 5], -1), r'from \[-1, -1, .*; allowed: 0 to \[10, 10'),
  )
  def test_illegal_actions(self, actions, message):
    worlds = _worlds('ramp_use', 2)
    worlds.place(np.tile([3, 3, 9, 9], [2, 1]), 0)
    with self.assertRaisesRegex(ValueError, message) as caught:
      worlds.step(actions)
    self.assertNotIn('\n', str(caught.exception))


if __name__ == '__main__':
  absltest.main()
