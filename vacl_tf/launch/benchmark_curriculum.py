# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks a curriculum: launch.benchmark_curriculum --submission=mine.py.

The file registers one curriculum; all else is frozen, see docs/benchmark.md.
Runs are trained and evaluated on a core each; started again after whatever
happened, it goes on. OUTPUT/rows/ has a file a run, OUTPUT/table.md the table.
"""

import contextlib
import hashlib
import pathlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from absl import flags

from vacl_tf import benchmark_protocol as protocol
from vacl_tf import catalog
from vacl_tf import overrides
from vacl_tf import reading
from vacl_tf.launch import benchmark_rows
from vacl_tf.launch import benchmark_table
from vacl_tf.launch import command_line
from vacl_tf.launch import extensions
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
_OUTPUT = command_line.Flag(
  flags.DEFINE_string,
  'output',
  None,
  'Folder of the submission. Default: benchmark/NAME, with -smoke or -verify.',
  _WHERE,
)

_STAMP = 'benchmark.json'  # Says what a folder is.
_ROWS, _RUNS, _TABLE, _LOCK = 'rows', 'runs', 'table.md', '.lock'
_MAX_BYTES = 1 << 20  # Of a submitted file.


class Submission(NamedTuple):
  """A curriculum that was submitted.

  Attributes:
    name: that it is registered by.
    file: its name, empty for one of the library's own.
    content: of the file.
  """

  name: str
  file: str = ''
  content: bytes = b''

  @property
  def sha256(self) -> str:
    """Digest of the file; empty if there is none."""
    return hashlib.sha256(self.content).hexdigest() if self.file else ''

  @property
  def copy(self) -> str:
    """What its copy is called; where the user stands no module is."""
    return f'{self.file.removesuffix(".py")}_{self.sha256[:8]}.py'


def load(given: str | None) -> Submission:
  """Imports a submission.

  Args:
    given: path of a .py file, or the name of a curriculum of the library.

  Raises:
    UsageError: there is no such curriculum, or the file can't be imported or
      does not register exactly one.
  """
  before = catalog.CURRICULA.names()
  if given is None:
    raise command_line.UsageError(
      'give --submission=FILE.py, or the name of a curriculum: '
      + ', '.join(before)
    )
  if not given.endswith('.py'):
    if given not in before:
      raise command_line.UsageError(
        overrides.unknown('submission', given, before)
        + ' A file of your own ends in .py'
      )
    return Submission(given)
  path = command_line.folder(given)
  try:
    content = reading.read_bytes(path, _MAX_BYTES)
    with command_line.quiet_imports():
      import tensorflow as tf  # noqa: F401  Not quiet where a file needs it.
    extensions.load([given], command_line.folder('.'), lambda note: None)
  except FileNotFoundError as error:
    raise command_line.UsageError(
      f'submission={given} is not a file; give the path of one'
    ) from error
  except reading.UnreadableError as error:
    raise command_line.UsageError(f'submission: {error}') from error
  except extensions.ImportFailure as error:
    told = str(error).removeprefix('import=')
    raise command_line.UsageError(f'submission={told}') from error
  new = [x for x in catalog.CURRICULA.names() if x not in before]
  if len(new) != 1:
    raise command_line.UsageError(
      f'submission={given} registers {len(new)} curricula'
      f'{": " * bool(new)}{", ".join(new)}; register one, by '
      'python_curriculum.register or vacl_tf.register_curriculum'
    )
  return Submission(new[0], path.name, content)


@contextlib.contextmanager
def _held(
  output: pathlib.Path, submission: Submission, kind: str
) -> Iterator[None]:
  """Makes the folder of a submission, and keeps others from it meanwhile.

  Args:
    output: the folder.
    submission: that it is for.
    kind: full, smoke or verify.

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
    _check_stamp(output, stamp)  # Before anything is written.
    output.mkdir(parents=True, exist_ok=True)
    with locks.hold(output / _LOCK):
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


def _check_stamp(output: pathlib.Path, ours: dict[str, object]) -> None:
  """Raises UsageError for a folder that holds something else."""
  try:
    found = reading.read_json(output / _STAMP)
  except FileNotFoundError:
    left = {_LOCK, _STAMP + files.NEW}
    others = output.is_dir() and {x.name for x in output.iterdir()} - left
    # A submission that was cut short before its stamp has its own copy.
    if others and any(not x.endswith(('.py', '.py.new')) for x in others):
      raise command_line.UsageError(
        f'{output} has files but no {_STAMP}: it is no submission; give '
        'another --output'
      ) from None
    return
  except reading.UnreadableError as error:
    raise command_line.UsageError(f'{error}; give another --output') from error
  differing = [
    f'{key} {reading.one_line(found.get(key))} instead of {ours[key]}'
    for key in ours
    if found.get(key) != ours[key]
  ]
  if differing:
    raise command_line.UsageError(
      f'{output} is of another submission ({"; ".join(differing)}); rename '
      'it, or give another --output'
    )


def _write(path: pathlib.Path, content: bytes) -> None:
  with files.replaced(path) as beside:
    beside.write_bytes(content)


def _train(
  submission: Submission, runs: Sequence[protocol.Run], output: pathlib.Path
) -> int:
  """Makes what is missing of runs; returns the exit code."""
  commands = study_jobs.Commands()
  if submission.file:
    # The copy: nobody edits it meanwhile.
    own = f'--import={(output / submission.copy).resolve()}'
    commands = study_jobs.Commands(*((*x, own) for x in commands))
  return study.run_missing(
    study.Plan(runs, output / _RUNS, study.count_jobs(), commands)
  )


def _collect(
  submission: Submission,
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
  submission: Submission, is_smoke: bool, output: pathlib.Path
) -> int:
  """Makes a submission; returns the exit code."""
  runs = protocol.list_runs(submission.name, is_smoke)
  with _held(output, submission, 'smoke' if is_smoke else 'full'):
    code = _train(submission, runs, output)
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
  old: benchmark_rows.Row, submission: Submission, output: pathlib.Path
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
  if not rows and not code:
    return command_line.fail(
      f'{run.name}: the run in {output} is damaged; give another --output'
    )
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


def _output(submission: Submission, suffix: str) -> pathlib.Path:
  return command_line.folder(
    _OUTPUT.value or f'benchmark/{submission.name}{suffix}'
  )


define = command_line.defines(
  *(_SUBMISSION, _SMOKE, _VERIFY, _REPORT, study.JOBS, _OUTPUT)
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
      submission = load(_SUBMISSION.value or _of_library(old))
      suffix = '-smoke' * old.is_smoke + '-verify'
      return _verify(old, submission, _output(submission, suffix))
    submission = load(_SUBMISSION.value)
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
