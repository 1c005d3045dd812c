# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Configs as flat mappings: leaves by dotted name, overrides, differences."""

import dataclasses
import difflib
import functools
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from vacl_tf import config


def leaves(node: Any, prefix: str = '') -> dict[str, Any]:
  """Returns {dotted name: value} of all leaves of a config."""
  found = {}
  for field in dataclasses.fields(node):
    value = getattr(node, field.name)
    name = prefix + field.name
    if dataclasses.is_dataclass(value):
      found |= leaves(value, name + '.')
    else:
      found[name] = value
  return found


def _hint(node: Any, name: str) -> Any:
  """Returns the annotation of a leaf."""
  *path, last = name.split('.')
  for part in path:
    node = getattr(node, part)
  return _hints(type(node))[last]


@functools.cache  # Evaluates strings, and is called many times per leaf.
def _hints(cls: type) -> dict[str, Any]:
  return typing.get_type_hints(cls, include_extras=True)


def choices(node: Any, name: str) -> tuple[str, ...]:
  """Returns the values that a Literal leaf allows, () for other leaves."""
  hint = _hint(node, name)
  return typing.get_args(hint) if typing.get_origin(hint) is Literal else ()


def kind(node: Any, name: str) -> type:
  """Returns the type of a leaf."""
  if choices(node, name):
    return str
  hint = _hint(node, name)
  return getattr(hint, '__origin__', hint)


def bounds(node: Any, name: str) -> config.Range | None:
  """Returns the range of a leaf, None if it has none."""
  metadata = getattr(_hint(node, name), '__metadata__', ())
  ranges = [x for x in metadata if isinstance(x, config.Range)]
  return ranges[0] if ranges else None


def replace(node: Any, values: Mapping[str, Any]) -> Any:
  """Returns the config with leaves replaced by dotted name.

  Raises:
    ValueError: a name is unknown.
  """
  known = leaves(node)
  for name in values:
    if name not in known:
      raise ValueError(unknown('config field', name, known))
  changes = {}
  for field in dataclasses.fields(node):
    inner = field.name + '.'
    below = {
      name[len(inner) :]: value
      for name, value in values.items()
      if name.startswith(inner)
    }
    if below:
      changes[field.name] = replace(getattr(node, field.name), below)
    elif field.name in values:
      value = values[field.name]
      # NumPy's numbers are allowed, but JSON can't encode them.
      if getattr(value, 'shape', None) == ():
        value = value.item()
      is_whole = isinstance(value, float) and abs(value) < 1e15
      is_whole = is_whole and value.is_integer()
      if is_whole and kind(node, field.name) is int:  # Like 1e6, as in flags.
        value = int(value)
      changes[field.name] = value
  return dataclasses.replace(node, **changes)


def differences(one: Any, other: Any) -> list[str]:
  """Returns a line for every leaf in which two configs differ.

  If agents or curricula have different names, fields that only one of them has
  are left out: the line for the name is enough.
  """
  ours, theirs = leaves(one), leaves(other)

  def differs(name: str) -> bool:
    if name in ours and name in theirs:
      return ours[name] != theirs[name]
    kind = name.partition('.')[0] + '.name'
    return ours.get(kind) == theirs.get(kind)

  return [
    f'{name}: {ours.get(name, "none")} -> {theirs.get(name, "none")}'
    for name in filter(differs, ours | theirs)
  ]


def unknown(what: str, given: Any, allowed: Iterable[str]) -> str:
  """Returns the one-line message for a name that does not exist."""
  allowed = list(allowed)
  close = difflib.get_close_matches(str(given), allowed)
  if close:
    return f'{what}={given!r} is unknown; did you mean {", ".join(close)}?'
  within = [name for name in allowed if name.startswith(f'{given}.')]
  return f'{what}={given!r} is unknown; allowed: {", ".join(within or allowed)}'
