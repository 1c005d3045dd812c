# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Arrays and films as compact JSON, which page/films.js unpacks.

Coordinates of a film are integers, in units of 1 / LEVELS of half the width of
its room. A disc that stays in place has one position for the whole film, and a
ring around a moving disc shares the positions of that disc.
"""

import base64
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from vacl_tf.environments import shapes

LEVELS = 20_000  # Per half room; positions far outside are clipped.
_LARGEST = 32_767  # Of a 16-bit integer.


def packed(array: np.ndarray, dtype: str) -> str:
  """Returns the numbers of an array, little-endian, in base 64."""
  return base64.b64encode(np.ascontiguousarray(array, dtype)).decode()


class _Tracks(NamedTuple):
  """The positions of discs over time.

  Attributes:
    of_disc: [K] number of the track of each disc; moving tracks come first,
      then still ones.
    moving: [T + 1, M, 2] positions on moving tracks.
    still: [S, 2] positions of still tracks.
  """

  of_disc: list[int]
  moving: np.ndarray
  still: np.ndarray


class Packer:
  """Packs films that share colours and rooms."""

  def __init__(self) -> None:
    self._colours: dict[shapes.Colour, int] = {}
    self._stages: list[dict[str, Any]] = []

  def shared(self) -> dict[str, Any]:
    """Returns the colours and rooms that all films refer to by number."""
    colours = ['#{:02x}{:02x}{:02x}'.format(*x) for x in self._colours]
    return {'colours': colours, 'stages': self._stages, 'levels': LEVELS}

  def film(
    self, scenes: Sequence[shapes.Scene], progress: np.ndarray
  ) -> dict[str, Any]:
    """Returns a film.

    Args:
      scenes: scenes of one world at T + 1 times, with the same discs in the
        same order.
      progress: [T] progress after each step.

    Raises:
      ValueError: a scene has another number of discs than the first one.
    """
    first = scenes[0]
    kinds = [(disc.radius, disc.is_filled) for disc in first.discs]
    if any(len(scene.discs) != len(kinds) for scene in scenes):
      raise ValueError('the number of discs of a world changes in an episode')
    unit = first.half_width / LEVELS
    centres = [[disc.centre for disc in scene.discs] for scene in scenes]
    shape = [len(scenes), len(kinds), 2]
    tracks = _find_tracks(_whole(np.reshape(centres, shape), unit))
    looks = [tuple(self._colour(d.colour) for d in s.discs) for s in scenes]
    return {
      'stage': self._stage(first),
      'times': len(scenes),
      'discs': [
        [track, round(float(radius), 4), int(is_filled)]
        for track, (radius, is_filled) in zip(
          tracks.of_disc, kinds, strict=True
        )
      ],
      'moving': packed(tracks.moving, '<i2'),
      'still': tracks.still.tolist(),
      'looks': _numbered(looks),
      'polygons': self._polygons(scenes, unit),
      'progress': packed(np.rint(255 * np.clip(progress, 0, 1)), 'u1'),
    }

  def _stage(self, scene: shapes.Scene) -> int:
    """Returns the number of the room of a scene."""
    height = scene.half_height
    stage = {
      'half_width': float(scene.half_width),
      'half_height': float(scene.half_width if height is None else height),
      'slabs': [[float(x) for x in (*s.low, *s.high)] for s in scene.slabs],
    }
    if stage not in self._stages:
      self._stages.append(stage)
    return self._stages.index(stage)

  def _colour(self, colour: shapes.Colour) -> int:
    """Returns the number of a colour."""
    return self._colours.setdefault(tuple(colour), len(self._colours))

  def _polygons(
    self, scenes: Sequence[shapes.Scene], unit: float
  ) -> dict[str, Any] | None:
    """Returns the polygons, which may differ between times."""
    if not any(scene.polygons for scene in scenes):
      return None
    kinds = [
      tuple((self._colour(x.colour), len(x.corners)) for x in scene.polygons)
      for scene in scenes
    ]
    corners = [y for scene in scenes for x in scene.polygons for y in x.corners]
    return {
      'kinds': _numbered(kinds),
      'corners': packed(_whole(np.array(corners), unit), '<i2'),
    }


def _whole(points: np.ndarray, unit: float) -> np.ndarray:
  """Returns coordinates in whole units."""
  return np.rint(points / unit).clip(-_LARGEST, _LARGEST).astype(np.int16)


def _find_tracks(centres: np.ndarray) -> _Tracks:
  """Returns the tracks of discs with these centres [T + 1, K, 2]."""
  moves = (centres != centres[:1]).any((0, 2))
  keys = [track.tobytes() for track in centres.swapaxes(0, 1)]
  moving = list(dict.fromkeys(x for x, y in zip(keys, moves, strict=True) if y))
  still = list(
    dict.fromkeys(x for x, y in zip(keys, moves, strict=True) if not y)
  )
  order = {key: index for index, key in enumerate([*moving, *still])}
  discs = [keys.index(key) for key in order]
  return _Tracks(
    [order[key] for key in keys],
    centres[:, discs[: len(moving)]],
    centres[0, discs[len(moving) :]],
  )


def _numbered(values: Sequence[tuple]) -> dict[str, Any]:
  """Returns the distinct values, and the times at which each begins."""
  known = list(dict.fromkeys(values))
  starts = [0] + [
    time for time in range(1, len(values)) if values[time] != values[time - 1]
  ]
  return {
    'values': known,
    'starts': [[time, known.index(values[time])] for time in starts],
  }
