# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Kills runs (kill -9) at random and chosen moments, then finishes them."""

import itertools
import pathlib
import random
import signal
import time
from concurrent import futures
from typing import NamedTuple

from vacl_tf.testing import commands
from vacl_tf.testing.stress import checks
from vacl_tf.testing.stress import compare
from vacl_tf.testing.stress import runs

PART = 'kills'
NUM_KILLS = 52  # For each kind of world.

_KILLED = 'vacl_tf.testing.stress.killed'
_CHAIN = 6  # Kills of a run before it may end.
_AT_A_TIME = 2
_POLL_SECONDS = 0.001
# Files whose changes can trigger a kill. TensorFlow writes most of them, and
# Python does not see its operations.
_WATCHED = (
  'checkpoints/ckpt-*_temp*/*',
  'checkpoints/*.data*',
  'checkpoints/*.index',
  'checkpoints/checkpoint*',
  '*.new*',
  '*.new*/**/*',
  'metrics.csv',
  'curriculum*',
  'events/*',
  'saved_model/**/*',
)


class Moment(NamedTuple):
  """When to kill.

  Attributes:
    operation: kill before this file operation of Python in the folder; 0 for
      none.
    watched: kill after files of this pattern have changed `times` times.
    times: see `watched`.
    seconds: kill this many seconds after the start.
  """

  operation: int = 0
  watched: str = ''
  times: int = 0
  seconds: float = 0.0

  def __str__(self) -> str:
    if self.operation:
      return f'operation {self.operation}'
    if self.watched:
      return f'change {self.times} of {self.watched}'
    return f'{self.seconds:.2f} s'


def moments(seed: int, operations: int, seconds: float) -> list[Moment]:
  """Returns moments in the order of the kills, a third of each kind."""
  draw = random.Random(seed)
  sorts = itertools.cycle(range(3))
  watched = itertools.cycle(_WATCHED)
  found = []
  for sort in itertools.islice(sorts, 4 * NUM_KILLS):
    if sort == 0:
      found.append(Moment(operation=draw.randint(1, operations)))
    elif sort == 1:
      found.append(Moment(watched=next(watched), times=draw.randint(1, 4)))
    else:
      found.append(Moment(seconds=draw.uniform(0.5, seconds)))
  return found


class Watch:
  """Counts changes of files."""

  def __init__(self, folder: pathlib.Path, pattern: str) -> None:
    self._folder, self._pattern = folder, pattern
    self.changes = 0
    self._seen = self._look()

  def _look(self) -> dict[str, tuple[int, int]]:
    found = {}
    try:
      for path in self._folder.glob(self._pattern):
        status = path.stat()
        found[str(path)] = (status.st_size, status.st_mtime_ns)
    except OSError:
      return self._seen  # A file disappeared in the meantime.
    return found

  def poll(self) -> int:
    """Returns the number of changes so far."""
    now = self._look()
    self.changes += any(now[path] != self._seen.get(path) for path in now)
    self._seen = now
    return self.changes


def _start(
  kind: runs.Kind, path: pathlib.Path, work: pathlib.Path, operation: int
) -> runs.Child:
  arguments = (*kind.flags(), f'--run_dir={path}')
  words = runs.command(
    _KILLED, str(operation), str(path), runs.MAIN, *arguments
  )
  return runs.Child(words, work)


def killed(
  kind: runs.Kind, path: pathlib.Path, work: pathlib.Path, moment: Moment
) -> commands.Ended:
  """Starts a run, kills it at a moment and returns how it ended."""
  watch = Watch(path, moment.watched) if moment.watched else None
  child = _start(kind, path, work, moment.operation)
  began = time.monotonic()
  while child.process.poll() is None:
    past = time.monotonic() - began
    is_due = past > runs.SECONDS or 0 < moment.seconds < past
    if is_due or (watch and watch.poll() >= moment.times):
      child.process.kill()
      break
    time.sleep(_POLL_SECONDS)
  return child.wait()


def _chain(
  kind: runs.Kind,
  path: pathlib.Path,
  work: pathlib.Path,
  ahead: list[Moment],
) -> list[checks.Check]:
  """Kills a run again and again, lets it finish, and compares it."""
  found, told = [], []
  problem = ''
  for moment in ahead:
    ended = killed(kind, path, work, moment)
    if ended.code != -signal.SIGKILL:
      problem = checks.complaint(ended, [0])
      break  # The run ended before that moment.
    told.append(str(moment))
    case = f'{path.name}: {moment}'
    found.append(checks.Check(PART, f'{kind.env}: kills', case))
  else:
    problem = checks.complaint(_start(kind, path, work, 0).wait(), [0])
  case = f'{path.name}: {", ".join(told)}'
  unlike = compare.differences(path, runs.whole(kind, work))
  problem = '; '.join(filter(None, [problem, *unlike[:5]]))
  end = checks.Check(
    PART, f'{kind.env}: runs resumed to the end', case, problem
  )
  return [*found, end] if told or problem else []


def play(work: pathlib.Path) -> list[checks.Check]:
  """Kills runs of both kinds of worlds."""
  found = []
  for index, kind in enumerate(runs.KINDS):
    runs.whole(kind, work)
    counted = work / f'counted_{kind.env}'
    began = time.monotonic()
    problem = checks.complaint(_start(kind, counted, work, 0).wait(), [0])
    seconds = time.monotonic() - began
    unlike = compare.differences(counted, runs.whole(kind, work))
    problem = '; '.join(filter(None, [problem, *unlike[:5]]))
    case = 'twice the same without a kill'
    found.append(checks.Check(PART, f'{kind.env}: control', case, problem))
    operations = int(pathlib.Path(f'{counted}.operations').read_text())
    ahead = moments(index, operations // 2, seconds)
    found += _killed_enough(kind, work, ahead)
  return found


def _killed_enough(
  kind: runs.Kind, work: pathlib.Path, ahead: list[Moment]
) -> list[checks.Check]:
  """Kills runs, several at a time, until there were enough kills."""
  found, number = [], 0
  group = f'{kind.env}: kills'
  with futures.ThreadPoolExecutor(_AT_A_TIME) as pool:
    while sum(x.group == group for x in found) < NUM_KILLS and ahead:
      chains = []
      for _ in range(_AT_A_TIME):
        number += 1
        path = work / f'killed_{kind.env}_{number}'
        mine, ahead = ahead[:_CHAIN], ahead[_CHAIN:]
        chains.append(pool.submit(_chain, kind, path, work, mine))
      for chain in chains:
        found += chain.result()
  number = sum(x.group == group for x in found)
  if number < NUM_KILLS:
    problem = f'{number} kills instead of {NUM_KILLS}: runs ended before them'
    found.append(checks.Check(PART, group, 'enough of them', problem))
  return found
