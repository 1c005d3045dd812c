# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for rendering."""

import errno
import pathlib
import sys
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from PIL import Image

from vacl_tf import catalog
from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf.environments import rendering
from vacl_tf.environments import shapes

_WIDTH = 200
_RED, _BLUE, _GREEN = (200, 0, 0), (0, 0, 200), (0, 150, 0)


def _scene(*discs, caption='two words'):
  return shapes.Scene(list(discs), half_width=2.0, caption=caption)


def _pixel(frame, x, y):
  """Returns the colour at a place in metres, as `_scene` shows it."""
  scale = _WIDTH / 4.0
  row, column = _WIDTH / 2 - scale * y, _WIDTH / 2 + scale * x
  return tuple(int(number) for number in frame[int(row), int(column)])


def _clip(num_frames, width=60):
  """Returns frames that all differ."""
  return [
    rendering.render(
      _scene(shapes.Disc((-1.5 + 3.0 * i / num_frames, 0.0), 0.4, _RED)), width
    )
    for i in range(num_frames)
  ]


class RenderTest(parameterized.TestCase):
  @parameterized.parameters(160, 200, 241)
  def test_size_and_type(self, width):
    frame = rendering.render(_scene(), width)
    self.assertEqual(frame.dtype, np.uint8)
    self.assertEqual(frame.shape, (width + round(0.09 * width), width, 3))

  def test_slabs_lie_where_they_should_below_the_rest(self):
    scene = _scene(shapes.Disc((1.0, 1.2), 0.2, _RED))
    wall = shapes.Slab((0.5, 1.0), (5.0, 1.5))
    frame = rendering.render(scene._replace(slabs=(wall,)), _WIDTH)
    empty = rendering.render(scene, _WIDTH)
    self.assertEqual(_pixel(frame, 1.0, 1.2), _RED)
    for x, y in ((0.55, 1.05), (0.55, 1.45), (1.9, 1.2)):
      self.assertEqual(_pixel(frame, x, y), shapes.WALL)
    for x, y in ((0.45, 1.2), (0.7, 0.9), (0.7, 1.6), (0.7, -1.2)):
      self.assertEqual(_pixel(frame, x, y), _pixel(empty, x, y))

  def test_discs_lie_where_they_should(self):
    frame = rendering.render(
      _scene(
        shapes.Disc((1.0, 0.5), 0.3, _RED), shapes.Disc((0.2, -1.3), 0.1, _BLUE)
      ),
      _WIDTH,
    )
    for x, y in ((1.0, 0.5), (1.27, 0.5), (1.0, 0.77), (0.8, 0.3)):
      self.assertEqual(_pixel(frame, x, y), _RED)
    self.assertEqual(_pixel(frame, 0.2, -1.3), _BLUE)
    for x, y in ((1.33, 0.55), (0.67, 0.55), (-0.95, 0.5), (0.95, -0.5)):
      self.assertGreater(min(_pixel(frame, x, y)), 220)  # Background.

  def test_polygons_lie_between_rings_and_filled_discs(self):
    corners = ((0.5, 0.5), (1.5, 0.5), (0.5, 1.5))
    scene = _scene(
      shapes.Disc((0.6, 0.6), 0.05, _RED),
      shapes.Disc((0.8, 0.8), 0.6, _GREEN, is_filled=False),
    )._replace(polygons=(shapes.Polygon(corners, _BLUE),))
    frame = rendering.render(scene, _WIDTH)
    self.assertEqual(_pixel(frame, 0.6, 0.6), _RED)
    for x, y in ((0.75, 0.75), (0.53, 1.4), (1.4, 0.53)):
      self.assertEqual(_pixel(frame, x, y), _BLUE)
    for x, y in ((1.1, 1.1), (0.45, 0.8), (0.8, 0.45)):
      self.assertGreater(min(_pixel(frame, x, y)), 180)

  def test_a_room_that_is_wide_is_cropped(self):
    scene = _scene(shapes.Disc((1.6, 0.4), 0.2, _RED))
    frame = rendering.render(scene._replace(half_height=0.5), _WIDTH)
    self.assertEqual(frame.shape[:2], (100 + 18, 400))  # And the caption.
    # 100 pixels a metre.
    self.assertEqual(tuple(frame[10, 360].tolist()), _RED)
    self.assertGreater(min(frame[90, 360].tolist()), 220)

  def test_small_discs_are_large_enough_to_be_seen(self):
    scene = _scene(shapes.Disc((0.5, 0.5), 1e-6, _RED))
    frame = rendering.render(scene, _WIDTH)
    self.assertGreater((frame == _RED).all(-1).sum(), 30)

  def test_trails_lie_below_the_discs_that_moved(self):
    still = shapes.Disc((-1.0, -1.0), 0.2, _BLUE)
    ring = shapes.Disc((1.0, 1.0), 0.2, _GREEN, is_filled=False)
    scenes = [
      _scene(shapes.Disc((0.1 * t, 0.0), 0.2, _RED), still, ring)
      for t in range(8)
    ]
    moved = shapes.with_trails(scenes, 5)
    self.assertEqual([len(x.trails) for x in moved], [0] + 7 * [1])
    self.assertLen(moved[-1].trails[0].points, 6)
    self.assertEqual(moved[-1].trails[0].points[-1], (0.1 * 7, 0.0))
    one, other = (rendering.render(x[-1], _WIDTH) for x in (scenes, moved))
    self.assertEqual(_pixel(other, 0.7, 0.0), _RED)
    self.assertEqual(_pixel(other, 0.0, 0.0), _pixel(one, 0.0, 0.0))  # Older.
    red, green, blue = _pixel(other, 0.3, 0.0)
    self.assertGreater(red, green + 60)
    self.assertGreater(min(green, blue), 100)  # Lighter than the disc.

  def test_trails_are_those_of_as_many_discs(self):
    discs = [shapes.Disc((0.1 * t, 0.0), 0.2, _RED) for t in range(4)]
    extra = shapes.Disc((1.0, 1.0), 0.2, _BLUE)
    scenes = [_scene(*discs[:1]), _scene(extra, discs[1])]
    scenes += [_scene(x) for x in discs[2:]]
    trails = [x.trails for x in shapes.with_trails(scenes, 5)]
    self.assertEqual([len(x) for x in trails], [0, 0, 1, 1])
    self.assertEqual([x[0] for x in trails[3][0].points], [0.0, 0.2, 0.1 * 3])

  @parameterized.parameters(264, 300, 516)  # 264: a film of one world.
  def test_a_header_has_every_colour_that_it_explains(self, width):
    picture = np.full([40, width, 3], 7, np.uint8)
    legend = (('agent', _RED), ('covered landmark', _GREEN), ('ball', _BLUE))
    frame = rendering.with_header(picture, 'step 12 of 70', legend)
    np.testing.assert_array_equal(frame[-40:], picture)
    for _, colour in legend:
      is_there = (frame[:-40] == colour).all(-1)
      self.assertGreater(is_there.sum(), 5)
      self.assertFalse(is_there[:, -2:].any())  # It is not cut.
    plain = rendering.with_header(picture, '', ())
    self.assertFalse((frame[:-40, -1] != plain[:-40, -1]).any())

  def test_edges_are_smooth(self):
    frame = rendering.render(_scene(shapes.Disc((0.3, 0.3), 0.4, _RED)), _WIDTH)
    reds = frame[:_WIDTH, :, 1]
    self.assertGreater(np.sum((reds > 20) & (reds < 180)), 20)

  def test_a_ring_is_light_within_and_below_filled_discs(self):
    ring = shapes.Disc((0.5, 0.5), 0.4, _GREEN, is_filled=False)
    dot = shapes.Disc((0.5, 0.5), 0.1, _RED)
    frame = rendering.render(_scene(dot, ring), _WIDTH)
    self.assertEqual(_pixel(frame, 0.5, 0.5), _RED)
    inside = _pixel(frame, 0.7, 0.5)
    self.assertGreater(min(inside), 190)
    self.assertGreater(inside[1], inside[0] + 10)  # Greenish.
    row = frame[_WIDTH // 2 - 25, :_WIDTH].astype(int)
    self.assertLess(np.abs(row - _GREEN).max(1).min(), 30)  # The ring itself.

  def test_the_caption_is_below_the_picture(self):
    with_text = rendering.render(_scene(caption='4 of 4'), _WIDTH)
    without = rendering.render(_scene(caption=''), _WIDTH)
    differs = np.any(with_text != without, axis=(1, 2))
    self.assertFalse(differs[:_WIDTH].any())
    self.assertTrue(differs[_WIDTH:].any())
    columns = np.flatnonzero(np.any(with_text != without, axis=(0, 2)))
    self.assertAlmostEqual(columns.mean(), _WIDTH / 2, delta=3)

  @parameterized.parameters(*catalog.TASKS.names())
  def test_every_environment_can_be_rendered(self, name):
    env = environments.load(name)
    if not env.is_in_graph:
      self.skipTest('it has a renderer of its own')
    seed = randomness.root(0)
    phi = env.task_space.sample_easy(2, seed)
    one, other = map(rendering.render, env.draw(env.place(phi, seed)))
    self.assertEqual(one.shape, other.shape)
    self.assertTrue(np.any(one != other))

  def test_a_covered_landmark_turns_green(self):
    env = environments.load('simple_spread', num_agents=2)
    phi = np.float32([[1, 1, -1, 2, 1.12, 1, 0, -2]])
    (scene,) = env.draw(env.place(phi, randomness.root(0)))
    scene = scene._replace(half_width=2.0)
    frame = rendering.render(scene, _WIDTH)
    red, green, blue = _pixel(frame, 1.15, 1.0)
    self.assertGreater(green, max(red, blue) + 30)
    red, green, blue = _pixel(frame, 0.0, -1.99)
    self.assertLess(max(red, green, blue) - min(red, green, blue), 10)


class TileTest(parameterized.TestCase):
  @parameterized.parameters(
    (1, None, 1, 1),
    (2, None, 1, 2),
    (4, None, 2, 2),
    (5, None, 2, 3),
    (4, 4, 1, 4),
  )
  def test_layout(self, num, num_columns, rows, columns):
    frames = [np.full([50, 40, 3], 10 * i, np.uint8) for i in range(num)]
    whole = rendering.tile(frames, num_columns)
    gap = 2
    self.assertEqual(
      whole.shape, (rows * (50 + gap) + gap, columns * (40 + gap) + gap, 3)
    )
    for index in range(num):
      row, column = divmod(index, columns)
      top, left = gap + 52 * row, gap + 42 * column
      part = whole[top : top + 50, left : left + 40]
      self.assertTrue(np.all(part == 10 * index))
    self.assertEqual(np.sum(whole < 200), num * 50 * 40 * 3)

  def test_nothing_is_refused(self):
    with self.assertRaisesRegex(ValueError, 'one frame or more'):
      rendering.tile([])


class WriteVideoTest(parameterized.TestCase):
  def path(self, name):
    return pathlib.Path(self.create_tempdir().full_path) / 'new_folder' / name

  def test_gif(self):
    frames = _clip(7)
    path = self.path('a.gif')
    self.assertEqual(rendering.write_video(frames, str(path), 20.0), path)
    with Image.open(path) as gif:
      self.assertEqual(gif.n_frames, 7)
      self.assertEqual(gif.info['duration'], 50)
      self.assertEqual(gif.info['loop'], 0)
      for index, frame in enumerate(frames):
        gif.seek(index)
        shown = np.asarray(gif.convert('RGB')).astype(int)
        self.assertEqual(shown.shape, frame.shape)
        self.assertLess(np.abs(shown - frame).mean(), 3.0)

  def test_one_frame_is_a_video(self):
    path = rendering.write_video(_clip(1), self.path('a.gif'))
    with Image.open(path) as gif:
      self.assertEqual(gif.n_frames, 1)

  def test_colours_that_come_late_are_kept(self):
    # The palette is common to all frames, so it must know of the last ones.
    frames = _clip(20)
    frames[-3:] = [
      rendering.render(_scene(shapes.Disc((0.0, 0.1 * i), 1.0, _GREEN)), 60)
      for i in range(3)
    ]
    path = rendering.write_video(frames, self.path('a.gif'))
    with Image.open(path) as gif:
      gif.seek(19)
      shown = np.asarray(gif.convert('RGB')).astype(int)
    self.assertLess(np.abs(shown[30, 30] - _GREEN).max(), 20)

  def test_fills_keep_their_colours_however_small_they_are(self):
    amber, sand = (230, 140, 40), (205, 200, 190)
    rng = np.random.default_rng(0)
    frames = []
    for _ in range(8):
      # Many shades, as of smooth edges, and two small fills.
      frame = np.full([120, 120, 3], 250)
      frame[60:] = rng.integers(100, 200, [60, 120, 3])
      frame[10:16, 10:16], frame[40:46, 80:86] = amber, sand
      frames.append(frame.astype(np.uint8))
    path = rendering.write_video(frames, self.path('a.gif'))
    with Image.open(path) as gif:
      gif.seek(5)
      shown = np.asarray(gif.convert('RGB')).astype(int)
    np.testing.assert_array_equal(shown[12, 12], amber)
    np.testing.assert_array_equal(shown[42, 82], sand)

  def test_shades_of_a_lit_floor_leave_room_for_small_colours(self):
    frame = np.zeros([120, 120, 3]) + np.linspace(60, 250, 120)[:, None]
    frame += np.linspace(0, 5, 120)[:, None, None]
    red, blue = (214, 84, 62), (66, 113, 196)
    frame[10:13, 10:13], frame[100:103, 50:53] = red, blue
    frame = frame.astype(np.uint8)
    path = rendering.write_video([frame, frame], self.path('a.gif'))
    with Image.open(path) as gif:
      shown = np.asarray(gif.convert('RGB')).astype(int)
    self.assertLess(np.abs(shown[11, 11] - red).max(), 40)
    self.assertLess(np.abs(shown[101, 51] - blue).max(), 40)

  def test_a_tiled_episode_is_below_a_megabyte(self):
    rng = np.random.default_rng(0)
    frames = []
    centres = rng.uniform(-1.5, 1.5, [4, 8, 2])
    for _ in range(70):
      centres += rng.uniform(-0.1, 0.1, centres.shape)
      scenes = [
        _scene(*(shapes.Disc(centre, 0.1, _BLUE) for centre in world))
        for world in centres
      ]
      frames.append(
        rendering.tile([rendering.render(scene) for scene in scenes])
      )
    path = rendering.write_video(frames, self.path('a.gif'))
    self.assertLess(path.stat().st_size, 1_000_000)

  def test_mp4_becomes_a_gif_where_the_encoder_is_missing(self):
    path = self.path('a.mp4')
    with (
      mock.patch.dict(sys.modules, {'imageio_ffmpeg': None}),
      self.assertLogs(level='WARNING') as logs,
    ):
      written = rendering.write_video(_clip(3), path)
    self.assertEqual(written, path.with_suffix('.gif'))
    self.assertTrue(written.exists())
    self.assertFalse(path.exists())
    self.assertRegex(logs.output[0], r'a\.gif is written.*pip install')

  def test_mp4_gets_every_frame_at_an_even_size(self):
    frames = _clip(3, width=61)
    self.assertEqual(frames[0].shape, (73, 61, 3))
    path = self.path('a.mp4')
    beside = path.with_name('.new.mp4')  # It is renamed when it is whole.
    encoder = mock.Mock()
    encoder.write_frames.return_value.close.side_effect = beside.touch
    with (
      mock.patch.dict(sys.modules, {'imageio_ffmpeg': encoder}),
      mock.patch.object(rendering.secrets, 'token_hex', lambda size: 'new'),
    ):
      self.assertEqual(rendering.write_video(frames, path, 12.0), path)
    (args, kwargs) = encoder.write_frames.call_args
    self.assertEqual(args, (str(beside), (62, 74)))
    self.assertTrue(path.exists())
    self.assertFalse(beside.exists())
    self.assertEqual(kwargs['fps'], 12.0)
    writer = encoder.write_frames.return_value
    start, *sent = [call.args[0] for call in writer.send.call_args_list]
    self.assertIsNone(start)
    self.assertLen(sent, 3)
    for frame, padded in zip(frames, sent, strict=True):
      self.assertEqual(padded.shape, (74, 62, 3))
      np.testing.assert_array_equal(padded[:73, :61], frame)
      np.testing.assert_array_equal(padded[:73, 61], frame[:, 60])
      np.testing.assert_array_equal(padded[73], padded[72])
    writer.close.assert_called_once()

  def test_films_beside_it_stay(self):
    path = rendering.write_video(_clip(2), self.path('a.gif'))
    other = rendering.write_video(_clip(2), path.with_name('new-a.gif'))
    before = other.read_bytes()
    rendering.write_video(_clip(3), path)
    self.assertEqual(other.read_bytes(), before)
    self.assertCountEqual(path.parent.iterdir(), [path, other])

  def test_a_full_disk_leaves_the_old_film(self):
    path = rendering.write_video(_clip(1), self.path('a.gif'))
    before = path.read_bytes()

    def fail(image, beside, **options):
      beside.write_bytes(b'GIF')
      raise OSError(errno.ENOSPC, 'No space left on device')

    with mock.patch.object(Image.Image, 'save', fail):
      with self.assertRaisesRegex(OSError, 'No space left'):
        rendering.write_video(_clip(2), path)
    self.assertEqual(path.read_bytes(), before)
    self.assertEqual(list(path.parent.iterdir()), [path])

  @parameterized.parameters('a.avi', 'a', 'gif')
  def test_an_unknown_suffix_is_refused(self, name):
    with self.assertRaisesRegex(ValueError, r'allowed: \.gif, \.mp4'):
      rendering.write_video(_clip(1), self.path(name))

  def test_no_frames_are_refused(self):
    with self.assertRaisesRegex(ValueError, 'one frame or more'):
      rendering.write_video([], self.path('a.gif'))


if __name__ == '__main__':
  absltest.main()
