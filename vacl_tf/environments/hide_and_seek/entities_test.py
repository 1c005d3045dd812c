# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for entities: bodies, frictions and how they move."""

import mujoco
import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments import hide_and_seek
from vacl_tf.environments.hide_and_seek import entities

_X, _Y, _Z, _YAW = range(4)
_LOCK_AND_RETURN = ('lock_and_return', entities.Cast(2, 2, 0))
_RAMP_USE = ('ramp_use', entities.Cast(2, 1, 1))
# Sliding friction where two kinds touch.
_FRICTIONS = {
  'lock_and_return': {
    'agent floor': 0.2,
    'box floor': 0.2,
    'agent box': 0.2,
    'box box': 0.2,
    'agent agent': 0.01,
    'agent wall': 1.0,
    'box wall': 1.0,
  },
  'ramp_use': {
    'agent floor': 0.2,
    'box floor': 0.2,
    'ramp floor': 0.2,
    'agent box': 0.2,
    'agent agent': 0.01,
    'agent ramp': 0.01,
    'agent wall': 0.01,
    'box wall': 0.2,
    'ramp wall': 0.01,
    'ramp box': 0.2,
  },
}


class _World:
  """One world in plain MuJoCo, everybody far from each other."""

  def __init__(self, name, cast, change=lambda spec: None):
    self.cast = cast
    spec = entities.describe(hide_and_seek.load(name).arena, cast)
    change(spec)
    self.model = spec.compile()
    self.data = mujoco.MjData(self.model)
    self.position = self.data.qpos.reshape(-1, 4)
    self.velocity = self.data.qvel.reshape(-1, 4)
    self.control = self.data.ctrl.reshape(-1, 3)
    self.position[:, :2] = (0.5, 0.5), (1.0, 5.0), (4.5, 1.0), (4.5, 4.0)
    self.kinds = np.repeat(['agent', 'box', 'ramp'], cast)

  def play(self, num_steps):
    """Plays environment steps; returns all positions [num_steps + 1, E, 4]."""
    positions = [self.position.copy()]
    for _ in range(num_steps):
      mujoco.mj_step(self.model, self.data, 15)
      positions.append(self.position.copy())
    return np.array(positions)

  def kind_of(self, geom):
    body = self.model.geom_bodyid[geom]
    name = self.model.body(body).name
    if not name:
      return 'wall'
    return 'floor' if body == 0 else self.kinds[int(name.strip('entiy'))]


def _with_usual_damping(spec):
  """Damps as MuJoCo does by default, implicitly and after constraints."""
  spec.option.disableflags ^= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
  for joint in spec.joints:
    joint.armature = 0.0


class ModelTest(parameterized.TestCase):
  @parameterized.parameters(_LOCK_AND_RETURN, _RAMP_USE)
  def test_joints_are_x_y_z_and_yaw_of_one_entity_after_the_other(
    self, name, cast
  ):
    world = _World(name, cast)
    model, data = world.model, world.data
    self.assertEqual(model.nq, 4 * cast.num_entities)
    rng = np.random.default_rng(0)
    world.position[:] = rng.normal(size=world.position.shape)
    mujoco.mj_forward(model, data)
    for index, half in enumerate(cast.half_sizes()):
      body = model.body(entities.entity_name(index)).id
      *corner, yaw = world.position[index]
      np.testing.assert_allclose(data.xpos[body], np.add(corner, half))
      cos, sin = np.cos(yaw), np.sin(yaw)
      np.testing.assert_allclose(
        data.xmat[body].reshape(3, 3),
        [[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]],
        atol=1e-12,
      )
      self.assertAlmostEqual(model.body_mass[body], 1.0)
    self.assertFalse(np.any(model.jnt_limited))
    self.assertFalse(np.any(model.eq_active0))
    self.assertEqual(model.neq, cast.num_agents * cast.num_objects)

  def test_inertia_about_the_vertical(self):
    world = _World(*_RAMP_USE)
    mujoco.mj_forward(world.model, world.data)
    inertia = np.zeros([world.model.nv] * 2)
    mujoco.mj_fullM(world.model, world.data, inertia)
    about_z = (np.diag(inertia) - world.model.dof_armature)[_YAW::4]
    np.testing.assert_allclose(
      about_z, [0.009, 0.009, 0.0417, 0.0417], atol=5e-5
    )

  def test_damping(self):
    damping = _World(*_RAMP_USE).model.dof_damping.reshape(-1, 4)
    want = [[10, 10, 1, 10]] * 2 + [[0.01] * 4, [0.1] * 4]
    np.testing.assert_allclose(damping, want)

  def test_free_motion_is_that_of_implicit_damping(self):
    ours, usual = _World(*_RAMP_USE), _World(*_RAMP_USE, _with_usual_damping)
    for world in (ours, usual):
      world.model.opt.gravity[:] = 0.0
      world.position[:, 2] = 2.0  # Far above the floor and the walls.
      rng = np.random.default_rng(0)
      world.velocity[:] = rng.uniform(-1, 1, world.velocity.shape)
      for _ in range(30):
        world.control[:] = rng.uniform(-0.9, 0.9, world.control.shape)
        mujoco.mj_step(world.model, world.data)
        self.assertEqual(world.data.ncon, 0)
    np.testing.assert_allclose(ours.position, usual.position, rtol=0, atol=1e-9)
    self.assertGreater(np.abs(ours.velocity).min(), 1e-3)

  def test_arms(self):
    model = _World(*_RAMP_USE).model
    body = model.body(entities.entity_name(0)).id
    geoms = np.flatnonzero(model.geom_bodyid == body)
    np.testing.assert_allclose(model.geom_size[geoms, 0], [0.15, 0.05, 0.05])
    np.testing.assert_allclose(
      model.geom_pos[geoms],
      [[0, 0, 0], [-0.13, -0.075, -0.05], [0.13, -0.075, -0.05]],
    )

  def test_ramp_rises_towards_minus_y(self):
    world = _World(*_RAMP_USE)
    mujoco.mj_forward(world.model, world.data)
    is_mesh = world.model.geom_type == mujoco.mjtGeom.mjGEOM_MESH
    [geom] = np.flatnonzero(is_mesh)
    rotation = world.data.geom_xmat[geom].reshape(3, 3)
    corners = world.model.mesh_vert @ rotation.T + world.data.geom_xpos[geom]
    corners -= world.position[-1, :3]
    want = [
      (x, y, z) for x in (0, 0.5) for y, z in ((0, 0), (0, 0.5), (0.5, 0))
    ]
    found = sorted(map(tuple, corners.round(5) + 0.0))
    np.testing.assert_allclose(found, sorted(want), atol=1e-5)
    aim = world.cast.half_sizes()[-1] + world.cast.aims()[-1]
    np.testing.assert_allclose(
      world.data.geom_xpos[geom] - world.position[-1, :3], aim, atol=1e-9
    )

  @parameterized.parameters(_LOCK_AND_RETURN, _RAMP_USE)
  def test_frictions_of_all_pairs(self, name, cast):
    """Whoever meets in random heaps has the friction of the table."""
    world = _World(name, cast)
    side = hide_and_seek.load(name).arena.side
    rng = np.random.default_rng(0)
    found = {}
    for _ in range(300):
      spot = rng.choice([0.0, side - 0.5, 2.0], 2)
      world.position[:, :2] = spot + rng.uniform(
        -0.2, 0.2, [cast.num_entities, 2]
      )
      world.position[:, _Z] = -0.01
      mujoco.mj_forward(world.model, world.data)
      for contact in world.data.contact:
        kinds = sorted(map(world.kind_of, contact.geom))
        for pair in (' '.join(kinds), ' '.join(kinds[::-1])):
          found.setdefault(pair, set()).add(contact.friction[0])
        self.assertEqual(contact.dim, 3)
    for pair, friction in _FRICTIONS[name].items():
      self.assertEqual(found.get(pair), {friction}, pair)


class MotionTest(parameterized.TestCase):
  @parameterized.parameters(
    (0.18, 0.8), (0.36, 2.6), (0.54, 4.4), (0.72, 6.1), (0.9, 7.9)
  )
  def test_speed_on_the_floor(self, control, speed):
    """Driving force less friction, 10 N, by damping."""
    for motor in (0, 1):
      world = _World(*_LOCK_AND_RETURN)
      world.control[0, motor] = control
      path = world.play(18)[:, 0, motor]
      found = (path[18] - path[8]) / 0.75
      self.assertAlmostEqual(found, 10.0 * control - 1.0, delta=0.01)
      self.assertAlmostEqual(found, speed, delta=0.1)

  def test_coasting_is_short(self):
    world = _World(*_LOCK_AND_RETURN)
    world.velocity[0, _Y] = 8.0
    path = world.play(60)[:, 0, _Y]
    self.assertAlmostEqual(path[-1] - path[0], 0.58, delta=0.01)

  def test_forces_are_along_the_axes_of_the_world(self):
    world = _World(*_LOCK_AND_RETURN)
    world.position[0, _YAW] = 1.0
    begin = world.position[0].copy()
    world.control[0, 0] = 0.9
    world.play(5)
    self.assertGreater(world.position[0, _X] - begin[_X], 1.0)
    self.assertAlmostEqual(world.position[0, _Y], begin[_Y], delta=1e-3)

  def test_full_torque_turns_by_two_thirds_of_a_radian_a_step(self):
    world = _World(*_LOCK_AND_RETURN)
    world.control[0, 2] = 0.9
    turn = np.diff(world.play(10)[:, 0, _YAW])
    self.assertAlmostEqual(turn[0], 0.667, delta=0.002)
    self.assertAlmostEqual(world.velocity[0, _YAW], 9.0, delta=0.01)

  @parameterized.parameters(
    (lambda spec: None, 0.98), (_with_usual_damping, 1.72)
  )
  def test_friction_of_a_wall_brakes_more_than_with_usual_damping(
    self, change, distance
  ):
    """The friction turns the agent; its solver knows how hard that is."""
    world = _World(*_LOCK_AND_RETURN, change)
    world.position[0, :2] = 12.0 - 0.15 - 0.3 - 0.05, 4.0
    world.control[0, :2] = 0.9
    path = world.play(20)[:, 0, _Y]
    self.assertAlmostEqual(path[-1] - path[0], distance, delta=0.02)

  def test_box_slides_and_stops(self):
    world = _World(*_LOCK_AND_RETURN)
    world.velocity[2, _X] = 3.0
    path = world.play(20)[:, 2]
    self.assertAlmostEqual(path[-1, _X] - path[0, _X], 0.44, delta=0.01)

  def test_box_spins_and_stops(self):
    world = _World(*_LOCK_AND_RETURN)
    world.velocity[2, _YAW] = 10.0
    path = world.play(20)[:, 2]
    self.assertAlmostEqual(path[-1, _YAW] - path[0, _YAW], 0.64, delta=0.02)

  @parameterized.parameters(_LOCK_AND_RETURN, _RAMP_USE)
  def test_nobody_moves_by_itself(self, name, cast):
    world = _World(name, cast)
    path = world.play(60)
    np.testing.assert_allclose(path[-1], path[0], atol=2e-3)
    self.assertLess(np.abs(world.velocity).max(), 1e-3)

  def test_nobody_passes_a_wall(self):
    for motor, control in ((0, -0.9), (0, 0.9), (1, -0.9), (1, 0.9)):
      world = _World(*_RAMP_USE)
      # Out of the way, but for agent 0.
      world.position[1:, 0] = 0.5 + 0.8 * np.arange(3)
      world.position[1:, 1] = 0.5
      world.position[0, :2] = 2.6, 3.6
      world.control[0, motor] = control
      path = world.play(30)[:, 0, motor]
      self.assertBetween(path[-1], 0.14, 5.56)
      self.assertLess(abs(path[-1] - path[-2]), 1e-3)


if __name__ == '__main__':
  absltest.main()
