# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Entity counts, and paths of growing counts: '4,8,16', '2x2,4x2,4x4'."""

import itertools
from collections.abc import Iterable, Sequence

from vacl_tf import config

Counts = tuple[int, ...]  # In the order of EnvironmentConfig.count_fields.
Path = str | Sequence[int] | Sequence[Counts]


def spelled(counts: Counts) -> str:
  """Returns entity counts as they are written in a path."""
  return 'x'.join(map(str, counts))


def as_text(given: Path | None) -> str | None:
  """Returns a path as text.

  Raises:
    ValueError: it is not a path.
  """
  if given is None or isinstance(given, str):
    return given
  try:
    return ','.join(
      spelled(x)
      if isinstance(x, Iterable) and not isinstance(x, str)
      else str(x)
      for x in given
    )
  except TypeError as error:
    raise ValueError(
      f'entity_counts={given!r} is not a list of counts; give one like '
      "'4,8,16' or (4, 8)"
    ) from error


def path(cfg: config.Config) -> tuple[Counts, ...]:
  """Returns the entity counts that a run trains on, in order.

  Raises:
    ValueError: progression.entity_counts is not a path, or does not end at the
      counts of the environment.
  """
  text, world = cfg.progression.entity_counts, cfg.environment
  last = world.counts
  if not text:
    return (last,)
  found = parsed(text)
  for one, other in itertools.pairwise(found):
    pairs = list(zip(one, other, strict=False))
    if len(one) != len(other) or one == other or any(x > y for x, y in pairs):
      raise ValueError(
        f'entity_counts={text} does not grow from {spelled(one)} to '
        f'{spelled(other)}; give increasing counts, like 4,8,16'
      )
  if len(found[-1]) != len(last):
    kinds = ' and '.join(kind_of(field) for field in world.count_fields)
    raise ValueError(
      f'entity_counts={text} does not fit {world.name or "the world"}, which '
      f'counts {kinds}; give a list like {example(len(last))}'
    )
  if found[-1] != last:
    raise ValueError(
      f'entity_counts={text} does not end at {spelled(last)}, the entity '
      'count to train for; leave out one of the two'
    )
  return found


def parsed(text: str) -> tuple[Counts, ...]:
  """Returns the counts of a path.

  Raises:
    ValueError: it is not a list of counts.
  """
  try:
    found = tuple(
      tuple(int(number) for number in counts.split('x'))
      for counts in text.split(',')
    )
  except ValueError as error:
    raise ValueError(
      f'entity_counts={text!r} is not a list of counts; give one like 4,8,16 '
      'or 2x2,4x2,4x4'
    ) from error
  if any(number < 1 for counts in found for number in counts):
    raise ValueError(
      f'entity_counts={text} has a number below 1; give counts of 1 or more'
    )
  return found


def doubling(first: Counts, last: Counts, *, together: bool = False) -> str:
  """Returns the path that doubles from `first` to `last`.

  Args:
    first: counts at the start of the path.
    last: counts at its end.
    together: whether all kinds double at once, instead of one after another.

  Returns:
    The path, empty if there is nothing to grow.
  """
  counts = list(map(min, first, last))
  found = [tuple(counts)]
  every = range(len(last))
  for kinds in [every] if together else [[kind] for kind in every]:
    while any(counts[kind] < last[kind] for kind in kinds):
      for kind in kinds:
        counts[kind] = min(2 * counts[kind], last[kind])
      found.append(tuple(counts))
  return ','.join(map(spelled, found)) if len(found) > 1 else ''


def kind_of(field: str) -> str:
  """Returns what a count field counts: 'agents' of 'num_agents'."""
  return field.removeprefix('num_')


def example(num_kinds: int) -> str:
  """Returns an example of a path for `num_kinds` kinds, for messages."""
  return ','.join(spelled((x,) * num_kinds) for x in (2, 4, 8))
