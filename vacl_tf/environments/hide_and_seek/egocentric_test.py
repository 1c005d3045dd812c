# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Egocentric observations of hide-and-seek, against the rules."""

import math

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import types
from vacl_tf.environments import hide_and_seek
from vacl_tf.environments.hide_and_seek import egocentric
from vacl_tf.environments.hide_and_seek import entities as entities_lib
from vacl_tf.environments.hide_and_seek import lock_and_return_spec
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.environments.hide_and_seek import ramp_use_spec
from vacl_tf.environments.hide_and_seek import task as task_lib

_NUM_WORLDS = 50
_SPECS = {
  spec.name: spec for spec in (lock_and_return_spec.SPEC, ramp_use_spec.SPEC)
}
_RADIUS, _HALF_SIZE = entities_lib.AGENT_RADIUS, entities_lib.BOX_HALF_SIZE
_WAY, _DIRECTION = slice(0, 3), slice(3, 5)
_COSINE, _NEARNESS = 5, 7  # A sine lies between; turn and the rest follow.
_TURN, _REST = slice(8, 10), slice(10, None)


def _world(name):
  return _SPECS[name].make(_SPECS[name].world)


def _state(task, move=(0.0, 0.0), angle=0.0) -> task_lib.State:
  """Random positions, those of middles turned about the origin and moved."""
  cast, rng = task.cast, np.random.default_rng(0)
  shape = [_NUM_WORLDS, cast.num_entities, 4]
  position = rng.uniform(0.0, 6.0, shape)
  velocity = rng.normal(size=shape)
  half_size = np.append(
    [_RADIUS] * cast.num_agents, [_HALF_SIZE] * cast.num_objects
  )
  middle = position[..., :2] + half_size[:, None]
  middle = np.asarray(move) + middle @ _matrix(angle).T
  position[..., :2] = middle - half_size[:, None]
  position[..., 3] += angle
  return task_lib.State(
    position,
    velocity,
    is_locked=np.zeros([_NUM_WORLDS, cast.num_objects], bool),
    locker=np.zeros([_NUM_WORLDS, cast.num_objects], int),
    held=np.full([_NUM_WORLDS, cast.num_agents], mechanics.NOTHING),
    birthplace=position[:, : cast.num_agents, :2],
    is_seen=np.zeros([_NUM_WORLDS, len(task.looks)], bool),
    step=3,
  )


def _matrix(angle) -> np.ndarray:
  cos, sin = math.cos(angle), math.sin(angle)
  return np.array([[cos, -sin], [sin, cos]])


def _literal(mine, thing, is_agent) -> list[float]:
  """Returns the features of one entity, by angles."""
  further = 0.0 if is_agent else _HALF_SIZE - _RADIUS
  x, y = thing[:2] - mine[:2] + further
  direction, distance = math.atan2(y, x), math.hypot(x, y, 0.01)
  near = math.hypot(x, y) / distance  # 1 but for what is all but here.
  bearing = direction - (mine[3] - math.pi / 2)
  if is_agent:
    turn, rest = [math.cos(thing[3]), math.sin(thing[3])], thing[4:]
  else:
    turn, rest = thing[3:5], thing[5:]
  return [
    *(x / 2, y / 2, (thing[2] - mine[2]) / 2),
    *(near * math.cos(direction), near * math.sin(direction)),
    *(near * math.cos(bearing), near * math.sin(bearing)),
    math.exp(-distance),
    *(*turn, *rest[:4] / 4, *rest[4:]),
  ]


def _look(task, state) -> tuple[np.ndarray, dict[str, np.ndarray]]:
  found, restore = egocentric.Egocentric()(_observation(task, state))
  assert restore is None
  return found.own.numpy(), {k: x.numpy() for k, x in found.entities.items()}


def _observation(task, state) -> types.Observation:
  """Returns what the agents observe, as tensors."""
  seen = task.observe(state)
  return types.Observation(
    tf.constant(seen.own),
    {kind: tf.constant(x, tf.float32) for kind, x in seen.entities.items()},
  )


@parameterized.parameters(*hide_and_seek.NAMES)
class EgocentricTest(parameterized.TestCase, tf.test.TestCase):
  def test_sizes_are_those_of_the_role(self, name):
    env = _world(name)
    own, entities = _look(env.task, _state(env.task))
    found = {kind: x.shape[-1] for kind, x in entities.items()}
    [role] = env.roles
    self.assertEqual(role.egocentric, egocentric.Egocentric())
    role = role.egocentric.role(role)
    self.assertEqual((own.shape[-1], found), (role.own_size, role.entity_sizes))

  def test_features_are_those_of_the_definition(self, name):
    task = hide_and_seek.load(name)
    state = _state(task)
    own, entities = _look(task, state)
    seen = task.observe(state)
    for world, agent in np.ndindex(own.shape[:2]):
      mine = seen.own[world, agent]
      np.testing.assert_allclose(
        own[world, agent],
        [*mine[:3] / 2, np.cos(mine[3]), np.sin(mine[3]), *mine[4:8] / 4]
        + [*mine[8:]],
        atol=1e-5,
      )
      for kind, tokens in entities.items():
        for token, thing in zip(
          tokens[world, agent], seen.entities[kind][world, agent], strict=True
        ):
          literal = _literal(mine, thing, kind in ('agents', 'hiders'))
          np.testing.assert_allclose(token, literal, atol=1e-5)

  def test_a_cosine_tells_what_the_rules_say_is_in_view(self, name):
    task = hide_and_seek.load(name)
    state = _state(task)
    _, entities = _look(task, state)
    first = task.cast.num_agents
    middle = state.position[..., :2] + _RADIUS
    middle[:, first:] += _HALF_SIZE - _RADIUS
    for actor_index, actor in enumerate(task.actors):
      towards = middle[:, first:] - middle[:, actor, None]
      yaw = state.position[:, actor, None, 3]
      expected = mechanics.in_front(yaw, towards)
      things = [
        entities[kind] for kind in ('boxes', 'ramps') if kind in entities
      ]
      cosine = np.concatenate(things, 2)[:, actor_index, :, _COSINE]
      found = cosine >= math.cos(mechanics.VIEW_HALF_ANGLE)
      np.testing.assert_array_equal(found, expected)
      self.assertBetween(np.mean(found), 0.1, 0.9)

  def test_way_direction_and_nearness_agree(self, name):
    task = hide_and_seek.load(name)
    for seen in _look(task, _state(task))[1].values():
      way = 2.0 * seen[..., _WAY]
      distance = np.linalg.norm(way[..., :2], axis=-1)
      self.assertAllClose(seen[..., _NEARNESS], np.exp(-distance), atol=1e-3)
      self.assertAllClose(
        distance[..., None] * seen[..., _DIRECTION], way[..., :2], atol=1e-3
      )

  def test_moved_worlds_look_the_same_but_for_ones_own_place(self, name):
    task = hide_and_seek.load(name)
    own, entities = _look(task, _state(task))
    moved, found = _look(task, _state(task, move=(0.7, -0.4)))
    for kind, seen in entities.items():
      self.assertAllClose(found[kind], seen, atol=1e-4)
    self.assertAllClose(
      moved[..., :2] - own[..., :2],
      np.full_like(own[..., :2], [0.35, -0.2]),
      atol=1e-4,
    )

  def test_turned_worlds_have_the_same_bearings(self, name):
    task, angle = hide_and_seek.load(name), 0.8
    matrix = _matrix(angle).T
    own, entities = _look(task, _state(task))
    turned, found = _look(task, _state(task, angle=angle))
    self.assertAllClose(turned[..., 3:5], own[..., 3:5] @ matrix, atol=1e-4)
    for kind, seen in entities.items():
      now = found[kind]
      bearing = slice(_COSINE, _NEARNESS + 1)
      self.assertAllClose(now[..., bearing], seen[..., bearing], atol=1e-4)
      self.assertAllClose(now[..., 2], seen[..., 2], atol=1e-4)
      self.assertAllClose(now[..., _REST], seen[..., _REST], atol=1e-4)
      for part in (slice(0, 2), _DIRECTION, _TURN):
        self.assertAllClose(now[..., part], seen[..., part] @ matrix, atol=1e-4)

  def test_a_whole_turn_changes_nothing(self, name):
    task = hide_and_seek.load(name)
    plain = _observation(task, _state(task))
    turn = [0.0, 0.0, 0.0, 2.0 * math.pi] + [0.0] * 7
    around = plain._replace(own=plain.own + turn)
    transform = egocentric.Egocentric()
    (one, _), (other, _) = transform(plain), transform(around)
    tf.nest.map_structure(
      lambda x, y: self.assertAllClose(x, y, atol=1e-4), one, other
    )
    self.assertGreater(np.abs(around.own - plain.own).max(), 1.0)

  def test_leading_axes_are_kept(self, name):
    task = hide_and_seek.load(name)
    plain = _observation(task, _state(task))
    found, _ = egocentric.Egocentric()(plain)
    stacked = tf.nest.map_structure(lambda x: tf.stack([x[::-1], x]), plain)
    again, _ = egocentric.Egocentric()(stacked)
    tf.nest.map_structure(
      lambda x, y: self.assertAllClose(x, y[1]), found, again
    )

  def test_the_critic_may_observe_other_features_of_itself(self, name):
    task = hide_and_seek.load(name)
    [role] = _world(name).roles
    plain = _observation(task, _state(task))
    critic = plain._replace(critic_own=plain.own + 1.0).of_critic()
    found, _ = role.egocentric(critic)
    expected, _ = role.egocentric(plain._replace(own=plain.own + 1.0))
    self.assertAllEqual(found.own, expected.own)
    self.assertEqual(
      role.egocentric.role(role).critic_only_position, role.critic_only_position
    )


if __name__ == '__main__':
  tf.test.main()
