# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Standard output and error that take all, whoever reads them.

A pipe that nobody reads any more, a full disk, a closed descriptor or letters
that a terminal does not know must not end a run of hours.
"""

import errno
import io
import os
import select
import sys


class _Raw(io.FileIO):
  """A descriptor that leads nowhere from its first error on.

  Attributes:
    error: the first one.
  """

  error: OSError | None = None

  def write(self, data: bytes) -> int:
    try:
      # None: it does not block, and is not ready.
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
  """Makes standard output and error such streams; once is enough."""
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
  """Opens the standard descriptors that are closed, and returns which.

  Otherwise the next file that is opened would be one of them, and messages
  would end up in it.
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
  """Returns why standard output could not be written, None if it could."""
  sys.stdout.flush()
  return getattr(_raw(), 'error', None)


def _raw() -> io.RawIOBase | None:
  return getattr(getattr(sys.stdout, 'buffer', None), 'raw', None)
