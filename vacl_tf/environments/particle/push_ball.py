# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Push-Ball: n agents push n balls onto n landmarks.

Paper, section on the multi-agent particle-world environment;
docs/reproduction.md has the details.
"""

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
BALL_RADIUS = 0.15
LANDMARK_RADIUS = 0.15
# Largest distance from a ball to a landmark that it covers, for the reward.
COVER_DISTANCE = BALL_RADIUS + LANDMARK_RADIUS
# Largest distance from any disc to a landmark whose flag is 1.
FLAG_DISTANCE = AGENT_RADIUS + LANDMARK_RADIUS
# Rewards of a step, to all agents, as in the released code; the scale of 0.1 is
# included.
REWARD_COVERED = 0.2  # Divided by n; for each covered landmark.
REWARD_ALL_COVERED = 0.1  # In addition.
HALF_WIDTH = 2.0  # Half the side of the square of tasks, metres.
_CELL = 0.4  # Smallest side of a cell of the grid for easy tasks, metres.
_JITTER = 0.05  # Largest offset from the centre of a cell, metres.
_FULL = 1e3  # Penalty that makes a taken cell the last choice.


class PushBallState(NamedTuple):
  """Positions and velocities in metres and metres per second.

  The physics treats agents and balls alike, so they share arrays.
  """

  position: tf.Tensor  # [B, 2 n, 2] agents, then balls.
  velocity: tf.Tensor  # [B, 2 n, 2]
  landmark: tf.Tensor  # [B, n, 2]


class PushBallTaskSpace(task_space.BoxTaskSpace):
  """phi = agents, then balls, then landmarks: 6 n numbers."""

  def __init__(self, num_agents: int, easy_side: float) -> None:
    """Initialises the space.

    Args:
      num_agents: number of agents, also of balls and of landmarks.
      easy_side: side of the grid without its rim, metres; 0 stands for n cells
        of _CELL.

    Raises:
      ValueError: the grid has too few cells for all balls and landmarks.
    """
    corner = np.full([3 * num_agents, 1, 2], HALF_WIDTH)
    super().__init__(-corner, corner, num_agents)
    self.alike = task_space.equal_parts(self.num_entities, 3)
    _, balls, landmarks = self.alike
    self.goals = tuple(zip(balls, landmarks, strict=True))
    num_cells, cell = _easy_grid(num_agents, easy_side)
    side = num_cells + 2  # Side of the grid with its rim, in cells.
    cells = np.stack(np.meshgrid(range(side), range(side)), -1).reshape(-1, 2)
    self._centre = ((cells - (side - 1) / 2) * cell).astype(np.float32)
    is_rim = (cells % (side - 1) == 0).any(1)
    self._rim = is_rim.astype(np.float32)
    # [cells, cells] the ring around one cell that another cell lies in; ring 1
    # is the 3 x 3 neighbourhood with the cell itself.
    ring = np.abs(cells[:, None] - cells).max(-1)
    self._ring = np.maximum(ring, 1).astype(np.float32)

  def sample_easy(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    """Places an agent and a landmark next to each ball; GetEasy.

    Entities lie near the centres of the cells of a grid, which has n x n cells
    unless a side is given. Balls take random cells. Then, in random order, a
    landmark takes a cell next to each ball. Agents do the same, but may also
    use the rim of cells around the grid. No cell has two entities of a kind, or
    a ball and another entity. If all cells next to a ball are taken, the
    nearest ring with a free cell is used.

    The grid is centred, so that its rim is inside the room up to n = 8. In the
    released code it is off by half a cell.
    """
    ball_seed, landmark_seed, agent_seed, jitter_seed = randomness.split(
      seed, 4
    )
    nowhere = tf.zeros([self.num_agents, num_tasks, len(self._rim)])
    ball = self._choose(nowhere, self._rim, ball_seed)
    is_ball = tf.add_n(tf.unstack(tf.one_hot(ball, len(self._rim))))
    off_grid_or_ball = self._rim + is_ball
    landmark = self._choose(
      self._rings(ball, landmark_seed), off_grid_or_ball, landmark_seed
    )
    agent = self._choose(self._rings(ball, agent_seed), is_ball, agent_seed)
    cell = tf.transpose(tf.concat([agent, ball, landmark], 0))
    middle = tf.gather(self._centre, cell)
    points = middle + randomness.uniform(
      jitter_seed, [num_tasks, self.num_entities, 2], -_JITTER, _JITTER
    )
    return tf.reshape(points, [num_tasks, self.num_dims])

  def _rings(self, ball: tf.Tensor, seed: types.Seed) -> tf.Tensor:
    """Returns the ring around each ball that each cell lies in.

    Args:
      ball: [n, tasks] cells of the balls.
      seed: seed of the order.

    Returns:
      [n, tasks, cells], with the balls of each task in random order.
    """
    order = randomness.uniform(randomness.fold(seed, 1), tf.shape(ball))
    order = tf.argsort(order, axis=0)
    shuffled = tf.gather(tf.transpose(ball), tf.transpose(order), batch_dims=1)
    return tf.gather(self._ring, tf.transpose(shuffled))

  def _choose(
    self, ring: tf.Tensor, taken: tf.Tensor, seed: types.Seed
  ) -> tf.Tensor:
    """Assigns free cells of near rings to n entities, one after another.

    Args:
      ring: [n, tasks, cells] ring of each cell; smaller rings are preferred.
      taken: [cells] or [tasks, cells] positive where a cell is not free.
      seed: seed of the choice among the cells of a ring.

    Returns:
      Distinct indices of cells [n, tasks].
    """
    wishes = randomness.uniform(seed, tf.shape(ring)) - ring
    chosen = []
    for wish in tf.unstack(wishes):
      chosen.append(tf.argmax(wish - _FULL * taken, -1, tf.int32))
      taken += tf.one_hot(chosen[-1], len(self._rim))
    return tf.stack(chosen)


def _easy_grid(num_agents: int, side: float) -> tuple[int, float]:
  """Returns the number of cells along a side of the grid, and a cell's side.

  Args:
    num_agents: number of agents, also of balls and of landmarks.
    side: side of the grid without its rim, metres; 0 for the task's own.
  """
  if not side:
    return num_agents, _CELL
  num_cells = int(side / _CELL + 1e-6)
  least = math.ceil((2 * num_agents) ** 0.5)  # For balls and landmarks.
  if num_cells < least:
    raise ValueError(
      f'easy_side={side} is too small for {num_agents} balls and as many '
      f'landmarks in cells of {_CELL} m; give at least {least * _CELL:.1f}'
    )
  return num_cells, side / num_cells


class PushBall(base.Environment):
  """Rewards all agents for each landmark with a ball on it.

  They get a bonus while all landmarks have one.
  """

  def __init__(
    self,
    name: str,
    num_agents: int,
    horizon: int,
    *,
    cover_radius: float = 0.0,
    easy_side: float = 0.0,
  ) -> None:
    """Initialises the world.

    Args:
      name: name of the task in `environments.load`.
      num_agents: number of agents, also of balls and of landmarks.
      horizon: steps of an episode.
      cover_radius: distance within which a ball covers a landmark, metres; 0
        stands for COVER_DISTANCE.
      easy_side: side of the square of easy tasks, metres; 0 stands for the
        task's own.

    Raises:
      ValueError: the easy tasks do not fit into the square.
    """
    self.name = name
    self.horizon = horizon
    self.num_agents = num_agents
    self.roles = (
      types.Role(
        name='agent',
        num_agents=num_agents,
        action=types.discrete(scenario.NUM_MOVES),
        own_size=4,
        entity_sizes={'agents': 2, 'balls': 2, 'landmarks': 3},
        egocentric=egocentric.Egocentric(is_open_square=True),
      ),
    )
    self.cover_distance = cover_radius or COVER_DISTANCE
    self.task_space = PushBallTaskSpace(num_agents, easy_side)
    radii = [AGENT_RADIUS] * num_agents + [BALL_RADIUS] * num_agents
    self._radius = np.array(radii)[:, None]

  def place(self, phi: tf.Tensor, seed: types.Seed) -> PushBallState:
    del seed  # phi determines the state.
    points = tf.reshape(phi, [-1, 3 * self.num_agents, 2])
    num_bodies = 2 * self.num_agents
    position, landmark = points[:, :num_bodies], points[:, num_bodies:]
    return PushBallState(position, tf.zeros_like(position), landmark)

  def read_task(self, state: PushBallState) -> tf.Tensor:
    points = tf.concat([state.position, state.landmark], 1)
    return tf.reshape(points, [-1, self.task_space.num_dims])

  def step(self, state: PushBallState, action: types.Actions) -> PushBallState:
    position = scenario.worlds_last(state.position)
    pushed = physics.action_forces(tf.transpose(action[0]))
    force = tf.concat([pushed, tf.zeros_like(pushed)], 1)  # Balls do not act.
    force += physics.contact_forces(position, self._radius)
    return scenario.moved(state, force)

  def observe(self, state: PushBallState) -> types.Observations:
    """Returns observations with flags as in the released code.

    A landmark's flag is 1 if any agent or ball is within FLAG_DISTANCE, whereas
    the reward requires a ball within `cover_distance`.
    """
    position = scenario.worlds_last(state.position)
    landmark = scenario.worlds_last(state.landmark)
    agent, ball = tf.split(position, 2, 1)
    is_near = scenario.any_near(position, landmark, FLAG_DISTANCE)
    towards = scenario.differences(agent, landmark)
    seen = {
      'agents': scenario.to_others(agent),
      'balls': scenario.differences(agent, ball),
      'landmarks': scenario.flagged(is_near, towards),
    }
    own = tf.concat([state.velocity, state.position], -1)[:, : self.num_agents]
    entities = {kind: scenario.agents_first(x) for kind, x in seen.items()}
    return (types.Observation(own, entities),)

  def reward(self, state: PushBallState) -> tuple[tf.Tensor, ...]:
    """Returns the shared reward; there is no penalty for contact."""
    num_covered = self._num_covered(state)
    shared = REWARD_COVERED / self.num_agents * num_covered
    all_covered = tf.cast(num_covered >= self.num_agents, tf.float32)
    shared += REWARD_ALL_COVERED * all_covered
    return (tf.tile(shared[:, None], [1, self.num_agents]),)

  def progress(self, state: PushBallState) -> tf.Tensor:
    """Coverage: the share of landmarks with a ball on them."""
    return self._num_covered(state) / self.num_agents

  @property
  def legend(self) -> tuple[tuple[str, shapes.Colour], ...]:
    return scenario.legend(agent=scenario.BLUE, ball=scenario.ORANGE)

  def observation_bounds(self) -> tuple[Mapping[str, base.Bounds], ...]:
    """Returns bounds that hold even if all bodies always push one of them."""
    force = physics.largest_force(self._radius.max(), 2 * self.num_agents)
    speed, way = physics.largest_motion(force, self.horizon)
    position = HALF_WIDTH + way
    towards = HALF_WIDTH + position
    bounds = {
      'own': scenario.bounds(speed, speed, position, position),
      'agents': scenario.bounds(2 * position, 2 * position),
      'balls': scenario.bounds(2 * position, 2 * position),
      'landmarks': scenario.bounds(towards, towards, flag=True),
    }
    return (bounds,)

  def draw(self, state: PushBallState) -> list[shapes.Scene]:
    covered = np.asarray(self._is_covered(state)).T
    state = base.to_numpy(state)
    scenes = []
    for bodies, landmarks, is_covered in zip(
      state.position, state.landmark, covered, strict=True
    ):
      discs = scenario.draw_landmarks(
        landmarks,
        is_covered,
        radius=LANDMARK_RADIUS,
        cover_distance=self.cover_distance,
      )
      agents, balls = np.split(bodies, 2)
      discs += [
        shapes.Disc(centre, BALL_RADIUS, scenario.ORANGE) for centre in balls
      ]
      discs += [
        shapes.Disc(centre, AGENT_RADIUS, scenario.BLUE) for centre in agents
      ]
      caption = scenario.caption(is_covered)
      scenes.append(shapes.Scene(discs, HALF_WIDTH + 0.3, caption))
    return scenes

  def _is_covered(self, state: PushBallState) -> tf.Tensor:
    """Returns bool [n, B]: whether a ball covers the landmark."""
    ball = scenario.worlds_last(state.position[:, self.num_agents :])
    landmark = scenario.worlds_last(state.landmark)
    return scenario.any_near(ball, landmark, self.cover_distance)

  def _num_covered(self, state: PushBallState) -> tf.Tensor:
    """Returns how many landmarks are covered, float32 [B]."""
    return scenario.count(self._is_covered(state))
