# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The contract of worlds, simulated inside a TensorFlow graph or outside it.

Both kinds are batches of worlds of one task family. All worlds of a batch begin
together, each from its own task vector; task vectors are data. `Environment` is
a set of pure functions that XLA compiles together with the policy. `Simulator`
is a stateful object in plain Python and NumPy; examples are MuJoCo and a user's
own world.
"""

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import types
from vacl_tf.environments import graph_simulator
from vacl_tf.environments import rendering
from vacl_tf.environments import shapes
from vacl_tf.environments import simulator
from vacl_tf.environments import task_space

Picture = np.ndarray  # [height, width, 3] uint8.
# The smallest and the largest value of each feature, [F].
Bounds = tuple[np.ndarray, np.ndarray]
ROUNDING = simulator.ROUNDING
Outcome = simulator.Outcome
Simulator = simulator.Simulator
WorldError = simulator.WorldError
to_numpy = simulator.to_numpy


class World(abc.ABC):
  """Everything that training needs to know about a task family.

  Attributes:
    name: name of the task.
    roles: groups of agents with the same observations and actions.
    horizon: steps of an episode (T).
    is_terminal: whether the last step ends the world, so that values are not
      bootstrapped there.
    is_in_graph: whether the world is an `Environment`.
    task_space: the tasks in which the world can begin.
    counts: entity counts, in the order of paths of entity progression.
  """

  name: str
  roles: tuple[types.Role, ...]
  horizon: int
  is_terminal: bool = False
  is_in_graph: bool
  task_space: task_space.TaskSpace

  @property
  def num_vectors(self) -> int:
    """Number of vectors that all agents of a world observe in a step."""
    num_agents = sum(role.num_agents for role in self.roles)
    return num_agents * self.task_space.num_entities

  @property
  def counts(self) -> tuple[int, ...]:
    return (self.task_space.num_agents,)

  @abc.abstractmethod
  def observe(self, state: types.State) -> types.Observations:
    """Returns the observations in a stored state; leaves are [B, ...]."""

  @abc.abstractmethod
  def read_task(self, state: types.State) -> tf.Tensor:
    """Returns the tasks phi [B, D] whose placement gives these positions."""

  @abc.abstractmethod
  def make_simulator(self, num_worlds: int) -> Simulator:
    """Returns a simulator of `num_worlds` worlds, run outside TensorFlow."""

  def observation_bounds(self) -> tuple[Mapping[str, Bounds], ...]:
    """Returns the bounds of the observations, per role.

    Keys are 'own' and kinds of entities. Kinds without a key have no bounds.
    """
    return tuple({} for _ in self.roles)

  def pictures(self, states: Sequence[Any]) -> list[list[Picture]]:
    """Returns pictures of the worlds in consecutive states of a simulator.

    Args:
      states: consecutive values of `Simulator.state`.

    Returns:
      For each state a list of B pictures.

    Raises:
      NotImplementedError: the world cannot be drawn.
    """
    raise NotImplementedError(f'{self.name} cannot be drawn')

  def draw(self, state: Any) -> list[shapes.Scene]:
    """Returns a scene, seen from above, for each of the B worlds.

    Raises:
      NotImplementedError: the world is not drawn from shapes.
    """
    raise NotImplementedError(f'{self.name} is not drawn from shapes')

  @property
  def legend(self) -> tuple[tuple[str, shapes.Colour], ...]:
    """Meanings of the colours in pictures; empty if they have none."""
    return ()

  def sketches(self, state: Any) -> list[Picture]:
    """Returns pictures of the B worlds, fast enough for every step."""
    return self.pictures([state])[0]

  def speed(self) -> dict[str, float]:
    """Measures the speed of the world without training.

    Returns:
      `env_steps_per_second`, and figures of the simulation whose names begin
      with `env_`. Empty if `launch.benchmark` should time steps with random
      actions instead.
    """
    return {}


class Environment(World):
  """B worlds of one task family that are simulated in a TensorFlow graph.

  The methods are pure functions of their arguments: they receive the state and
  keep none.
  """

  is_in_graph = True

  @abc.abstractmethod
  def place(self, phi: tf.Tensor, seed: types.Seed) -> types.State:
    """Returns the state of B worlds at the start of tasks phi [B, D]."""

  @abc.abstractmethod
  def step(self, state: types.State, action: types.Actions) -> types.State:
    """Returns the state after one step of every world."""

  @abc.abstractmethod
  def reward(self, state: types.State) -> tuple[tf.Tensor, ...]:
    """Returns the reward [B, n], per role, for having reached this state."""

  @abc.abstractmethod
  def progress(self, state: types.State) -> tf.Tensor:
    """Returns [B] in [0, 1]: coverage or success; task values average it."""

  def discount(self, state: types.State) -> tf.Tensor:
    """Returns [B]: 0 where the world ended on reaching this state, else 1.

    In this state, a world that ended has to be at the start of its task again.
    The progress at its first end counts for the rest of the roll-out.
    """
    return tf.ones_like(self.progress(state))

  @abc.abstractmethod
  def draw(self, state: types.State) -> list[shapes.Scene]:
    """Returns a scene for each of the B worlds.

    Films draw trails of filled discs: the i-th disc is the same in all scenes
    that have as many discs.
    """

  def make_simulator(self, num_worlds: int) -> Simulator:
    return graph_simulator.GraphSimulator(self, num_worlds)

  def pictures(self, states: Sequence[Any]) -> list[list[Picture]]:
    worlds = zip(*map(self.draw, states), strict=True)
    scenes = [shapes.with_trails(world) for world in worlds]
    return [
      list(map(rendering.render, step)) for step in zip(*scenes, strict=True)
    ]


class HostWorld(World):
  """Worlds that a `Simulator` plays. Their stored states are observations."""

  is_in_graph = False

  def observe(self, state: types.State) -> types.Observations:
    """Returns the stored state, which is the observation."""
    return state

  def read_task(self, state: types.State) -> tf.Tensor:
    """Not supported: observations lack the task; see `Simulator.read_task`."""
    raise NotImplementedError
