# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Standard output and error streams to which writing never fails.

A run of hours must not end because of a closed pipe, a full disk, a closed
descriptor or characters that the terminal can't show.
"""

import errno
import io
import os
import select
import sys


class _Raw(io.FileIO):
  """A file descriptor that discards its input from the first error on.

  Attributes:
    error: the first error, None if there was none.
  """

  error: OSError | None = None

  def write(self, data: bytes) -> int:
    try:
      # None: the descriptor is non-blocking, and not ready.
      while (number := super().write(data)) is None:
        select.select([], [self], [])
      return number
    except OSError as error:
      self.error = error
      nowhere = os.open(os.devnull, os.O_WRONLY)
      os.dup2(nowhere, self.fileno())
      os.close(nowhere)
      return len(data)


def guard() -> None:
  """Guards standard output and error; a second call has no effect."""
  if isinstance(_raw(), _Raw):
    return
  closed = _open_missing()
  for name, number in (('stdout', 1), ('stderr', 2)):
    stream = getattr(sys, name) or io.TextIOWrapper(io.BytesIO(), 'utf-8')
    stream.flush()
    raw = _Raw(number, 'w', closefd=False)
    if number in closed:
      raw.error = OSError(errno.EBADF, os.strerror(errno.EBADF))
    guarded = io.TextIOWrapper(
      io.BufferedWriter(raw),
      encoding=stream.encoding,
      errors='backslashreplace',
      line_buffering=stream.line_buffering,
      write_through=stream.write_through,
    )
    setattr(sys, name, guarded)


def _open_missing() -> set[int]:
  """Opens standard descriptors that are closed; returns their numbers.

  Otherwise the next file that is opened would get such a number, and messages
  would be written to it.
  """
  closed = set()
  for number in range(3):
    try:
      os.fstat(number)
    except OSError:
      os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
      closed.add(number)
  return closed


def broken() -> OSError | None:
  """Returns the first error of standard output, None if there was none."""
  sys.stdout.flush()
  return getattr(_raw(), 'error', None)


def _raw() -> io.RawIOBase | None:
  return getattr(getattr(sys.stdout, 'buffer', None), 'raw', None)
