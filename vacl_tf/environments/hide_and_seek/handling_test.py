# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests of seeing, grabbing and locking in the worlds themselves.

By an oracle that plays one world at a time with rules of its own, and by
numbers that were worked out by hand.
"""

import collections

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments import hide_and_seek
from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.testing import hide_and_seek_oracle as oracle_lib

_TASKS = (
  ('2x2', 'lock_and_return', {}),
  ('4x4', 'lock_and_return', {'num_agents': 4, 'num_boxes': 4}),
  ('ramp_use', 'ramp_use', {}),
)
_X, _Y, _Z, _YAW = range(4)
_STILL, _FULL, _BACK = 5, 10, 0  # Bins.
_NOTHING = mechanics.NOTHING


def _random_actions(rng, num_worlds, num_agents):
  """Returns actions that lock and pull more often than not."""
  shape = [num_worlds, num_agents]
  motors = rng.integers(0, 11, [*shape, 3])
  flags = rng.random([*shape, 2]) < 0.8
  return np.concatenate([motors, flags], -1)


class OracleTest(parameterized.TestCase):
  @parameterized.named_parameters(*_TASKS)
  def test_every_step_is_as_the_rules_say(self, name, options):
    """The oracle goes on from the world's own state after each step."""
    task = hide_and_seek.load(name, **options)
    num_worlds, cast = 8, task.cast
    worlds = environment.HideAndSeekWorlds(task, num_worlds)
    rng = np.random.default_rng(0)
    worlds.place(task.sample_easy(num_worlds, rng), 0)
    oracles = [
      oracle_lib.World(
        worlds.physics.model, task.teams, task.must_see_to_lock, task.reach
      )
      for _ in range(num_worlds)
    ]
    if name == 'ramp_use':  # In the room with hider and box, two of them.
      worlds.physics.bind('qpos')[:2, 4:6] = 4.0, 2.4
    events = collections.Counter()
    for _ in range(25):
      self._synchronise(worlds, oracles)
      actions = _random_actions(rng, num_worlds, len(task.actors))
      before = worlds.state
      worlds.step(actions)
      state = worlds.state
      for world, oracle in enumerate(oracles):
        everybody = np.tile(mechanics.NO_OP, [cast.num_agents, 1])
        everybody[list(task.actors)] = actions[world]
        oracle.step(everybody)
        held = [_NOTHING if x is None else x for x in oracle.held]
        np.testing.assert_array_equal(state.held[world], held)
        np.testing.assert_array_equal(state.is_locked[world], oracle.is_locked)
        for thing, locker in enumerate(state.locker[world]):
          self.assertIn(locker, oracle.lockers[thing])
          oracle.locker[thing] = int(locker)
        np.testing.assert_allclose(
          state.position[world].ravel(), oracle.data.qpos, atol=1e-7
        )
        np.testing.assert_allclose(
          state.velocity[world].ravel(), oracle.data.qvel, atol=1e-5
        )
        for (agent, target), is_seen in zip(
          task.looks, state.is_seen[world], strict=True
        ):
          self.assertEqual(oracle.sees(agent, target), is_seen)
          events['seen' if is_seen else 'hidden'] += 1
      self._count(events, before, state)
    wanted = ['grabbed', 'released', 'locked', 'unlocked']
    wanted += ['seen', 'hidden'] if task.looks else []
    for event in wanted:
      self.assertGreaterEqual(events[event], 3, (event, events))

  def _synchronise(self, worlds, oracles):
    """Who sleeps, and who is about to, is not in the state, but in the data."""
    for world, oracle in enumerate(oracles):
      worlds.physics.get_data(world, oracle.data)

  def _count(self, events, before, after):
    has_changed = before.held != after.held
    events['grabbed'] += (has_changed & (after.held != _NOTHING)).sum()
    events['released'] += (has_changed & (before.held != _NOTHING)).sum()
    events['locked'] += (after.is_locked & ~before.is_locked).sum()
    events['unlocked'] += (before.is_locked & ~after.is_locked).sum()

  def test_sight_in_heaps_of_things(self):
    """Many random states: who sees the hider, past box, ramp and walls."""
    task = hide_and_seek.load('ramp_use')
    num_worlds = 300
    worlds = environment.HideAndSeekWorlds(task, num_worlds)
    rng = np.random.default_rng(0)
    worlds.place(task.sample_uniform(num_worlds, rng), 0)
    position = worlds.physics.bind('qpos').reshape(num_worlds, 4, 4)
    position[:, 1, :2] = rng.uniform(0.2, 5.6, [num_worlds, 2])
    position[:, 1, _Z] = rng.uniform(0, 1.5, num_worlds)
    position[:, 1:, _YAW] = rng.uniform(-4, 4, [num_worlds, 3])
    position[:100, 3, :2] = rng.uniform(2, 5, [100, 2])
    outcome = worlds.step(np.tile(mechanics.NO_OP, [num_worlds, 1, 1]))
    oracle = oracle_lib.World(worlds.physics.model, task.teams, False)
    want = []
    for row in worlds.physics.bind('qpos'):
      oracle.data.qpos[:] = row
      want.append(oracle.sees(1, 0))
    np.testing.assert_array_equal(outcome.is_success, want)
    self.assertBetween(np.mean(want), 0.1, 0.5)


class _Pair:
  """Lock-and-Return: agents 0 and 1, box 0 in front of agent 0, box 1 far."""

  def __init__(self, gap=0.05, num_worlds=1):
    self.worlds = environment.HideAndSeekWorlds(
      hide_and_seek.load('lock_and_return'), num_worlds
    )
    phi = np.tile([35, 20, 50, 5, 5, 50, 50, 50], [num_worlds, 1])
    self.worlds.place(phi, 0)
    self.position = self.worlds.physics.bind('qpos').reshape(num_worlds, 4, 4)
    self.position[:, 0, :2] = 7.0, 5.0
    # Faces south, towards the box.
    self.position[:, 2, :2] = 6.9, 4.5 - gap

  def step(self, *actions, num=1):
    """Plays steps with actions of both agents; returns the last state."""
    for _ in range(num):
      self.worlds.step(np.broadcast_to(actions, [len(self.position), 2, 5]))
    return self.worlds.state

  def pose(self):
    """Returns x, y, z of box 0 in the frame of agent 0."""
    agent, box = self.position[0, 0], self.position[0, 2]
    away = box[:3] + 0.25 - agent[:3] - 0.15
    return mechanics.turned(away, -agent[_YAW])

  def yaw(self):
    """Returns that of box 0 in the frame of agent 0."""
    return self.position[0, 2, _YAW] - self.position[0, 0, _YAW]


def _action(x=_STILL, y=_STILL, yaw=_STILL, lock=0, pull=0):
  return (x, y, yaw, lock, pull)


_IDLE = _action()


class GrabTest(parameterized.TestCase):
  """Poses are kept so well where nothing but the pull touches the box."""

  @parameterized.parameters((_BACK,), (_FULL,))
  def test_the_relative_pose_stays_in_a_straight_line(self, y):
    pair = _Pair()
    begin, place = pair.pose(), pair.position[0, 2].copy()
    for _ in range(9):  # Before there is a wall.
      state = pair.step(_action(y=y, pull=1), _IDLE)
      self.assertEqual(state.held[0, 0], 0)
      self.assertLess(np.linalg.norm(pair.pose() - begin), 3e-3)
    self.assertGreater(np.abs(pair.position[0, 2] - place).max(), 2.0)

  @parameterized.named_parameters(
    ('sideways', _action(x=_FULL, pull=1)),
    ('turn', _action(yaw=_FULL, pull=1)),
    ('little_turn', _action(yaw=_STILL + 1, pull=1)),
    ('all', _action(x=_BACK, y=_FULL, yaw=_BACK, pull=1)),
  )
  def test_the_relative_pose_stays_when_turning(self, action):
    pair = _Pair()
    begin, yaw = pair.pose(), pair.position[0, 2, _YAW]
    for _ in range(11):
      state = pair.step(action, _IDLE)
      self.assertEqual(state.held[0, 0], 0)
      self.assertLess(np.linalg.norm(pair.pose() - begin), 3e-3)
    self.assertGreater(abs(pair.position[0, 2, _YAW] - yaw), 0.3)

  @parameterized.parameters(1, 2, 4)
  def test_the_relative_pose_stays_under_any_command(self, num_repeats):
    rng = np.random.default_rng(0)
    for _ in range(20):
      pair = _Pair()
      begin, yaw = pair.pose(), pair.yaw()
      for step in range(9):
        if step % num_repeats == 0:
          motors = rng.integers(0, 11, 3)
          if rng.integers(2):
            motors = rng.choice([_BACK, _FULL], 3)
        state = pair.step(_action(*motors, pull=1), _IDLE)
        self.assertEqual(state.held[0, 0], 0)
        self.assertLess(np.linalg.norm(pair.pose() - begin), 3e-3)
        self.assertLess(abs(pair.yaw() - yaw), 0.01)

  def test_there_is_no_jump_at_the_onset(self):
    pair = _Pair()
    pair.position[0, 2, _YAW] = 0.3  # Within reach all the same.
    begin = pair.position.copy()
    state = pair.step(_action(pull=1), _IDLE, num=10)
    self.assertEqual(state.held[0, 0], 0)
    np.testing.assert_allclose(pair.position, begin, atol=1e-3)

  @parameterized.named_parameters(
    ('pulled', _action(y=_FULL, pull=1)), ('pushed', _action(y=_BACK))
  )
  def test_a_box_at_rest_is_asleep_until_it_is(self, action):
    """Bodies are world, walls, agents and boxes, in this order."""
    pair = _Pair()
    is_awake = pair.worlds.physics.bind('body_awake')[0, -2:]
    pair.step(_IDLE, _IDLE, num=10)
    np.testing.assert_array_equal(is_awake, [0, 0])
    before = pair.position[0, 2:, _Y].copy()
    pair.step(action, _IDLE, num=5)
    np.testing.assert_array_equal(is_awake, [1, 0])
    moved = np.abs(pair.position[0, 2:, _Y] - before)
    self.assertGreater(moved[0], 1.0)
    self.assertEqual(moved[1], 0.0)

  def test_who_does_not_pull_only_pushes(self):
    pair = _Pair()
    state = pair.step(_action(y=_FULL), _IDLE, num=5)
    self.assertEqual(state.held[0, 0], _NOTHING)
    self.assertGreater(-pair.pose()[1], 1.0)

  @parameterized.parameters((0.099, 0), (0.101, _NOTHING))
  def test_reach(self, gap, held):
    """0.25 m from the centre, 0.10 from an agent's round."""
    pair = _Pair(gap)
    self.assertEqual(pair.step(_action(pull=1), _IDLE).held[0, 0], held)

  def _holding(self):
    pair = _Pair()
    self.assertEqual(pair.step(_action(pull=1), _IDLE).held[0, 0], 0)
    return pair

  def test_released_without_the_flag(self):
    pair = self._holding()
    self.assertEqual(pair.step(_action(pull=0), _IDLE).held[0, 0], _NOTHING)
    pair.step(_action(y=_FULL), _IDLE, num=5)
    self.assertGreater(-pair.pose()[1], 1.0)

  def test_released_on_looking_away(self):
    pair = self._holding()
    pair.position[0, 0, _YAW] = np.radians(70)
    state = pair.step(_action(pull=1), _IDLE)
    self.assertEqual(state.held[0, 0], _NOTHING)
    pair.position[0, 0, _YAW] = np.radians(65)
    self.assertEqual(pair.step(_action(pull=1), _IDLE).held[0, 0], 0)

  def test_released_at_a_distance(self):
    pair = self._holding()
    pair.position[0, 0, _Y] += 0.06
    state = pair.step(_action(pull=1), _IDLE)
    self.assertEqual(state.held[0, 0], _NOTHING)

  def test_a_new_grab_has_a_new_pose(self):
    pair = self._holding()
    pair.step(_IDLE, _IDLE)
    pair.position[0, 0, _X] += 0.1
    begin = pair.pose()
    pair.step(_action(pull=1), _IDLE, num=5)
    np.testing.assert_allclose(pair.pose(), begin, atol=1e-3)

  def test_the_nearest_box_is_taken_and_kept_while_it_is(self):
    pair = _Pair(gap=0.08)
    pair.position[0, 0, :2] = 7.0, 5.0
    # The second one to the west, in view, a little nearer.
    pair.position[0, 3, :2] = 7.0 - 0.5 - 0.05, 4.65
    self.assertEqual(pair.step(_action(pull=1), _IDLE).held[0, 0], 1)
    pair.position[0, 3, _X] -= 0.06
    self.assertEqual(pair.step(_action(pull=1), _IDLE).held[0, 0], 0)

  def test_two_can_hold_one_box(self):
    pair = _Pair()
    pair.position[0, 1] = 7.0, 4.5 - 0.05 - 0.05 - 0.3, 0.0, np.pi
    state = pair.step(_action(pull=1), _action(pull=1))
    np.testing.assert_array_equal(state.held[0], [0, 0])

  def test_what_stands_between_blocks_the_sight(self):
    """The other agent's round in front of the box."""
    pair = _Pair(gap=0.09)
    pair.position[0, 0, :2] = 7.0, 5.0
    self.assertEqual(pair.step(_action(pull=1), _IDLE).held[0, 0], 0)
    pair.step(_IDLE, _IDLE)
    # Into each other, as no force could put them.
    pair.position[0, 1, :2] = 7.0, 4.85
    state = pair.step(_action(pull=1), _IDLE)
    self.assertEqual(state.held[0, 0], _NOTHING)


class LockTest(parameterized.TestCase):
  def test_a_locked_box_gives_less_than_three_millimetres(self):
    """Pushed with 90 N, without a run-up; one that is open goes away."""
    for lock, bounds in ((1, (1.5e-3, 3e-3)), (0, (1.0, 20.0))):
      pair = _Pair(gap=0.0)
      begin, gave = pair.position[0, 2].copy(), []
      for _ in range(15):
        pair.step(_action(y=_BACK, lock=lock), _IDLE)
        gave.append(np.abs(pair.position[0, 2] - begin).max())
      self.assertBetween(max(gave), *bounds)
      if lock:
        self.assertAlmostEqual(gave[-1], 1.8e-3, delta=1e-4)

  def test_a_locked_box_does_not_creep(self):
    pair = _Pair()
    pair.step(_action(y=_BACK, lock=1), _IDLE, num=10)
    early = pair.position[0, 2].copy()
    pair.step(_action(y=_BACK, lock=1), _IDLE, num=50)
    np.testing.assert_allclose(pair.position[0, 2], early, atol=1e-3)

  def test_it_stays_locked_when_nobody_is_near(self):
    pair = _Pair()
    pair.step(_action(lock=1), _IDLE)
    pair.position[0, 0, _Y] += 2.0
    state = pair.step(_IDLE, _IDLE, num=3)
    np.testing.assert_array_equal(state.is_locked[0], [True, False])
    self.assertEqual(state.locker[0, 0], 0)

  def test_who_locked_it_can_open_it(self):
    pair = _Pair()
    pair.step(_action(lock=1), _IDLE)
    self.assertFalse(pair.step(_IDLE, _IDLE).is_locked[0, 0])
    pair.step(_action(y=_BACK), _IDLE, num=10)
    self.assertLess(pair.position[0, 2, _Y], 4.0)

  @parameterized.parameters((np.pi, 0, False), (np.pi, 1, True), (0.0, 0, True))
  def test_a_second_agent_in_reach_that_sees_must_want_it_too(
    self, yaw, lock, is_locked
  ):
    """It stands south of the box; with yaw 0 it looks away."""
    pair = _Pair()
    self.assertTrue(pair.step(_action(lock=1), _IDLE).is_locked[0, 0])
    pair.position[0, 1] = 7.0, 4.5 - 0.05 - 0.05 - 0.3, 0.0, yaw
    state = pair.step(_action(lock=1), _action(lock=lock))
    self.assertEqual(state.is_locked[0, 0], is_locked)

  @parameterized.parameters((0.0, True), (np.pi, False))
  def test_locking_takes_sight(self, yaw, is_locked):
    pair = _Pair()
    pair.position[0, 0, _YAW] = yaw
    state = pair.step(_action(lock=1), _IDLE)
    self.assertEqual(state.is_locked[0, 0], is_locked)

  def test_of_two_lockers_either_is_noted(self):
    pair = _Pair(num_worlds=200)
    pair.position[:, 1] = 7.0, 4.5 - 0.05 - 0.05 - 0.3, 0.0, np.pi
    state = pair.step(_action(lock=1), _action(lock=1))
    self.assertTrue(np.all(state.is_locked[:, 0]))
    self.assertBetween(state.locker[:, 0].mean(), 0.35, 0.65)

  @parameterized.parameters(
    ({'x': _FULL, 'y': _FULL}, 0.02, 0.03), ({'yaw': _FULL}, 0.035, 0.07)
  )
  def test_who_holds_a_locked_box_is_tied_to_it(self, motors, place, yaw):
    pair = _Pair()
    pair.step(_action(lock=1, pull=1), _IDLE)
    begin = pair.position[0, 0].copy()
    pair.step(_action(**motors, lock=1, pull=1), _IDLE, num=10)
    moved = np.abs(pair.position[0, 0] - begin)
    self.assertLess(moved[:_YAW].max(), place)
    self.assertLess(moved[_YAW], yaw)
    pair.step(_action(x=_FULL, y=_FULL, lock=1), _IDLE, num=10)
    self.assertGreater(pair.position[0, 0, _X] - begin[_X], 2.0)


if __name__ == '__main__':
  absltest.main()
