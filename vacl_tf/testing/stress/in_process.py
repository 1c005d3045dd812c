# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Commands of the library run in this process."""

import importlib
import types
from collections.abc import Sequence

from vacl_tf.launch import command_line
from vacl_tf.testing import commands

# Two of them have flags of the same name: a process takes one of them only.
NAMES = ('main', 'evaluate', 'plot')
_PACKAGE = 'vacl_tf.launch.'


def module(name: str) -> types.ModuleType:
  """Returns the module of a command."""
  return importlib.import_module(_PACKAGE + name)


def _none(arguments: Sequence[str]) -> None:
  """Defines no flags."""


def run(name: str, *arguments: str) -> commands.Ended:
  """Runs a command with these arguments."""
  found = module(name)
  define = getattr(found, 'define', _none)
  return commands.run(lambda: command_line.run(found.main, define), *arguments)
