# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Lock-and-Return: lock all boxes, then return to the start positions.

Paper, section on the hide-and-seek environment; docs/reproduction.md has the
details. The floor is a square of 12 x 12 m by default, without inner walls. All
agents are on one team.
"""

from typing import Any

import numpy as np

from vacl_tf.environments.hide_and_seek import arena
from vacl_tf.environments.hide_and_seek import entities
from vacl_tf.environments.hide_and_seek import grid
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.environments.hide_and_seek import task

MOST = 8  # Largest number of agents, and of boxes.
REWARD_LOCKED = 0.2  # Each step in which all boxes are locked.
REWARD_HOME = 1.0  # In addition, if all agents are also at home.
HOME_RADIUS = 0.5  # Metres.
FLOOR_SIDE = 12.0  # Metres.
SMALLEST_FLOOR, LARGEST_FLOOR = 6.0, 12.0
_WALL_FRICTION = 1.0
_AGENT_CELLS, _BOX_CELLS = 2, 3
_BIRTHPLACE = (8, 9)  # Indices in an agent's own features.


class LockAndReturn(task.Task):
  """Agents return to within HOME_RADIUS of their birthplaces.

  An agent never observes the birthplaces of others. Its critic observes its own
  birthplace; its policy does so only with `sees_birthplace`.
  """

  name = 'lock_and_return'
  must_see_to_lock = True
  reach = mechanics.REACH
  home_radius = HOME_RADIUS
  looks = ()
  num_start_draws = 0

  def __init__(
    self,
    num_agents: int = 2,
    num_boxes: int = 2,
    *,
    sees_birthplace: bool = False,
    floor_side: float = FLOOR_SIDE,
  ) -> None:
    """Describes the task.

    Args:
      num_agents: number of agents (n).
      num_boxes: number of boxes (m).
      sees_birthplace: whether the policy observes the agent's birthplace.
        Otherwise the policy has to remember it.
      floor_side: side of the floor in metres, from 6 to 12, a multiple of the
        0.2 of a cell.

    Raises:
      ValueError: a number is out of range.
    """
    if not all(1 <= given <= MOST for given in (num_agents, num_boxes)):
      # Names both, as the caller may have given only one of them.
      raise ValueError(
        f'num_agents={num_agents} with num_boxes={num_boxes} is not possible '
        f'in {self.name}; allowed: 1 to {MOST} of each'
      )
    num_cells = _num_cells(floor_side)
    self.critic_only_position = () if sees_birthplace else _BIRTHPLACE
    self.arena = arena.Arena(num_cells, (), _WALL_FRICTION)
    self.cast = entities.Cast(num_agents, num_boxes, num_ramps=0)
    self.actors = tuple(range(num_agents))
    self.teams = (0,) * num_agents
    self.grid = grid.Grid(
      _pieces(num_agents, num_boxes, num_cells),
      self._easy,
      3 * num_agents + 3 * num_boxes,
    )
    self.alike = (
      tuple(range(num_agents)),
      tuple(range(num_agents, num_agents + num_boxes)),
    )
    self.features = _features(self.arena.side)
    self.slots = {'agents': num_agents - 1, 'boxes': num_boxes}
    # Row k - 1 of agent i is agent i - k, modulo n.
    steps = 1 + np.arange(num_agents - 1)
    self._others = (np.arange(num_agents)[:, None] - steps) % num_agents

  def start(self, phi: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    del numbers  # phi places all entities.
    return np.floor(phi + 0.5).reshape([len(phi), -1, 2])

  def read_task(self, cells: np.ndarray) -> np.ndarray:
    return cells.reshape([len(cells), -1])

  def observe(self, state: task.State) -> task.Observation:
    num_agents, num_boxes, _ = self.cast
    worlds = len(state.position)
    both = np.concatenate([state.position, state.velocity], -1)
    agents = both[:, :num_agents]
    own = np.empty([worlds, num_agents, 11], np.float32)
    own[..., :8] = agents
    own[..., _BIRTHPLACE] = state.birthplace
    own[..., 10] = state.step / self.horizon
    boxes = np.empty([worlds, num_agents, num_boxes, 15], np.float32)
    boxes[..., :9] = task.with_turn(
      state.position[:, num_agents:], state.velocity[:, num_agents:]
    )[:, None]
    boxes[..., 9:12] = 2 * entities.BOX_HALF_SIZE
    boxes[..., 12:] = task.lock_flags(state, self)
    others = agents.astype(np.float32)[:, self._others]
    seen = {'agents': others, 'boxes': boxes}
    if not self.critic_only_position:
      return task.Observation(own, seen)
    hidden = own.copy()
    hidden[..., self.critic_only_position] = 0.0
    return task.Observation(hidden, seen, critic_own=own)

  def judge(self, state: task.State) -> task.Outcome:
    """Returns a shared reward; progress is the share of agents at home.

    Both are 0 while a box is unlocked.
    """
    is_home = self._is_home(state)
    is_locked = state.is_locked.all(1)
    is_success = is_locked & is_home.all(1)
    shared = REWARD_LOCKED * is_locked + REWARD_HOME * is_success
    progress = is_locked * is_home.mean(1)
    return task.Outcome(
      np.repeat(shared[:, None], self.cast.num_agents, 1).astype(np.float32),
      progress.astype(np.float32),
      is_success,
    )

  def captions(self, state: task.State) -> list[str]:
    num_agents, num_boxes, _ = self.cast
    return [
      f'{locked} of {num_boxes} locked, {home} of {num_agents} at home'
      for locked, home in zip(
        state.is_locked.sum(1), self._is_home(state).sum(1), strict=True
      )
    ]

  def _is_home(self, state: task.State) -> np.ndarray:
    """Returns bool [B, N]: whether an agent is near its birthplace."""
    away = state.position[:, : self.cast.num_agents, :2] - state.birthplace
    return np.hypot(away[..., 0], away[..., 1]) <= self.home_radius

  def _easy(self, xp: Any, numbers: grid.Array) -> grid.Array:
    """Places each agent next to a box, at different boxes if there are enough.

    Agents come first in phi, so where squares overlap, the boxes are moved.
    """
    n, m, _ = self.cast
    along_x, along_y, match, steps = (
      numbers[..., :m],
      numbers[..., m : 2 * m],
      numbers[..., 2 * m : 3 * m + n],
      numbers[..., 3 * m + n :],
    )
    x0, x1, y0, y1 = _quadrant(self.arena.num_cells, _BOX_CELLS)
    x, y = grid.whole(xp, along_x, x0, x1), grid.whole(xp, along_y, y0, y1)
    if n > m:
      box = xp.asarray(grid.whole(xp, match[..., m:], 0, m - 1), np.int64)
    else:
      box = xp.argsort(match[..., :m], -1)[..., :n]
    steps = grid.whole(xp, steps, -1, 1)
    columns = []
    for line, step in ((x, steps[..., :n]), (y, steps[..., n:])):
      columns.append(
        xp.concatenate([xp.take_along_axis(line, box, -1) + step, line], -1)
      )
    return xp.stack(
      [column[..., i] for i in range(n + m) for column in columns], -1
    )


def _num_cells(floor_side: float) -> int:
  """Returns the cells along a side.

  Raises:
    ValueError: the side is out of range, or not a whole number of cells.
  """
  if SMALLEST_FLOOR <= floor_side <= LARGEST_FLOOR:
    num_cells = round(floor_side / arena.CELL)
    if abs(num_cells * arena.CELL - floor_side) < 1e-6:
      return num_cells
  raise ValueError(
    f'floor_side={floor_side} is not possible; allowed: {SMALLEST_FLOOR} to '
    f'{LARGEST_FLOOR} in steps of {arena.CELL}'
  )


def _quadrant(num_cells: int, size: int) -> grid.Rectangle:
  """Returns lower left cells of squares at the bottom right of the floor.

  The squares do not touch the walls. They lie right of and below the middle.
  """
  half, most = num_cells // 2, num_cells - 1 - size
  return num_cells - half, most, 1, half - 1 - size


def _pieces(
  num_agents: int, num_boxes: int, num_cells: int
) -> list[grid.Piece]:
  """Returns agents, which have to be in the quadrant, and boxes.

  Uniform draws leave out the last legal row and column, as in the released
  code.
  """
  legal, usual = (_quadrant(num_cells, _AGENT_CELLS + i) for i in (0, 1))
  most = num_cells - 1 - _BOX_CELLS
  agents = [
    grid.Piece(f'agent {i}', _AGENT_CELLS, (legal,), (usual,))
    for i in range(num_agents)
  ]
  boxes = [
    grid.Piece(f'box {i}', _BOX_CELLS, ((1, most) * 2,), ((1, most - 1) * 2,))
    for i in range(num_boxes)
  ]
  return agents + boxes


def _features(side: float) -> dict[str, tuple[task.Feature, ...]]:
  """Returns the observed features; side is the length of the floor's side."""
  joints = task.joint_features(side, ('yaw',))
  return {
    'own': (
      *joints,
      task.Feature('birthplace_x', 0.0, side),
      task.Feature('birthplace_y', 0.0, side),
      *task.unit_features('time'),
    ),
    'agents': joints,
    'boxes': (
      *task.joint_features(side, ('cos', 'sin')),
      *task.unit_features('width', 'depth', 'height'),  # Metres.
      *task.LOCK_FLAGS,
    ),
  }
