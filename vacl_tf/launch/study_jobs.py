# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Processes that train the runs of a study, then evaluate them."""

import contextlib
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import IO, NamedTuple

from vacl_tf import studies
from vacl_tf.launch import locks
from vacl_tf.launch import study_records
from vacl_tf.training import files

LOCK = '.lock'  # Held by the study; the trainer of a run has its own lock.

# Each job has one core, where several threads would only wait for each other.
_ONE_THREAD = {
  name: '1'
  for name in (
    'OMP_NUM_THREADS',
    'OPENBLAS_NUM_THREADS',
    'TF_NUM_INTEROP_THREADS',
    'TF_NUM_INTRAOP_THREADS',
  )
}
# On the CPU: several jobs could not share a GPU.
_CPU = '--device=cpu'
_ALONE = ('--num_replicas=1', '--threads=1', _CPU)
_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux.
# Exit codes of a trainer that was asked to end, with or without a handler.
_ENDED = (128 + signal.SIGTERM, -signal.SIGTERM)


class Commands(NamedTuple):
  """The commands that train and evaluate, without flags."""

  train: tuple[str, ...] = (sys.executable, '-m', 'vacl_tf.launch.main')
  evaluate: tuple[str, ...] = (sys.executable, '-m', 'vacl_tf.launch.evaluate')

  def importing(self, modules: Iterable[str]) -> 'Commands':
    """Returns commands that first import modules of a user."""
    flags = [f'--import={module}' for module in modules]
    return Commands(*((*command, *flags) for command in self))


class Outcome(NamedTuple):
  """How a job ended.

  Attributes:
    is_complete: whether nothing is left to do for the run.
    error: what went wrong; empty if the job was only asked to stop.
  """

  is_complete: bool
  error: str = ''


def _make_prepare(core: int | None) -> Callable[[], None]:
  """Returns a function that a new process calls before it runs a command."""
  # Loaded here, because little is safe between fork and exec.
  libc = ctypes.CDLL(None) if sys.platform == 'linux' else None

  def prepare() -> None:
    if core is not None and hasattr(os, 'sched_setaffinity'):
      with contextlib.suppress(OSError):  # If it was taken away, any will do.
        os.sched_setaffinity(0, {core})
    if libc is not None:
      # If the study is killed, so is this process: a run has only one writer.
      libc.prctl(_DEATH_SIGNAL, signal.SIGKILL)

  return prepare


class Job:
  """A run that is being trained or evaluated."""

  def __init__(
    self,
    run: studies.Run,
    folder: pathlib.Path,
    core: int | None,
    commands: Commands,
  ) -> None:
    """Starts the run, or resumes it where it was interrupted.

    Args:
      run: the run.
      folder: folder of all runs.
      core: core to use, None for any.
      commands: commands that train and evaluate.

    Raises:
      BusyError: another process works on the run.
      OSError: its folder can't be written to.
    """
    self.run = run
    self.core = core
    self._folder = folder
    self._path = folder / run.name
    self._commands = commands
    self._num_asked = 0  # Number of requests to end early.
    self._is_stopped = False  # By `stop`, with the whole study.
    self._path.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as resources:
      resources.enter_context(locks.hold(self._path / LOCK))
      if self._has_to_end():
        self._evaluate()
      else:
        study_records.note_flags(run, folder)
        self._train()
      self._resources = resources.pop_all()

  def read(self) -> study_records.State:
    """Returns the state of the run."""
    return study_records.read(self.run, self._folder)

  def stop(self, times: int = 1) -> None:
    """Asks the job to end, so that the run can be resumed later.

    Args:
      times: total number of requests that it should have received so far; after
        the second one it does not finish its iteration.
    """
    self._is_stopped = True
    # One signal a call: two at once may arrive as one.
    if self._num_asked < times:
      self._num_asked += 1
      self._process.terminate()

  def step(self) -> Outcome | None:
    """Checks the job; returns how it ended, None while it is at work."""
    try:
      outcome = self._follow()
    except OSError as error:
      # For example a full disk; the other runs continue.
      if self._process.poll() is None:
        return None
      outcome = Outcome(is_complete=False, error=str(error))
    if outcome is not None:
      self._resources.close()
    return outcome

  def _follow(self) -> Outcome | None:
    code = self._process.poll()
    if code is None:
      if self._is_training and not self._num_asked and self._has_to_end():
        self._num_asked = 1
        self._process.terminate()
      return None
    if self._is_training:
      return self._after_training(code)
    return self._after_evaluation(code)

  def _has_to_end(self) -> bool:
    state = self.read()
    return state.is_at_chance and not state.is_trained

  def _after_training(self, code: int) -> Outcome | None:
    state = self.read()
    if code == 1 and state.is_diverged:
      return Outcome(is_complete=True)
    if self._is_stopped:
      return Outcome(is_complete=False)
    if code == 0 or (code in _ENDED and state.is_at_chance):
      self._evaluate()
      return None
    return self._failed('training', code)

  def _after_evaluation(self, code: int) -> Outcome:
    """Keeps a valid result under its final name; returns how the job ended."""
    beside = self._beside()
    if code == 0 and study_records.read_evaluation(beside) is not None:
      beside.replace(self._path / study_records.EVALUATION)
      return Outcome(is_complete=True)
    if self._is_stopped:
      return Outcome(is_complete=False)
    return self._failed('evaluation', code)

  def _failed(self, what: str, code: int) -> Outcome:
    line = study_records.last_log_line(self._path)
    return Outcome(
      is_complete=False,
      error=f'{what} ended with exit code {code}: {line or "no output"} '
      f'({self._path / study_records.LOG})',
    )

  def _beside(self) -> pathlib.Path:
    return self._path / (study_records.EVALUATION + files.NEW)

  def _train(self) -> None:
    self._is_training = True
    with (self._path / study_records.LOG).open('a') as log:
      self._start((*self._commands.train, *self.run.flags, *_ALONE), log, log)

  def _evaluate(self) -> None:
    self._is_training = False
    self._num_asked = 0
    with (
      (self._path / study_records.LOG).open('a') as log,
      self._beside().open('w') as output,
    ):
      command = (*self._commands.evaluate, *studies.EVALUATION_FLAGS, _CPU)
      self._start(command, output, log)

  def _start(
    self, command: Sequence[str], output: IO[str], errors: IO[str]
  ) -> None:
    self._process = subprocess.Popen(
      [*command, f'--run_dir={self._path}'],
      stdin=subprocess.DEVNULL,
      stdout=output,
      stderr=errors,
      env=os.environ | _ONE_THREAD,
      preexec_fn=_make_prepare(self.core),
      # Ctrl-C must reach only the study, which asks each job once.
      start_new_session=True,
    )
