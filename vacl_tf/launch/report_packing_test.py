# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is unpacked is what was packed, up to the rounding."""

import base64
import json

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments import shapes
from vacl_tf.launch import report_packing

_TIMES, _HALF_WIDTH = 6, 3.0
_COLOURS = ((66, 113, 196), (60, 160, 90), (150, 150, 150))


def _scenes(has_polygons):
  """Returns a world: two discs and a ring move, another one stays."""
  rng = np.random.default_rng(0)
  still = tuple(rng.uniform(-3, 3, 2).tolist())
  scenes = []
  for time in range(_TIMES):
    first, second = rng.uniform(-3, 3, [2, 2])
    discs = [
      shapes.Disc(first, 0.1, _COLOURS[0]),
      shapes.Disc(first, 0.3, _COLOURS[0], False),
      shapes.Disc(still, 0.2, _COLOURS[1 + (time > 2)]),
      shapes.Disc(second, 0.1, _COLOURS[0]),
    ]
    polygons = tuple(
      shapes.Polygon(tuple(map(tuple, rng.uniform(-3, 3, [3 + i, 2]))), colour)
      for i, colour in enumerate(_COLOURS[: time % 3])
    )
    scenes.append(
      shapes.Scene(
        discs,
        _HALF_WIDTH,
        '',
        (shapes.Slab((-1.0, -2.0), (0.5, 0.0)),),
        polygons if has_polygons else (),
        1.5,
      )
    )
  return scenes


def _numbers(text, dtype):
  return np.frombuffer(base64.b64decode(text), dtype)


def _value(numbered, time):
  """Returns which value holds, as films.js does it."""
  found = [index for start, index in numbered['starts'] if start <= time]
  return numbered['values'][found[-1]]


def _unpacked(film, shared):
  """Returns centres [T + 1, K, 2] and colours, and polygons of each time."""
  unit = shared['stages'][film['stage']]['half_width'] / shared['levels']
  moving = _numbers(film['moving'], '<i2').reshape(film['times'], -1, 2)
  tracks = [moving[:, i] for i in range(moving.shape[1])]
  tracks += [np.tile(x, [film['times'], 1]) for x in film['still']]
  centres = np.stack([tracks[disc[0]] for disc in film['discs']], 1) * unit
  colours = [
    [shared['colours'][x] for x in _value(film['looks'], time)]
    for time in range(film['times'])
  ]
  if film['polygons'] is None:
    return centres, colours, [[]] * film['times']
  corners = iter(_numbers(film['polygons']['corners'], '<i2') * unit)
  polygons = []
  for time in range(film['times']):
    polygons.append([])
    for colour, number in _value(film['polygons']['kinds'], time):
      points = [(next(corners), next(corners)) for _ in range(number)]
      polygons[-1].append((shared['colours'][colour], points))
  assert next(corners, None) is None
  return centres, colours, polygons


def _hex(colour):
  return '#' + bytes(colour).hex()


class PackingTest(parameterized.TestCase):
  @parameterized.parameters(True, False)
  def test_films_come_back(self, has_polygons):
    scenes, packer = _scenes(has_polygons), report_packing.Packer()
    progress = np.linspace(0, 1, _TIMES - 1)
    film = packer.film(scenes, progress)
    film, shared = json.loads(json.dumps([film, packer.shared()]))
    centres, colours, polygons = _unpacked(film, shared)
    half = _HALF_WIDTH / report_packing.LEVELS / 2 + 1e-9
    for time, scene in enumerate(scenes):
      wanted = [disc.centre for disc in scene.discs]
      np.testing.assert_allclose(centres[time], wanted, rtol=0, atol=half)
      self.assertEqual(colours[time], [_hex(x.colour) for x in scene.discs])
      for (colour, points), polygon in zip(
        polygons[time], scene.polygons, strict=True
      ):
        self.assertEqual(colour, _hex(polygon.colour))
        np.testing.assert_allclose(points, polygon.corners, rtol=0, atol=half)
    found = _numbers(film['progress'], 'u1') / 255
    np.testing.assert_allclose(found, progress, atol=0.5 / 255 + 1e-9)
    stage = shared['stages'][film['stage']]
    self.assertEqual((stage['half_width'], stage['half_height']), (3.0, 1.5))
    self.assertEqual(stage['slabs'], [[-1.0, -2.0, 0.5, 0.0]])

  def test_rings_and_what_stays_cost_nothing(self):
    film = report_packing.Packer().film(_scenes(False), np.ones(_TIMES - 1))
    moving = _numbers(film['moving'], '<i2')
    self.assertLen(moving, 2 * 2 * _TIMES)
    self.assertLen(film['still'], 1)

  def test_rooms_and_colours_are_shared(self):
    packer = report_packing.Packer()
    films = [packer.film(_scenes(True), np.ones(5)) for _ in range(2)]
    self.assertEqual(films[0], films[1])
    self.assertLen(packer.shared()['stages'], 1)
    self.assertLen(packer.shared()['colours'], len(_COLOURS))

  def test_what_is_far_outside_is_cut_off(self):
    scene = shapes.Scene([shapes.Disc((1e9, 0.0), 0.1, _COLOURS[0])], 1.0, '')
    film = report_packing.Packer().film([scene, scene], np.ones(1))
    self.assertEqual(film['still'], [[32_767, 0]])

  def test_another_number_of_discs_is_refused(self):
    scenes = _scenes(False)
    scenes[-1].discs.pop()
    with self.assertRaisesRegex(ValueError, 'number of discs'):
      report_packing.Packer().film(scenes, np.ones(_TIMES - 1))


if __name__ == '__main__':
  absltest.main()
