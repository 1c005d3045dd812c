# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""MPE2's simple_spread in parallel, begun from task vectors.

Its physics and observations as they are. The reward is sparse, as in the paper
on VACL: the share of landmarks that are covered after a step.
"""

import numpy as np
from mpe2 import simple_spread_v3

NUM_AGENTS = 3
HORIZON = 25  # MPE2's own.
COVER_DISTANCE = 0.1  # Below it MPE2 counts a landmark as occupied.
NUM_ACTIONS = 5
TASK_SIZE = 4 * NUM_AGENTS  # Positions of all agents, then of all landmarks.


class Worlds:
  """Worlds that are placed and stepped together."""

  def __init__(self, num_worlds: int) -> None:
    self._envs = [
      simple_spread_v3.parallel_env(N=NUM_AGENTS, max_cycles=HORIZON)
      for _ in range(num_worlds)
    ]

  def place(self, tasks: np.ndarray) -> np.ndarray:
    """Begins episodes at tasks [B, D]; returns observations [B, n, F]."""
    self._num = len(tasks)  # Of the worlds that are played, the first ones.
    for env, task in zip(self._envs, tasks, strict=False):
      env.reset(seed=0)
      world = env.unwrapped.world
      positions = task.astype(np.float64).reshape([-1, 2])
      entities = world.agents + world.landmarks
      for entity, position in zip(entities, positions, strict=True):
        entity.state.p_pos = position.copy()
    return self._observations(
      [
        [env.unwrapped.observe(name) for name in env.agents]
        for env in self._envs[: self._num]
      ]
    )

  def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Takes actions [B, n]; returns observations and coverage [B]."""
    found = []
    for env, chosen in zip(self._envs, actions, strict=False):
      observations, *_ = env.step(
        dict(zip(env.agents, chosen.tolist(), strict=True))
      )
      found.append(list(observations.values()))
    return self._observations(found), self._coverage()

  def _observations(self, found: list[list[np.ndarray]]) -> np.ndarray:
    # Without the messages, which these agents do not send.
    size = 2 + 2 + 2 * NUM_AGENTS + 2 * (NUM_AGENTS - 1)
    return np.asarray(found, np.float32)[..., :size]

  def _coverage(self) -> np.ndarray:
    worlds = [env.unwrapped.world for env in self._envs[: self._num]]
    agents = np.array([[x.state.p_pos for x in w.agents] for w in worlds])
    marks = np.array([[x.state.p_pos for x in w.landmarks] for w in worlds])
    delta = marks[:, :, None] - agents[:, None]  # [B, landmarks, agents, 2]
    nearest = np.sqrt((delta**2).sum(-1)).min(-1)
    return (nearest < COVER_DISTANCE).mean(-1)
