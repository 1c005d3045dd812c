# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A PettingZoo ParallelEnv as a world to train in.

`pettingzoo_view` is the reverse.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from vacl_tf.environments import base
from vacl_tf.environments import gymnasium_spaces
from vacl_tf.environments import one_world

try:
  import pettingzoo
except ImportError as error:
  raise ImportError(
    'pettingzoo is not installed; pip install pettingzoo'
  ) from error


class PettingZooWorld(one_world.OneWorld):
  """Agents with equal spaces, in an environment whose reset receives the task.

  The environment has to understand reset(options={'task': task}), and step has
  to return infos[agent]['progress'] in [0, 1]; the mean over agents that have
  it counts. The environment may have a method read_task() that returns the task
  of its current state. It is drawn if its render_mode is 'rgb_array'.

  Dead agents observe zeros, also in masks, so that they see no entities where
  there are masks. Their reward is 0. The world ends with its last agent.
  """

  def __init__(self, env: pettingzoo.ParallelEnv) -> None:
    """Initialises the world.

    Args:
      env: the environment.

    Raises:
      base.WorldError: agents differ, or there is no policy for their actions.
    """
    self._env, self.wrapped = env, env.unwrapped
    self._agents = list(env.possible_agents)
    self.num_agents = len(self._agents)
    self._spaces = self._read_spaces()
    for name, of_agents in self._spaces.items():
      for agent, space in of_agents.items():
        if space != of_agents[self._agents[0]]:
          raise base.WorldError(
            f'{name} of {agent}: {space}, but {of_agents[self._agents[0]]} of '
            f'{self._agents[0]}; all agents need the same space, so pad the '
            'smaller one'
          )
    space = self._spaces['action_space'][self._agents[0]]
    self.action = gymnasium_spaces.action_spec(space, 'action_space')
    self._to_action = gymnasium_spaces.to_action(space)
    self._nothing: dict[str, np.ndarray] = {}

  def reset(
    self, task: np.ndarray, rng: np.random.Generator
  ) -> one_world.Observation:
    observations, _ = self._env.reset(
      seed=int(rng.integers(2**31)), options={'task': task}
    )
    if sorted(observations) != sorted(self._agents):
      raise base.WorldError(
        'reset: expected observations of all possible_agents, '
        f'{self._agents}, given those of {sorted(observations)}'
      )
    now = self._read_spaces()
    for name, of_agents in self._spaces.items():
      for agent, space in of_agents.items():
        if now[name][agent] != space:
          raise base.WorldError(
            f'{name} of {agent}: {now[name][agent]}, but it was {space} '
            'before; it must not change'
          )
    return self._arrays(observations)

  def step(self, actions: np.ndarray) -> one_world.Step:
    chosen = dict(zip(self._agents, actions, strict=True))
    observations, rewards, _, cut, infos = self._env.step(
      {agent: self._to_action(chosen[agent]) for agent in self._env.agents}
    )
    progress = [x['progress'] for x in infos.values() if 'progress' in x]
    if not progress:
      raise base.WorldError(
        "infos of step have no key 'progress'; expected a number from 0 to 1 "
        'from at least one agent'
      )
    is_over, is_cut = not self._env.agents, any(cut.values())
    return one_world.Step(
      observation=self._arrays(observations),
      reward=np.array([rewards.get(x, 0.0) for x in self._agents], np.float32),
      progress=float(np.mean(progress)),
      has_ended=is_over and not is_cut,
      is_cut=is_over and is_cut,
    )

  def read_task(self) -> np.ndarray | None:
    read = getattr(self._env, 'read_task', None)
    return None if read is None else read()

  def render(self) -> np.ndarray | None:
    if getattr(self._env, 'render_mode', None) != 'rgb_array':
      return None
    return self._env.render()

  def close(self) -> None:
    self._env.close()

  def _read_spaces(self) -> dict[str, dict[str, Any]]:
    return {
      name: {agent: getattr(self._env, name)(agent) for agent in self._agents}
      for name in ('action_space', 'observation_space')
    }

  def _arrays(self, observations: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Returns arrays [n, ...] by key, with zeros for dead agents."""
    spaces = self._spaces['observation_space']
    found = {
      agent: gymnasium_spaces.to_arrays(spaces[agent], x)
      for agent, x in observations.items()
    }
    if found:
      some = next(iter(found.values()))
      self._nothing = {key: np.zeros_like(x) for key, x in some.items()}
    rows = [found.get(agent, self._nothing) for agent in self._agents]
    return {key: np.stack([row[key] for row in rows]) for key in self._nothing}
