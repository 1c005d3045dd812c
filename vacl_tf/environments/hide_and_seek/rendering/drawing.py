# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worlds drawn from above, for machines where MuJoCo cannot render.

Agents are discs with a beak for their heading, boxes are squares, and ramps are
squares with an arrow that points uphill. Rings show where agents must return
to, and lines show what agents see.
"""

import numpy as np

from vacl_tf.environments import shapes
from vacl_tf.environments.hide_and_seek import entities
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.environments.hide_and_seek import task as task_lib
from vacl_tf.environments.hide_and_seek.rendering import palette

_SHADE = 0.55  # Brightness of beaks and arrows, relative to their entity.
_SIGHT_HALF_WIDTH = 0.02  # Metres.
# In body frames, in metres; -y is an agent's front and a ramp's high end.
_SQUARE = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
_BEAK = entities.AGENT_RADIUS * np.array([(-0.9, -0.4), (0, -2), (0.9, -0.4)])
_ARROW = entities.RAMP_HALF_SIZE * np.array([(-0.7, 0.7), (0, -1), (0.7, 0.7)])


def scenes(task: task_lib.Task, state: task_lib.State) -> list[shapes.Scene]:
  """Returns a scene for each of the B worlds."""
  captions = task.captions(state)
  return [_scene(task, state, *pair) for pair in enumerate(captions)]


def _scene(
  task: task_lib.Task, state: task_lib.State, world: int, caption: str
) -> shapes.Scene:
  """Returns the scene of one world."""
  cast = task.cast
  half_side = task.arena.side / 2
  half_sizes = cast.half_sizes()
  centres = mechanics.centres(state.position[world], half_sizes)[:, :2]
  centres = centres - half_side
  yaws = state.position[world, :, 3]
  colours = [
    tuple(colour)
    for colour in palette.colours(cast, state.is_locked[world]).tolist()
  ]
  homes = state.birthplace[world] + entities.AGENT_RADIUS - half_side
  discs, things, beaks = [], [], []
  for index, colour in enumerate(colours):
    dark = tuple(round(_SHADE * number) for number in colour)
    centre, yaw = centres[index], yaws[index]
    if index < cast.num_agents:
      if task.home_radius:
        ring = (tuple(homes[index].tolist()), task.home_radius, colour)
        discs.append(shapes.Disc(*ring, is_filled=False))
      disc = (tuple(centre.tolist()), half_sizes[index], colour)
      discs.append(shapes.Disc(*disc))
      beaks.append(_polygon(_BEAK, centre, yaw, dark))
      continue
    things.append(_polygon(half_sizes[index] * _SQUARE, centre, yaw, colour))
    if index >= cast.num_agents + cast.num_boxes:
      things.append(_polygon(_ARROW, centre, yaw, dark))
  sights = _sights(task, state.is_seen[world], centres)
  return shapes.Scene(
    discs=discs,
    half_width=half_side,
    caption=caption,
    slabs=_walls(task),
    polygons=(*things, *sights, *beaks),  # Agents may stand on objects.
  )


def _walls(task: task_lib.Task) -> tuple[shapes.Slab, ...]:
  """Returns the walls as seen from above."""
  slabs = []
  for wall in task.arena.walls():
    centre, half = (np.array(part[:2]) for part in wall.box())
    centre = centre - task.arena.side / 2
    corners = (centre - half, centre + half)
    slabs.append(shapes.Slab(*(tuple(corner.tolist()) for corner in corners)))
  return tuple(slabs)


def _sights(
  task: task_lib.Task, is_seen: np.ndarray, centres: np.ndarray
) -> list[shapes.Polygon]:
  """Returns a thin line from each agent to each entity that it sees."""
  lines = []
  for (viewer, target), is_there in zip(task.looks, is_seen, strict=True):
    if is_there:
      way = centres[target] - centres[viewer]
      yaw = np.arctan2(way[1], way[0])
      stroke = _SQUARE * [np.hypot(*way) / 2, _SIGHT_HALF_WIDTH]
      middle = centres[viewer] + way / 2
      lines.append(_polygon(stroke, middle, yaw, palette.SIGHT))
  return lines


def _polygon(
  corners: np.ndarray, centre: np.ndarray, yaw: float, colour: shapes.Colour
) -> shapes.Polygon:
  """Returns a polygon of corners [k, 2] in a body frame."""
  cos, sin = np.cos(yaw), np.sin(yaw)
  placed = corners @ np.array([[cos, sin], [-sin, cos]]) + centre
  return shapes.Polygon(tuple(map(tuple, placed.tolist())), colour)
