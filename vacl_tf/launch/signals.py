# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The signals that ask a process to end.

A separate thread receives them. Python's own handlers would run only when the
main thread returns from C++, where it imports and compiles for half a minute.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

_NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP)
_SHOW_CURSOR = b'\x1b[?25h'  # A live table may have hidden it.


class Asked:
  """The signals by which a process was asked to end.

  Attributes:
    number: number of the first signal, 0 if there was none.
    times: how many signals there were.
    patience: how many signals are only noted; the next one ends the process.
  """

  def __init__(self, patience: int = 0) -> None:
    self.number = 0
    self.times = 0
    self.patience = patience
    self._writing = threading.RLock()

  def whole(self, write: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function like `write` that no signal interrupts."""

    def locked(*arguments: Any) -> Any:
      with self._writing:
        return write(*arguments)

    return locked

  def _hear(self, number: int, errors: int) -> None:
    self.number = self.number or number
    self.times += 1
    if self.times > self.patience:
      with self._writing:
        _leave(number, errors)


class _Ear:
  """Receives signals until it is closed.

  Attributes:
    asked: notes the signals.
  """

  def __init__(self, asked: Asked) -> None:
    self.asked = asked
    # For messages, even if standard error is replaced meanwhile.
    self._errors = os.dup(2)
    end, self._end = os.pipe()
    os.set_blocking(self._end, False)
    self._end_before = signal.set_wakeup_fd(
      self._end, warn_on_full_buffer=False
    )
    self._before = {x: signal.signal(x, _ignore) for x in _heard()}
    threading.Thread(target=self._listen, args=(end,), daemon=True).start()

  def _listen(self, end: int) -> None:
    with open(end, 'rb', buffering=0) as signals:
      while number := signals.read(1):
        # Python reports all signals with a handler, including a timer's.
        if number[0] in self._before:
          self.asked._hear(number[0], self._errors)
        elif self._end_before >= 0:  # An event loop may wait for it.
          with contextlib.suppress(OSError):
            os.write(self._end_before, number)
    os.close(self._errors)

  def close(self) -> None:
    """Restores the earlier signal handlers."""
    for number, handler in self._before.items():
      signal.signal(number, handler)
    signal.set_wakeup_fd(self._end_before)
    os.close(self._end)


_ears: list[_Ear] = []  # At most one: signals concern the whole process.


def listen() -> None:
  """Makes signals end the process at once, with a one-line message."""
  if not _ears:
    _ears.append(_Ear(Asked()))


@contextlib.contextmanager
def noted(patience: int = 0) -> Iterator[Asked]:
  """Notes the signals that arrive within this context.

  Args:
    patience: see `Asked`; it may be changed later.

  Yields:
    The signals so far.
  """
  asked = Asked(patience)
  if _ears:
    [ear] = _ears
    before, ear.asked = ear.asked, asked
    try:
      yield asked
    finally:
      ear.asked = before
  else:
    with contextlib.closing(_Ear(asked)) as ear:
      _ears.append(ear)
      try:
        yield asked
      finally:
        _ears.remove(ear)


def _heard() -> Iterator[signal.Signals]:
  for number in _NUMBERS:
    # A hangup may be ignored on purpose: that is what nohup does.
    is_ignored = signal.getsignal(number) == signal.SIG_IGN
    if not (number == signal.SIGHUP and is_ignored):
      yield number


def _ignore(number: int, frame: Any) -> None:
  """Does nothing in Python's handler; the thread acts on the signal."""


def _leave(number: int, errors: int) -> None:
  with contextlib.suppress(OSError):
    if os.isatty(1):
      os.write(1, _SHOW_CURSOR)
    name = signal.Signals(number).name
    os.write(errors, f'error: stopped by {name}\n'.encode())
  os._exit(128 + number)
