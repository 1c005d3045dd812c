# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Locks of folders that one process at a time may write to."""

import contextlib
import os
import pathlib
import socket
from collections.abc import Iterator

import filelock


class BusyError(Exception):
  """Somebody else holds a lock; the message says who."""


@contextlib.contextmanager
def hold(path: pathlib.Path, seconds: float = 0.0) -> Iterator[None]:
  """Holds a lock until the end, or until the process is gone.

  Args:
    path: of the lock, in the folder that it is for.
    seconds: to wait for it.

  Raises:
    BusyError: another process holds it.
    OSError: there can't be a lock.
  """
  lock = filelock.FileLock(path, timeout=seconds)
  try:
    lock.acquire()
  except filelock.Timeout as error:
    holder = ' '.join(path.read_text().split()) or 'another process'
    raise BusyError(f'{path.parent} is in the hands of {holder}') from error
  try:
    # Without flock the file itself is the lock, and says whose it is.
    if not isinstance(lock, filelock.SoftFileLock):
      path.write_text(f'process {os.getpid()} on {socket.gethostname()}\n')
    yield
  finally:
    lock.release()
