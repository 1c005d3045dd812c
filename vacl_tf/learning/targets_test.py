# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Advantages, targets and losses of two roles, in NumPy, with everything on."""

import dataclasses

import numpy as np
import sonnet as snt
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import types
from vacl_tf.agents import base
from vacl_tf.learning import ppo

_STEPS, _WORLDS, _SIZE = 4, 5, 3  # Of the worlds, the first three count.
_AGENTS = (1, 2)  # Of each role.
_WIDTH, _CHOICES = 3, 4
_CONFIG = config.PpoConfig(
  num_minibatches=1,
  normalize_value=True,
  value_decay=0.9,
  value_cost=0.5,
  value_clip=0.1,
  clip=0.25,
  huber_delta=0.7,
  entropy_cost=0.03,
  discount=0.9,
  gae_lambda=0.8,
)
_MEAN, _DEVIATION = 2.0, 3.0  # Of the returns before.


class _Softmax:
  """A distribution of one of a few choices."""

  def __init__(self, logits: tf.Tensor) -> None:
    self._log_probs = tf.nn.log_softmax(logits)

  def log_prob(self, action):
    return tf.gather(self._log_probs, action, axis=-1, batch_dims=2)

  def entropy(self):
    return -tf.reduce_sum(tf.exp(self._log_probs) * self._log_probs, -1)


class _Linear(base.FeedForwardAgent):
  """Logits and values are products of what is observed."""

  def __init__(self) -> None:
    super().__init__()
    self.policies = [snt.Linear(_CHOICES, False) for _ in _AGENTS]
    self.values = [snt.Linear(1, False) for _ in _AGENTS]
    for module in (*self.policies, *self.values):
      module(tf.zeros([1, _WIDTH]))

  def distributions(self, observations):
    pairs = zip(self.policies, observations, strict=True)
    return tuple(_Softmax(f(x.own)) for f, x in pairs)

  def value(self, observations):
    pairs = zip(self.values, observations, strict=True)
    return tuple(f(x.own)[..., 0] for f, x in pairs)


def _observe(state):
  return tuple(types.Observation(x, {}) for x in state)


def _trajectory() -> types.Trajectory:
  """Random numbers; the second role has ten times the reward, and another."""
  rng = np.random.default_rng(0)
  shapes = [[_STEPS, _WORLDS, n] for n in _AGENTS]
  discount = np.ones([_STEPS, _WORLDS], np.float32)
  discount[1, 0] = discount[-1, 2] = 0.0

  def normal(shape, scale=1.0, shift=0.0):
    return tf.constant(rng.normal(shift, scale, shape), tf.float32)

  return types.Trajectory(
    state=tuple(normal([_STEPS + 1, *s[1:], _WIDTH]) for s in shapes),
    memory=(),
    action=tuple(
      tf.constant(rng.integers(0, _CHOICES, s), tf.int32) for s in shapes
    ),
    log_prob=tuple(normal(s, 0.3, -np.log(_CHOICES)) for s in shapes),
    reward=(normal(shapes[0]), normal(shapes[1], 10.0, 7.0)),
    progress=tf.zeros([_STEPS, _WORLDS]),
    discount=tf.constant(discount),
  )


def _credit(agent, trajectory, role, center):
  """Returns advantages and returns [T, B, n] of a role, one step at a time.

  Args:
    agent: whose values to use.
    trajectory: of all worlds.
    role: which one.
    center: what is taken from each reward.
  """
  states = trajectory.state[role].numpy()
  value = _MEAN + _DEVIATION * (states @ agent.values[role].w.numpy())[..., 0]
  reward = trajectory.reward[role].numpy() - center
  advantage, later = np.zeros_like(reward), 0.0
  for t in reversed(range(_STEPS)):
    gamma = _CONFIG.discount * trajectory.discount[t, :, None].numpy()
    error = reward[t] + gamma * value[t + 1] - value[t]
    later = error + gamma * _CONFIG.gae_lambda * later
    advantage[t] = later
  return advantage, advantage + value[:-1]


def _rows(x):
  """Returns [T, B, ...] of the samples' leaves [T * B, 1, ...]."""
  return np.reshape(x, [_STEPS, _WORLDS, *x.shape[2:]])


def _learner(center_rewards=False):
  agent = _Linear()
  cfg = dataclasses.replace(_CONFIG, center_rewards=center_rewards)
  learner = ppo.Learner(agent, cfg)
  learner.normalizer.update(_MEAN, _DEVIATION**2 + _MEAN**2)
  return learner, agent


def _prepare(learner, trajectory, mean_reward=None):
  size = tf.constant(_SIZE)
  return learner.prepare(
    trajectory, size, _WORLDS, _observe, mean_reward=mean_reward
  )


class TargetsTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters('no', 'of these worlds', 'given')
  def test_advantages_and_returns(self, centers):
    trajectory = _trajectory()
    learner, agent = _learner(centers != 'no')
    given = tf.constant([0.5, -3.0]) if centers == 'given' else None
    samples, _ = _prepare(learner, trajectory, given)
    for role in range(len(_AGENTS)):
      learned = trajectory.reward[role][:, :_SIZE]
      center = {
        'no': 0.0,
        'of these worlds': np.mean(learned),
        'given': (0.5, -3.0)[role],
      }[centers]
      advantage, target = _credit(agent, trajectory, role, center)
      value = trajectory.state[role][:-1] @ agent.values[role].w
      found = samples.advantage[role], samples.returns[role]
      self.assertAllClose(_rows(found[0]), advantage, 1e-4, 1e-4)
      self.assertAllClose(_rows(found[1]), target, 1e-4, 1e-4)
      acting = _rows(samples.acting_value[role])
      self.assertAllClose(acting, value[..., 0], 1e-5, 1e-5)

  def test_moments_are_those_of_the_worlds_that_count(self):
    trajectory = _trajectory()
    learner, agent = _learner()
    samples, sums = _prepare(learner, trajectory)
    scale, metrics = learner.combine(sums)
    credits = [
      [x[:, :_SIZE] for x in _credit(agent, trajectory, role, 0.0)]
      for role in range(len(_AGENTS))
    ]
    for role, (advantage, _) in enumerate(credits):
      self.assertAllClose(scale.mean[role], np.mean(advantage), 1e-4)
      self.assertAllClose(scale.deviation[role], np.std(advantage), 1e-4)
    self.assertGreater(scale.deviation[1], 3.0 * scale.deviation[0])
    target = np.concatenate([x.ravel() for _, x in credits])
    self.assertAllClose(metrics['return_mean'], np.mean(target), 1e-4)
    # Moments of the past weigh 0.9 of those of now, without those of no past.
    weights = np.array([0.9, 1.0]) / 1.9
    mean = weights @ [_MEAN, np.mean(target)]
    square = weights @ [_DEVIATION**2 + _MEAN**2, np.mean(target**2)]
    normal = (samples.returns[1] - mean) / np.sqrt(square - mean**2)
    found = learner.normalizer.normalize(samples.returns[1])
    self.assertAllClose(found, normal, 1e-4, 1e-4)

  def test_the_gradient_is_that_of_the_loss(self):
    trajectory = _trajectory()
    learner, agent = _learner()
    samples, sums = _prepare(learner, trajectory)
    scale, _ = learner.combine(sums)
    rng = np.random.default_rng(1)
    # As if the value had changed since, by more than the clip in most places.
    samples = samples._replace(
      acting_value=tuple(
        x + rng.normal(0.0, 0.3, x.shape) for x in samples.acting_value
      )
    )
    is_used = np.arange(_STEPS * _WORLDS) % _WORLDS < _SIZE
    total = learner.gradient(
      samples,
      tf.constant(np.argsort(~is_used, kind='stable'), tf.int32),
      tf.constant(_STEPS * _SIZE),
      tf.constant(0),
      _SIZE,
      scale,
      _observe,
    )
    with tf.GradientTape() as tape:
      loss = sum(
        self._loss(learner, agent, samples, scale, role, is_used)
        for role in range(len(_AGENTS))
      )
    variables = [x.w for x in (*agent.policies, *agent.values)]
    expected = tf.concat(
      [tf.reshape(x, [-1]) for x in tape.gradient(loss, variables)], 0
    )
    self.assertGreater(np.abs(expected).min(), 1e-5)  # Nothing is left out.
    self.assertEqual(total.number, _STEPS * _SIZE * sum(_AGENTS))
    self.assertAllClose(total.gradient / total.number, expected, 1e-3, 1e-5)

  def _loss(self, learner, agent, samples, scale, role, is_used):
    """Returns the mean loss of a role, written out."""
    state, action, log_prob, acting, advantage, target = (
      x[role][is_used][:, 0]
      for x in (
        samples.state,
        samples.action,
        samples.log_prob,
        samples.acting_value,
        samples.advantage,
        samples.returns,
      )
    )
    log_probs = tf.nn.log_softmax(state @ agent.policies[role].w)
    chosen = tf.reduce_sum(tf.one_hot(action, _CHOICES) * log_probs, -1)
    ratio = tf.exp(chosen - log_prob)
    advantage = (advantage - scale.mean[role]) / (scale.deviation[role] + 1e-5)
    near = tf.minimum(tf.maximum(ratio, 1.0 - 0.25), 1.0 + 0.25)
    gain = tf.minimum(ratio * advantage, near * advantage)
    value = (state @ agent.values[role].w)[..., 0]
    target = learner.normalizer.normalize(target)
    clipped = acting + tf.minimum(tf.maximum(value - acting, -0.1), 0.1)

    def huber(x):
      far = 0.7 * tf.abs(x) - 0.5 * 0.7**2
      return tf.where(tf.abs(x) < 0.7, 0.5 * x**2, far)

    errors = huber(value - target), huber(clipped - target)
    self.assertBetween(np.mean(errors[0] < errors[1]), 0.1, 0.9)
    entropy = -tf.reduce_sum(tf.exp(log_probs) * log_probs, -1)
    loss = 0.5 * tf.maximum(*errors) - gain - 0.03 * entropy
    return tf.reduce_mean(loss)


if __name__ == '__main__':
  tf.test.main()
