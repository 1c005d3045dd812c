# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The picture of a curriculum: how many tasks, how spread, and where."""

import math
import pathlib
from typing import TYPE_CHECKING

import numpy as np

from vacl_tf.launch import records

if TYPE_CHECKING:  # At run time inside functions: it is slow to import.
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
}

# Half of the room's width in metres, where phi is agents, then landmarks.
# Said again here because the environments import TensorFlow.
HALF_WIDTH = {'simple_spread': 3.0}

_ACTIVE, _SOLVED, _INK = '#56B4E9', '#D55E00', '#555555'
_NUM_ROOMS = 4
_NUM_DRAWN = 120  # Tasks of a set in one room; more would hide each other.
_NUM_UNIFORM = 1000
_MILLION = 1e6


def draw(run: records.Record, output: pathlib.Path) -> None:
  """Draws the sets of a run that has them."""
  import matplotlib
  from matplotlib import figure

  half_width = HALF_WIDTH.get(run.config['environment.name'])
  snapshots = records.read_snapshots(run.path / 'curriculum.npz')
  has_rooms = half_width is not None and bool(snapshots)
  with matplotlib.rc_context(STYLE):
    size = (12.0, 9.4 if has_rooms else 4.2)
    picture = figure.Figure(figsize=size, layout='constrained')
    parts = picture.subfigures(
      1 + has_rooms, 1, squeeze=False, height_ratios=[1, 1.5][: 1 + has_rooms]
    )[:, 0]
    _draw_history(parts[0], run, half_width)
    if has_rooms:
      _draw_rooms(parts[1], run, snapshots, half_width)
    name = run.config['environment.name']
    picture.suptitle(
      f'{name}, n = {run.config["environment.num_agents"]}, '
      f'{run.config["preset"]} preset, {run.config["curriculum.name"]}, '
      f'seed {run.config["seed"]}'
    )
    picture.savefig(output, dpi=100)


def _draw_history(
  part: 'figure.SubFigure', run: records.Record, half_width: float | None
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
  spread.plot(steps, columns['solved_spread'], color=_SOLVED, label='solved')
  spread.set_title('Spread of the solved set')
  spread.set_ylabel('std of a coordinate')
  if half_width is not None:
    uniform = half_width / math.sqrt(3.0)
    label = f'uniform tasks ({uniform:.2f} m)'
    spread.set_ylabel('std of a coordinate (metres)')
    spread.axhline(uniform, color=_INK, ls='--', lw=1.2, label=label)
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
  half_width: float,
) -> None:
  """Draws where tasks put agents and landmarks, early to late."""
  chosen = choose_snapshots(snapshots)
  steps = np.interp(chosen, run.columns['iteration'], run.columns['env_steps'])
  rooms, distances = part.subplots(
    2, _NUM_ROOMS, sharey='row', height_ratios=[1.0, 0.62]
  )
  uniform = np.random.default_rng(0).uniform(
    -half_width, half_width, [_NUM_UNIFORM, _num_dims(snapshots)]
  )
  for axis, below, iteration, step in zip(
    rooms, distances, chosen, steps, strict=False
  ):
    axis.set_title(f'{step / _MILLION:.3g} M steps')
    _make_room(axis, half_width)
    _draw_distances(below, uniform, 'uniform tasks', color=_INK, ls='--')
    for name, colour in (('active', _ACTIVE), ('solved', _SOLVED)):
      phi = snapshots[iteration][f'{name}_phi']
      points = phi[:: -(-len(phi) // _NUM_DRAWN) or 1].reshape(-1, 2)
      axis.scatter(*points.T, s=3.5, color=colour, alpha=0.7, lw=0)
      _draw_distances(below, phi, f'{name} tasks', color=colour)
    below.set(xlim=(0.0, half_width), ylim=(0.0, 1.02))
    below.set_xlabel('nearest agent within (metres)')
  for axis in (*rooms[len(chosen) :], *distances[len(chosen) :]):
    axis.remove()
  rooms[0].set_ylabel('agents and landmarks\nin the room (metres)')
  distances[0].set_ylabel('share of landmarks')
  # All three are there in the last column, if they ever were.
  handles, labels = distances[len(chosen) - 1].get_legend_handles_labels()
  part.legend(handles, labels, loc='outside lower center', ncols=3)


def choose_snapshots(snapshots: dict[int, records.Snapshot]) -> list[int]:
  """Returns a few iterations, such that the active set grows in even steps.

  Even steps of time would show a full room three times where a run is long.
  """
  iterations = sorted(snapshots)
  # A set may be empty.
  points = [np.append(snapshots[i]['active_phi'], 0.0) for i in iterations]
  spread = np.array([x.std() for x in points])
  last = int(spread.argmax())
  wanted = np.linspace(spread[0], spread[last], _NUM_ROOMS)[1:-1]
  between = [int(abs(spread[: last + 1] - level).argmin()) for level in wanted]
  # The first and the last are always there.
  return [iterations[i] for i in sorted({0, *between, len(iterations) - 1})]


def _num_dims(snapshots: dict[int, records.Snapshot]) -> int:
  """Returns the numbers of a task; the last ones have the most entities."""
  return snapshots[max(snapshots)]['active_phi'].shape[1]


def _make_room(axis: 'axes.Axes', half_width: float) -> None:
  margin = 1.03 * half_width
  axis.set(xlim=(-margin, margin), ylim=(-margin, margin), aspect='equal')
  axis.set_xticks([-half_width, 0.0, half_width])
  axis.set_yticks([-half_width, 0.0, half_width])
  axis.grid(False)
  axis.spines[:].set_visible(True)


def _draw_distances(
  axis: 'axes.Axes', phi: np.ndarray, label: str, **style: str
) -> None:
  """Draws which share of landmarks has an agent within a distance."""
  if len(phi):
    # From 0 and on to the far end, where all are within.
    distance = np.concatenate([[0.0], np.sort(nearest_agent(phi)), [1e3]])
    share = np.minimum(np.arange(len(distance)) / (len(distance) - 2), 1.0)
    axis.plot(distance, share, label=label, lw=1.6, **style)


def nearest_agent(phi: np.ndarray) -> np.ndarray:
  """Returns each landmark's distance to its nearest agent, all tasks in one.

  Args:
    phi: [rows, D], the agents' (x, y), then as many landmarks'.
  """
  agents, landmarks = np.split(phi.reshape(len(phi), -1, 2), 2, 1)
  towards = agents[:, None] - landmarks[:, :, None]
  return np.sqrt((towards**2).sum(-1)).min(-1).ravel()
