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
  """Another process holds a lock; the message says which one."""


@contextlib.contextmanager
def hold(path: pathlib.Path, seconds: float = 0.0) -> Iterator[None]:
  """Holds a lock until the block or the process ends.

  Args:
    path: path of the lock file, in the folder that it protects.
    seconds: seconds to wait for the lock.

  Raises:
    BusyError: another process holds the lock.
    OSError: the lock file can't be made.
  """
  lock = filelock.FileLock(path, timeout=seconds)
  try:
    lock.acquire()
  except filelock.Timeout as error:
    holder = ' '.join(path.read_text().split()) or 'another process'
    raise BusyError(f'{path.parent} is in use by {holder}') from error
  try:
    # Without flock, the lock is a SoftFileLock, which writes its own holder.
    if not isinstance(lock, filelock.SoftFileLock):
      path.write_text(f'process {os.getpid()} on {socket.gethostname()}\n')
    yield
  finally:
    lock.release()
