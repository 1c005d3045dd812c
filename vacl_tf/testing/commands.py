# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Commands run inside of a test's own process, or in others."""

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
  """What a shell would see of a command."""

  code: int
  out: str
  err: str


def run(command: Callable[[], None], *arguments: str) -> Ended:
  """Calls a command, which reads sys.argv and exits, with these arguments.

  Absl's flags are as before afterwards.
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
  """Returns the environment of other processes.

  What one of them compiles the next one has, and nothing is left behind.
  """
  folder = tempfile.mkdtemp()
  atexit.register(shutil.rmtree, folder, ignore_errors=True)
  return {**os.environ, 'XDG_CACHE_HOME': folder}
