# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The picture of a curriculum: how many tasks, how spread, and where."""

import pathlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf.environments import map_layout
from vacl_tf.launch import plot_curves
from vacl_tf.launch import records
from vacl_tf.training import files

if TYPE_CHECKING:  # At run time inside functions: it is slow to import.
  from matplotlib import axes
  from matplotlib import figure

_ACTIVE, _SOLVED, _INK = '#56B4E9', '#D55E00', '#555555'
_NUM_ROOMS = 4
_NUM_DRAWN = 120  # Tasks of a set in one room; more would hide each other.
_NUM_TARGET = 1000
_MAX_PAIRS = 4e8  # Of numbers of a target task, over all tasks.
_MILLION = 1e6


def layout_of(cfg: config.Config) -> map_layout.MapLayout | None:
  """Returns the map of a run's tasks, None if its task has none.

  Raises:
    ImportError: what the task's map needs is not installed.
  """
  task = catalog.TASKS.get(cfg.environment.name)
  return task.layout(cfg.environment, entity_counts.path(cfg))


class Sets(NamedTuple):
  """The sets of tasks of a run.

  Attributes:
    layout: of their map, None if there is none.
    snapshots: by iteration.
  """

  layout: map_layout.MapLayout | None
  snapshots: dict[int, records.Snapshot]


def read(run: records.Record) -> Sets:
  """Reads the sets of a run that has them.

  Raises:
    UsageError: curriculum.npz can't be read.
    ValueError: it is of another map.
    ImportError: what the task's map needs is not installed.
  """
  layout = layout_of(run.cfg)
  path = run.path / 'curriculum.npz'
  snapshots = records.read_snapshots(path)
  if layout is not None:
    _check_map(path, snapshots, layout)
  return Sets(layout, snapshots)


def draw(run: records.Record, sets: Sets, output: pathlib.Path) -> None:
  """Draws the sets of a run that has them."""
  import matplotlib
  from matplotlib import figure

  layout, snapshots = sets
  has_rooms = layout is not None and bool(snapshots)
  target = _sample_target(layout, snapshots) if has_rooms else None
  with matplotlib.rc_context(plot_curves.STYLE):
    size = (12.0, 9.4 if has_rooms else 4.2)
    picture = figure.Figure(figsize=size, layout='constrained')
    parts = picture.subfigures(
      1 + has_rooms, 1, squeeze=False, height_ratios=[1, 1.5][: 1 + has_rooms]
    )[:, 0]
    _draw_history(parts[0], run, layout, target)
    if has_rooms:
      _draw_rooms(parts[1], run, snapshots, layout, target)
    what = records.describe(run.config, records.telling(run.cfg))
    picture.suptitle(f'{what}, seed {run.config["seed"]}')
    with files.replaced(output) as beside:
      picture.savefig(beside, format='png', dpi=100)


def _check_map(
  path: pathlib.Path,
  snapshots: dict[int, records.Snapshot],
  layout: map_layout.MapLayout,
) -> None:
  """Raises ValueError if the tasks have no place on the map."""
  try:
    for snapshot in snapshots.values():
      for name in ('active_phi', 'solved_phi'):
        nearest_mover(snapshot[name][:1], layout)
  except (ValueError, IndexError) as error:
    raise ValueError(
      f'{path} has tasks of another map; move it away to plot without it'
    ) from error


def _draw_history(
  part: 'figure.SubFigure',
  run: records.Record,
  layout: map_layout.MapLayout | None,
  target: np.ndarray | None,
) -> None:
  """Draws sizes, newly solved tasks and spread against env steps."""
  sizes, news, spread = part.subplots(1, 3)
  columns = run.columns
  steps = columns['env_steps'] / _MILLION
  sizes.plot(steps, columns['active_tasks'], color=_ACTIVE, label='active')
  sizes.plot(steps, columns['solved_tasks'], color=_SOLVED, label='solved')
  sizes.set_title('Size of the sets')
  sizes.set_ylabel('tasks')
  sizes.legend(loc='best')
  window = max(5, len(steps) // 50)
  smooth = _running_mean(columns['newly_solved'], window)
  news.plot(steps, columns['newly_solved'], color=_SOLVED, lw=0.5, alpha=0.3)
  news.plot(
    steps, smooth, color=_SOLVED, label=f'mean over {window} iterations'
  )
  news.set_title('Newly solved in an iteration')
  news.set_ylabel('tasks')
  news.legend(loc='best')
  unit = 1.0 if target is None else layout.unit
  deviation = unit * columns['solved_spread']
  spread.plot(steps, deviation, color=_SOLVED, label='solved')
  spread.set_title('Spread of the solved set')
  spread.set_ylabel('std of a coordinate')
  if target is not None:
    level = unit * np.sqrt(target.var(0).mean())
    label = f'target tasks ({level:.2f} m)'
    spread.set_ylabel('std of a coordinate (metres)')
    spread.axhline(level, color=_INK, ls='--', lw=1.2, label=label)
    spread.legend(loc='best')
  for axis in (sizes, news, spread):
    axis.set_xlabel('environment steps (millions)')
    axis.set_xlim(0.0)
    axis.set_ylim(0.0)


def _running_mean(values: np.ndarray, window: int) -> np.ndarray:
  """Returns the mean of up to `window` values that end at each."""
  total = np.cumsum(np.concatenate([[0.0], values]))
  end = np.arange(1, len(values) + 1)
  begin = np.maximum(end - window, 0)
  return (total[end] - total[begin]) / (end - begin)


def _draw_rooms(
  part: 'figure.SubFigure',
  run: records.Record,
  snapshots: dict[int, records.Snapshot],
  layout: map_layout.MapLayout,
  target: np.ndarray,
) -> None:
  """Draws where tasks put their entities, early to late."""
  chosen = choose_snapshots(snapshots)
  steps = np.interp(chosen, run.columns['iteration'], run.columns['env_steps'])
  rooms, distances = part.subplots(
    2, _NUM_ROOMS, sharey='row', height_ratios=[1.0, 0.62]
  )
  farthest = nearest_mover(target, layout).max()
  for axis, below, iteration, step in zip(
    rooms, distances, chosen, steps, strict=False
  ):
    axis.set_title(f'{step / _MILLION:.3g} M steps')
    _make_room(axis, layout)
    _draw_distances(below, target, layout, 'target tasks', color=_INK, ls='--')
    for name, colour in (('active', _ACTIVE), ('solved', _SOLVED)):
      phi = snapshots[iteration][f'{name}_phi']
      some = layout.points(phi[:: -(-len(phi) // _NUM_DRAWN) or 1])
      points = np.concatenate([x.reshape(-1, 2) for x in some.values()])
      axis.scatter(*points.T, s=3.5, color=colour, alpha=0.7, lw=0)
      _draw_distances(below, phi, layout, f'{name} tasks', color=colour)
    below.set(xlim=(0.0, farthest), ylim=(0.0, 1.02))
    below.set_xlabel(f'nearest {layout.mover} within (metres)')
  for axis in (*rooms[len(chosen) :], *distances[len(chosen) :]):
    axis.remove()
  rooms[0].set_ylabel('all entities\nin the room (metres)')
  plural = layout.goal + ('es' if layout.goal.endswith('x') else 's')
  distances[0].set_ylabel(f'share of {plural}')
  # All three are there in the last column, if they ever were.
  handles, labels = distances[len(chosen) - 1].get_legend_handles_labels()
  part.legend(handles, labels, loc='outside lower center', ncols=3)


def choose_snapshots(snapshots: dict[int, records.Snapshot]) -> list[int]:
  """Returns a few iterations, such that the active set grows in even steps.

  Even steps of time would show a full room three times where a run is long.
  """
  iterations = sorted(snapshots)
  sets = [snapshots[i]['active_phi'] for i in iterations]
  # Of each coordinate: tasks may begin in a corner, far from the mean of all.
  spread = np.array([x.std(0).mean() if len(x) else 0.0 for x in sets])
  last = int(spread.argmax())
  wanted = np.linspace(spread[0], spread[last], _NUM_ROOMS)[1:-1]
  between = [int(abs(spread[: last + 1] - level).argmin()) for level in wanted]
  # The first and the last are always there.
  return [iterations[i] for i in sorted({0, *between, len(iterations) - 1})]


def _sample_target(
  layout: map_layout.MapLayout, snapshots: dict[int, records.Snapshot]
) -> np.ndarray:
  """Returns phi [rows, D] of target tasks, with the most entities."""
  if layout.sample is not None:
    return layout.sample(_NUM_TARGET)
  num_dims = snapshots[max(snapshots)]['active_phi'].shape[1]
  num_tasks = int(np.clip(_MAX_PAIRS // num_dims**2, 10, _NUM_TARGET))
  num = num_dims // (2 * len(layout.kinds))  # Entities of a kind.
  boxes = [
    layout.goals if kind == layout.goal else layout.movers
    for kind in layout.kinds
  ]
  sides = np.repeat(np.reshape(boxes, [-1, 2, 2]), num, 0)
  rows = np.random.default_rng(0).uniform(
    sides[..., 0], sides[..., 1], [num_tasks, *sides.shape[:2]]
  )
  return rows.reshape(num_tasks, num_dims)


def _make_room(axis: 'axes.Axes', layout: map_layout.MapLayout) -> None:
  boxes = np.array([layout.movers, layout.goals])
  low, high = boxes[:, ::2].min(0), boxes[:, 1::2].max(0)
  margin = 0.03 * (high - low).max()
  axis.set(
    xlim=(low[0] - margin, high[0] + margin),
    ylim=(low[1] - margin, high[1] + margin),
    aspect='equal',
  )
  axis.set_xticks([low[0], (low[0] + high[0]) / 2, high[0]])
  axis.set_yticks([low[1], (low[1] + high[1]) / 2, high[1]])
  axis.grid(False)
  axis.spines[:].set_visible(True)


def _draw_distances(
  axis: 'axes.Axes',
  phi: np.ndarray,
  layout: map_layout.MapLayout,
  label: str,
  **style: str,
) -> None:
  """Draws which share of goals has a mover within a distance."""
  if len(phi):
    # From 0 and on to the far end, where all are within.
    nearest = np.sort(nearest_mover(phi, layout))
    distance = np.concatenate([[0.0], nearest, [1e3]])
    share = np.minimum(np.arange(len(distance)) / (len(distance) - 2), 1.0)
    axis.plot(distance, share, label=label, lw=1.6, **style)


def nearest_mover(phi: np.ndarray, layout: map_layout.MapLayout) -> np.ndarray:
  """Returns each goal's distance to its nearest mover, all tasks in one.

  Args:
    phi: [rows, D] tasks.
    layout: of phi.
  """
  points = layout.points(phi)
  towards = points[layout.mover][:, None] - points[layout.goal][:, :, None]
  return np.sqrt((towards**2).sum(-1)).min(-1).ravel()
