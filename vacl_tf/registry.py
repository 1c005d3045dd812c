# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Registries of tasks, agents, curricula and studies by name.

`builtin` registers the library's own tasks, agents and curricula, and `studies`
its studies. Those of users are registered when their module is imported; for
commands, --import=MODULE does this.
"""

from typing import Generic, Protocol, TypeVar

from vacl_tf import overrides

_REMEDY = 'give --import, or import its module in Python'


class Entry(Protocol):
  """Something with a name."""

  name: str


T = TypeVar('T', bound=Entry)


class Registry(Generic[T]):
  """Entries by name."""

  def __init__(self, kind: str) -> None:
    """Makes an empty registry; messages call an entry a `kind`."""
    self._kind = kind
    self._entries: dict[str, T] = {}

  def add(self, entry: T) -> None:
    """Registers an entry.

    Raises:
      ValueError: the name is taken, or is not one word.
    """
    if not entry.name.isidentifier():
      raise ValueError(
        f'{self._kind}={entry.name!r} is not a name; give letters, digits and '
        'underscores, no digit first'
      )
    if entry.name in self._entries:
      raise ValueError(
        f'{self._kind}={entry.name!r} is registered already; choose another '
        'name'
      )
    self._entries[entry.name] = entry

  def names(self) -> tuple[str, ...]:
    """Returns all names, in the order of registration."""
    return tuple(self._entries)

  def get(self, name: str, remedy: str = _REMEDY) -> T:
    """Returns an entry.

    Args:
      name: name of the entry.
      remedy: how an entry of one's own is made known, for the message.

    Raises:
      ValueError: there is no entry of that name.
    """
    if name not in self._entries:
      told = overrides.unknown(self._kind, name, self._entries)
      # Not if a close name is suggested: it may be a typing error.
      hint = '' if told.endswith('?') else f'; to use your own, {remedy}'
      raise ValueError(told + hint)
    return self._entries[name]
