# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Bodies of agents, boxes and ramps, and MuJoCo models made of them.

Every entity has four joints in this order: slides along x, y and z, and a hinge
about z. The positions of the slides are those of the lower left corner of its
square footprint. The origin of its body is `half_size` further along each axis.
"""

from typing import NamedTuple

import mujoco
import numpy as np

from vacl_tf.environments.hide_and_seek import arena

NUM_JOINTS = 4  # Per entity.
MOTORS = (0, 1, 3)  # Actuated joints of an agent: x, y, yaw.
_GEAR = 100.0  # Newtons, or newton metres, at a control of 1.

AGENT_RADIUS = 0.15
BOX_HALF_SIZE = 0.25
RAMP_HALF_SIZE = 0.25
# Relative to the centre of the ramp's bounding cube.
RAMP_CENTRE_OF_MASS = (0.0, -RAMP_HALF_SIZE / 3, -RAMP_HALF_SIZE / 3)

_AGENT_FRICTION = 0.01
_BOX_FRICTION = 0.2
_RAMP_FRICTION = 0.01
# By joint, in N s/m and N m s.
_AGENT_DAMPING = (10.0, 10.0, 1.0, 10.0)
_BOX_DAMPING = (0.01,) * 4
_RAMP_DAMPING = (0.1,) * 4
_ARM_RADIUS = 0.05
_ARMS = ((-0.13, -0.075, -0.05), (0.13, -0.075, -0.05))
_MASS = 1.0  # Of each entity, kg. Arms are massless.
_RAMP_MESH = 'wedge'
# solref of welds: time constant in seconds and damping ratio. MuJoCo's minimum
# is two substeps; with its default of 0.02 s a held object slips by up to 5 mm
# when its agent turns.
_GRIP = (2 * arena.SUBSTEP, 1.0)


class Cast(NamedTuple):
  """Numbers of entities of each kind.

  Entities are numbered in this order: agents, boxes, ramps. Boxes and ramps are
  objects.
  """

  num_agents: int
  num_boxes: int
  num_ramps: int

  @property
  def num_objects(self) -> int:
    """Boxes and ramps, which can be grabbed and locked (m)."""
    return self.num_boxes + self.num_ramps

  @property
  def num_entities(self) -> int:
    """Agents and objects (E)."""
    return self.num_agents + self.num_objects

  def half_sizes(self) -> np.ndarray:
    """Returns [E]: distance from corner to body origin along each axis."""
    sizes = (AGENT_RADIUS, BOX_HALF_SIZE, RAMP_HALF_SIZE)
    return np.repeat(sizes, self)

  def aims(self) -> np.ndarray:
    """Returns [E, 3]: targets of line-of-sight rays, in body frames."""
    points = np.zeros([3, 3])
    points[2] = RAMP_CENTRE_OF_MASS
    return np.repeat(points, self, axis=0)


def entity_name(index: int) -> str:
  """Returns the name of an entity's body."""
  return f'entity{index}'


def compile_model(place: arena.Arena, cast: Cast) -> mujoco.MjModel:
  """Returns the model of a world, with all entities at the floor's corner."""
  return describe(place, cast).compile()


def describe(place: arena.Arena, cast: Cast) -> mujoco.MjSpec:
  """Returns the specification of the model of a world.

  Its equality constraints are inactive welds, one for each pair of an agent and
  an object, ordered by agent.
  """
  spec = place.empty_world()
  adders = (_add_agent, _add_box, _add_ramp)
  for index, add in enumerate(np.repeat(adders, cast)):
    add(spec, entity_name(index))
  for agent in range(cast.num_agents):
    for thing in range(cast.num_agents, cast.num_entities):
      spec.add_equality(
        type=mujoco.mjtEq.mjEQ_WELD,
        objtype=mujoco.mjtObj.mjOBJ_BODY,
        name1=entity_name(agent),
        name2=entity_name(thing),
        active=False,
        solref=_GRIP,
      )
  return spec


def _add_agent(spec: mujoco.MjSpec, name: str) -> None:
  body = _add_body(spec, name, AGENT_RADIUS, _AGENT_DAMPING)
  _add_ball(body, (0.0, 0.0, 0.0), AGENT_RADIUS, _MASS)
  for place in _ARMS:
    _add_ball(body, place, _ARM_RADIUS, 0.0)
  for joint in MOTORS:
    motor = spec.add_actuator(
      target=f'{name}_{joint}', trntype=mujoco.mjtTrn.mjTRN_JOINT
    )
    motor.gear[0] = _GEAR


def _add_box(spec: mujoco.MjSpec, name: str) -> None:
  body = _add_body(spec, name, BOX_HALF_SIZE, _BOX_DAMPING)
  body.add_geom(
    type=mujoco.mjtGeom.mjGEOM_BOX,
    size=[BOX_HALF_SIZE] * 3,
    mass=_MASS,
    friction=arena.friction(_BOX_FRICTION),
  )


def _add_ramp(spec: mujoco.MjSpec, name: str) -> None:
  """Adds a wedge whose slope rises towards -y, to the height of its cube."""
  if spec.mesh(_RAMP_MESH) is None:
    profile = ((-1, -1), (-1, 1), (1, -1))  # Of y and z.
    corners = [(x, y, z) for x in (-1, 1) for y, z in profile]
    spec.add_mesh(name=_RAMP_MESH, uservert=RAMP_HALF_SIZE * np.ravel(corners))
  body = _add_body(spec, name, RAMP_HALF_SIZE, _RAMP_DAMPING)
  body.add_geom(
    type=mujoco.mjtGeom.mjGEOM_MESH,
    meshname=_RAMP_MESH,
    mass=_MASS,
    friction=arena.friction(_RAMP_FRICTION),
  )


def _add_body(
  spec: mujoco.MjSpec,
  name: str,
  half_size: float,
  damping: tuple[float, ...],
) -> mujoco.MjsBody:
  """Returns a new body with the four joints and no geometry.

  Each joint has an armature of substep times damping. Without contact, motion
  is the same as with MuJoCo's implicit damping, which is off. MuJoCo applies
  implicit damping after it has solved the constraints. The solver accounts for
  the armature, so a turning agent keeps its grip. With contact, motion differs:
  see docs/reproduction.md.
  """
  body = spec.worldbody.add_body(name=name, pos=[half_size] * 3)
  for joint in range(NUM_JOINTS):
    is_hinge = joint == NUM_JOINTS - 1
    body.add_joint(
      name=f'{name}_{joint}',
      type=mujoco.mjtJoint.mjJNT_HINGE
      if is_hinge
      else mujoco.mjtJoint.mjJNT_SLIDE,
      axis=np.eye(3)[min(joint, 2)],
      damping=[damping[joint], 0.0, 0.0],
      armature=arena.SUBSTEP * damping[joint],
    )
  return body


def _add_ball(
  body: mujoco.MjsBody,
  place: tuple[float, ...],
  radius: float,
  mass: float,
) -> None:
  body.add_geom(
    type=mujoco.mjtGeom.mjGEOM_SPHERE,
    pos=place,
    size=[radius, 0.0, 0.0],
    mass=mass,
    friction=arena.friction(_AGENT_FRICTION),
  )
