# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The tasks over time, as JSON that page/curriculum.js draws."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from vacl_tf.environments import map_layout
from vacl_tf.environments import shapes
from vacl_tf.launch import plot_rooms
from vacl_tf.launch import records
from vacl_tf.launch import report_charts
from vacl_tf.launch import report_packing

SETS = ('active', 'solved')
_LEVELS = 20_000  # Along the longer side of the map.
_LARGEST = 32_767
_UNKNOWN = 255  # Stands for an unknown value; known ones are 0 to 254.
# Names in a snapshot, and names in the JSON.
_WHOLE = {'age': 'ages', 'generation': 'generations'}
_COLOURS = ('#4271c4', '#969696', '#e28436', '#3ca05a')  # Without a legend.


class Filmed(NamedTuple):
  """Which tasks there are films of.

  Attributes:
    sets: {(iteration, set): {row: number of its film}}.
    target_phi: [rows, D] the target tasks that are shown.
    target: {row of target_phi: number of its film}.
    legend: names and colours in the films.
  """

  sets: Mapping[tuple[int, str], Mapping[int, int]]
  target_phi: np.ndarray
  target: Mapping[int, int]
  legend: tuple[tuple[str, shapes.Colour], ...] = ()


class _Frame(NamedTuple):
  """How places become whole numbers."""

  origin: np.ndarray  # [2] lower left corner of the map.
  unit: float


def build(
  layout: map_layout.MapLayout,
  snapshots: Mapping[int, records.Snapshot],
  run: records.Record,
  filmed: Filmed,
) -> dict[str, Any]:
  """Returns the map and the sets of each snapshot.

  Args:
    layout: map of the tasks.
    snapshots: one or more snapshots of the sets, by iteration.
    run: the run that recorded them.
    filmed: which tasks have films.
  """
  low, high = plot_rooms.bounds(layout)
  frame = _Frame(low, float((high - low).max()) / _LEVELS)
  kinds = list(dict.fromkeys(layout.kinds))
  steps = report_charts.steps_of(run.columns, list(snapshots)).tolist()
  return {
    'kinds': kinds,
    'legend': _legend(kinds, filmed.legend),
    'walls': [list(wall) for wall in layout.walls],
    'box': [float(x) for x in (low[0], high[0], low[1], high[1])],
    'unit': frame.unit,
    'names': plot_rooms.labels(run) | {'target': 'target tasks'},
    'has_sets': run.has_sets,
    'snapshots': [
      {
        'iteration': iteration,
        'steps': step,
        'sets': {
          name: _set(
            layout,
            snapshot,
            name,
            frame,
            filmed.sets.get((iteration, name), {}),
          )
          for name in SETS
        },
      }
      for (iteration, snapshot), step in zip(
        snapshots.items(), steps, strict=True
      )
    ],
    'target': _places(layout, filmed.target_phi, frame)
    | {'films': dict(filmed.target)},
  }


def _legend(
  kinds: Sequence[str], legend: Sequence[tuple[str, shapes.Colour]]
) -> list[tuple[str, str]]:
  """Returns the colours of the films, and of kinds that they do not name."""
  found = {name: '#' + bytes(colour).hex() for name, colour in legend}
  free = [x for x in _COLOURS if x not in found.values()]
  others = [kind for kind in kinds if kind not in found]
  return [*found.items(), *zip(others, itertools.cycle(free), strict=False)]


def chosen_rows(num_rows: int, most: int) -> list[int]:
  """Returns at most `most` rows, spread evenly."""
  if not num_rows:
    return []
  places = np.linspace(0, num_rows - 1, min(num_rows, most))
  return np.unique(places.round().astype(int)).tolist()


def _set(
  layout: map_layout.MapLayout,
  snapshot: records.Snapshot,
  name: str,
  frame: _Frame,
  films: Mapping[int, int],
) -> dict[str, Any]:
  """Returns a set of tasks, with what is known about them."""
  phi = snapshot[f'{name}_phi']
  found = _places(layout, phi, frame) | {'films': dict(films)}
  for key, told in _WHOLE.items():
    numbers = _of_rows(snapshot, f'{name}_{key}', len(phi))
    if numbers is not None:
      found[told] = numbers.astype(int).tolist()
  values = _of_rows(snapshot, f'{name}_value', len(phi))
  if values is not None:
    steps = np.rint((_UNKNOWN - 1) * np.clip(np.nan_to_num(values), 0.0, 1.0))
    known = np.where(np.isnan(values), _UNKNOWN, steps)
    found['values'] = report_packing.packed(known, 'u1')
  parents, rows = _parents(snapshot, name)
  if len(rows):
    found['parents'] = _places(layout, parents, frame)['points']
    found['parent_rows'] = {row: index for index, row in enumerate(rows)}
  return found


def _parents(
  snapshot: records.Snapshot, name: str
) -> tuple[np.ndarray, list[int]]:
  """Returns known parents [P, D] of a set, and the rows of their children."""
  phi = snapshot[f'{name}_phi']
  nobody = np.zeros([0, phi.shape[1]], np.float32)
  parents = snapshot.get(f'{name}_parent', nobody)
  rows = snapshot.get(f'{name}_parent_row', np.zeros([0], np.int32))
  if rows.ndim != 1 or parents.shape != (len(rows), phi.shape[1]):
    return nobody, []
  is_known = np.isfinite(parents).all(1) & (rows >= 0) & (rows < len(phi))
  return parents[is_known], rows[is_known].astype(int).tolist()


def _of_rows(
  snapshot: records.Snapshot, name: str, num_rows: int
) -> np.ndarray | None:
  """Returns an array with a number per row, None if it is missing."""
  found = snapshot.get(name)
  return found if found is not None and found.shape == (num_rows,) else None


def _places(
  layout: map_layout.MapLayout, phi: np.ndarray, frame: _Frame
) -> dict[str, Any]:
  """Returns where tasks put their entities, kind after kind."""
  points = layout.points(phi)
  places = np.concatenate(list(points.values()), 1)
  whole = np.rint((places - frame.origin) / frame.unit)
  return {
    'rows': len(phi),
    'counts': [x.shape[1] for x in points.values()],
    'points': report_packing.packed(whole.clip(-_LARGEST, _LARGEST), '<i2'),
  }


def by_size(
  snapshots: Mapping[int, records.Snapshot], most: int
) -> dict[int, list[tuple[int, str, int]]]:
  """Returns tasks to film as (iteration, set, row), by task size D.

  Args:
    snapshots: snapshots of the sets, by iteration.
    most: largest number of tasks of each set of each snapshot.
  """
  found: dict[int, list[tuple[int, str, int]]] = {}
  for iteration, snapshot in snapshots.items():
    for name in SETS:
      phi = snapshot[f'{name}_phi']
      # Only tasks with known parents, if there are any, to show both.
      rows = _parents(snapshot, name)[1] or list(range(len(phi)))
      found.setdefault(phi.shape[1], []).extend(
        (iteration, name, rows[index]) for index in chosen_rows(len(rows), most)
      )
  return {size: tasks for size, tasks in found.items() if tasks}
