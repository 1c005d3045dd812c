# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The curves of a report, as JSON that page/charts.js draws.

A chart has a title, two axes and series. The arrays x and y of a series have
equal lengths; so have low and high, if the series has a band.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vacl_tf.launch import plot
from vacl_tf.launch import plot_curriculum
from vacl_tf.launch import plot_curves
from vacl_tf.launch import plot_rooms
from vacl_tf.launch import records
from vacl_tf.launch import report_runs
from vacl_tf.launch import task_sets

_MOST_POINTS = 400  # Of a series: enough for the width of a chart.
_DIGITS = 5
_MINUTE = 60.0
_X = {'env_steps': plot_curves.MILLION, 'wall_seconds': _MINUTE}
_NAMES = {
  'env_steps': 'environment steps (millions)',
  'wall_seconds': 'wall time (minutes)',
}
_STEPS_NAME = _NAMES['env_steps']

Chart = dict[str, Any]
Series = dict[str, Any]


def coverage(runs: Sequence[report_runs.Run], measure: str) -> list[Chart]:
  """Returns coverage against steps and wall time.

  Args:
    runs: those without evaluations are left out.
    measure: name of coverage in the task.
  """
  recorded = [run.record for run in runs if run.record is not None]
  if not recorded:
    return []
  groups, _ = plot.group_by_config(recorded)
  charts = []
  for column in _X:
    series = []
    for index, group in enumerate(groups):
      series += _of_group(group, column, **_style(index))
    if column == 'env_steps':
      series += _of_authors(groups)
    if len(recorded) == 1 and 'success' in recorded[0].columns:
      series.append(_success(recorded[0], column))
    charts.append(
      chart(
        f'{measure.capitalize()} against {_NAMES[column].partition(" (")[0]}',
        _NAMES[column],
        f'mean of "{measure}" over target tasks (0 to 1)',
        series,
        top=1.0,
        is_log=column == 'env_steps',
      )
    )
  return charts


def chart(
  title: str,
  x_name: str,
  y_name: str,
  series: Sequence[Series],
  top: float | None = None,
  is_log: bool = False,
) -> Chart:
  """Returns a chart whose y axis begins at 0.

  Args:
    title: text above the chart.
    x_name: name of the x axis, with its unit.
    y_name: name of the y axis, with its unit.
    series: series made by `line`.
    top: top of the y axis; None for the largest value.
    is_log: whether the x axis is logarithmic.
  """
  return {
    'title': title,
    'x': x_name + (', logarithmic' if is_log else ''),
    'y': y_name,
    'top': top,
    'is_log': is_log,
    'series': list(series),
  }


def line(
  name: str, colour: str, x: np.ndarray, y: np.ndarray, **more: Any
) -> Series:
  """Returns a curve of the known points, thinned out if there are many.

  Args:
    name: name in the legend; '' for none.
    colour: colour of the line.
    x: [N].
    y: [N], NaN where it is unknown.
    **more: `low` and `high` [N] of a band; `is_thin` or `is_dashed`.
  """
  arrays = {'x': x, 'y': y} | {
    key: value for key, value in more.items() if isinstance(value, np.ndarray)
  }
  chosen = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
  if len(chosen) > _MOST_POINTS:
    places = np.linspace(0, len(chosen) - 1, _MOST_POINTS).round().astype(int)
    chosen = chosen[places]
  numbers = {key: _rounded(array[chosen]) for key, array in arrays.items()}
  return {'name': name, 'colour': colour} | more | numbers


def sets(
  run: records.Record, found: plot_curriculum.Sets, target: np.ndarray | None
) -> list[Chart]:
  """Returns charts of the sizes of a run's sets, and of where its tasks lie.

  Args:
    run: a run that recorded its curriculum.
    found: its snapshots and their map.
    target: [rows, D] target tasks, None if the task has no map.
  """
  columns = run.columns
  steps = columns['env_steps'] / plot_curves.MILLION
  colours = {'active': plot_rooms.ACTIVE, 'solved': plot_rooms.SOLVED}
  charts = []
  if run.has_sets:
    sizes = [
      line(name, colour, steps, columns[f'{name}_tasks'])
      for name, colour in colours.items()
    ]
    news = [line('', plot_rooms.SOLVED, steps, columns['newly_solved'])]
    charts += [
      chart('Sizes of the task sets', _STEPS_NAME, 'tasks', sizes),
      chart('Newly solved tasks per iteration', _STEPS_NAME, 'tasks', news),
    ]
  if target is not None and found.snapshots:
    at = steps_of(run.columns, list(found.snapshots)) / plot_curves.MILLION
    far = {
      name: [
        task_sets.distance_to_target(x[f'{name}_phi'], target, found.layout)
        for x in found.snapshots.values()
      ]
      for name in colours
    }
    labels = plot_rooms.labels(run)
    lines = [line(labels[x], colours[x], at, np.array(far[x])) for x in colours]
    charts.append(
      chart(
        'Distance to the target tasks',
        _STEPS_NAME,
        f'distance ({found.layout.length})',
        lines,
      )
    )
  return charts


def steps_of(
  columns: dict[str, np.ndarray], iterations: Sequence[int]
) -> np.ndarray:
  """Returns the environment steps after some iterations."""
  return np.interp(iterations, columns['iteration'], columns['env_steps'])


def speed(runs: Sequence[report_runs.Run]) -> list[Chart]:
  """Returns a chart of environment steps per second of wall time."""
  series = []
  for index, run in enumerate(runs):
    if len(run.columns.get('env_steps', ())) > 1:
      x = run.columns['env_steps'][1:] / plot_curves.MILLION
      y = rates(run.columns)
      series.append(line(str(run.path), x=x, y=y, **_style(index)))
  if not series:
    return []
  return [chart('Speed', _STEPS_NAME, 'environment steps per second', series)]


def rates(columns: dict[str, np.ndarray]) -> np.ndarray:
  """Returns steps per second of all iterations but the first, which compiles.

  NaN if the clock did not advance.
  """
  steps, seconds = (np.diff(columns[x]) for x in _X)
  return np.where(
    seconds > 0, steps / np.where(seconds > 0, seconds, 1), np.nan
  )


def _style(index: int) -> dict[str, Any]:
  """Returns the style of a curve; dashes alternate when colours repeat."""
  dashes, colour = divmod(index, len(plot_curves.COLOURS))
  return {'colour': plot_curves.COLOURS[colour], 'is_dashed': bool(dashes % 2)}


def _of_group(
  group: plot_curves.Group, column: str, **style: Any
) -> list[Series]:
  """Returns the curves of runs that differ in the seed, and their mean."""
  unit = _X[column]
  curves = [
    (run.evaluated(column) / unit, run.evaluated('coverage'))
    for run in group.runs
  ]
  if len(curves) == 1:
    seed = group.runs[0].config['seed']
    x, y = curves[0]
    return [line(f'{group.label} (seed {seed})', x=x, y=y, **style)]
  thin = [line('', x=x, y=y, is_thin=True, **style) for x, y in curves]
  grid, mean, low, high = plot_curves.mean_of(curves)
  if not len(grid):
    name = f'{group.label} ({len(curves)} runs whose steps do not overlap)'
    return [thin[0] | {'name': name}, *thin[1:]]
  name = f'{group.label}: mean of {len(curves)} runs and its 95 % interval'
  return [*thin, line(name, x=grid, y=mean, low=low, high=high, **style)]


def _of_authors(groups: Sequence[plot_curves.Group]) -> list[Series]:
  """Returns the published curves of the same tasks."""
  found = []
  for world in dict.fromkeys(group.world for group in groups):
    if points := plot_curves.reference(world):
      steps, mean, _ = np.array(points, float).T
      where = f'{world.name}, n = {world.num_agents}'
      name = f"authors' VACL on {where} (3 seeds)"
      found.append(line(name, plot_curves.INK, steps, mean, is_dashed=True))
  return found


def _success(run: records.Record, column: str) -> Series:
  return line(
    'success rate: share of completely solved tasks',
    plot_curves.COLOURS[2],
    run.evaluated(column) / _X[column],
    run.evaluated('success'),
    is_dashed=True,
  )


def _rounded(values: np.ndarray) -> list[float]:
  return [float(f'{value:.{_DIGITS}g}') for value in values]
