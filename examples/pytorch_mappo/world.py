# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Parallel worlds of MPE2's simple_spread that start from task vectors.

Bodies, forces and steps are those of MPE2, and so are the numbers that agents
observe. The map and the reward are those of Simple-Spread in the VACL paper:
6 x 6 m, where MPE2 starts in 2 x 2 m, and a reward only while all landmarks are
covered. `world_test.py` compares with MPE2's environment step by step.
"""

import numpy as np
from mpe2 import simple_spread_v3

NUM_AGENTS = 3
HORIZON = 70
HALF_WIDTH = 3.0  # Metres.
COVER_DISTANCE = 0.15  # Metres, as in the paper's task; MPE2 uses 0.1.
NUM_ACTIONS = 5
TASK_SIZE = 4 * NUM_AGENTS  # Positions of all agents, then of all landmarks.
# Directions of MPE2's actions: none, left, right, down, up.
_MOVES = np.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]], np.float64)
_FORCES = 5.0 * _MOVES


class Worlds:
  """Worlds that are placed and stepped together."""

  def __init__(self, num_worlds: int) -> None:
    envs = [
      simple_spread_v3.parallel_env(N=NUM_AGENTS, max_cycles=HORIZON)
      for _ in range(num_worlds)
    ]
    for env in envs:
      env.reset(seed=0)  # Gives the agents a velocity and a message.
    self._worlds = [env.unwrapped.world for env in envs]
    self._num = 0  # Only the first `_num` worlds are played.
    self._landmarks = np.zeros([0])

  def place(self, tasks: np.ndarray) -> np.ndarray:
    """Starts episodes at tasks [B, D]; returns observations [B, n, F]."""
    self._num = len(tasks)
    positions = tasks.astype(np.float64).reshape([self._num, -1, 2])
    for world, places in zip(self._worlds, positions, strict=False):
      for entity, place in zip(world.entities, places, strict=True):
        entity.state.p_pos = place.copy()
        entity.state.p_vel = np.zeros([2])
    self._landmarks = positions[:, NUM_AGENTS:]
    return self._observe(*self._motion())

  def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Takes actions [B, n]; returns observations and coverage [B]."""
    forces = _FORCES[actions]
    for index, world in enumerate(self._worlds[: self._num]):
      for agent, force in zip(world.agents, forces[index], strict=True):
        agent.action.u = force
      world.step()
    position, velocity = self._motion()
    delta = self._landmarks[:, :, None] - position[:, None]
    nearest = np.sqrt((delta**2).sum(-1)).min(-1)
    covered = (nearest < COVER_DISTANCE).mean(-1)
    return self._observe(position, velocity), covered

  def _motion(self) -> tuple[np.ndarray, np.ndarray]:
    """Returns positions and velocities of the agents, [B, n, 2] each."""
    states = [x.state for w in self._worlds[: self._num] for x in w.agents]
    shape = [self._num, NUM_AGENTS, 2]
    position = np.reshape([x.p_pos for x in states], shape)
    return position, np.reshape([x.p_vel for x in states], shape)

  def _observe(self, position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    """Returns MPE2's observations without messages, which nobody sends."""
    landmarks = self._landmarks[:, None] - position[:, :, None]
    between = position[:, None] - position[:, :, None]
    is_other = ~np.eye(NUM_AGENTS, dtype=bool)
    shape = [self._num, NUM_AGENTS, -1]
    parts = [velocity, position, landmarks, between[:, is_other]]
    found = np.concatenate([x.reshape(shape) for x in parts], -1)
    return found.astype(np.float32)
