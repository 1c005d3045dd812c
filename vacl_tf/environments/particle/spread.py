# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Simple-Spread and Hard-Spread: n agents cover n landmarks.

Paper, section on the multi-agent particle-world environment;
docs/reproduction.md has the details. Hard-Spread has the same rules in three
small rooms with walls between them, which agents do not observe.
"""

import functools
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import shapes
from vacl_tf.environments import task_space
from vacl_tf.environments.particle import egocentric
from vacl_tf.environments.particle import physics
from vacl_tf.environments.particle import scenario

AGENT_RADIUS = 0.10
LANDMARK_RADIUS = 0.05
WIDE_LANDMARK_RADIUS = 0.15  # For crowds; see `landmark_radius`.
# Rewards of a step, as in the released code.
REWARD_ALL_COVERED = 0.4  # To all agents; includes a scale of 0.1.
PENALTY_CONTACT = 0.1  # To an agent that touches others.
_FEW_AGENTS = 4  # Up to this many, easy landmarks lie in a small square.
_SMALL_SIDE = 0.6  # Side of that square, metres.
# With more agents than this, easy landmarks are kept apart. Agents at rest on
# landmarks that were drawn independently would push each other away.
_LOOSE_AGENTS = 8
_APART = 0.21  # Smallest distance of landmarks, metres; agents touch at 0.20.
_CROWDED_SIDE = 0.4  # Side of their square divided by sqrt(n), metres.
_NARROW_AGENTS = 24  # Up to this many, landmarks have the usual radius.

Box = tuple[float, float, float, float]  # x from, x to, y from, y to; metres.


class Room(NamedTuple):
  """Where entities may be.

  Attributes:
    agents: boxes that agents may start in.
    target_agents: box that agents start in when a policy is evaluated.
    landmarks: box of the landmarks.
    easy_centre: centre of the square that easy landmarks lie in, metres.
    easy_side: side of that square, metres, for more than _FEW_AGENTS and up to
      _LOOSE_AGENTS agents; see `_own_easy_side`.
    walls: walls; see `physics`.
    half_width: half the width of pictures, without a margin, metres.
    half_height: half the height of pictures with their margin, metres; None
      for square pictures.
  """

  agents: tuple[Box, ...]
  target_agents: Box
  landmarks: Box
  easy_centre: tuple[float, float]
  easy_side: float
  walls: tuple[physics.Wall, ...]
  half_width: float
  half_height: float | None = None


HALF_WIDTH = 3.0  # Half the side of the open room, metres.
_LEFT, _RIGHT = (-4.9, -3.1, -0.9, 0.9), (3.1, 4.9, -0.9, 0.9)


def open_room(half_width: float) -> Room:
  """Returns a square without walls, of this half-width in metres."""
  whole = (-half_width, half_width, -half_width, half_width)
  return Room(
    agents=(whole,),
    target_agents=whole,
    landmarks=whole,
    easy_centre=(0.0, 0.0),
    easy_side=2.0,
    walls=(),
    half_width=half_width,
  )


ROOMS = {
  'simple_spread': open_room(HALF_WIDTH),
  'hard_spread': Room(
    agents=(
      _LEFT,
      (-3.0, -1.0, 0.45, 0.75),
      (-0.9, 0.9, -0.9, 0.9),
      (1.0, 3.0, -0.75, -0.45),
      _RIGHT,
    ),
    target_agents=_LEFT,
    landmarks=_RIGHT,
    easy_centre=(4.0, 0.0),
    easy_side=1.76,
    walls=(
      # Around the rooms.
      physics.Wall(True, -6.5, (-6.0, 6.0), 3.0),
      physics.Wall(True, 6.5, (-6.0, 6.0), 3.0),
      physics.Wall(False, -2.5, (-6.0, 6.0), 3.0),
      physics.Wall(False, 2.5, (-6.0, 6.0), 3.0),
      # Between the rooms, above and below the left and the right doorway.
      physics.Wall(True, -2.0, (0.8, 2.0), 2.0),
      physics.Wall(True, -2.0, (-2.0, 0.4), 2.0),
      physics.Wall(True, 2.0, (-0.4, 2.0), 2.0),
      physics.Wall(True, 2.0, (-2.0, -0.8), 2.0),
    ),
    half_width=5.0,
    half_height=1.3,
  ),
}


class SpreadState(NamedTuple):
  """Positions and velocities in metres and metres per second."""

  position: tf.Tensor  # [B, n, 2]
  velocity: tf.Tensor  # [B, n, 2]
  landmark: tf.Tensor  # [B, n, 2]


class SpreadTaskSpace(task_space.BoxTaskSpace):
  """phi = agents, then landmarks: 4 n numbers."""

  def __init__(self, room: Room, num_agents: int, easy_side: float) -> None:
    num_boxes = len(room.agents)
    boxes = [room.agents] * num_agents
    boxes += [(room.landmarks,) * num_boxes] * num_agents
    sides = np.array(boxes).reshape([2 * num_agents, num_boxes, 2, 2])
    super().__init__(sides[..., 0], sides[..., 1], num_agents)
    self.alike = task_space.equal_parts(self.num_entities, 2)
    self.goals = tuple(zip(*self.alike, strict=True))
    target = [room.target_agents] * num_agents + [room.landmarks] * num_agents
    self._target = np.reshape(target, [4 * num_agents, 2]).astype(np.float32)
    self._easy_centre = np.array(room.easy_centre, np.float32)
    self._easy_side = easy_side

  def sample_easy(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    """Places agents beside landmarks that lie close together; GetEasy."""
    where, order, offset = randomness.split(seed, 3)
    if self.num_agents > _LOOSE_AGENTS:
      landmark = self._easy_centre + _apart(
        num_tasks, self.num_agents, self._easy_side, where
      )
    else:
      half_width = self._easy_side / 2
      shape = [num_tasks, self.num_agents, 2]
      landmark = self._easy_centre + randomness.uniform(
        where, shape, -half_width, half_width
      )
    agent = scenario.beside(
      landmark, self.num_agents, order=order, offset=offset
    )
    both = tf.concat([agent, landmark], 1)
    return tf.reshape(both, [num_tasks, self.num_dims])

  def sample_target(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    """Returns target tasks; in Hard-Spread agents start in the left room."""
    low, high = self._target[:, 0], self._target[:, 1]
    return randomness.uniform(seed, [num_tasks, self.num_dims], low, high)


def _apart(
  num_tasks: int, num: int, side: float, seed: types.Seed
) -> tf.Tensor:
  """Returns points [num_tasks, num, 2] around 0, at least _APART apart.

  Each has its own cell of a square grid and a random position in it.
  """
  choice, place = randomness.split(seed, 2)
  num_cells = _num_cells(num)
  cell = side / num_cells
  score = randomness.uniform(choice, [num_tasks, num_cells**2])
  chosen = tf.argsort(score)[:, :num]
  index = tf.stack([chosen % num_cells, chosen // num_cells], -1)
  centre = tf.cast(index, tf.float32) - (num_cells - 1) / 2
  room = (cell - _APART) / 2
  jitter = randomness.uniform(place, [num_tasks, num, 2], -room, room)
  return cell * centre + jitter


def _num_cells(num_agents: int) -> int:
  """Returns the number of cells along a side of the grid of `_apart`."""
  return math.ceil(num_agents**0.5)


def _own_easy_side(room: Room, num_agents: int) -> float:
  """Returns the default side of the square of easy landmarks, in metres."""
  if num_agents > _LOOSE_AGENTS:
    return _CROWDED_SIDE * num_agents**0.5
  return room.easy_side if num_agents > _FEW_AGENTS else _SMALL_SIDE


def _check_easy_side(side: float, num_agents: int) -> None:
  """Raises ValueError if landmarks do not fit in at distance _APART."""
  least = _APART * _num_cells(num_agents)
  if num_agents > _LOOSE_AGENTS and side < least - 1e-6:
    raise ValueError(
      f'easy_side={side} is too small for {num_agents} landmarks {_APART} m '
      f'apart; give at least {least:.2f}'
    )


def landmark_radius(num_agents: int) -> float:
  """Returns the radius of landmarks, in metres.

  With more than 24 agents they are wide; docs/reproduction.md says why.
  """
  if num_agents > _NARROW_AGENTS:
    return WIDE_LANDMARK_RADIUS
  return LANDMARK_RADIUS


class Spread(base.Environment):
  """Rewards all agents only while all landmarks are covered.

  An agent that touches others pays a penalty.
  """

  def __init__(
    self,
    name: str,
    num_agents: int,
    horizon: int,
    half_width: float = HALF_WIDTH,
    *,
    cover_radius: float = 0.0,
    easy_side: float = 0.0,
  ) -> None:
    """Initialises the world.

    Args:
      name: 'simple_spread' or 'hard_spread'.
      num_agents: number of agents, and of landmarks.
      horizon: steps of an episode.
      half_width: half the side of the room of Simple-Spread, metres.
      cover_radius: distance within which an agent covers a landmark, metres;
        0 stands for the sum of their radii.
      easy_side: side of the square of easy landmarks, metres; 0 stands for the
        task's own.

    Raises:
      ValueError: the easy landmarks do not fit into the square.
    """
    self.name = name
    self.horizon = horizon
    self.num_agents = num_agents
    self.landmark_radius = landmark_radius(num_agents)
    self.cover_distance = cover_radius or AGENT_RADIUS + self.landmark_radius
    self._room = ROOMS[name]
    if not self._room.walls:
      self._room = open_room(half_width)
    self.roles = (
      types.Role(
        name='agent',
        num_agents=num_agents,
        action=types.discrete(scenario.NUM_MOVES),
        own_size=4,
        entity_sizes={'agents': 2, 'landmarks': 3},
        egocentric=egocentric.Egocentric(is_open_square=not self._room.walls),
      ),
    )
    easy_side = easy_side or _own_easy_side(self._room, num_agents)
    _check_easy_side(easy_side, num_agents)
    self.task_space = SpreadTaskSpace(self._room, num_agents, easy_side)

  def place(self, phi: tf.Tensor, seed: types.Seed) -> SpreadState:
    del seed  # phi determines the state.
    points = tf.reshape(phi, [-1, 2, self.num_agents, 2])
    position, landmark = points[:, 0], points[:, 1]
    return SpreadState(position, tf.zeros_like(position), landmark)

  def read_task(self, state: SpreadState) -> tf.Tensor:
    points = tf.concat([state.position, state.landmark], 1)
    return tf.reshape(points, [-1, self.task_space.num_dims])

  def step(self, state: SpreadState, action: types.Actions) -> SpreadState:
    position = scenario.worlds_last(state.position)
    force = physics.action_forces(tf.transpose(action[0]))
    force += physics.contact_forces(position, AGENT_RADIUS)
    force += physics.wall_forces(position, AGENT_RADIUS, self._room.walls)
    return scenario.moved(state, force)

  def observe(self, state: SpreadState) -> types.Observations:
    position = scenario.worlds_last(state.position)
    landmark = scenario.worlds_last(state.landmark)
    towards = scenario.differences(position, landmark)
    seen = {
      'agents': scenario.to_others(position),
      'landmarks': scenario.flagged(self._is_covered(state), towards),
    }
    own = tf.concat([state.velocity, state.position], -1)
    entities = {kind: scenario.agents_first(x) for kind, x in seen.items()}
    return (types.Observation(own, entities),)

  def reward(self, state: SpreadState) -> tuple[tf.Tensor, ...]:
    # Compares counts, as XLA may round a progress of 1 to less than 1.
    num_covered = scenario.count(self._is_covered(state))
    all_covered = num_covered >= self.num_agents
    shared = REWARD_ALL_COVERED * tf.cast(all_covered, tf.float32)
    position = scenario.worlds_last(state.position)
    is_touching = [
      physics.square_length(delta) < (2 * AGENT_RADIUS) ** 2
      for delta in physics.from_others(position)
    ]
    touches = functools.reduce(tf.logical_or, is_touching)
    penalty = PENALTY_CONTACT * tf.cast(touches, tf.float32)
    return (tf.transpose(shared - penalty),)

  def progress(self, state: SpreadState) -> tf.Tensor:
    """Coverage: the share of landmarks with an agent on them."""
    return scenario.count(self._is_covered(state)) / self.num_agents

  @property
  def legend(self) -> tuple[tuple[str, shapes.Colour], ...]:
    soft = (('wall, which gives way', shapes.WALL),) * bool(self._room.walls)
    return (*scenario.legend(agent=scenario.BLUE), *soft)

  def observation_bounds(self) -> tuple[Mapping[str, base.Bounds], ...]:
    """Returns bounds that hold even if all agents always push one of them."""
    room = self._room
    force = physics.largest_force(AGENT_RADIUS, self.num_agents, room.walls)
    speed, way = physics.largest_motion(force, self.horizon)
    position = way + np.abs(room.agents).max()
    towards = position + np.abs(room.landmarks).max()
    bounds = {
      'own': scenario.bounds(speed, speed, position, position),
      'agents': scenario.bounds(2 * position, 2 * position),
      'landmarks': scenario.bounds(towards, towards, flag=True),
    }
    return (bounds,)

  def draw(self, state: SpreadState) -> list[shapes.Scene]:
    covered = np.asarray(self._is_covered(state)).T
    state = base.to_numpy(state)
    slabs = tuple(shapes.Slab(*wall.corners()) for wall in self._room.walls)
    scenes = []
    for agents, landmarks, is_covered in zip(
      state.position, state.landmark, covered, strict=True
    ):
      discs = scenario.draw_landmarks(
        landmarks,
        is_covered,
        radius=self.landmark_radius,
        cover_distance=self.cover_distance,
      )
      discs += [
        shapes.Disc(centre, AGENT_RADIUS, scenario.BLUE) for centre in agents
      ]
      caption = scenario.caption(is_covered)
      scene = shapes.Scene(
        discs,
        self._room.half_width + 0.3,
        caption,
        slabs,
        half_height=self._room.half_height,
      )
      scenes.append(scene)
    return scenes

  def _is_covered(self, state: SpreadState) -> tf.Tensor:
    """Returns bool [n, B]: whether an agent covers the landmark."""
    position = scenario.worlds_last(state.position)
    landmark = scenario.worlds_last(state.landmark)
    return scenario.any_near(position, landmark, self.cover_distance)
