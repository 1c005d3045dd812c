# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks whether the values of a config are allowed."""

import math
import numbers
from typing import Any

from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import overrides

# Number of tasks in an evaluation; a single task would give no interval.
JUDGED_TASKS = config.Range(2, 100_000)
_NUMBERS = {int: numbers.Integral, float: numbers.Real}
_TOLD = {
  bool: 'true or false',
  int: 'a whole number',
  float: 'a number',
  str: 'a string',
}


def check(cfg: config.Config) -> None:
  """Raises ValueError if a config is invalid; names field, value and remedy."""
  if not isinstance(cfg, config.Config):
    raise ValueError(
      f'cfg={cfg!r} is not a config; give the result of make_config'
    )
  check_leaves(cfg, 'config.')
  if len(entity_counts.path(cfg)) > 1:
    _check_mixture(cfg)
  num_tasks = _world_multiple(cfg)
  length, horizon = cfg.agent.segment_length, cfg.environment.horizon
  if horizon % length:
    raise ValueError(
      f'config.agent.segment_length={length} does not divide the horizon, '
      f'{horizon}; give one that does'
    )
  rows = num_tasks * horizon // length
  given = cfg.ppo.num_minibatches
  if rows % given:
    nearest = next(x for x in range(given, 0, -1) if rows % x == 0)
    raise ValueError(
      f'config.ppo.num_minibatches={given} does not divide {rows} samples '
      f'(the horizon times {num_tasks} tasks, in segments of {length}); give '
      f'one that does, like {nearest}'
    )
  _check_curriculum(cfg.curriculum)


def divides(cfg: config.Config, num_replicas: int) -> bool:
  """Returns whether the replicas can share each minibatch equally."""
  num_tasks, rest = divmod(_world_multiple(cfg), num_replicas)
  rows = num_tasks * cfg.environment.horizon // cfg.agent.segment_length
  return num_tasks > 0 and not rest and rows % cfg.ppo.num_minibatches == 0


def _world_multiple(cfg: config.Config) -> int:
  """Returns what the number of worlds per entity count is a multiple of."""
  if len(entity_counts.path(cfg)) > 1:
    return cfg.training.num_tasks // config.NUM_PARTS
  return cfg.training.num_tasks


def check_leaves(
  node: config.Config | config.RunLength, prefix: str = ''
) -> None:
  """Raises ValueError if a leaf has the wrong type or is out of range.

  Args:
    node: what to check.
    prefix: prefix of the names in messages.
  """
  for name, value in overrides.leaves(node).items():
    allowed = overrides.choices(node, name)
    if allowed and value not in allowed:
      raise ValueError(overrides.unknown(prefix + name, value, allowed))
    kind, bounds = overrides.kind(node, name), overrides.bounds(node, name)
    check_value(prefix + name, value, kind, bounds)


def check_value(
  name: str, value: Any, kind: type, bounds: config.Range | None
) -> None:
  """Raises ValueError if a value has the wrong type or is out of range."""
  if kind in _NUMBERS:
    is_one = isinstance(value, _NUMBERS[kind])
    is_one &= not isinstance(value, bool)
  else:
    is_one = isinstance(value, kind)
  if not is_one:
    raise ValueError(f'{name}={value!r} is not {_TOLD[kind]}; give one')
  if bounds is not None and not bounds.low <= value <= bounds.high:
    raise ValueError(
      f'{name}={value} is out of range; allowed: {bounds.low} to {bounds.high}'
    )
  if kind is float and not abs(value) < math.inf:  # Also for NaN.
    raise ValueError(f'{name}={value} is not finite; give a number')


def _check_curriculum(cfg: config.CurriculumConfig) -> None:
  """Raises ValueError if constants of a curriculum contradict each other."""
  if isinstance(cfg, config.TaskExpansionConfig):
    if cfg.num_easy_tasks > cfg.capacity:
      raise ValueError(
        f'config.curriculum.num_easy_tasks={cfg.num_easy_tasks} is above the '
        f'capacity, {cfg.capacity}; give fewer'
      )
    if cfg.admission == 'tested' and cfg.dropped_value > cfg.solved_value:
      raise ValueError(
        f'config.curriculum.dropped_value={cfg.dropped_value} is above '
        f'solved_value, {cfg.solved_value}: with admission=tested no task '
        'could be admitted; give less'
      )
  # RCG, GoalGAN and hindsight tasks, which this module can't import.
  least, most = (getattr(cfg, name, None) for name in ('least', 'most'))
  if isinstance(least, float) and isinstance(most, float) and least > most:
    raise ValueError(
      f'config.curriculum.least={least} is above most, {most}: no task could '
      'score between them; give less'
    )


def _check_mixture(cfg: config.Config) -> None:
  """Raises ValueError if two entity counts can't share a batch."""
  num_tasks = cfg.training.num_tasks
  if num_tasks % config.NUM_PARTS:
    raise ValueError(
      f'config.training.num_tasks={num_tasks} is not a multiple of '
      f'{config.NUM_PARTS}, which entity progression needs; give '
      f'{max(num_tasks // config.NUM_PARTS, 1) * config.NUM_PARTS}'
    )
  tenths = cfg.progression.mixing_step * config.NUM_PARTS
  if not math.isclose(tenths, round(tenths)):
    raise ValueError(
      f'config.progression.mixing_step={cfg.progression.mixing_step} is not '
      f'a multiple of {1 / config.NUM_PARTS}; give '
      f'{round(tenths) / config.NUM_PARTS}'
    )
