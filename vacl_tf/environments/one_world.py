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

# The observation of n agents: an array [n, F], or a dict of arrays. In a dict,
# the arrays [n, F] together are the agents' own features. An array [n, m, F]
# has m entities of the kind that its key names, and a bool array [n, m] called
# KIND_mask says which of them are there. A world with a single agent may leave
# out the axis n.
Observation = np.ndarray | Mapping[str, np.ndarray]


class Step(NamedTuple):
  """Results of one step."""

  observation: Observation
  reward: float | np.ndarray  # One for all agents, or [n].
  progress: float  # In [0, 1]: coverage or success.
  has_ended: bool = False  # Terminated: there is no further reward.
  is_cut: bool = False  # Truncated: the world is cut off before its end.


class OneWorld(abc.ABC):
  """One world in plain Python.

  Attributes:
    num_agents: number of acting agents (n).
    action: spec of one agent's action; see `types.discrete`,
      `types.multi_discrete` and `types.continuous`.
    wrapped: the environment that the world plays, if it only wraps one. Each
      world needs its own.
  """

  num_agents: int = 1
  wrapped: object | None = None
  action: specs.BoundedArray

  @abc.abstractmethod
  def reset(self, task: np.ndarray, rng: np.random.Generator) -> Observation:
    """Begins an episode of a task.

    Args:
      task: where the world begins, in the shape of the box of tasks.
      rng: generator for everything else that is random in the episode.
    """

  @abc.abstractmethod
  def step(self, actions: np.ndarray) -> Step:
    """Plays actions [n, ...] of the agents."""

  def read_task(self) -> np.ndarray | None:
    """Returns the task that would place the world as it is now.

    None if the world cannot tell; the task that it began with is used then.
    """
    return None

  def render(self) -> np.ndarray | None:
    """Returns a picture, uint8 [height, width, 3]; None if there is none."""
    return None

  def close(self) -> None:
    """Releases the resources of the world."""
    return
