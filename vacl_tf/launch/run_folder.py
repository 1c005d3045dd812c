# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The folder of a run: its files, and who may write to them.

The process that trains in a folder holds its lock. It saves a checkpoint before
the first iteration, and thus before it writes any results. Results without a
checkpoint therefore belong to a run that can't be resumed. They are never
overwritten: --restart renames the folder. A run that has not ended its first
iteration holds nothing that could be lost, so the next process begins anew
there, with any config. A file is written under another name and then replaces
the old one. A process that is killed may leave such files behind; the next
process removes them.
"""

import contextlib
import errno
import functools
import os
import pathlib
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import reading
from vacl_tf.launch import command_line
from vacl_tf.launch import locks
from vacl_tf.launch import records
from vacl_tf.training import files

CHECKPOINTS = 'checkpoints'
CONFIG = 'config.json'
CURVES = 'curves.png'
PICTURES = (CURVES, 'curves_curriculum.png')
EVENTS = 'events'
METRICS = 'metrics.csv'
POLICY = 'saved_model'
SNAPSHOTS = 'curriculum.npz'

LOCK = '.training.lock'
_RESULTS = (
  METRICS,
  POLICY,
  SNAPSHOTS,
  EVENTS,
  CURVES,
  'evaluation.json',
)
_LEFTOVERS = (
  CONFIG + files.NEW,
  METRICS + files.NEW,
  SNAPSHOTS + files.NEW,
  CURVES + files.NEW,
  'curves_curriculum.png' + files.NEW,
  'curriculum.new.npz',  # From earlier versions.
)
_INDEX = r'ckpt-\d+\.index(\.broken)?'
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EIO)

# Checkpoints of a run that has not ended its first iteration.
_FIRST = 'ckpt-1.index'
_AT_FIRST = re.compile(r'new|ckpt-1\.(index|data-\d+-of-\d+)')
_EVENT_FILES = '*tfevents*'
_MADE = {'config', 'run_length', 'versions'}  # Parts of our config.json.

_RESTART = '--restart (in Python, restart=True)'
_REMEDY = f'give another run_dir, or {_RESTART}, which sets it aside'


@contextlib.contextmanager
def hold(
  path: pathlib.Path,
  cfg: config.Config,
  report: Callable[[str], None],
  is_restart: bool = False,
) -> Iterator[pathlib.Path]:
  """Prepares a folder for training, and locks it.

  If training is refused and nothing was written, a new folder is removed again,
  and a run that was set aside comes back.

  Args:
    path: path of the folder, which is created if necessary.
    cfg: config of the run.
    report: called with a message on what was set aside or removed.
    is_restart: whether to set aside a run that is in the folder.

  Yields:
    The folder to use.

  Raises:
    UsageError: the folder can't be used, holds something that would be lost, or
      another process trains in it. It is unchanged.
    WriteError: the disk is full or fails.
  """
  check_name(path)
  if not is_restart:
    _refuse_what_would_be_lost(path, cfg)  # Before anything is written.
  is_new = not os.path.lexists(path)
  with contextlib.ExitStack() as held:
    held.enter_context(_lock(path))
    if is_new:
      held.callback(_remove_if_unused, path)
    if is_restart and _is_run(path):
      path = path.resolve()  # It may be a link or the current folder.
      beside = files.set_aside(path, '.old')
      report(
        f'{path} was renamed to {beside}; to resume the new run later, leave '
        'out --restart'
      )
      # The lock was renamed with the folder. Both locks are held, so that no
      # process that waits for the first one can get it.
      held.enter_context(_lock(path))
      held.push(functools.partial(_put_back, path, beside))
    if _is_untrained(path):
      _remove_untrained(path, report)
    _refuse_what_would_be_lost(path, cfg)
    _clear(path, report)
    yield path


def check_name(path: pathlib.Path, flag: str = 'run_dir') -> None:
  """Raises UsageError for a name that TensorFlow can't read."""
  if found := files.unreadable(path):
    raise command_line.UsageError(
      f'{flag}={path} contains {found}, which TensorFlow cannot read in a '
      f'path; give another --{flag}'
    )


@contextlib.contextmanager
def _lock(path: pathlib.Path) -> Iterator[None]:
  """Creates the folder if necessary, and holds its lock."""
  with contextlib.ExitStack() as held:
    try:
      path.mkdir(parents=True, exist_ok=True)
      held.enter_context(locks.hold(path / LOCK))
    except locks.BusyError as error:
      raise command_line.UsageError(
        f'{error}, which trains there; wait for it, or give another run_dir'
      ) from error
    except OSError as error:
      if error.errno in _NO_SPACE:
        raise files.WriteError(
          f'{path} cannot be written ({error.strerror})'
        ) from error
      raise command_line.UsageError(
        f'run_dir={path} is not a folder that can be written to '
        f'({error.strerror}); give another one'
      ) from error
    yield


def _remove_if_unused(path: pathlib.Path) -> None:
  """Removes a folder that contains only its lock, which is held."""
  with contextlib.suppress(OSError):
    if os.listdir(path) == [LOCK]:
      (path / LOCK).unlink()
      path.rmdir()


def _put_back(
  path: pathlib.Path,
  beside: pathlib.Path,
  kind: type[BaseException] | None,
  *told: Any,
) -> None:
  """Renames a run to its old name if an error came before the new one began.

  Args:
    path: folder of the new run, whose lock is held.
    beside: folder of the old run.
    kind: type of the error, None without one.
    *told: the error and its traceback.
  """
  del told
  if kind is not None:
    _remove_if_unused(path)
    if not os.path.lexists(path):
      with contextlib.suppress(OSError):
        beside.rename(path)


def _refuse_what_would_be_lost(path: pathlib.Path, cfg: config.Config) -> None:
  """Raises UsageError if a folder has a run that cfg can't resume."""
  if _is_untrained(path):
    return
  has_checkpoint = _has_checkpoint(path)
  if os.path.lexists(path / CONFIG):
    old = records.read_config(path, _REMEDY)
    if different := overrides.differences(old, cfg):
      raise command_line.UsageError(_told(path, old, cfg, different))
  elif has_checkpoint:
    raise command_line.UsageError(
      f'{path} has checkpoints but no {CONFIG}; {_REMEDY}'
    )
  results = [name for name in _RESULTS if os.path.lexists(path / name)]
  if results and not has_checkpoint:
    raise command_line.UsageError(
      f'{path} holds results ({", ".join(results)}) but no checkpoint to '
      f'resume from; to train from scratch, {_REMEDY}'
    )


def _told(
  path: pathlib.Path,
  old: config.Config,
  new: config.Config,
  different: list[str],
) -> str:
  """Returns why a run with another config can't be resumed."""
  was, now = old.environment.name, new.environment.name
  if was != now:  # Most of the other differences follow from it.
    told = f'of env={was}, not env={now}'
  else:
    told = f'with another config ({"; ".join(different)})'
  return (
    f'{path} holds a run {told}; to resume it, give run_dir and no constants; '
    f'to train another, give another run_dir, or {_RESTART}'
  )


def _is_untrained(path: pathlib.Path) -> bool:
  """Returns whether the run in a folder has not ended its first iteration."""
  results = (name for name in _RESULTS if name != EVENTS)
  if any(os.path.lexists(path / name) for name in results):
    return False
  saved = []
  try:
    made = reading.read_json(path / CONFIG)
    if os.path.lexists(path / CHECKPOINTS):
      saved = os.listdir(path / CHECKPOINTS)
  except (OSError, reading.UnreadableError):
    return False
  if _FIRST not in saved and any((path / EVENTS).glob(_EVENT_FILES)):
    return False  # Its checkpoints are lost.
  return _MADE <= made.keys() and all(map(_AT_FIRST.fullmatch, saved))


def _remove_untrained(
  path: pathlib.Path, report: Callable[[str], None]
) -> None:
  """Removes what a run wrote before its first iteration, but config.json."""
  saved = sorted((path / CHECKPOINTS).glob('ckpt-1.*'), reverse=True)
  events = (path / EVENTS).glob(_EVENT_FILES)
  found = [*events, *saved]  # The index comes before its data.
  with files.writing(path):
    for file in found:
      file.unlink()
  if saved:
    report(f'{path}: a run that had not ended an iteration begins anew')


def _has_checkpoint(path: pathlib.Path) -> bool:
  """Returns whether there are checkpoints, intact or set aside as broken."""
  try:
    names = os.listdir(path / CHECKPOINTS)
  except OSError:
    return False
  return any(re.fullmatch(_INDEX, name) for name in names)


def _is_run(path: pathlib.Path) -> bool:
  """Returns whether a folder has any part of a run."""
  return any(
    os.path.lexists(path / name) for name in (CONFIG, CHECKPOINTS, *_RESULTS)
  )


def _clear(path: pathlib.Path, report: Callable[[str], None]) -> None:
  """Removes incomplete files of a process that was killed while writing."""
  found = [name for name in _LEFTOVERS if os.path.lexists(path / name)]
  with files.writing(path):
    for name in found:
      if (path / name).is_dir():
        shutil.rmtree(path / name)
      else:
        (path / name).unlink()
  if found:
    report(
      f'{path}: removed what an interrupted write left ({", ".join(found)})'
    )
