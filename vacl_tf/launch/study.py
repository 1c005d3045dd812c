# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs a study: python -m vacl_tf.launch.study --study=factorial --jobs=2.

Makes the missing runs of the study, each trained and evaluated on a core of its
own. After an interruption or a failure, the same command continues. Runs are in
RUNS_DIR/TASK/METHOD/seedN, and studies share the runs that they have in common.
With --report it instead writes the results so far to OUTPUT/STUDY/: table.md,
runs.csv, curves.csv and figures.
"""

import math
import pathlib
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from absl import flags

from vacl_tf import machine
from vacl_tf import studies
from vacl_tf.launch import command_line
from vacl_tf.launch import flag_kinds
from vacl_tf.launch import locks
from vacl_tf.launch import signals
from vacl_tf.launch import study_jobs
from vacl_tf.launch import study_records
from vacl_tf.launch import study_report
from vacl_tf.launch import study_table
from vacl_tf.training import files

_WHAT, _HOW, _WHERE = 'Which runs', 'How they are made', 'Where things are'

_STUDY = command_line.Flag(
  flags.DEFINE_string,
  'study',
  None,
  f'One of {", ".join(studies.STUDIES.names())}, or one of your own.',
  _WHAT,
)
SEEDS = command_line.Flag(
  flags.DEFINE_string,
  'seeds',
  '100-104',
  'Seeds of the runs, like 100-104 or 100,102.',
  _WHAT,
)
TASKS = command_line.Flag(
  flags.DEFINE_list,
  'tasks',
  [],
  'Only these tasks. Default: all tasks of the study. An unknown task or '
  'method is answered with the known ones.',
  _WHAT,
)
_METHODS = command_line.Flag(
  flags.DEFINE_list, 'methods', [], 'Only these methods. Default: all.', _WHAT
)
JOBS = command_line.Flag(
  flag_kinds.whole,
  'jobs',
  None,
  'Number of runs at a time. Default: the number of cores.',
  _HOW,
)
SHARD = command_line.Flag(
  flags.DEFINE_string,
  'shard',
  '1/1',
  'Part of the runs that this machine makes, like 1/4.',
  _HOW,
)
_REPORT = command_line.Flag(
  flag_kinds.switch,
  'report',
  False,
  'Write the report on the existing runs, and start no run.',
  _HOW,
)
_RUNS_DIR = command_line.Flag(
  flags.DEFINE_string,
  'runs_dir',
  'studies',
  'Folder of the runs of all studies.',
  _WHERE,
)
_OUTPUT = command_line.Flag(
  flags.DEFINE_string,
  'output',
  'results/studies',
  'Folder of all reports, for --report.',
  _WHERE,
)

_POLL_SECONDS = 2.0
_STATUS_SECONDS = 60.0
# In a row; then the cause is not in the runs.
_MAX_FAILURES = 3
# The first signal lets runs finish an iteration, the second only the file that
# they are writing. The third kills them.
_PATIENCE = 2


class Plan(NamedTuple):
  """The runs to make, and how to make them.

  Attributes:
    runs: the runs, in order.
    folder: folder of the runs.
    jobs: number of runs at a time.
    commands: commands that train and evaluate.
    poll_seconds: seconds between two checks of the jobs.
  """

  runs: Sequence[studies.Run]
  folder: pathlib.Path
  jobs: int
  commands: study_jobs.Commands = study_jobs.Commands()
  poll_seconds: float = _POLL_SECONDS


class Progress:
  """The progress of a list of runs, and the time that the rest takes."""

  def __init__(self, plan: Plan) -> None:
    self._plan = plan
    self._states = {
      run: study_records.read(run, plan.folder) for run in plan.runs
    }

  def update(self, run: studies.Run) -> study_records.State:
    """Reads a run again and returns its state."""
    self._states[run] = study_records.read(run, self._plan.folder)
    return self._states[run]

  @property
  def missing(self) -> list[studies.Run]:
    """Runs that are not complete, in their order."""
    return [run for run, x in self._states.items() if not x.is_complete]

  @property
  def damaged(self) -> list[study_records.State]:
    """Complete runs that reports leave out, because they can't be read."""
    return [
      x
      for x in self._states.values()
      if x.is_complete and not study_table.is_told(x)
    ]

  def seconds_left(self) -> float:
    """Returns the longest time that the rest may take; runs may end early.

    NaN as long as the speed of a task is unknown.
    """
    speed = self._seconds_per_step()
    seconds = [
      speed[run.task.name] * max(run.task.num_env_steps - x.env_steps, 0)
      for run, x in self._states.items()
      if not x.is_complete
    ]
    total = sum(seconds)
    if math.isnan(total):
      return total
    return max(total / self._plan.jobs, *seconds, 0.0)

  def _seconds_per_step(self) -> dict[str, float]:
    """Returns by task the measured speed, or else the planned one, or NaN."""
    speed = {}
    for task in {run.task for run in self._states}:
      states = [x for run, x in self._states.items() if run.task == task]
      steps = sum(x.env_steps for x in states)
      seconds = sum(x.wall_seconds for x in states)
      if not steps:
        steps, seconds = task.num_env_steps, 60.0 * task.core_minutes
        seconds = seconds or math.nan
      speed[task.name] = seconds / steps
    return speed

  def __str__(self) -> str:
    states = self._states.values()
    num_done = sum(x.is_complete for x in states)
    hours = sum(x.wall_seconds for x in states) / 3600.0
    return (
      f'{num_done} of {len(states)} runs, {hours:.1f} core-hours used, '
      f'{_spell(self.seconds_left())}'
    )


class _Runner:
  """Makes the missing runs of a plan."""

  def __init__(self, plan: Plan) -> None:
    self._plan = plan
    self._progress = Progress(plan)
    self._waiting = self._progress.missing
    # Asked once: the cores of a process can change while it runs. With fewer
    # jobs than cores, other programs may use some, so the system chooses.
    cores = machine.cpus()
    self._cores = cores if plan.jobs == len(cores) else [None] * plan.jobs
    self._jobs: list[study_jobs.Job] = []
    self._failed = 0
    self._failed_in_a_row = 0

  def run(self, asked: signals.Asked) -> int:
    """Makes the runs; returns the exit code."""
    told = -_STATUS_SECONDS
    while self._jobs or (self._waiting and not asked.number):
      if asked.number:
        for job in self._jobs:
          job.stop(asked.times)
      else:
        self._fill()
      if time.monotonic() - told >= _STATUS_SECONDS:
        told = time.monotonic()
        for job in self._jobs:
          self._progress.update(job.run)
        _tell(self._progress)
      time.sleep(self._plan.poll_seconds if self._jobs else 0.0)
      self._look_after()
    _tell(self._progress)
    if asked.number:
      _tell('Stopped; the same command resumes.')
      return 128 + asked.number
    return self._close()

  def _close(self) -> int:
    damaged = self._progress.damaged
    for state in damaged:
      _tell(
        f'{state.run.name} is damaged and left out: {state.trouble}; remove '
        f'{state.path} and run the same command again'
      )
    if damaged and not self._failed:
      return command_line.fail(f'{len(damaged)} runs are damaged, see above')
    if not self._failed:
      return 0
    if self._failed_in_a_row >= _MAX_FAILURES:
      what = f'{self._failed_in_a_row} runs in a row failed'
    else:
      what = f'{self._failed} of {len(self._plan.runs)} runs failed'
    return command_line.fail(f'{what}; the same command tries them again')

  def _fill(self) -> None:
    """Starts runs as long as there are free cores."""
    free = list(self._cores)
    for job in self._jobs:
      free.remove(job.core)
    while free and self._waiting:
      run = self._waiting.pop(0)
      try:
        # Another machine may have made it meanwhile.
        study_records.check_flags([run], self._plan.folder)
        if self._progress.update(run).is_complete:
          continue
        job = study_jobs.Job(
          run, self._plan.folder, free[0], self._plan.commands
        )
      except (
        command_line.UsageError,
        locks.BusyError,
        files.WriteError,
        OSError,
      ) as error:
        self._fail(run, error)
        return
      self._jobs.append(job)
      core = free.pop(0)
      _tell(f'{run.name} begins' + ('' if core is None else f' on core {core}'))

  def _look_after(self) -> None:
    for job in list(self._jobs):
      outcome = job.step()
      if outcome is None:
        continue
      self._jobs.remove(job)
      state = self._progress.update(job.run)
      if outcome.error:
        self._fail(job.run, outcome.error)
      elif outcome.is_complete:
        if self._failed_in_a_row < _MAX_FAILURES:
          self._failed_in_a_row = 0
        _tell(f'{job.run.name} {study_records.describe(state)}')
        if self._waiting or self._jobs:
          _tell(self._progress)

  def _fail(self, run: studies.Run, error: str | Exception) -> None:
    self._failed += 1
    if not isinstance(error, locks.BusyError):  # Another study is making it.
      self._failed_in_a_row += 1
    if self._failed_in_a_row == _MAX_FAILURES:
      self._waiting.clear()
    _tell(f'{run.name} failed: {error}')


def _spell(seconds: float) -> str:
  """Returns the time left in words."""
  if math.isnan(seconds):
    return 'time left not known yet'
  left = int(seconds)
  return f'at most {left // 3600}:{left // 60 % 60:02}:{left % 60:02} left'


def _tell(what: Any) -> None:
  print(time.strftime('%H:%M:%S'), what, flush=True)


def run_missing(plan: Plan, shard: tuple[int, int] = (1, 1)) -> int:
  """Makes the missing runs of one machine.

  Args:
    plan: a plan that has only the runs of the shard.
    shard: number of this part, and number of parts.

  Returns:
    The exit code.

  Raises:
    UsageError: the folder can't be used, another process uses it, or a run in
      it was made with other flags.
  """
  study_records.check_flags(plan.runs, plan.folder)
  index, count = shard
  # Machines that share a folder make different parts and need different locks.
  # Besides, each run has its own lock.
  suffix = f'_{index}of{count}' if count > 1 else ''
  path = plan.folder / f'{study_jobs.LOCK}{suffix}'
  try:
    plan.folder.mkdir(parents=True, exist_ok=True)
    with locks.hold(path), signals.noted(_PATIENCE) as asked:
      return _Runner(plan).run(asked)
  except locks.BusyError as error:
    raise command_line.UsageError(
      f'{error}, which runs a study; wait for it, or give another '
      '--runs_dir or --shard'
    ) from error
  except OSError as error:
    raise command_line.UsageError(
      f'{error.filename or plan.folder} cannot be used ({error.strerror}); '
      'give another --runs_dir'
    ) from error


def count_jobs() -> int:
  """Returns how many runs are made at a time.

  Raises:
    UsageError: there are not as many cores as were asked for.
  """
  most = len(machine.cpus())
  jobs = most if JOBS.value is None else JOBS.value
  if not 1 <= jobs <= most:
    raise command_line.UsageError(
      f'jobs={jobs} is out of range; allowed: 1 to {most}, the number of cores'
    )
  return jobs


define = command_line.defines(
  *(_STUDY, SEEDS, TASKS, _METHODS, JOBS, SHARD, _REPORT, _RUNS_DIR),
  *(_OUTPUT, command_line.IMPORT),
)


def main() -> int:
  """Makes the runs, or the report, of the study that the flags name."""
  with command_line.as_usage_error(ValueError):
    if _REPORT.value and SHARD.is_given:
      raise ValueError('--report covers all runs; leave out --shard')
    study = studies.find(_STUDY.value)
    seeds = studies.parse_seeds(SEEDS.value)
    shard = studies.parse_shard(SHARD.value)
    runs = studies.list_runs(study, seeds, TASKS.value, _METHODS.value)
  folder = command_line.folder(_RUNS_DIR.value)
  imports = command_line.imports()
  for line in study_records.changed_files(runs, folder, imports):
    command_line.note(line)
  if _REPORT.value:
    output = command_line.folder(_OUTPUT.value) / study.name
    for path in study_report.write(study, runs, folder, output):
      print(f'Wrote {path}')
    return 0
  mine = studies.take_shard(runs, *shard)
  commands = study_jobs.Commands().importing(imports)
  return run_missing(Plan(mine, folder, count_jobs(), commands), shard)


if __name__ == '__main__':
  command_line.start(main, define)
