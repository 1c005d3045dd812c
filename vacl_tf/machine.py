# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What this process may use of its machine."""

import os
import pathlib
import platform


def cpus() -> list[int]:
  """Returns the CPUs that this process may use."""
  if hasattr(os, 'sched_getaffinity'):  # Not everywhere.
    return sorted(os.sched_getaffinity(0))
  return list(range(os.cpu_count() or 1))


def processor() -> str:
  """Returns the model of the CPU, as far as the system tells."""
  info = pathlib.Path('/proc/cpuinfo')
  if info.exists():
    lines = info.read_text().splitlines()
    names = [x.split(':', 1)[1] for x in lines if x.startswith('model name')]
    if names:
      return names[0].strip()
  return platform.processor()
