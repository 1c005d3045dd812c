# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Figures of a study: curves of all its methods, in one panel or several."""

import pathlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vacl_tf import statistics
from vacl_tf.launch import plot_curves
from vacl_tf.training import files

if TYPE_CHECKING:  # Slow to import; functions import it when needed.
  from matplotlib import axes
  from matplotlib import figure

# Okabe and Ito's colours, which colour-blind readers can tell apart, and grey.
_COLOURS = (
  '#0072B2',
  '#D55E00',
  '#000000',
  '#009E73',
  '#CC79A7',
  '#E69F00',
  '#56B4E9',
  '#999999',
  '#B8AD00',  # Their yellow, made darker to be visible on white.
)
_DASHES = ('-', ':', '-.')  # The later ones are for repeated colours.
_INK = '#555555'
_GRID_POINTS = 400
_COLUMNS = 2
_PANEL = (6.4, 3.8)  # Inches.
_LEGEND_INCHES = 0.9

Curve = tuple[np.ndarray, np.ndarray]  # Abscissae and values in [0, 1].


class Panel(NamedTuple):
  """Curves in one pair of axes.

  Attributes:
    title: what the panel shows.
    limit: upper end of the abscissae, which begin at 0.
    curves: curves of the runs, by method.
    levels: heights of horizontal lines, by name.
  """

  title: str
  limit: float
  curves: dict[str, list[Curve]]
  levels: dict[str, float]


def mean_curve(curves: list[Curve], limit: float) -> Curve:
  """Returns the mean of curves from the origin; each keeps its last value.

  Thus the area under it is the mean of their areas, apart from errors due to
  the width of the grid.
  """
  grid = np.linspace(0.0, limit, _GRID_POINTS)
  known = [statistics.from_origin(*curve) for curve in curves]
  return grid, np.mean([np.interp(grid, *curve) for curve in known], axis=0)


def draw(
  panels: list[Panel],
  methods: list[str],
  title: str,
  labels: tuple[str, str],
) -> 'figure.Figure':
  """Draws every run thin and the mean of each method thick.

  Args:
    panels: at least one panel.
    methods: methods in the order of the legend; each has the same colour in all
      panels.
    title: title of the figure.
    labels: names of the two axes, abscissae first.
  """
  import matplotlib
  from matplotlib import figure

  num_columns = min(len(panels), _COLUMNS)
  num_rows = -(-len(panels) // num_columns)
  width, height = _PANEL
  legend = _LEGEND_INCHES * (1 + len(methods) // 8)
  size = (width * num_columns, height * num_rows + legend)
  with matplotlib.rc_context(plot_curves.STYLE):
    picture = figure.Figure(figsize=size, layout='constrained')
    grid = picture.subplots(num_rows, num_columns, squeeze=False).ravel()
    for axis, panel in zip(grid, panels, strict=False):
      _draw_panel(axis, panel, methods)
      axis.set_xlabel(labels[0])
    for axis in grid[len(panels) :]:
      axis.remove()
    for axis in grid[::num_columns]:
      axis.set_ylabel(labels[1])
    handles = {}
    for axis in grid[: len(panels)]:
      found, names = axis.get_legend_handles_labels()
      handles |= dict(zip(names, found, strict=True))
    levels = [name for panel in panels for name in panel.levels]
    wanted = dict.fromkeys((*methods, *levels))
    order = [name for name in wanted if name in handles]
    picture.legend(
      [handles[name] for name in order],
      order,
      loc='outside lower center',
      ncols=min(len(order), 2 * num_columns + 1),
    )
    picture.suptitle(title)
  return picture


def save(picture: 'figure.Figure', path: pathlib.Path) -> None:
  """Writes a figure completely or not at all; equal figures give equal files.

  Raises:
    WriteError: it can't be written; the old file is unchanged.
  """
  import matplotlib

  kind = path.suffix.removeprefix('.')
  metadata = {'Date': None} if kind == 'svg' else None
  settings = plot_curves.STYLE | {'svg.hashsalt': path.stem}
  with (
    matplotlib.rc_context(settings),
    files.writing(path),
    files.replaced(path) as beside,
  ):
    picture.savefig(beside, format=kind, dpi=100, metadata=metadata)


def _draw_panel(axis: 'axes.Axes', panel: Panel, methods: list[str]) -> None:
  for index, method in enumerate(methods):
    curves = panel.curves.get(method, [])
    dashes, colour = divmod(index, len(_COLOURS))
    style = {'color': _COLOURS[colour], 'ls': _DASHES[dashes % len(_DASHES)]}
    for x, y in curves:
      marker = 'o' if len(x) == 1 else None
      axis.plot(x, y, lw=0.6, alpha=0.45, marker=marker, ms=3, **style)
    if curves:
      mean = mean_curve(curves, panel.limit)
      axis.plot(*mean, lw=2.2, label=method, **style)
  for name, level in panel.levels.items():
    axis.axhline(level, color=_INK, ls='--', lw=1.0, label=name)
  axis.set_title(panel.title)
  axis.set_xlim(0.0, panel.limit)
  axis.set_ylim(0.0, 1.02)
