# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Actions of one choice and of several."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import randomness
from vacl_tf.networks import heads

_SEED = randomness.root(4)
_SIZES = (3, 2, 4)


class DrawTest(parameterized.TestCase, tf.test.TestCase):
  def test_frequencies_are_those_of_the_softmax(self):
    logits = tf.constant([[0.0, 1.0, -1.0], [2.0, 2.0, 2.0]])
    uniform = randomness.uniform(_SEED, [20000, 2])
    many = tf.broadcast_to(logits, [20000, 2, 3])
    found = heads.draw_actions(many, uniform)
    self.assertEqual(found.dtype, tf.int32)
    shares = tf.reduce_mean(tf.one_hot(found, 3), 0)
    self.assertAllClose(shares, tf.nn.softmax(logits), atol=0.015)

  @parameterized.parameters((0.0, 0), (0.24, 0), (0.26, 1), (0.76, 2))
  def test_bounds(self, number, action):
    logits = tf.math.log([[0.25, 0.5, 0.25]])
    found = heads.draw_actions(logits, tf.constant([number]))
    self.assertAllEqual(found, [action])

  def test_numbers_next_to_one_are_still_actions(self):
    logits = tf.random.stateless_normal([1000, 5], [0, 0], 0.0, 3.0)
    almost_one = np.nextafter(np.float32(1.0), np.float32(0.0))
    found = heads.draw_actions(logits, tf.fill([1000], almost_one))
    self.assertAllInRange(found, 0, 4)


class HeadsTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    rng = np.random.default_rng(0)
    self.logits = rng.normal(0.0, 2.0, [5, 7, sum(_SIZES)]).astype(np.float32)
    self.heads = heads.Heads(tf.constant(self.logits), _SIZES)
    log_probs = []
    for part in np.split(self.logits, np.cumsum(_SIZES)[:-1], -1):
      shifted = part - np.log(np.exp(part).sum(-1, keepdims=True))
      log_probs.append(shifted)
    self.log_probs = log_probs

  def test_the_probability_is_the_product_over_heads(self):
    rng = np.random.default_rng(1)
    choices = [rng.integers(0, size, [5, 7]) for size in _SIZES]
    expected = sum(
      np.take_along_axis(log_prob, choice[..., None], -1)[..., 0]
      for log_prob, choice in zip(self.log_probs, choices, strict=True)
    )
    action = tf.constant(np.stack(choices, -1), tf.int32)
    self.assertAllClose(self.heads.log_prob(action), expected, atol=1e-5)

  def test_the_entropy_is_the_mean_over_heads(self):
    entropies = [-(np.exp(x) * x).sum(-1) for x in self.log_probs]
    self.assertAllClose(self.heads.entropy(), np.mean(entropies, 0), atol=1e-5)

  def test_the_mode_is_each_head_s_likeliest(self):
    expected = np.stack([x.argmax(-1) for x in self.log_probs], -1)
    self.assertAllEqual(self.heads.mode(), expected)

  def test_draws_have_each_head_s_frequencies(self):
    num = 20000
    many = heads.Heads(tf.repeat(self.logits[0, :1], num, 0), _SIZES)
    found = many.draw(randomness.uniform(_SEED, [num, len(_SIZES)])).numpy()
    for head, log_prob in enumerate(self.log_probs):
      shares = np.bincount(found[:, head], minlength=_SIZES[head]) / num
      self.assertAllClose(shares, np.exp(log_prob[0, 0]), atol=0.015)

  def test_heads_are_drawn_independently(self):
    num = 20000
    uniform_heads = heads.Heads(tf.zeros([num, 4]), (2, 2))
    found = uniform_heads.draw(randomness.uniform(_SEED, [num, 2])).numpy()
    self.assertAllClose(np.mean(found[:, 0] == found[:, 1]), 0.5, atol=0.015)


if __name__ == '__main__':
  tf.test.main()
