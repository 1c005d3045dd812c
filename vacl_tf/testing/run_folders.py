# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes folders of made-up runs, for tests of pictures."""

import csv
import json
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from vacl_tf import catalog
from vacl_tf import overrides
from vacl_tf import presets

COLUMNS = ('iteration', 'env_steps', 'wall_seconds', 'coverage')
_SETS = ('active_tasks', 'solved_tasks', 'newly_solved', 'solved_spread')


def write_run(
  path: pathlib.Path,
  values: Mapping[str, Any] | None = None,
  num_iterations: int = 40,
  has_sets: bool = True,
  **options: Any,
) -> pathlib.Path:
  """Writes a run evaluated every tenth iteration: coverage 0.1, 0.2, ..."""
  path.mkdir()
  cfg = presets.make(**({'env': catalog.TASKS.names()[0]} | options))
  cfg = overrides.replace(cfg, values or {})
  (path / 'config.json').write_text(
    json.dumps({'config': overrides.leaves(cfg), 'run_length': {}})
  )
  with (path / 'metrics.csv').open('w', newline='') as file:
    writer = csv.writer(file)
    writer.writerow(COLUMNS + _SETS * has_sets)
    for i in range(1, num_iterations + 1):
      coverage = '' if i % 10 else i / 100
      row = [i, 35_000 * i, 20.0 + i, coverage, 2000, 10 * i, i, 0.04 * i]
      writer.writerow(row if has_sets else row[:4])
  return path


def write_snapshots(
  path: pathlib.Path,
  num_dims: int = 16,
  scale: Mapping[int, float] | None = None,
) -> None:
  """Writes snapshots whose tasks spread; the first has no solved tasks."""
  rng = np.random.default_rng(0)
  arrays = {}
  for iteration, half_width in (scale or {1: 0.3, 20: 1, 40: 3}).items():
    for name in ('active', 'solved'):
      rows = 0 if name == 'solved' and iteration == 1 else 30
      phi = rng.uniform(-half_width, half_width, [rows, num_dims])
      arrays[f'{iteration}/{name}_phi'] = phi
      arrays[f'{iteration}/{name}_value'] = np.ones(rows)
  np.savez_compressed(path / 'curriculum.npz', **arrays)
