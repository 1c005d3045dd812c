# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for ramp_use."""

import math

import mujoco
import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments.hide_and_seek import arena
from vacl_tf.environments.hide_and_seek import entities
from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.environments.hide_and_seek import ramp_use

_HIDER, _SEEKER, _BOX, _RAMP = range(4)
_STILL = 5
_NO_OP = mechanics.NO_OP


def _worlds(num_worlds, **options):
  task = ramp_use.RampUse(**options)
  worlds = environment.HideAndSeekWorlds(task, num_worlds)
  phi = task.sample_uniform(num_worlds, np.random.default_rng(0))
  worlds.place(phi, 0)
  shape = [num_worlds, task.cast.num_entities, 4]
  return worlds, worlds.physics.bind('qpos').reshape(shape)


def _step(worlds, action=_NO_OP):
  return worlds.step(np.tile(action, [worlds.num_worlds, 1, 1]))


def _on_cells(*cells):
  """Returns corners in the middle of what cells leave room for."""
  return 0.2 * np.array(cells) + 0.05


def _peak_within_step(worlds, action):
  """Plays a step; returns how high the seeker's centre was in substeps."""
  model = worlds.physics.model
  data = mujoco.MjData(model)
  worlds.physics.get_data(0, data)
  outcome = _step(worlds, action)
  data.ctrl[:] = worlds.physics.bind('ctrl')[0]
  height = data.qpos.reshape(-1, 4)[_SEEKER, 2:3]
  peak = height[0]
  for _ in range(arena.NUM_SUBSTEPS):
    mujoco.mj_step(model, data)
    peak = max(peak, height[0])
  end = worlds.physics.bind('qpos')[0]
  np.testing.assert_allclose(data.qpos, end, rtol=0, atol=1e-9)
  return peak + 0.15, outcome


class ClimbTest(parameterized.TestCase):
  @parameterized.parameters(
    (3, -0.36, None), (2, -0.54, 14), (1, -0.72, 5), (0, -0.9, 4)
  )
  def test_first_sight_from_the_easy_start(self, bin, force, steps):
    """The ramp against the upper wall of the room, the seeker at its foot."""
    self.assertAlmostEqual(mechanics.FORCES[bin], force)
    worlds, position = _worlds(1)
    for column in (20, 22):
      worlds.place(np.array([[column, 19, column, 16]]), 0)
      position[0, :, :2] = _on_cells(
        (22, 5), (column, 19), (16, 1), (column, 16)
      )
      heights, first = [], None
      for step in range(1, 31):
        peak, outcome = _peak_within_step(worlds, (_STILL, bin, _STILL, 0, 0))
        if outcome.is_success[0]:
          first = first or step
        heights.append(peak)
      self.assertEqual(first, steps)
      if steps:
        self.assertBetween(max(heights), 0.65, 0.71)
        # It ends on the floor of the room.
        self.assertLess(position[0, _SEEKER, 1], 3.0)
        self.assertAlmostEqual(heights[-1], 0.15, delta=0.01)
      else:
        self.assertLess(max(heights), 0.25)
        self.assertGreater(position[0, _SEEKER, 1], 3.1)

  def test_one_can_stand_on_a_wall(self):
    worlds, position = _worlds(1)
    for x, y in ((3.1, 1.5), (4.5, 3.1)):
      position[0, _SEEKER] = x - 0.15, y - 0.15, 0.55, 0.0
      for _ in range(8):
        _step(worlds)
      self.assertAlmostEqual(position[0, _SEEKER, 2] + 0.15, 0.65, delta=0.005)


class GrabTest(absltest.TestCase):
  def test_the_ramp_keeps_its_pose_under_any_command(self):
    """Far from walls, and not touched but by the seeker's pull."""
    worlds, position = _worlds(1)
    rng = np.random.default_rng(0)

    def pose():
      seeker, thing = position[0, _SEEKER], position[0, _RAMP]
      away = thing[:3] + 0.25 - seeker[:3] - 0.15
      return mechanics.turned(away, -seeker[3]), thing[3] - seeker[3]

    for _ in range(30):
      worlds.place(np.array([[8, 22, 8, 19]]), 0)
      position[0, :, :2] = _on_cells((22, 2), (8, 22), (22, 10), (8, 19))
      position[0, _SEEKER, :2] = position[0, _RAMP, :2] + [0.1, 0.55]
      place, yaw = pose()
      for _ in range(4):
        motors = rng.choice([0, 10] if rng.integers(2) else range(11), 3)
        _step(worlds, (*motors, 0, 1))
        self.assertEqual(worlds.state.held[0, _SEEKER], 1)
        self.assertLess(np.linalg.norm(pose()[0] - place), 3e-3)
        self.assertLess(abs(pose()[1] - yaw), 0.01)


class SightTest(absltest.TestCase):
  def _seen(self, height, room=True):
    """Returns the share of seekers above the room that see the hider."""
    worlds, position = _worlds(150)
    if not room:
      task = ramp_use.RampUse()
      task.arena = arena.Arena(30, (), task.arena.wall_friction)
      worlds = environment.HideAndSeekWorlds(task, 150)
      phi = task.sample_uniform(150, np.random.default_rng(0))
      worlds.place(phi, 0)
      position = worlds.physics.bind('qpos').reshape(position.shape)
    rng = np.random.default_rng(1)
    position[:, _SEEKER, 0] = rng.uniform(3.4, 5.4, 150)
    position[:, _SEEKER, 1] = rng.uniform(3.3, 5.4, 150)
    position[:, _SEEKER, 2] = height
    position[:, _RAMP, :2] = 0.5
    return _step(worlds).progress.mean()

  def test_nobody_on_the_floor_sees_over_a_wall(self):
    self.assertEqual(self._seen(height=0.0), 0.0)

  def test_without_the_wall_most_see_the_hider(self):
    self.assertGreater(self._seen(height=0.0, room=False), 0.5)

  def test_from_above_the_wall_most_see_the_hider(self):
    self.assertGreater(self._seen(height=1.2), 0.5)

  def test_from_left_of_the_room_the_wall_blocks_too(self):
    worlds, position = _worlds(100)
    rng = np.random.default_rng(1)
    position[:, _SEEKER, :2] = rng.uniform(0.2, 2.7, [100, 2])
    position[:, _RAMP, :2] = 0.5, 5.0
    position[:, _SEEKER, 3] = math.pi / 2  # Faces east.
    self.assertFalse(np.any(_step(worlds).is_success))

  def test_in_the_room_it_depends_on_the_way_one_faces(self):
    worlds, position = _worlds(1)
    position[0, :, :2] = _on_cells((22, 2), (22, 10), (17, 6), (3, 3))
    for yaw, is_seen in ((0.0, True), (1.1, True), (1.25, False), (3.1, False)):
      position[0, _SEEKER, 3] = yaw
      self.assertEqual(_step(worlds).is_success[0], is_seen)

  def test_captions_tell_whether_the_hider_is_seen(self):
    worlds, position = _worlds(2)
    position[..., :2] = _on_cells((22, 2), (22, 10), (17, 6), (3, 3))
    position[1, _SEEKER, 3] = math.pi  # Faces north.
    _step(worlds)
    self.assertEqual(
      worlds.task.captions(worlds.state),
      ['the hider is seen', 'the hider is not seen'],
    )

  def test_a_box_between_hides_the_hider(self):
    worlds, position = _worlds(1)
    position[0, :, :2] = _on_cells((22, 2), (22, 10), (22, 6), (3, 3))
    self.assertFalse(_step(worlds).is_success[0])
    position[0, _BOX, 0] -= 0.8
    self.assertTrue(_step(worlds).is_success[0])


class LockTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.worlds, self.position = _worlds(1)
    # The seeker by the box in the room; hider and ramp are far.
    self.position[0, :, :2] = _on_cells((26, 12), (17, 4), (17, 1), (3, 3))
    self.position[0, _SEEKER, 1] = self.position[0, _BOX, 1] + 0.55

  def _is_locked(self, lock, num=1):
    for _ in range(num):
      _step(self.worlds, (_STILL, _STILL, _STILL, lock, 0))
    return self.worlds.state.is_locked[0, 0]

  def _hider_by_the_box(self):
    self.position[0, _HIDER, :2] = self.position[0, _BOX, :2] + [0.55, 0.1]

  def test_locking_takes_no_sight(self):
    self.position[0, _SEEKER, 3] = math.pi
    self.assertTrue(self._is_locked(1))
    np.testing.assert_array_equal(self.worlds.state.locker[0], [_SEEKER, 0])

  def test_a_hider_in_reach_keeps_an_object_open(self):
    self._hider_by_the_box()
    self.assertFalse(self._is_locked(1, 3))

  def test_but_cannot_open_what_the_seeker_locked(self):
    self.assertTrue(self._is_locked(1))
    self._hider_by_the_box()
    self.assertTrue(self._is_locked(1, 3))
    # Nor does it lock again what the seeker opens.
    self.assertFalse(self._is_locked(0))

  def test_the_seeker_is_the_last_locker_even_of_what_is_open(self):
    self.assertTrue(self._is_locked(1))
    self.assertFalse(self._is_locked(0))
    self._hider_by_the_box()
    self.assertTrue(self._is_locked(1))

  def test_a_locked_ramp_stays_while_it_is_climbed(self):
    worlds, position = _worlds(1)
    for lock in (0, 1):
      worlds.place(np.array([[6, 22, 6, 19]]), 0)  # In the open.
      begin = position[0, _RAMP].copy()
      for _ in range(5):
        _step(worlds, (_STILL, 0, _STILL, lock, 0))
      moved = np.abs(position[0, _RAMP] - begin).max()
      if lock:
        self.assertLess(moved, 0.02)
      else:
        self.assertGreater(moved, 0.3)


class HiderTest(absltest.TestCase):
  def test_it_stands_still_but_can_be_pushed(self):
    worlds, position = _worlds(30)
    begin = position[:, _HIDER].copy()
    for _ in range(10):
      _step(worlds, (10, 10, 10, 1, 1))
    np.testing.assert_allclose(position[:, _HIDER], begin, atol=2e-3)
    is_awake = worlds.physics.bind('body_awake')[:, -4:]
    np.testing.assert_array_equal(is_awake[:, [_HIDER, _SEEKER]], [[0, 1]] * 30)
    position[:, _SEEKER, :2] = position[:, _HIDER, :2] + [0.0, 0.35]
    for _ in range(3):
      _step(worlds, (_STILL, 0, _STILL, 0, 0))
    pushed = begin[:, 1] - position[:, _HIDER, 1]
    self.assertGreater(np.median(pushed), 0.2)

  def test_hider_and_box_are_anywhere_in_their_room_each_time(self):
    worlds, position = _worlds(900)
    cells = np.floor(position[..., :2] / 0.2 + 1e-9)
    for index, low, high in (
      (_HIDER, [16, 1], [26, 11]),
      (_BOX, [16, 1], [25, 10]),
    ):
      np.testing.assert_array_equal(cells[:, index].min(0), low)
      np.testing.assert_array_equal(cells[:, index].max(0), high)
    apart = cells[:, _HIDER] - cells[:, _BOX]
    overlap = np.all((apart > -2) & (apart < 3), 1)
    self.assertFalse(overlap.any())
    before = cells[:, [_HIDER, _BOX]]
    worlds.place(worlds.read_task(), 1)
    again = np.floor(position[:, [_HIDER, _BOX], :2] / 0.2 + 1e-9)
    self.assertLess(np.mean(before == again), 0.2)


class OutcomeTest(parameterized.TestCase):
  @parameterized.parameters(1.0, 0.1)
  def test_reward_is_for_seeing_and_costs_for_not(self, scale):
    worlds, position = _worlds(2, reward_scale=scale)
    position[:, :, :2] = _on_cells((22, 2), (22, 10), (17, 6), (3, 3))
    position[1, _SEEKER, 3] = math.pi
    outcome = _step(worlds)
    np.testing.assert_allclose(outcome.reward, [[scale], [-scale]])
    np.testing.assert_array_equal(outcome.progress, [1.0, 0.0])
    np.testing.assert_array_equal(outcome.is_success, [True, False])

  def test_every_feature_has_its_place(self):
    worlds, position = _worlds(3)
    velocity = worlds.physics.bind('qvel').reshape(position.shape)
    for step in (0, 1):
      seen = worlds.observe()
      for b in range(3):
        own = [*position[b, _SEEKER], *velocity[b, _SEEKER], step / 60, 0, step]
        np.testing.assert_allclose(seen.own[b, 0], own, rtol=1e-6)
        hider = [*position[b, _HIDER], *velocity[b, _HIDER], 1, step]
        np.testing.assert_allclose(
          seen.entities['hiders'][b, 0, 0], hider, rtol=1e-6
        )
        for kind, index in (('boxes', _BOX), ('ramps', _RAMP)):
          *place, yaw = position[b, index]
          token = [*place, math.cos(yaw), math.sin(yaw), *velocity[b, index]]
          np.testing.assert_allclose(
            seen.entities[kind][b, 0, 0], [*token, 0, 0, 0], rtol=1e-6
          )
      _step(worlds, (9, 2, 8, 0, 0))
    sizes = {kind: len(names) for kind, names in worlds.task.features.items()}
    self.assertEqual(sizes, {'own': 11, 'hiders': 10, 'boxes': 12, 'ramps': 12})
    self.assertEqual(sum(sizes.values()), 45)

  def test_actor_and_critic_see_the_same(self):
    worlds, _ = _worlds(2)
    self.assertEqual(worlds.observe().critic_own, ())
    self.assertIsNone(worlds.task.critic_only_position)

  def test_lock_flags(self):
    worlds, position = _worlds(1)
    position[0, :, :2] = _on_cells((26, 12), (17, 5), (20, 1), (3, 3))
    position[0, _SEEKER, :2] = position[0, _RAMP, :2] + [0.1, 0.55]
    _step(worlds, (_STILL, _STILL, _STILL, 1, 0))
    entities = worlds.observe().entities
    np.testing.assert_array_equal(entities['ramps'][0, 0, 0, 9:], [1, 1, 1])
    np.testing.assert_array_equal(entities['boxes'][0, 0, 0, 9:], [0, 0, 0])


class VariantTest(parameterized.TestCase):
  def test_without_a_box(self):
    worlds, position = _worlds(4, has_box=False)
    self.assertEqual(position.shape, (4, 3, 4))
    self.assertSameElements(['own', 'hiders', 'ramps'], worlds.task.features)
    for _ in range(3):
      _step(worlds, (9, 0, 8, 1, 1))
    self.assertSameElements(['hiders', 'ramps'], worlds.observe().entities)

  @parameterized.parameters(
    # Where the seeker stands, seen from the ramp; the slope faces +y.
    (0, 1, True),
    (0, -1, False),
    (1, 0, False),
    (-1, 0, False),
  )
  def test_with_the_short_reach_the_ramp_is_held_at_its_slope_only(
    self, x, y, is_slope
  ):
    side = np.array([x, y])
    for reach, is_reached in ((0.25, True), (0.0625, is_slope)):
      worlds, position = _worlds(8, reach=reach)
      position[:, :, :2] = _on_cells((26, 12), (17, 5), (20, 1), (7, 7))
      gap = np.linspace(0.01, 0.2, 8)[:, None]
      centre = position[:, _RAMP, :2] + 0.25 + (0.25 + 0.15 + gap) * side
      position[:, _SEEKER, :2] = centre - 0.15
      position[:, _SEEKER, 3] = math.atan2(-x, y)  # Looks at the ramp.
      # With 36 N towards the ramp, which does not climb it.
      action = (_STILL - 2 * x, _STILL - 2 * y, _STILL, 1, 1)
      for _ in range(8):
        _step(worlds, action)
      state = worlds.state
      self.assertLess(state.position[:, _SEEKER, 2].max(), 0.03)
      np.testing.assert_array_equal(state.is_locked[:, 1], is_reached)
      held = 1 if is_reached else mechanics.NOTHING
      np.testing.assert_array_equal(state.held[:, _SEEKER], held)

  def test_an_agent_that_touches_the_slope_is_within_the_short_reach(self):
    worlds, position = _worlds(2, reach=0.0625)
    position[:, :, :2] = _on_cells((26, 12), (17, 5), (20, 1), (7, 7))
    # From its centre to the foot of a slope of 45 degrees.
    touching = (2**0.5 - 1.0) * entities.AGENT_RADIUS
    self.assertAlmostEqual(touching, 0.0621, places=4)
    for world, distance in enumerate((touching, 0.0635)):
      offset = [0.25, 0.5 + distance]
      centre = position[world, _RAMP, :2] + offset
      position[world, _SEEKER, :2] = centre - entities.AGENT_RADIUS
    _step(worlds, (_STILL, _STILL, _STILL, 1, 1))
    state = worlds.state
    np.testing.assert_array_equal(state.is_locked[:, 1], [True, False])
    np.testing.assert_array_equal(
      state.held[:, _SEEKER], [1, mechanics.NOTHING]
    )

  @parameterized.parameters('reward_scale', 'reach')
  def test_numbers_must_be_above_zero(self, name):
    with self.assertRaisesRegex(ValueError, f'{name}=0.0; allowed: .*above 0'):
      ramp_use.RampUse(**{name: 0.0})


if __name__ == '__main__':
  absltest.main()
