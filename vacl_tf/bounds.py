# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Which values a config may have."""

import math

from vacl_tf import config

_MANY = 10**9
_BOUNDS = {
  'seed': (0, 2**31 - 1),
  'environment.horizon': (1, 10_000),
  'hide_and_seek.reward_scale': (1e-6, _MANY),
  'hide_and_seek.reach': (1e-6, 1.0),
  'network.hidden_size': (1, 4096),
  'network.attention_gain': (0.0, 1000.0),
  'network.num_hops': (1, 10),
  'ppo.learning_rate': (0.0, 1.0),
  'ppo.annealed_after': (0, _MANY),
  'ppo.annealing_power': (0.0, 100.0),
  'ppo.adam_epsilon': (1e-12, 1.0),
  'ppo.discount': (0.0, 1.0),
  'ppo.trace_decay': (0.0, 1.0),
  'ppo.clip': (1e-6, 1.0),
  'ppo.value_clip': (1e-6, _MANY),
  'ppo.huber_delta': (1e-6, _MANY),
  'ppo.least_deviation': (0.0, _MANY),
  'ppo.entropy_cost': (0.0, _MANY),
  'ppo.value_cost': (0.0, _MANY),
  'ppo.recall_cost': (0.0, _MANY),
  'ppo.num_epochs': (1, 1000),
  'ppo.num_minibatches': (1, _MANY),
  'ppo.chunk_length': (1, 10_000),
  'ppo.gradient_scale': (1e-6, _MANY),
  'ppo.max_gradient_norm': (0.0, _MANY),
  'ppo.value_decay': (0.0, 0.999999),
  'ppo.chunk_vectors': (1, _MANY),
  'curriculum.capacity': (1, 1_000_000),
  'curriculum.num_easy_tasks': (1, 1_000_000),
  'curriculum.solved_fraction': (0.0, 1.0),
  'curriculum.target_share': (0.0, 1.0),
  'curriculum.solved_value': (0.0, 1.0),
  'curriculum.dropped_value': (0.0, 1.0),
  'curriculum.num_children': (1, 1_000_000),
  'curriculum.max_children_per_seed': (0, 1_000_000),
  'curriculum.step_size': (0.0, _MANY),
  'curriculum.noise': (0.0, _MANY),
  'curriculum.noisy_share': (0.0, 1.0),
  'curriculum.bandwidth': (1e-9, _MANY),
  'curriculum.max_redraws': (1, 100_000),
  'curriculum.num_neighbours': (1, 1000),
  'progression.switch_coverage': (0.0, 1.0),
  'progression.mixing_step': (0.1, 1.0),
  'progression.mixing_interval': (1, 1_000_000),
  'training.num_tasks': (1, 1_000_000),
  'training.num_rollouts': (1, 1000),
  'training.num_evaluation_tasks': (1, 1_000_000),
}


def check(cfg: config.Config) -> None:
  """Raises ValueError, naming field, value and what is allowed."""
  for name, value in config.leaves(cfg).items():
    allowed = config.choices(cfg, name)
    if allowed and value not in allowed:
      raise ValueError(config.unknown(f'config.{name}', value, allowed))
  for name, (low, high) in _BOUNDS.items():
    value = config.leaves(cfg)[name]
    if not low <= value <= high:
      raise ValueError(
        f'config.{name}={value} is out of range; allowed: {low} to {high}'
      )
  num_tasks = cfg.training.num_tasks
  if len(config.entity_counts(cfg)) > 1:  # Each share is a multiple of these.
    if num_tasks % config.NUM_PARTS:
      raise ValueError(
        f'config.training.num_tasks={num_tasks} is not a multiple of '
        f'{config.NUM_PARTS}, which entity progression needs; give '
        f'{max(num_tasks // config.NUM_PARTS, 1) * config.NUM_PARTS}'
      )
    num_tasks //= config.NUM_PARTS
    tenths = cfg.progression.mixing_step * config.NUM_PARTS
    if not math.isclose(tenths, round(tenths)):
      raise ValueError(
        f'config.progression.mixing_step={cfg.progression.mixing_step} is not '
        f'a multiple of {1 / config.NUM_PARTS}; give '
        f'{round(tenths) / config.NUM_PARTS}'
      )
  chunk_length, horizon = cfg.ppo.chunk_length, cfg.environment.horizon
  if horizon % chunk_length:
    raise ValueError(
      f'config.ppo.chunk_length={chunk_length} does not divide the horizon, '
      f'{horizon}; give one that does'
    )
  rows = num_tasks * horizon // chunk_length
  if rows % cfg.ppo.num_minibatches:
    raise ValueError(
      f'config.ppo.num_minibatches={cfg.ppo.num_minibatches} does not divide '
      f'{rows} samples (horizon times the {num_tasks} tasks that an iteration '
      f'is measured in, by chunks of {chunk_length}); give one that does'
    )
  if cfg.curriculum.num_easy_tasks > cfg.curriculum.capacity:
    raise ValueError(
      f'config.curriculum.num_easy_tasks={cfg.curriculum.num_easy_tasks} is '
      f'above the capacity, {cfg.curriculum.capacity}; give fewer'
    )
