# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shapes that make up a picture of a world from above; no TensorFlow."""

from collections.abc import Sequence
from typing import NamedTuple

Colour = tuple[int, int, int]  # Red, green and blue, 0 to 255.
WALL = (205, 200, 190)
_TRAIL_STEPS = 12


class Disc(NamedTuple):
  """A disc or a ring to draw; centre and radius in metres."""

  centre: tuple[float, float]
  radius: float
  colour: Colour
  is_filled: bool = True


class Slab(NamedTuple):
  """A rectangle to draw; corners in metres."""

  low: tuple[float, float]
  high: tuple[float, float]


class Polygon(NamedTuple):
  """A filled polygon to draw; corners in metres."""

  corners: tuple[tuple[float, float], ...]
  colour: Colour


class Trail(NamedTuple):
  """Past positions of a disc; points in metres, the latest one last."""

  points: tuple[tuple[float, float], ...]
  colour: Colour


class Scene(NamedTuple):
  """Everything that a renderer needs of one world at one time."""

  discs: list[Disc]
  half_width: float  # Half the side of the square to show, metres.
  caption: str
  slabs: tuple[Slab, ...] = ()  # Walls, below everything else.
  polygons: tuple[Polygon, ...] = ()  # Above rings, below filled discs.
  half_height: float | None = None  # Metres; None: as half_width.
  trails: tuple[Trail, ...] = ()  # Below filled discs.


def with_trails(
  scenes: Sequence[Scene], length: int = _TRAIL_STEPS
) -> list[Scene]:
  """Returns scenes of one world with the trails of the discs that moved.

  Args:
    scenes: scenes at consecutive times. Discs keep their order. Times with
      another number of discs than now are left out of the trails.
    length: length of a trail in steps.
  """
  found = []
  for now, scene in enumerate(scenes):
    past = [
      x
      for x in scenes[max(now - length, 0) : now + 1]
      if len(x.discs) == len(scene.discs)
    ]
    trails = []
    for index, disc in enumerate(scene.discs):
      points = [tuple(map(float, x.discs[index].centre)) for x in past]
      if disc.is_filled and len(set(points)) > 1:
        trails.append(Trail(tuple(points), disc.colour))
    found.append(scene._replace(trails=tuple(trails)))
  return found
