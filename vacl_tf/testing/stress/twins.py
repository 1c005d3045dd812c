# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Two processes that use the same folder."""

import csv
import functools
import pathlib
import signal
from collections.abc import Callable

from vacl_tf.testing.stress import checks
from vacl_tf.testing.stress import compare
from vacl_tf.testing.stress import processes
from vacl_tf.testing.stress import runs

PART = 'twins'

_STUDY = 'vacl_tf.launch.study'
_EVALUATE = 'vacl_tf.launch.evaluate'
_PLOT = 'vacl_tf.launch.plot'


def _like_one(path: pathlib.Path, work: pathlib.Path) -> list[str]:
  return compare.differences(path, runs.whole(processes.KIND, work))[:5]


def _at_once(work: pathlib.Path) -> str:
  """Starts two processes at the same moment."""
  path = work / 'twins_at_once'
  pair = [runs.train(processes.KIND, path, work) for _ in '12']
  ended = [child.wait() for child in pair]
  codes = sorted(x.code for x in ended)
  found = [] if codes == [0, 2] else [f'exit codes {codes}']
  found += [checks.complaint(x, (0, 2)) for x in ended]
  return processes.told(*found, *_like_one(path, work))


def _one_after_another(work: pathlib.Path) -> str:
  """Starts a process while another one trains."""
  path = work / 'twins_later'
  first = runs.train(processes.KIND, path, work)
  processes.wait_until(lambda: processes.has_row(path), first)
  second = runs.train(processes.KIND, path, work).wait()
  is_over = first.process.poll() is not None
  found = [checks.complaint(second, (2,))] if not is_over else []
  if str(first.process.pid) not in second.err and not is_over:
    found.append(f'does not say who holds it: {second.err}')
  found.append(checks.complaint(first.wait(), (0,)))
  return processes.told(*found, *_like_one(path, work))


def _readers(work: pathlib.Path) -> str:
  """Evaluates and plots a run that is still training."""
  path = work / 'twins_read'
  first = runs.train(processes.KIND, path, work)

  def is_evaluated() -> bool:
    metrics = path / 'metrics.csv'
    if not metrics.exists():
      return False
    with metrics.open(newline='') as file:
      return any(row['coverage'] for row in csv.DictReader(file))

  processes.wait_until(is_evaluated, first)
  flags = (f'--run_dir={path}', '--num_tasks=2')
  readers = [runs.Child(runs.command(_EVALUATE, *flags), work)]
  picture = work / 'twins.png'
  flags = (f'--run_dirs={path}', f'--output={picture}')
  readers.append(runs.Child(runs.command(_PLOT, *flags), work))
  found = [checks.complaint(reader.wait(), (0,)) for reader in readers]
  found.append(checks.complaint(first.wait(), (0,)))
  return processes.told(*found, *_like_one(path, work))


def _dead(work: pathlib.Path) -> str:
  """Takes over the folder of a killed process."""
  path = work / 'twins_dead'
  first = runs.train(processes.KIND, path, work)
  processes.wait_until(lambda: processes.has_row(path), first)
  processes.end(first)
  return processes.told(*processes.resumed(path, work))


def _stopped(work: pathlib.Path) -> str:
  """Starts a second process while the first one is suspended."""
  path = work / 'twins_stopped'
  first = runs.train(processes.KIND, path, work)
  processes.wait_until(lambda: processes.has_row(path), first)
  first.process.send_signal(signal.SIGSTOP)
  found = [
    checks.complaint(runs.train(processes.KIND, path, work).wait(), (2,))
  ]
  first.process.send_signal(signal.SIGCONT)
  found.append(checks.complaint(first.wait(), (0,)))
  return processes.told(*found, *_like_one(path, work))


def _studies(work: pathlib.Path) -> str:
  """Starts two studies in one folder."""
  folder = work / 'twins_studies'
  words = runs.command(
    _STUDY, '--study=factorial', '--jobs=1', f'--runs_dir={folder}'
  )
  pair = [runs.Child(words, work)]
  processes.wait_until(lambda: any(folder.rglob('config.json')), pair[0])
  pair.append(runs.Child(words, work))
  processes.wait_until(lambda: False, pair[1])
  found = [checks.complaint(pair[1].wait(1.0), (2,))]
  pair[0].process.send_signal(signal.SIGTERM)
  first = pair[0].wait()
  if 'Traceback' in first.err:
    found.append('the first ends in a traceback')
  return processes.told(*found)


_CASES: dict[str, Callable[[pathlib.Path], str]] = {
  'started at once': _at_once,
  'started one after the other': _one_after_another,
  'readers of a run in progress': _readers,
  'the first was killed': _dead,
  'the first is suspended': _stopped,
  'two studies': _studies,
}


def play(work: pathlib.Path) -> list[checks.Check]:
  """Tries all cases, one at a time, so that each has both cores."""
  runs.whole(processes.KIND, work)
  cases = [
    processes.Case(PART, name, functools.partial(find, work))
    for name, find in _CASES.items()
  ]
  return processes.tried(PART, cases, at_a_time=1)
