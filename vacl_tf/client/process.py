# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The process of a curriculum, as seen from the trainer's process."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, NoReturn

import numpy as np

from vacl_tf import reading
from vacl_tf.client import wire

_PATIENCE = 5.0  # Seconds that the process has to end by itself.
# Lines of TensorFlow to ignore, for example about a GPU.
_LOGGED = re.compile(r'[IWE]\d{4} |WARNING: ')
_MODULE = 'vacl_tf.launch.curriculum_server'
# The arguments are more paths to import from, after the interpreter's own:
# vacl_tf need not be installed where TensorFlow is.
_PROGRAM = (
  'import importlib, sys; sys.path += sys.argv[1:]; '
  f'importlib.import_module({_MODULE!r}).main()'
)

Arrays = dict[str, np.ndarray]


class StoppedError(RuntimeError):
  """The process of a curriculum can't be used; the message is one line."""


class Process:
  """Exchanges messages with a process, one exchange at a time."""

  def __init__(
    self,
    python: str | os.PathLike | None,
    answer: Callable[[np.ndarray], np.ndarray] | None,
  ) -> None:
    """Starts the process.

    Args:
      python: interpreter of the process, None for this one.
      answer: answers its question: which entities of tasks [k, D] are legal.

    Raises:
      StoppedError: there is no such interpreter.
    """
    self._answer = answer
    self._is_asked = False  # While a user's function runs.
    self._failure: BaseException | None = None  # What that raised.
    self._lock = threading.RLock()
    self._is_busy = False
    self._why = ''  # Why it can't be used.
    self._owner = os.getpid()
    self._printed = tempfile.TemporaryFile()
    self._popen = _start(python, self._printed)
    self._finish = weakref.finalize(
      self, _stop, self._popen, self._printed, self._owner
    )

  def exchange(
    self, header: Mapping[str, Any], arrays: Arrays | None = None
  ) -> tuple[dict[str, Any], Arrays]:
    """Returns the answer to a request.

    Ctrl-C takes effect after the answer, so that the next request can follow;
    a second Ctrl-C before the answer stops the process.

    Raises:
      StoppedError: the process has ended.
      ValueError: the process refuses the request, and says why.
    """
    if os.getpid() != self._owner:
      raise StoppedError(
        f'the curriculum belongs to process {self._owner}, which made it; use '
        'it there, or make another one here'
      )
    with self._lock:
      if self._is_busy:
        raise StoppedError(
          'the curriculum is waiting for feasible to return; do not use it '
          'inside feasible'
        )
      if self._why:
        raise StoppedError(self._why)
      self._is_busy, self._failure = True, None
      try:
        with self._after_exchange():
          reply, found = self._exchange(header, arrays or {})
      finally:
        self._is_busy = False
    if self._failure is not None:
      raise self._failure
    if 'error' in reply:
      raise ValueError(reply['error'])
    return reply, found

  def close(self) -> None:
    """Ends the process; further calls do nothing."""
    self._why = self._why or 'the curriculum is closed; make or load another'
    self._finish()

  def _exchange(
    self, header: Mapping[str, Any], arrays: Arrays
  ) -> tuple[dict[str, Any], Arrays]:
    try:
      wire.write(self._popen.stdin, header, arrays)
      reply, found = wire.read(self._popen.stdout)
      while 'ask' in reply:
        wire.write(self._popen.stdin, *self._told(found['tasks']))
        reply, found = wire.read(self._popen.stdout)
      return reply, found
    except (OSError, wire.ClosedError, wire.GarbledError) as error:
      self._give_up(error)
    except BaseException as error:
      # Half a message may have been sent, so nothing more can be understood.
      self._why = (
        'the curriculum was interrupted during a request by '
        f'{type(error).__name__}; load a saved one'
      )
      self._popen.kill()
      raise

  def _told(self, tasks: np.ndarray) -> tuple[dict[str, Any], Arrays]:
    """Returns the message that says which entities of tasks are legal."""
    try:
      self._is_asked = True
      legal = self._answer(tasks)
      self._is_asked = False
    except BaseException as error:  # Also Ctrl-C; raised after the answer.
      self._is_asked = False
      self._failure = self._failure or error
      return {'failed': type(error).__name__}, {}
    return {}, {'legal': legal}

  @contextlib.contextmanager
  def _after_exchange(self) -> Iterator[None]:
    """Delays Ctrl-C until the exchange ends, except in users' functions."""
    is_main = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if is_main else None
    if not callable(before):  # Ctrl-C raises nothing here.
      yield
      return
    heard: list[tuple[int, types.FrameType | None]] = []

    def note(number: int, frame: types.FrameType | None) -> None:
      heard.append((number, frame))
      if self._is_asked or len(heard) > 1:
        before(number, heard.pop()[1])

    signal.signal(signal.SIGINT, note)
    try:
      yield
    finally:
      signal.signal(signal.SIGINT, before)
    if heard:
      before(*heard[0])

  def _give_up(self, error: Exception) -> NoReturn:
    """Raises StoppedError, with the last line that the process printed."""
    if isinstance(error, wire.GarbledError):
      self._popen.kill()
    with contextlib.suppress(OSError):
      self._popen.stdin.close()
    try:
      code = self._popen.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
      self._popen.kill()
      code = self._popen.wait()
    how = f'signal {-code}' if code < 0 else f'exit code {code}'
    said = _last_line(self._printed)
    self._why = (
      f'the process of the curriculum has ended ({how}'
      + (f': {said}' if said else '')
      + '); load a saved one, or make another'
    )
    raise StoppedError(self._why) from error


def _start(
  python: str | os.PathLike | None, printed: BinaryIO
) -> subprocess.Popen:
  ours = str(pathlib.Path(__file__).resolve().parents[2])  # Holds vacl_tf.
  paths = [x for x in sys.path if x] if python is None else [ours]
  command = [python or sys.executable, '-P', '-c', _PROGRAM, *paths]
  # GPUs are left to the trainer.
  environment = {'TF_CPP_MIN_LOG_LEVEL': '3', **os.environ}
  environment['CUDA_VISIBLE_DEVICES'] = '-1'
  try:
    return subprocess.Popen(
      [os.fspath(x) for x in command],
      stdin=subprocess.PIPE,
      stdout=subprocess.PIPE,
      stderr=printed,
      env=environment,
      start_new_session=True,  # Ctrl-C in a terminal is for the trainer.
    )
  except OSError as error:
    raise StoppedError(
      f'python={os.fspath(command[0])!r} cannot be run '
      f'({reading.reason(error)}); give the path of an interpreter'
    ) from error


def _stop(popen: subprocess.Popen, printed: BinaryIO, owner: int) -> None:
  """Closes the streams; ends the process if called in its owner."""
  with contextlib.suppress(OSError):
    popen.stdin.close()
  popen.stdout.close()
  printed.close()
  if os.getpid() != owner:
    return
  try:
    popen.wait(_PATIENCE)
  except subprocess.TimeoutExpired:
    popen.kill()
    popen.wait()


def _last_line(printed: BinaryIO) -> str:
  """Returns the last line of the printed text that is not to be ignored."""
  said = [x for x in reading.last_lines(printed) if not _LOGGED.match(x)]
  return reading.one_line(said[-1]) if said else ''
