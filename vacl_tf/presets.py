# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Presets: the constants that each task is trained with, and why."""

import dataclasses
from typing import Any

from vacl_tf import config

NAMES = ('default', 'paper')

# Counts that the paper begins with, and horizons; task sheet, section 9.
WORLDS = {
  world.name: world
  for world in (
    config.EnvironmentConfig(name='simple_spread', num_agents=4, horizon=70),
    config.EnvironmentConfig(name='hard_spread', num_agents=4, horizon=70),
    config.EnvironmentConfig(name='push_ball', num_agents=2, horizon=120),
    config.EnvironmentConfig(name='speaker_listener', num_agents=2, horizon=70),
  )
}


# What differs from the defaults in config.py, by dotted name.
_DEFAULT_FOR: dict[str, dict[str, Any]] = {
  'push_ball': {
    # 10 000 agent-samples a step with two agents, as in Simple-Spread with 4.
    'ppo.num_minibatches': 12,
  },
}
# The released settings, by dotted name; algorithm sheet, sections 2 to 4.
_PUBLISHED = {
  'network.activation': 'tanh',  # [code]
  'network.attention_gain': 1.0,  # [code]
  'ppo.learning_rate': 5e-4,  # Paper, table of hyper-parameters.
  'ppo.entropy_cost': 0.01,  # Paper.
  'ppo.num_epochs': 15,  # Paper.
  'ppo.num_minibatches': 1,  # One full-batch step an epoch, A13.
  'ppo.max_gradient_norm': 0.0,  # Off in the released commands, A14.
  'ppo.normalize_value': False,  # Off in the released commands, A14.
  'curriculum.num_children': 150,  # Paper.
  'curriculum.max_children_per_seed': 0,  # [code]: always all of them.
  'curriculum.step_size': 0.6,  # Paper, Simple-Spread.
  'curriculum.noise': 0.6,  # Paper, Simple-Spread.
  'curriculum.noisy_share': 1.0,  # Paper.
  'curriculum.seed_choice': 'first',  # [code], A19.
}
_PUBLISHED_FOR = {
  'hard_spread': {
    'curriculum.num_children': 300,  # [code]; paper: 150.
    'curriculum.bandwidth': 1000.0,  # [code]; paper: 1.
  },
  'push_ball': {
    'curriculum.step_size': 0.4,  # Paper.
    'curriculum.noise': 0.4,  # Paper.
  },
  # All from the authors' older branches; sheet, section 8.
  'speaker_listener': {
    'training.num_tasks': 100,
    'training.num_rollouts': 3,
    'training.num_evaluation_tasks': 100,
    'curriculum.num_easy_tasks': 1000,
    'curriculum.num_children': 30,
    'curriculum.step_size': 0.05,
    'curriculum.noise': 0.05,
  },
}
# Memory-bound parts whose gradients the released code sums (K, section 4.3),
# up to the agents that the paper begins with, and beyond.
_NUM_PARTS = {
  'simple_spread': (2, 16),
  'hard_spread': (2, 16),
  'push_ball': (2, 8),
  'speaker_listener': (1, 1),
}


def make(
  *,
  env: str = 'simple_spread',
  num_agents: int | None = None,
  preset: str = 'default',
  curriculum: str | None = None,
  seed: int = 0,
) -> config.Config:
  """Returns the config of a preset.

  Args:
    env: see WORLDS.
    num_agents: None for the number that the paper begins with.
    preset: see NAMES.
    curriculum: None for that of the preset.
    seed: of everything.

  Raises:
    ValueError: there is no such environment or preset.
  """
  if env not in WORLDS:
    raise ValueError(config.unknown('env', env, WORLDS))
  if preset not in NAMES:
    raise ValueError(config.unknown('preset', preset, NAMES))
  world = WORLDS[env]
  if num_agents is not None:
    world = dataclasses.replace(world, num_agents=num_agents)
  cfg = config.Config(seed=seed, preset=preset, environment=world)
  values = _DEFAULT_FOR.get(env, {})
  if preset == 'paper':
    is_large = world.num_agents > WORLDS[env].num_agents
    scale = {'ppo.gradient_scale': float(_NUM_PARTS[env][is_large])}
    values = _PUBLISHED | scale | _PUBLISHED_FOR.get(env, {})
  if curriculum is not None:
    values = values | {'curriculum.name': curriculum}
  return config.replace(cfg, values)
