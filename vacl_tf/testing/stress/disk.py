# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A full disk, files that may not grow and folders that may not change."""

import contextlib
import functools
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from vacl_tf.testing.stress import checks
from vacl_tf.testing.stress import processes
from vacl_tf.testing.stress import runs

PART = 'disk'

_KILOBYTES = (12, 48, 100, 240, 420, 600)  # Space on the disk.
_LONGEST_KILOBYTES = (1, 8, 40, 100)  # Largest size of a file.
_FROZEN = (
  'metrics.csv',
  'curriculum.npz',
  'config.json',
  'checkpoints',
  'events',
  'saved_model',
  'curves.png',
  '.',
)
_MORE = 4  # Iterations that are left to make.


def _quietly(*words: str) -> bool:
  """Runs a program; returns whether it exists and succeeds."""
  try:
    return not subprocess.run(
      words, check=False, capture_output=True, timeout=runs.SECONDS
    ).returncode
  except OSError:
    return False


@contextlib.contextmanager
def small_disk(path: pathlib.Path, kilobytes: int) -> Iterator[bool]:
  """Mounts a small file system; yields whether the user may do that."""
  path.mkdir(parents=True, exist_ok=True)
  option = f'size={kilobytes}k'
  is_there = _quietly('mount', '-t', 'tmpfs', '-o', option, 'none', str(path))
  try:
    yield is_there
  finally:
    if is_there:
      _quietly('umount', str(path))


@contextlib.contextmanager
def frozen(path: pathlib.Path) -> Iterator[bool]:
  """Makes a file or a folder unchangeable; yields whether that can be done."""
  mode = path.stat().st_mode
  if os.geteuid():
    path.chmod(0o500 if path.is_dir() else 0o400)
    done = True
  else:  # Modes do not stop root.
    done = _quietly('chattr', '+i', str(path))
  try:
    yield done
  finally:
    if os.geteuid():
      path.chmod(mode)
    else:
      _quietly('chattr', '-i', str(path))


def _full(work: pathlib.Path, kilobytes: int) -> str:
  """Trains on a disk that fills up, then continues with more space."""
  disk = work / f'disk_{kilobytes}'
  with small_disk(disk, kilobytes):
    path = disk / 'run'
    ended = runs.train(processes.KIND, path, work).wait()
    found = [checks.complaint(ended, (1, 2))]
    _quietly('mount', '-o', 'remount,size=64m', str(disk))
    return processes.told(*found, *processes.resumed(path, work))


def _short_files(work: pathlib.Path, kilobytes: int) -> str:
  """Trains with a limit on the size of files, then continues without it."""
  path = work / f'short_{kilobytes}'
  words = runs.command(runs.MAIN, *processes.KIND.flags(), f'--run_dir={path}')
  line = f'ulimit -f {kilobytes}; exec "$@"'
  ended = runs.Child(['bash', '-c', line, 'bash', *words], work).wait()
  found = [checks.complaint(ended, (1, 2))]
  return processes.told(*found, *processes.resumed(path, work))


def _unchangeable(work: pathlib.Path, name: str, index: int) -> str:
  """Continues a run that may not change a file or folder, then may again."""
  path = work / f'frozen_{index}'
  ahead = processes.KIND.iterations - _MORE
  flags = (*processes.KIND.flags(ahead), f'--run_dir={path}')
  ended = runs.Child(runs.command(runs.MAIN, *flags), work).wait()
  found = [checks.complaint(ended, (0,))]
  with frozen(path / name):
    ended = runs.train(processes.KIND, path, work).wait()
    found.append(checks.complaint(ended, (0, 1, 2)))
    if not (path / 'saved_model' / 'saved_model.pb').exists():
      found.append('the policy is gone')
  return processes.told(*found, *processes.resumed(path, work))


def play(work: pathlib.Path) -> list[checks.Check]:
  """Tries all cases."""
  runs.whole(processes.KIND, work)
  cases = []

  def add(group: str, name: str, find: Callable[..., str], *given: Any) -> None:
    find = functools.partial(find, work, *given)
    cases.append(processes.Case(group, name, find))

  with small_disk(work / 'disk', 1) as may_mount:
    for kilobytes in _KILOBYTES if may_mount else ():
      add('full tmpfs', f'{kilobytes} KB left', _full, kilobytes)
  for kilobytes in _LONGEST_KILOBYTES:
    name = f'files of {kilobytes} KB at most'
    add('limit on files', name, _short_files, kilobytes)
  # Not every file system lets root freeze a file, and modes do not stop root.
  with tempfile.NamedTemporaryFile(dir=work) as tried:
    with frozen(pathlib.Path(tried.name)) as may_freeze:
      pass
  for index, name in enumerate(_FROZEN if may_freeze else ()):
    add('unchangeable', name, _unchangeable, name, index)
  return processes.tried(PART, cases)
