# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rules of hide-and-seek, one world and one pair at a time.

The module is slow, literal and independent of the code that it checks. It
follows the rules of the paper and the released code (docs/reproduction.md) on
top of plain MuJoCo, which computes positions and what a ray hits. It needs a
compiled model whose bodies have four joints each (x, y, z and yaw), agents
before objects.
"""

import copy
import math

import mujoco
import numpy as np

_BINS = [-0.9 + 0.18 * index for index in range(11)]
_CUBE = 0.25  # Half the size of boxes and, for distances, of the ramp.
_SUBSTEPS = 15


class World:
  """One world, with the state that its rules need.

  Attributes:
    data: MuJoCo's state, which may be written to.
    is_locked: for each object, whether it is locked.
    locker: for each object, the agent that locked it last.
    held: for each agent, the object that it holds, or None.
    lockers: for each object, the agents that may become its `locker`. After a
      step that locked the object, the caller chooses one of them.
  """

  def __init__(
    self,
    model: mujoco.MjModel,
    teams: tuple[int, ...],
    must_see_to_lock: bool,
    reach: float = 0.25,
  ) -> None:
    """Makes a world.

    Args:
      model: model of arena, agents and objects, with a weld for each pair of
        agent and object.
      teams: team of each agent.
      must_see_to_lock: whether an agent must see an object to lock it.
      reach: metres from an agent's centre to an object's surface.
    """
    self._model = copy.copy(model)
    self.data = mujoco.MjData(self._model)
    self._teams = teams
    self._must_see_to_lock = must_see_to_lock
    self._reach = reach
    joints = range(0, model.njnt, 4)
    bodies = [int(model.jnt_bodyid[joint]) for joint in joints]
    self._agents = bodies[: len(teams)]
    self._things = bodies[len(teams) :]
    self.is_locked = [False for _ in self._things]
    self.locker = [0 for _ in self._things]
    self.held = [None for _ in self._agents]
    self.lockers = [set() for _ in self._things]

  def sees(self, agent: int, target: int) -> bool:
    """Returns whether an agent sees an entity; agents are numbered first."""
    mujoco.mj_forward(self._model, self.data)
    viewer = self._agents[agent]
    body = (self._agents + self._things)[target]
    away = self.data.xpos[body] - self.data.xpos[viewer]
    if math.hypot(away[0], away[1]) > 0.0:
      yaw = self.data.qpos[4 * agent + 3]
      turn = math.atan2(away[1], away[0]) - (yaw - math.pi / 2)
      turn = math.remainder(turn, 2 * math.pi)
      if abs(turn) > 3 * math.pi / 8:
        return False
    eye, aim = (
      self.data.geom_xpos[self._model.body_geomadr[x]] for x in (viewer, body)
    )
    hit = np.zeros([1], np.int32)
    mujoco.mj_ray(
      self._model, self.data, eye, aim - eye, None, True, viewer, hit
    )
    return hit[0] >= 0 and self._model.geom_bodyid[hit[0]] == body

  def distance(self, agent: int, thing: int) -> float:
    """Returns the distance from an agent's centre to an object's cube."""
    mujoco.mj_forward(self._model, self.data)
    body = self._things[thing]
    rotation = self.data.xmat[body].reshape(3, 3)
    middle = self.data.xpos[body]
    point = rotation.T @ (self.data.xpos[self._agents[agent]] - middle)
    nearest = [min(max(x, -_CUBE), _CUBE) for x in point]
    return float(np.linalg.norm(point - nearest))

  def step(self, actions: np.ndarray) -> None:
    """Plays a step with actions [N, 5] of all agents, lock before pull."""
    self._handle(actions)
    for agent, (x, y, yaw, _, _) in enumerate(actions):
      self.data.ctrl[3 * agent : 3 * agent + 3] = [
        _BINS[bin] for bin in (x, y, yaw)
      ]
    for _ in range(_SUBSTEPS):
      mujoco.mj_step(self._model, self.data)

  def _handle(self, actions: np.ndarray) -> None:
    """Grabs and locks objects, both from the state before the physics."""
    near = {
      (agent, thing): self.distance(agent, thing)
      for agent in range(len(self._agents))
      for thing in range(len(self._things))
    }
    near = {pair: x for pair, x in near.items() if x <= self._reach}
    seen = {
      (agent, thing)
      for agent, thing in near
      if self.sees(agent, len(self._agents) + thing)
    }
    for agent, (*_, pull) in enumerate(actions):
      options = [
        (distance, thing)
        for (other, thing), distance in near.items()
        if other == agent and pull and (agent, thing) in seen
      ]
      self._hold(agent, min(options)[1] if options else None)
    for thing in range(len(self._things)):
      can = [
        agent
        for agent in range(len(self._agents))
        if (agent, thing) in (seen if self._must_see_to_lock else near)
      ]
      self._lock(thing, can, actions)

  def _hold(self, agent: int, thing: int | None) -> None:
    model, data = self._model, self.data
    for other, body in enumerate(self._things):
      [weld] = np.flatnonzero(
        (model.eq_obj1id == self._agents[agent]) & (model.eq_obj2id == body)
      )
      data.eq_active[weld] = other == thing
      if other == thing and self.held[agent] != thing:
        holder = self._agents[agent]
        frame = data.xmat[holder].reshape(3, 3)
        turn = np.zeros(4)
        rotation = frame.T @ data.xmat[body].reshape(3, 3)
        mujoco.mju_mat2Quat(turn, rotation.ravel())
        model.eq_data[weld] = 0.0
        model.eq_data[weld, 3:6] = frame.T @ (
          data.xpos[body] - data.xpos[holder]
        )
        model.eq_data[weld, 6:10] = turn
        model.eq_data[weld, 10] = 1.0
    self.held[agent] = thing

  def _lock(self, thing: int, can: list[int], actions: np.ndarray) -> None:
    wanting = {agent for agent in can if actions[agent][3]}
    last_team = self._teams[self.locker[thing]]
    against = [
      agent
      for agent in can
      if not actions[agent][3] and self._teams[agent] == last_team
    ]
    joints = range(
      4 * (len(self._agents) + thing), 4 * (len(self._agents) + thing + 1)
    )
    self.lockers[thing] = {self.locker[thing]}
    if against:
      self.is_locked[thing] = False
    elif wanting and not self.is_locked[thing]:
      self.is_locked[thing] = True
      self.lockers[thing] = wanting
      for joint in joints:
        self._model.jnt_range[joint] = self.data.qpos[joint]
    for joint in joints:
      self._model.jnt_limited[joint] = self.is_locked[thing]
