# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The folder of a submission to the benchmark, which machines may share."""

import contextlib
import pathlib
import shutil
from collections.abc import Iterator

from vacl_tf import benchmark_protocol as protocol
from vacl_tf import reading
from vacl_tf.launch import benchmark_submission
from vacl_tf.launch import command_line
from vacl_tf.launch import locks
from vacl_tf.launch import study_records
from vacl_tf.training import files

ROWS, RUNS, TABLE = 'rows', 'runs', 'table.md'

_STAMP = 'benchmark.json'  # Says which submission a folder holds.
_LOCK = '.lock'
_PATIENCE = 60.0  # Seconds to wait for another process that writes.


@contextlib.contextmanager
def held(
  output: pathlib.Path,
  submission: benchmark_submission.Submission,
  kind: str,
  shard: tuple[int, int] = (1, 1),
) -> Iterator[None]:
  """Makes the folder of a submission, and locks a shard of it.

  Args:
    output: the folder.
    submission: the submission.
    kind: full, smoke or verify.
    shard: (k, n), the part of the runs that this process makes. Machines with
      other shards may use the folder at the same time.

  Raises:
    UsageError: the folder belongs to something else, is in use, or can't be
      written to.
  """
  stamp = {
    'benchmark': protocol.VERSION,
    'submission': submission.name,
    'sha256': submission.sha256,
    'kind': kind,
  }
  mine = output / '{}_{}of{}'.format(_LOCK, *shard)
  with _told(output), contextlib.ExitStack() as ours:
    _check_stamp(output, stamp)  # Before anything is written.
    output.mkdir(parents=True, exist_ok=True)
    with alone(output):
      is_mended = _check_stamp(output, stamp)
      ours.enter_context(locks.hold(mine))
      if is_mended and (output / RUNS).exists():
        for other in set(output.glob(f'{_LOCK}_*')) - {mine}:
          with locks.hold(other):  # Busy if a run uses the old file.
            pass
        shutil.rmtree(output / RUNS)
        print(f'note: no run in {output} had begun to train; all start again')
      if submission.file:
        _write(output / submission.copy, submission.content)
      if not (output / _STAMP).exists() or is_mended:
        files.write_json(output / _STAMP, stamp)
      (output / ROWS).mkdir(exist_ok=True)
    yield


@contextlib.contextmanager
def alone(output: pathlib.Path) -> Iterator[None]:
  """Locks the files that all machines write; to be held for a short time.

  Raises:
    UsageError: another process holds the lock for too long, or the folder
      can't be used.
  """
  with _told(output), locks.hold(output / _LOCK, _PATIENCE):
    yield


@contextlib.contextmanager
def _told(output: pathlib.Path) -> Iterator[None]:
  """Turns errors of locks and of the operating system into UsageError."""
  try:
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
  """Checks that a folder is new or holds this submission.

  Returns:
    Whether the folder holds the submission with an earlier content of its file,
    and none of its runs has begun to train: the user has corrected the file.

  Raises:
    UsageError: the folder holds something else.
  """
  try:
    found = reading.read_json(output / _STAMP)
  except FileNotFoundError:
    inside = output.iterdir() if output.is_dir() else ()
    # A submission that was killed before it wrote its stamp left only its copy.
    ends = ('.py', '.py.new', _STAMP, _STAMP + files.NEW)
    if any(
      not x.name.startswith(_LOCK) and not x.name.endswith(ends) for x in inside
    ):
      raise command_line.UsageError(
        f'{output} has files but no {_STAMP}, so it is not a submission; give '
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
  if not differing:
    return False
  is_mended = len(differing) == 1 and found.get('sha256') != ours['sha256']
  runs = output.glob(f'{RUNS}/*/*')
  if is_mended and not any((output / ROWS).glob('*')):
    if not any(map(_has_begun, runs)):
      return True
  raise command_line.UsageError(
    f'{output} belongs to another submission ({"; ".join(differing)}); '
    'rename it, or give another --output'
  )


def _has_begun(run: pathlib.Path) -> bool:
  """Returns whether a run has begun to train; True if that is unknown."""
  try:
    lines = reading.read_lines(run / 'metrics.csv').readlines()
    has_rows = len(lines) > 1
  except FileNotFoundError:
    has_rows = False
  except reading.UnreadableError:
    return True
  # The first checkpoint is of the state before training.
  num_saved = len(list(run.glob('checkpoints/*.index')))
  return has_rows or num_saved > 1 or (run / study_records.EVALUATION).exists()


def _write(path: pathlib.Path, content: bytes) -> None:
  """Writes a file that processes of other machines may be reading."""
  if path.exists() and path.read_bytes() == content:
    return
  with files.replaced(path) as beside:
    beside.write_bytes(content)
