# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Signals at the start, in training and during a save."""

import pathlib
import signal
import time

from vacl_tf.testing.stress import checks
from vacl_tf.testing.stress import compare
from vacl_tf.testing.stress import processes
from vacl_tf.testing.stress import runs

PART = 'signals'

_START_SECONDS = (0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.5, 6.0, 8.0, 12.0)
_SAVING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)


def _reset() -> None:
  """Gives a child the signals of a shell, whatever started this suite."""
  for number in _SAVING:
    signal.signal(number, signal.SIG_DFL)


def _at_start(
  number: signal.Signals, seconds: float, work: pathlib.Path
) -> str:
  path = work / f'signals_{number.name}_{seconds}'
  child = runs.train(processes.KIND, path, work, preexec_fn=_reset)
  time.sleep(seconds)
  child.process.send_signal(number)
  ended = child.wait(checks.LIMIT_SECONDS * 2)
  found = []
  if 'Traceback' in ended.err or 'KeyboardInterrupt' in ended.err:
    found.append(f'traceback: {ended.err[-300:]}')
  # Before Python gets to it a signal ends the process as it ends any.
  if ended.code not in (-number, 128 + number):
    found.append(f'exit code {ended.code}')
  return processes.told(*found)


def _in_training(number: signal.Signals, work: pathlib.Path) -> str:
  path = work / f'signals_{number.name}'
  child = runs.train(processes.KIND, path, work, preexec_fn=_reset)
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
  """Sends a second signal when the first has led to a save."""
  path = work / f'signals_twice_{number.name}'
  child = runs.train(processes.KIND, path, work, preexec_fn=_reset)
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
  """Hangs up on a run that was started with nohup."""
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
  """Sends all of them."""
  runs.whole(processes.KIND, work)
  found = []

  def add(group: str, case: str, problem: str) -> None:
    found.append(checks.Check(PART, group, case, problem))

  for number in (signal.SIGINT, signal.SIGTERM):
    for seconds in _START_SECONDS:
      problem = _at_start(number, seconds, work)
      add('at the start', f'{number.name} after {seconds} s', problem)
  for number in _SAVING:
    add('in training', number.name, _in_training(number, work))
    add('twice during a save', number.name, _twice(number, work))
  add('in training', 'SIGHUP under nohup', _without_terminal(work))
  return found
