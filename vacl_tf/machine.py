# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What this process may use of its machine."""

import os
import pathlib
import platform
import sys

MANY_THREADS = 4096  # More than any machine has.
_most_threads = MANY_THREADS


def cpus() -> list[int]:
  """Returns the CPUs that this process may use."""
  if hasattr(os, 'sched_getaffinity'):  # Not everywhere.
    return sorted(os.sched_getaffinity(0))
  return list(range(os.cpu_count() or 1))


def threads() -> int:
  """Returns how many threads this process may compute with."""
  return min(len(cpus()), _most_threads)


def bound_threads(most: int) -> None:
  """Sets how many threads this process may compute with, CPUs permitting."""
  global _most_threads
  _most_threads = most


def processor() -> str:
  """Returns the model of the CPU, as far as the system tells."""
  info = pathlib.Path('/proc/cpuinfo')
  if info.exists():
    lines = info.read_text().splitlines()
    names = [x.split(':', 1)[1] for x in lines if x.startswith('model name')]
    if names:
      return names[0].strip()
  return platform.processor()


def peak_memory_mb() -> int | None:
  """Returns the most memory that this process had, None if nothing tells."""
  try:
    import resource
  except ImportError:  # Windows.
    return None
  peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
  # macOS counts bytes, Linux kilobytes.
  return round(peak / (2**20 if sys.platform == 'darwin' else 2**10))
