# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Configs that differ from real ones only in sizes; runs take seconds.

Task sets are full at once or soon, so that they have to drop tasks, and tasks
can be solved by luck.
"""

from typing import Any

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides

NUM_TASKS = 10
_HORIZON = 10
_SIZES: dict[str, Any] = {
  'agent.hidden_size': 8,
  'ppo.microbatch_vectors': 200,  # Several microbatches.
  'curriculum.capacity': 20,
  'curriculum.num_easy_tasks': 20,
  'curriculum.num_children': 10,
  'curriculum.num_candidates': 20,
  'curriculum.history': 20,
  'curriculum.window': 20,
  'curriculum.pretraining_steps': 5,
  'curriculum.solved_value': 0.2,
  'progression.switch_coverage': 0.25,
  'progression.mixing_step': 0.5,
  'training.num_tasks': NUM_TASKS,
  'training.num_evaluation_tasks': 10,
}


def shrunk(cfg: config.Config) -> config.Config:
  """Returns the config with small sizes and no other change."""
  known = overrides.leaves(cfg)
  values = {name: x for name, x in _SIZES.items() if name in known}
  values |= {
    'ppo.num_epochs': min(cfg.ppo.num_epochs, 2),
    # The number of samples is even for every horizon.
    'ppo.num_minibatches': min(cfg.ppo.num_minibatches, 2),
    'training.num_rollouts': min(cfg.training.num_rollouts, 2),
  }
  # Tasks that need a memory have a fixed horizon.
  usual = catalog.TASKS.get(cfg.environment.name).agent
  if catalog.AGENTS.get(usual).config().segment_length == 1:
    values['environment.horizon'] = _HORIZON
  cfg = overrides.replace(cfg, values)
  if not (cfg.ppo.decay_start_steps or cfg.ppo.decay_start_coverage):
    return cfg
  # The learning rate starts to fall in the first iteration.
  num_steps = cfg.training.num_tasks * cfg.environment.horizon * 2 // 3
  return overrides.replace(cfg, {'ppo.decay_start_steps': num_steps})
