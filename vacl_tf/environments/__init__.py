# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worlds, by name.

What needs TensorFlow is imported late: hide-and-seek, below here, does without.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from vacl_tf import config
from vacl_tf import presets
from vacl_tf.environments import hide_and_seek

if TYPE_CHECKING:
  from vacl_tf.environments import base

# Least and most agents.
_COUNTS = {
  'simple_spread': (2, 100),
  'hard_spread': (2, 8),
  'push_ball': (2, 8),
  'speaker_listener': (2, 2),
}
IN_GRAPH = tuple(_COUNTS)  # What TensorFlow simulates; `base.Environment`s.
NAMES = (*IN_GRAPH, *hide_and_seek.NAMES)


def load(
  name: 'str | base.World',
  num_agents: int | None = None,
  horizon: int | None = None,
  num_boxes: int | None = None,
  variant: config.HideAndSeekConfig | None = None,
) -> 'base.World':
  """Returns the environment called `name`, or `name` itself if it is one.

  Args:
    name: one of NAMES, or an object that satisfies `base.Environment`.
    num_agents: agents in each world; None for the task's own number.
    horizon: steps of an episode; None for the task's own.
    num_boxes: boxes in Lock-and-Return; None for the task's own number.
    variant: of hide-and-seek; None for the usual one.

  Raises:
    ImportError: hide-and-seek is asked for, and MuJoCo is not good enough.
    ValueError: there is no such environment, or not with such counts.
  """
  from vacl_tf.environments import base

  if isinstance(name, base.World):
    return name
  if name not in NAMES:
    raise ValueError(config.unknown('env', name, NAMES))
  variant = variant or config.HideAndSeekConfig()
  world = presets.with_counts(name, num_agents, num_boxes)
  if world.num_boxes and not presets.WORLDS[name].num_boxes:
    raise ValueError(
      f'num_boxes={world.num_boxes} is of no use in {name}; leave it out'
    )
  if name in hide_and_seek.NAMES:
    return _hide_and_seek(world, variant, horizon or world.horizon)
  num_agents, horizon = world.num_agents, horizon or world.horizon
  _check_variant(name, variant, ())
  _check_agents(name, num_agents, *_COUNTS[name])
  return _scenario(name)(name, num_agents, horizon)


def load_all(cfg: config.Config) -> 'tuple[base.World, ...]':
  """Returns the environment of a config with each of its entity counts.

  Raises:
    ImportError: hide-and-seek is asked for, and MuJoCo is not good enough.
    ValueError: there is no such environment, or not with one of the counts, or
      it has no use for such a policy.
  """
  envs = _load_path(cfg)
  _check_network(cfg, envs[-1])
  return envs


def _load_path(cfg: config.Config) -> 'tuple[base.World, ...]':
  """Returns the environment with each count."""
  world = cfg.environment

  def loaded(num_agents: int, num_boxes: int) -> 'base.World':
    return load(
      world.name, num_agents, world.horizon, num_boxes, cfg.hide_and_seek
    )

  text = cfg.progression.entity_counts
  if not text:
    return (loaded(world.num_agents, world.num_boxes),)
  if world.name not in NAMES:
    raise ValueError(config.unknown('env', world.name, NAMES))
  path = config.entity_counts(cfg)
  *before, last = (_agents_and_boxes(world.name, count) for count in path)
  # First what was asked for: the way there may be the preset's.
  env = loaded(*last)
  try:
    return (*(loaded(*count) for count in before), env)
  except ValueError as error:
    raise ValueError(f'entity_counts={text}: {error}') from error


def _check_network(cfg: config.Config, env: 'base.World') -> None:
  """Raises ValueError if the world has no use for such a policy."""
  from vacl_tf.environments import base

  name = env.name
  has_memory = not isinstance(env, base.Environment)
  sees_entities = any(role.entity_sizes for role in env.roles)
  size = cfg.network.hidden_size
  if has_memory and size % config.NUM_HEADS:
    raise ValueError(
      f'config.network.hidden_size={size}: policies of {name} have '
      f'{config.NUM_HEADS} heads of attention; allowed: multiples of it'
    )
  if cfg.ppo.chunk_length > 1 and not has_memory:
    raise ValueError(
      f'config.ppo.chunk_length={cfg.ppo.chunk_length}: policies of {name} '
      'have no memory; allowed: 1'
    )
  # Where agents are shown their birthplaces the preset's cost does no harm.
  if cfg.ppo.recall_cost and name != 'lock_and_return':
    raise ValueError(
      f'config.ppo.recall_cost={cfg.ppo.recall_cost}: in {name} the value sees '
      'no place that policies do not; allowed there: 0'
    )
  hops = cfg.network.num_hops
  if hops > 1 and (has_memory or not sees_entities):
    raise ValueError(
      f'config.network.num_hops={hops}: policies of {name} do not look over '
      'entities one kind after the other; allowed there: 1'
    )
  if cfg.network.frame == 'own' and not sees_entities:
    raise ValueError(
      f'config.network.frame=own is of no use in {name}, where nobody looks at '
      'entities; allowed there: room'
    )


def _agents_and_boxes(name: str, count: tuple[int, ...]) -> tuple[int, int]:
  """Returns what a count on a path means.

  Raises:
    ValueError: it is none for this environment.
  """
  if presets.WORLDS[name].num_boxes:
    kinds, example, expected = 'agents and boxes', '2x2,4x2,4x4', 2
  else:
    kinds, example, expected = 'agents alone', '4,8', 1
  if len(count) != expected:
    raise ValueError(
      f'entity_counts={config.spelt(count)}: {name} counts {kinds}; give a '
      f'list like {example}'
    )
  return (*count, 0)[:2]


def _check_agents(name: str, given: int, least: int, most: int) -> None:
  if not least <= given <= most:
    allowed = f'{least} to {most}' if least < most else f'{least}'
    raise ValueError(
      f'num_agents={given} is not possible in {name}; allowed: {allowed}'
    )


def _check_variant(
  name: str, variant: config.HideAndSeekConfig, known: tuple[str, ...]
) -> None:
  """Raises ValueError if a variant is asked for that does not exist."""
  for line in config.differences(config.HideAndSeekConfig(), variant):
    field, _, change = line.partition(': ')
    if field not in known:
      raise ValueError(
        f'config.hide_and_seek.{field} ({change}) is of no use in {name}; '
        'leave it out'
      )


def _hide_and_seek(
  world: config.EnvironmentConfig,
  variant: config.HideAndSeekConfig,
  horizon: int,
) -> 'base.World':
  """Returns the task of hide-and-seek that is asked for.

  Raises:
    ValueError: it is not possible.
  """
  if horizon != presets.WORLDS[world.name].horizon:
    raise ValueError(
      f'horizon={horizon}: that of {world.name} is '
      f'{presets.WORLDS[world.name].horizon}; leave it out'
    )
  if world.name == 'lock_and_return':
    counts = (world.num_agents, world.num_boxes)
    options = {'num_agents': world.num_agents, 'num_boxes': world.num_boxes}
    known = ('sees_birthplace',)
  else:
    _check_agents(world.name, world.num_agents, 1, 1)
    counts, options = (1,), {}
    known = ('has_box', 'reward_scale', 'reach')
  _check_variant(world.name, variant, known)
  options |= {name: getattr(variant, name) for name in known}
  task = hide_and_seek.load(world.name, **options)
  from vacl_tf.environments.hide_and_seek import training_view

  return training_view.HideAndSeek(task, counts)


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
