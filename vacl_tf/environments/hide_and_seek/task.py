# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a task of hide-and-seek is made of.

Letters as in the legend of `vacl_tf.types` (which is not imported, as it needs
TensorFlow): B worlds, n acting agents, m objects or tokens of a kind, F
features, D numbers of a task vector; besides, N agents in all and E entities.
"""

import abc
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from vacl_tf.environments.hide_and_seek import arena
from vacl_tf.environments.hide_and_seek import entities
from vacl_tf.environments.hide_and_seek import grid

HORIZON = 60


class Feature(NamedTuple):
  """A number that is observed, in metres, radians and seconds."""

  name: str
  low: float = -math.inf
  high: float = math.inf


class State(NamedTuple):
  """Where everything is, and what the rules remember. Arrays of all worlds.

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


class Seen(NamedTuple):
  """What the acting agents see. Nothing is hidden, so there are no masks."""

  own: np.ndarray  # float32 [B, n, F]
  entities: Mapping[str, np.ndarray]  # kind -> float32 [B, n, m, F]


class Observations(NamedTuple):
  """What acting and judging an agent's situation are based on."""

  actor: Seen
  critic: Seen


class Outcome(NamedTuple):
  """What a step has led to."""

  reward: np.ndarray  # float32 [B, n]
  progress: np.ndarray  # float32 [B] in [0, 1]; what V averages.
  is_success: np.ndarray  # bool [B], all that was asked for.


class Task(abc.ABC):
  """Who is there, what is asked of them, and what they see.

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
    features: what `Seen` holds, by 'own' and kind of entity.
    unseen_place: two features of 'own', x and y of a place, that are 0 for
      actors; or none.
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
  unseen_place: tuple[int, ...] = ()
  slots: Mapping[str, int]
  num_start_draws: int

  def sample_easy(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns [num_tasks, D] tasks that begin (almost) solved, GetEasy."""
    shape = [num_tasks, self.grid.num_easy_draws]
    return self.grid.easy(rng.random(shape, np.float32))

  def sample_uniform(
    self, num_tasks: int, rng: np.random.Generator
  ) -> np.ndarray:
    """Returns [num_tasks, D] tasks such as are to be solved (sheet, 5.2)."""
    shape = [num_tasks, self.grid.num_uniform_draws]
    return self.grid.uniform(rng.random(shape, np.float32))

  @abc.abstractmethod
  def start(self, phi: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Returns the cells [B, E, 2] that everybody starts from.

    Args:
      phi: legal tasks [B, D].
      numbers: [B, num_start_draws] from U[0, 1), for who is not in phi.
    """

  @abc.abstractmethod
  def read_task(self, cells: np.ndarray) -> np.ndarray:
    """Returns the phi [B, D] that leads to cells [B, E, 2]."""

  @abc.abstractmethod
  def observe(self, state: State) -> Observations:
    """Returns what the acting agents see."""

  @abc.abstractmethod
  def judge(self, state: State) -> Outcome:
    """Returns what the acting agents get for having reached a state."""

  @abc.abstractmethod
  def captions(self, state: State) -> list[str]:
    """Returns a line about each world, to stand below its picture."""


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
