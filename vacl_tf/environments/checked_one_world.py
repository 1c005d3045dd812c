# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks of a world in plain Python and of the arguments of `register`.

Each fault raises a WorldError with a one-line message.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from vacl_tf import reading
from vacl_tf.environments import box_tasks
from vacl_tf.environments import one_world
from vacl_tf.environments import simulator

Layout = Mapping[str, tuple[int, ...]]  # Shapes of observed arrays, by name.

_NUMBERS = 'biuf'  # Kinds of dtypes.
_WRAPPERS = (
  'a gymnasium.Env goes into gymnasium_world.GymnasiumWorld(env), a '
  'ParallelEnv into pettingzoo_world.PettingZooWorld(env)'
)


def call(name: str, function: Callable[[int], Any], num_agents: int) -> Any:
  """Calls a user's function of the number of agents.

  Raises:
    simulator.WorldError: it is not a function, or it fails.
  """
  if not callable(function):
    raise simulator.WorldError(
      f'{name}: expected a function of the number of agents, given '
      f'{_article(function)}; give {name}=lambda n: ...'
    )
  return simulator.called(name, function, num_agents)


def box(
  tasks: Callable[[int], box_tasks.Box], num_agents: int
) -> box_tasks.Box:
  """Returns the box of tasks of worlds with `num_agents` agents.

  Raises:
    simulator.WorldError: `tasks` does not return a box.
  """
  found = call('tasks', tasks, num_agents)
  if not isinstance(found, box_tasks.Box):
    raise simulator.WorldError(
      f'tasks: expected a function that returns a box_tasks.Box, given one '
      f'that returns {_article(found)}; return box_tasks.Box(low, high, easy)'
    )
  return found


def world(made: Any) -> one_world.OneWorld:
  """Returns the result of `make`, after checking that it is a world.

  Raises:
    simulator.WorldError: it is not a world.
  """
  if not isinstance(made, one_world.OneWorld):
    raise simulator.WorldError(
      f'make: expected a one_world.OneWorld, given {_article(made)}; '
      + _WRAPPERS
    )
  return made


def check_distinct(worlds: Sequence[one_world.OneWorld]) -> None:
  """Raises simulator.WorldError if two worlds of a batch share their state."""
  for kind, parts in (
    ('world', worlds),
    ('environment', [x.wrapped for x in worlds if x.wrapped is not None]),
  ):
    if len({id(part) for part in parts}) < len(parts):
      raise simulator.WorldError(
        f'make: returned the same {kind} twice, given {_article(parts[0])}; '
        'make a new one in each call'
      )


def arrays(
  where: str, observation: one_world.Observation, num_agents: int
) -> dict[str, np.ndarray]:
  """Returns an observation as arrays [num_agents, ...] by key.

  Raises:
    simulator.WorldError: it is not valid; the message begins with `where`.
  """
  given = _given(where, observation)
  found = {key: _array(where, key, x) for key, x in given.items()}
  if num_agents == 1 and any(x.ndim == 1 for x in found.values()):
    found = {key: x[None] for key, x in found.items()}
  is_wrong = any(
    x.ndim not in (2, 3) or len(x) != num_agents for x in found.values()
  )
  if is_wrong or not any(x.ndim == 2 for x in found.values()):
    shapes = told({key: x.shape for key, x in found.items()})
    raise simulator.WorldError(
      f'{where}: observation: expected vectors [{num_agents}, F], and '
      f'optionally entities [{num_agents}, m, F], of the agents, given '
      + (f'shapes {shapes}' if shapes else 'an empty dict')
    )
  return found


def told(shapes: Layout) -> str:
  """Returns shapes in words."""
  return ', '.join(f'{key} {list(shape)}' for key, shape in shapes.items())


def check_step(where: str, found: one_world.Step, num_agents: int) -> None:
  """Raises simulator.WorldError if a step is not valid."""
  if not isinstance(found, one_world.Step):
    raise simulator.WorldError(
      f'{where}: expected a one_world.Step, given {_article(found)}'
    )
  if not _is_numeric(found.reward, ((), (num_agents,))):
    raise simulator.WorldError(
      f'{where}: expected one reward, or one for each of {num_agents} agents, '
      f'given {_shown(found.reward)}'
    )
  rounding = simulator.ROUNDING
  if not (
    _is_numeric(found.progress, ((),))
    and -rounding <= found.progress <= 1.0 + rounding
  ):
    raise simulator.WorldError(
      f'{where}: expected progress from 0 to 1, given {_shown(found.progress)}'
    )
  for name in ('has_ended', 'is_cut'):
    flag = getattr(found, name)
    if np.size(flag) != 1:
      raise simulator.WorldError(
        f'{where}: {name}: expected True or False for the whole world, given '
        f'{_shown(flag)}'
      )


def check_pictures(frames: Sequence[Any]) -> None:
  """Raises simulator.WorldError unless frames are pictures of one size."""
  for frame in frames:
    is_array = isinstance(frame, np.ndarray)
    is_coloured = is_array and frame.ndim == 3 and frame.shape[2] == 3
    if not is_coloured or frame.dtype != np.uint8:
      raise simulator.WorldError(
        'render: expected uint8 of shape [height, width, 3], given '
        + (_shown(frame) if is_array else _article(frame))
      )
    if frame.shape != frames[0].shape:
      raise simulator.WorldError(
        f'render: expected pictures of one size, given {list(frame.shape)} '
        f'after {list(frames[0].shape)}'
      )


def is_finite(where: str, observation: Any) -> bool:
  """Returns whether an observation is there and has only finite numbers."""
  arrays = [_as_array(x) for x in _given(where, observation).values()]
  return bool(arrays) and all(
    x is not None and x.dtype.kind in _NUMBERS and np.isfinite(x).all()
    for x in arrays
  )


def _given(where: str, observation: Any) -> Mapping[str, Any]:
  """Returns an observation as a dict."""
  is_pair = isinstance(observation, tuple) and len(observation) == 2
  if is_pair and isinstance(observation[1], Mapping):
    raise simulator.WorldError(
      f'{where}: expected only the observation, given a tuple of it and a '
      'dict; do not return an info'
    )
  if not isinstance(observation, Mapping):
    return {'own': observation}
  for key in observation:
    if not isinstance(key, str):
      raise simulator.WorldError(
        f'{where}: observation: expected strings as keys, given {key!r}'
      )
  return observation


def _array(where: str, key: str, given: Any) -> np.ndarray:
  """Returns an array of numbers."""
  found = _as_array(given)
  if found is None or found.dtype.kind not in _NUMBERS:
    raise simulator.WorldError(
      f'{where}: observation: expected an array of numbers, or a dict of them, '
      f'given {key}: {_shown(given)}'
    )
  return found


def _as_array(given: Any) -> np.ndarray | None:
  """Returns a value as an array; None if that fails."""
  try:
    return np.asarray(given)
  except Exception:  # For example, TypeError for a tensor on another device.
    return None


def _is_numeric(given: Any, shapes: Sequence[tuple[int, ...]]) -> bool:
  array = _as_array(given)
  return (
    array is not None and array.dtype.kind in _NUMBERS and array.shape in shapes
  )


def _shown(given: Any) -> str:
  """Returns a single value, or the type and shape of an array, in words."""
  array = _as_array(given)
  if array is None:
    is_list = isinstance(given, list | tuple)
    told = (
      'whose rows have different lengths' if is_list else 'that is not an array'
    )
    return f'{_article(given)} {told}'
  if array.ndim == 0:
    is_number = array.dtype.kind in _NUMBERS
    return str(given) if is_number else reading.one_line(repr(given))
  return f'{array.dtype.name} of shape {list(array.shape)}'


def _article(given: Any) -> str:
  """Returns the type of what was given, with an article."""
  if given is None:
    return 'None'
  name = type(given).__name__
  return f'{"an" if name[0] in "aeiouAEIOU" else "a"} {name}'
