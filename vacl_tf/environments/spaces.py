# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Gymnasium spaces of observations and actions, and arrays that fit them.

A flat observation is one vector per agent: its own features, then those of each
kind of entity, entity by entity, then the masks. Observations as a dict have
the names and shapes of the arguments of a trained policy.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import episodes

try:
  from gymnasium import spaces
except ImportError:
  raise ImportError(
    'Gymnasium is not installed, which this view needs: pip install gymnasium'
  ) from None

Space = spaces.Space
FLAT, DICT = 'flat', 'dict'
RENDER_MODES = ('human', 'rgb_array')
_FRAMES_PER_SECOND = 10


def metadata(render_modes: Sequence[str] = RENDER_MODES) -> dict[str, Any]:
  """Returns the metadata that Gymnasium and PettingZoo require."""
  return {'render_modes': list(render_modes), 'render_fps': _FRAMES_PER_SECOND}


def check_modes(
  observations: str,
  render_mode: str | None,
  render_modes: Sequence[str] = RENDER_MODES,
) -> None:
  """Raises ValueError if one of the modes is not available."""
  for name, given, allowed in (
    ('observations', observations, (FLAT, DICT)),
    ('render_mode', render_mode, (None, *render_modes)),
  ):
    if given not in allowed:
      told = ', '.join(repr(x) for x in allowed)
      raise ValueError(f'{name}={given!r}; allowed: {told}')


def pictures(
  worlds: episodes.Episodes, render_mode: str | None
) -> list[base.Picture]:
  """Returns a picture of each world; ValueError without a render mode."""
  if render_mode is None:
    raise ValueError(
      "render_mode=None; to render make the view with render_mode='rgb_array'"
    )
  return worlds.sketches()


def observation_space(
  observation: types.Observation,
  bounds: Mapping[str, base.Bounds],
  observations: str,
) -> Space:
  """Returns the space of one agent's observations.

  Args:
    observation: observation of a role, arrays [B, n, ...].
    bounds: bounds of the features, by name; infinite for missing names.
    observations: 'flat' or 'dict'.
  """
  by_name = {}
  for name, array in episodes.named(observation).items():
    shape = array.shape[2:]
    if array.dtype == bool:
      by_name[name] = spaces.Box(0, 1, shape, np.int8)
      continue
    low, high = bounds.get(name, (-np.inf, np.inf))
    low, high = (
      np.broadcast_to(np.float32(x), shape).copy() for x in (low, high)
    )
    by_name[name] = spaces.Box(low, high, dtype=np.float32)
  if observations == DICT:
    return spaces.Dict(by_name)
  return joined(by_name.values())


def joined(boxes: Iterable[spaces.Box]) -> spaces.Box:
  """Returns the space of the concatenated vectors."""
  ends = [(box.low.ravel(), box.high.ravel()) for box in boxes]
  low, high = (
    np.concatenate(end, dtype=np.float32) for end in zip(*ends, strict=True)
  )
  return spaces.Box(low, high, dtype=np.float32)


def observed(
  observation: types.Observation, observations: str
) -> np.ndarray | dict[str, np.ndarray]:
  """Returns the observations of a role as arrays [B, n, ...]."""
  arrays = episodes.named(observation)
  if observations == FLAT:
    leading = observation.own.shape[:2]
    parts = [x.reshape(*leading, -1) for x in arrays.values() if x.size]
    return np.concatenate(parts, -1, dtype=np.float32)
  return {
    name: array.astype(np.int8) if array.dtype == bool else array
    for name, array in arrays.items()
  }


def of_agent(
  arrays: np.ndarray | dict[str, np.ndarray], *where: int
) -> np.ndarray | dict[str, np.ndarray]:
  """Returns one agent's part of the result of `observed`."""
  if isinstance(arrays, dict):
    return {name: array[where] for name, array in arrays.items()}
  return arrays[where]


def action_space(role: types.Role) -> Space:
  """Returns the space of the action of one agent of a role."""
  one = role.action
  if not np.issubdtype(one.dtype, np.integer):
    low, high = (
      np.broadcast_to(end, one.shape).astype(one.dtype)
      for end in (one.minimum, one.maximum)
    )
    return spaces.Box(low, high, dtype=one.dtype)
  if one.shape:
    low = np.broadcast_to(one.minimum, one.shape)
    return spaces.MultiDiscrete(one.maximum - low + 1, start=low)
  low, high = int(one.minimum), int(one.maximum)
  return spaces.Discrete(high - low + 1, start=low)
