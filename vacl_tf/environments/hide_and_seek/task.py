# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Interface of hide-and-seek tasks.

Shape letters as in `vacl_tf.types` (not imported, as it needs TensorFlow):
B worlds, n acting agents, m objects or tokens of a kind, F features, D task
dimensions; also N agents in total and E entities.
"""

import abc
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from vacl_tf.environments.hide_and_seek import arena
from vacl_tf.environments.hide_and_seek import entities
from vacl_tf.environments.hide_and_seek import grid

HORIZON = 60
# A world with a larger position or velocity, or with NaN, has diverged.
LARGEST = 1e3


class Feature(NamedTuple):
  """Name and bounds of an observed feature; metres, radians, seconds."""

  name: str
  low: float = -LARGEST
  high: float = LARGEST


class State(NamedTuple):
  """Physical state and state of the rules; arrays over all worlds.

  Entities and objects are numbered as in `entities.Cast`.
  """

  position: np.ndarray  # [B, E, 4] joints x, y, z, yaw.
  velocity: np.ndarray  # [B, E, 4]
  is_locked: np.ndarray  # bool [B, m]
  locker: np.ndarray  # int [B, m] the agent that locked it last.
  held: np.ndarray  # int [B, N] the object that an agent holds, or NOTHING.
  birthplace: np.ndarray  # [B, N, 2] x and y at the start.
  is_seen: np.ndarray  # bool [B, P] by pair of `Task.looks`.
  step: int  # Steps played, 0 at the start.


class Observation(NamedTuple):
  """What acting agents observe; same fields as `vacl_tf.types.Observation`."""

  own: np.ndarray  # float32 [B, n, F] as the policy observes it.
  entities: Mapping[str, np.ndarray]  # kind -> float32 [B, n, m, F]
  masks: Mapping[str, np.ndarray] = {}  # Always empty: all slots are filled.
  critic_own: Any = ()  # float32 [B, n, F] for the critic; () if the same.


class Outcome(NamedTuple):
  """Result of a step."""

  reward: np.ndarray  # float32 [B, n]
  progress: np.ndarray  # float32 [B] in [0, 1]; task values average it.
  is_success: np.ndarray  # bool [B], whether the goal is fully reached.


class Task(abc.ABC):
  """Entities, goal, reward and observations of a task.

  Attributes:
    name: name of the task in `hide_and_seek.load`.
    horizon: steps of an episode (T); the last one is terminal.
    arena: floor and walls.
    cast: numbers of entities of each kind.
    actors: indices of the n acting agents; the others do not act.
    teams: team of each agent.
    must_see_to_lock: whether locking requires seeing the object.
    reach: largest distance at which an object can be grabbed or locked, metres.
    home_radius: distance from its birthplace within which an agent counts as
      back, in metres; 0 if agents need not return.
    looks: pairs (agent, entity) for which `State.is_seen` says whether the
      agent sees the entity.
    grid: sampling and feasibility of task vectors.
    alike: interchangeable pieces of the grid, one tuple for each kind.
    features: features of an `Observation`, by 'own' and kind of entity.
    critic_only_position: indices in 'own' of an x and a y that are 0 for the
      policy; () if this variant shows them to the policy, None if the task has
      no such features.
    slots: number of observed entities of each kind (m).
    num_start_draws: numbers from U[0, 1) that `start` needs for each world.
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
  alike: tuple[tuple[int, ...], ...] = ()
  features: Mapping[str, tuple[Feature, ...]]
  critic_only_position: tuple[int, ...] | None = None
  slots: Mapping[str, int]
  num_start_draws: int

  def sample_easy(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns [num_tasks, D] tasks that begin (almost) solved; GetEasy."""
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
    """Returns the start cells [B, E, 2] of all entities.

    Args:
      phi: legal tasks [B, D].
      numbers: [B, num_start_draws] from U[0, 1), for entities outside phi.
    """

  @abc.abstractmethod
  def read_task(self, cells: np.ndarray) -> np.ndarray:
    """Returns the tasks phi [B, D] with these start cells [B, E, 2]."""

  @abc.abstractmethod
  def observe(self, state: State) -> Observation:
    """Returns what the acting agents observe."""

  @abc.abstractmethod
  def judge(self, state: State) -> Outcome:
    """Returns reward, progress and success in a state after a step."""

  @abc.abstractmethod
  def captions(self, state: State) -> list[str]:
    """Returns a caption for the picture of each world."""


def joint_features(side: float, yaw: tuple[str, ...]) -> tuple[Feature, ...]:
  """Returns the features x, y, z, yaw, and four velocities.

  Args:
    side: length of the floor's side; x and y are those of the lower left
      corner of an entity's footprint.
    yaw: names of the features of the yaw: 'yaw', which is not wrapped, or 'cos'
      and 'sin'.
  """
  bound = 1.0 if len(yaw) > 1 else LARGEST
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
