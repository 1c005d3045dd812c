# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Colours of entities, for both renderers."""

import numpy as np

from vacl_tf.environments import shapes
from vacl_tf.environments.hide_and_seek import entities

# Colours of agents and of the rings around their birthplaces. In Ramp-Use the
# first agent is the hider, which is blue as in the original game.
_AGENTS = (
  (66, 113, 196),
  (214, 84, 62),
  (134, 88, 178),
  (38, 148, 138),
  (218, 122, 172),
  (98, 132, 52),
  (88, 176, 224),
  (132, 92, 66),
)
_BOX = (240, 186, 84)
_RAMP = (126, 186, 138)
_LOCKED = (58, 68, 84)  # Much darker, to be distinct without colour vision.
SIGHT = (214, 84, 62)  # Lines from agents to what they see.


def colours(cast: entities.Cast, is_locked: np.ndarray) -> np.ndarray:
  """Returns RGB [E, 3], 0 to 255, of all entities; is_locked is bool [m]."""
  agents = np.array(_AGENTS)[np.arange(cast.num_agents) % len(_AGENTS)]
  things = np.repeat([_BOX, _RAMP], cast[1:], axis=0)
  things = np.where(is_locked[:, None], _LOCKED, things)
  return np.concatenate([agents, things])


def legend(
  cast: entities.Cast, teams: tuple[int, ...]
) -> tuple[tuple[str, shapes.Colour], ...]:
  """Returns the meanings of colours, of agents only if there are two teams.

  Args:
    cast: numbers of entities.
    teams: team of each agent; if there are two teams, the first agent hides.
  """
  is_against = len(set(teams)) > 1
  found = [
    ('hider', _AGENTS[0], is_against),
    ('seeker', _AGENTS[1], is_against),
    ('box', _BOX, cast.num_boxes > 0),
    ('ramp', _RAMP, cast.num_ramps > 0),
    ('locked', _LOCKED, cast.num_objects > 0),
  ]
  return tuple((name, colour) for name, colour, is_there in found if is_there)
