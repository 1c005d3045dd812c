# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Whether this machine has the memory that training takes."""

import math
import pathlib
from collections.abc import Iterator, Mapping

from vacl_tf.launch import command_line

_ROOT = pathlib.Path('/')
# Of a group of processes, by version of control groups: where it lies, its
# limit, what is used and, of memory.stat, what of that can be had back.
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
  """Refuses what takes more memory than there is.

  Args:
    needed: bytes, by the fields that would lower them.

  Raises:
    UsageError: there is less.
  """
  total, free = sum(needed.values()), available()
  if total > free:
    fields = max(needed, key=needed.get)
    raise command_line.UsageError(
      f'training would take about {total / 2**30:.1f} GiB of memory, and '
      f'{free / 2**30:.1f} GiB are free; lower {fields}'
    )


def available(root: pathlib.Path = _ROOT) -> float:
  """Returns the bytes that a process may still take, infinity if unknown.

  Args:
    root: below which Linux tells about itself.
  """
  return min(_of_machine(root), *_of_groups(root), math.inf)


def _of_machine(root: pathlib.Path) -> float:
  for line in _read(root / 'proc/meminfo').splitlines():
    name, _, rest = line.partition(':')
    if name == 'MemAvailable':
      return 1024.0 * int(rest.split()[0])
  return math.inf


def _of_groups(root: pathlib.Path) -> Iterator[float]:
  """Yields what is left to the groups that this process belongs to."""
  for line in _read(root / 'proc/self/cgroup').splitlines():
    path = pathlib.PurePosixPath(line.split(':', 2)[-1].lstrip('/'))
    for folder, limit, used, reusable in _GROUPS:
      for group in (path, *path.parents):  # A container sees its own as '/'.
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
