# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks a curriculum: launch.benchmark_curriculum --submission=mine.py.

The file registers one curriculum; everything else is fixed, see
docs/benchmark.md. Each run is trained and evaluated on a core of its own. After
an interruption or a failure, the same command continues. OUTPUT/rows/ holds one
file for each run, and OUTPUT/table.md the table.
"""

import pathlib
from collections.abc import Sequence

from absl import flags

from vacl_tf import benchmark_protocol as protocol
from vacl_tf import overrides
from vacl_tf import studies
from vacl_tf.launch import benchmark_folder
from vacl_tf.launch import benchmark_rows
from vacl_tf.launch import benchmark_submission
from vacl_tf.launch import benchmark_table
from vacl_tf.launch import command_line
from vacl_tf.launch import flag_kinds
from vacl_tf.launch import study
from vacl_tf.launch import study_jobs
from vacl_tf.launch import study_records
from vacl_tf.launch import study_table
from vacl_tf.training import files

_WHAT, _WHERE = 'What is done', 'Where things are'

_SUBMISSION = command_line.Flag(
  flags.DEFINE_string,
  'submission',
  None,
  'A .py file that registers one curriculum, or the name of one of the '
  "library's own.",
  _WHAT,
)
_SMOKE = command_line.Flag(
  flag_kinds.switch,
  'smoke',
  False,
  'Train one seed of two tasks with small budgets, to see that everything '
  'works.',
  _WHAT,
)
_VERIFY = command_line.Flag(
  flags.DEFINE_string,
  'verify',
  None,
  'File of a row of a submission; its seed is trained again and compared.',
  _WHAT,
)
_REPORT = command_line.Flag(
  flag_kinds.switch,
  'report',
  False,
  'Write the table of the rows in --output, and start no run.',
  _WHAT,
)
_TASKS = study.TASKS.meaning('Train only these tasks. Default: all.', _WHAT)
_SEEDS = study.SEEDS.meaning('Train only these seeds, like 100,102.', _WHAT)
_SHARD = study.SHARD.meaning(
  'Part of the runs that this machine makes, like 1/4. Machines may share '
  '--output.',
  _WHAT,
)
_OUTPUT = command_line.Flag(
  flags.DEFINE_string,
  'output',
  None,
  'Folder of the submission. Default: benchmark/NAME, which ends in -smoke or '
  '-verify with these flags.',
  _WHERE,
)

_ROWS, _RUNS = benchmark_folder.ROWS, benchmark_folder.RUNS


def _chosen(
  submission: benchmark_submission.Submission, is_smoke: bool
) -> tuple[list[protocol.Run], tuple[int, int]]:
  """Returns the runs that this machine makes, and its shard (k, n).

  Raises:
    UsageError: there is no such task, seed or shard.
  """
  seeds = protocol.seeds(is_smoke)
  if _SEEDS.is_given:
    with command_line.as_usage_error(ValueError):
      seeds = studies.parse_seeds(_SEEDS.value)
  tasks = [task.name for task in protocol.tasks(is_smoke)]
  for task in set(_TASKS.value) - set(tasks):
    raise command_line.UsageError(overrides.unknown('task', task, tasks))
  for seed in set(seeds) - set(protocol.seeds(is_smoke)):
    raise command_line.UsageError(
      f'seed={seed} is not one of this benchmark; allowed: '
      + ', '.join(map(str, protocol.seeds(is_smoke)))
    )
  runs = [
    run
    for run in protocol.list_runs(submission.name, is_smoke)
    if run.task.name in (_TASKS.value or tasks) and run.seed in seeds
  ]
  with command_line.as_usage_error(ValueError):
    shard = studies.parse_shard(_SHARD.value)
  return studies.take_shard(runs, *shard), shard


def _train(
  submission: benchmark_submission.Submission,
  runs: Sequence[protocol.Run],
  output: pathlib.Path,
  shard: tuple[int, int] = (1, 1),
) -> int:
  """Trains and evaluates the missing runs; returns the exit code."""
  commands = study_jobs.Commands()
  if submission.file:
    # Runs import the copy: the user may edit the file while they train.
    own = (output / submission.copy).resolve()
    commands = commands.importing([str(own)])
  return study.run_missing(
    study.Plan(runs, output / _RUNS, study.count_jobs(), commands), shard
  )


def _collect(
  submission: benchmark_submission.Submission,
  runs: Sequence[protocol.Run],
  output: pathlib.Path,
  is_smoke: bool,
) -> list[benchmark_rows.Row]:
  """Writes and returns the rows of the runs that are complete and readable."""
  rows = []
  for run in runs:
    state = study_records.read(run, output / _RUNS)
    if study_table.is_told(state):
      row = benchmark_rows.make(
        state, is_smoke=is_smoke, sha256=submission.sha256
      )
      benchmark_rows.write(row, output / _ROWS)
      rows.append(row)
  return rows


def _submit(
  submission: benchmark_submission.Submission,
  is_smoke: bool,
  output: pathlib.Path,
) -> int:
  """Makes a submission; returns the exit code."""
  runs, shard = _chosen(submission, is_smoke)
  with benchmark_folder.held(
    output, submission, 'smoke' if is_smoke else 'full', shard
  ):
    code = _train(submission, runs, output, shard)
    with benchmark_folder.alone(output):
      if _collect(submission, runs, output, is_smoke):
        _report(output)
  return code


def _report(output: pathlib.Path) -> None:
  """Writes the table of all rows in a folder, and prints its path.

  Raises:
    UsageError: there is no row, or a row can't be read.
  """
  rows = benchmark_rows.read_all([output / _ROWS])
  if not rows:
    raise command_line.UsageError(
      f'{output / _ROWS} has no rows; make a submission first'
    )
  files.write_text(
    output / benchmark_folder.TABLE, benchmark_table.render(rows)
  )
  print(f'Wrote {output / benchmark_folder.TABLE} with {len(rows)} rows')


def _verify(
  old: benchmark_rows.Row,
  submission: benchmark_submission.Submission,
  output: pathlib.Path,
) -> int:
  """Trains a row's seed again and compares them; returns the exit code."""
  if (old.submission, old.sha256) != (submission.name, submission.sha256):
    raise command_line.UsageError(
      f'the row was made with {old.submission}, file '
      f'{old.sha256[:8] or "none"}, not with {submission.name}, file '
      f'{submission.sha256[:8] or "none"}; give the --submission that it was '
      'made with'
    )
  [run] = [
    run
    for run in protocol.list_runs(submission.name, old.is_smoke)
    if (run.task.name, run.seed) == (old.task, old.seed)
  ]
  with benchmark_folder.held(
    output, submission, f'verify{"-smoke" * old.is_smoke}'
  ):
    before = study_records.read(run, output / _RUNS)
    if before.is_complete:
      print(
        f'{run.name} was already trained here with commit {before.revision}; '
        f'remove {before.path} to train it again'
      )
    code = _train(submission, [run], output)
    rows = _collect(submission, [run], output, old.is_smoke)
  if not rows:
    return code
  is_same, how = benchmark_rows.compare(old, rows[0])
  if not is_same:
    return command_line.fail(f'{run.name}: {how}')
  print(f'{run.name}: {how}')
  return 0


def _refuse_a_choice() -> None:
  """Refuses flags that can't be combined with --verify or --report.

  Raises:
    UsageError: such a flag was given.
  """
  choices = (_TASKS, _SEEDS, _SHARD)
  for action, what, others in (
    (_VERIFY, 'only the run of its row', (*choices, _SMOKE, _REPORT)),
    (_REPORT, 'all rows', choices),
  ):
    for choice in others:
      if action.value not in (None, False) and choice.is_given:
        raise command_line.UsageError(
          f'--{action.name} covers {what}; leave out --{choice.name}'
        )


def _of_library(row: benchmark_rows.Row) -> str | None:
  """Returns the name of a row's curriculum, None if it came in a file."""
  return None if row.sha256 else row.submission


def _output(
  submission: benchmark_submission.Submission, suffix: str
) -> pathlib.Path:
  output = command_line.folder(
    _OUTPUT.value or f'benchmark/{submission.name}{suffix}'
  )
  copy = (output / submission.copy).resolve() if submission.file else output
  if ',' in str(copy) and submission.file:  # --import splits at commas.
    raise command_line.UsageError(
      f'{copy} has a comma in its path; give a file and an --output without one'
    )
  return output


define = command_line.defines(
  *(_SUBMISSION, _SMOKE, _VERIFY, _REPORT, _TASKS, _SEEDS, _SHARD, study.JOBS),
  _OUTPUT,
)


def main() -> int:
  """Does what the flags say; returns the exit code."""
  study.count_jobs()  # Refuses a wrong --jobs before anything is made.
  _refuse_a_choice()
  try:
    if _REPORT.value and _OUTPUT.value:  # Needs no submission.
      _report(command_line.folder(_OUTPUT.value))
      return 0
    if _VERIFY.value is not None:
      old = benchmark_rows.read(command_line.folder(_VERIFY.value))
      submission = benchmark_submission.load(
        _SUBMISSION.value or _of_library(old)
      )
      suffix = '-smoke' * old.is_smoke + '-verify'
      return _verify(old, submission, _output(submission, suffix))
    submission = benchmark_submission.load(_SUBMISSION.value)
    output = _output(submission, '-smoke' * _SMOKE.value)
    if _REPORT.value:
      _report(output)
      return 0
    return _submit(submission, _SMOKE.value, output)
  except files.WriteError as error:
    return command_line.fail(
      f'{error}; run the same command again when it can be written'
    )


if __name__ == '__main__':
  command_line.start(main, define)
