# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Descriptions of config fields, for --help and docs/configuration.md."""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from vacl_tf import overrides

_ATTRIBUTE = re.compile(r' *(\w+): (.*)$')


def meaning(node: Any, name: str) -> str:
  """Returns the description of a leaf, '' if its class has none."""
  *path, last = name.split('.')
  for part in path:
    node = getattr(node, part)
  found = {}
  for cls in reversed(type(node).__mro__):
    found |= _meanings(cls.__doc__ or '')
  return found.get(last, '')


def told(value: Any) -> str:
  """Returns a value as a flag takes it."""
  if isinstance(value, bool):
    return str(value).lower()
  return f'{value:g}' if isinstance(value, float) else str(value)


def allowed(node: Any, name: str, write: Callable[[Any], str] = told) -> str:
  """Returns the values that a leaf may have, '' for any text.

  Args:
    node: the config.
    name: name of the leaf.
    write: function that returns a value as text.
  """
  if choices := overrides.choices(node, name):
    return ', '.join(map(write, choices))
  if bounds := overrides.bounds(node, name):
    return f'{write(bounds.low)} to {write(bounds.high)}'
  is_flag = isinstance(overrides.leaves(node)[name], bool)
  return 'true, false' if is_flag else ''


@functools.cache  # It is called for every leaf of a class.
def _meanings(docstring: str) -> dict[str, str]:
  """Returns {name: description} of the Attributes of a docstring."""
  _, _, text = inspect.cleandoc(docstring).partition('Attributes:\n')
  lines = [line for line in text.splitlines() if line.strip()]
  found, name = {}, ''
  for line in lines:
    match = _ATTRIBUTE.match(line)
    if match and _indent(line) == _indent(lines[0]):
      name = match.group(1)
      found[name] = match.group(2)
    elif name:
      found[name] += ' ' + line.strip()
  return {key: text.rstrip('.') for key, text in found.items()}


def _indent(line: str) -> int:
  return len(line) - len(line.lstrip())
