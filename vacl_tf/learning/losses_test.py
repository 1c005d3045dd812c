# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Losses by hand, advantages by a loop that runs backwards."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.learning import losses


def _slow_advantages(reward, value, discount, trace_decay, is_terminal):
  found, later = np.zeros_like(reward), 0.0
  for t in reversed(range(len(reward))):
    is_last = t == len(reward) - 1
    after = 0.0 if is_last and is_terminal else value[t + 1]
    later = (
      reward[t] + discount * after - value[t] + (discount * trace_decay * later)
    )
    found[t] = later
  return found


class AdvantagesTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.product(
    is_terminal=(True, False), decays=((0.99, 0.95), (0.5, 1.0), (0.9, 0.0))
  )
  def test_equals_the_backward_loop(self, is_terminal, decays):
    rng = np.random.default_rng(0)
    reward = rng.normal(size=[6, 3, 2])
    value = rng.normal(size=[7, 3, 2])
    found = losses.generalized_advantages(
      tf.constant(reward, tf.float32),
      tf.constant(value, tf.float32),
      *decays,
      is_terminal,
    )
    slow = _slow_advantages(reward, value, *decays, is_terminal)
    self.assertAllClose(found, slow, 1e-5, 1e-5)

  def test_last_value_counts_only_where_the_world_goes_on(self):
    reward, value = tf.zeros([1, 1]), tf.constant([[0.0], [10.0]])
    for is_terminal, advantage in ((True, 0.0), (False, 5.0)):
      found = losses.generalized_advantages(
        reward, value, 0.5, 0.9, is_terminal
      )
      self.assertAllClose(found, [[advantage]])


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
