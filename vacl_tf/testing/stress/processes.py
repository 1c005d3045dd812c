# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Code shared by the parts that disturb a process while it runs."""

import pathlib
import time
from collections.abc import Callable, Sequence
from concurrent import futures
from typing import NamedTuple

from vacl_tf.testing import commands
from vacl_tf.testing.stress import checks
from vacl_tf.testing.stress import compare
from vacl_tf.testing.stress import runs

KIND = runs.PARTICLE
_AT_A_TIME = 2
_POLL_SECONDS = 0.005


class Case(NamedTuple):
  """One thing to try.

  Attributes:
    group: line of the table that counts the case.
    name: name of the case.
    find: tries the case; returns what is wrong, or '' if nothing is.
  """

  group: str
  name: str
  find: Callable[[], str]


def wait_until(is_so: Callable[[], bool], child: runs.Child) -> bool:
  """Waits for a condition or the end of a process; returns the condition."""
  began = time.monotonic()
  while child.process.poll() is None:
    if is_so():
      return True
    if time.monotonic() - began > runs.SECONDS:
      break
    time.sleep(_POLL_SECONDS)
  return is_so()


def has_row(run_dir: pathlib.Path) -> bool:
  """Returns whether a run has finished an iteration."""
  path = run_dir / 'metrics.csv'
  return path.exists() and path.read_bytes().count(b'\n') > 1


def resumed(run_dir: pathlib.Path, work: pathlib.Path) -> list[str]:
  """Resumes a run; returns its differences from an undisturbed run."""
  ended = runs.train(KIND, run_dir, work).wait()
  if problem := checks.complaint(ended, (0,)):
    return [f'the same command again: {problem}']
  return compare.differences(run_dir, runs.whole(KIND, work))


def end(child: runs.Child) -> commands.Ended:
  """Kills a process of ours that still runs; returns how it ended."""
  if child.process.poll() is None:
    child.process.kill()
  return child.wait()


def told(*found: str) -> str:
  """Returns problems as one line."""
  return '; '.join(filter(None, found))[:1000]


def tried(
  part: str, cases: Sequence[Case], at_a_time: int = _AT_A_TIME
) -> list[checks.Check]:
  """Returns what the cases found, in the order of the cases."""
  with futures.ThreadPoolExecutor(at_a_time) as pool:
    found = list(pool.map(lambda case: case.find(), cases))
  return [
    checks.Check(part, case.group, case.name, problem)
    for case, problem in zip(cases, found, strict=True)
  ]
