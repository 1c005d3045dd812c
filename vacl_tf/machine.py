# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The resources of the machine that this process may use."""

import os
import pathlib
import platform
import sys

MANY_THREADS = 4096  # More than any machine has.
# Fields of /proc/cpuinfo on x86, then on ARM.
_MODEL = ('cpu family', 'model', 'stepping', 'CPU implementer', 'CPU part')
_most_threads = MANY_THREADS


def cpus() -> list[int]:
  """Returns the CPUs that this process may use."""
  if hasattr(os, 'sched_getaffinity'):  # Not on all systems.
    return sorted(os.sched_getaffinity(0))
  return list(range(os.cpu_count() or 1))


def threads() -> int:
  """Returns how many threads this process may compute with."""
  return min(len(cpus()), _most_threads)


def bound_threads(most: int) -> None:
  """Limits the number of threads that this process may compute with."""
  global _most_threads
  _most_threads = most


def processor() -> str:
  """Returns the model of the CPU, as far as the system reports it.

  Model numbers are included, because virtual machines give many models the same
  name.
  """
  about = _cpu()
  name = about.get('model name') or platform.processor()
  numbers = [f'{x} {about[x]}' for x in _MODEL if x in about]
  return ', '.join(filter(None, [name, *numbers]))


def instruction_sets() -> str:
  """Returns the extensions that the CPU supports; '' if not reported."""
  about = _cpu()
  return about.get('flags') or about.get('Features', '')


def _cpu() -> dict[str, str]:
  """Returns what the system reports about the first CPU."""
  info = pathlib.Path('/proc/cpuinfo')
  if not info.exists():
    return {}
  parts = (x.partition(':') for x in info.read_text().splitlines())
  found: dict[str, str] = {}
  for name, _, value in parts:
    found.setdefault(name.strip(), value.strip())
  return found


def peak_memory_mb() -> int | None:
  """Returns the peak memory of this process in MB; None if not reported."""
  try:
    import resource
  except ImportError:  # Windows.
    return None
  peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
  # macOS counts bytes, Linux kilobytes.
  return round(peak / (2**20 if sys.platform == 'darwin' else 2**10))
