# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""curriculum.npz: what the task sets looked like as training went on."""

import math
import pathlib

import numpy as np

from vacl_tf.curriculum import base

_MAX_SNAPSHOTS = 10
_MAX_ROWS = 500  # Of each array: enough for a picture.
_MAX_NUMBERS = 22_000  # Of a snapshot: all of them stay below 1 MB.


def record(
  path: pathlib.Path, curriculum: base.Curriculum, iteration: int
) -> None:
  """Adds a snapshot `<iteration>/<name>` for each array of the history.

  Snapshots later than `iteration` (of a run that was set back) are dropped.
  When there are too many, the one with the closest neighbours goes, so that
  those that stay are spread over the whole run.
  """
  arrays = curriculum.history()
  if not arrays:
    return
  kept: dict[str, np.ndarray] = {}
  if path.exists():
    with np.load(path) as old:
      kept = {k: old[k] for k in old.files if _iteration(k) < iteration}
  iterations = sorted({_iteration(key) for key in kept})
  if len(iterations) >= _MAX_SNAPSHOTS:
    triples = zip(iterations, iterations[1:], iterations[2:], strict=False)
    _, crowded = min((after - before, mine) for before, mine, after in triples)
    kept = {k: x for k, x in kept.items() if _iteration(k) != crowded}
  row_size = sum(math.prod(array.shape[1:]) for array in arrays.values())
  max_rows = max(min(_MAX_ROWS, _MAX_NUMBERS // row_size), 1)
  for name, array in arrays.items():
    stride = max(1, -(-len(array) // max_rows))
    kept[f'{iteration}/{name}'] = np.asarray(array[::stride])
  beside = path.with_suffix('.new.npz')
  np.savez_compressed(beside, **kept)
  beside.replace(path)


def _iteration(key: str) -> int:
  return int(key.split('/')[0])
