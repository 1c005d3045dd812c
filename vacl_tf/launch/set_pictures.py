# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Small maps of tasks for TensorBoard, drawn in milliseconds."""

from collections.abc import Mapping

import numpy as np

from vacl_tf.environments import map_layout
from vacl_tf.launch import plot_rooms

_COLOURS = {'active': plot_rooms.ACTIVE, 'solved': plot_rooms.SOLVED}
_PIXELS = 8  # Side of a bin.
_GAP = 8  # Pixels between the two sets.
_EVEN = 3.0  # The darkest shade is this many times an even fill, or more.
_WHITE = 255.0


def draw(
  layout: map_layout.MapLayout, history: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
  """Draws where active tasks (left) and solved tasks (right) put entities.

  Args:
    layout: map of the tasks.
    history: history of a curriculum, see `Curriculum.history`.

  Returns:
    Pictures uint8 [height, width, 3] by kind of entity; empty if the history
    has no such tasks, or if they belong to another map.
  """
  if not all(f'{name}_phi' in history for name in _COLOURS):
    return {}
  phi = {name: np.array(history[f'{name}_phi']) for name in _COLOURS}
  try:
    places = {name: layout.points(tasks) for name, tasks in phi.items()}
  except (ValueError, IndexError):
    return {}  # Tasks that do not fit the map must not end a run.
  found = {}
  for kind in dict.fromkeys(layout.kinds):
    tiles = [
      _tile(places[name][kind].reshape(-1, 2), layout, colour)
      for name, colour in _COLOURS.items()
    ]
    gap = np.full_like(tiles[0][:, :_GAP], _WHITE)
    found[kind] = np.concatenate([tiles[0], gap, tiles[1]], 1)
  return found


def _tile(
  points: np.ndarray, layout: map_layout.MapLayout, colour: str
) -> np.ndarray:
  """Returns the density of points [N, 2], darker where there are more."""
  shares = plot_rooms.density(points, layout)
  most = max(shares.max(), _EVEN / shares.size)
  shade = np.sqrt(shares / most)[::-1, :, None]  # Rows of pixels go down.
  ink = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
  bins = np.rint(_WHITE - shade * (_WHITE - ink)).astype(np.uint8)
  return bins.repeat(_PIXELS, 0).repeat(_PIXELS, 1)
