# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for arena."""

import itertools

import mujoco
import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments import hide_and_seek
from vacl_tf.environments.hide_and_seek import arena

# Centre and half sizes along x and y, and half height.
_OUTER_OF_RAMP_USE = [
  (0.1, 3.0, 0.05, 2.85, 2.0),
  (5.9, 3.0, 0.05, 2.85, 2.0),
  (3.0, 0.1, 2.85, 0.05, 2.0),
  (3.0, 5.9, 2.85, 0.05, 2.0),
]
_ROOM = [(3.1, 1.6, 0.05, 1.45, 0.25), (4.5, 3.1, 1.35, 0.05, 0.25)]
_OF_LOCK_AND_RETURN = [
  (0.1, 6.0, 0.05, 5.85, 2.0),
  (11.9, 6.0, 0.05, 5.85, 2.0),
  (6.0, 0.1, 5.85, 0.05, 2.0),
  (6.0, 11.9, 5.85, 0.05, 2.0),
]
_WALLS = {
  'ramp_use': _OUTER_OF_RAMP_USE + _ROOM,
  'lock_and_return': _OF_LOCK_AND_RETURN,
}


class ArenaTest(parameterized.TestCase):
  @parameterized.parameters(('ramp_use', 6.0), ('lock_and_return', 12.0))
  def test_floor_and_walls_are_in_their_places(self, name, side):
    place = hide_and_seek.load(name).arena
    self.assertAlmostEqual(place.side, side)
    model = place.empty_world().compile()
    is_floor = model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
    self.assertEqual(is_floor.sum(), 1)
    walls = np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_BOX)
    self.assertEqual(model.ngeom, len(walls) + 1)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    found = [
      (*data.geom_xpos[i, :2], *model.geom_size[i]) for i in sorted(walls)
    ]
    np.testing.assert_allclose(found, _WALLS[name], atol=1e-12)
    # They stand on the floor.
    np.testing.assert_allclose(
      data.geom_xpos[walls, 2], model.geom_size[walls, 2]
    )

  @parameterized.parameters('ramp_use', 'lock_and_return')
  def test_walls_touch_without_overlap(self, name):
    walls = [wall.box() for wall in hide_and_seek.load(name).arena.walls()]
    boxes = [(np.array(c) - h, np.array(c) + h) for c, h in walls]
    for one, other in itertools.combinations(boxes, 2):
      shared = np.minimum(one[1], other[1]) - np.maximum(one[0], other[0])
      self.assertLess(np.min(shared[:2]), 1e-9)

  def test_engine_options(self):
    option = arena.Arena(30, (), 0.01).empty_world().compile().opt
    self.assertEqual(option.timestep, 0.005)
    self.assertEqual(arena.NUM_SUBSTEPS, 15)
    np.testing.assert_array_equal(option.gravity, [0, 0, -50])
    # Which is what MuJoCo takes by itself for the paper's entity counts.
    self.assertEqual(option.jacobian, mujoco.mjtJacobian.mjJAC_DENSE)
    # What is at rest sleeps, and no world begins anew unnoticed.
    default = mujoco.MjSpec().compile().opt
    sleep = int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    self.assertEqual(option.enableflags, default.enableflags | sleep)
    off = mujoco.mjtDisableBit.mjDSBL_AUTORESET
    # Damping is implicit by armature; see `entities`.
    off |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    self.assertEqual(option.disableflags, default.disableflags | int(off))
    # All else is as MuJoCo has it.
    ours = ('timestep', 'gravity', 'jacobian', 'enableflags', 'disableflags')
    names = {name for name in dir(default) if not name.startswith('_')}
    self.assertContainsSubset(('integrator', 'solver', 'cone', *ours), names)
    for name in names.difference(ours):
      found, expected = (getattr(x, name) for x in (option, default))
      np.testing.assert_array_equal(found, expected, name)


if __name__ == '__main__':
  absltest.main()
