# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs a module and kills it at a chosen file operation of its own.

python -m vacl_tf.testing.stress.killed K FOLDER MODULE ARGUMENTS... kills the
process, as the kernel would, before its K-th operation that changes FOLDER.
With K = 0 the process lives, and the file FOLDER.operations receives the number
of operations.
"""

import atexit
import os
import pathlib
import runpy
import signal
import sys
from collections.abc import Callable
from typing import Any

# Audit events, which Python raises before it does what they name.
_EVENTS = (
  'os.link',
  'os.mkdir',
  'os.remove',
  'os.rename',
  'os.rmdir',
  'os.truncate',
  'shutil.rmtree',
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Counter:
  """Counts operations in a folder and calls `strike` at one of them."""

  def __init__(
    self, folder: str, number: int, strike: Callable[[], None]
  ) -> None:
    self.count = 0
    self._folder = os.path.abspath(folder)
    self._number = number
    self._strike = strike

  def note(self, event: str, arguments: tuple[Any, ...]) -> None:
    """Counts an audit event if it changes the folder."""
    if event == 'open':
      path, _, flags = arguments
      is_ours = bool((flags or 0) & _WRITES) and self._is_inside(path)
    else:
      is_ours = event in _EVENTS and self._is_inside(arguments[0])
    if is_ours:
      self.tick()

  def tick(self) -> None:
    """Counts an operation."""
    self.count += 1
    if self.count == self._number:
      self._strike()

  def _is_inside(self, path: Any) -> bool:
    if not isinstance(path, str | bytes | os.PathLike):
      return False  # A descriptor: the file is already open.
    path = os.path.abspath(os.fsdecode(path))
    return path == self._folder or path.startswith(self._folder + os.sep)


def _kill() -> None:
  os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
  """Runs the module."""
  number, folder, module, *arguments = sys.argv[1:]
  counter = Counter(folder, int(number), _kill)
  if not int(number):
    count = pathlib.Path(f'{folder}.operations')
    atexit.register(lambda: count.write_text(str(counter.count)))
  sys.addaudithook(counter.note)
  sync = os.fsync

  def counted(descriptor: Any) -> None:
    counter.tick()
    sync(descriptor)

  os.fsync = counted  # It raises no audit event.
  sys.argv = [module, *arguments]
  runpy.run_module(module, run_name='__main__', alter_sys=True)


if __name__ == '__main__':
  main()
