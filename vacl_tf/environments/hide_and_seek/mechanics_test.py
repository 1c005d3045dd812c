# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for mechanics: array rules against one pair at a time."""

import itertools
import math

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments.hide_and_seek import mechanics


def _rotation(yaw):
  cos, sin = math.cos(yaw), math.sin(yaw)
  return np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])


class ActionTest(absltest.TestCase):
  def test_bins_are_eleven_and_the_middle_one_is_nothing(self):
    want = [-0.9, -0.72, -0.54, -0.36, -0.18, 0, 0.18, 0.36, 0.54, 0.72, 0.9]
    np.testing.assert_allclose(mechanics.FORCES, want, atol=1e-15)
    self.assertEqual(mechanics.FORCES[5], 0.0)
    self.assertEqual(mechanics.HEADS, (11, 11, 11, 2, 2))
    self.assertEqual(mechanics.NO_OP, (5, 5, 5, 0, 0))


class GeometryTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.rng = np.random.default_rng(0)

  def test_turned(self):
    vector = self.rng.normal(size=[50, 3])
    yaw = self.rng.uniform(-20, 20, 50)
    want = [_rotation(a) @ v for a, v in zip(yaw, vector, strict=True)]
    np.testing.assert_allclose(mechanics.turned(vector, yaw), want, atol=1e-14)

  def test_distance_is_that_to_the_nearest_point_of_the_cube(self):
    points = self.rng.uniform(-1, 1, [4, 3, 3])
    middle = self.rng.uniform(-1, 1, [4, 2, 3])
    yaw = self.rng.uniform(-9, 9, [4, 2])
    half = np.array([0.25, 0.4])
    found = mechanics.surface_distances(points, middle, yaw, half)
    shares = np.linspace(-1, 1, 41)
    lattice = np.array(list(itertools.product(shares, repeat=3)))
    for b, n, m in np.ndindex(found.shape):
      cube = middle[b, m] + half[m] * lattice @ _rotation(yaw[b, m]).T
      least = np.linalg.norm(cube - points[b, n], axis=1).min()
      self.assertBetween(found[b, n, m], least - 0.02, least + 1e-9)

  def test_distance_by_hand(self):
    def distance(*point, yaw=0.0):
      return mechanics.surface_distances(
        np.array([[point]]),
        np.zeros([1, 1, 3]),
        np.array([[yaw]]),
        np.array([0.25]),
      ).item()

    self.assertAlmostEqual(distance(0.75, 0.1, 0.0), 0.5)
    self.assertAlmostEqual(distance(0.25 + 0.3, 0.25 + 0.4, 0.1), 0.5)
    self.assertEqual(distance(0.2, -0.2, 0.2), 0.0)
    corner = 0.25 * math.sqrt(2)
    self.assertAlmostEqual(distance(1.0, 0, 0, yaw=math.pi / 4), 1.0 - corner)

  def test_front_is_minus_y_and_two_thirds_of_a_half_turn_wide(self):
    yaw = self.rng.uniform(-20, 20, 3000)
    towards = self.rng.normal(size=[3000, 2])
    want = []
    for a, (x, y) in zip(yaw, towards, strict=True):
      turn = math.atan2(y, x) - (a - math.pi / 2)
      turn = math.degrees(math.remainder(turn, 2 * math.pi))
      want.append(abs(turn) <= 67.5)
    np.testing.assert_array_equal(mechanics.in_front(yaw, towards), want)
    self.assertAlmostEqual(np.mean(want), 135 / 360, delta=0.03)
    zero = np.zeros(1)
    self.assertTrue(mechanics.in_front(zero, np.array([[0.0, -1.0]])))
    self.assertFalse(mechanics.in_front(zero, np.array([[0.0, 1.0]])))
    self.assertTrue(mechanics.in_front(zero + 1.0, np.zeros([1, 3])))

  def test_relative_poses(self):
    agent, thing = self.rng.normal(size=[2, 20, 3])
    yaw, turn = self.rng.uniform(-9, 9, [2, 20])
    position, quaternion = mechanics.relative_poses(agent, yaw, thing, turn)
    for i in range(20):
      frame = _rotation(yaw[i])
      np.testing.assert_allclose(
        agent[i] + frame @ position[i], thing[i], atol=1e-12
      )
      w, x, y, z = quaternion[i]
      self.assertEqual((x, y), (0.0, 0.0))
      relative = _rotation(2 * math.atan2(z, w))
      np.testing.assert_allclose(
        frame @ relative, _rotation(turn[i]), atol=1e-12
      )


class GrabTest(absltest.TestCase):
  def test_the_nearest_that_can_be_grabbed(self):
    rng = np.random.default_rng(0)
    distance = rng.uniform(0, 1, [200, 3, 4])
    can_grab = rng.random([200, 3, 4]) < 0.4
    found = mechanics.choose_grabs(distance, can_grab)
    for b, n in np.ndindex(found.shape):
      options = [(distance[b, n, m], m) for m in range(4) if can_grab[b, n, m]]
      want = min(options)[1] if options else mechanics.NOTHING
      self.assertEqual(found[b, n], want)


class LockTest(parameterized.TestCase):
  def _random(self, num_agents, seed=0):
    rng = np.random.default_rng(seed)
    num, things = 4000, 2
    return dict(
      wants=rng.random([num, num_agents]) < 0.7,
      can_reach=rng.random([num, num_agents, things]) < 0.4,
      is_locked=rng.random([num, things]) < 0.5,
      locker=rng.integers(0, num_agents, [num, things]),
      chance=rng.random([num, things]),
    )

  @parameterized.parameters(((0, 0),), ((0, 1),), ((0, 0, 1, 0),))
  def test_rule_by_rule(self, teams):
    given = self._random(len(teams))
    locked, locker = mechanics.resolve_locks(team=np.array(teams), **given)
    lockings = 0
    for b, m in np.ndindex(locked.shape):
      was_locked, last = given['is_locked'][b, m], given['locker'][b, m]
      near = [n for n in range(len(teams)) if given['can_reach'][b, n, m]]
      wanting = [n for n in near if given['wants'][b, n]]
      opposed = [
        n for n in near if not given['wants'][b, n] and teams[n] == teams[last]
      ]
      if opposed:
        self.assertFalse(locked[b, m])
        self.assertEqual(locker[b, m], last)
      elif wanting:
        self.assertTrue(locked[b, m])
        if was_locked:
          self.assertEqual(locker[b, m], last)
        else:
          self.assertIn(locker[b, m], wanting)
          lockings += 1
      else:
        self.assertEqual(locked[b, m], was_locked)
        self.assertEqual(locker[b, m], last)
    self.assertGreater(lockings, 100)

  def test_of_several_lockers_each_has_the_same_chance(self):
    num = 6000
    _, locker = mechanics.resolve_locks(
      np.tile([True, False, True, True], [num, 1]),
      np.tile([True, False, True, True], [num, 1])[..., None],
      np.zeros(4, int),
      np.zeros([num, 1], bool),
      np.full([num, 1], 1),
      np.random.default_rng(0).random([num, 1]),
    )
    share = np.bincount(locker[:, 0], minlength=4) / num
    np.testing.assert_allclose(share, [1 / 3, 0, 1 / 3, 1 / 3], atol=0.025)


if __name__ == '__main__':
  absltest.main()
