# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks of the arguments of `client.Curriculum`, before they are sent."""

import numbers
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vacl_tf import overrides
from vacl_tf import reading

Feasible = Callable[[np.ndarray], np.ndarray]


def legal_entities(
  feasible: Feasible, tasks: np.ndarray, num_entities: int
) -> np.ndarray:
  """Returns bool [k, num_entities]: what feasible says of tasks [k, D]."""
  told = np.asarray(feasible(tasks))
  shapes = ((len(tasks),), (len(tasks), num_entities))
  if told.dtype != bool or told.shape not in shapes:
    raise ValueError(
      f'feasible: expected bool {list(shapes[0])} or {list(shapes[1])}, given '
      f'{told.dtype} {list(told.shape)}'
    )
  told = told.reshape([len(tasks), -1])
  return np.broadcast_to(told, shapes[1])


def check_imports(imports: Any) -> list[str]:
  """Returns a list of modules and file paths; a single one needs no list."""
  if isinstance(imports, str | os.PathLike):
    imports = [imports]
  try:
    return [os.fspath(x) for x in imports]
  except TypeError as error:
    raise ValueError(
      f'imports={_short(imports)} is not a list of modules or .py files; give '
      'a list of their names'
    ) from error


def check_box(low: Any, high: Any) -> tuple[np.ndarray, np.ndarray]:
  """Returns the corners of the box, each [D] float64."""
  corners = []
  for name, given in (('low', low), ('high', high)):
    corner = _array(name, given)
    if corner.ndim != 1 or not corner.size or not np.isfinite(corner).all():
      raise ValueError(
        f'{name}={_short(given)} is not a list of numbers; give one for each '
        'number of a task'
      )
    corners.append(corner)
  low, high = corners
  if low.shape != high.shape or not (low < high).all():
    raise ValueError(
      f'low={_short(low)} is not below high={_short(high)} everywhere; give '
      'lists of the same length, with each number of low below that of high'
    )
  with np.errstate(over='ignore'):
    width = high.astype(np.float32) - low.astype(np.float32)
  if not ((width > 0) & np.isfinite(width)).all():
    raise ValueError(
      f'low={_short(low)} to high={_short(high)} is too narrow or too wide for '
      '32-bit numbers, which tasks are; shift or scale them, for example to '
      '-1 to 1'
    )
  return low, high


def check_easy(
  easy: np.ndarray,
  low: np.ndarray,
  high: np.ndarray,
  feasible: Feasible | None,
  entity_size: int,
) -> None:
  """Raises ValueError for easy tasks that are not feasible."""
  corners = low.astype(np.float32), high.astype(np.float32)
  is_wrong = ((easy < corners[0]) | (easy > corners[1])).any(-1)
  what = 'outside the box'
  if feasible is not None and not is_wrong.any():
    legal = legal_entities(feasible, easy, easy.shape[1] // entity_size)
    is_wrong, what = ~legal.all(-1), 'infeasible'
  if is_wrong.any():
    raise ValueError(
      f'easy: {np.count_nonzero(is_wrong)} of {len(easy)} tasks are {what}, '
      f'the first is {_short(easy[is_wrong.argmax()])}; leave them out'
    )


def check_tasks(name: str, given: Any, num_dims: int) -> np.ndarray:
  """Returns tasks [m, D] float32."""
  tasks = _array(name, given)
  if tasks.ndim != 2 or tasks.shape[1] != num_dims or not len(tasks):
    raise ValueError(
      f'{name}: expected tasks [m, {num_dims}], given {list(tasks.shape)}'
    )
  return check_finite(name, tasks, tasks.shape).astype(np.float32)


def check_shares(name: str, given: Any, number: int) -> np.ndarray:
  """Returns numbers [number] in [0, 1]."""
  shares = check_finite(name, given, (number,))
  if (shares < 0).any() or (shares > 1).any():
    worst = shares[np.abs(shares - 0.5).argmax()]
    raise ValueError(f'{name}: expected numbers from 0 to 1, given {worst:g}')
  return shares


def check_finite(name: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
  """Returns finite numbers of the given shape, float64."""
  found = _array(name, given)
  if found.shape != shape:
    raise ValueError(
      f'{name}: expected numbers {list(shape)}, given {list(found.shape)}'
    )
  if not np.isfinite(found).all():
    bad = found[~np.isfinite(found)][0]
    raise ValueError(f'{name}: expected finite numbers, given {bad}')
  return found


def check_whole(name: str, given: Any, least: int) -> int:
  """Returns a whole number that is at least `least`."""
  if not isinstance(given, numbers.Integral) or given < least:
    raise ValueError(
      f'{name}={given!r}; allowed: whole numbers, {least} or more'
    )
  return int(given)


def check_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
  """Returns changes of constants whose values can be sent."""
  if not isinstance(changes, Mapping):
    raise ValueError(
      f'changes={_short(changes)} is not a dict; give one like '
      "{'num_children': 200}"
    )
  if 'name' in changes:  # It is a field of the constants, too.
    raise ValueError(
      f'changes: name={changes["name"]!r} is not a constant; to choose another '
      'curriculum, give its name first: Curriculum(name, low, high)'
    )
  for name, value in changes.items():
    if not isinstance(value, bool | int | float | str):
      raise ValueError(
        f'changes: {name}={value!r} is a {type(value).__name__}; allowed: '
        'bool, int, float, str'
      )
  return dict(changes)


def check_divisor(entity_size: Any, num_dims: int) -> int:
  """Returns an entity size that divides the numbers of a task."""
  size = check_whole('entity_size', entity_size, 1)
  if num_dims % size:
    raise ValueError(
      f'entity_size={size} does not divide the {num_dims} numbers of a task; '
      'give a divisor'
    )
  return size


def check_feedback(
  given: Mapping[str, Any], needed: tuple[str, ...], shape: tuple[int, int]
) -> dict[str, np.ndarray]:
  """Returns the feedback needed besides values, for tasks of a shape [k, D]."""
  for name in given:
    if not needed:
      raise ValueError(
        f'{name}: this curriculum takes only values; leave it out'
      )
    if name not in needed:
      raise ValueError(overrides.unknown('feedback', name, needed))
  found = {}
  for name in needed:
    of_name = shape if name == 'final_task' else shape[:1]
    if name not in given:
      raise ValueError(
        f'update: this curriculum also takes {name}; give numbers '
        f'{list(of_name)}'
      )
    found[name] = (
      check_shares(name, given[name], shape[0])
      if name == 'success'
      else check_finite(name, given[name], of_name)
    )
  return found


def _array(name: str, given: Any) -> np.ndarray:
  """Returns an array of numbers, float64."""
  try:
    return np.asarray(given, np.float64)
  except (TypeError, ValueError) as error:
    raise ValueError(f'{name}={_short(given)} are not numbers') from error


def _short(given: Any) -> str:
  """Returns a value as text, in one line of bounded length."""
  if isinstance(given, np.ndarray):
    given = given.tolist()
  return reading.one_line(given)
