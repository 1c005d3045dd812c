# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Commands run inside of a test's own process."""

import contextlib
import io
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
