# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the tasks of hide-and-seek have in common: constants and pictures."""

from typing import TYPE_CHECKING, Any

import numpy as np

from vacl_tf import config
from vacl_tf.environments import map_layout
from vacl_tf.environments import paper

if TYPE_CHECKING:
  from vacl_tf.environments import base

HORIZON = 60
_BOTH = {
  'agent.activation': 'tanh',
  'agent.attention_gain': 1.0,
  'training.num_tasks': 300,
  'training.num_evaluation_tasks': 300,
  'ppo.entropy_cost': 0.01,
  'curriculum.num_children': 200,
  # In cells of 0.2 m.
  'curriculum.step_size': 1.0,
  'curriculum.noise': 1.0,
  'curriculum.noise_probability': 1.0,
}
DEFAULT: dict[str, Any] = _BOTH | {
  # With relative positions and bearings instead of world coordinates, Ramp-Use
  # reaches a coverage of 0.95 at 2.5 M steps instead of 9.5 M, and
  # Lock-and-Return its first solved tasks at 0.5 M instead of 0.9 M (one seed
  # each).
  'agent.observation_frame': 'egocentric',
  # With two agents, three passes take about as long as the roll-out.
  'ppo.num_epochs': 3,
  'ppo.num_minibatches': 6,
  # An update takes 0.9 times as long as with 8000, on one core and on two.
  'ppo.microbatch_vectors': 2000,
  # Gradient norms in Ramp-Use are about 0.5. A single larger one threw a policy
  # from a coverage of 0.40 back to 0.13, with 20 times the usual KL divergence.
  'ppo.max_gradient_norm': 1.0,
  'curriculum.noise': 3.0,  # [code] for Ramp-Use, whose map is 30 cells wide.
  # Without target tasks, the curriculum of Ramp-Use stays on one side of the
  # map for long: coverage at 4.3 M steps is 0.33, and 0.45 with some target
  # tasks (one seed).
  'curriculum.target_share': 1.0,
}
PAPER: dict[str, Any] = (
  paper.PUBLISHED
  | _BOTH
  | {
    'training.num_rollouts': 3,
    'ppo.normalize_value': True,
    'ppo.value_decay': 0.99999,
  }
)


def make(world: config.EnvironmentConfig, **options: Any) -> 'base.World':
  """Returns a task as a world to train in.

  Raises:
    ImportError: MuJoCo is missing or too old.
    ValueError: the horizon is not that of the task.
  """
  if world.horizon != HORIZON:
    raise ValueError(
      f'horizon={world.horizon} is not possible in {world.name}; allowed: '
      f'{HORIZON}, the default; leave it out'
    )
  from vacl_tf.environments import hide_and_seek

  task = hide_and_seek.load(world.name, **options)
  from vacl_tf.environments.hide_and_seek import training_view

  return training_view.HideAndSeek(task, world.counts)


def layout(
  name: str,
  kinds: tuple[str, str],
  counts: tuple[tuple[int, ...], ...] = (),
  **options: Any,
) -> map_layout.MapLayout:
  """Returns where tasks put their entities.

  Raises:
    ImportError: MuJoCo is missing or too old.
  """
  from vacl_tf.environments import hide_and_seek

  task = hide_and_seek.load(name, **options)
  floor = (0.0, task.arena.side) * 2
  boxes = [np.array(wall.box())[:, :2].T for wall in task.arena.walls()]
  return map_layout.MapLayout(
    kinds,
    *kinds,
    floor,
    floor,
    unit=task.arena.side / task.arena.num_cells,
    counts=counts,
    sample=lambda rows: task.sample_uniform(rows, np.random.default_rng(0)),
    walls=tuple(
      tuple(float(mean + side * half) for mean, half in box for side in (-1, 1))
      for box in boxes
    ),
  )
