# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The contract of a world: simulated inside a TensorFlow graph, or outside.

Both kinds are batches of worlds of one task family, begun together from task
vectors, which are data. `Environment` is a set of pure functions that XLA
compiles together with the policy. `Simulator` is a stateful object in plain
Python and NumPy; MuJoCo is one, a user's own world is another.
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
# The least and the largest value of each feature, [F].
Bounds = tuple[np.ndarray, np.ndarray]
ROUNDING = simulator.ROUNDING
Outcome = simulator.Outcome
Simulator = simulator.Simulator
WorldError = simulator.WorldError
to_numpy = simulator.to_numpy


class World(abc.ABC):
  """What training must know of a task family.

  Attributes:
    name: of the task.
    roles: the groups of alike agents.
    horizon: steps of an episode (T).
    is_terminal: whether the last step ends the world (no bootstrap there).
    is_in_graph: whether it is an `Environment`.
    task_space: the tasks that can be placed.
    counts: numbers of entities, as a path of entity progression has them.
  """

  name: str
  roles: tuple[types.Role, ...]
  horizon: int
  is_terminal: bool = False
  is_in_graph: bool
  task_space: task_space.TaskSpace

  @property
  def num_vectors(self) -> int:
    """Vectors that the agents of a world look at in a step, all in all."""
    num_agents = sum(role.num_agents for role in self.roles)
    return num_agents * self.task_space.num_entities

  @property
  def counts(self) -> tuple[int, ...]:
    return (self.task_space.num_agents,)

  @abc.abstractmethod
  def observe(self, state: types.State) -> types.Observations:
    """Returns what the agents observe in a stored state, leaves [B, ...]."""

  @abc.abstractmethod
  def read_task(self, state: types.State) -> tf.Tensor:
    """Returns phi [B, D] such that placing it would give these positions."""

  @abc.abstractmethod
  def make_simulator(self, num_worlds: int) -> Simulator:
    """Returns so many worlds, to be stepped from outside of TensorFlow."""

  def observation_bounds(self) -> tuple[Mapping[str, Bounds], ...]:
    """Returns the bounds of what agents observe, per role.

    By 'own' and kind of entity; kinds that are left out are not bounded.
    """
    return tuple({} for _ in self.roles)

  def pictures(self, states: Sequence[Any]) -> list[list[Picture]]:
    """Returns pictures of the worlds in consecutive states of a simulator.

    Args:
      states: what `Simulator.state` was.

    Returns:
      For each state a list of B pictures.

    Raises:
      NotImplementedError: the world can't be drawn.
    """
    raise NotImplementedError(f'{self.name} has no pictures')

  def draw(self, state: Any) -> list[shapes.Scene]:
    """Returns what to draw of each of the B worlds, seen from above.

    Raises:
      NotImplementedError: the world is not made of shapes.
    """
    raise NotImplementedError(f'{self.name} is not drawn from shapes')

  @property
  def legend(self) -> tuple[tuple[str, shapes.Colour], ...]:
    """What the colours of the pictures mean, if anything."""
    return ()

  def sketches(self, state: Any) -> list[Picture]:
    """Returns pictures of the B worlds, quick enough for every step."""
    return self.pictures([state])[0]

  def speed(self) -> dict[str, float]:
    """Measures the world by itself, for `launch.benchmark`.

    Returns:
      `env_steps_per_second` and figures of the simulation by name, which begin
      with `env_`; nothing where steps with random actions tell it all.
    """
    return {}


class Environment(World):
  """B worlds of one task family that are simulated in a TensorFlow graph.

  Pure functions of their arguments: state goes in and comes out.
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
    """Returns [B] in [0, 1]: coverage or success; what V averages."""

  def discount(self, state: types.State) -> tf.Tensor:
    """Returns [B]: 0 where the world ended on reaching this state, else 1.

    A world that ends has to be at the start of its task again in this state.
    Its task is judged by the progress at its first end.
    """
    return tf.ones_like(self.progress(state))

  @abc.abstractmethod
  def draw(self, state: types.State) -> list[shapes.Scene]:
    """Returns what to draw of each of the B worlds."""

  def make_simulator(self, num_worlds: int) -> Simulator:
    return graph_simulator.GraphSimulator(self, num_worlds)

  def pictures(self, states: Sequence[Any]) -> list[list[Picture]]:
    worlds = zip(*map(self.draw, states), strict=True)
    scenes = [shapes.with_trails(world) for world in worlds]
    return [
      list(map(rendering.render, step)) for step in zip(*scenes, strict=True)
    ]


class HostWorld(World):
  """Worlds that a `Simulator` plays. What is stored is what was observed."""

  is_in_graph = False

  def observe(self, state: types.State) -> types.Observations:
    """Returns what was stored: it is what was observed."""
    return state

  def read_task(self, state: types.State) -> tf.Tensor:
    """Simulators know their tasks; see `Simulator.read_task`."""
    raise NotImplementedError
