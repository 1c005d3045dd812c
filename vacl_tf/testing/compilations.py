# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Counts the programs that XLA compiles, in a separate process.

A separate process is needed because XLA reads its flags only once. A program
that is traced once may still be compiled again for every value of an argument
that XLA must know beforehand, such as the start of a slice.

A test module calls `count` with its own full name in its tests. It also calls
`if_child(steps)` before it runs the tests; `steps` runs in the child process.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

_CHILD = '--count_compilations_in'


def count(module: str) -> list[int]:
  """Returns the number of compiled programs after each step of a module."""
  with tempfile.TemporaryDirectory() as folder:
    flags = os.environ.get('XLA_FLAGS', '')
    flags += f' --xla_dump_to={folder} --xla_dump_hlo_as_text'
    child = subprocess.run(
      [sys.executable, '-m', module, _CHILD, folder],
      check=True,
      capture_output=True,
      text=True,
      env=os.environ | {'XLA_FLAGS': flags},
    )
  return [int(line) for line in child.stdout.split()]


def if_child(steps: Callable[[], Iterable[Any]]) -> None:
  """In the child process, prints the counts after each step, and exits."""
  if sys.argv[1:2] != [_CHILD]:
    return
  folder = pathlib.Path(sys.argv[2])
  for _ in steps():
    print(len(list(folder.glob('*before_optimizations.txt'))))
  sys.exit()
