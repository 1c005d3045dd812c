# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where tasks put their entities: a row per kind, a column per time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vacl_tf.environments import map_layout
from vacl_tf.launch import records
from vacl_tf.launch import task_sets

if TYPE_CHECKING:  # Slow to import; functions import it when needed.
  from matplotlib import axes
  from matplotlib import figure

ACTIVE, SOLVED, INK = '#2F7FB8', '#D55E00', '#555555'
_WALL = '#CDC8BE'
_MAPS = {'active': 'Blues', 'target': 'Greys'}
_MILLION = 1e6
_NUM_BINS = 24  # Along the longer side of the room.
_BLUR = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0  # Over bins.
_GAMMA = 0.5  # Of shades, so that a few tasks are visible beside many.
_INSIDE = 0.9  # Share of the solved tasks inside their outline.
_WIDTH, _GAP = 11.2, 0.35  # Inches of all columns, and between two of them.
_LEAST, _MOST = 0.7, 6.0  # Limits of a room's height in inches.
_EVEN = 3.0  # The darkest shade is this many times an even fill, or more.
_DISTANCES, _LEGEND = 1.7, 0.9  # Inches of the parts below the rooms.


def labels(run: records.Record) -> dict[str, str]:
  """Returns names of a run's active and solved tasks, for legends.

  The tasks are those of two sets if the run keeps such sets. Otherwise they are
  those of the latest batch.
  """
  if run.has_sets:
    return {'active': 'active tasks', 'solved': 'solved tasks'}
  return {'active': 'played, not solved', 'solved': 'played, solved'}


def height(
  layout: map_layout.MapLayout, snapshots: dict[int, records.Snapshot]
) -> float:
  """Returns the height that the rooms of snapshots need, in inches."""
  num_columns = len(task_sets.choose_snapshots(snapshots)) + 1
  side = _side(layout, num_columns)
  below = _LEGEND + _DISTANCES * _has_goals(layout)
  return below + len(set(layout.kinds)) * (side + 0.25)


def _has_goals(layout: map_layout.MapLayout) -> bool:
  """Whether goals are a kind of their own, so distances are drawn."""
  return layout.mover != layout.goal


def _side(layout: map_layout.MapLayout, num_columns: int) -> float:
  """Returns the height of a room in inches."""
  low, high = bounds(layout)
  width, height = high - low
  side = (_WIDTH / num_columns - _GAP) * height / width
  return float(np.clip(side, _LEAST, _MOST))


def draw(
  part: 'figure.SubFigure',
  run: records.Record,
  snapshots: dict[int, records.Snapshot],
  layout: map_layout.MapLayout,
  target: np.ndarray,
) -> None:
  """Draws tasks from early to late, and the target tasks last."""
  chosen = task_sets.choose_snapshots(snapshots)
  steps = np.interp(chosen, run.columns['iteration'], run.columns['env_steps'])
  kinds = list(dict.fromkeys(layout.kinds))
  side = _side(layout, len(chosen) + 1)
  grid = part.subplots(
    len(kinds) + _has_goals(layout),
    len(chosen) + 1,
    squeeze=False,
    height_ratios=[*len(kinds) * [side], *_has_goals(layout) * [1.5]],
  )
  columns = [snapshots[i] for i in chosen]
  titles = [f'{step / _MILLION:.3g} M steps' for step in steps]
  for row, kind in zip(grid, kinds, strict=False):
    for axis, snapshot in zip(row, columns, strict=False):
      _make_room(axis, layout)
      active, solved = (
        layout.points(snapshot[name])[kind].reshape(-1, 2)
        for name in ('active_phi', 'solved_phi')
      )
      _shade(axis, active, layout, 'active')
      _outline(axis, solved, layout)
    _make_room(row[-1], layout)
    points = layout.points(target)[kind].reshape(-1, 2)
    _shade(row[-1], points, layout, 'target')
    row[0].set_ylabel(_plural(kind), rotation=0, ha='right', va='center')
    for axis in row[1:]:
      axis.set_yticklabels([])
  for row in grid[: len(kinds) - 1]:
    for axis in row:
      axis.set_xticklabels([])
  for axis, title in zip(grid[0], [*titles, 'target tasks'], strict=True):
    axis.set_title(title)
  grid[len(kinds) - 1][0].set_xlabel(layout.length)
  if _has_goals(layout):
    grid[-1][-1].remove()
    _draw_below(grid[-1][:-1], columns, layout, target)
  _add_legend(part, labels(run), layout)


def _add_legend(
  part: 'figure.SubFigure',
  names: dict[str, str],
  layout: map_layout.MapLayout,
) -> None:
  from matplotlib import lines
  from matplotlib import patches

  handles = [
    patches.Patch(
      color=ACTIVE, label=f'{names["active"]}: shade, darker where many'
    ),
    lines.Line2D(
      *([], []),
      color=SOLVED,
      label=f'{names["solved"]}; in rooms, the line holds 90 %',
    ),
  ]
  if _has_goals(layout):
    handles.append(
      lines.Line2D([], [], color=INK, ls='--', label='target tasks')
    )
  if layout.walls:
    handles.append(patches.Patch(color=_WALL, label='walls'))
  part.legend(handles=handles, loc='outside lower center', ncols=2)


def _draw_below(
  row: Sequence['axes.Axes'],
  columns: Sequence[records.Snapshot],
  layout: map_layout.MapLayout,
  target: np.ndarray,
) -> None:
  """Draws how near movers are to goals in each snapshot."""
  farthest = task_sets.nearest_mover(target, layout).max()
  for axis, snapshot in zip(row, columns, strict=True):
    _draw_distances(axis, target, layout, color=INK, ls='--')
    for name, colour in (('active', ACTIVE), ('solved', SOLVED)):
      _draw_distances(axis, snapshot[f'{name}_phi'], layout, color=colour)
    axis.set(xlim=(0.0, farthest), ylim=(0.0, 1.02))
  for axis in row[1:]:
    axis.set_yticklabels([])
  row[0].set_ylabel(f'share of\n{_plural(layout.goal)}')
  middle = row[len(row) // 2]
  middle.set_xlabel(f'nearest {layout.mover} within ({layout.length})')


def _plural(kind: str) -> str:
  return kind + ('es' if kind.endswith('x') else 's')


def bounds(layout: map_layout.MapLayout) -> tuple[np.ndarray, np.ndarray]:
  """Returns two corners [2] of the visible region: boxes with a margin."""
  boxes = np.array([layout.movers, layout.goals])
  low, high = boxes[:, ::2].min(0), boxes[:, 1::2].max(0)
  margin = 0.03 * (high - low).max()
  return low - margin, high + margin


def _make_room(axis: 'axes.Axes', layout: map_layout.MapLayout) -> None:
  """Sets up an axis with the walls of a room."""
  from matplotlib import patches

  low, high = bounds(layout)
  axis.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect='equal')
  axis.grid(False)
  axis.spines[:].set_visible(True)
  axis.locator_params(nbins=3)
  for left, right, bottom, top in layout.walls:
    axis.add_patch(
      patches.Rectangle(
        (left, bottom), right - left, top - bottom, color=_WALL, lw=0, zorder=3
      )
    )


def density(points: np.ndarray, layout: map_layout.MapLayout) -> np.ndarray:
  """Returns the share of points [N, 2] in each bin [rows, columns], blurred.

  Bins are squares. Points beyond the room count in the bins at its edge.
  """
  low, high = bounds(layout)
  bin_size = (high - low).max() / _NUM_BINS
  shape = np.ceil((high - low) / bin_size - 1e-9).astype(int)
  index = ((points - low) / bin_size).astype(int).clip(0, shape - 1)
  counts = np.zeros(shape[::-1])
  np.add.at(counts, (index[:, 1], index[:, 0]), 1.0 / max(len(points), 1))
  return _blurred(counts)


def _blurred(shares: np.ndarray) -> np.ndarray:
  for axis in (0, 1):
    shares = np.apply_along_axis(np.convolve, axis, shares, _BLUR, 'same')
  return shares


def _shade(
  axis: 'axes.Axes',
  points: np.ndarray,
  layout: map_layout.MapLayout,
  name: str,
) -> None:
  """Fills a room with the density of points [N, 2]."""
  from matplotlib import colors

  if len(points):
    shares = density(points, layout)
    even = _EVEN / shares.size
    axis.imshow(
      shares,
      cmap=_MAPS[name],
      norm=colors.PowerNorm(_GAMMA, 0.0, max(shares.max(), even)),
      extent=_extent(shares, layout),
      origin='lower',
      interpolation='bilinear',
    )


def _outline(
  axis: 'axes.Axes', points: np.ndarray, layout: map_layout.MapLayout
) -> None:
  """Draws the outline of the densest region with 90 % of points [N, 2]."""
  if not len(points):
    return
  shares = np.pad(_blurred(density(points, layout)), 1)
  from_top = np.sort(shares.ravel())[::-1]
  level = from_top[np.searchsorted(from_top.cumsum(), _INSIDE * shares.sum())]
  low, _ = bounds(layout)
  left, right, bottom, top = _extent(shares[1:-1, 1:-1], layout)
  size = (right - left) / (shares.shape[1] - 2)
  x, y = (
    start + size * (np.arange(count) - 0.5)
    for start, count in zip(low, shares.shape[::-1], strict=True)
  )
  axis.contour(x, y, shares, [level], colors=[SOLVED], linewidths=1.4, zorder=4)


def _extent(
  shares: np.ndarray, layout: map_layout.MapLayout
) -> tuple[float, float, float, float]:
  """Returns left, right, bottom and top of all bins, as lengths."""
  low, high = bounds(layout)
  bin_size = (high - low).max() / _NUM_BINS
  right, top = low + bin_size * np.array(shares.shape[::-1])
  return low[0], right, low[1], top


def _draw_distances(
  axis: 'axes.Axes',
  phi: np.ndarray,
  layout: map_layout.MapLayout,
  **style: str,
) -> None:
  """Draws the share of goals that have a mover within each distance."""
  if len(phi):
    # The curve begins at 0 and goes on beyond the largest distance.
    nearest = np.sort(task_sets.nearest_mover(phi, layout))
    distance = np.concatenate([[0.0], nearest, [1e3]])
    share = np.minimum(np.arange(len(distance)) / (len(distance) - 2), 1.0)
    axis.plot(distance, share, lw=1.6, **style)
