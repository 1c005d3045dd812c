# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Long tiny runs: memory, threads, handles and speed; and what saving costs."""

import csv
import json
import pathlib
import time
from typing import NamedTuple

import numpy as np

from vacl_tf.testing.stress import checks
from vacl_tf.testing.stress import processes
from vacl_tf.testing.stress import runs

PART = 'soak'
PARTICLE_ITERATIONS = 3000
RAMP_USE_ITERATIONS = 500

_LEFT_OUT = 200  # Iterations in which caches fill.
_MOST_SLOPE = 1.0  # Megabytes in 1000 iterations.
_MOST_MORE = 2  # More threads or handles at the end than after `_LEFT_OUT`.
_MOST_SLOWER = 1.25  # Time of the last third of iterations over the first.
_MOST_SHARE = 0.02  # Share of the time for checkpoints and snapshots.
_POLL_SECONDS = 0.5
_HOURS = 2.0
_COSTS = 'vacl_tf.testing.stress.costs'


class Sample(NamedTuple):
  """The state of a process at one moment."""

  iteration: int
  megabytes: float
  threads: int
  handles: int


def _sample(process: int, metrics: pathlib.Path) -> Sample | None:
  """Returns the current state of a process, or None if it has ended."""
  folder = pathlib.Path(f'/proc/{process}')
  try:
    lines = (folder / 'status').read_text().splitlines()
    said = dict(line.split(':', 1) for line in lines if ':' in line)
    return Sample(
      max(metrics.read_bytes().count(b'\n') - 1, 0) if metrics.exists() else 0,
      int(said['VmRSS'].split()[0]) / 1024,
      int(said['Threads']),
      len(list((folder / 'fd').iterdir())),
    )
  except (OSError, KeyError):
    return None


def slope(samples: list[Sample]) -> float:
  """Returns how many megabytes memory grows in 1000 iterations.

  It is the median of the slopes between pairs that lie half of the run apart,
  so that a single peak does not count.
  """
  half = len(samples) // 2
  pairs = zip(samples[:half], samples[-half:], strict=True)
  return float(
    np.median(
      [
        1000.0
        * (late.megabytes - early.megabytes)
        / max(late.iteration - early.iteration, 1)
        for early, late in pairs
      ]
    )
  )


def judge(samples: list[Sample], stamps: list[float]) -> list[str]:
  """Returns a line for each quantity that grows too much.

  Args:
    samples: samples of the process, in the order of time.
    stamps: seconds at the end of each iteration.
  """
  steady = [x for x in samples if x.iteration >= _LEFT_OUT]
  if len(steady) < 10:
    return [f'only {len(steady)} looks at it after {_LEFT_OUT} iterations']
  found = []
  if (grown := slope(steady)) >= _MOST_SLOPE:
    found.append(f'memory grows by {grown:.2f} MB in 1000 iterations')
  for name in ('threads', 'handles'):
    early, late = (getattr(steady[i], name) for i in (0, -1))
    if late > early + _MOST_MORE:
      found.append(f'{name} grow from {early} to {late}')
  taken = np.diff(stamps)[_LEFT_OUT:]
  third = len(taken) // 3
  slower = np.median(taken[-third:]) / np.median(taken[:third])
  if slower > _MOST_SLOWER:
    found.append(f'iterations take {slower:.2f} times as long at the end')
  return found


def _soaked(
  kind: runs.Kind, iterations: int, work: pathlib.Path
) -> checks.Check:
  """Makes a long run and samples its process meanwhile."""
  path = work / f'soak_{kind.env}'
  flags = (
    *kind.flags(iterations),
    f'--run_dir={path}',
    '--checkpoint_interval=20',
    '--evaluation_interval=10',
  )
  child = runs.Child(runs.command(runs.MAIN, *flags), work)
  samples = []
  began = time.monotonic()
  while child.process.poll() is None:
    if sample := _sample(child.process.pid, path / 'metrics.csv'):
      samples.append(sample)
    if time.monotonic() - began > 3600.0 * _HOURS:
      break
    time.sleep(_POLL_SECONDS)
  problem = checks.complaint(processes.end(child), (0,))
  # Work after the last iteration, such as pictures, takes more resources.
  samples = [x for x in samples if x.iteration < iterations]
  with (path / 'metrics.csv').open(newline='') as file:
    stamps = [float(row['wall_seconds']) for row in csv.DictReader(file)]
  told = [problem] if problem else judge(samples, stamps)
  steady = [x for x in samples if x.iteration >= _LEFT_OUT] or samples
  case = (
    f'{len(stamps)} iterations: {slope(steady):+.2f} MB in 1000, '
    f'{steady[0].megabytes:.0f} to {steady[-1].megabytes:.0f} MB, threads '
    f'{steady[0].threads} to {steady[-1].threads}, handles '
    f'{steady[0].handles} to {steady[-1].handles}'
  )
  return checks.Check(PART, f'{kind.env}: long run', case, '; '.join(told))


def _cost(kind: runs.Kind, work: pathlib.Path) -> checks.Check:
  """Measures what saving costs with the task's default preset."""
  path = work / f'costs_{kind.env}'
  child = runs.Child(runs.command(_COSTS, kind.env, str(path)), work)
  ended = child.wait(4 * runs.SECONDS)
  group = f'{kind.env}: share of saving'
  if problem := checks.complaint(ended, (0,)):
    return checks.Check(PART, group, 'default preset', problem)
  found = json.loads(ended.out.splitlines()[-1])
  problem = ''
  if found['share'] >= _MOST_SHARE:
    problem = f'{100 * found["share"]:.2f} % of the time goes into saving'
  case = ', '.join(f'{name} {x:.4f}' for name, x in found.items())
  return checks.Check(PART, group, case, problem)


def play(work: pathlib.Path) -> list[checks.Check]:
  """Makes long runs, one after the other, and measures what saving costs."""
  return [
    _soaked(runs.PARTICLE, PARTICLE_ITERATIONS, work),
    _soaked(runs.RAMP_USE, RAMP_USE_ITERATIONS, work),
    *(_cost(kind, work) for kind in runs.KINDS),
  ]
