# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The hide-and-seek tasks of the paper on MuJoCo, by name; no TensorFlow."""

import importlib
import importlib.metadata
import inspect
import os
from typing import TYPE_CHECKING, Any

from vacl_tf import overrides

if TYPE_CHECKING:
  from vacl_tf.environments.hide_and_seek import task

NAMES = ('lock_and_return', 'ramp_use')
_LEAST_MUJOCO = 4  # Earlier versions cannot do what `mujoco.batch` does.


def load(name: str, **options: Any) -> 'task.Task':
  """Returns the task called `name`, to be played by `HideAndSeekWorlds`.

  Args:
    name: one of NAMES.
    **options: options of the task: arguments of `LockAndReturn` or `RampUse`.

  Raises:
    ImportError: MuJoCo is missing or too old.
    ValueError: there is no such task, or its options are not possible.
  """
  if name not in NAMES:
    raise ValueError(overrides.unknown('task', name, NAMES))
  _require_mujoco()
  from vacl_tf.environments.hide_and_seek import lock_and_return
  from vacl_tf.environments.hide_and_seek import ramp_use

  make = {
    'lock_and_return': lock_and_return.LockAndReturn,
    'ramp_use': ramp_use.RampUse,
  }[name]
  known = inspect.signature(make).parameters
  for option in options:
    if option not in known:
      raise ValueError(overrides.unknown(f'option of {name}', option, known))
  return make(**options)


def _require_mujoco() -> None:
  """Raises ImportError, with a remedy, if MuJoCo is missing or too old."""
  try:
    version = importlib.metadata.version('mujoco')
  except importlib.metadata.PackageNotFoundError:
    version = ''
  if not version or int(version.split('.')[0]) < _LEAST_MUJOCO:
    raise ImportError(
      f'mujoco is {version or "not installed"}; hide-and-seek needs '
      f'{_LEAST_MUJOCO}.0 or newer: pip install "mujoco>={_LEAST_MUJOCO}.0"'
    )


def _import_mujoco() -> None:
  """Imports MuJoCo, without OpenGL if necessary.

  The import of MuJoCo fails if MUJOCO_GL names a missing platform. Worlds do
  not use OpenGL.
  """
  wish = os.environ['MUJOCO_GL']
  try:
    importlib.import_module('mujoco')
  except ImportError:
    pass  # `load` raises an error with a remedy.
  except (AttributeError, OSError, RuntimeError):
    os.environ['MUJOCO_GL'] = 'disable'
    try:
      importlib.import_module('mujoco')
    finally:
      os.environ['MUJOCO_GL'] = wish


if 'MUJOCO_GL' in os.environ:
  _import_mujoco()  # Before a module of this package imports it.
