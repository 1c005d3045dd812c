# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks whether this machine has enough memory for training."""

import math
import pathlib
from collections.abc import Iterator, Mapping

from vacl_tf.launch import command_line

_ROOT = pathlib.Path('/')
# For each version of Linux control groups: their folder, the files with the
# limit and the used memory of a group, and the field of memory.stat that says
# how much of the used memory can be reclaimed.
_GROUPS = (
  ('sys/fs/cgroup', 'memory.max', 'memory.current', 'inactive_file'),
  (
    'sys/fs/cgroup/memory',
    'memory.limit_in_bytes',
    'memory.usage_in_bytes',
    'total_inactive_file',
  ),
)


def check(needed: Mapping[str, float]) -> None:
  """Checks that training does not need more memory than is free.

  Args:
    needed: bytes, by the names of the config fields that would lower them.

  Raises:
    UsageError: less memory is free.
  """
  total, free = sum(needed.values()), available()
  if total > free:
    fields = max(needed, key=needed.get)
    raise command_line.UsageError(
      f'training would take about {total / 2**30:.1f} GiB of memory, but only '
      f'{free / 2**30:.1f} GiB are free; lower {fields}'
    )


def available(root: pathlib.Path = _ROOT) -> float:
  """Returns the bytes that a process may still use, infinity if unknown.

  Args:
    root: folder with the proc and sys file systems of Linux.
  """
  return min(_of_machine(root), *_of_groups(root), math.inf)


def _of_machine(root: pathlib.Path) -> float:
  for line in _read(root / 'proc/meminfo').splitlines():
    name, _, rest = line.partition(':')
    if name == 'MemAvailable':
      return 1024.0 * int(rest.split()[0])
  return math.inf


def _of_groups(root: pathlib.Path) -> Iterator[float]:
  """Yields the bytes left to the control groups of this process."""
  for line in _read(root / 'proc/self/cgroup').splitlines():
    path = pathlib.PurePosixPath(line.split(':', 2)[-1].lstrip('/'))
    for folder, limit, used, reusable in _GROUPS:
      for group in (path, *path.parents):  # In a container its group is '/'.
        here = root / folder / group
        most, taken = _read(here / limit), _read(here / used)
        if most.isdigit() and taken.isdigit():
          stat = dict(
            x.split() for x in _read(here / 'memory.stat').splitlines()
          )
          yield float(int(most) - int(taken) + int(stat.get(reusable, 0)))


def _read(path: pathlib.Path) -> str:
  """Returns the text of a file, '' if there is none."""
  try:
    return path.read_text().strip()
  except OSError:
    return ''
