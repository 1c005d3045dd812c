# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a run left in its folder, read without TensorFlow."""

import csv
import dataclasses
import json
import pathlib
import zipfile
from collections.abc import Iterable
from typing import Any

import numpy as np

from vacl_tf import config
from vacl_tf.launch import command_line

_NEEDED = ('iteration', 'env_steps', 'wall_seconds', 'coverage')
_OF_SETS = ('active_tasks', 'solved_tasks', 'newly_solved', 'solved_spread')

# What tells runs apart, if these do; the paper preset changes many others.
TELLING = {
  'environment.name': '{}',
  'environment.num_agents': 'n = {}',
  'environment.num_boxes': '{} boxes',
  'preset': '{} preset',
  'curriculum.name': '{}',
}

Snapshot = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
  """A run.

  Attributes:
    path: folder of the run.
    config: {dotted name: value} of all leaves.
    columns: of metrics.csv, one number an iteration, NaN for an empty cell.
  """

  path: pathlib.Path
  config: dict[str, Any]
  columns: dict[str, np.ndarray]

  @property
  def has_sets(self) -> bool:
    """Whether the curriculum kept an active and a solved set."""
    return all(name in self.columns for name in _OF_SETS)

  def evaluated(self, name: str) -> np.ndarray:
    """Returns a column where coverage was evaluated."""
    return self.columns[name][~np.isnan(self.columns['coverage'])]


def read(path: pathlib.Path) -> Record:
  """Reads config.json and metrics.csv.

  Raises:
    UsageError: something is missing or can't be read.
  """
  if not path.is_dir():
    raise command_line.UsageError(
      f'{path} is not a folder; give the run_dir of a run'
    )
  record = Record(
    path=path,
    columns=_read_metrics(path / 'metrics.csv'),
    config=_read_config(path / 'config.json'),
  )
  if not record.evaluated('coverage').size:
    raise command_line.UsageError(
      f'{path} has no evaluation yet; wait until metrics.csv has a coverage'
    )
  return record


def describe(leaves: dict[str, Any], names: Iterable[str]) -> str:
  """Returns the named leaves of a config in words; boxes only if there are."""
  return ', '.join(
    TELLING.get(name, name + ' = {}').format(leaves[name])
    for name in names
    if leaves[name] or name != 'environment.num_boxes'
  )


def read_snapshots(path: pathlib.Path) -> dict[int, Snapshot]:
  """Returns {iteration: {name: array}} of a curriculum.npz, early to late.

  Iterations that lack the tasks of either set are left out.

  Raises:
    UsageError: it can't be read. A missing file is no error: there are none.
  """
  snapshots: dict[int, Snapshot] = {}
  if not path.exists():
    return snapshots
  try:
    with np.load(path) as arrays:
      for key in arrays.files:
        iteration, name = key.split('/')
        snapshots.setdefault(int(iteration), {})[name] = arrays[key]
  except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
    raise command_line.UsageError(
      f'{path} cannot be read ({error}); move it away to plot without it'
    ) from error
  return {
    iteration: snapshot
    for iteration, snapshot in sorted(snapshots.items())
    if {'active_phi', 'solved_phi'} <= snapshot.keys()
  }


def _read_metrics(path: pathlib.Path) -> dict[str, np.ndarray]:
  try:
    with path.open(newline='') as file:
      reader = csv.DictReader(file)
      # A process that runs, or was killed, may have left half a line.
      rows = [row for row in reader if None not in row.values()]
      names = reader.fieldnames or ()
    columns = {
      name: np.array([float(row[name] or 'nan') for row in rows])
      for name in names
    }
  except FileNotFoundError as error:
    raise command_line.UsageError(
      f'{path.parent} has no metrics.csv; give the run_dir of a run that has '
      'begun to train'
    ) from error
  except (OSError, ValueError, TypeError) as error:
    raise command_line.UsageError(
      f'{path} cannot be read ({error}); give the run_dir of another run'
    ) from error
  if missing := [name for name in _NEEDED if name not in columns]:
    raise command_line.UsageError(
      f'{path} has no column {", ".join(missing)}; give the run_dir of a run '
      'that has begun to train'
    )
  return columns


def _read_config(path: pathlib.Path) -> dict[str, Any]:
  """Returns all leaves; what an older file lacks takes its default."""
  try:
    values = json.loads(path.read_text())['config']
    return config.leaves(config.restore(config.Config(), values))
  except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
    raise command_line.UsageError(
      f'{path.parent} has no config.json that can be read; give the run_dir '
      'of a run as launch.main made it'
    ) from error
