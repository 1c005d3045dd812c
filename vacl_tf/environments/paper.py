# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Constants of the paper and of the authors' released code.

[paper] is the publication (arXiv 2111.04613), [code] the released code. Where
they differ docs/reproduction.md says which one is followed, and why.
"""

from typing import Any

# Constants of the preset 'paper' of all tasks, by dotted name.
PUBLISHED: dict[str, Any] = {
  'training.num_tasks': 500,  # [code]
  'agent.activation': 'tanh',  # [code]
  'agent.attention_gain': 1.0,  # [code]
  'ppo.learning_rate': 5e-4,  # [paper] table of hyper-parameters.
  'ppo.entropy_cost': 0.01,  # [paper]
  'ppo.num_epochs': 15,  # [paper]
  'ppo.num_minibatches': 1,  # [code] one full-batch step an epoch.
  'ppo.max_gradient_norm': 0.0,  # [code] off in the released commands.
  'ppo.normalize_value': False,  # [code] off in the released commands.
  'curriculum.num_children': 150,  # [paper]
  'curriculum.max_children_per_seed': 0,  # [code] no bound.
  'curriculum.step_size': 0.6,  # [paper] Simple-Spread.
  'curriculum.noise': 0.6,  # [paper] Simple-Spread.
  'curriculum.noise_probability': 1.0,  # [paper]
  'curriculum.seed_choice': 'first',  # [code]
}


def gradient_scale(num_chunks: int) -> dict[str, float]:
  """Returns the override for [code], which sums the gradients of chunks."""
  return {'ppo.gradient_scale': float(num_chunks)}
