# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Observation frames: observations as they are, or egocentric ones."""

from collections.abc import Callable

import tensorflow as tf

from vacl_tf import config
from vacl_tf import types

Restore = Callable[[tf.Tensor], tf.Tensor]


class View:
  """Applies `agent.observation_frame` to the observations of a role.

  Attributes:
    role: the role, with the sizes of its transformed observations.
  """

  def __init__(self, role: types.Role, cfg: config.AttendingConfig) -> None:
    is_egocentric = cfg.observation_frame == 'egocentric'
    self._transform = role.egocentric if is_egocentric else None
    self.role = role if self._transform is None else self._transform.role(role)

  def __call__(
    self, observation: types.Observation
  ) -> tuple[types.Observation, Restore | None]:
    """Returns the observation to use; see `types.EgocentricTransform`."""
    if self._transform is None:
      return observation, None
    return self._transform(observation)
