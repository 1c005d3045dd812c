# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Turned and mirrored worlds are played in the turned and mirrored way."""

import itertools

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import frames
from vacl_tf.networks import policy_value

# The eight views of a square: axes change places, then are mirrored.
_VIEWS = [
  np.array(matrix)[list(order)]
  for order in ((0, 1), (1, 0))
  for matrix in (
    np.diag(signs) for signs in itertools.product((1.0, -1.0), repeat=2)
  )
]
_MOVES = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
_ROLE = types.Role(
  'agent', 3, 5, 4, {'balls': 2, 'landmarks': 3}, is_in_square=True
)


def _world(view=_VIEWS[0], seed=0) -> types.Observation:
  """Three agents' observation of the same world, looked at in a view."""
  rng = np.random.default_rng(seed)
  velocity, place = rng.normal(size=[2, 5, 3, 2]) @ view.T
  balls, marks = rng.normal(size=[2, 5, 4, 2]) @ view.T
  flag = rng.integers(2, size=[5, 3, 4, 1])
  entities = {
    'balls': balls[:, None] - place[:, :, None],
    'landmarks': np.concatenate([flag, marks[:, None] - place[:, :, None]], -1),
  }
  entities = {k: tf.constant(x, tf.float32) for k, x in entities.items()}
  own = tf.constant(np.concatenate([velocity, place], -1), tf.float32)
  return types.Observation(own, entities, {})


def _image_of_moves(view) -> np.ndarray:
  """Which move each move becomes in a view."""
  distance = np.linalg.norm((_MOVES @ view.T)[:, None] - _MOVES[None], axis=-1)
  return np.argmin(distance, 1)


def _networks(role=_ROLE, **changes) -> policy_value.PolicyValue:
  """Networks whose variables are all of order 1."""
  cfg = config.NetworkConfig(hidden_size=16, **changes)
  made = policy_value.PolicyValue((role,), cfg, 0)
  rng = np.random.default_rng(1)
  for variable in made.variables:
    variable.assign_add(0.5 * rng.normal(size=variable.shape))
  return made


class FramesTest(parameterized.TestCase, tf.test.TestCase):
  def test_there_are_eight_views(self):
    self.assertLen(np.unique(_VIEWS, axis=0), 8)

  @parameterized.parameters(*range(8))
  def test_all_views_have_one_canonical_frame(self, index):
    plain, _ = frames.canonical(_world())
    found, _ = frames.canonical(_world(_VIEWS[index]))
    self.assertAllClose(found.own, plain.own, 1e-5, 1e-5)
    for kind, seen in plain.entities.items():
      self.assertAllClose(found.entities[kind], seen, 1e-5, 1e-5)
    place = found.own[..., 2:]
    self.assertAllGreaterEqual(place[..., 1], 0.0)
    self.assertAllGreaterEqual(place[..., 0] - place[..., 1], 0.0)

  def test_lengths_flags_and_what_lies_between_stay(self):
    world = _world()
    found, _ = frames.canonical(world)
    for before, after in (
      (world.own[..., :2], found.own[..., :2]),
      (world.entities['balls'], found.entities['balls']),
    ):
      self.assertAllClose(tf.norm(before, axis=-1), tf.norm(after, axis=-1))
      self.assertNotAllClose(before, after)
    flags = [x.entities['landmarks'][..., 0] for x in (world, found)]
    self.assertAllEqual(*flags)

  @parameterized.parameters(*range(8))
  def test_policy_turns_with_the_world_and_value_does_not(self, index):
    networks, view = _networks(frame='own'), _VIEWS[index]
    [plain], [value] = networks.logits((_world(),)), networks.value((_world(),))
    turned = (_world(view),)
    [logits], [found] = networks.logits(turned), networks.value(turned)
    self.assertGreater(np.std(plain), 0.1)
    expected = tf.gather(logits, _image_of_moves(view), axis=-1)
    self.assertAllClose(expected, plain, 1e-3, 1e-3)
    self.assertAllClose(found, value, 1e-3, 1e-3)
    if index:
      self.assertNotAllClose(logits, plain, 1e-2, 1e-2)

  @parameterized.parameters(('room', True), ('own', False))
  def test_without_octants_a_turned_world_is_another_one(self, frame, square):
    networks = _networks(_ROLE._replace(is_in_square=square), frame=frame)
    [plain] = networks.logits((_world(),))
    [logits] = networks.logits((_world(_VIEWS[3]),))
    expected = tf.gather(logits, _image_of_moves(_VIEWS[3]), axis=-1)
    self.assertNotAllClose(expected, plain, 1e-2, 1e-2)

  def test_directions_and_nearness(self):
    ways = np.array([[0.3, 0.4], [-2.0, 0.0], [0.0, 0.0]], np.float32)
    world = _world()._replace(
      entities={'balls': tf.tile(ways[None, None], [5, 3, 1, 1])}
    )
    found = frames.directed(world).entities['balls'].numpy()[4, 2]
    expected = [
      [0.3, 0.4, 0.6, 0.8, np.exp(-1.0)],
      [-2.0, 0.0, -1.0, 0.0, np.exp(-4.0)],
      [0.0, 0.0, 0.0, 0.0, 1.0],
    ]
    self.assertAllClose(found, expected, atol=0.03)
    self.assertAllClose(found[:2], expected[:2], atol=1e-3)

  def test_entities_upon_the_agent_have_finite_gradients(self):
    ways = tf.zeros([1, 1, 2, 2])
    with tf.GradientTape() as tape:
      tape.watch(ways)
      world = _world()._replace(entities={'balls': ways})
      total = tf.reduce_sum(frames.directed(world).entities['balls'])
    self.assertAllInRange(tape.gradient(total, ways), -300.0, 300.0)

  def test_who_has_the_frame_of_the_room_sees_what_is_told(self):
    view = frames.View(_ROLE, config.NetworkConfig(frame='room'))
    self.assertEqual(view.role, _ROLE)
    world = _world()
    self.assertIs(view(world)[0], world)
    self.assertIsNone(view(world)[1])


if __name__ == '__main__':
  tf.test.main()
