# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a run left in its folder, read without TensorFlow."""

import csv
import dataclasses
import functools
import json
import pathlib
import zipfile
from collections.abc import Iterable
from typing import Any

import numpy as np

from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.launch import command_line

_NEEDED = ('iteration', 'env_steps', 'wall_seconds', 'coverage')
_OF_SETS = ('active_tasks', 'solved_tasks', 'newly_solved', 'solved_spread')

# How leaves are named in pictures; those that aren't here by their name.
_WORDS = {
  'environment.name': '{}',
  'environment.num_agents': 'n = {}',
  'preset': '{} preset',
  'agent.name': '{} agent',
  'curriculum.name': '{}',
}
_COUNTED = 'environment.num_'

Snapshot = dict[str, np.ndarray]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
  """A run.

  Attributes:
    path: folder of the run.
    cfg: of the run.
    config: {dotted name: value} of all its leaves.
    columns: of metrics.csv, one number an iteration, NaN for an empty cell.
  """

  path: pathlib.Path
  cfg: config.Config
  columns: dict[str, np.ndarray]

  @functools.cached_property
  def config(self) -> dict[str, Any]:
    return overrides.leaves(self.cfg)

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
    columns=read_metrics(path / 'metrics.csv'),
    cfg=read_config(path),
  )
  if not record.evaluated('coverage').size:
    raise command_line.UsageError(
      f'{path} has no evaluation yet; wait until metrics.csv has a coverage'
    )
  return record


def telling(cfg: config.Config) -> tuple[str, ...]:
  """Returns the leaves that tell runs apart first, if they do.

  A preset changes many others.
  """
  counts = (f'environment.{field}' for field in cfg.environment.count_fields)
  return ('environment.name', *counts, 'preset', 'curriculum.name')


def describe(leaves: dict[str, Any], names: Iterable[str]) -> str:
  """Returns the named leaves of a config in words, those that it has."""
  return ', '.join(_in_words(x, leaves[x]) for x in names if x in leaves)


def _in_words(name: str, value: Any) -> str:
  if name in _WORDS:
    return _WORDS[name].format(value)
  if name.startswith(_COUNTED):
    return f'{value} {name.removeprefix(_COUNTED)}'
  return f'{name} = {value}'


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


def read_metrics(path: pathlib.Path) -> dict[str, np.ndarray]:
  """Returns the columns of a metrics.csv, NaN for an empty cell.

  Raises:
    UsageError: it is missing, can't be read, or lacks a column.
  """
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


def read_config(
  path: pathlib.Path,
  remedy: str = 'give the run_dir of a run as launch.main made it',
) -> config.Config:
  """Returns the config of a run; what an older file lacks is default.

  Args:
    path: folder of the run.
    remedy: what to do where there is no config.

  Raises:
    UsageError: there is none that can be read, or it names something unknown.
  """
  try:
    content = json.loads((path / 'config.json').read_text())
    values = dict(content['config'])
  except (OSError, ValueError, KeyError, TypeError) as error:
    raise command_line.UsageError(
      f'{path} has no config.json that can be read; {remedy}'
    ) from error
  try:
    return presets.restore(values)
  except (ValueError, TypeError) as error:
    raise command_line.UsageError(
      f'{path}/config.json: {error}{_missing_imports(content)}'
    ) from error


def _missing_imports(content: dict[str, Any]) -> str:
  """Returns the hint to import what a run was started with, if there is any."""
  used = content.get('imports', [])
  missing = [name for name in used if name not in command_line.imports()]
  if not missing:
    return ''
  return f' The run was started with --import={",".join(missing)}'
