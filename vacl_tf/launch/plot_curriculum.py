# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The picture of a curriculum: its tasks over time and on the map."""

import pathlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import user_code
from vacl_tf.environments import map_layout
from vacl_tf.launch import plot_curves
from vacl_tf.launch import plot_rooms
from vacl_tf.launch import records
from vacl_tf.launch import task_sets

if TYPE_CHECKING:  # Slow to import; functions import it when needed.
  from matplotlib import axes
  from matplotlib import figure

_ACTIVE, _SOLVED, _INK = plot_rooms.ACTIVE, plot_rooms.SOLVED, plot_rooms.INK
_HISTORY_INCHES = 3.6
_NUM_LEVELS = 4  # Heights of the names of stages, which must not overlap.
_MILLION = 1e6


def layout_of(cfg: config.Config) -> map_layout.MapLayout | None:
  """Returns the map of a run's tasks, None if its task has none.

  Raises:
    ImportError: a package that the task's map needs is not installed.
    simulator.WorldError: a user's map is wrong.
  """
  task = catalog.TASKS.get(cfg.environment.name)
  path = entity_counts.path(cfg)
  try:
    layout = task.layout(cfg.environment, path)
    if layout is not None:
      _check(layout)
    return layout
  except ImportError:
    raise
  except Exception as error:
    from vacl_tf.environments import simulator  # Slow: it needs TensorFlow.

    if isinstance(error, simulator.WorldError):
      raise
    told = f'layout failed: {user_code.told(error)}'
    raise simulator.WorldError(told) from error


def _check(layout: map_layout.MapLayout) -> None:
  """Raises what would otherwise be raised when tasks are drawn."""
  for field in ('mover', 'goal'):
    kind = getattr(layout, field)
    if kind not in layout.kinds:
      raise ValueError(f'{field}={kind!r}; allowed: one of {layout.kinds}')
  if layout.sample is not None:
    layout.points(layout.sample(1))


class Sets(NamedTuple):
  """The recorded tasks of a run.

  Attributes:
    layout: map of the tasks, None if there is none.
    snapshots: the recorded tasks by iteration.
  """

  layout: map_layout.MapLayout | None
  snapshots: dict[int, records.Snapshot]

  @property
  def have_places(self) -> bool:
    """Whether there are tasks, and a map to draw them on."""
    return self.layout is not None and bool(self.snapshots)


def find(
  runs: Iterable[records.Record],
) -> tuple[records.Record, Sets] | None:
  """Returns the first run whose curriculum can be drawn, and its tasks.

  Raises:
    UsageError, ValueError, ImportError: see `read`.
  """
  for run in runs:
    if run.has_sets or run.snapshots:
      sets = read(run)
      if run.has_sets or sets.have_places:
        return run, sets
  return None


def read(run: records.Record) -> Sets:
  """Reads the tasks that a run has recorded.

  Raises:
    UsageError: curriculum.npz can't be read.
    ValueError: its tasks belong to another map.
    ImportError: a package that the task's map needs is not installed.
  """
  layout = layout_of(run.cfg)
  if layout is not None:
    _check_map(run, layout)
  return Sets(layout, run.snapshots)


def draw(run: records.Record, sets: Sets, output: pathlib.Path) -> None:
  """Draws a run and its tasks, as `find` returned them."""
  import matplotlib
  from matplotlib import figure

  layout, snapshots = sets
  has_rooms = sets.have_places
  target = task_sets.sample_target(layout, snapshots) if has_rooms else None
  heights = [_HISTORY_INCHES]
  if has_rooms:
    heights.append(plot_rooms.height(layout, snapshots))
  with matplotlib.rc_context(plot_curves.STYLE):
    picture = figure.Figure(figsize=(12.0, sum(heights)), layout='constrained')
    parts = picture.subfigures(
      len(heights), 1, squeeze=False, height_ratios=heights
    )[:, 0]
    _draw_history(parts[0], run, sets, target)
    if has_rooms:
      plot_rooms.draw(parts[1], run, snapshots, layout, target)
    what = records.describe(run.config, records.telling(run.cfg))
    picture.suptitle(f'{what}, seed {run.config["seed"]}')
    plot_curves.save(picture, output)


def _check_map(run: records.Record, layout: map_layout.MapLayout) -> None:
  """Raises ValueError if the tasks do not fit the map."""
  snapshots = run.snapshots.values()
  try:
    for snapshot in snapshots:
      for name in ('active_phi', 'solved_phi'):
        task_sets.nearest_mover(snapshot[name][:1], layout)
  except (ValueError, IndexError) as error:
    raise ValueError(
      f'{run.path / "curriculum.npz"} has tasks of another map; move it away '
      'to plot without it'
    ) from error


def _draw_history(
  part: 'figure.SubFigure',
  run: records.Record,
  sets: Sets,
  target: np.ndarray | None,
) -> None:
  """Draws sets of tasks and stages of entity progression over env steps."""
  stages = find_stages(run)
  has_far = target is not None
  number = 2 * run.has_sets + has_far + bool(stages)
  panels = part.subplots(1, number, squeeze=False)[0]
  columns = run.columns
  steps = columns['env_steps'] / _MILLION
  if run.has_sets:
    _draw_growth(panels, steps, columns)
  if has_far:
    _draw_far(panels[2 * run.has_sets], run, sets, target)
  if stages:
    _draw_mixing(panels[-1], steps, columns, stages)
  for axis in panels:
    axis.set_xlabel('env steps (millions)')
    axis.set_xlim(0.0, steps[-1])
    axis.set_ylim(0.0, axis.get_ylim()[1])
    for step, _ in stages:
      axis.axvline(step, color=_INK, ls=':', lw=1.0)


def _draw_growth(
  panels: Sequence['axes.Axes'],
  steps: np.ndarray,
  columns: dict[str, np.ndarray],
) -> None:
  """Draws the sizes of the sets, and the number of newly solved tasks."""
  sizes, news = panels[:2]
  sizes.plot(steps, columns['active_tasks'], color=_ACTIVE, label='active')
  sizes.plot(steps, columns['solved_tasks'], color=_SOLVED, label='solved')
  sizes.set_title('Sizes of the task sets')
  sizes.legend(loc='best')
  window = max(5, len(steps) // 50)
  smooth = _running_mean(columns['newly_solved'], window)
  news.plot(steps, columns['newly_solved'], color=_SOLVED, lw=0.5, alpha=0.3)
  news.plot(steps, smooth, color=_SOLVED, label=f'mean over {window}')
  news.set_title('Newly solved tasks per iteration')
  news.legend(loc='best')


def _draw_far(
  axis: 'axes.Axes', run: records.Record, sets: Sets, target: np.ndarray
) -> None:
  """Draws how far tasks are from the target distribution."""
  iterations = list(sets.snapshots)
  steps = np.interp(
    iterations, run.columns['iteration'], run.columns['env_steps']
  )
  labels = plot_rooms.labels(run)
  for name, colour in (('active', _ACTIVE), ('solved', _SOLVED)):
    far = [
      task_sets.distance_to_target(x[f'{name}_phi'], target, sets.layout)
      for x in sets.snapshots.values()
    ]
    style = {'color': colour, 'marker': 'o', 'ms': 4}
    axis.plot(steps / _MILLION, far, label=labels[name], **style)
  axis.set_title('Distance to the target tasks')
  axis.set_ylabel(f'{sets.layout.length} per coordinate')
  axis.legend(loc='best')


def _draw_mixing(
  axis: 'axes.Axes',
  steps: np.ndarray,
  columns: dict[str, np.ndarray],
  stages: list[tuple[float, str]],
) -> None:
  """Draws the weight of the largest count in training; names the counts."""
  weight = columns['mixing_weight']  # Of the smaller count; 1: the only one.
  larger = np.where(weight < 1.0, 1.0 - weight, 1.0)
  axis.step(steps, larger, color=_INK, where='post', lw=1.4)
  axis.set_title('Weight of the largest count')
  for index, (step, name) in enumerate(stages):
    height = 1.06 + 0.09 * (index % _NUM_LEVELS)
    axis.text(step, height, f' n = {name}', color=_INK, fontsize=10)
  axis.set_ylim(0.0, 1.06 + 0.09 * _NUM_LEVELS)
  axis.set_yticks([0.0, 0.5, 1.0])


def find_stages(run: records.Record) -> list[tuple[float, str]]:
  """Returns the step (in millions) at which each count begins, and its name.

  The list is empty without entity progression. If the number of agents stays
  the same, a count begins when the one before it is no longer evaluated.
  """
  counts = entity_counts.path(run.cfg)
  columns, names = run.columns, [entity_counts.spelled(x) for x in counts]
  if len(counts) < 2 or not {'num_agents', 'mixing_weight'} <= columns.keys():
    return []
  steps = columns['env_steps'] / _MILLION
  found = [(0.0, names[0])]
  for index in range(1, len(counts)):
    if counts[index][0] > counts[index - 1][0]:
      has_begun = columns['num_agents'] >= counts[index][0]
    else:
      score = columns.get(
        f'coverage_n{names[index - 1]}', np.full(len(steps), np.nan)
      )
      seen = np.flatnonzero(~np.isnan(score))
      last = seen[-1] if seen.size else len(steps)
      # Rows after `last` may lack the score because nothing was evaluated. The
      # count has begun only if there is a later evaluation, which always has
      # the coverage of the last count.
      evaluated = np.flatnonzero(~np.isnan(columns['coverage']))
      has_begun = np.arange(len(steps)) > last
      has_begun &= bool((evaluated > last).any())
    if has_begun.any():
      found.append((float(steps[has_begun.argmax()]), names[index]))
  return found


def _running_mean(values: np.ndarray, window: int) -> np.ndarray:
  """Returns running means over `window` values, of those that are known."""
  is_known = ~np.isnan(values)
  end = np.arange(1, len(values) + 1)
  begin = np.maximum(end - window, 0)
  total, number = (
    np.cumsum(np.concatenate([[0.0], x]))
    for x in (np.where(is_known, values, 0.0), is_known)
  )
  count = number[end] - number[begin]
  mean = (total[end] - total[begin]) / np.maximum(count, 1.0)
  return np.where(count > 0.0, mean, np.nan)
