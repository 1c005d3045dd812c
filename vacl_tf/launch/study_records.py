# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""How far the runs of a study are, read from their folders alone."""

import dataclasses
import json
import math
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from vacl_tf import reading
from vacl_tf import statistics
from vacl_tf import studies
from vacl_tf.launch import command_line
from vacl_tf.launch import records
from vacl_tf.training import files

EVALUATION, LOG = 'evaluation.json', 'train.log'
_CONFIG, _FLAGS = 'config.json', 'flags.json'

# How a run ended.
BUDGET, CHANCE, DIVERGED = 'budget', 'chance', 'diverged'
EARLY = 'early'  # By hand: it was evaluated, and nobody knows why so soon.

_DIVERGED_LINE = re.compile(r'error: .* is (nan|-?inf) at iteration \d+')


@dataclasses.dataclass(frozen=True, kw_only=True)
class State:
  """What a run has come to.

  Attributes:
    run: which one.
    path: its folder.
    steps: [N] environment steps of its evaluations.
    coverage: [N] of these.
    success: [N] of these, NaN where an older run did not measure it.
    seconds: [N] of wall time until then.
    env_steps: played in all.
    wall_seconds: that it took.
    evaluation: whole content of evaluation.json, None if there is no valid one.
    revision: of the source that trained it.
    is_diverged: whether training broke down.
    trouble: why its metrics can't be read, empty if they can.
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
  is_diverged: bool
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
    """Whether it has to end at half of its budget."""
    task = self.run.task
    return statistics.is_at_chance(
      self.steps, self.coverage, task.num_env_steps, task.chance
    )

  @property
  def ended(self) -> str:
    """How it ended; empty while it has not."""
    if not self.is_complete:
      return ''
    if self.is_diverged:
      return DIVERGED
    if self.is_trained:
      return BUDGET
    return CHANCE if self.is_at_chance else EARLY


def read(run: studies.Run, folder: pathlib.Path) -> State:
  """Reads a run's folder, which may be missing or in work.

  Args:
    run: which one.
    folder: of the study.
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
  evaluation = read_evaluation(path / EVALUATION)
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
    revision=_read_revision(path / _CONFIG),
    is_diverged=bool(_DIVERGED_LINE.match(log_line)),
    trouble=trouble,
  )


def note_flags(run: studies.Run, folder: pathlib.Path) -> None:
  """Notes what a run is made with, unless it has begun.

  Raises:
    UsageError: its folder can't be read.
    WriteError: it can't be written to.
  """
  path = folder / run.name
  if not _has_begun(path):
    files.write_json(path / _FLAGS, run.flags)


def check_flags(runs: Iterable[studies.Run], folder: pathlib.Path) -> None:
  """Refuses runs that were made with other flags than they have now.

  Raises:
    UsageError: there is one, or a folder can't be read.
  """
  others = {}
  for run in runs:
    path = folder / run.name
    made_with = _read_flags(path)
    if made_with is not None and made_with != run.flags:
      others[path] = _tell_difference(made_with, run.flags)
  if others:
    path = next(iter(others))
    more = f', {len(others) - 1} more likewise' if len(others) > 1 else ''
    raise command_line.UsageError(
      f'{path} was made with other flags ({others[path]}){more}; remove it, '
      'give the method another name, or give another --runs_dir'
    )


def _has_begun(path: pathlib.Path) -> bool:
  # A trainer writes it once its flags have proved to be possible.
  try:
    return bool(reading.kind(path / _CONFIG))
  except reading.UnreadableError as error:
    raise command_line.UsageError(
      f'{error}; give another --runs_dir'
    ) from error


def _read_flags(path: pathlib.Path) -> tuple[str, ...] | None:
  """Returns what a run was made with, None if it was not or nobody knows."""
  if not _has_begun(path):
    return None
  try:
    return tuple(map(str, json.loads((path / _FLAGS).read_text())))
  except (OSError, ValueError, TypeError, RecursionError):
    return None  # It is older than such notes, or they are damaged.


def _tell_difference(old: Sequence[str], new: Sequence[str]) -> str:
  """Returns in what two lists of flags differ."""
  was, now = (
    ' '.join(x for x in flags if x not in others)
    for flags, others in ((old, new), (new, old))
  )
  if not was + now:
    return 'the same ones in another order or number'
  return f'{was or "none"} instead of {now or "none"}'


def read_evaluation(path: pathlib.Path) -> dict[str, Any] | None:
  """Returns what `launch.evaluate --json` printed, None if it is not valid.

  It is if it was made by the protocol's flags and has all that is reported.
  """
  try:
    found = reading.read_json(path)
    numbers = [
      float(found[name][key])
      for name in ('coverage', 'success')
      for key in ('mean', 'low', 'high')
    ]
    made = (found['num_tasks'], found['seed'], found['policy'])
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
  is_valid = made == wanted and all(map(math.isfinite, numbers))
  return found if is_valid else None


def last_log_line(path: pathlib.Path) -> str:
  """Returns the last line that a run's trainer or evaluator has left."""
  try:
    with (path / LOG).open('rb') as file:
      return next(reversed(reading.last_lines(file)), '')
  except OSError:
    return ''


def _read_revision(path: pathlib.Path) -> str:
  try:
    return str(reading.read_json(path)['git_revision'])
  except (FileNotFoundError, reading.UnreadableError, KeyError):
    return 'unknown'
