# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The signals that ask a process to end.

A thread of its own hears them: Python's handlers would wait until the main
thread comes back from C++, where it imports and compiles for half a minute.
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
  """How often a process was asked to end.

  Attributes:
    number: the first signal, 0 before it.
    times: how often.
    patience: so many signals are only noted; the next one ends the process.
  """

  def __init__(self, patience: int = 0) -> None:
    self.number = 0
    self.times = 0
    self.patience = patience
    self._writing = threading.RLock()

  def whole(self, write: Callable[..., Any]) -> Callable[..., Any]:
    """Returns what writes files as `write` does; no signal cuts it short."""

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
  """Hears signals until it is closed.

  Attributes:
    asked: is told of them.
  """

  def __init__(self, asked: Asked) -> None:
    self.asked = asked
    # Where messages go, whatever is done to standard error meanwhile.
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
        # Python tells of all that have a handler, a timer's among them.
        if number[0] in self._before:
          self.asked._hear(number[0], self._errors)
        elif self._end_before >= 0:  # An event loop waits for them there.
          with contextlib.suppress(OSError):
            os.write(self._end_before, number)
    os.close(self._errors)

  def close(self) -> None:
    """Leaves signals to whom they were left before."""
    for number, handler in self._before.items():
      signal.signal(number, handler)
    signal.set_wakeup_fd(self._end_before)
    os.close(self._end)


_ears: list[_Ear] = []  # One at most: signals are the process's.


def listen() -> None:
  """From now on a signal ends the process at once, with a line."""
  if not _ears:
    _ears.append(_Ear(Asked()))


@contextlib.contextmanager
def noted(patience: int = 0) -> Iterator[Asked]:
  """Notes the signals that come meanwhile.

  Args:
    patience: see `Asked`; it may be changed.

  Yields:
    What was heard so far.
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
  """What Python does by itself; the thread does the rest."""


def _leave(number: int, errors: int) -> None:
  with contextlib.suppress(OSError):
    if os.isatty(1):
      os.write(1, _SHOW_CURSOR)
    name = signal.Signals(number).name
    os.write(errors, f'error: stopped by {name}\n'.encode())
  os._exit(128 + number)
