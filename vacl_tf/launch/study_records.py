# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The states of the runs of a study, read only from their folders."""

import contextlib
import dataclasses
import json
import math
import pathlib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from vacl_tf import config
from vacl_tf import reading
from vacl_tf import statistics
from vacl_tf import studies
from vacl_tf.launch import command_line
from vacl_tf.launch import config_flags
from vacl_tf.launch import extensions
from vacl_tf.launch import import_digests
from vacl_tf.launch import records
from vacl_tf.training import files

EVALUATION, LOG = 'evaluation.json', 'train.log'
_CONFIG, _FLAGS = 'config.json', 'flags.json'
_UNKNOWN = 'unknown'
_MAX_FLAG_BYTES = 1 << 20

# How a run ended.
BUDGET, CHANCE, DIVERGED = 'budget', 'chance', 'diverged'
EARLY = 'early'  # By hand: evaluated before its end, for no known reason.
ENDS = (BUDGET, CHANCE, DIVERGED, EARLY)

_DIVERGED_LINE = re.compile(r'error: .* is (nan|-?inf) at iteration \d+')


@dataclasses.dataclass(frozen=True, kw_only=True)
class State:
  """The state of a run.

  Attributes:
    run: the run.
    path: folder of the run.
    steps: [N] environment steps at the evaluations during training.
    coverage: [N] coverage at these evaluations.
    success: [N] success, NaN where an older run did not measure it.
    seconds: [N] seconds of wall time until these evaluations.
    env_steps: environment steps in total.
    wall_seconds: seconds of wall time in total.
    evaluation: content of evaluation.json, None if there is no valid one.
    revision: revision of the source that trained the run.
    processor: model of the processor that trained it last.
    is_diverged: whether training diverged.
    import_digests: SHA-256 of the imported files with which the run began, by
      name. Files that register only studies are left out: the flags of a run
      say what it takes from them.
    trouble: why the metrics can't be read, empty if they can.
  """

  run: studies.Run
  path: pathlib.Path
  steps: np.ndarray
  coverage: np.ndarray
  success: np.ndarray
  seconds: np.ndarray
  env_steps: int
  wall_seconds: float
  evaluation: dict[str, Any] | None
  revision: str
  processor: str
  is_diverged: bool
  import_digests: Mapping[str, str]
  trouble: str

  @property
  def is_complete(self) -> bool:
    """Whether nothing is left to do."""
    return self.evaluation is not None or self.is_diverged

  @property
  def is_trained(self) -> bool:
    """Whether it has played its whole budget."""
    return self.env_steps >= self.run.task.num_env_steps

  @property
  def is_at_chance(self) -> bool:
    """Whether it must end at half of its budget, because it is below chance."""
    task = self.run.task
    return statistics.is_at_chance(
      self.steps, self.coverage, task.num_env_steps, task.chance
    )

  @property
  def ended(self) -> str:
    """How the run ended; empty if it has not ended."""
    if not self.is_complete:
      return ''
    if self.is_diverged:
      return DIVERGED
    if self.is_trained:
      return BUDGET
    return CHANCE if self.is_at_chance else EARLY


def read(run: studies.Run, folder: pathlib.Path) -> State:
  """Reads a run's folder, which may be missing or in use.

  Args:
    run: the run.
    folder: folder of all runs.
  """
  path = folder / run.name
  columns, trouble = {}, ''
  try:
    record = records.read(path)
    for name in ('env_steps', 'coverage', 'success', 'wall_seconds'):
      if name in record.columns:
        columns[name] = record.evaluated(name)
    last = {name: column[-1] for name, column in record.columns.items()}
  except command_line.UsageError as error:
    last, trouble = {}, str(error)
  made_by = _read_config(path / _CONFIG)
  evaluation = read_evaluation(path / EVALUATION, made_by['env'])
  log_line = last_log_line(path) if evaluation is None else ''
  coverage = columns.get('coverage', np.zeros(0))
  return State(
    run=run,
    path=path,
    steps=columns.get('env_steps', np.zeros(0)),
    coverage=coverage,
    success=columns.get('success', np.full(len(coverage), math.nan)),
    seconds=columns.get('wall_seconds', np.zeros(0)),
    env_steps=int(last.get('env_steps', 0)),
    wall_seconds=float(last.get('wall_seconds', 0.0)),
    evaluation=evaluation,
    revision=made_by['revision'],
    processor=made_by['processor'],
    is_diverged=bool(_DIVERGED_LINE.match(log_line)),
    import_digests=_without_studies(made_by['import_digests']),
    trouble=trouble,
  )


def describe(state: State) -> str:
  """Returns how a complete run ended."""
  if state.evaluation is None:
    return f'diverged at {state.env_steps:,} env steps; it scores 0'
  coverage, success = (
    state.evaluation[name]['mean'] for name in ('coverage', 'success')
  )
  early = ', at chance' if state.ended == CHANCE else ''
  return (
    f'ended at {state.env_steps:,} env steps{early}: coverage {coverage:.3f}, '
    f'success {success:.3f}'
  )


def note_flags(run: studies.Run, folder: pathlib.Path) -> None:
  """Records the flags of a run, unless it has begun.

  Raises:
    UsageError: the folder of the run can't be read.
    WriteError: the folder can't be written to.
  """
  path = folder / run.name
  if not _has_begun(path):
    files.write_json(path / _FLAGS, run.flags)


def check_flags(runs: Iterable[studies.Run], folder: pathlib.Path) -> None:
  """Checks that no run was made with other flags than it has now.

  Raises:
    UsageError: there is such a run, or a folder can't be read.
  """
  others = {}
  for run in runs:
    path = folder / run.name
    made_with = _read_flags(path)
    if made_with is None:
      told = _tell_constant(path / _CONFIG, run.flags)
    else:
      told = _tell_difference(made_with, run.flags)
    if told:
      others[path] = told
  if others:
    path = next(iter(others))
    more = f', {len(others) - 1} more likewise' if len(others) > 1 else ''
    raise command_line.UsageError(
      f'{path} was made with other flags ({others[path]}){more}; remove it, '
      'give the method another name, or give another --runs_dir'
    )


def changed_files(
  runs: Sequence[studies.Run], folder: pathlib.Path, imports: Iterable[str]
) -> list[str]:
  """Returns a line on each imported file that changed since runs began.

  Args:
    runs: the runs.
    folder: folder of all runs.
    imports: modules and files that are imported now.
  """
  now = _without_studies(import_digests.of_files(imports))
  others = {name: [] for name in now}
  for run in runs if now else ():
    first = import_digests.of_run(folder / run.name / _CONFIG)
    for name in import_digests.changed(first, now):
      others[name].append(run.name)
  return [
    f'{name} differs from the file with which {len(names)} of {len(runs)} runs '
    f'began ({names[0]}{", ..." if len(names) > 1 else ""}); if the change '
    'matters to a run, remove its folder to make it again'
    for name, names in others.items()
    if names
  ]


def _without_studies(digests: Mapping[str, str]) -> dict[str, str]:
  return {
    name: digest
    for name, digest in digests.items()
    if not extensions.has_only_studies(name)
  }


def _has_begun(path: pathlib.Path) -> bool:
  # A trainer writes this file once it has accepted its flags.
  try:
    return bool(reading.kind(path / _CONFIG))
  except reading.UnreadableError as error:
    raise command_line.UsageError(
      f'{error}; give another --runs_dir'
    ) from error


def _read_flags(path: pathlib.Path) -> tuple[str, ...] | None:
  """Returns the flags that a run was made with, None if they are unknown."""
  if not _has_begun(path):
    return None
  try:
    content = reading.read_bytes(path / _FLAGS, _MAX_FLAG_BYTES)
    return tuple(map(str, json.loads(content)))
  except (
    FileNotFoundError,
    reading.UnreadableError,
    RecursionError,
    TypeError,
    ValueError,
  ):
    return None  # The record is damaged, or an older run has none.


def _tell_constant(path: pathlib.Path, flags: Sequence[str]) -> str:
  """Returns a constant of a run that its flags set otherwise; '' if none.

  Only needed without a record of the flags. Constants that the run did not
  know, or that no flag sets, are not compared.
  """
  try:
    constants = reading.read_json(path).get('config')
  except (FileNotFoundError, reading.UnreadableError):
    return ''
  if not isinstance(constants, dict):
    return ''
  leaves = {flag: leaf for leaf, flag in config_flags.CHOOSE_PRESETS.items()}
  usual = f'--curriculum={config.TaskExpansionConfig().name}'
  # Of equal flags the last one counts.
  given = dict(flag[2:].partition('=')[::2] for flag in (usual, *flags))
  for name, value in given.items():
    leaf = leaves.get(name, name.removeprefix(config_flags.PREFIX))
    was = constants.get(leaf)
    if was is not None and not _is_spelled(was, value):
      return f'{leaf}={was} instead of {value}'
  return ''


def _is_spelled(constant: object, value: str) -> bool:
  """Returns whether the value of a flag is that of a constant."""
  if isinstance(constant, float):
    with contextlib.suppress(ValueError):
      return math.isclose(constant, float(value))
  return str(constant).lower() == value.lower()


def _tell_difference(old: Sequence[str], new: Sequence[str]) -> str:
  """Returns the difference between two lists of flags; '' if there is none."""
  if tuple(old) == tuple(new):
    return ''
  was, now = (
    ' '.join(x for x in flags if x not in others)
    for flags, others in ((old, new), (new, old))
  )
  if not was + now:
    return 'the same flags in another order or number'
  return f'{was or "none"} instead of {now or "none"}'


def read_evaluation(path: pathlib.Path, env: str = '') -> dict[str, Any] | None:
  """Returns what `launch.evaluate --json` printed, None if it is not valid.

  It is valid if it was made with the protocol's flags and has all the numbers
  that are reported.

  Args:
    path: path of evaluation.json.
    env: name of the run's task; empty if it is not known.
  """
  try:
    found = reading.read_json(path)
    numbers = [
      float(found[name][key])
      for name in ('coverage', 'success')
      for key in ('mean', 'low', 'high')
    ]
    made = (found['num_tasks'], found['seed'], found['policy'])
    is_of_run = not env or found['env'] == env
  except (
    FileNotFoundError,
    reading.UnreadableError,
    KeyError,
    OverflowError,
    TypeError,
    ValueError,
  ):
    return None
  wanted = (studies.EVALUATION_TASKS, studies.EVALUATION_SEED, 'greedy')
  is_valid = is_of_run and made == wanted and all(map(math.isfinite, numbers))
  return found if is_valid else None


def last_log_line(path: pathlib.Path) -> str:
  """Returns the last line that a run's trainer or evaluator logged."""
  try:
    reading.check_file(path / LOG, sys.maxsize)
    with (path / LOG).open('rb') as file:
      return next(reversed(reading.last_lines(file)), '')
  except (OSError, reading.UnreadableError):
    return ''


def _read_config(path: pathlib.Path) -> dict[str, Any]:
  """Returns what a config.json says of a run's task and of what made it."""
  try:
    found = reading.read_json(path)
  except (FileNotFoundError, reading.UnreadableError):
    found = {}
  parts = {
    name: part if isinstance(part := found.get(name), dict) else {}
    for name in ('config', 'hardware')
  }
  return {
    'env': str(parts['config'].get('environment.name', '')),
    'revision': str(found.get('git_revision', _UNKNOWN)),
    'processor': str(parts['hardware'].get('processor', _UNKNOWN)),
    'import_digests': import_digests.of_config(found),
  }
