# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The picture of learning curves: coverage against steps and wall time."""

import itertools
import pathlib
import string
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import statistics
from vacl_tf.environments import task_spec
from vacl_tf.launch import records
from vacl_tf.training import files

if TYPE_CHECKING:  # Slow to import; functions import it when needed.
  from matplotlib import axes
  from matplotlib import figure

STYLE = {
  'font.size': 12,
  'axes.titlesize': 12,
  'figure.titlesize': 13,
  'axes.spines.top': False,
  'axes.spines.right': False,
  'axes.grid': True,
  'grid.color': '#E6E6E6',
  'axes.axisbelow': True,
  'legend.frameon': False,
  'text.parse_math': False,  # Names may have dollar signs.
}
MILLION = 1e6

# Okabe and Ito's colours, which colour-blind readers can tell apart, too.
COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9')
INK = '#555555'
_MARKERS = 'os^Dv'
_MINUTE = 60.0
_BAND = '95 % bootstrap interval of the mean over'
_LEGEND_COLUMNS = (54, 110)  # Characters of an entry, for two or one per row.
_LABEL_COLUMNS = 24  # Characters of a label on a curve; longer: a letter.
_PALETTE = 256  # Colours of a picture.
_HEIGHT, _LINE_HEIGHT = 4.6, 0.24  # Inches: without legend, per legend line.
_ROOM = 0.25  # Share of the axis that a label may need.
_FEW_TICKS = 1.5  # Half the decades of steps up to which 2 and 5 are marked.


class Group(NamedTuple):
  """Runs that form one curve.

  Attributes:
    label: text that tells it from the other groups.
    runs: one or more.
  """

  label: str
  runs: list[records.Record]

  @property
  def world(self) -> config.EnvironmentConfig:
    """Returns the constants of the world."""
    return self.runs[0].cfg.environment


class _Curve(NamedTuple):
  """A curve, and the label that is written beside it.

  Attributes:
    text: the label.
    colour: colour of the label.
    steps: [T] x of the curve's points.
    values: [T] y of the curve's points.
    rightmost: share of the axis, beyond which the label is left of the curve.
  """

  text: str
  colour: str
  steps: np.ndarray
  values: np.ndarray
  rightmost: float = 1.0 - _ROOM


def draw(groups: Sequence[Group], title: str, output: pathlib.Path) -> None:
  """Draws groups of runs; a single run also has its success rate, dotted."""
  import matplotlib
  from matplotlib import figure

  if max(len(group.label) for group in groups) > _LABEL_COLUMNS:
    letters = itertools.chain(string.ascii_uppercase, itertools.count(27))
    groups = [
      group._replace(label=f'{letter}: {group.label}')
      for letter, group in zip(letters, groups, strict=False)
    ]
  with matplotlib.rc_context(STYLE):
    picture = figure.Figure(layout='constrained')
    left, right = picture.subplots(1, 2, sharey=True)
    curves = []
    for index, group in enumerate(groups):
      colour = COLOURS[index % len(COLOURS)]
      curves.append(
        _draw_group(left, group, 'env_steps', MILLION, colour, True)
      )
      _draw_group(right, group, 'wall_seconds', _MINUTE, colour, False)
    if len(groups) == len(groups[0].runs) == 1:
      _draw_success(left, right, groups[0].runs[0])
      # The curve of success is on the right, so the label goes to the left.
      curves = [curves[0]._replace(rightmost=_ROOM)]
    curves += _draw_authors(left, groups)
    _set_axes(left, right, curves)
    _write_labels(left, curves)
    picture.suptitle(title)
    handles, labels = left.get_legend_handles_labels()
    is_short = max(map(len, labels)) <= _LEGEND_COLUMNS[0]
    width = _LEGEND_COLUMNS[not is_short]
    labels = [textwrap.fill(label, width) for label in labels]
    lines = sum(label.count('\n') + 1 for label in labels)
    lines = -(-lines // 2) if is_short else lines
    picture.set_size_inches(12.0, _HEIGHT + _LINE_HEIGHT * lines)
    picture.legend(
      handles, labels, loc='outside lower center', ncols=1 + is_short
    )
    save(picture, output)


def save(picture: 'figure.Figure', output: pathlib.Path) -> None:
  """Writes a .png with a palette, half as large as one in full colour."""
  from matplotlib.backends import backend_agg
  from PIL import Image

  picture.set_dpi(100)
  canvas = backend_agg.FigureCanvasAgg(picture)
  canvas.draw()  # Once; savefig would draw twice, with the same result.
  image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert('RGB')
  with files.replaced(output) as beside:
    few = image.quantize(_PALETTE, dither=Image.Dither.NONE)
    few.save(beside, format='png', optimize=True)


def _set_axes(
  left: 'axes.Axes', right: 'axes.Axes', curves: Sequence[_Curve]
) -> None:
  """Sets ranges, ticks and names of both axes."""
  from matplotlib import ticker

  steps = np.concatenate([curve.steps for curve in curves])
  low, high = steps[steps > 0].min(initial=1e3), steps.max(initial=1e-6)
  low = min(low, high)
  left.set_xscale('log')
  left.set_xlim(low / 1.15, high * 1.15)
  decades = np.log10(high / low)
  subs = (1.0, 2.0, 5.0) if decades <= 2 * _FEW_TICKS else (1.0,)
  left.xaxis.set_major_locator(ticker.LogLocator(subs=subs))
  left.xaxis.set_major_formatter(ticker.FuncFormatter(_plain))
  left.xaxis.set_minor_formatter(ticker.NullFormatter())
  right.set_xlim(0.0)
  left.set_ylim(0.0, 1.02)
  left.set_ylabel('coverage of the evaluation (0 to 1)')
  left.set_xlabel('environment steps (millions, logarithmic)')
  right.set_xlabel('wall time (minutes)')


def _plain(value: float, position: int | None) -> str:
  """Returns a tick as a number without a power of ten."""
  del position
  return f'{value:g}'


def _draw_group(
  axis: 'axes.Axes',
  group: Group,
  column: str,
  unit: float,
  colour: str,
  has_label: bool,
) -> _Curve:
  """Draws a thin line per seed, their mean and a band; returns the mean."""
  curves = [
    (run.evaluated(column) / unit, run.evaluated('coverage'))
    for run in group.runs
  ]
  seeds = {run.config['seed'] for run in group.runs}
  label = group.label
  if len(curves) == 1:
    [curve], [seed] = curves, seeds
    told = f'{label} (seed {seed})' if has_label else None
    style = {'color': colour, 'lw': 2.0, 'marker': _marker(curve[0])}
    axis.plot(*curve, label=told, **style)
    return _Curve(label, colour, *curve)
  for curve in curves:
    style = {'color': colour, 'lw': 0.7, 'marker': _marker(curve[0])}
    axis.plot(*curve, alpha=0.55, **style)
  what = 'seeds' if len(seeds) == len(curves) else 'runs'
  grid, mean, *band = mean_of(curves)
  if not len(grid):
    longest = max(curves, key=lambda curve: curve[0][-1])
    told = f'{label} ({len(curves)} {what} whose steps do not overlap)'
    style = {'color': colour, 'lw': 0.7, 'marker': _marker(longest[0])}
    axis.plot(*longest, label=told if has_label else None, **style)
    return _Curve(label, colour, *longest)
  told = f'{label} ({len(curves)} {what}): mean; band: {_BAND} {what}'
  axis.fill_between(grid, *band, color=colour, alpha=0.18, lw=0.0)
  style = {'color': colour, 'lw': 2.2, 'marker': _marker(grid)}
  axis.plot(grid, mean, label=told if has_label else None, **style)
  return _Curve(label, colour, grid, mean)


def _marker(x: np.ndarray) -> str | None:
  """Returns a marker for a curve of a single point, which has no line."""
  return 'o' if len(x) == 1 else None


def mean_of(
  curves: Sequence[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
  """Returns the mean of two or more curves, and its 95 % bootstrap interval.

  Seeds may be evaluated at different times. The mean covers the range of x that
  all curves have in common.

  Args:
    curves: x and y of each curve.

  Returns:
    x, the mean, and the low and the high end of its interval; all are empty if
    the curves have no range of x in common.
  """
  low, high = max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves)
  found = np.unique(np.concatenate([x for x, _ in curves]))
  grid = found[(found >= low) & (found <= high)]
  values = np.array([np.interp(grid, *curve) for curve in curves])
  return grid, values.mean(0), *statistics.mean_band(values)


def _draw_success(
  left: 'axes.Axes', right: 'axes.Axes', run: records.Record
) -> None:
  """Draws the success rate of a run that is drawn alone."""
  if 'success' not in run.columns:
    return
  success = run.evaluated('success')
  style = {'color': COLOURS[0], 'ls': ':', 'marker': _marker(success)}
  label = 'success rate: tasks that are solved as a whole'
  left.plot(run.evaluated('env_steps') / MILLION, success, label=label, **style)
  right.plot(run.evaluated('wall_seconds') / _MINUTE, success, **style)


def reference(world: config.EnvironmentConfig) -> tuple[task_spec.Point, ...]:
  """Returns the points of the published curve, () if there is none."""
  task = catalog.TASKS.get(world.name)
  counts = dict(zip(world.count_fields, world.counts, strict=True))
  if world != task.with_counts(**counts):
    return ()  # With other constants it is another task.
  return task.references.get(world.num_agents, ())


def _draw_authors(axis: 'axes.Axes', groups: Sequence[Group]) -> list[_Curve]:
  """Draws the authors' curves of the same tasks; returns them."""
  worlds = list(dict.fromkeys(group.world for group in groups))
  known = {world: reference(world) for world in worlds}
  known = {world: points for world, points in known.items() if points}
  curves = []
  for index, (world, points) in enumerate(known.items()):
    steps, mean, std = np.array(points, float).T
    label = short = "authors' VACL"
    if len(worlds) > 1:
      label += f' on {world.name}, n = {world.num_agents}'
    bars = 'mean and std' if not np.isnan(std).any() else 'mean'
    axis.errorbar(
      steps,
      mean,
      None if np.isnan(std).all() else std,
      color=INK,
      ls='--',
      lw=1.0,
      marker=_MARKERS[index % len(_MARKERS)],
      ms=5,
      capsize=3,
      label=f'{label} (3 seeds): {bars}',
    )
    curves.append(_Curve(short, INK, steps, mean))
  return curves


def _write_labels(axis: 'axes.Axes', curves: Sequence[_Curve]) -> None:
  """Writes a label beside each curve, each at a different height."""
  from matplotlib import patheffects

  low, high = np.log(axis.get_xlim())
  # Curves that rise earlier get higher labels: the text to their right is then
  # above that of the next curve.
  found = [(_crossing(curve, 0.5), curve) for curve in curves]
  found.sort(key=lambda pair: pair[0])
  for index, (_, curve) in enumerate(found):
    share = 1.0 - (index + 1) / (len(found) + 1)
    x = _crossing(curve, share)
    y = max(float(np.interp(x, curve.steps, curve.values)), 0.03)
    is_left = (np.log(x) - low) / (high - low) < curve.rightmost
    is_short = len(curve.text) <= _LABEL_COLUMNS
    axis.annotate(
      curve.text if is_short else curve.text.partition(':')[0],
      (x, y),
      xytext=(8 if is_left else -8, 0),
      textcoords='offset points',
      ha='left' if is_left else 'right',
      va='center',
      color=curve.colour,
      fontsize=11,
      path_effects=[patheffects.withStroke(linewidth=3, foreground='white')],
    )


def _crossing(curve: _Curve, share: float) -> float:
  """Returns the step at which a curve first has a share of its best value."""
  is_above = curve.values >= share * curve.values.max()
  return float(max(curve.steps[is_above.argmax()], 1e-9))
