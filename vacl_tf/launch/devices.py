# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The device and the number of threads that a process computes with."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf
import threadpoolctl
from absl import flags

from vacl_tf import machine
from vacl_tf.launch import command_line
from vacl_tf.launch import flag_kinds

DEVICE = command_line.Flag(
  flags.DEFINE_string,
  'device',
  'auto',
  'Device to compute on: cpu, gpu:0, gpu:1 and so on; auto: a GPU if there is '
  'one, and a GPU each for several replicas on a machine.',
  command_line.MACHINE,
)
THREADS = command_line.Flag(
  flag_kinds.whole,
  'threads',
  None,
  'Largest number of threads that a process computes with. Default: one for '
  'each CPU that it may use.',
  command_line.MACHINE,
  lower_bound=1,
  upper_bound=machine.MANY_THREADS,
)

_GPU = 'gpu:'


def num_gpus() -> int:
  """Returns how many GPUs TensorFlow finds on this machine."""
  return len(_gpus())


@contextlib.contextmanager
def before_first_operation() -> Iterator[None]:
  """Encloses a set-up of TensorFlow, which has to precede all computation.

  Raises:
    UsageError: TensorFlow has computed already.
  """
  try:
    yield
  except RuntimeError as error:
    raise command_line.UsageError(
      'import: a module creates tensors or variables while it is imported, '
      'after which TensorFlow cannot be configured; create them in functions'
    ) from error


def check_unused() -> None:
  """Raises UsageError if TensorFlow has computed already in this command."""
  if not command_line.is_own_process():
    return
  threading = tf.config.threading
  number = threading.get_inter_op_parallelism_threads()
  with before_first_operation():
    threading.set_inter_op_parallelism_threads(number + 1)  # Raises if so.
    threading.set_inter_op_parallelism_threads(number)


def bound_threads() -> None:
  """Limits the threads of this process to --threads.

  This must be called before TensorFlow's first operation.
  """
  if THREADS.value is None or not command_line.is_own_process():
    return
  machine.bound_threads(THREADS.value)
  most = machine.threads()
  with before_first_operation():
    tf.config.threading.set_intra_op_parallelism_threads(most)
    tf.config.threading.set_inter_op_parallelism_threads(most)
  # NumPy is loaded; a library that is loaded later reads the variable.
  threadpoolctl.threadpool_limits(most, user_api='blas')
  os.environ['OPENBLAS_NUM_THREADS'] = str(most)


def use(local_index: int = 0) -> None:
  """Lets this process see the device that --device names, and no other GPU.

  This must be called before TensorFlow's first operation. Memory of a GPU is
  allocated as it is needed.

  Args:
    local_index: number of replicas before this one on the same machine.

  Raises:
    UsageError: the device of --device does not exist.
  """
  gpus = _gpus()
  number = _chosen(DEVICE.value, len(gpus), local_index)
  if not command_line.is_own_process():
    return  # A caller from Python chooses its own devices.
  visible = [] if number is None else [gpus[number]]
  with before_first_operation():
    tf.config.set_visible_devices(visible, 'GPU')
    for gpu in visible:
      tf.config.experimental.set_memory_growth(gpu, True)


def _gpus() -> Sequence[Any]:
  with command_line.quiet_imports():  # The search prints messages.
    return tf.config.list_physical_devices('GPU')


def _chosen(text: str, count: int, local_index: int) -> int | None:
  """Returns the number of the GPU to take, None for the CPU."""
  if text == 'cpu':
    return None
  if text == 'auto':
    return local_index % count if count else None
  number = text.removeprefix(_GPU)
  is_number = number.isascii() and number.isdigit()
  if not (text.startswith(_GPU) and is_number and int(number) < count):
    found = ', '.join(f'{_GPU}{index}' for index in range(count))
    raise command_line.UsageError(
      f'device={text} is not available; give auto'
      + (f', cpu or one of {found}' if found else ' or cpu (no GPU was found)')
    )
  return int(number)
