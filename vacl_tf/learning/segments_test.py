# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Segments of tiny episodes, and updates on them against their definition."""

import dataclasses
import functools
import types as python_types

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.agents import recurrent_agent
from vacl_tf.learning import ppo
from vacl_tf.learning import update

_STEPS, _WORLDS, _AGENTS, _HIDDEN = 6, 4, 2, 8
_SIZES = (3, 2)  # Of the action's heads.
_ROLE = types.Role(
  'agent',
  _AGENTS,
  types.multi_discrete(_SIZES),
  3,
  {'things': 2},
  critic_only_position=(2, 1),
)
_SEED = randomness.root(3)
_PLAIN = config.PpoConfig(
  num_minibatches=1, normalize_value=False, max_gradient_norm=0.0
)
_WORLD = python_types.SimpleNamespace(
  horizon=_STEPS,
  is_terminal=False,  # Discounts of 0 are as good; see the test of both.
  num_vectors=_AGENTS * 3,
  observe=lambda state: state,
)


def _agent(length=_STEPS, cost=0.0) -> recurrent_agent.RecurrentAgent:
  cfg = config.RecurrentConfig(
    hidden_size=_HIDDEN,
    activation='tanh',
    segment_length=length,
    auxiliary_position_cost=cost,
  )
  agent = recurrent_agent.RecurrentAgent((_ROLE,), cfg, 0)
  # As it is initialised, the policy is all but uniform everywhere.
  agent.policies[0].logits.w.assign(100.0 * agent.policies[0].logits.w)
  return agent


def _normal(seed, *shape) -> tf.Tensor:
  return tf.constant(np.random.default_rng(seed).normal(size=shape), tf.float32)


def _at(tree, t):
  return tf.nest.map_structure(lambda x: x[t], tree)


@functools.cache  # No test changes it.
def _trajectory(noise=0.2, is_terminal=True) -> types.Trajectory:
  """Random observations, actions and rewards, under the policy of `_agent`.

  Args:
    noise: how far log-probabilities are off, as if the policy had changed.
    is_terminal: whether the worlds end with the last step.
  """
  agent, rng = _agent(), np.random.default_rng(1)
  leading = [_STEPS, _WORLDS, _AGENTS]
  after = [_STEPS + 1, *leading[1:]]
  state = types.Observation(
    own=_normal(2, *after, 3),
    critic_own=_normal(3, *after, 3),
    entities={'things': _normal(4, *after, 2, 2)},
  )
  action = [rng.integers(0, size, leading) for size in _SIZES]
  action = tf.constant(np.stack(action, -1), tf.int32)
  memories, log_prob = [agent.initial_memory(_WORLDS, [_AGENTS])], []
  for t in range(_STEPS):
    [distribution], memory = agent.act((_at(state, t),), memories[-1])
    memories.append(memory)
    log_prob.append(distribution.log_prob(action[t]))
  discount = np.ones([_STEPS, _WORLDS], np.float32)
  discount[-1] = 1.0 - is_terminal
  return types.Trajectory(
    state=(state,),
    memory=(tf.stack([memory for [memory] in memories[:-1]]),),
    action=(action,),
    log_prob=(tf.stack(log_prob) + noise * _normal(6, *leading),),
    reward=(_normal(5, *leading),),
    progress=tf.zeros([_STEPS, _WORLDS]),
    discount=tf.constant(discount),
  )


def _worlds(trajectory, chosen) -> types.Trajectory:
  return tf.nest.map_structure(lambda x: x[:, chosen], trajectory)


def _values(agent, state, length=_STEPS):
  """Returns values and the memories before them, step by step, as lists.

  Args:
    agent: whose single steps to make; autodiff goes through all of them.
    state: [T + 1, B, ...].
    length: after so many steps, what is remembered is a constant.
  """
  memory, memories, values = tf.zeros([_WORLDS, _AGENTS, _HIDDEN]), [], []
  memory = memory[: state.own.shape[1]]
  for t in range(_STEPS + 1):
    memory = memory if t % length else tf.stop_gradient(memory)
    memories.append(memory)
    now = tf.nest.map_structure(lambda x, t=t: x[t : t + 1], state)
    value, [memory] = agent.values[0](now, memory)
    values.append(value[0])
  return values, memories


def _credit(trajectory, values, cfg):
  """Returns advantages and returns [T, B, n] of the definition."""
  values = np.array(values)
  reward = trajectory.reward[0].numpy()
  advantage, later = np.zeros_like(reward), 0.0
  for t in reversed(range(_STEPS)):
    gamma = cfg.discount * trajectory.discount[t, :, None].numpy()
    error = reward[t] + gamma * values[t + 1] - values[t]
    later = error + gamma * cfg.gae_lambda * later
    advantage[t] = later
  return advantage, advantage + values[:-1]


def _position_loss(agent, memory, observation):
  """Returns the mean pseudo-Huber loss of the way to the critic's position."""
  way, own = agent.policies[0].way, observation.critic_own
  error = (
    tf.einsum('bnh,hk->bnk', memory, way.w)
    + way.b
    - tf.stack([own[..., 2] - own[..., 0], own[..., 1] - own[..., 1]], -1)
  )
  return tf.reduce_mean(tf.sqrt(1.0 + tf.reduce_sum(error**2, -1)) - 1.0)


def _literal_gradients(agent, trajectory, cost=0.0) -> list[tf.Tensor]:
  """Of the loss on all episodes at once, one step of the networks at a time."""
  cfg, length, [state] = _PLAIN, agent.segment_length, trajectory.state
  advantage, target = _credit(trajectory, _values(agent, state)[0], cfg)
  advantage = (advantage - np.mean(advantage)) / (np.std(advantage) + 1e-5)
  [recorded] = trajectory.memory
  memory = recorded[0]
  with tf.GradientTape() as tape:
    values, _ = _values(agent, state, length)
    error = 0.5 * (tf.stack(values[:-1]) - target) ** 2
    loss = cfg.value_cost * tf.reduce_mean(error)
    for t in range(_STEPS):
      now = _at(state, t)
      memory = memory if t % length else recorded[t]
      [distribution], [memory] = agent.act((now,), (memory,))
      parts = tf.split(distribution.logits, _SIZES, -1)
      log_probs = [tf.math.log_softmax(part) for part in parts]
      log_prob = sum(
        tf.gather(x, trajectory.action[0][t, ..., head], batch_dims=2)
        for head, x in enumerate(log_probs)
      )
      entropy = -sum(tf.reduce_sum(tf.exp(x) * x, -1) for x in log_probs) / 2.0
      ratio = tf.exp(log_prob - trajectory.log_prob[0][t])
      bounded = tf.clip_by_value(ratio, 1.0 - cfg.clip, 1.0 + cfg.clip)
      gain = tf.minimum(ratio * advantage[t], bounded * advantage[t])
      gain = tf.reduce_mean(gain + cfg.entropy_cost * entropy)
      loss -= gain / _STEPS
      if cost:
        loss += cost * _position_loss(agent, memory, now) / _STEPS
  variables = [*agent.policies[0].variables, *agent.values[0].variables]
  return tape.gradient(loss, variables)


def _learn(
  trajectories, sizes, multiple=_WORLDS, length=_STEPS, cost=0.0, **changes
):
  """Returns the first step's gradients, metrics and the agent."""
  agent = _agent(length, cost)
  learner = ppo.Learner(agent, dataclasses.replace(_PLAIN, **changes))
  improve = update.Update(learner, [_WORLD] * len(sizes), multiple)
  batches = {
    count: update.RolloutBatch(trajectory, tf.constant(size))
    for count, (trajectory, size) in enumerate(
      zip(trajectories, sizes, strict=True)
    )
  }
  metrics, _ = improve(batches, _SEED)
  # After one step the first moment is a tenth of the gradient.
  gradients = [10.0 * m for x in learner.optimizers for m in x.m]
  return gradients, metrics, agent


def _prepare(
  trajectory, length, size=_WORLDS, block=_WORLDS, is_terminal=False
):
  learner = ppo.Learner(_agent(length), _PLAIN)
  return learner.prepare(
    trajectory, tf.constant(size), block, _WORLD.observe, is_terminal
  )


class SegmentsTest(parameterized.TestCase, tf.test.TestCase):
  def assert_cut(self, found, whole, length):
    """Checks that [N, L, ...] are the steps of [T, B, ...]."""
    self.assertLen(found, _WORLDS * _STEPS // length)
    self.assertEqual(found.shape[1], length)
    for t in range(_STEPS):
      for b in range(_WORLDS):
        row = t // length * _WORLDS + b
        self.assertAllClose(found[row, t % length], whole[t][b], 1e-5, 1e-5)

  @parameterized.product(length=(1, 2, _STEPS), is_terminal=(True, False))
  def test_every_step_is_where_it_belongs(self, length, is_terminal):
    trajectory = _trajectory(is_terminal=is_terminal)
    samples, _ = _prepare(trajectory, length)
    [state] = trajectory.state
    values, _ = _values(_agent(), state)
    advantage, target = _credit(trajectory, values, _PLAIN)
    for found, whole in (
      (samples.state[0].own, state.own),
      (samples.state[0].critic_own, state.critic_own),
      (samples.state[0].entities['things'], state.entities['things']),
      (samples.action[0], trajectory.action[0]),
      (samples.log_prob[0], trajectory.log_prob[0]),
      (samples.acting_value[0], values),
      (samples.advantage[0], advantage),
      (samples.returns[0], target),
    ):
      self.assert_cut(found, whole, length)

  @parameterized.parameters(1, 2, _STEPS)
  def test_segments_begin_with_the_memories_of_the_roll_out(self, length):
    trajectory = _trajectory()
    samples, _ = _prepare(trajectory, length)
    _, memories = _values(_agent(), trajectory.state[0])
    starts = range(0, _STEPS, length)
    for [found], whole in (
      (samples.policy_memory, trajectory.memory[0]),
      (samples.value_memory, memories),
    ):
      expected = np.concatenate([whole[t] for t in starts])
      self.assertAllClose(found, expected, 1e-5, 1e-5)
      self.assertAllEqual(found[:_WORLDS], tf.zeros_like(found[:_WORLDS]))
    if length < _STEPS:
      self.assertGreater(np.std(samples.value_memory[0][_WORLDS:]), 0.1)

  def test_sums_are_of_the_worlds_that_count(self):
    trajectory = _trajectory()
    values, _ = _values(_agent(), trajectory.state[0])
    advantage, target = _credit(trajectory, values, _PLAIN)
    for size in (2, _WORLDS):
      _, sums = _prepare(trajectory, 3, size, block=2)
      self.assertAllClose(sums.number, [_STEPS * size * _AGENTS])
      for found, x in (
        (sums.advantage, advantage),
        (sums.square_advantage, advantage**2),
        (sums.returns, target),
        (sums.square_returns, target**2),
        (sums.reward, trajectory.reward[0].numpy()),
      ):
        self.assertAllClose(found, [np.sum(x[:, :size])], 1e-4, 1e-4)

  @parameterized.parameters(2, _WORLDS)
  def test_the_state_after_the_end_is_not_looked_at(self, block):
    trajectory = _trajectory()
    spoilt = tf.nest.map_structure(
      lambda x: tf.concat([x[:-1], np.nan * x[-1:]], 0), trajectory.state
    )
    found, expected = (
      tf.nest.flatten(_prepare(x, 2, block=block, is_terminal=is_terminal))
      for x, is_terminal in (
        (trajectory._replace(state=spoilt), True),
        (trajectory, False),
      )
    )
    for x, y in zip(found, expected, strict=True):
      self.assertAllClose(x, y, 1e-5, 1e-5)


class UpdateTest(parameterized.TestCase, tf.test.TestCase):
  def assert_same_gradients(self, found, expected, scale=1.0):
    self.assertGreater(float(tf.linalg.global_norm(expected)), 0.1)
    for x, y in zip(found, expected, strict=True):
      self.assertAllClose(x, scale * y, 1e-4, 2e-5)

  @parameterized.parameters(1, 3, _STEPS)
  def test_an_unchanged_policy_has_ratio_one_everywhere(self, length):
    _, metrics, _ = _learn(
      [_trajectory(noise=0.0)],
      [_WORLDS],
      length=length,
      num_minibatches=2,
      learning_rate=0.0,
    )
    self.assertAllClose(metrics['kl'], 0.0, atol=1e-6)
    self.assertAllEqual(metrics['clip_fraction'], 0.0)
    # The mean of normalised advantages, as all ratios are 1.
    self.assertAllClose(metrics['policy_loss'], 0.0, atol=1e-5)

  def test_the_ratio_would_tell_lost_memories(self):
    # Else the test above could not fail.
    trajectory = _trajectory(noise=0.0)
    [memory] = trajectory.memory
    forgetful = trajectory._replace(memory=(tf.zeros_like(memory),))
    _, metrics, _ = _learn([forgetful], [_WORLDS], length=2)
    self.assertGreater(metrics['kl'], 1e-3)
    self.assertGreater(metrics['clip_fraction'], 0.02)

  @parameterized.product(length=(2, _STEPS), is_terminal=(True, False))
  def test_gradient_equals_the_literal_one(self, length, is_terminal):
    trajectory = _trajectory(is_terminal=is_terminal)
    literal = _literal_gradients(_agent(length), trajectory)
    found, metrics, _ = _learn([trajectory], [_WORLDS], length=length)
    self.assert_same_gradients(found, literal)
    self.assertGreater(metrics['clip_fraction'], 0.1)

  def test_a_policy_learns_the_way_to_what_the_critic_alone_observes(self):
    agent, trajectory = _agent(3, cost=2.0), _trajectory()
    literal = _literal_gradients(agent, trajectory, cost=2.0)
    found, _, _ = _learn([trajectory], [_WORLDS], length=3, cost=2.0)
    self.assert_same_gradients(found, literal)
    without, _, _ = _learn([trajectory], [_WORLDS], length=3)
    way = [id(x) for x in agent.policies[0].way.variables]
    variables = [*agent.policies[0].variables, *agent.values[0].variables]
    shared = [
      x for x, y in zip(found, variables, strict=True) if id(y) not in way
    ]
    pairs = zip(shared, without, strict=True)
    difference = tf.linalg.global_norm([x - y for x, y in pairs])
    self.assertGreater(difference, 0.1 * tf.linalg.global_norm(without))

  def test_how_far_gradients_go_back_matters(self):
    # Else the test above could not fail.
    whole, half = (
      _learn([_trajectory()], [_WORLDS], length=length)[0]
      for length in (_STEPS, 2)
    )
    pairs = zip(whole, half, strict=True)
    difference = tf.linalg.global_norm([x - y for x, y in pairs])
    self.assertGreater(difference, 0.02 * tf.linalg.global_norm(whole))

  def test_microbatches_add_up_to_the_whole(self):
    whole, _, _ = _learn([_trajectory()], [_WORLDS], length=2)
    found, _, _ = _learn(
      [_trajectory()], [_WORLDS], 2, length=2, microbatch_vectors=1
    )
    self.assert_same_gradients(found, whole)

  def test_worlds_beyond_the_size_have_no_influence(self):
    counts = tf.range(_WORLDS) < 2

    def spoil(x):
      mask = tf.reshape(counts, [1, -1] + [1] * (x.shape.rank - 2))
      return tf.where(mask, x, tf.cast(5, x.dtype) * x + tf.ones_like(x))

    spoilt = tf.nest.map_structure(spoil, _trajectory())
    spoilt = spoilt._replace(action=_trajectory().action)
    found, metrics, _ = _learn([spoilt], [2], 2, length=3)
    few = _worlds(_trajectory(), slice(0, 2))
    expected, few_metrics, _ = _learn([few], [2], 2, length=3)
    self.assert_same_gradients(found, expected)
    self.assertAllClose(metrics, few_metrics, 1e-4, 1e-5)

  def test_two_counts_weigh_by_their_worlds(self):
    literal = _literal_gradients(_agent(), _trajectory())
    parts = [
      _worlds(_trajectory(), slice(*bounds)) for bounds in ((0, 1), (1, 4))
    ]
    found, _, _ = _learn(parts, [1, 3], multiple=1)
    self.assert_same_gradients(found, literal)

  def test_steps_towards_the_rewarded_make_it_likelier(self):
    # Fails if the sign of the advantage is flipped.
    trajectory = _trajectory(noise=0.0)
    is_last = tf.cast(trajectory.action[0][..., 0] == 2, tf.float32)
    trajectory = trajectory._replace(reward=(is_last,))
    _, _, agent = _learn(
      [trajectory], [_WORLDS], length=3, discount=0.0, num_epochs=5
    )

    def likelihood(agent):
      memory, found = agent.initial_memory(_WORLDS, [_AGENTS]), []
      for t in range(_STEPS):
        [distribution], memory = agent.act(_at(trajectory.state, t), memory)
        found.append(tf.nn.softmax(distribution.logits[..., :3])[..., 2])
      return np.mean(found)

    self.assertGreater(likelihood(agent), likelihood(_agent()) + 0.005)


if __name__ == '__main__':
  tf.test.main()
