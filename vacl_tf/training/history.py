# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""curriculum.npz: snapshots of the task sets during training."""

import math
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vacl_tf import reading
from vacl_tf.curriculum import base
from vacl_tf.training import files

_MAX_SNAPSHOTS = 10
_MAX_ROWS = 500  # Per array; enough for a plot.
# Per snapshot, and for its parents besides: all snapshots stay below 1 MB.
_MAX_NUMBERS, _MAX_PARENTS = 20_000, 2500
_PARENT = '_parent'  # Suffix of the names of arrays of parents.
_BROKEN = (reading.UnreadableError, ValueError)

Snapshots = dict[str, np.ndarray]


def is_due(iteration: int, interval: int) -> bool:
  """Returns whether a snapshot is due at an iteration of an unfinished run."""
  return iteration == 1 or iteration % interval == 0


def cut(
  path: pathlib.Path,
  last_iteration: int,
  interval: int,
  report: Callable[[str], None],
) -> None:
  """Removes snapshots later than the checkpoint that a run resumes from.

  Args:
    path: path of curriculum.npz, which may be missing.
    last_iteration: iteration of the checkpoint.
    interval: iterations between snapshots. A snapshot of `last_iteration` that
      is not due was taken when the run ended. It is removed, because an
      uninterrupted run would not have it.
    report: called with a message if the file is broken and set aside.

  Raises:
    WriteError: it can't be written.
  """
  if not path.exists():
    return
  try:
    snapshots = _read(path)
  except _BROKEN as error:
    beside = files.set_aside(path, '.broken')
    report(
      f'{path} is broken ({reading.reason(error)}); it was renamed to '
      f'{beside.name}, and earlier snapshots of the curriculum are missing'
    )
    return

  def is_kept(iteration: int) -> bool:
    if iteration == last_iteration:
      return is_due(iteration, interval)
    return iteration < last_iteration

  kept = {k: x for k, x in snapshots.items() if is_kept(_iteration(k))}
  if not kept:
    with files.writing(path):
      path.unlink()
  elif len(kept) < len(snapshots):
    _write(path, kept)


def record(
  path: pathlib.Path, curriculum: base.Curriculum, iteration: int
) -> None:
  """Adds a snapshot `<iteration>/<name>` for each array of the history.

  Later snapshots, left by a run that was set back, are dropped. If there are
  too many snapshots, the one with the closest neighbours is removed, so that
  the others stay spread over the whole run.

  Raises:
    WriteError: the file can't be written; the old one is unchanged.
  """
  arrays = curriculum.history()
  if not arrays:
    return
  kept: Snapshots = {}
  if path.exists():
    with files.writing(path, *_BROKEN):
      old = _read(path)
    kept = {k: x for k, x in old.items() if _iteration(k) < iteration}
  iterations = sorted({_iteration(key) for key in kept})
  if len(iterations) >= _MAX_SNAPSHOTS:
    triples = zip(iterations, iterations[1:], iterations[2:], strict=False)
    _, crowded = min((after - before, mine) for before, mine, after in triples)
    kept = {k: x for k, x in kept.items() if _iteration(k) != crowded}
  found = _thinned(arrays)
  _write(path, kept | {f'{iteration}/{name}': x for name, x in found.items()})


def _thinned(arrays: Mapping[str, Any]) -> Snapshots:
  """Returns evenly spaced rows of each array.

  Fewer rows of parents are kept; `<name>_row` holds the indices of the rows of
  the other arrays that they belong to.
  """
  parents = {k: x for k, x in arrays.items() if k.endswith(_PARENT)}
  others = {k: x for k, x in arrays.items() if k not in parents}
  found = {}
  for name, array in others.items():
    found[name] = np.asarray(array[:: _stride(array, others, _MAX_NUMBERS)])
  for name, array in parents.items():
    rows = np.asarray(array[:: _stride(array, others, _MAX_NUMBERS)])
    stride = _stride(rows, parents, _MAX_PARENTS)
    found[name] = rows[::stride]
    found[f'{name}_row'] = np.arange(0, len(rows), stride, dtype=np.int32)
  return found


def _stride(array: Any, arrays: Mapping[str, Any], max_numbers: int) -> int:
  """Returns the stride of the rows of an array to keep, within the limits."""
  row_size = sum(math.prod(x.shape[1:]) for x in arrays.values())
  max_rows = max(min(_MAX_ROWS, max_numbers // max(row_size, 1)), 1)
  return max(1, -(-len(array) // max_rows))


def _read(path: pathlib.Path) -> Snapshots:
  found = reading.read_arrays(path)
  for key in found:
    _iteration(key)
  return found


def _write(path: pathlib.Path, snapshots: Snapshots) -> None:
  with files.writing(path), files.replaced(path) as beside:
    with beside.open('wb') as file:  # NumPy would append .npz to a name.
      np.savez_compressed(file, **snapshots)


def _iteration(key: str) -> int:
  return int(key.split('/')[0])
