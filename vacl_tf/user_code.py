# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What code of a user raised, and where, in one line."""

import importlib
import os
import pathlib
import re
import sysconfig
import traceback

from vacl_tf import reading

_OURS = (
  str(pathlib.Path(__file__).parent) + os.sep,
  '<frozen',
  importlib.__file__,
)
# How TensorFlow names the place in its own graph.
_NODE = re.compile(r'\{\{.*?\}\}\s*')
_LIBRARIES = tuple(
  sysconfig.get_path(name) for name in ('stdlib', 'purelib', 'platlib')
)


def told(error: BaseException) -> str:
  """Returns type, message and place of an error in one line.

  The place is the innermost one in code of the user, or else of a library that
  is not ours; none if it was raised before there was any, as by a call with
  other arguments than a function takes.
  """
  message = _NODE.sub('', str(error))
  line = reading.one_line(f'{type(error).__name__}: {message}')
  frames = [
    frame
    for frame in traceback.extract_tb(error.__traceback__)
    if not frame.filename.startswith(_OURS)
  ]
  own = [x for x in frames if not x.filename.startswith(_LIBRARIES)]
  for frame in (own or frames)[-1:]:
    line += f' ({frame.filename}, line {frame.lineno})'
  return line
