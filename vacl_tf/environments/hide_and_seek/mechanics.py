# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Rules of grabbing, locking and visibility, vectorised over worlds.

Pure functions of arrays. B worlds, N agents (including those that do not act),
m objects, E entities; metres and radians.
"""

import math

import numpy as np

NUM_BINS = 11
FORCES = np.linspace(-0.9, 0.9, NUM_BINS)  # Controls; the middle one is 0.
FORCES[NUM_BINS // 2] = 0.0  # linspace is 1e-17 off.
HEADS = (NUM_BINS, NUM_BINS, NUM_BINS, 2, 2)  # Number of choices per head.
LOCK, PULL = 3, 4  # Indices of heads; heads 0 to 2 control x, y and yaw.
NO_OP = (NUM_BINS // 2,) * 3 + (0, 0)
VIEW_HALF_ANGLE = 3 * math.pi / 8
REACH = 0.25  # From an agent's centre to an object's surface.
NOTHING = -1  # Index of the held object of an agent that holds none.


def centres(position: np.ndarray, half_sizes: np.ndarray) -> np.ndarray:
  """Returns centres [..., E, 3] of bodies at joint positions [..., E, 4]."""
  return position[..., :3] + half_sizes[:, None]


def turned(vector: np.ndarray, yaw: np.ndarray) -> np.ndarray:
  """Returns vectors [..., 3] rotated about z by angles [...]."""
  cos, sin = np.cos(yaw), np.sin(yaw)
  x, y, z = vector[..., 0], vector[..., 1], vector[..., 2]
  return np.stack([cos * x - sin * y, sin * x + cos * y, z + 0.0 * cos], -1)


def surface_distances(
  points: np.ndarray, middle: np.ndarray, yaw: np.ndarray, half_size: np.ndarray
) -> np.ndarray:
  """Returns distances [B, N, m] from points to cubes; 0 inside a cube.

  Args:
    points: [B, N, 3].
    middle: [B, m, 3] centres of the cubes.
    yaw: [B, m] yaws of the cubes.
    half_size: [m] half sizes of the cubes.
  """
  away = points[:, :, None] - middle[:, None]
  inside_frame = turned(away, -yaw[:, None])
  outside = np.maximum(np.abs(inside_frame) - half_size[:, None], 0.0)
  return np.sqrt(np.einsum('bnmi,bnmi->bnm', outside, outside))


def in_front(yaw: np.ndarray, towards: np.ndarray) -> np.ndarray:
  """Returns bool [...]: whether a target lies in an agent's view cone.

  Agents face -y of their body frame. A target at distance 0 is in view.

  Args:
    yaw: [...] yaws of the agents.
    towards: [..., 2 or more] vectors from agent to target; only x and y count.
  """
  x, y = towards[..., 0], towards[..., 1]
  ahead = np.sin(yaw) * x - np.cos(yaw) * y
  return ahead >= math.cos(VIEW_HALF_ANGLE) * np.hypot(x, y)


def choose_grabs(distance: np.ndarray, can_grab: np.ndarray) -> np.ndarray:
  """Returns the object that each agent holds now, int [B, N], or NOTHING.

  Args:
    distance: [B, N, m].
    can_grab: bool [B, N, m]: the agent pulls, is in reach and sees the object.
  """
  nearest = np.argmin(np.where(can_grab, distance, np.inf), -1)
  return np.where(can_grab.any(-1), nearest, NOTHING)


def relative_poses(
  agent: np.ndarray,
  agent_yaw: np.ndarray,
  thing: np.ndarray,
  thing_yaw: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
  """Returns positions [k, 3] and quaternions [k, 4] relative to agents.

  Args:
    agent: [k, 3] positions of the agents.
    agent_yaw: [k] yaws of the agents.
    thing: [k, 3] positions of the objects.
    thing_yaw: [k] yaws of the objects.
  """
  position = turned(thing - agent, -agent_yaw)
  half = (thing_yaw - agent_yaw) / 2
  zero = np.zeros_like(half)
  return position, np.stack([np.cos(half), zero, zero, np.sin(half)], -1)


def resolve_locks(
  wants: np.ndarray,
  can_reach: np.ndarray,
  team: np.ndarray,
  is_locked: np.ndarray,
  locker: np.ndarray,
  chance: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
  """Returns is_locked and locker after the agents' actions.

  An agent in reach locks an object if its flag is set. An agent in reach whose
  flag is not set unlocks the object, or prevents locking, if the agent is on
  the team of the last locker. If no agent is in reach, nothing changes. The
  agent that locks an unlocked object becomes its locker; if several agents do,
  one of them is drawn.

  Args:
    wants: bool [B, N] flags of the agents.
    can_reach: bool [B, N, m]: in reach and, if the task requires it, in view.
    team: int [N] team of each agent.
    is_locked: bool [B, m].
    locker: int [B, m]: the agent that locked the object last; initially 0.
    chance: [B, m] from U[0, 1), to draw one of several lockers.
  """
  lockers = can_reach & wants[..., None]
  is_theirs = team[:, None] == team[locker][:, None]  # [B, N, m]
  against = can_reach & ~wants[..., None] & is_theirs
  is_refused = against.any(1)
  is_new = lockers.any(1) & ~is_refused & ~is_locked
  if is_new.any():
    order = np.cumsum(lockers, 1)
    rank = np.floor(chance * order[:, -1]).astype(order.dtype)
    chosen = np.argmax(order > rank[:, None], 1)
    locker = np.where(is_new, chosen, locker)
  return (is_locked | is_new) & ~is_refused, locker
