# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where sets of tasks lie, and their distance to the target distribution."""

import numpy as np

from vacl_tf.environments import map_layout
from vacl_tf.launch import records

_NUM_CHOSEN = 4
_NUM_TARGET = 1000
_MAX_PAIRS = 4e8  # Of numbers in a target task, over all tasks.
_QUANTILES = (np.arange(200) + 0.5) / 200


def choose_snapshots(snapshots: dict[int, records.Snapshot]) -> list[int]:
  """Returns a few iterations between which the active set grows evenly.

  With evenly spaced iterations, a long run would show a full room three times.
  """
  iterations = sorted(snapshots)
  sets = [snapshots[i]['active_phi'] for i in iterations]
  # For each coordinate: tasks may begin in a corner, far from the overall mean.
  spread = np.array([x.std(0).mean() if len(x) else 0.0 for x in sets])
  last = int(spread.argmax())
  wanted = np.linspace(spread[0], spread[last], _NUM_CHOSEN)[1:-1]
  between = [int(abs(spread[: last + 1] - level).argmin()) for level in wanted]
  # The first and the last iteration are always included.
  return [iterations[i] for i in sorted({0, *between, len(iterations) - 1})]


def sample_target(
  layout: map_layout.MapLayout, snapshots: dict[int, records.Snapshot]
) -> np.ndarray:
  """Returns target tasks phi [rows, D] of the largest entity count."""
  if layout.sample is not None:
    return layout.sample(_NUM_TARGET)
  num_dims = snapshots[max(snapshots)]['active_phi'].shape[1]
  num_tasks = int(np.clip(_MAX_PAIRS // num_dims**2, 10, _NUM_TARGET))
  boxes = [
    layout.goals if kind == layout.goal else layout.movers
    for kind in layout.names(num_dims // 2)
  ]
  sides = np.reshape(boxes, [-1, 2, 2])
  rows = np.random.default_rng(0).uniform(
    sides[..., 0], sides[..., 1], [num_tasks, *sides.shape[:2]]
  )
  return rows.reshape(num_tasks, num_dims)


def nearest_mover(phi: np.ndarray, layout: map_layout.MapLayout) -> np.ndarray:
  """Returns the distances of all goals of all tasks to their nearest mover.

  Args:
    phi: [rows, D] tasks.
    layout: map of the tasks.
  """
  points = layout.points(phi)
  towards = points[layout.mover][:, None] - points[layout.goal][:, :, None]
  return np.sqrt((towards**2).sum(-1)).min(-1).ravel()


def distance_to_target(
  phi: np.ndarray, target: np.ndarray, layout: map_layout.MapLayout
) -> float:
  """Returns how far tasks are from the target distribution, as a length.

  That is the 1-Wasserstein distance between the distributions of a coordinate,
  averaged over the kinds of entities and both coordinates. Entities of a kind
  are pooled, so the two sets may have different entity counts.

  Args:
    phi: [rows, D] tasks; the distance is NaN if there are none.
    target: [rows, D] target tasks.
    layout: map of both.
  """
  if not len(phi):
    return np.nan
  found, wanted = layout.points(phi), layout.points(target)
  distances = [
    abs(_quantiles(found[kind]) - _quantiles(wanted[kind])).mean()
    for kind in found
  ]
  return float(np.mean(distances))


def _quantiles(points: np.ndarray) -> np.ndarray:
  """Returns quantiles [Q, 2] of both coordinates of [rows, number, 2]."""
  return np.quantile(points.reshape(-1, 2), _QUANTILES, axis=0)
