# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The particle world and its tasks, written out for one world.

The module is slow and literal on purpose. It uses float64 NumPy, handles one
pair and one wall at a time, and follows the rules of the released code
(docs/reproduction.md) line by line. It shares no code and no constant with the
environments that it checks.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

_DT = 0.1
_DAMPING = 0.25
_STIFFNESS = 100.0
_MARGIN = 1e-3
_SENSITIVITY = 5.0
_AGENT_RADIUS = 0.10
_LANDMARK_RADIUS = 0.05
_BALL_RADIUS = 0.15  # Of Push-Ball, like the next constant.
_BALL_LANDMARK_RADIUS = 0.15


class Wall(NamedTuple):
  """A slab with orientation 'V' or 'H'; lengths are in metres."""

  orientation: str
  axis: float
  ends: tuple[float, float]
  thickness: float


HARD_SPREAD_WALLS = (
  Wall('V', -6.5, (-6.0, 6.0), 3.0),
  Wall('V', 6.5, (-6.0, 6.0), 3.0),
  Wall('H', -2.5, (-6.0, 6.0), 3.0),
  Wall('H', 2.5, (-6.0, 6.0), 3.0),
  Wall('V', -2.0, (0.8, 2.0), 2.0),
  Wall('V', -2.0, (-2.0, 0.4), 2.0),
  Wall('V', 2.0, (-0.4, 2.0), 2.0),
  Wall('V', 2.0, (-2.0, -0.8), 2.0),
)


def _penetration(depth: float) -> float:
  """Returns kappa * ln(1 + exp(depth / kappa)), without overflow."""
  return _MARGIN * float(np.logaddexp(0.0, depth / _MARGIN))


def action_force(action: int) -> np.ndarray:
  """Returns the force [2] of one action."""
  one_hot = np.zeros(5)
  one_hot[action] = 1.0
  control = [one_hot[1] - one_hot[2], one_hot[3] - one_hot[4]]
  return _SENSITIVITY * np.array(control)


def contact_force(a: np.ndarray, b: np.ndarray, reach: float) -> np.ndarray:
  """Returns the force [2] on a body at `a` from one at `b`."""
  delta = a - b
  distance = math.hypot(delta[0], delta[1])
  if distance == 0.0:
    raise ValueError(f'both bodies lie at {a}: the rules leave this open')
  return _STIFFNESS * _penetration(reach - distance) * delta / distance


def wall_force(x: np.ndarray, radius: float, wall: Wall) -> np.ndarray:
  """Returns the force [2] of a wall on a body at x."""
  across, along = (0, 1) if wall.orientation == 'V' else (1, 0)
  p, q = x[across], x[along]
  low, high = wall.ends
  force = np.zeros(2)
  if q < low - radius or q > high + radius:
    return force
  if low <= q <= high:
    theta = 0.0
    reach = radius + wall.thickness / 2
  else:
    over = q - low if q < low else q - high
    theta = math.asin(over / radius)
    reach = radius * math.cos(theta) + wall.thickness / 2
  delta = p - wall.axis
  strength = _STIFFNESS * _penetration(reach - abs(delta)) * np.sign(delta)
  force[across] = math.cos(theta) * strength
  force[along] = math.sin(theta) * abs(strength)
  return force


def step(
  position: np.ndarray,
  velocity: np.ndarray,
  action: Sequence[int],
  walls: Sequence[Wall] = (),
  radii: Sequence[float] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
  """Returns position and velocity [n, 2] after one step.

  Args:
    position: centres [n, 2] of the bodies.
    velocity: velocities [n, 2] of the bodies.
    action: action of each body.
    walls: walls that bodies can touch.
    radii: radius of each body; if None, all bodies are agents.
  """
  position = np.asarray(position, np.float64)
  velocity = np.asarray(velocity, np.float64)
  num_bodies = len(position)
  if radii is None:
    radii = [_AGENT_RADIUS] * num_bodies
  force = np.stack([action_force(a) for a in action])
  for i in range(num_bodies):
    for j in range(i + 1, num_bodies):
      push = contact_force(position[i], position[j], radii[i] + radii[j])
      force[i] += push
      force[j] -= push
  for i in range(num_bodies):
    for wall in walls:
      force[i] += wall_force(position[i], radii[i], wall)
  velocity = (1.0 - _DAMPING) * velocity + _DT * force
  return position + _DT * velocity, velocity


def covered(position: np.ndarray, landmark: np.ndarray) -> list[bool]:
  """Returns, for each landmark, whether an agent's centre is on it."""
  reach = _AGENT_RADIUS + _LANDMARK_RADIUS
  return [
    any(math.dist(agent, place) <= reach for agent in position)
    for place in landmark
  ]


def coverage(position: np.ndarray, landmark: np.ndarray) -> float:
  """Returns the share of landmarks that are covered."""
  return sum(covered(position, landmark)) / len(landmark)


def reward(position: np.ndarray, landmark: np.ndarray) -> np.ndarray:
  """Returns each agent's reward [n]."""
  shared = 0.1 * 4.0 if all(covered(position, landmark)) else 0.0
  rewards = []
  for i, agent in enumerate(position):
    touches = False
    for j, other in enumerate(position):
      if i != j and math.dist(agent, other) < 2 * _AGENT_RADIUS:
        touches = True
    rewards.append(shared - (0.1 if touches else 0.0))
  return np.array(rewards)


def observation(
  position: np.ndarray,
  velocity: np.ndarray,
  landmark: np.ndarray,
  agent: int,
) -> np.ndarray:
  """Returns an agent's observation in the released order, without zero tail.

  Own velocity, own position, (covered, dx, dy) of every landmark, (dx, dy) of
  every other agent: 4 + 3 n + 2 (n - 1) numbers.
  """
  numbers = [*velocity[agent], *position[agent]]
  for place, flag in zip(landmark, covered(position, landmark), strict=True):
    numbers += [float(flag), *(place - position[agent])]
  for j, other in enumerate(position):
    if j != agent:
      numbers += [*(other - position[agent])]
  return np.array(numbers)


class Conversation(NamedTuple):
  """One world of Speaker-Listener."""

  body: list[np.ndarray]  # Positions [2] of the speaker and of the listener.
  velocity: list[np.ndarray]  # Velocities [2] of both.
  landmark: list[np.ndarray]  # Positions [2] of the three landmarks.
  goal: int  # Index of the goal landmark.
  message: list[float]  # What the speaker last said: 3 numbers.


def converse(world: Conversation, symbol: int, move: int) -> Conversation:
  """Returns the world after one step."""
  can_move = [False, True]  # The speaker, the listener.
  force = [np.zeros(2), action_force(move)]
  body, velocity = [], []
  for i in range(2):
    x, v = world.body[i], world.velocity[i]
    if can_move[i]:  # Nothing collides: the only force is the action's.
      v = v * (1.0 - _DAMPING) + force[i] * _DT
      x = x + v * _DT
    body.append(x)
    velocity.append(v)
  said = [0.0, 0.0, 0.0]
  said[symbol] = 1.0  # Overwritten after integration, without delay.
  return world._replace(body=body, velocity=velocity, message=said)


def what_speaker_sees(world: Conversation) -> np.ndarray:
  """Returns the colour of the goal, 3 numbers."""
  colours = [[0.65, 0.15, 0.15], [0.15, 0.65, 0.15], [0.15, 0.15, 0.65]]
  return np.array(colours[world.goal])


def what_listener_sees(world: Conversation) -> np.ndarray:
  """Returns velocity, landmarks relative to itself, message: 11 numbers."""
  numbers = [*world.velocity[1]]
  for place in world.landmark:
    numbers += [place[0] - world.body[1][0], place[1] - world.body[1][1]]
  numbers += world.message
  return np.array(numbers)


def is_goal_reached(world: Conversation) -> bool:
  """Returns whether the squared distance is below the sum of the radii."""
  x, y = world.body[1] - world.landmark[world.goal]
  return x**2 + y**2 < 0.075 + 0.04


def conversation_reward(world: Conversation) -> float:
  """Returns the reward of both bodies."""
  return 0.1 if is_goal_reached(world) else 0.0


def push_ball_step(
  agent: np.ndarray,
  ball: np.ndarray,
  velocity: np.ndarray,
  action: Sequence[int],
) -> tuple[np.ndarray, np.ndarray]:
  """Returns position and velocity of agents, then balls, [2 n, 2]."""
  radii = [_AGENT_RADIUS for _ in agent] + [_BALL_RADIUS for _ in ball]
  actions = [*action, *(0 for _ in ball)]
  position = np.concatenate([agent, ball])
  return step(position, velocity, actions, radii=radii)


def push_ball_covered(ball: np.ndarray, landmark: np.ndarray) -> list[bool]:
  """Returns, for each landmark, whether a ball's centre is on it."""
  reach = _BALL_RADIUS + _BALL_LANDMARK_RADIUS
  return [
    any(math.dist(centre, place) <= reach for centre in ball)
    for place in landmark
  ]


def push_ball_coverage(ball: np.ndarray, landmark: np.ndarray) -> float:
  """Returns the share of landmarks that are covered."""
  return sum(push_ball_covered(ball, landmark)) / len(landmark)


def push_ball_reward(ball: np.ndarray, landmark: np.ndarray) -> float:
  """Returns the reward that all agents share."""
  total = 0.0
  for is_covered in push_ball_covered(ball, landmark):
    if is_covered:
      total += 2.0 / len(landmark)
  if all(push_ball_covered(ball, landmark)):
    total += 1.0
  return 0.1 * total


def push_ball_flags(
  agent: np.ndarray, ball: np.ndarray, landmark: np.ndarray
) -> list[bool]:
  """Returns the flag of each landmark that agents observe."""
  reach = _AGENT_RADIUS + _BALL_LANDMARK_RADIUS
  flags = []
  for place in landmark:
    by_agent = any(math.dist(centre, place) <= reach for centre in agent)
    by_ball = any(math.dist(centre, place) <= reach for centre in ball)
    flags.append(by_agent or by_ball)
  return flags


def push_ball_observation(
  agent: np.ndarray,
  ball: np.ndarray,
  landmark: np.ndarray,
  velocity: np.ndarray,
  index: int,
) -> np.ndarray:
  """Returns an agent's observation in the released order.

  Own velocity, own position, (dx, dy) of every other agent and every ball,
  (flag, dx, dy) of every landmark: 4 + 2 (n - 1) + 2 n + 3 n numbers.
  """
  numbers = [*velocity[index], *agent[index]]
  for j, other in enumerate(agent):
    if j != index:
      numbers += [*(other - agent[index])]
  for centre in ball:
    numbers += [*(centre - agent[index])]
  flags = push_ball_flags(agent, ball, landmark)
  for place, flag in zip(landmark, flags, strict=True):
    numbers += [float(flag), *(place - agent[index])]
  return np.array(numbers)
