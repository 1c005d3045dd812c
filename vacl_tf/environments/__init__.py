# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worlds, by name.

What needs TensorFlow is imported late: hide-and-seek, below here, does without.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from vacl_tf import config
from vacl_tf import presets

if TYPE_CHECKING:
  from vacl_tf.environments import base

# Least and most agents.
_COUNTS = {
  'simple_spread': (2, 100),
  'hard_spread': (2, 8),
  'push_ball': (2, 8),
  'speaker_listener': (2, 2),
}
NAMES = tuple(_COUNTS)
_SQUARE = ('simple_spread', 'push_ball')  # Turned, they are the same.


def load(
  name: 'str | base.Environment',
  num_agents: int | None = None,
  horizon: int | None = None,
) -> 'base.Environment':
  """Returns the environment called `name`, or `name` itself if it is one.

  Args:
    name: one of NAMES, or an object that satisfies `base.Environment`.
    num_agents: agents in each world; None for the task's own number.
    horizon: steps of an episode; None for the task's own.

  Raises:
    ValueError: there is no such environment, or not with so many agents.
  """
  from vacl_tf.environments import base

  if isinstance(name, base.Environment):
    return name
  if name not in NAMES:
    raise ValueError(config.unknown('env', name, NAMES))
  world = presets.with_agents(name, num_agents)
  num_agents, horizon = world.num_agents, horizon or world.horizon
  least, most = _COUNTS[name]
  if not least <= num_agents <= most:
    allowed = f'{least} to {most}' if least < most else f'{least}'
    raise ValueError(
      f'num_agents={num_agents} is not possible in {name}; allowed: {allowed}'
    )
  return _scenario(name)(name, num_agents, horizon)


def load_all(cfg: config.Config) -> 'tuple[base.Environment, ...]':
  """Returns the environment of a config with each of its entity counts.

  Raises:
    ValueError: there is no such environment, or not with one of the counts.
  """
  world = cfg.environment
  if cfg.network.frame == 'own' and world.name not in _SQUARE:
    raise ValueError(
      f'config.network.frame=own is of no use in {world.name}, which is no '
      'open square; allowed there: room'
    )
  envs = []
  for count in config.entity_counts(cfg):
    if len(count) > 1:
      raise ValueError(
        f'entity_counts={cfg.progression.entity_counts}: {world.name} counts '
        'agents alone; give a list like 4,8'
      )
    envs.append(load(world.name, *count, world.horizon))
  return tuple(envs)


def _scenario(name: str) -> 'Callable[[str, int, int], base.Environment]':
  """Returns what makes the environment called so."""
  from vacl_tf.environments.particle import push_ball
  from vacl_tf.environments.particle import speaker_listener
  from vacl_tf.environments.particle import spread

  return {
    'simple_spread': spread.Spread,
    'hard_spread': spread.Spread,
    'push_ball': push_ball.PushBall,
    'speaker_listener': speaker_listener.SpeakerListener,
  }[name]
