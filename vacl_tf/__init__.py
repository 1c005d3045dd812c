# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Variational Automatic Curriculum Learning in TensorFlow 2."""

import importlib
import importlib.util
import sys
from typing import Any

# While one of the commands starts, `python -m vacl_tf.launch.main`: it may be
# asked to end at any moment, and find its outputs closed.
if sys.argv[:1] == ['-m'] and any(
  argument.startswith(f'{__name__}.launch.') for argument in sys.orig_argv
):
  from vacl_tf.launch import outputs
  from vacl_tf.launch import signals

  outputs.guard()
  signals.listen()

from vacl_tf import builtin  # noqa: F401  Registers what has names.
from vacl_tf import catalog

__version__ = '0.1.0'

register_agent = catalog.register_agent
register_curriculum = catalog.register_curriculum
register_task = catalog.register_task


# By name, the module that has it or that it is, imported when it is first asked
# for. Under Bazel a program that uses it depends on that module.
_LATE = {
  'client': '.client',
  'dm_environment': '.environments.adapters',
  'evaluate': '.launch.library',
  'gym_env': '.environments.gymnasium_view',
  'load_actor': '.training.actor',
  'load_policy': '.launch.library',
  'make_config': '.launch.library',
  'parallel_env': '.environments.pettingzoo_view',
  'train': '.launch.library',
  'vector_env': '.environments.gymnasium_view',
}
# Of those that are optional, what they need.
_NEEDS = {
  'gym_env': 'gymnasium',
  'parallel_env': 'pettingzoo',
  'vector_env': 'gymnasium',
}


def __getattr__(name: str) -> Any:
  if name in _LATE:
    module = importlib.import_module(_LATE[name], __name__)
    return module if _LATE[name] == f'.{name}' else getattr(module, name)
  raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
  # Who asks for all of them, like help(), gets no error of a missing package.
  missing = {
    name
    for name, package in _NEEDS.items()
    if importlib.util.find_spec(package) is None
  }
  return sorted({*globals(), *_LATE} - missing)
