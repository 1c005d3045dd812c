# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Ramp-Use: a seeker climbs a ramp to see a hider behind a wall.

Paper, section on the hide-and-seek environment; docs/reproduction.md has the
details. The floor is 6 x 6 m, with a closed room in the bottom right quadrant
(large x, small y). The hider never acts. Its position, and that of a box in its
room, are drawn anew for every episode.
"""

from typing import Any

import numpy as np

from vacl_tf.environments.hide_and_seek import arena
from vacl_tf.environments.hide_and_seek import entities
from vacl_tf.environments.hide_and_seek import grid
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.environments.hide_and_seek import task

_NUM_CELLS = 30
_WALL_FRICTION = 0.01
_ROOM = 15  # The row and the column of cells that the room's walls are on.
_HIDER, _SEEKER = 0, 1
_AGENT_CELLS, _OBJECT_CELLS = 2, 3
# Three regions: left of the room, above that region, and above the room. The
# wall is on row 15.
_LEGAL_SEEKER = ((1, 13, 1, 13), (1, 13, 15, 27), (15, 27, 16, 27))
# The released code uses the seeker's regions for the ramp too, by mistake. The
# ramp's own regions end at column 11; easy tasks need column 12.
_LEGAL_RAMP = ((1, 12, 1, 11), (1, 11, 15, 26), (15, 26, 16, 26))
_USUAL_SEEKER = ((1, 11, 1, 11), (1, 11, 15, 26), (15, 26, 16, 26))
_USUAL_RAMP = ((1, 10, 1, 10), (1, 10, 15, 25), (15, 25, 16, 25))
_HIDER_CELLS = ((16, 26, 1, 11),)
_BOX_CELLS = ((16, 25, 1, 10),)
_AWAY = 3  # Cells between the corners of ramp and seeker in an easy task.


class RampUse(task.Task):
  """The seeker acts. It need not enter the room; seeing the hider suffices."""

  name = 'ramp_use'
  actors = (_SEEKER,)
  teams = (0, 1)
  must_see_to_lock = False
  looks = ((_SEEKER, _HIDER),)

  def __init__(
    self,
    *,
    reward_scale: float = 1.0,
    has_box: bool = True,
    reach: float = mechanics.REACH,
  ) -> None:
    """Describes the task.

    Args:
      reward_scale: reward of each step in which the seeker sees the hider, and
        cost of each other step. Paper: 1; released code: 0.1.
      has_box: whether there is a box in the room, which may hide the hider.
      reach: distance within which an object can be grabbed or locked, in
        metres. It was 0.0625 in an older version of the released code, from
        which the published numbers probably come. With 0.0625, an agent on the
        floor reaches only the ramp at its slope, where the agent's centre comes
        within 0.0621. Elsewhere its radius of 0.15 keeps it too far away.

    Raises:
      ValueError: one of the numbers is not above 0.
    """
    for name, given in (('reward_scale', reward_scale), ('reach', reach)):
      if not given > 0.0:
        raise ValueError(f'{name}={given}; allowed: numbers above 0')
    self.reward_scale = reward_scale
    self.reach = reach
    walls = (
      arena.Wall(True, _ROOM, 0, _ROOM, arena.INNER_HEIGHT),
      arena.Wall(False, _ROOM, _ROOM, _NUM_CELLS - 1, arena.INNER_HEIGHT),
    )
    self.arena = arena.Arena(_NUM_CELLS, walls, _WALL_FRICTION)
    self.cast = entities.Cast(2, int(has_box), num_ramps=1)
    self.grid = grid.Grid(
      [
        grid.Piece('seeker', _AGENT_CELLS, _LEGAL_SEEKER, _USUAL_SEEKER),
        grid.Piece('ramp', _OBJECT_CELLS, _LEGAL_RAMP, _USUAL_RAMP),
      ],
      _easy,
      3,
    )
    in_room = [grid.Piece('hider', _AGENT_CELLS, _HIDER_CELLS, _HIDER_CELLS)]
    if has_box:
      in_room.append(grid.Piece('box', _OBJECT_CELLS, _BOX_CELLS, _BOX_CELLS))
    self._room = grid.Grid(in_room)
    self.num_start_draws = self._room.num_uniform_draws
    self.features = _features(self.arena.side, has_box)
    self.slots = {kind: 1 for kind in self.features if kind != 'own'}

  def start(self, phi: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    room = self._room.uniform(numbers).reshape([len(phi), -1, 2])
    phi = np.floor(phi + 0.5).reshape([len(phi), -1, 2])
    seeker, ramp = phi[:, :1], phi[:, 1:]
    hider, box = room[:, :1], room[:, 1:]
    return np.concatenate([hider, seeker, box, ramp], 1)

  def read_task(self, cells: np.ndarray) -> np.ndarray:
    return cells[:, [_SEEKER, -1]].reshape([len(cells), -1])

  def observe(self, state: task.State) -> task.Observation:
    num_agents, num_boxes, _ = self.cast
    both = np.concatenate([state.position, state.velocity], -1)
    has_begun = float(state.step > 0)
    own = np.empty([len(both), 1, 11], np.float32)
    own[:, 0, :8] = both[:, _SEEKER]
    own[..., 8:] = state.step / self.horizon, 0.0, has_begun
    hiders = np.empty([len(both), 1, 1, 10], np.float32)
    hiders[:, 0, 0, :8] = both[:, _HIDER]
    hiders[..., 8:] = 1.0, has_begun
    things = np.empty([len(both), 1, self.cast.num_objects, 12], np.float32)
    things[..., :9] = task.with_turn(
      state.position[:, num_agents:], state.velocity[:, num_agents:]
    )[:, None]
    things[..., 9:] = task.lock_flags(state, self)
    tokens = {'hiders': hiders}
    if num_boxes:
      tokens['boxes'] = things[:, :, :num_boxes]
    tokens['ramps'] = things[:, :, num_boxes:]
    return task.Observation(own, tokens)

  def judge(self, state: task.State) -> task.Outcome:
    """Rewards steps in which the hider is seen, and punishes the others."""
    is_seen = state.is_seen[:, 0]
    reward = np.where(is_seen, self.reward_scale, -self.reward_scale)
    return task.Outcome(
      reward[:, None].astype(np.float32), is_seen.astype(np.float32), is_seen
    )

  def captions(self, state: task.State) -> list[str]:
    return [
      'the hider is seen' if is_seen else 'the hider is not seen'
      for is_seen in state.is_seen[:, 0]
    ]


def _easy(xp: Any, numbers: grid.Array) -> grid.Array:
  """Places the ramp against a wall of the room and the seeker near it.

  Above the room the ramp's high end touches the wall; left of the room its
  slope runs along the wall.
  """
  is_above = numbers[..., 0] < 0.5
  where = numbers[..., 1]
  x = xp.where(is_above, grid.whole(xp, where, 18, 25), 12.0)
  y = xp.where(is_above, 16.0, grid.whole(xp, where, 1, 10))
  is_beside = numbers[..., 2] < 0.5
  seeker_x = xp.where(is_beside, x - _AWAY, x)
  seeker_y = xp.where(is_beside, y, y + _AWAY)
  return xp.stack([seeker_x, seeker_y, x, y], -1)


def _features(
  side: float, has_box: bool
) -> dict[str, tuple[task.Feature, ...]]:
  """Returns the observed features; side is the length of the floor's side."""
  joints = task.joint_features(side, ('yaw',))
  thing = (*task.joint_features(side, ('cos', 'sin')), *task.LOCK_FLAGS)
  features = {
    'own': (*joints, *task.unit_features('time', 'is_hider', 'has_begun')),
    'hiders': (*joints, *task.unit_features('is_hider', 'has_begun')),
  }
  if has_box:
    features['boxes'] = thing
  return features | {'ramps': thing}
