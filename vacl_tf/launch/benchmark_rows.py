# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Rows of the benchmark: the results of one training run each."""

import dataclasses
import hashlib
import pathlib
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from vacl_tf import benchmark_protocol as protocol
from vacl_tf import launch
from vacl_tf import reading
from vacl_tf.launch import command_line
from vacl_tf.launch import study_records
from vacl_tf.launch import study_table
from vacl_tf.training import files

ENDING = '.json'
_COMPARED = ('coverage', 'success', 'area')
# Fields that follow from the curve, and those of the final evaluation.
_OF_CURVE = ('area', 'steps_to_level', 'ended')
_OF_EVALUATION = tuple(
  name + end
  for name in ('coverage', 'success')
  for end in ('', '_low', '_high')
)
_ROUNDING = 1e-6
# Fields that are from 0 to 1, and from 0 to _MOST.
_SHARES = (*_OF_EVALUATION, 'area')
_AMOUNTS = ('env_steps', 'steps_to_level', 'wall_seconds')
_MOST = 10**12  # As many steps as `launch.main` allows.


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row:
  """The results of one run of a submission.

  Attributes:
    benchmark: version of the protocol.
    is_smoke: whether the submission is a smoke test with small budgets.
    submission: name of the curriculum.
    sha256: digest of the submitted file; empty for a curriculum of the library.
    task: name of the task.
    seed: seed of the run.
    num_env_steps: budget of environment steps.
    env_steps: environment steps played.
    coverage: coverage in the final evaluation.
    coverage_low: lower end of its interval over tasks.
    coverage_high: upper end of that interval.
    success: share of tasks solved as a whole in the final evaluation.
    success_low: lower end of its interval over tasks.
    success_high: upper end of that interval.
    area: mean over the budget of the greedy policy's coverage of target tasks.
    steps_to_level: environment steps until coverage stays above 0.9, None if it
      does not.
    ended: how the run ended, see `study_records`.
    wall_seconds: wall time of training.
    digest: SHA-256 of the numbers of the curve and of the final evaluation.
    constants: {name: value} of the curriculum's constants.
    processor: model of the CPU.
    versions: {name: version} of this library and of the packages it uses.
    git_revision: revision of the source, marked if the run was resumed with
      another revision, other packages or another processor.
  """

  benchmark: int
  is_smoke: bool
  submission: str
  sha256: str
  task: str
  seed: int
  num_env_steps: int
  env_steps: int
  coverage: float
  coverage_low: float
  coverage_high: float
  success: float
  success_low: float
  success_high: float
  area: float
  steps_to_level: float | None
  ended: str
  wall_seconds: float
  digest: str
  constants: dict[str, Any]
  processor: str
  versions: dict[str, str]
  git_revision: str

  @property
  def file_name(self) -> str:
    """Name of the row's file."""
    smoke = 'smoke-' * self.is_smoke
    return f'{smoke}{self.task}-seed{self.seed}{ENDING}'


def make(state: study_records.State, *, is_smoke: bool, sha256: str) -> Row:
  """Returns the row of a complete run.

  Args:
    state: state of the run.
    is_smoke: see `Row`.
    sha256: see `Row`.

  Raises:
    UsageError: the run's config.json can't be read.
  """
  try:
    content = reading.read_json(state.path / 'config.json')
  except (FileNotFoundError, reading.UnreadableError) as error:
    raise command_line.UsageError(
      f'{reading.one_line(error)}; remove {state.path} and run the same '
      'command again'
    ) from error
  state = _until_it_was_known(state)
  scores = study_table.score(state)
  prefix = 'curriculum.'
  return Row(
    benchmark=protocol.VERSION,
    is_smoke=is_smoke,
    submission=state.run.method,
    sha256=sha256,
    num_env_steps=state.run.task.num_env_steps,
    digest=_digest(state),
    constants={
      name.removeprefix(prefix): value
      for name, value in content.get('config', {}).items()
      if name.startswith(prefix)
    },
    versions=content.get('versions', {}),
    git_revision=scores.revision,
    **{
      name: getattr(scores, name)
      for name in scores._fields
      if name not in ('method', 'reached', 'revision')
    },
  )


def _until_it_was_known(state: study_records.State) -> study_records.State:
  """Cuts the curve of a run at chance after the point that showed this.

  The iteration after which such a run is stopped depends on the clock, so later
  points may differ between machines. Other runs stay as they are.
  """
  if state.ended != study_records.CHANCE:
    return state
  is_later = state.steps >= state.run.task.num_env_steps / 2
  num = int(is_later.argmax()) + 1
  return dataclasses.replace(
    state,
    **{
      name: getattr(state, name)[:num]
      for name in ('steps', 'coverage', 'success', 'seconds')
    },
  )


def _digest(state: study_records.State) -> str:
  """Returns the SHA-256 of the curve and of the final evaluation.

  The evaluation of a run at chance is left out, since it depends on when the
  run was stopped.
  """
  at_chance = state.ended == study_records.CHANCE
  final = {} if at_chance else state.evaluation or {}
  numbers = np.concatenate(
    [
      *(state.steps, state.coverage, state.success),
      [final.get(x, {}).get('mean', 0.0) for x in ('coverage', 'success')],
    ]
  )
  text = ','.join(f'{x:.9g}' for x in numbers)
  return hashlib.sha256(text.encode()).hexdigest()


def write(row: Row, folder: pathlib.Path) -> pathlib.Path:
  """Writes a row completely or not at all; returns its path.

  Raises:
    WriteError: the file can't be written.
  """
  path = folder / row.file_name
  files.write_json(path, dataclasses.asdict(row))
  return path


def read(path: pathlib.Path) -> Row:
  """Reads a row.

  Raises:
    UsageError: the file can't be read, is not a row, or has another version.
  """
  try:
    content = reading.read_json(path)
  except FileNotFoundError as error:
    raise command_line.UsageError(
      f'{path} is not a file; give one that benchmark_curriculum has written'
    ) from error
  except reading.UnreadableError as error:
    raise command_line.UsageError(
      f'{error}; run the command that made the submission again to rewrite it'
    ) from error
  version = content.get('benchmark')
  if version != protocol.VERSION:
    raise command_line.UsageError(
      f'{path} is of version {reading.one_line(version)} of the benchmark, '
      f'which cannot be compared with version {protocol.VERSION}, used here'
    )
  try:
    row = Row(**content)
  except TypeError:
    row = None
  if row is None or not _is_whole(row):
    raise command_line.UsageError(
      f'{path} is not a row of the benchmark; give one that '
      'benchmark_curriculum has written'
    )
  return row


def _is_whole(row: Row) -> bool:
  """Returns whether the fields have possible values and fit the protocol."""
  planned = {task.name: task for task in protocol.tasks(row.is_smoke is True)}
  task = planned.get(row.task) if isinstance(row.task, str) else None
  return (
    all(
      _is_alike(getattr(row, field.name), field.type)
      for field in dataclasses.fields(row)
    )
    and all(0 <= getattr(row, name) <= 1 for name in _SHARES)
    and all(0 <= (getattr(row, x) or 0) <= _MOST for x in _AMOUNTS)
    and (row.steps_to_level or 0) <= row.env_steps
    and all(
      getattr(row, f'{x}_low') <= getattr(row, x) <= getattr(row, f'{x}_high')
      for x in ('coverage', 'success')
    )
    and row.ended in study_records.ENDS
    and re.fullmatch('([0-9a-f]{64})?', row.sha256) is not None
    and task is not None
    and row.seed in protocol.seeds(row.is_smoke)
    and row.num_env_steps == task.num_env_steps
    # `benchmark_submission.load` would import a name like mine.py as a file.
    and row.submission.isidentifier()
  )


def _is_alike(value: Any, kind: Any) -> bool:
  kind = getattr(kind, '__origin__', kind)  # dict[str, str] -> dict.
  if isinstance(value, bool):
    return kind is bool
  if kind is float or kind == float | None:
    return isinstance(value, int | float) or (
      value is None and kind is not float
    )
  return isinstance(value, kind)


def read_all(folders: Iterable[pathlib.Path]) -> list[Row]:
  """Returns the rows of each folder, sorted by file name.

  Folders that do not exist are skipped.

  Raises:
    UsageError: a folder or a row can't be read, a file has the name of another
      row, or two rows are of the same run.
  """
  rows, paths = [], {}
  for folder in folders:
    try:
      reading.check_folder(folder)
    except FileNotFoundError:
      continue
    except reading.UnreadableError as error:
      raise command_line.UsageError(
        f'{error}; give another --output'
      ) from error
    for path in sorted(folder.glob('*' + ENDING)):
      rows.append(read(path))
      if path.name != rows[-1].file_name:  # A copy would count twice.
        raise command_line.UsageError(
          f'{path} has the content of {rows[-1].file_name}; rename it, or '
          'remove it if it is a copy'
        )
      run = (rows[-1].submission, rows[-1].sha256, path.name)
      if run in paths:
        raise command_line.UsageError(
          f'{path} and {paths[run]} are rows of the same run of '
          f'{rows[-1].submission}; remove one of them'
        )
      paths[run] = path
  return rows


def compare(old: Row, new: Row) -> tuple[bool, str]:
  """Compares a row with that of the same seed trained again.

  Returns:
    Whether the rows agree, and one line that says how closely.
  """
  made_by = [(x.processor, x.versions, x.git_revision) for x in (old, new)]
  is_known = old.git_revision != 'unknown' and not any(
    mark in old.git_revision for mark in ('-dirty', launch.RESUMED)
  )
  if old.digest == new.digest:
    if wrong := _not_of_digest(old, new):
      return False, f'the curve is the same, but the row differs: {wrong}'
    return True, 'the same to the last digit'
  told = ', '.join(
    f'{name} {getattr(old, name):.4f} and now {getattr(new, name):.4f}'
    for name in _COMPARED
  )
  if is_known and made_by[0] == made_by[1]:
    return False, (
      f'the curve differs, with the same commit on the same kind of CPU: {told}'
    )
  distance = max(abs(getattr(old, x) - getattr(new, x)) for x in _COMPARED)
  is_near = distance <= protocol.TOLERANCE
  return is_near, (
    f'{"within" if is_near else "not within"} {protocol.TOLERANCE} on another '
    f'kind of CPU, or with another commit or other versions: {told}'
  )


def _not_of_digest(old: Row, new: Row) -> str:
  """Returns how rows of the same digest differ; '' if they do not."""
  # The digest of a run at chance covers neither the number of steps after which
  # it was stopped, which varies, nor its final evaluation.
  is_at_chance = old.ended == new.ended == study_records.CHANCE
  wrong = []
  for names, most in (
    (_OF_CURVE, _ROUNDING),
    (() if is_at_chance else ('env_steps',), _ROUNDING),
    (_OF_EVALUATION, protocol.TOLERANCE if is_at_chance else _ROUNDING),
  ):
    for name in names:
      given, found = getattr(old, name), getattr(new, name)
      is_same = given == found
      if isinstance(given, int | float) and isinstance(found, int | float):
        is_same = abs(given - found) <= most
      if not is_same:
        wrong.append(f'{name} {given} and now {found}')
  return ', '.join(wrong)
