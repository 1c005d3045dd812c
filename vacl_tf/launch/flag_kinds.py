# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags like those of absl, but with errors that say what is valid."""

from absl import flags


class _Whole(flags.IntegerParser):
  """Whole numbers, which may be written like 3e6."""

  def convert(self, argument: int | str) -> int:
    try:
      return super().convert(argument)
    except ValueError:
      pass
    try:
      found = float(argument)
      if found.is_integer():
        return int(found)
    except ValueError:
      pass
    raise ValueError('not a whole number; give one like 4 or 3e6')


class _Wholes(flags.ListParser):
  """One or more whole numbers, separated by commas."""

  def parse(self, argument: str | list[int]) -> list[int]:
    try:
      found = [int(x) for x in super().parse(argument)]
    except ValueError:
      found = []
    if not found:
      raise ValueError('not a list of numbers; give one like 4,8,24')
    return found


class _Number(flags.FloatParser):
  def convert(self, argument: float | str) -> float:
    try:
      return super().convert(argument)
    except ValueError as error:
      raise ValueError('not a number; give one like 0.5 or 5e-4') from error


class _Switch(flags.BooleanParser):
  def parse(self, argument: str | int) -> bool:
    try:
      return super().parse(argument)
    except ValueError as error:
      raise ValueError('neither true nor false; give one of them') from error


def whole(
  name: str,
  default: int | None,
  about: str,
  lower_bound: int | None = None,
  upper_bound: int | None = None,
) -> None:
  """Defines a flag that is a whole number within bounds."""
  flags.DEFINE(
    _Whole(lower_bound, upper_bound),
    name,
    default,
    about,
    serializer=flags.ArgumentSerializer(),
  )


def wholes(name: str, default: list[int] | None, about: str) -> None:
  """Defines a flag that is a list of whole numbers."""
  flags.DEFINE(
    _Wholes(), name, default, about, serializer=flags.ArgumentSerializer()
  )


def number(name: str, default: float | None, about: str) -> None:
  """Defines a flag that is a number."""
  flags.DEFINE(
    _Number(), name, default, about, serializer=flags.ArgumentSerializer()
  )


def switch(name: str, default: bool | None, about: str) -> None:
  """Defines a flag that is true or false, as --name, --noname, --name=false."""
  flag = flags.BooleanFlag(name, default, about)
  flag.parser = _Switch()
  flags.DEFINE_flag(flag)
