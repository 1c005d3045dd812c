# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Attention of one head against its formula, with and without masks."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import attention
from vacl_tf.networks import blocks

_ROWS, _QUERIES, _KEYS, _SIZE = 3, 2, 5, 4


def _draw(seed, *shape):
  rng = np.random.default_rng(seed)
  return tf.constant(rng.normal(size=shape), tf.float32)


def _literal(query, keys, mask):
  """Returns the weighted means [N, q, H], pair by pair."""
  query, keys = query.numpy(), keys.numpy()
  found = np.zeros(query.shape)
  for n, q in np.ndindex(*query.shape[:2]):
    weights = np.array([np.exp(query[n, q] @ key) for key in keys[n]])
    weights *= mask[n]
    found[n, q] = weights @ keys[n] / weights.sum()
  return found


class AttendTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.product(
    shape=((1, _KEYS), (_QUERIES, _KEYS), (_QUERIES, 20)),
    has_mask=(False, True),
  )
  def test_equals_the_formula(self, shape, has_mask):
    queries, num_keys = shape
    query = _draw(0, _ROWS, queries, _SIZE)
    keys = _draw(1, _ROWS, num_keys, _SIZE)
    mask = np.random.default_rng(2).integers(0, 2, [_ROWS, num_keys]) > 0
    mask[:, 1] = True
    self.assertBetween(np.mean(mask), 0.3, 0.9)
    given = tf.constant(mask) if has_mask else None
    found = attention.attend(query, keys, given)
    expected = _literal(query, keys, mask if has_mask else np.ones_like(mask))
    self.assertAllClose(found, expected, 1e-5, 1e-5)

  @parameterized.parameters(1, _QUERIES)
  def test_absent_keys_have_neither_influence_nor_gradient(self, queries):
    query = _draw(0, _ROWS, queries, _SIZE)
    keys = _draw(1, _ROWS, _KEYS, _SIZE)
    mask = tf.constant([[True, True, False, True, False]] * _ROWS)
    with tf.GradientTape() as tape:
      tape.watch(keys)
      found = attention.attend(query, keys, mask)
      loss = tf.reduce_sum(found**2)
    gradient = tape.gradient(loss, keys).numpy()
    self.assertAllEqual(gradient[:, 2::2], np.zeros_like(gradient[:, 2::2]))
    self.assertGreater(np.abs(gradient).max(), 1e-2)
    other = tf.where(mask[..., None], keys, 9.0)
    self.assertAllEqual(attention.attend(query, other, mask), found)

  def test_where_nothing_is_present_there_is_nothing(self):
    query, keys = _draw(0, 2, _QUERIES, _SIZE), _draw(1, 2, _KEYS, _SIZE)
    mask = tf.constant([[False] * _KEYS, [True] * _KEYS])
    found = attention.attend(query, keys, mask)
    self.assertAllEqual(found[0], tf.zeros([_QUERIES, _SIZE]))
    self.assertAllEqual(found[1], attention.attend(query, keys, None)[1])


class AttentionTest(tf.test.TestCase):
  def test_folded_affines_equal_applied_ones(self):
    layer = attention.Attention(np.random.default_rng(0), _SIZE, 1.0)
    affines = blocks.Affine(_SIZE), blocks.Affine(_SIZE)
    for seed, affine in enumerate(affines):
      affine.scale.assign(1.0 + 0.4 * _draw(seed, _SIZE))
      affine.offset.assign(_draw(seed + 2, _SIZE))
    query = _draw(4, _ROWS * _QUERIES, _SIZE)
    keys = _draw(5, _ROWS, _KEYS, _SIZE)
    # What comes out has the affine of the keys left to its reader.
    found = affines[1](layer(query, keys, _QUERIES, affines))
    expected = layer(affines[0](query), affines[1](keys), None)
    self.assertGreater(np.std(expected), 0.1)
    self.assertAllClose(found, expected, 1e-4, 1e-4)


class EncoderTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(0, 1)
  def test_no_entities_are_as_if_none_were_present(self, num_relations):
    cfg = config.AttentionConfig(hidden_size=8, num_relations=num_relations)
    action = types.discrete(2)
    role = types.Role('agent', 1, action, 3, {'others': 2}, ('others',))
    encoder = attention.make_encoder(np.random.default_rng(0), role, cfg)

    def encoded(num_entities, is_present):
      return encoder(
        types.Observation(
          _draw(0, _ROWS, 1, 3),
          {'others': _draw(1, _ROWS, 1, num_entities, 2)},
          {'others': tf.fill([_ROWS, 1, num_entities], is_present)},
        )
      )

    self.assertAllClose(encoded(0, True), encoded(2, False))
    self.assertNotAllClose(encoded(0, True), encoded(2, True))
    play = tf.function(lambda: encoded(0, True), jit_compile=True)
    self.assertAllClose(play(), encoded(0, True), 1e-5, 1e-5)


if __name__ == '__main__':
  tf.test.main()
