# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Starts or joins the processes that train one run together.

On one machine, the user's command becomes the chief and starts the other
processes, each with its own CPUs and GPU. On several machines, TF_CONFIG or
Slurm tells each process about the others; see `cluster`.
"""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import tensorflow as tf
from absl import flags

from vacl_tf import machine
from vacl_tf import reading
from vacl_tf.launch import cluster
from vacl_tf.launch import command_line
from vacl_tf.launch import devices
from vacl_tf.training import replicas

NUM_REPLICAS = command_line.Flag(
  flags.DEFINE_string,
  'num_replicas',
  'auto',
  'Processes on this machine that train the run together, each with a share '
  'of the worlds; auto: the processes that TF_CONFIG or Slurm name, or else '
  'one for each GPU, or else 1.',
  command_line.MACHINE,
)

_PROGRAM = f'{__package__}.main'
_PARENT = 'VACL_TF_PARENT'  # Id of the process with which a follower ends.
_POLL_SECONDS = 0.5
_LOCAL_SECONDS = 120.0  # For processes on one machine to find each other.
_REMOTE_SECONDS = 300.0
_RESUMES = 'the same command resumes from the last checkpoint'
_PATIENCE_SECONDS = 20.0  # For TensorFlow to report that a replica is lost.
_MOST = 4096  # Processes.


@contextlib.contextmanager
def joined(
  fits: Callable[[int], bool], facts: Callable[[], Mapping[str, Any]]
) -> Iterator[replicas.Replicas]:
  """Starts or joins the processes that the flags and the environment name.

  Call it before TensorFlow's first operation.

  Args:
    fits: returns whether a batch can be divided among a number of processes.
    facts: returns by name what must be equal in all processes, such as
      constants and versions.

  Yields:
    The group of processes, as this process sees it.

  Raises:
    UsageError: the number of processes, or the environment, is not valid.
  """
  try:
    with _joined(fits) as group:
      if group.count > 1 and (differences := group.differences(facts())):
        _end(
          f'the replicas differ in {differences}; start all with the same '
          'command and the same versions',
          command_line.USAGE,
        )
      yield group
  except replicas.LostError as error:
    # At once: a regular exit would let TensorFlow wait for the lost replica.
    _end(f'{error}; {_RESUMES}')


@contextlib.contextmanager
def _joined(fits: Callable[[int], bool]) -> Iterator[replicas.Replicas]:
  is_free = NUM_REPLICAS.value == 'auto'
  if _PARENT in os.environ:
    _end_with(int(os.environ[_PARENT]))
    yield _connected(cluster.named(), _LOCAL_SECONDS)
    threading.Event().wait()  # The chief may need an answer, then ends us.
  elif is_free and (named := cluster.named()) is not None:
    name = f'{named.source} with {len(named.workers)} workers'
    _check_fits(name, len(named.workers), fits)
    yield _connected(named, _REMOTE_SECONDS)
  elif (count := automatic(fits) if is_free else _asked(fits)) == 1:
    devices.use()
    yield replicas.ALONE
  else:
    with _followers(count) as here:
      yield _connected(here, _LOCAL_SECONDS)


def automatic(fits: Callable[[int], bool]) -> int:
  """Returns the largest number of processes with a GPU each, at least one.

  Processes that share the CPUs of a machine were no faster than one; see
  "Clusters and GPUs" in docs/clusters.md.
  """
  count = devices.num_gpus() if devices.DEVICE.value == 'auto' else 0
  return max(filter(fits, range(1, count + 1)), default=1)


def _asked(fits: Callable[[int], bool]) -> int:
  text = NUM_REPLICAS.value
  if not (text.isascii() and text.isdigit() and int(text)):
    raise command_line.UsageError(
      f'num_replicas={text} is not a number of processes; give auto, or 1 or '
      'more'
    )
  count = int(text)
  _check_fits(f'num_replicas={text}', count, fits)
  return count


def _check_fits(name: str, count: int, fits: Callable[[int], bool]) -> None:
  if count > _MOST or not fits(count):
    nearest = min(
      filter(fits, range(1, _MOST + 1)), key=lambda x: abs(x - count)
    )
    raise command_line.UsageError(
      f'{name} does not divide the number of tasks of an iteration; the '
      f'nearest number that does is {nearest}'
    )


def _connected(here: cluster.Cluster, seconds: float) -> replicas.Replicas:
  """Connects to the other processes; ends this one if that fails."""

  def give_up() -> None:
    _end(
      'the other processes of the run could not be reached within '
      f'{seconds:.0f} s; start all of {", ".join(here.workers)}'
    )

  devices.use(here.local_index)
  # Signals end the process at once: Python's handlers would run only after the
  # wait, and there is nothing to save yet.
  asked = (signal.SIGINT, signal.SIGTERM)
  handlers = {x: signal.signal(x, signal.SIG_DFL) for x in asked}
  timer = threading.Timer(seconds, give_up)
  timer.daemon = True
  timer.start()
  try:
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
      tf.train.ClusterSpec({'worker': here.workers}),
      task_type='worker',
      task_id=here.index,
      rpc_layer='grpc',
    )
    with devices.before_first_operation():
      strategy = tf.distribute.MultiWorkerMirroredStrategy(resolver)
    return replicas.distributed(strategy)
  except tf.errors.OpError as error:
    reason = error.message.partition('\n')[0]
    _end(f'{here.workers[here.index]} cannot be used: {reason}')
  finally:
    timer.cancel()
    for number, handler in handlers.items():  # TensorFlow has changed some.
      signal.signal(number, handler)


@contextlib.contextmanager
def _followers(count: int) -> Iterator[cluster.Cluster]:
  """Starts the other processes on this machine; they end with this one."""
  workers = tuple(_free_addresses(count))
  here = [cluster.Cluster('', workers, index) for index in range(count)]
  shares = [machine.cpus()[index::count] for index in range(count)]

  def environment(index: int) -> dict[str, str]:
    return {
      **os.environ,
      cluster.VARIABLE: here[index].text,
      _PARENT: str(os.getpid()),
      'PYTHONPATH': os.pathsep.join(filter(None, sys.path)),
    }

  command = [sys.executable, '-m', _PROGRAM]
  children = []
  for index in range(1, count):
    with _pinned(shares[index]):
      children.append(_Child([*command, *sys.argv[1:]], environment(index)))
  watch = _Watch(children)
  try:
    with _pinned(shares[0]):
      yield here[0]
  except replicas.LostError as error:
    time.sleep(_POLL_SECONDS)  # Until the watch may know why.
    raise replicas.LostError(watch.failure() or str(error)) from error
  finally:
    watch.close()


class _Child(subprocess.Popen):
  """A child process whose standard error is kept for its parent."""

  def __init__(self, command: list[str], environment: dict[str, str]) -> None:
    self._errors = tempfile.TemporaryFile()
    super().__init__(
      command,
      env=environment,
      stdout=subprocess.DEVNULL,
      stderr=self._errors,
    )

  def last_words(self) -> str:
    """Returns its last line on standard error in brackets, '' if none."""
    said = next(reversed(reading.last_lines(self._errors)), '')
    return f' ({said})' if said else ''


class _Watch:
  """Ends this process when one of its children has failed."""

  def __init__(self, children: Sequence[_Child]) -> None:
    self._children = children
    self._is_over = threading.Event()
    threading.Thread(target=self._look, daemon=True).start()

  def _look(self) -> None:
    # TensorFlow may never tell a replica that it waits for a lost one.
    while not self._is_over.wait(_POLL_SECONDS):
      if failure := self.failure():
        if not self._is_over.wait(_PATIENCE_SECONDS):
          self._stop()
          _end(f'{failure}; {_RESUMES}')

  def failure(self) -> str | None:
    """Returns which child failed and how, None if none did."""
    for index, child in enumerate(self._children, 1):
      if child.poll():
        words = child.last_words()
        return f'replica {index} ended with exit code {child.returncode}{words}'
    return None

  def close(self) -> None:
    """Ends the children, which have nothing to save."""
    self._is_over.set()
    self._stop()

  def _stop(self) -> None:
    for child in self._children:
      if child.poll() is None:
        child.kill()


def _end_with(parent: int) -> None:
  """Ends this process as soon as its parent has ended."""

  def look() -> None:
    while os.getppid() == parent:
      time.sleep(_POLL_SECONDS)
    os._exit(command_line.FAILURE)

  threading.Thread(target=look, daemon=True).start()


def leave(code: int) -> NoReturn:
  """Ends a failed follower at once, so that the chief does not wait for it."""
  sys.stderr.flush()
  os._exit(code)


def _end(message: str, code: int = command_line.FAILURE) -> NoReturn:
  """Ends the process from any thread, even while other threads wait."""
  command_line.fail(message)
  leave(code)


def _free_addresses(count: int) -> list[str]:
  """Returns addresses of this machine with unused ports."""
  with contextlib.ExitStack() as opened:
    sockets = [
      opened.enter_context(socket.create_server(('127.0.0.1', 0)))
      for _ in range(count)
    ]
    return [f'127.0.0.1:{x.getsockname()[1]}' for x in sockets]


@contextlib.contextmanager
def _pinned(share: Sequence[int]) -> Iterator[None]:
  """Pins this thread, and processes that it starts meanwhile, to some CPUs."""
  if not hasattr(os, 'sched_setaffinity') or not share:
    yield
    return
  before = os.sched_getaffinity(0)
  os.sched_setaffinity(0, share)
  try:
    yield
  finally:
    os.sched_setaffinity(0, before)
