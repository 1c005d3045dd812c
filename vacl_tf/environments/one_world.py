# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The contract of one world in plain Python.

`python_world.PythonWorld` makes a batch of such worlds and a task of them.
"""

import abc
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from dm_env import specs

# What n agents observe: an array [n, F], or a dict. Its arrays [n, F] together
# are what an agent knows of itself, those [n, m, F] are entities of the kind
# that the key names, and a bool [n, m] called KIND_mask says which of them are
# there. A single agent may leave out the axis n.
Observation = np.ndarray | Mapping[str, np.ndarray]


class Step(NamedTuple):
  """What a step has led to."""

  observation: Observation
  reward: float | np.ndarray  # Of all agents, or [n].
  progress: float  # In [0, 1]: coverage or success.
  has_ended: bool = False  # The world is over, with no reward to come.
  is_cut: bool = False  # The world goes no further, though it is not over.


class OneWorld(abc.ABC):
  """One world.

  Attributes:
    num_agents: that act (n).
    action: of one agent; see `types.discrete`, `types.multi_discrete` and
      `types.continuous`.
  """

  num_agents: int = 1
  action: specs.BoundedArray

  @abc.abstractmethod
  def reset(self, task: np.ndarray, rng: np.random.Generator) -> Observation:
    """Begins an episode of a task, in the shape of its box.

    Args:
      task: where the world begins.
      rng: for all else that is random in the episode.
    """

  @abc.abstractmethod
  def step(self, actions: np.ndarray) -> Step:
    """Plays actions [n, ...] of the agents."""

  def read_task(self) -> np.ndarray | None:
    """Returns the task that would place the world as it is now.

    None if the world can't tell; then it is the task that it began with.
    """
    return None

  def render(self) -> np.ndarray | None:
    """Returns a picture, uint8 [height, width, 3]; None if there is none."""
    return None

  def close(self) -> None:
    """Frees what the world holds."""
    return
