# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""MPE2's simple_spread with its own rules and reward, plus tasks and progress.

Registers `mpe_spread`, with MPE2's five actions, and `mpe_spread_force`, with a
bounded force. docs/guides/own_world.md says what a world needs.
"""

from typing import Any

import gymnasium
import numpy as np
from mpe2 import simple_spread_v3
from pettingzoo.utils import wrappers

from vacl_tf.environments import box_tasks
from vacl_tf.environments import pettingzoo_world
from vacl_tf.environments import python_world

NUM_AGENTS = 3
HORIZON = 40  # Steps.
REACH = 0.1  # Metres; an agent this near covers a landmark, as in MPE2.


class Spread(wrappers.BaseParallelWrapper):
  """A task is [2 n, 2]: positions of the agents, then of the landmarks.

  Agents observe what MPE2 lets them observe, entity by entity: the offset to
  each landmark and each other agent, its direction and nearness, and the
  distance from each landmark to the nearest other agent.
  """

  def __init__(self, num_agents: int, has_force: bool) -> None:
    world = simple_spread_v3.parallel_env(
      N=num_agents, max_cycles=HORIZON, continuous_actions=has_force
    )
    super().__init__(world)
    self._has_force = has_force
    self._is_other = ~np.eye(num_agents, dtype=bool)
    shapes = {
      'own': [4],
      'agents': [num_agents - 1, 5],
      'landmarks': [num_agents, 6],
    }
    box = gymnasium.spaces.Box
    self._seen = gymnasium.spaces.Dict(
      {key: box(-np.inf, np.inf, shape) for key, shape in shapes.items()}
    )

  def observation_space(self, agent: str) -> gymnasium.Space:
    return self._seen

  def action_space(self, agent: str) -> gymnasium.Space:
    if self._has_force:  # `step` turns the force into the five parts of MPE2.
      return gymnasium.spaces.Box(-1.0, 1.0, [2])
    return super().action_space(agent)

  def reset(
    self, seed: int | None = None, options: dict[str, Any] | None = None
  ) -> tuple[dict[str, Any], dict[str, dict]]:
    _, infos = self.env.reset(seed=seed)
    entities = self.unwrapped.world.entities
    for entity, point in zip(entities, options['task'], strict=True):
      entity.state.p_pos = point.astype(np.float64)
    return self._look()[0], infos

  def step(self, actions: dict[str, Any]) -> tuple[dict, ...]:
    if self._has_force:
      actions = {
        agent: np.maximum(np.float32([0.0, -x, x, -y, y]), 0.0)
        for agent, (x, y) in actions.items()
      }
    _, *found, infos = self.env.step(actions)
    seen, progress = self._look()
    return seen, *found, {agent: {'progress': progress} for agent in infos}

  def read_task(self) -> np.ndarray:
    return np.stack([x.state.p_pos for x in self.unwrapped.world.entities])

  def _look(self) -> tuple[dict[str, Any], float]:
    """Returns what each agent observes, and the share of covered landmarks."""
    agents, landmarks = np.split(self.read_task(), 2)
    velocity = [x.state.p_vel for x in self.unwrapped.world.agents]
    towards, distance = _ways(agents, landmarks)
    between, _ = _ways(agents, agents)
    of_others = np.where(self._is_other[..., None], distance, np.inf).min(1)
    parts = {
      'own': np.concatenate([velocity, agents], 1),
      'agents': between[self._is_other].reshape([len(agents), -1, 5]),
      'landmarks': np.concatenate([towards, of_others[..., None]], 2),
    }
    seen = {
      name: {key: x[i].astype(np.float32) for key, x in parts.items()}
      for i, name in enumerate(self.possible_agents)
    }
    return seen, float(np.mean(distance.min(0) < REACH))


def _ways(
  agents: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
  """Returns offsets, directions, nearness [n, m, 5], and distances [n, m]."""
  way = places - agents[:, None]
  distance = np.sqrt((way**2).sum(2))
  each = distance[..., None]
  unit, nearness = way / (each + 1e-6), np.exp(-2.0 * each)
  return np.concatenate([way, unit, nearness], 2), distance


def easy(num_tasks: int, rng: np.random.Generator) -> np.ndarray:
  """Returns tasks in which each agent starts at a landmark."""
  landmarks = rng.uniform(-0.9, 0.9, [num_tasks, NUM_AGENTS, 2])
  near = landmarks + rng.uniform(-0.07, 0.07, landmarks.shape)
  return np.concatenate([near, landmarks], 1)


corner = np.ones([2 * NUM_AGENTS, 2])
kinds = NUM_AGENTS * ['agent'] + NUM_AGENTS * ['landmark']
for name, has_force in ('mpe_spread', False), ('mpe_spread_force', True):
  python_world.register(
    name,
    make=lambda n, x=has_force: pettingzoo_world.PettingZooWorld(Spread(n, x)),
    tasks=lambda n: box_tasks.Box(-corner, corner, easy, kinds=kinds),
    horizon=HORIZON,
    num_agents=NUM_AGENTS,
    num_env_steps=1_500_000,
    values={
      'agent.num_hops': 2,
      'training.num_tasks': 240,
      'training.num_evaluation_tasks': 100,
      'ppo.num_epochs': 5,
      'ppo.max_gradient_norm': 1.0,
      'ppo.decay_start_steps': 500_000,
      'ppo.decay_power': 2.0,
    },
  )
