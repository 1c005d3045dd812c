# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The contract of a batched environment that runs inside a TF graph."""

import abc

import numpy as np
import tensorflow as tf

from vacl_tf import types
from vacl_tf.environments import shapes
from vacl_tf.environments import task_space


class World(abc.ABC):
  """What training must know of a task family.

  Episodes have a fixed length and begin together from task vectors, which are
  data.

  Attributes:
    name: as known to `environments.load`.
    roles: the groups of alike agents.
    horizon: steps of an episode (T).
    is_terminal: whether the last step ends the world (no bootstrap there).
    task_space: the tasks that can be placed.
  """

  name: str
  roles: tuple[types.Role, ...]
  horizon: int
  is_terminal: bool
  task_space: task_space.TaskSpace

  @property
  def num_vectors(self) -> int:
    """Vectors that the agents of a world look at in a step, all in all."""
    num_agents = sum(role.num_agents for role in self.roles)
    return num_agents * self.task_space.num_entities

  @property
  def counts(self) -> tuple[int, ...]:
    """Numbers of entities, as a path of entity progression has them."""
    return (self.task_space.count,)


class Environment(World):
  """B worlds of one task family, stepped together.

  Pure functions of their arguments: state goes in and comes out.
  """

  @abc.abstractmethod
  def place(self, phi: tf.Tensor, seed: types.Seed) -> types.State:
    """Returns the state of B worlds at the start of tasks phi [B, D]."""

  @abc.abstractmethod
  def read_task(self, state: types.State) -> tf.Tensor:
    """Returns phi [B, D] such that `place` would give these positions."""

  @abc.abstractmethod
  def step(self, state: types.State, action: types.Actions) -> types.State:
    """Returns the state after one step of every world."""

  @abc.abstractmethod
  def observe(self, state: types.State) -> types.Observations:
    """Returns what the agents see in this state."""

  @abc.abstractmethod
  def reward(self, state: types.State) -> tuple[tf.Tensor, ...]:
    """Returns the reward [B, n], per role, for having reached this state."""

  @abc.abstractmethod
  def progress(self, state: types.State) -> tf.Tensor:
    """Returns [B] in [0, 1]: coverage or success; what V averages."""

  @abc.abstractmethod
  def draw(self, state: types.State) -> list[shapes.Scene]:
    """Returns what to draw of each of the B worlds."""


def to_numpy(state: types.State) -> types.State:
  """Returns the state with every tensor as an array."""
  return tf.nest.map_structure(np.asarray, state)
