# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Describes in one line what a user's code raised, and where."""

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
# How TensorFlow names places: in the code that made a graph, and in the graph.
_PLACE = re.compile(r'^\s*File "(.*?)", line (\d+).*$', re.MULTILINE)
_NODE = re.compile(r'(\[\[)?\{\{(function_)?node .*?\}\}(\]\]| = )?')
# How XLA names an operation that it does not have.
_NOT_COMPILED = re.compile(
  r"(Failed getting HLO text: ')?Detected unsupported operations when trying to"
  r' compile graph .*? on XLA_\w+: (\w+) .*',
  re.DOTALL,
)
_ATTRIBUTES = re.compile(r'\[_XlaMustCompile.*?\]|\[Op:.*?\]')
_AROUND_PLACES = re.compile(
  r'^\s*(Graph execution error:|Detected at node .*:|The op is created at:|'
  r'Stack trace for op definition:|tf2xla conversion failed .*)\s*$',
  re.MULTILINE,
)
_LIBRARIES = tuple(
  sysconfig.get_path(name) for name in ('stdlib', 'purelib', 'platlib')
)


def told(error: BaseException) -> str:
  """Returns type, message and place of an error in one line.

  The place is the innermost one in the user's code or, if there is none, in
  another library. It is left out if the error arose in neither, for example
  when a function is called with wrong arguments.
  """
  message = _NODE.sub('', str(error))  # Also in ValueErrors about shapes.
  if _is_of_a_graph(error):
    message = _NOT_COMPILED.sub(r"XLA can't compile \2", message)
    for part in (_ATTRIBUTES, _PLACE, _AROUND_PLACES):
      message = part.sub('', message)
  line = reading.one_line(f'{type(error).__name__}: {message}')
  for path, number in (_own(error) or _not_ours(error))[-1:]:
    line += f' ({path}, line {number})'
  return line


def is_within(error: BaseException) -> bool:
  """Returns whether the user's code, or code that it called, raised it."""
  return bool(_own(error))


def _own(error: BaseException) -> list[tuple[str, int]]:
  """Returns the places in the user's code, innermost last."""
  return [x for x in _not_ours(error) if not x[0].startswith(_LIBRARIES)]


def _not_ours(error: BaseException) -> list[tuple[str, int]]:
  """Returns file and line of the places that are not in our own code."""
  found = [
    (frame.filename, frame.lineno)
    for frame in traceback.extract_tb(error.__traceback__)
  ]
  if _is_of_a_graph(error):  # XLA leaves out the first slash.
    found += [
      (path if path[:1] in '</' else f'/{path}', int(number))
      for path, number in _PLACE.findall(str(error))
    ]
  return [x for x in found if not x[0].startswith(_OURS)]


def _is_of_a_graph(error: BaseException) -> bool:
  """Returns whether an operation of TensorFlow failed, without importing it."""
  module = type(error).__module__
  return module.startswith('tensorflow.') or 'tf2xla' in str(error)
