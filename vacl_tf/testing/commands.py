# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Helps to run commands, in a test's own process or in others."""

import atexit
import contextlib
import functools
import io
import os
import shutil
import tempfile
from collections.abc import Callable
from typing import NamedTuple
from unittest import mock

from absl import logging
from absl.testing import flagsaver


class Ended(NamedTuple):
  """Exit code and output of a command, as a shell would see them."""

  code: int
  out: str
  err: str


def run(command: Callable[[], None], *arguments: str) -> Ended:
  """Calls a command, which reads sys.argv and exits, with these arguments.

  Restores absl's flags afterwards.
  """
  logging.set_verbosity(logging.WARNING)  # As in a shell; absltest shows more.
  out, err = io.StringIO(), io.StringIO()
  with (
    flagsaver.flagsaver(),
    mock.patch('sys.argv', ['command', *arguments]),
    contextlib.redirect_stdout(out),
    contextlib.redirect_stderr(err),
  ):
    try:
      command()
    except SystemExit as end:
      return Ended(end.code, out.getvalue(), err.getvalue())
  raise AssertionError('the command did not exit')


@functools.cache
def environment() -> dict[str, str]:
  """Returns the environment variables for other processes.

  The processes share a cache of compiled programs, which is deleted at exit.
  """
  folder = tempfile.mkdtemp()
  atexit.register(shutil.rmtree, folder, ignore_errors=True)
  return {**os.environ, 'XDG_CACHE_HOME': folder}
