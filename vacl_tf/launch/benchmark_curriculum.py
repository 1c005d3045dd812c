# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks a curriculum: launch.benchmark_curriculum --submission=mine.py.

The file registers one curriculum; all else is frozen, see docs/benchmark.md.
Runs are trained and evaluated on a core each; started again after whatever
happened, it goes on. OUTPUT/rows/ has a file a run, OUTPUT/table.md the table.
"""

import contextlib
import pathlib
import shutil
from collections.abc import Iterator, Sequence

from absl import flags

from vacl_tf import benchmark_protocol as protocol
from vacl_tf import overrides
from vacl_tf import reading
from vacl_tf import studies
from vacl_tf.launch import benchmark_rows
from vacl_tf.launch import benchmark_submission
from vacl_tf.launch import benchmark_table
from vacl_tf.launch import command_line
from vacl_tf.launch import flag_kinds
from vacl_tf.launch import locks
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
  'One seed of two tasks with small budgets, to see that everything works.',
  _WHAT,
)
_VERIFY = command_line.Flag(
  flags.DEFINE_string,
  'verify',
  None,
  'Row of a submission: train its seed again, and compare.',
  _WHAT,
)
_REPORT = command_line.Flag(
  flag_kinds.switch,
  'report',
  False,
  'Make no run, but write the table of the rows in --output.',
  _WHAT,
)
_TASKS = study.TASKS.meaning('Only these tasks. Default: all.', _WHAT)
_SEEDS = study.SEEDS.meaning('Only these seeds, like 100,102.', _WHAT)
_SHARD = study.SHARD.meaning(
  'Which part of the runs is for this machine, like 1/4. Machines may share '
  '--output.',
  _WHAT,
)
_OUTPUT = command_line.Flag(
  flags.DEFINE_string,
  'output',
  None,
  'Folder of the submission. Default: benchmark/NAME, with -smoke or -verify.',
  _WHERE,
)

_STAMP = 'benchmark.json'  # Says what a folder is.
_ROWS, _RUNS, _TABLE, _LOCK = 'rows', 'runs', 'table.md', '.lock'
_ITS_ROWS, _ITS_METRICS = f'{_ROWS}/*', f'{_RUNS}/*/*/metrics.csv'


def _chosen(
  submission: benchmark_submission.Submission, is_smoke: bool
) -> tuple[list[protocol.Run], tuple[int, int]]:
  """Returns the runs of this machine, and which part of all they are.

  Raises:
    UsageError: there is no such task, seed or part.
  """
  seeds = protocol.seeds(is_smoke)
  if _SEEDS.is_given:
    seeds = study.usage(studies.parse_seeds, _SEEDS.value)
  tasks = [task.name for task in protocol.tasks(is_smoke)]
  for what, given, allowed in (
    ('task', _TASKS.value, tasks),
    ('seed', seeds, protocol.seeds(is_smoke)),
  ):
    for one in given:
      if one not in allowed:
        raise command_line.UsageError(
          overrides.unknown(what, one, map(str, allowed))
        )
  runs = [
    run
    for run in protocol.list_runs(submission.name, is_smoke)
    if run.task.name in (_TASKS.value or tasks) and run.seed in seeds
  ]
  shard = study.usage(studies.parse_shard, _SHARD.value)
  return studies.take_shard(runs, *shard), shard


@contextlib.contextmanager
def _held(
  output: pathlib.Path,
  submission: benchmark_submission.Submission,
  kind: str,
  shard: tuple[int, int] = (1, 1),
) -> Iterator[None]:
  """Makes the folder of a submission, and keeps others from it meanwhile.

  Args:
    output: the folder.
    submission: that it is for.
    kind: full, smoke or verify.
    shard: whose runs are made; machines with other parts may use it, too.

  Raises:
    UsageError: it is of something else, in use, or can't be written to.
  """
  stamp = {
    'benchmark': protocol.VERSION,
    'submission': submission.name,
    'sha256': submission.sha256,
    'kind': kind,
  }
  try:
    is_fresh = _check_stamp(output, stamp)  # Before anything is written.
    output.mkdir(parents=True, exist_ok=True)
    with locks.hold(output / f'{_LOCK}{study.suffix(shard)}'):
      if is_fresh and (output / _RUNS).exists():
        shutil.rmtree(output / _RUNS)
        print(f'note: no run in {output} had begun to train; all begin anew')
      if submission.file:
        _write(output / submission.copy, submission.content)
      files.write_json(output / _STAMP, stamp)
      (output / _ROWS).mkdir(exist_ok=True)
      yield
  except locks.BusyError as error:
    raise command_line.UsageError(
      f'{error}; wait for it, or give another --output'
    ) from error
  except OSError as error:
    raise command_line.UsageError(
      f'{error.filename or output} cannot be used ({error.strerror}); give '
      'another --output'
    ) from error


def _check_stamp(output: pathlib.Path, ours: dict[str, object]) -> bool:
  """Checks that a folder holds nothing else.

  Returns:
    Whether it is of another content of the same file, and no run of it had
    begun to train: it was wrong, and has been mended.

  Raises:
    UsageError: it holds something else.
  """
  try:
    found = reading.read_json(output / _STAMP)
  except FileNotFoundError:
    inside = output.iterdir() if output.is_dir() else ()
    # A submission that was cut short before its stamp has its own copy.
    ends = ('.py', '.py.new', _STAMP + files.NEW)
    if any(
      not x.name.startswith(_LOCK) and not x.name.endswith(ends) for x in inside
    ):
      raise command_line.UsageError(
        f'{output} has files but no {_STAMP}: it is no submission; give '
        'another --output'
      ) from None
    return False
  except reading.UnreadableError as error:
    raise command_line.UsageError(f'{error}; give another --output') from error
  differing = [
    f'{key} {reading.one_line(found.get(key))} instead of {ours[key]}'
    for key in ours
    if found.get(key) != ours[key]
  ]
  if len(differing) == 1 and found.get('sha256') != ours['sha256']:
    is_in_use = any(output.glob(f'{_LOCK}_*')) or any(output.glob(_ITS_ROWS))
    if not is_in_use and not any(map(_has_begun, output.glob(_ITS_METRICS))):
      return True
  if differing:
    raise command_line.UsageError(
      f'{output} is of another submission ({"; ".join(differing)}); rename '
      'it, or give another --output'
    )


def _has_begun(metrics: pathlib.Path) -> bool:
  """Returns whether a metrics.csv has a row, or can't be read."""
  try:
    return len(reading.read_lines(metrics).readlines()) > 1
  except (FileNotFoundError, reading.UnreadableError):
    return True


def _write(path: pathlib.Path, content: bytes) -> None:
  with files.replaced(path) as beside:
    beside.write_bytes(content)


def _train(
  submission: benchmark_submission.Submission,
  runs: Sequence[protocol.Run],
  output: pathlib.Path,
  shard: tuple[int, int] = (1, 1),
) -> int:
  """Makes what is missing of runs; returns the exit code."""
  commands = study_jobs.Commands()
  if submission.file:
    # The copy: nobody edits it meanwhile.
    own = f'--import={(output / submission.copy).resolve()}'
    commands = study_jobs.Commands(*((*x, own) for x in commands))
  return study.run_missing(
    study.Plan(runs, output / _RUNS, study.count_jobs(), commands), shard
  )


def _collect(
  submission: benchmark_submission.Submission,
  runs: Sequence[protocol.Run],
  output: pathlib.Path,
  is_smoke: bool,
) -> list[benchmark_rows.Row]:
  """Writes the rows of the runs that are complete; returns them."""
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
  with _held(output, submission, 'smoke' if is_smoke else 'full', shard):
    code = _train(submission, runs, output, shard)
    rows = _collect(submission, runs, output, is_smoke)
    if rows:
      _report(output)
  return code


def _report(output: pathlib.Path) -> None:
  """Writes the table of the rows that there are, and says where.

  Raises:
    UsageError: there is none, or one can't be read.
  """
  rows = benchmark_rows.read_all([output / _ROWS])
  if not rows:
    raise command_line.UsageError(
      f'{output / _ROWS} has no rows; make a submission first'
    )
  files.write_text(output / _TABLE, benchmark_table.render(rows))
  print(f'Wrote {output / _TABLE}, of {len(rows)} rows')


def _verify(
  old: benchmark_rows.Row,
  submission: benchmark_submission.Submission,
  output: pathlib.Path,
) -> int:
  """Trains the seed of a row again and compares; returns the exit code."""
  if (old.submission, old.sha256) != (submission.name, submission.sha256):
    raise command_line.UsageError(
      f'the row is of {old.submission}, file {old.sha256[:8] or "none"}; given '
      f'is {submission.name}, file {submission.sha256[:8] or "none"}: give the '
      '--submission that it was made with'
    )
  [run] = [
    run
    for run in protocol.list_runs(submission.name, old.is_smoke)
    if (run.task.name, run.seed) == (old.task, old.seed)
  ]
  with _held(output, submission, f'verify{"-smoke" * old.is_smoke}'):
    code = _train(submission, [run], output)
    rows = _collect(submission, [run], output, old.is_smoke)
  if not rows:
    return code
  is_same, how = benchmark_rows.compare(old, rows[0])
  if not is_same:
    return command_line.fail(f'{run.name}: {how}')
  print(f'{run.name}: {how}')
  return 0


def _of_library(row: benchmark_rows.Row) -> str | None:
  """Returns the name of a row's curriculum, None if it came in a file."""
  return None if row.sha256 else row.submission


def _output(
  submission: benchmark_submission.Submission, suffix: str
) -> pathlib.Path:
  return command_line.folder(
    _OUTPUT.value or f'benchmark/{submission.name}{suffix}'
  )


define = command_line.defines(
  *(_SUBMISSION, _SMOKE, _VERIFY, _REPORT, _TASKS, _SEEDS, _SHARD, study.JOBS),
  _OUTPUT,
)


def main() -> int:
  """Does what the flags say; returns the exit code."""
  study.count_jobs()  # Refused before anything is made.
  try:
    if _REPORT.value and _OUTPUT.value:  # Without whatever it was made with.
      _report(command_line.folder(_OUTPUT.value))
      return 0
    if _VERIFY.value:
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
      f'{error}; the same command goes on when it can be written'
    )


if __name__ == '__main__':
  command_line.start(main, define)
