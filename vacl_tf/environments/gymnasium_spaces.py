# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts Gymnasium's action and observation spaces to our conventions."""

from collections.abc import Callable
from typing import Any

import numpy as np
from dm_env import specs

from vacl_tf import types
from vacl_tf.environments import base

try:
  from gymnasium import spaces
except ImportError as error:
  raise ImportError(
    'gymnasium is not installed; pip install gymnasium'
  ) from error


def action_spec(space: spaces.Space, name: str) -> specs.BoundedArray:
  """Returns the spec of an agent's actions.

  Args:
    space: space of one agent's actions.
    name: name of the space in messages.

  Raises:
    base.WorldError: the library has no policies for such actions.
  """
  if isinstance(space, spaces.Discrete):
    return types.discrete(int(space.n))
  if isinstance(space, spaces.MultiDiscrete) and space.nvec.ndim == 1:
    return types.multi_discrete(tuple(space.nvec.tolist()))
  is_vector = isinstance(space, spaces.Box) and len(space.shape) == 1
  if is_vector and np.issubdtype(space.dtype, np.floating):
    if np.all(np.isfinite(space.high - space.low) & (space.low < space.high)):
      return types.continuous(space.low.tolist(), space.high.tolist())
    raise base.WorldError(
      f'{name}: {space} is not bounded; give it finite bounds, low below high '
      '(gymnasium.wrappers.RescaleAction)'
    )
  raise base.WorldError(
    f'{name}: {space} is not supported; allowed: Discrete, MultiDiscrete with '
    'one axis, and a bounded Box of floats with one axis'
  )


def to_action(space: spaces.Space) -> Callable[[np.ndarray], Any]:
  """Returns a function that maps actions of the spec to the space."""
  if isinstance(space, spaces.Discrete):
    return lambda action: space.dtype.type(action + space.start)
  if isinstance(space, spaces.MultiDiscrete):
    return lambda action: (action + space.start).astype(space.dtype)
  # The float32 bounds of the spec may lie outside the float64 bounds.
  return lambda action: np.clip(
    action.astype(space.dtype), space.low, space.high
  )


def to_arrays(space: spaces.Space, observation: Any) -> dict[str, np.ndarray]:
  """Returns an observation as a dict of vectors and of entities [m, F].

  Matrices in a Dict are entities. gymnasium.spaces.flatten turns everything
  else into vectors.
  """
  if not isinstance(space, spaces.Dict):
    return {'own': spaces.flatten(space, observation)}
  return {
    key: _part(part, observation[key]) for key, part in space.spaces.items()
  }


def _part(space: spaces.Space, value: Any) -> np.ndarray:
  is_array = isinstance(space, spaces.Box | spaces.MultiBinary)
  if is_array and len(space.shape) in (1, 2):
    return np.asarray(value)
  return spaces.flatten(space, value)
