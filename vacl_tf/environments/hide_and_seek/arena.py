# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Floor and walls. All lengths are in metres.

The floor spans [0, L] in x and y at z = 0, and is a lattice of square cells:
cell (i, j) covers [0.2 i, 0.2 (i + 1)] x [0.2 j, 0.2 (j + 1)].
"""

from typing import NamedTuple

import mujoco

CELL = 0.2
HALF_THICKNESS = CELL / 4  # Of a wall.
OUTER_HEIGHT, INNER_HEIGHT = 4.0, 0.5
GRAVITY = -50.0  # m/s^2.
SUBSTEP = 0.005  # Seconds.
NUM_SUBSTEPS = 15  # Per environment step, with constant control.
_FLOOR_FRICTION = 0.2


class Wall(NamedTuple):
  """A wall along the centre line of a row or a column of cells."""

  is_vertical: bool  # Along y, on a column of cells.
  line: int  # Which row or column.
  begin: int  # First and last cell along it. Perpendicular walls touch the
  end: int  # ends and do not overlap.
  height: float

  def box(self) -> tuple[list[float], list[float]]:
    """Returns centre [3] and half sizes [3]."""
    along = CELL * (self.begin + self.end + 1) / 2
    across = CELL * (self.line + 0.5)
    half_length = CELL * (self.end - self.begin) / 2 - HALF_THICKNESS
    centre = [across, along] if self.is_vertical else [along, across]
    half = [HALF_THICKNESS, half_length]
    if not self.is_vertical:
      half.reverse()
    return [*centre, self.height / 2], [*half, self.height / 2]


class Arena(NamedTuple):
  """A square floor with walls all around.

  Attributes:
    num_cells: number of cells along a side.
    inner_walls: all walls except the outer ones.
    wall_friction: sliding coefficient of the walls. Between two bodies that
      touch, the larger coefficient counts.
  """

  num_cells: int
  inner_walls: tuple[Wall, ...]
  wall_friction: float

  @property
  def side(self) -> float:
    """Length of a side."""
    return CELL * self.num_cells

  def walls(self) -> tuple[Wall, ...]:
    """Returns all walls, the outer ones first."""
    last = self.num_cells - 1
    outer = tuple(
      Wall(is_vertical, line, 0, last, OUTER_HEIGHT)
      for is_vertical in (True, False)
      for line in (0, last)
    )
    return outer + self.inner_walls

  def empty_world(self) -> mujoco.MjSpec:
    """Returns the specification of a world with only floor and walls."""
    spec = mujoco.MjSpec()
    spec.option.timestep = SUBSTEP
    spec.option.gravity = [0.0, 0.0, GRAVITY]
    # By default MuJoCo resets diverged worlds silently; we count them.
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    # Armature replaces implicit damping; see `entities` for why.
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    # By default it is sparse from 60 joints on, and then simulations diverge.
    spec.option.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    # Bodies at rest cost nothing until something touches or moves them.
    spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    spec.worldbody.add_geom(
      type=mujoco.mjtGeom.mjGEOM_PLANE,
      size=[0.0, 0.0, 1.0],  # Infinite in x and y.
      friction=friction(_FLOOR_FRICTION),
    )
    for wall in self.walls():
      # One body per wall, as MuJoCo's broad phase compares bodies.
      centre, half = wall.box()
      spec.worldbody.add_body(pos=centre).add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=half,
        friction=friction(self.wall_friction),
      )
    return spec


def friction(sliding: float) -> list[float]:
  """Returns MuJoCo's three coefficients; only the first has an effect."""
  return [sliding, 0.005, 0.0001]
