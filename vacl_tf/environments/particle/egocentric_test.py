# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Turned and mirrored worlds are played in the turned and mirrored way.

A policy here is any function of the transformed observation.
"""

import itertools

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import types
from vacl_tf.environments.particle import egocentric

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
  'agent', 3, types.discrete(5), 4, {'balls': 2, 'landmarks': 3}
)
_SQUARE = egocentric.Egocentric(is_open_square=True)
_WALLED = egocentric.Egocentric(is_open_square=False)


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
  return types.Observation(own, entities)


def _image_of_moves(view) -> np.ndarray:
  """Which move each move becomes in a view."""
  distance = np.linalg.norm((_MOVES @ view.T)[:, None] - _MOVES[None], axis=-1)
  return np.argmin(distance, 1)


def _hidden(observation) -> tf.Tensor:
  """Returns [..., n, 16] numbers that depend on everything observed."""
  rng = np.random.default_rng(1)

  def layer(x: tf.Tensor) -> tf.Tensor:
    weights = rng.normal(size=[x.shape[-1], 16]) / x.shape[-1] ** 0.5
    return tf.tanh(x @ tf.constant(weights, tf.float32))

  hidden = layer(observation.own)
  for kind in sorted(observation.entities):
    hidden += tf.reduce_mean(layer(observation.entities[kind]), -2)
  return layer(hidden)


def _logits(transform, observation) -> tf.Tensor:
  """Returns the logits [..., n, 5] of some policy."""
  observation, restore = transform(observation)
  logits = 3.0 * _hidden(observation)[..., :5]
  return logits if restore is None else restore(logits)


def _value(transform, observation) -> tf.Tensor:
  """Returns what some critic thinks [..., n]."""
  return _hidden(transform(observation)[0])[..., 5]


class EgocentricTest(parameterized.TestCase, tf.test.TestCase):
  def test_there_are_eight_views(self):
    self.assertLen(np.unique(_VIEWS, axis=0), 8)

  @parameterized.parameters(*range(8))
  def test_all_views_have_one_canonical_frame(self, index):
    plain, _ = egocentric.canonical(_world())
    found, _ = egocentric.canonical(_world(_VIEWS[index]))
    self.assertAllClose(found.own, plain.own, 1e-5, 1e-5)
    for kind, seen in plain.entities.items():
      self.assertAllClose(found.entities[kind], seen, 1e-5, 1e-5)
    place = found.own[..., 2:]
    self.assertAllGreaterEqual(place[..., 1], 0.0)
    self.assertAllGreaterEqual(place[..., 0] - place[..., 1], 0.0)

  def test_lengths_flags_and_what_lies_between_stay(self):
    world = _world()
    found, _ = egocentric.canonical(world)
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
    view = _VIEWS[index]
    plain, value = _logits(_SQUARE, _world()), _value(_SQUARE, _world())
    logits, found = (
      _logits(_SQUARE, _world(view)),
      _value(_SQUARE, _world(view)),
    )
    self.assertGreater(np.std(plain), 0.1)
    expected = tf.gather(logits, _image_of_moves(view), axis=-1)
    self.assertAllClose(expected, plain, 1e-3, 1e-3)
    self.assertAllClose(found, value, 1e-3, 1e-3)
    if index:
      self.assertNotAllClose(logits, plain, 1e-2, 1e-2)

  @parameterized.named_parameters(
    ('world', lambda observation: (observation, None)), ('walled', _WALLED)
  )
  def test_without_octants_a_turned_world_is_another_one(self, transform):
    plain = _logits(transform, _world())
    logits = _logits(transform, _world(_VIEWS[3]))
    expected = tf.gather(logits, _image_of_moves(_VIEWS[3]), axis=-1)
    self.assertNotAllClose(expected, plain, 1e-2, 1e-2)

  @parameterized.parameters(_SQUARE, _WALLED)
  def test_sizes_are_those_of_the_role(self, transform):
    role, (found, _) = transform.role(_ROLE), transform(_world())
    self.assertEqual(found.own.shape[-1], role.own_size)
    sizes = {kind: x.shape[-1] for kind, x in found.entities.items()}
    self.assertEqual(sizes, role.entity_sizes)

  @parameterized.parameters(_SQUARE, _WALLED)
  def test_leading_axes_are_kept(self, transform):
    logits = _logits(transform, _world())
    found, restore = transform(_world())
    stacked = tf.nest.map_structure(
      lambda x: tf.stack([x[::-1], x]), _world()._replace(critic_own=())
    )
    again, restore_all = transform(stacked)
    tf.nest.map_structure(
      lambda x, y: self.assertAllEqual(x, y[1]), found, again
    )
    self.assertEqual(restore is None, restore_all is None)
    self.assertAllClose(_logits(transform, stacked)[1], logits)
    self.assertAllClose(_logits(transform, stacked)[0], logits[::-1])

  @parameterized.parameters(_SQUARE, _WALLED)
  def test_masks_stay(self, transform):
    masks = {'balls': tf.constant(np.arange(60).reshape(5, 3, 4) % 3 > 0)}
    found, _ = transform(_world()._replace(masks=masks))
    self.assertAllEqual(found.masks['balls'], masks['balls'])

  def test_it_is_a_value(self):
    self.assertEqual(_SQUARE, egocentric.Egocentric(is_open_square=True))
    self.assertLen({_SQUARE, _WALLED, egocentric.Egocentric(False)}, 2)

  def test_directions_and_nearness(self):
    ways = np.array([[0.3, 0.4], [-2.0, 0.0], [0.0, 0.0]], np.float32)
    world = _world()._replace(
      entities={'balls': tf.tile(ways[None, None], [5, 3, 1, 1])}
    )
    found = egocentric.directed(world).entities['balls'].numpy()[4, 2]
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
      total = tf.reduce_sum(egocentric.directed(world).entities['balls'])
    self.assertAllInRange(tape.gradient(total, ways), -300.0, 300.0)


if __name__ == '__main__':
  tf.test.main()
