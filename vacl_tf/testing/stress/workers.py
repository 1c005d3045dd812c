# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tries cases in other processes, which may hang or crash."""

import multiprocessing
import os
import queue
from collections.abc import Callable, Sequence
from concurrent import futures
from multiprocessing import connection
from typing import Any

Try = Callable[[Any], str]  # Returns what is wrong with a case, '' if nothing.

_AT_A_TIME = 2
_CASES_OF_A_PROCESS = 40  # Ending it frees the memory of compiled programs.
_START_SECONDS = 120.0  # The process imports TensorFlow.


def _serve(pipe: connection.Connection, try_: Try) -> None:
  pipe.send(None)  # Imports are done.
  while True:
    try:
      case = pipe.recv()
    except EOFError:
      return
    try:
      problem = try_(case)
    except BaseException as error:  # The parent must hear of it.
      problem = f'raises {type(error).__name__}: {error}'
    pipe.send(problem)


class _Worker:
  """A process that tries one case after another."""

  def __init__(self, try_: Try, seconds: float) -> None:
    self._try, self._seconds = try_, seconds
    self._process = None
    self._left = 0

  def problem(self, case: Any) -> str:
    """Returns what is wrong with a case."""
    try:
      if not self._left:
        self._begin()
      self._left -= 1
      self._pipe.send(case)
      if self._pipe.poll(self._seconds):
        return self._pipe.recv()
      found = f'hangs: no end after {self._seconds:.0f} s'
    except (EOFError, OSError):
      self._process.join()
      found = f'crashes: the process ended with {self._process.exitcode}'
    self.end()
    return found

  def _begin(self) -> None:
    self.end()
    # A spawned process does not inherit programs that were compiled here.
    context = multiprocessing.get_context('spawn')
    self._pipe, theirs = context.Pipe()
    self._process = context.Process(
      target=_serve, args=(theirs, self._try), daemon=True
    )
    self._process.start()
    theirs.close()
    if self._pipe.poll(_START_SECONDS):
      self._pipe.recv()
    self._left = _CASES_OF_A_PROCESS

  def end(self) -> None:
    """Ends the process."""
    self._left = 0
    if self._process is not None:
      self._pipe.close()
      self._process.kill()
      self._process.join()
      self._process = None


def problems(
  try_: Try, cases: Sequence[Any], seconds: float, at_a_time: int = _AT_A_TIME
) -> list[str]:
  """Returns what is wrong with each case, in the order of the cases.

  Args:
    try_: function of a module; each process imports the module.
    cases: arguments of `try_`, which are pickled.
    seconds: time limit of a case.
    at_a_time: number of processes.
  """
  found = [''] * len(cases)
  waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
  for index in range(len(cases)):
    waiting.put(index)

  def work() -> None:
    worker = _Worker(try_, seconds)
    try:
      while True:
        index = waiting.get_nowait()
        found[index] = worker.problem(cases[index])
    except queue.Empty:
      worker.end()

  os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'  # The children inherit it.
  with futures.ThreadPoolExecutor(at_a_time) as pool:
    for done in [pool.submit(work) for _ in range(at_a_time)]:
      done.result()
  return found
