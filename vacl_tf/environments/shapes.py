# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What there is to draw of a world that is seen from above; no TensorFlow."""

from typing import NamedTuple

Colour = tuple[int, int, int]  # Red, green and blue, 0 to 255.


class Disc(NamedTuple):
  """A round thing to draw; centre and radius in metres."""

  centre: tuple[float, float]
  radius: float
  colour: Colour
  is_filled: bool = True


class Slab(NamedTuple):
  """A rectangle to draw; corners in metres."""

  low: tuple[float, float]
  high: tuple[float, float]


class Polygon(NamedTuple):
  """A filled thing with straight sides to draw; corners in metres."""

  corners: tuple[tuple[float, float], ...]
  colour: Colour


class Scene(NamedTuple):
  """What a renderer needs to know of one world at one time."""

  discs: list[Disc]
  half_width: float  # Half the side of the square to show, metres.
  caption: str
  slabs: tuple[Slab, ...] = ()  # Walls, below everything else.
  polygons: tuple[Polygon, ...] = ()  # Above rings, below filled discs.
