# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Signals at the start, in training and during a save."""

import contextlib
import functools
import pathlib
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

from vacl_tf.testing.stress import checks
from vacl_tf.testing.stress import compare
from vacl_tf.testing.stress import processes
from vacl_tf.testing.stress import runs

PART = 'signals'

_START_SECONDS = (0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.5, 6.0, 8.0, 12.0)
_OURS = ('vacl_tf/__init__.py', 'vacl_tf/launch', 'tensorflow/')
_SAVING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)


@contextlib.contextmanager
def _usual_signals() -> Iterator[None]:
  """Gives children a shell's default signals, whatever started this suite."""
  before = {number: signal.getsignal(number) for number in _SAVING}
  for number, handler in before.items():
    if handler == signal.SIG_IGN:
      signal.signal(number, signal.SIG_DFL)
  try:
    yield
  finally:
    for number, handler in before.items():
      signal.signal(number, handler)


def _at_start(
  number: signal.Signals, seconds: float, work: pathlib.Path
) -> str:
  path = work / f'signals_{number.name}_{seconds}'
  child = runs.train(processes.KIND, path, work)
  time.sleep(seconds)
  # On a fast machine the tiny run may have finished.
  allowed = (0,) if child.process.poll() == 0 else (-number, 128 + number)
  child.process.send_signal(number)
  ended = child.wait(checks.LIMIT_SECONDS * 2)
  found = []
  # Before it runs code of the library, Python may end in its own traceback.
  if any(part in ended.err for part in _OURS):
    found.append(f'traceback: {ended.err[-300:]}')
  # Before Python handles signals, a signal ends the process directly.
  if ended.code not in allowed:
    found.append(f'exit code {ended.code}')
  return processes.told(*found)


def _in_training(number: signal.Signals, work: pathlib.Path) -> str:
  path = work / f'signals_{number.name}'
  child = runs.train(processes.KIND, path, work)
  processes.wait_until(lambda: processes.has_row(path), child)
  child.process.send_signal(number)
  ended = child.wait()
  found = []
  if ended.code != 128 + number or 'Traceback' in ended.err:
    found.append(f'exit code {ended.code}: {ended.err[-300:]}')
  if not compare.checkpoint_numbers(path):
    found.append('nothing is saved')
  return processes.told(*found, *processes.resumed(path, work))


def _twice(number: signal.Signals, work: pathlib.Path) -> str:
  """Sends a second signal during the save that the first one causes."""
  path = work / f'signals_twice_{number.name}'
  child = runs.train(processes.KIND, path, work)
  processes.wait_until(lambda: processes.has_row(path), child)
  before = set((path / 'checkpoints').glob('*'))
  child.process.send_signal(number)
  processes.wait_until(
    lambda: set((path / 'checkpoints').glob('*')) != before, child
  )
  if child.process.poll() is None:
    child.process.send_signal(number)
  ended = child.wait()
  found = []
  if ended.code not in (-number, 128 + number) or 'Traceback' in ended.err:
    found.append(f'exit code {ended.code}: {ended.err[-300:]}')
  found += [f'left over: {name}' for name in compare.leftovers(path)]
  return processes.told(*found, *processes.resumed(path, work))


def _without_terminal(work: pathlib.Path) -> str:
  """Sends SIGHUP to a run that was started with nohup."""
  path = work / 'signals_nohup'
  words = runs.command(runs.MAIN, *processes.KIND.flags(), f'--run_dir={path}')
  child = runs.Child(['nohup', *words], work)
  processes.wait_until(lambda: processes.has_row(path), child)
  child.process.send_signal(signal.SIGHUP)
  ended = child.wait()
  found = [] if ended.code == 0 else [f'exit code {ended.code}: {ended.err}']
  whole = runs.whole(processes.KIND, work)
  return processes.told(*found, *compare.differences(path, whole))


def play(work: pathlib.Path) -> list[checks.Check]:
  """Tries all signals."""
  runs.whole(processes.KIND, work)
  cases = []

  def add(group: str, name: str, find: Callable[..., str], *given: Any) -> None:
    find = functools.partial(find, *given, work)
    cases.append(processes.Case(group, name, find))

  for number in (signal.SIGINT, signal.SIGTERM):
    for seconds in _START_SECONDS:
      name = f'{number.name} after {seconds} s'
      add('at the start', name, _at_start, number, seconds)
  for number in _SAVING:
    add('in training', number.name, _in_training, number)
    add('twice during a save', number.name, _twice, number)
  add('in training', 'SIGHUP under nohup', _without_terminal)
  with _usual_signals():
    return processes.tried(PART, cases)
