# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Losses by hand, advantages by a loop that runs backwards."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.learning import losses


def _slow_advantages(reward, value, discount, gamma, gae_lambda):
  found, later = np.zeros_like(reward), 0.0
  for t in reversed(range(len(reward))):
    goes_on = discount[t][..., None]
    later = (
      reward[t]
      + gamma * goes_on * value[t + 1]
      - value[t]
      + gamma * gae_lambda * goes_on * later
    )
    found[t] = later
  return found


def _found(reward, value, discount, gamma, gae_lambda):
  tensors = (tf.constant(x, tf.float32) for x in (reward, value, discount))
  return losses.generalized_advantages(*tensors, gamma, gae_lambda)


def _end(reward, is_terminal):
  """Returns discounts of worlds that end with their last step, or nowhere."""
  discount = np.ones(reward.shape[:2])
  discount[-1] = 1.0 - is_terminal
  return discount


class AdvantagesTest(parameterized.TestCase, tf.test.TestCase):
  def setUp(self):
    super().setUp()
    rng = np.random.default_rng(0)
    self.reward = rng.normal(size=[6, 3, 2])
    self.value = rng.normal(size=[7, 3, 2])
    self.ends = rng.integers(0, 2, [6, 3])

  @parameterized.product(
    is_terminal=(True, False), decays=((0.99, 0.95), (0.5, 1.0), (0.9, 0.0))
  )
  def test_equals_the_backward_loop(self, is_terminal, decays):
    inputs = self.reward, self.value, _end(self.reward, is_terminal)
    slow = _slow_advantages(*inputs, *decays)
    self.assertAllClose(_found(*inputs, *decays), slow, 1e-5, 1e-5)

  @parameterized.parameters((0.99, 0.95), (0.5, 1.0), (0.9, 0.0))
  def test_worlds_may_end_at_any_step(self, *decays):
    self.assertBetween(np.mean(self.ends), 0.2, 0.8)
    inputs = self.reward, self.value, self.ends
    slow = _slow_advantages(*inputs, *decays)
    self.assertAllClose(_found(*inputs, *decays), slow, 1e-5, 1e-5)

  @parameterized.parameters(1, 2, 5)
  def test_an_end_in_the_middle_makes_two_episodes(self, step):
    # The state after the end is the first one of the next episode.
    decays = 0.9, 0.8
    discount = np.ones([6, 3])
    discount[step - 1, 1] = 0.0  # Of one world.
    whole = _found(self.reward, self.value, discount, *decays)
    alone = np.s_[:, 1:2]
    first = _found(
      self.reward[:step][alone],
      self.value[: step + 1][alone],
      _end(self.reward[:step][alone], True),
      *decays,
    )
    second = _found(
      self.reward[step:][alone],
      self.value[step:][alone],
      np.ones([6 - step, 1]),
      *decays,
    )
    self.assertAllClose(whole[alone], tf.concat([first, second], 0), 1e-6)
    plain = _found(self.reward, self.value, np.ones([6, 3]), *decays)
    self.assertAllEqual(whole[:, ::2], plain[:, ::2])
    self.assertNotAllClose(whole[:step, 1], plain[:step, 1])

  def test_ends_of_ones_are_the_textbook_s_formula(self):
    # The same numbers, bit for bit, as without any discount of the worlds.
    gamma, gae_lambda = 0.99, 0.95
    reward, value = (
      tf.constant(x, tf.float32) for x in (self.reward, self.value)
    )
    error = reward + gamma * value[1:] - value[:-1]
    found, later = [], tf.zeros_like(error[0])
    for t in reversed(range(6)):
      later = error[t] + gamma * gae_lambda * later
      found.insert(0, later)
    ones = tf.ones([6, 3])
    self.assertAllEqual(
      losses.generalized_advantages(reward, value, ones, gamma, gae_lambda),
      found,
    )

  def test_last_value_counts_only_where_the_world_goes_on(self):
    reward, value = np.zeros([1, 1, 1]), np.array([[[0.0]], [[10.0]]])
    for is_terminal, advantage in ((True, 0.0), (False, 5.0)):
      found = _found(reward, value, _end(reward, is_terminal), 0.5, 0.9)
      self.assertAllClose(found, [[[advantage]]])


class PolicyLossTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(
    (1.0, 2.0, -2.0),
    (1.1, 2.0, -2.2),
    (1.5, 2.0, -2.4),  # Gains are cut at 1.2,
    (1.5, -2.0, 3.0),  # losses are not.
    (0.5, 2.0, -1.0),
    (0.5, -2.0, 1.6),  # Nor is a gain below 0.8 paid.
  )
  def test_hand_numbers(self, ratio, advantage, loss):
    found = losses.clipped_policy_loss(
      tf.constant(ratio), tf.constant(advantage), 0.2
    )
    self.assertAllClose(found, loss)

  def test_no_gradient_beyond_the_bound(self):
    ratio = tf.constant([1.5, 1.1, 0.5])
    with tf.GradientTape() as tape:
      tape.watch(ratio)
      loss = losses.clipped_policy_loss(ratio, tf.constant([1.0, 1, -1]), 0.2)
    self.assertAllClose(tape.gradient(loss, ratio), [0.0, -1.0, 0.0])


class ValueLossTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(
    (0.0, 0.0), (1.0, 0.5), (-10.0, 50.0), (12.0, 70.0), (-30.0, 250.0)
  )
  def test_huber(self, error, loss):
    self.assertAllClose(losses.huber(tf.constant(error), 10.0), loss)

  @parameterized.parameters(
    (1.0, 1.0, 2.0, 0.5),
    (1.1, 1.0, 2.0, 0.5 * 0.9**2),
    (1.8, 1.0, 2.0, 0.5 * 0.8**2),  # The step counts as 0.2 only.
    (0.0, 1.0, 2.0, 0.5 * 2.0**2),  # Going astray is paid in full.
    (20.0, 1.0, 2.0, 10.0 * 18.0 - 50.0),
  )
  def test_hand_numbers(self, value, acting, target, loss):
    found = losses.clipped_value_loss(
      tf.constant(value), tf.constant(acting), tf.constant(target), 0.2, 10.0
    )
    self.assertAllClose(found, loss)


if __name__ == '__main__':
  tf.test.main()
