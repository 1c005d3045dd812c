# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worlds, by name."""

from vacl_tf import config
from vacl_tf.environments import base
from vacl_tf.environments.particle import spread

NAMES = ('simple_spread', 'hard_spread')
_MIN_AGENTS = 2
_MAX_AGENTS = {'simple_spread': 100, 'hard_spread': 8}


def load(
  name: str | base.Environment, num_agents: int = 4, horizon: int = 70
) -> base.Environment:
  """Returns the environment called `name`, or `name` itself if it is one.

  Args:
    name: one of NAMES, or an object that satisfies `base.Environment`.
    num_agents: agents (and landmarks) in each world.
    horizon: steps of an episode.

  Raises:
    ValueError: there is no such environment, or not with so many agents.
  """
  if isinstance(name, base.Environment):
    return name
  if name not in NAMES:
    raise ValueError(config.unknown('env', name, NAMES))
  most = _MAX_AGENTS[name]
  if not _MIN_AGENTS <= num_agents <= most:
    raise ValueError(
      f'num_agents={num_agents} is not possible in {name}; '
      f'allowed: {_MIN_AGENTS} to {most}'
    )
  return spread.Spread(name, num_agents, horizon)
