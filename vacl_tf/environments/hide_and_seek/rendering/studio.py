# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Renders worlds with MuJoCo; `film` starts this module as a program.

It reads a pickled `Job` from standard input and writes the pictures, uint8
[T, B, width, width, 3], to the .npy file that its argument names. Its models
have low walls, colours and lights, and are not simulated.
"""

import pickle
import sys
from collections.abc import Sequence
from typing import NamedTuple

import mujoco
import numpy as np

from vacl_tf.environments.hide_and_seek import arena
from vacl_tf.environments.hide_and_seek import entities
from vacl_tf.environments.hide_and_seek import task as task_lib
from vacl_tf.environments.hide_and_seek.rendering import palette

_ELEVATION = -72.0  # Degrees; -90 looks straight down.
_FIELD_OF_VIEW = 20.0  # Degrees; narrow, for little perspective.
_DISTANCE = 3.12  # Camera to floor centre, in lengths of the floor's side.
_HEIGHT = 0.5  # Largest height of walls in pictures, metres.
_RING_HALF_THICKNESS = 0.05  # Metres.
_SIGHT_SHARE = 1 / 160  # Thickness of lines, relative to the width.
_RUNG_RADIUS = 0.02  # Metres.
_BEAK_LENGTH = 0.1  # Metres ahead of an agent.
_BACKGROUND = (250, 250, 248)
_FLOOR = ((232, 233, 230), (240, 241, 238))  # Alternating squares of 1 m.
_WALL = (186, 180, 168)
_RUNG = (250, 250, 248)


class Job(NamedTuple):
  """What to render."""

  arena: arena.Arena
  cast: entities.Cast
  home_radius: float  # See `task.Task`.
  looks: tuple[tuple[int, int], ...]  # See `task.Task`.
  states: Sequence[task_lib.State]  # T states of B worlds.
  width: int  # Width and height of a picture, in pixels.


def main() -> None:
  """Renders the job from standard input."""
  job = pickle.load(sys.stdin.buffer)
  np.save(sys.argv[1], render(job))


def render(job: Job) -> np.ndarray:
  """Returns pictures [T, B, width, width, 3]."""
  model = describe(job).compile()
  data = mujoco.MjData(model)
  camera = mujoco.MjvCamera()
  camera.lookat = [job.arena.side / 2, job.arena.side / 2, 0.0]
  camera.distance = _DISTANCE * job.arena.side
  camera.azimuth, camera.elevation = 90.0, _ELEVATION
  num_worlds = len(job.states[0].position)
  shape = [len(job.states), num_worlds, job.width, job.width, 3]
  pictures = np.empty(shape, np.uint8)
  with mujoco.Renderer(model, job.width, job.width) as renderer:
    for state, row in zip(job.states, pictures, strict=True):
      for world in range(num_worlds):
        _pose(job, model, data, state, world)
        renderer.update_scene(data, camera)
        _show_sights(job, renderer.scene, data, state.is_seen[world])
        renderer.render(out=row[world])
  return pictures


def describe(job: Job) -> mujoco.MjSpec:
  """Returns the specification of a world's model for pictures."""
  spec = entities.describe(job.arena, job.cast)
  _set_lights(spec, job)
  _dress_arena(spec, job.arena)
  colours = palette.colours(job.cast, np.zeros(job.cast.num_objects, bool))
  for index, colour in enumerate(colours):
    body = spec.body(entities.entity_name(index))
    for geom in body.geoms:
      geom.rgba = _rgba(colour)
    if index >= job.cast.num_agents + job.cast.num_boxes:
      _add_rungs(body)
    if index < job.cast.num_agents:
      _add_beak(body, colour)
      if job.home_radius:
        _add_ring(spec, job.home_radius, colour)
  return spec


def _set_lights(spec: mujoco.MjSpec, job: Job) -> None:
  """Sets lights (chosen by eye), background and size of pictures."""
  size = spec.visual.global_
  size.offwidth = size.offheight = job.width
  size.fovy = _FIELD_OF_VIEW
  side = job.arena.side
  spec.stat.extent, spec.stat.center = side, [side / 2, side / 2, 0.0]
  spec.visual.quality.shadowsize = 2048
  spec.visual.headlight.ambient = [0.48] * 3
  spec.visual.headlight.diffuse = [0.15] * 3
  spec.visual.headlight.specular = [0.0] * 3
  light = spec.worldbody.add_light()
  light.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
  light.pos = [side / 2, side / 2, side / 2]
  light.dir = [0.3, 0.15, -1.0]
  light.diffuse = [0.4] * 3
  light.specular = [0.1] * 3
  sky = spec.add_texture(
    name='sky',
    type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
    builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
    width=8,
    height=48,
  )
  sky.rgb1 = sky.rgb2 = np.array(_BACKGROUND) / 255


def _dress_arena(spec: mujoco.MjSpec, place: arena.Arena) -> None:
  """Limits the floor's size and the walls' height, and colours both."""
  tiles = spec.add_texture(
    name='tiles',
    type=mujoco.mjtTexture.mjTEXTURE_2D,
    builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
    width=64,
    height=64,
  )
  tiles.rgb1, tiles.rgb2 = np.array(_FLOOR) / 255
  material = spec.add_material(name='tiles', specular=0.0, reflectance=0.0)
  material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = 'tiles'
  material.texrepeat = [place.side / 2, place.side / 2]
  (floor,) = spec.worldbody.geoms
  floor.size = [place.side / 2, place.side / 2, 1.0]
  floor.pos = [place.side / 2, place.side / 2, 0.0]
  floor.material = 'tiles'
  walls = [body for body in spec.worldbody.bodies if not body.joints]
  for body in walls:
    (geom,) = body.geoms
    half_height = min(geom.size[2], _HEIGHT / 2)
    geom.size[2] = body.pos[2] = half_height
    geom.rgba = _rgba(_WALL)


def _add_rungs(body: mujoco.MjsBody) -> None:
  """Adds rungs to a ramp's slope, to tell it from a box."""
  half = entities.RAMP_HALF_SIZE
  for share in (-0.6, -0.2, 0.2, 0.6):  # From the slope's middle to its top.
    y, z = -half * share, half * share
    body.add_geom(
      type=mujoco.mjtGeom.mjGEOM_CAPSULE,
      fromto=[-0.8 * half, y, z, 0.8 * half, y, z],
      size=[_RUNG_RADIUS, 0, 0],
      rgba=_rgba(_RUNG),
    )


def _add_beak(body: mujoco.MjsBody, colour: np.ndarray) -> None:
  """Adds a marker of an agent's heading, -y of its body."""
  radius = entities.AGENT_RADIUS
  body.add_geom(
    type=mujoco.mjtGeom.mjGEOM_CAPSULE,
    fromto=[0, -radius / 2, radius / 2, 0, -radius - _BEAK_LENGTH, radius / 2],
    size=[0.06, 0, 0],
    rgba=_rgba(colour * 0.55),
  )


def _add_ring(spec: mujoco.MjSpec, radius: float, colour: np.ndarray) -> None:
  """Adds a ring for a birthplace, as a mocap body."""
  if spec.mesh('ring') is None:
    ring = spec.add_mesh(name='ring', scale=[radius] * 3)
    ring.make_supertorus(64, _RING_HALF_THICKNESS / radius, 1.0, 1.0)
  body = spec.worldbody.add_body(mocap=True)
  body.add_geom(
    type=mujoco.mjtGeom.mjGEOM_MESH, meshname='ring', rgba=_rgba(colour)
  )


def _pose(
  job: Job,
  model: mujoco.MjModel,
  data: mujoco.MjData,
  state: task_lib.State,
  world: int,
) -> None:
  """Sets the positions and colours of all entities of a world."""
  data.qpos[:] = state.position[world].ravel()
  if job.home_radius:
    data.mocap_pos[:, :2] = state.birthplace[world] + entities.AGENT_RADIUS
  colours = palette.colours(job.cast, state.is_locked[world])
  for index in range(job.cast.num_agents, job.cast.num_entities):
    body = model.body(entities.entity_name(index))
    # A body's first geom is the physical one; rungs come after it.
    model.geom_rgba[body.geomadr[0]] = _rgba(colours[index])
  mujoco.mj_kinematics(model, data)
  mujoco.mj_camlight(model, data)


def _show_sights(
  job: Job, scene: mujoco.MjvScene, data: mujoco.MjData, is_seen: np.ndarray
) -> None:
  """Adds a line from each agent to each entity that it sees."""
  for pair, is_there in zip(job.looks, is_seen, strict=True):
    if is_there:
      geom = scene.geoms[scene.ngeom]
      mujoco.mjv_initGeom(
        geom,
        mujoco.mjtGeom.mjGEOM_LINE,
        np.zeros(3),
        np.zeros(3),
        np.zeros(9),
        np.float32(_rgba(palette.SIGHT)),
      )
      ends = [data.body(entities.entity_name(index)).xpos for index in pair]
      mujoco.mjv_connector(
        geom, mujoco.mjtGeom.mjGEOM_LINE, _SIGHT_SHARE * job.width, *ends
      )
      scene.ngeom += 1


def _rgba(colour: Sequence[float] | np.ndarray) -> list[float]:
  """Returns MuJoCo's RGBA of red, green and blue from 0 to 255."""
  return [*(np.array(colour) / 255), 1.0]


if __name__ == '__main__':
  main()
