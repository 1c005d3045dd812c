# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The files in the folder of a run, read without TensorFlow."""

import contextlib
import dataclasses
import functools
import math
import pathlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from vacl_tf import bounds
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf import reading
from vacl_tf import statistics
from vacl_tf.launch import command_line

_MAX_NUMBERS, _MAX_DIMS = 100_000, 10_000  # Per set of tasks, per task.
_OF_SETS = ('active_tasks', 'solved_tasks', 'newly_solved', 'solved_spread')

# Names of leaves in pictures; other leaves keep their own names.
_WORDS = {
  'environment.name': '{}',
  'environment.num_agents': 'n = {}',
  'preset': '{} preset',
  'agent.name': '{} agent',
  'curriculum.name': '{}',
}
_COUNTED = 'environment.num_'

Snapshot = dict[str, np.ndarray]


class NothingYetError(command_line.UsageError):
  """A run has nothing to show yet."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Record:
  """A run, as recorded in its folder.

  Attributes:
    path: folder of the run.
    cfg: config of the run.
    config: {dotted name: value} of all leaves of the config.
    columns: columns of metrics.csv, one number per iteration, NaN for an empty
      cell.
    length: when the run is to end.
  """

  path: pathlib.Path
  cfg: config.Config
  columns: dict[str, np.ndarray]
  length: config.RunLength

  @functools.cached_property
  def config(self) -> dict[str, Any]:
    return overrides.leaves(self.cfg)

  @property
  def has_sets(self) -> bool:
    """Whether metrics.csv describes an active and a solved set.

    Otherwise `snapshots` hold the tasks that were played.
    """
    return all(name in self.columns for name in _OF_SETS)

  @functools.cached_property
  def snapshots(self) -> dict[int, Snapshot]:
    """Tasks by iteration, see `read_snapshots`; may be empty.

    Raises:
      UsageError: curriculum.npz can't be read.
    """
    return read_snapshots(self.path / 'curriculum.npz')

  @property
  def is_unfinished(self) -> bool:
    """Whether the run has reached neither its last step nor its coverage."""
    level = self.length.stop_at_coverage
    latest = self.evaluated('coverage')[-statistics.WINDOW :]
    is_good = 0.0 < level <= latest.mean() and len(latest) == statistics.WINDOW
    return (
      not is_good and self.columns['env_steps'][-1] < self.length.num_env_steps
    )

  def evaluated(self, name: str) -> np.ndarray:
    """Returns a column at the iterations with an evaluation."""
    return self.columns[name][~np.isnan(self.columns['coverage'])]


def read(path: pathlib.Path) -> Record:
  """Reads config.json and metrics.csv.

  Raises:
    UsageError: a file is missing or can't be read, or nothing was evaluated.
  """
  check_folder(path)
  record = Record(
    path=path,
    columns=read_metrics(path / 'metrics.csv'),
    cfg=read_config(path),
    length=read_length(path),
  )
  if not record.evaluated('coverage').size:
    raise NothingYetError(
      f'{path} has no evaluation yet; wait until metrics.csv has a coverage'
    )
  return record


def check_folder(path: pathlib.Path) -> None:
  """Raises UsageError if a path is not a folder."""
  try:
    is_there = reading.kind(path) == reading.FOLDER
  except reading.UnreadableError as error:
    raise command_line.UsageError(
      f'{error}; give the run_dir of another run'
    ) from error
  if not is_there:
    raise command_line.UsageError(
      f'{path} is not a folder; give the run_dir of a run'
    )


def read_length(path: pathlib.Path) -> config.RunLength:
  """Returns when a run is to end; what config.json lacks is default."""
  values = reading.read_json(path / 'config.json').get('run_length')
  length = config.RunLength(num_env_steps=1)
  for name, value in values.items() if isinstance(values, dict) else ():
    with contextlib.suppress(ValueError):  # Damaged, or of another version.
      changed = overrides.replace(length, {name: value})
      bounds.check_leaves(changed)
      length = changed
  return length


def telling(cfg: config.Config) -> tuple[str, ...]:
  """Returns the leaves that labels of runs name first, if they differ.

  A preset, for example, explains the values of many other leaves.
  """
  counts = (f'environment.{field}' for field in cfg.environment.count_fields)
  return ('environment.name', *counts, 'preset', 'curriculum.name')


def describe(leaves: dict[str, Any], names: Iterable[str]) -> str:
  """Returns the named leaves of a config in words; skips missing ones."""
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
    UsageError: the file can't be read. If it is missing, the result is empty.
  """
  snapshots: dict[int, Snapshot] = {}
  try:
    for key, array in reading.read_arrays(path).items():
      iteration, _, name = key.partition('/')
      if not (iteration.isdecimal() and name):
        raise reading.UnreadableError(
          path, f'its key {key!r} does not have the form ITERATION/NAME'
        )
      snapshots.setdefault(int(iteration), {})[name] = array
    found = {
      iteration: snapshot
      for iteration, snapshot in sorted(snapshots.items())
      if {'active_phi', 'solved_phi'} <= snapshot.keys()
    }
    _check_tasks(path, found)
  except FileNotFoundError:
    return {}
  except reading.UnreadableError as error:
    raise command_line.UsageError(
      f'{error}; move it away to go on without it'
    ) from error
  return found


def _check_tasks(path: pathlib.Path, snapshots: dict[int, Snapshot]) -> None:
  """Raises UnreadableError if arrays are not tasks, or are too large."""
  for snapshot in snapshots.values():
    for phi in (snapshot['active_phi'], snapshot['solved_phi']):
      if phi.ndim != 2 or phi.size > _MAX_NUMBERS or phi.shape[1] > _MAX_DIMS:
        raise reading.UnreadableError(
          path, f'it has a set of tasks of shape {phi.shape}'
        )
      if not np.isfinite(phi).all():
        raise reading.UnreadableError(path, 'it has tasks that are not finite')


def read_metrics(path: pathlib.Path) -> dict[str, np.ndarray]:
  """Returns the columns of a metrics.csv, NaN for an empty cell.

  Raises:
    UsageError: the file is missing, can't be read, or lacks a column.
  """
  try:
    columns = reading.read_table(path)
  except FileNotFoundError as error:
    raise NothingYetError(
      f'{path.parent} has no metrics.csv; '
      + meant(path.parent, 'give the run_dir of a run that has begun to train')
    ) from error
  except reading.UnreadableError as error:
    raise command_line.UsageError(
      f'{error}; repair it, or give the run_dir of another run'
    ) from error
  try:
    reading.check_metrics(columns)
  except ValueError as error:
    raise command_line.UsageError(
      f'{path} is not a table of a run: {error}; repair it, or give the '
      'run_dir of another run'
    ) from error
  return columns


def last_coverage(path: pathlib.Path) -> float:
  """Returns the coverage in a run's last evaluation, NaN if there was none.

  Raises:
    UsageError: metrics.csv is missing or can't be read.
  """
  found = read_metrics(path / 'metrics.csv')['coverage']
  return float([math.nan, *found[~np.isnan(found)]][-1])


def meant(
  path: pathlib.Path,
  otherwise: str = 'give the run_dir of a run as launch.main made it',
) -> str:
  """Returns advice on a folder that is not a run: what to give instead."""
  if (path / 'policy.json').exists():
    return (
      'it is an exported policy, not a run; give it to evaluate as saved_model'
    )
  inner = min(path.glob('*/config.json'), default=None)
  if inner is not None:
    return f'it is a folder of runs, so give one of them, like {inner.parent}'
  return otherwise


def read_config(path: pathlib.Path, remedy: str | None = None) -> config.Config:
  """Returns the config of a run; values that an older file lacks are default.

  Args:
    path: folder of the run.
    remedy: advice if there is no readable config; None for the advice of
      `meant`.

  Raises:
    UsageError: there is no readable config, it names something unknown, or a
      value is out of range.
  """
  file = path / 'config.json'
  try:
    content = reading.read_json(file)
    values = content.get('config')
    if not isinstance(values, dict):
      raise reading.UnreadableError(file, "it has no object 'config'")
  except (FileNotFoundError, reading.UnreadableError) as error:
    raise command_line.UsageError(
      f'{path} has no config.json that can be read; {remedy or meant(path)} '
      f'({reading.reason(error)})'
    ) from error
  try:
    cfg = presets.restore(values)
    bounds.check_leaves(cfg, 'config.')
    entity_counts.path(cfg)
  except (ValueError, TypeError) as error:
    raise command_line.UsageError(
      f'{file}: {reading.one_line(error)}{_missing_imports(content)}'
    ) from error
  return cfg


def _missing_imports(content: dict[str, Any]) -> str:
  """Returns a hint to import the modules that a run was started with."""
  used = content.get('imports', [])
  used = used if isinstance(used, list) else []
  missing = [str(x) for x in used if x not in command_line.imports()]
  if not missing:
    return ''
  names = reading.one_line(','.join(missing))
  return f'; the run was started with --import={names}'
