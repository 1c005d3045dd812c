# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The parts of a task of hide-and-seek.

Shape letters as in `vacl_tf.types`, which is not imported, as it needs
TensorFlow: B worlds, n acting agents, m objects or tokens of a kind, F
features, D numbers of a task vector; besides, N agents in all and E entities.
"""

import abc
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from vacl_tf.environments.hide_and_seek import arena
from vacl_tf.environments.hide_and_seek import entities
from vacl_tf.environments.hide_and_seek import grid

HORIZON = 60


class Feature(NamedTuple):
  """An observed number, in metres, radians and seconds."""

  name: str
  low: float = -math.inf
  high: float = math.inf


class State(NamedTuple):
  """Positions and the memory of the rules; arrays over all worlds.

  Entities are numbered as in `entities.Cast`, and so are objects.
  """

  position: np.ndarray  # [B, E, 4] joints x, y, z, yaw.
  velocity: np.ndarray  # [B, E, 4]
  is_locked: np.ndarray  # bool [B, m]
  locker: np.ndarray  # int [B, m] the agent that locked it last.
  held: np.ndarray  # int [B, N] the object in an agent's hands, or NOTHING.
  birthplace: np.ndarray  # [B, N, 2] x and y at the start.
  is_seen: np.ndarray  # bool [B, looks of the task]
  step: int  # Steps played, 0 at the start.


class Observation(NamedTuple):
  """What the acting agents observe, as `vacl_tf.types.Observation` has it."""

  own: np.ndarray  # float32 [B, n, F] as the policy observes it.
  entities: Mapping[str, np.ndarray]  # kind -> float32 [B, n, m, F]
  masks: Mapping[str, np.ndarray] = {}  # All slots are filled: always empty.
  critic_own: Any = ()  # float32 [B, n, F] as the critic does; () if alike.


class Outcome(NamedTuple):
  """Result of a step."""

  reward: np.ndarray  # float32 [B, n]
  progress: np.ndarray  # float32 [B] in [0, 1]; what V averages.
  is_success: np.ndarray  # bool [B], all that was asked for.


class Task(abc.ABC):
  """Entities, goal, reward and observations of a task.

  Attributes:
    name: as known to `hide_and_seek.load`.
    horizon: steps of an episode (T), the last of which ends the world.
    arena: floor and walls.
    cast: how many of each kind.
    actors: the agents that act (n of them); others stand still.
    teams: of every agent.
    must_see_to_lock: whether locking takes sight, besides nearness.
    reach: how near an object must be, to be grabbed or locked.
    home_radius: how near its birthplace an agent has to come back, in metres,
      or 0 where that is not asked.
    looks: pairs of an agent and an entity of which `State.is_seen` tells
      whether the one sees the other.
    grid: the tasks.
    features: what an `Observation` holds, by 'own' and kind of entity.
    critic_only_position: two features of 'own', x and y of a position, that are
      0 for the policy; () where this variant shows them, None where there are
      none.
    slots: how many of each kind of entity an agent sees (m).
    num_start_draws: numbers from U[0, 1) that `start` wants for a world.
  """

  name: str
  horizon: int = HORIZON
  arena: arena.Arena
  cast: entities.Cast
  actors: tuple[int, ...]
  teams: tuple[int, ...]
  must_see_to_lock: bool
  reach: float
  home_radius: float = 0.0
  looks: tuple[tuple[int, int], ...]
  grid: grid.Grid
  features: Mapping[str, tuple[Feature, ...]]
  critic_only_position: tuple[int, ...] | None = None
  slots: Mapping[str, int]
  num_start_draws: int

  def sample_easy(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns [num_tasks, D] tasks that begin (almost) solved, GetEasy."""
    shape = [num_tasks, self.grid.num_easy_draws]
    return self.grid.easy(rng.random(shape, np.float32))

  def sample_uniform(
    self, num_tasks: int, rng: np.random.Generator
  ) -> np.ndarray:
    """Returns [num_tasks, D] tasks of the target distribution."""
    shape = [num_tasks, self.grid.num_uniform_draws]
    return self.grid.uniform(rng.random(shape, np.float32))

  @abc.abstractmethod
  def start(self, phi: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Returns the cells [B, E, 2] that everybody starts from.

    Args:
      phi: legal tasks [B, D].
      numbers: [B, num_start_draws] from U[0, 1), for entities outside phi.
    """

  @abc.abstractmethod
  def read_task(self, cells: np.ndarray) -> np.ndarray:
    """Returns the phi [B, D] that leads to cells [B, E, 2]."""

  @abc.abstractmethod
  def observe(self, state: State) -> Observation:
    """Returns what the acting agents observe."""

  @abc.abstractmethod
  def judge(self, state: State) -> Outcome:
    """Returns reward, progress and success of having reached a state."""

  @abc.abstractmethod
  def captions(self, state: State) -> list[str]:
    """Returns a caption for the picture of each world."""


def joint_features(side: float, yaw: tuple[str, ...]) -> tuple[Feature, ...]:
  """Returns x, y, z, the names of the yaw, and four velocities.

  Args:
    side: length of the floor's side; x and y are those of the lower left
      corner of the square that an entity stands on.
    yaw: 'yaw', counted on and on, or 'cos' and 'sin'.
  """
  bound = 1.0 if len(yaw) > 1 else math.inf
  return (
    Feature('x', 0.0, side),
    Feature('y', 0.0, side),
    Feature('z'),
    *(Feature(name, -bound, bound) for name in yaw),
    *(Feature(name) for name in ('vx', 'vy', 'vz', 'yaw_rate')),
  )


def unit_features(*names: str) -> tuple[Feature, ...]:
  """Returns features between 0 and 1."""
  return tuple(Feature(name, 0.0, 1.0) for name in names)


LOCK_FLAGS = unit_features('locked_by_me', 'locked_by_my_team', 'is_locked')


def lock_flags(state: State, task: Task) -> np.ndarray:
  """Returns the three LOCK_FLAGS of all objects, bool [B, n, m, 3]."""
  actors, teams = np.array(task.actors), np.array(task.teams)
  is_locked = np.repeat(state.is_locked[:, None], len(actors), 1)
  is_mine = actors[:, None] == state.locker[:, None]
  is_ours = teams[actors][:, None] == teams[state.locker][:, None]
  return np.stack([is_locked & is_mine, is_locked & is_ours, is_locked], -1)


def with_turn(position: np.ndarray, velocity: np.ndarray) -> np.ndarray:
  """Returns x, y, z, cos and sin of the yaw, and velocities, [..., 9]."""
  yaw = position[..., 3:]
  parts = (position[..., :3], np.cos(yaw), np.sin(yaw), velocity)
  return np.concatenate(parts, -1)
