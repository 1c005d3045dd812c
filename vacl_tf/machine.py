# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What this process may use of its machine."""

import os
import pathlib
import platform
import sys

MANY_THREADS = 4096  # More than any machine has.
# Of x86, then of ARM.
_MODEL = ('cpu family', 'model', 'stepping', 'CPU implementer', 'CPU part')
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
  """Returns the model of the CPU, as far as the system tells.

  With its numbers: virtual machines call many models by the same name.
  """
  about = _cpu()
  name = about.get('model name') or platform.processor()
  numbers = [f'{x} {about[x]}' for x in _MODEL if x in about]
  return ', '.join(filter(None, [name, *numbers]))


def instruction_sets() -> str:
  """Returns what the CPU adds to its architecture, '' if nothing tells."""
  about = _cpu()
  return about.get('flags') or about.get('Features', '')


def _cpu() -> dict[str, str]:
  """Returns what the system tells of the first CPU."""
  info = pathlib.Path('/proc/cpuinfo')
  if not info.exists():
    return {}
  parts = (x.partition(':') for x in info.read_text().splitlines())
  found: dict[str, str] = {}
  for name, _, value in parts:
    found.setdefault(name.strip(), value.strip())
  return found


def peak_memory_mb() -> int | None:
  """Returns the most memory that this process had, None if nothing tells."""
  try:
    import resource
  except ImportError:  # Windows.
    return None
  peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
  # macOS counts bytes, Linux kilobytes.
  return round(peak / (2**20 if sys.platform == 'darwin' else 2**10))
