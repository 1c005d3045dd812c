# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Renders scenes to RGB frames, uint8 [height, width, 3], and writes videos."""

from __future__ import annotations

import contextlib
import pathlib
import secrets
import types
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from absl import logging

from vacl_tf.environments import shapes

if TYPE_CHECKING:
  from PIL import Image

Frame = np.ndarray

_NO_FRAMES = 'frames is empty; allowed: one frame or more'
_SUFFIXES = ('.gif', '.mp4')
_SUPERSAMPLING = 4  # Anti-aliasing: draws this much larger, then averages.
_CAPTION_SHARE = 0.09  # Height of the caption line / picture width.
_FONT_SHARE = 0.6  # Font size / height of the caption line.
_RING_SHARE = 1 / 160  # Thickness of rings / picture width.
_GAP_SHARE = 0.05  # Gap around tiles / width of a tile.
_TINT = 0.18  # Opacity of the fill of rings.
# Thickness of trails / picture width, and their opacity.
_TRAIL_SHARE, _TRAIL_TINT = 1 / 90, 0.45
# Smallest radius of filled discs and of rings / picture width. Rings are
# larger, so that they remain visible around a disc that covers them.
_LEAST_RADIUS_SHARE, _LEAST_RING_SHARE = 1 / 50, 1 / 28
_HEADER_FONT, _LEAST_FONT = 14.0, 7.0  # Pixels.
_MARK = 2.2  # Width of a colour in a legend and its gaps / font size.
_GIF_COLOURS, _GIF_FILLS = 64, 32  # In total, and for fills.
_PALETTE_FRAMES = 16  # Frames from which a GIF's palette is computed.
BACKGROUND = (250, 250, 248)
_GRID = (234, 234, 230)  # Lines one metre apart.
_BORDER = (190, 190, 186)
_INK = (60, 60, 60)


def render(scene: shapes.Scene, width: int = 240) -> Frame:
  """Returns a picture of one world with its caption below.

  Args:
    scene: what to draw; x grows to the right, y upwards. Shapes are drawn in
      this order, later ones on top: slabs, rings, polygons, trails, filled
      discs. Discs have a minimum size, so that they are always visible.
    width: width of a square picture in pixels. A picture that is not square has
      the same area. The caption adds 9 % of `width` to the height.
  """
  from PIL import Image

  size = width, width
  if scene.half_height is not None:
    ratio = (scene.half_width / scene.half_height) ** 0.5  # The same area.
    size = round(width * ratio), round(width / ratio)
  large = Image.new('RGB', [_SUPERSAMPLING * x for x in size], BACKGROUND)
  _draw_grid(large, scene.half_width)
  for slab in scene.slabs:
    _draw_slab(large, slab, scene.half_width)
  for disc in scene.discs:
    if not disc.is_filled:
      _draw_disc(large, disc, scene.half_width)
  for polygon in scene.polygons:
    _draw_polygon(large, polygon, scene.half_width)
  for trail in scene.trails:
    _draw_trail(large, trail, scene.half_width)
  for disc in scene.discs:
    if disc.is_filled:
      _draw_disc(large, disc, scene.half_width)
  picture = np.asarray(large.resize(size, Image.Resampling.BOX))
  return with_caption(picture, scene.caption, round(width * _CAPTION_SHARE))


def with_header(
  picture: Frame, text: str, legend: Sequence[tuple[str, shapes.Colour]]
) -> Frame:
  """Returns a picture with a strip above that has a text and a legend."""
  from PIL import Image
  from PIL import ImageDraw
  from PIL import ImageFont

  width = picture.shape[1]
  size = _HEADER_FONT
  words = ''.join((text, *(name for name, _ in legend)))
  marks = _MARK * len(legend) + 2.0
  while (
    ImageFont.load_default(size).getlength(words) + marks * size > width
    and size > _LEAST_FONT
  ):
    size -= 1.0
  font, height = ImageFont.load_default(size), round(1.9 * _HEADER_FONT)
  strip = Image.new('RGB', (width, height), BACKGROUND)
  draw = ImageDraw.Draw(strip)
  middle, at = height / 2, size
  draw.text((at, middle), text, _INK, font, anchor='lm')
  at += font.getlength(text)
  for name, colour in legend:
    at += size
    radius = 0.4 * size
    box = [at, middle - radius, at + 2 * radius, middle + radius]
    draw.ellipse(box, fill=colour)
    at += 2 * radius + 0.4 * size
    draw.text((at, middle), name, _INK, font, anchor='lm')
    at += font.getlength(name)
  return np.concatenate([np.asarray(strip), picture])


def with_caption(picture: Frame, text: str, height: int | None = None) -> Frame:
  """Returns a picture with a strip below that has a centred line of text.

  Args:
    picture: the picture above the strip.
    text: one line.
    height: height of the strip in pixels; None for 9 % of the width.
  """
  from PIL import Image
  from PIL import ImageDraw
  from PIL import ImageFont

  width = picture.shape[1]
  height = max(12, height or round(width * _CAPTION_SHARE))
  strip = Image.new('RGB', (width, height), BACKGROUND)
  draw = ImageDraw.Draw(strip)
  font = ImageFont.load_default(size=_FONT_SHARE * height)
  draw.text((width / 2, height / 2), text, _INK, font, anchor='mm')
  return np.concatenate([picture, np.asarray(strip)])


def tile(frames: Sequence[Frame], num_columns: int | None = None) -> Frame:
  """Returns frames laid out in rows, with gaps around them.

  Args:
    frames: frames of one size; background fills an incomplete last row.
    num_columns: frames in a row; None for a layout as square as possible.
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
  """Raises ValueError if the file's suffix is not one of a video."""
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
    OSError: it can't be written; an old file is unchanged.
  """
  path = pathlib.Path(path)
  check_suffix(path)
  if not len(frames):
    raise ValueError(_NO_FRAMES)
  path.parent.mkdir(parents=True, exist_ok=True)
  if path.suffix == '.mp4':
    try:
      import imageio_ffmpeg as ffmpeg
    except ImportError:
      gif = path.with_suffix('.gif')
      logging.warning(
        'imageio-ffmpeg is not installed, so %s is written instead of %s. For '
        'mp4: pip install imageio-ffmpeg',
        gif,
        path.name,
      )
      path = gif
  with _replaced(path) as beside:
    if path.suffix == '.mp4':
      _write_mp4(ffmpeg, frames, beside, frames_per_second)
    else:
      _write_gif(frames, beside, frames_per_second)
  return path


@contextlib.contextmanager
def _replaced(path: pathlib.Path) -> Iterator[pathlib.Path]:
  """Yields a path of the same suffix; the file there replaces the old one."""
  beside = path.with_name(f'.{secrets.token_hex(8)}{path.suffix}')
  try:
    yield beside
    beside.replace(path)
  except BaseException:
    with contextlib.suppress(OSError):
      beside.unlink(missing_ok=True)
    raise


def _draw_grid(picture: Image.Image, half_width: float) -> None:
  """Draws grid lines one metre apart, to show the scale, and a border."""
  from PIL import ImageDraw

  draw = ImageDraw.Draw(picture)
  for metre in range(-int(half_width), int(half_width) + 1):
    x, y = _at(picture, half_width, (metre, metre))
    draw.line([(x, 0), (x, picture.height)], _GRID, _SUPERSAMPLING)
    draw.line([(0, y), (picture.width, y)], _GRID, _SUPERSAMPLING)
  corners = [0, 0, picture.width - 1, picture.height - 1]
  draw.rectangle(corners, None, _BORDER, _SUPERSAMPLING)


def _at(
  picture: Image.Image, half_width: float, point: Sequence[float]
) -> tuple[float, float]:
  """Returns where a point in metres is, in pixels; rows grow downwards."""
  scale = picture.width / (2 * half_width)  # Pixels a metre.
  x = picture.width / 2 + scale * float(point[0])
  return x, picture.height / 2 - scale * float(point[1])


def _draw_slab(
  picture: Image.Image, slab: shapes.Slab, half_width: float
) -> None:
  """Draws a filled rectangle."""
  from PIL import ImageDraw

  (left, low), (right, high) = slab
  at = [_at(picture, half_width, x) for x in ((left, high), (right, low))]
  ImageDraw.Draw(picture).rectangle(at, shapes.WALL)


def _draw_disc(
  picture: Image.Image, disc: shapes.Disc, half_width: float
) -> None:
  """Draws a filled disc, or a ring with a tinted interior."""
  from PIL import ImageDraw

  x, y = _at(picture, half_width, disc.centre)
  radius = picture.width / (2 * half_width) * disc.radius
  side = _side(picture)
  draw = ImageDraw.Draw(picture)
  least = _LEAST_RADIUS_SHARE if disc.is_filled else _LEAST_RING_SHARE
  radius = max(radius, least * side)
  box = [x - radius, y - radius, x + radius, y + radius]
  if disc.is_filled:
    draw.ellipse(box, fill=disc.colour)
    return
  tint = _mix(disc.colour, BACKGROUND, _TINT)
  thickness = max(1, round(side * _RING_SHARE))
  draw.ellipse(box, fill=tint, outline=disc.colour, width=thickness)


def _side(picture: Image.Image) -> float:
  """Returns the side in pixels of a square of the same area."""
  return (picture.width * picture.height) ** 0.5


def _draw_polygon(
  picture: Image.Image, polygon: shapes.Polygon, half_width: float
) -> None:
  """Draws a filled polygon."""
  from PIL import ImageDraw

  at = [_at(picture, half_width, corner) for corner in polygon.corners]
  ImageDraw.Draw(picture).polygon(at, polygon.colour)


def _draw_trail(
  picture: Image.Image, trail: shapes.Trail, half_width: float
) -> None:
  """Draws a line in a light tone of the colour."""
  from PIL import ImageDraw

  at = [_at(picture, half_width, point) for point in trail.points]
  colour = _mix(trail.colour, BACKGROUND, _TRAIL_TINT)
  width = max(1, round(_side(picture) * _TRAIL_SHARE))
  ImageDraw.Draw(picture).line(at, colour, width, joint='curve')


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
  palette = _palette(np.stack([frames[i] for i in chosen]))
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


def _palette(frames: np.ndarray) -> Image.Image:
  """Returns an image whose palette serves frames [T, height, width, 3].

  The colours that cover most pixels are fills and are kept exactly. The other
  colours are for smooth edges and shades. They are chosen as far apart as
  possible, because the default method turns a small amber disc grey.
  """
  from PIL import Image

  flat = frames.reshape(-1, 3)
  codes, counts = np.unique(
    flat @ np.array([1 << 16, 1 << 8, 1]), return_counts=True
  )
  fills = codes[np.argsort(-counts, kind='stable')[:_GIF_FILLS]]
  exact = np.stack([fills >> 16, fills >> 8 & 255, fills & 255], -1)
  edges = Image.fromarray(flat.reshape(-1, frames.shape[2], 3))
  mixed = edges.quantize(
    _GIF_COLOURS - len(exact), Image.Quantize.MAXCOVERAGE
  ).getpalette()
  palette = Image.new('P', (1, 1))
  palette.putpalette([*exact.ravel().tolist(), *mixed])
  return palette


def _write_mp4(
  ffmpeg: types.ModuleType,
  frames: Sequence[Frame],
  path: pathlib.Path,
  frames_per_second: float,
) -> None:
  """Writes an MP4 with the module imageio_ffmpeg."""
  height, width, _ = frames[0].shape
  # The codec needs even sizes.
  padding = [(0, height % 2), (0, width % 2), (0, 0)]
  writer = ffmpeg.write_frames(
    str(path),
    (width + width % 2, height + height % 2),
    fps=frames_per_second,
    macro_block_size=2,
  )
  writer.send(None)  # Starts the encoder.
  for frame in frames:
    writer.send(np.ascontiguousarray(np.pad(frame, padding, mode='edge')))
  writer.close()
