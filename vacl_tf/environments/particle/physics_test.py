# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for physics, against an oracle and against numbers done by hand."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.environments.particle import physics
from vacl_tf.testing import particle_oracle as oracle

_RADIUS = 0.1
_NUM_STEPS = 100
_FLING = 10.0  # Metres per second; the walls' impulses are of this order.
_COUNTS = (2, 3, 4, 5, 8)  # Odd ones too: pairs are enumerated cyclically.
_WALLS = tuple(
  physics.Wall(wall.orientation == 'V', *wall[1:])
  for wall in oracle.HARD_SPREAD_WALLS
)


def _step(position, velocity, action, walls=()):
  """Steps [B, n, 2] worlds with the functions under test."""
  x = tf.transpose(position, [2, 1, 0])
  force = physics.action_forces(tf.transpose(action))
  force += physics.contact_forces(x, _RADIUS)
  force += physics.wall_forces(x, _RADIUS, walls)
  moved = physics.integrate(x, tf.transpose(velocity, [2, 1, 0]), force)
  return tuple(tf.transpose(x, [2, 1, 0]) for x in moved)


def _graph_step(walls=()) -> Callable:
  return tf.function(lambda *state: _step(*state, walls), autograph=False)


def _oracle_step(position, velocity, action, walls=()):
  """Steps the same worlds with the oracle, each by itself."""
  worlds = zip(position, velocity, action, strict=True)
  moved = [oracle.step(x, v, a, walls) for x, v, a in worlds]
  return tuple(np.stack(leaf) for leaf in zip(*moved, strict=True))


def _single(x):
  return np.asarray(x, np.float32)


def _grid(rng, num_worlds, num_agents):
  """Returns starts too far apart to touch within 100 random steps."""
  side = int(np.ceil(num_agents**0.5))
  cells = np.stack(np.meshgrid(range(side), range(side)), -1).reshape(-1, 2)
  jitter = rng.uniform(-1.0, 1.0, [num_worlds, num_agents, 2])
  return _single(50.0 * cells[:num_agents] + jitter)


class PhysicsTest(tf.test.TestCase, parameterized.TestCase):
  def assert_agrees(self, got, want, speed=1.0):
    """Checks motion to 1e-5, velocities relative to a speed [m / s]."""
    self.assertAllClose(got[0], want[0], rtol=1e-6, atol=1e-5)
    self.assertAllClose(got[1], want[1], rtol=1e-6, atol=1e-5 * speed)

  @parameterized.parameters(*_COUNTS)
  def test_each_step_agrees_with_oracle_in_a_crowd(self, num_agents):
    rng = np.random.default_rng(num_agents)
    half_width = 0.15 * num_agents**0.5
    shape = [6, num_agents, 2]
    position = _single(rng.uniform(-half_width, half_width, shape))
    velocity = _single(rng.uniform(-2.0, 2.0, shape))
    step = _graph_step()
    num_contacts = 0
    for _ in range(_NUM_STEPS):
      # Pulled together again, as the crowd would disperse in a few steps.
      position = _single(0.9 * position)
      action = rng.integers(0, 5, shape[:2])
      want = _oracle_step(position, velocity, action)
      self.assert_agrees(step(position, velocity, action), want)
      gap = np.linalg.norm(position[:, :, None] - position[:, None], axis=-1)
      num_contacts += np.sum(gap < 2 * _RADIUS) - gap.shape[0] * num_agents
      position, velocity = _single(want[0]), _single(want[1])
    self.assertGreater(num_contacts, _NUM_STEPS // 2)

  @parameterized.parameters(*_COUNTS)
  def test_free_run_agrees_with_oracle_where_nothing_touches(self, num_agents):
    rng = np.random.default_rng(num_agents)
    position = _grid(rng, 2, num_agents)
    velocity = np.zeros_like(position)
    got = want = (position, velocity)
    step = _graph_step()
    for _ in range(_NUM_STEPS):
      action = rng.integers(0, 5, position.shape[:2])
      got = step(*got, action)
      want = _oracle_step(*want, action)
      # Positions near 100 m are float32 multiples of 8e-6.
      self.assertAllClose(got[0], want[0], rtol=1e-6, atol=1e-4)
      self.assertAllClose(got[1], want[1], rtol=0.0, atol=1e-5)

  def test_each_step_agrees_with_oracle_among_walls(self):
    rng = np.random.default_rng(0)
    step = _graph_step(_WALLS)
    num_pushed = 0
    for _ in range(_NUM_STEPS):
      # Half of the agents in and about a doorway, where the ends of two slabs
      # lie; the others anywhere, outer walls included.
      position = rng.uniform([-5.2, -1.2], [5.2, 1.2], [6, 4, 2])
      position[:, :2] = rng.uniform([-3.2, 0.3], [-0.8, 0.9], [6, 2, 2])
      position[::2] *= -1.0
      position = _single(position)
      velocity = _single(rng.uniform(-2.0, 2.0, position.shape))
      action = rng.integers(0, 5, position.shape[:2])
      got = step(position, velocity, action)
      want = _oracle_step(position, velocity, action, oracle.HARD_SPREAD_WALLS)
      free = _oracle_step(position, velocity, action)
      num_pushed += np.sum(np.abs(want[1] - free[1]) > 1e-3)
      self.assert_agrees(got, want, _FLING)
    self.assertGreater(num_pushed, 5 * _NUM_STEPS)

  def test_restarted_walk_agrees_with_oracle_among_walls(self):
    rng = np.random.default_rng(1)
    step = _graph_step(_WALLS)
    position = _single(rng.uniform([-0.9, -0.9], [0.9, 0.9], [6, 4, 2]))
    velocity = np.zeros_like(position)
    for _ in range(_NUM_STEPS):
      action = rng.integers(0, 5, position.shape[:2])
      want = _oracle_step(position, velocity, action, oracle.HARD_SPREAD_WALLS)
      got = step(position, velocity, action)
      self.assert_agrees(got, want, _FLING)
      position, velocity = _single(want[0]), _single(want[1])

  def test_compiled_equals_eager(self):
    rng = np.random.default_rng(2)
    position = _single(rng.uniform([-3.2, -1.2], [0.0, 1.2], [8, 5, 2]))
    velocity = _single(rng.uniform(-2.0, 2.0, position.shape))
    action = rng.integers(0, 5, position.shape[:2])
    compiled = tf.function(
      lambda *state: _step(*state, _WALLS[4:6]),
      jit_compile=True,
      autograph=False,
    )
    self.assert_agrees(
      compiled(position, velocity, action),
      _step(position, velocity, action, _WALLS[4:6]),
      _FLING,
    )

  @parameterized.parameters(4, 5)
  def test_renumbering_bodies_renumbers_forces(self, num_agents):
    rng = np.random.default_rng(3)
    x = _single(rng.uniform(-0.2, 0.2, [2, num_agents, 3]))
    order = rng.permutation(num_agents)
    force = physics.contact_forces(x, _RADIUS).numpy()
    moved = physics.contact_forces(x[:, order], _RADIUS)
    self.assertAllClose(moved, force[:, order], rtol=1e-5, atol=1e-4)
    self.assertGreater(np.abs(force[:, order] - force).max(), 1.0)

  @parameterized.parameters(2, 4, 8)
  def test_no_force_exceeds_the_largest_one(self, num_agents):
    largest = physics.largest_force(_RADIUS, num_agents)
    others = np.full([num_agents - 1], 1e-4)  # All on one side of the first.
    x = np.stack([np.append(0.0, others), np.zeros([num_agents])])[..., None]
    push = physics.contact_forces(tf.constant(x, tf.float32), _RADIUS)
    found = physics.ACTION_FORCE + np.abs(push).max()
    self.assertBetween(found, 0.99 * largest, largest)

  def test_no_wall_exceeds_the_largest_force(self):
    largest = physics.largest_force(_RADIUS, 1, _WALLS)
    x = tf.random.stateless_uniform([2, 5000, 1], [0, 1], -7.0, 7.0)
    found = np.abs(physics.wall_forces(x, _RADIUS, _WALLS)).max()
    self.assertBetween(found, 100.0, largest)

  def test_a_constant_force_leads_almost_to_the_largest_motion(self):
    force, num_steps = 30.0, 200
    speed, way = physics.largest_motion(force, num_steps)
    x = velocity = 0.0
    for _ in range(num_steps):
      x, velocity = physics.integrate(x, velocity, force)
    self.assertBetween(velocity, 0.999 * speed, speed + 1e-9)
    self.assertBetween(x, 0.98 * way, way)


class HandNumbersTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(
    (0, [0.0, 0.0]),
    (1, [0.2, 0.0]),
    (2, [-0.2, 0.0]),
    (3, [0.0, 0.2]),
    (4, [0.0, -0.2]),
  )
  def test_an_impulse_is_worth_a_fifth_of_a_metre(self, action, displacement):
    state = np.zeros([2, 1, 1, 2], np.float32)
    state = _step(*state, np.full([1, 1], action))
    self.assertAllClose(state[1][0, 0], np.multiply(displacement, 2.5))
    for _ in range(60):
      state = _step(*state, np.zeros([1, 1], np.int32))
    self.assertAllClose(state[0][0, 0], displacement, atol=1e-6)

  def test_a_constant_push_saturates_at_two_metres_a_second(self):
    state = np.zeros([2, 1, 1, 2], np.float32)
    for _ in range(60):
      before = state
      state = _step(*state, np.ones([1, 1], np.int32))
    self.assertAllClose(state[1][0, 0], [2.0, 0.0], atol=1e-5)
    moved = state[0][0, 0, 0] - before[0][0, 0, 0]
    self.assertAllClose(moved, 0.2, atol=1e-5)

  def test_softened_is_a_softplus_of_the_depth(self):
    depth = np.linspace(-0.05, 0.25, 100_001)
    want = 1e-3 * np.logaddexp(0.0, depth / 1e-3)
    found = physics.softened(tf.constant(depth, tf.float32))
    # 2e-9 m of the polynomial; beyond it float32 numbers of up to 0.25 m.
    self.assertAllClose(found, want, rtol=2e-7, atol=2e-9)

  @parameterized.parameters(
    (2, 0, 1), (3, 0, 2), (4, 0, 2), (4, 1, 3), (5, 1, 4)
  )
  def test_coincident_agents_part_with_force_20(self, num_agents, one, other):
    position = np.zeros([1, num_agents, 2], np.float32)
    position[0, :, 0] = 10.0 * np.arange(num_agents)
    position[0, other] = position[0, one]
    force = physics.contact_forces(position.T, _RADIUS).numpy()[..., 0]
    self.assertAllClose(np.linalg.norm(force[:, one]), 20.0, rtol=1e-4)
    self.assertAllClose(force[:, one], -force[:, other])
    still = np.delete(force, [one, other], 1)
    self.assertAllClose(still, np.zeros_like(still), atol=1e-6)
    motion = _step(
      position, np.zeros_like(position), np.zeros([1, num_agents], np.int32)
    )
    self.assertAllClose(np.linalg.norm(motion[1][0, one]), 2.0, rtol=1e-4)
    self.assertNotAllClose(motion[0][0, one], motion[0][0, other])

  @parameterized.parameters(2, 3, 4, 5, 8)
  def test_agents_all_on_one_spot_stay_finite_and_balanced(self, num_agents):
    x = np.ones([2, num_agents, 1], np.float32)
    force = physics.contact_forces(x, _RADIUS).numpy()
    self.assertAllInRange(force, -20.0 * num_agents, 20.0 * num_agents)
    self.assertAllClose(force.sum(1), np.zeros([2, 1]), atol=1e-4)

  def test_a_lone_agent_feels_no_contact(self):
    x = np.ones([2, 1, 3], np.float32)
    self.assertAllEqual(physics.contact_forces(x, _RADIUS), np.zeros([2, 1, 3]))

  def test_a_doorway_wall_flings(self):
    # 0.08 below the upper divider's end, so sin = -0.8 and cos = 0.6; 0.05
    # right of its middle: depth 0.06 + 1 - 0.05 = 1.01, strength 101.
    position = np.array([[[-1.95, 0.72]]], np.float32)
    still = np.zeros_like(position)
    velocity = _step(position, still, np.zeros([1, 1]), _WALLS)[1][0, 0]
    self.assertAllClose(velocity, [6.06, -8.08], rtol=1e-4)

  def test_the_middle_of_a_doorway_is_free(self):
    position = np.array([[[-2.4, 0.6], [2.4, -0.6]]], np.float32)
    still = np.zeros_like(position)
    velocity = _step(position, still, np.zeros([1, 2]), _WALLS)[1]
    self.assertAllClose(velocity, still, atol=1e-6)

  def test_a_body_on_the_axis_of_a_wall_stays_finite(self):
    x = np.array([-2.0, 1.0], np.float32)[:, None, None]
    force = physics.wall_forces(x, _RADIUS, _WALLS[4:5])
    self.assertAllClose(force, np.zeros([2, 1, 1]))


if __name__ == '__main__':
  tf.test.main()
