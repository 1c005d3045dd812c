# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Scenes to RGB frames (uint8 [height, width, 3]) and frames to videos."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from absl import logging

from vacl_tf.environments import shapes

if TYPE_CHECKING:
  from PIL import Image

Frame = np.ndarray

_NO_FRAMES = 'frames is empty; allowed: one frame or more'
_SUFFIXES = ('.gif', '.mp4')
_SUPERSAMPLING = 4  # Anti-aliasing: drawn so much larger, then averaged.
_CAPTION_SHARE = 0.09  # Height of the caption line / picture width.
_FONT_SHARE = 0.6  # Font size / height of the caption line.
_RING_SHARE = 1 / 160  # Thickness of rings / picture width.
_GAP_SHARE = 0.05  # Gap around tiles / width of a tile.
_TINT = 0.18  # Opacity of the fill of rings.
_GIF_COLOURS = 64
_PALETTE_FRAMES = 16  # Frames from which a GIF's palette is computed.
BACKGROUND = (250, 250, 248)
_GRID = (234, 234, 230)  # Lines one metre apart.
_BORDER = (190, 190, 186)
_INK = (60, 60, 60)
_WALL = (205, 200, 190)


def render(scene: shapes.Scene, width: int = 240) -> Frame:
  """Returns a picture of one world with its caption below.

  Args:
    scene: what to draw; x grows to the right, y upwards. Drawn in this order,
      later ones on top: slabs, rings, polygons, filled discs.
    width: of the picture in pixels; the caption adds 9 % to its height.
  """
  from PIL import Image

  side = _SUPERSAMPLING * width
  large = Image.new('RGB', (side, side), BACKGROUND)
  _draw_grid(large, scene.half_width)
  for slab in scene.slabs:
    _draw_slab(large, slab, scene.half_width)
  for disc in scene.discs:
    if not disc.is_filled:
      _draw_disc(large, disc, scene.half_width)
  for polygon in scene.polygons:
    _draw_polygon(large, polygon, scene.half_width)
  for disc in scene.discs:
    if disc.is_filled:
      _draw_disc(large, disc, scene.half_width)
  picture = large.resize((width, width), Image.Resampling.BOX)
  return with_caption(np.asarray(picture), scene.caption)


def with_caption(picture: Frame, text: str) -> Frame:
  """Returns a picture with a strip below that has a centred line of text."""
  from PIL import Image
  from PIL import ImageDraw
  from PIL import ImageFont

  width = picture.shape[1]
  height = max(12, round(width * _CAPTION_SHARE))
  strip = Image.new('RGB', (width, height), BACKGROUND)
  draw = ImageDraw.Draw(strip)
  font = ImageFont.load_default(size=_FONT_SHARE * height)
  draw.text((width / 2, height / 2), text, _INK, font, anchor='mm')
  return np.concatenate([picture, np.asarray(strip)])


def tile(frames: Sequence[Frame], num_columns: int | None = None) -> Frame:
  """Returns frames laid out in rows, with gaps around them.

  Args:
    frames: of one size; an incomplete last row is filled with background.
    num_columns: frames in a row; if None, as square as possible.
  """
  if not len(frames):
    raise ValueError(_NO_FRAMES)
  num_columns = num_columns or int(np.ceil(len(frames) ** 0.5))
  num_rows = -(-len(frames) // num_columns)
  height, width, _ = frames[0].shape
  gap = round(width * _GAP_SHARE)
  size = [num_rows * (height + gap) + gap, num_columns * (width + gap) + gap]
  whole = np.full([*size, 3], BACKGROUND, np.uint8)
  for index, frame in enumerate(frames):
    row, column = divmod(index, num_columns)
    top, left = gap + row * (height + gap), gap + column * (width + gap)
    whole[top : top + height, left : left + width] = frame
  return whole


def check_suffix(path: pathlib.Path) -> None:
  """Raises ValueError if no video can be written to such a file."""
  if path.suffix not in _SUFFIXES:
    raise ValueError(
      f'path={str(path)!r} has the suffix {path.suffix!r}; '
      f'allowed: {", ".join(_SUFFIXES)}'
    )


def write_video(
  frames: Sequence[Frame],
  path: str | pathlib.Path,
  frames_per_second: float = 10.0,
) -> pathlib.Path:
  """Writes frames of one size to a .gif or .mp4 file.

  An .mp4 needs the package imageio-ffmpeg. Without it a .gif of the same name
  is written instead, and a warning says so.

  Args:
    frames: RGB frames.
    path: the file; its folder is created if needed.
    frames_per_second: playback speed. In a GIF the duration of a frame is a
      multiple of 0.01 s, and identical successive frames are merged.

  Returns:
    The path that was written.

  Raises:
    ValueError: there are no frames, or the suffix is unknown.
  """
  path = pathlib.Path(path)
  check_suffix(path)
  if not len(frames):
    raise ValueError(_NO_FRAMES)
  path.parent.mkdir(parents=True, exist_ok=True)
  if path.suffix == '.mp4' and not _write_mp4(frames, path, frames_per_second):
    gif = path.with_suffix('.gif')
    logging.warning(
      'imageio-ffmpeg is not installed, so %s is written instead of %s. For '
      'mp4: pip install imageio-ffmpeg',
      gif,
      path.name,
    )
    path = gif
  if path.suffix == '.gif':
    _write_gif(frames, path, frames_per_second)
  return path


def _draw_grid(picture: Image.Image, half_width: float) -> None:
  """Draws grid lines one metre apart, to show the scale, and a border."""
  from PIL import ImageDraw

  draw = ImageDraw.Draw(picture)
  side = picture.width
  for metre in range(-int(half_width), int(half_width) + 1):
    at = side / 2 * (1.0 + metre / half_width)
    draw.line([(at, 0), (at, side)], _GRID, _SUPERSAMPLING)
    draw.line([(0, at), (side, at)], _GRID, _SUPERSAMPLING)
  draw.rectangle([0, 0, side - 1, side - 1], None, _BORDER, _SUPERSAMPLING)


def _draw_slab(
  picture: Image.Image, slab: shapes.Slab, half_width: float
) -> None:
  """Draws a filled rectangle."""
  from PIL import ImageDraw

  scale = picture.width / (2 * half_width)  # Pixels a metre.
  (left, low), (right, high) = slab
  corners = [(left, -high), (right, -low)]  # Rows grow downwards.
  at = [picture.width / 2 + scale * x for corner in corners for x in corner]
  ImageDraw.Draw(picture).rectangle(at, _WALL)


def _draw_disc(
  picture: Image.Image, disc: shapes.Disc, half_width: float
) -> None:
  """Draws a filled disc, or a ring with a tinted interior."""
  from PIL import ImageDraw

  scale = picture.width / (2 * half_width)  # Pixels a metre.
  x = picture.width / 2 + scale * float(disc.centre[0])
  y = picture.width / 2 - scale * float(disc.centre[1])
  radius = scale * disc.radius
  box = [x - radius, y - radius, x + radius, y + radius]
  draw = ImageDraw.Draw(picture)
  if disc.is_filled:
    draw.ellipse(box, fill=disc.colour)
    return
  tint = _mix(disc.colour, BACKGROUND, _TINT)
  thickness = max(1, round(picture.width * _RING_SHARE))
  draw.ellipse(box, fill=tint, outline=disc.colour, width=thickness)


def _draw_polygon(
  picture: Image.Image, polygon: shapes.Polygon, half_width: float
) -> None:
  """Draws a filled polygon."""
  from PIL import ImageDraw

  scale = picture.width / (2 * half_width)  # Pixels a metre.
  at = picture.width / 2 + scale * np.array(polygon.corners) * [1, -1]
  ImageDraw.Draw(picture).polygon(at.ravel().tolist(), polygon.colour)


def _mix(
  colour: tuple[int, int, int], ground: tuple[int, int, int], share: float
) -> tuple[int, ...]:
  """Returns a colour blended over a ground with opacity `share`."""
  return tuple(
    round(share * a + (1.0 - share) * b)
    for a, b in zip(colour, ground, strict=True)
  )


def _write_gif(
  frames: Sequence[Frame], path: pathlib.Path, frames_per_second: float
) -> None:
  """Writes a GIF with one palette for all frames, to keep it small."""
  from PIL import Image

  chosen = np.linspace(0, len(frames) - 1, _PALETTE_FRAMES).round().astype(int)
  montage = Image.fromarray(np.concatenate([frames[i] for i in chosen]))
  palette = montage.quantize(_GIF_COLOURS)
  pages = [
    Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE)
    for frame in frames
  ]
  pages[0].save(
    path,
    save_all=True,
    append_images=pages[1:],
    duration=round(100 / frames_per_second) * 10,  # Milliseconds.
    loop=0,
    optimize=True,
  )


def _write_mp4(
  frames: Sequence[Frame], path: pathlib.Path, frames_per_second: float
) -> bool:
  """Writes an MP4; returns False if imageio-ffmpeg is missing."""
  try:
    import imageio_ffmpeg
  except ImportError:
    return False
  height, width, _ = frames[0].shape
  # The codec needs even sizes.
  padding = [(0, height % 2), (0, width % 2), (0, 0)]
  writer = imageio_ffmpeg.write_frames(
    str(path),
    (width + width % 2, height + height % 2),
    fps=frames_per_second,
    macro_block_size=2,
  )
  writer.send(None)  # Starts the encoder.
  for frame in frames:
    writer.send(np.ascontiguousarray(np.pad(frame, padding, mode='edge')))
  writer.close()
  return True
