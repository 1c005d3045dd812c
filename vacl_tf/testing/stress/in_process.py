# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs commands of the library in this process."""

import importlib
import types

from vacl_tf.launch import command_line
from vacl_tf.testing import commands

NAMES = ('main', 'evaluate', 'plot')
_PACKAGE = 'vacl_tf.launch.'


def module(name: str) -> types.ModuleType:
  """Returns the module of a command."""
  return importlib.import_module(_PACKAGE + name)


def run(name: str, *arguments: str) -> commands.Ended:
  """Runs a command with these arguments."""
  found = module(name)
  return commands.run(
    lambda: command_line.run(found.main, found.define), *arguments
  )
