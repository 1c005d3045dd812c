# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""An update on tiny trajectories, against its definition written out."""

import dataclasses
import functools
import math

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.agents import attention_agent
from vacl_tf.learning import ppo
from vacl_tf.learning import update
from vacl_tf.testing import fakes

_STEPS, _TASKS = 4, 6
_SEED = randomness.root(3)
_ENV = fakes.LineWorld(_STEPS)
_PLAIN = config.PpoConfig(
  num_minibatches=1, normalize_value=False, max_gradient_norm=0.0
)


def _agent(seed=0) -> attention_agent.AttentionAgent:
  cfg = config.AttentionConfig(hidden_size=8)
  agent = attention_agent.AttentionAgent(_ENV.roles, cfg, seed)
  # As it is initialised, the policy is all but uniform everywhere.
  agent.policies[0].logits.w.assign(100.0 * agent.policies[0].logits.w)
  return agent


def _logits(agent, state) -> tf.Tensor:
  [observation] = _ENV.observe(state)
  return agent.policies[0](observation)


def _trajectory(agent) -> types.Trajectory:
  """Random actions, rewards, and log-probabilities a little off."""
  rng = np.random.default_rng(1)
  phi = _ENV.task_space.sample_uniform(_TASKS, randomness.root(2))
  states, action = [_ENV.place(phi, _SEED)], rng.integers(0, 3, [4, _TASKS, 2])
  action = tf.constant(action, tf.int32)
  log_prob = []
  for t in range(_STEPS):
    logits = _logits(agent, states[-1])
    chosen = tf.gather(tf.math.log_softmax(logits), action[t], batch_dims=2)
    log_prob.append(chosen + rng.normal(0.0, 0.2, [_TASKS, 2]))
    states.append(_ENV.step(states[-1], (action[t],)))
  reward = tf.constant(rng.normal(size=[_STEPS, _TASKS, 2]), tf.float32)
  return types.Trajectory(
    state=tf.nest.map_structure(lambda *x: tf.stack(x), *states),
    memory=(),
    action=(action,),
    log_prob=(tf.stack(log_prob),),
    reward=(reward,),
    progress=tf.zeros([_STEPS, _TASKS]),
    discount=tf.ones([_STEPS, _TASKS]),
  )


def _with_ends(trajectory, is_terminal) -> types.Trajectory:
  """Returns the trajectory with worlds that end with the last step, or not."""
  discount = tf.ones_like(trajectory.progress)
  if is_terminal:
    discount = tf.concat([discount[1:], tf.zeros_like(discount[:1])], 0)
  return trajectory._replace(discount=discount)


def _flat(trajectory) -> types.State:
  return tf.nest.map_structure(
    lambda x: tf.reshape(x[:-1], [_STEPS * _TASKS, 2]), trajectory.state
  )


def _literal_gradients(agent, trajectory, cfg) -> list[tf.Tensor]:
  """Returns the gradients of the loss on the whole trajectory at once."""
  value = np.stack(
    [
      agent.value(_ENV.observe(fakes.LineState(*state)))[0]
      for state in zip(*trajectory.state, strict=True)
    ]
  )
  reward = trajectory.reward[0].numpy()
  advantage, later = np.zeros_like(reward), 0.0
  for t in reversed(range(_STEPS)):
    gamma = cfg.discount * trajectory.discount[t, :, None].numpy()
    error = reward[t] + gamma * value[t + 1] - value[t]
    later = error + gamma * cfg.gae_lambda * later
    advantage[t] = later
  target = advantage + value[:-1]
  advantage = (advantage - np.mean(advantage)) / (np.std(advantage) + 1e-5)
  advantage, target, action, acting_log_prob = (
    tf.reshape(x, [_STEPS * _TASKS, 2])
    for x in (advantage, target, trajectory.action[0], trajectory.log_prob[0])
  )
  with tf.GradientTape() as tape:
    logits = _logits(agent, _flat(trajectory))
    [value] = agent.value(_ENV.observe(_flat(trajectory)))
    log_probs = tf.math.log_softmax(logits)
    log_prob = tf.reduce_sum(tf.one_hot(action, 3) * log_probs, -1)
    ratio = tf.exp(log_prob - acting_log_prob)
    bounded = tf.clip_by_value(ratio, 1.0 - cfg.clip, 1.0 + cfg.clip)
    gain = tf.minimum(ratio * advantage, bounded * advantage)
    entropy = -tf.reduce_sum(tf.exp(log_probs) * log_probs, -1)
    error = 0.5 * (value - target) ** 2  # The acting value is this value.
    loss = tf.reduce_mean(
      cfg.value_cost * error - gain - cfg.entropy_cost * entropy
    )
  variables = [*agent.policies[0].variables, *agent.values[0].variables]
  return tape.gradient(loss, variables)


def _update(learner, trajectory, sizes=(_TASKS,)):
  """Updates on as many copies of the trajectory as there are sizes."""
  worlds = [_ENV] * len(sizes)
  improve = update.Update(learner, worlds, math.gcd(*sizes, _TASKS))
  batches = {
    count: update.RolloutBatch(trajectory, tf.constant(size))
    for count, size in enumerate(sizes)
  }
  return improve(batches, _SEED)


def _learn(
  trajectory=None,
  agent=None,
  is_terminal=False,
  sizes=(_TASKS,),
  **changes,
):
  """Returns agent, gradients of each step, metrics and learner."""
  agent = agent or _agent()
  trajectory = _with_ends(trajectory or _trajectory(agent), is_terminal)
  learner = ppo.Learner(agent, dataclasses.replace(_PLAIN, **changes))
  parts = []
  for optimizer in learner.optimizers:
    apply = optimizer.apply

    def note(gradients, variables, apply=apply):
      parts.append(gradients)
      apply(gradients, variables)

    optimizer.apply = note
  metrics, _ = _update(learner, trajectory, sizes)
  seen = [x + y for x, y in zip(parts[::2], parts[1::2], strict=True)]
  return agent, seen, metrics, learner


@functools.cache
def _plain_step():
  """Returns what `_learn` does for one step on the whole trajectory."""
  return _learn()


class _Case(parameterized.TestCase, tf.test.TestCase):
  def assertSameGradients(self, found, expected, scale=1.0):
    self.assertGreater(float(tf.linalg.global_norm(expected)), 0.1)
    for x, y in zip(found, expected, strict=True):
      self.assertAllClose(x, scale * y, 1e-4, 1e-5)


class UpdateTest(_Case):
  def test_gradient_equals_the_literal_one(self):
    agent = _agent()
    trajectory = _trajectory(agent)
    literal = _literal_gradients(agent, trajectory, _PLAIN)
    _, [found], metrics, _ = _learn(trajectory, agent)
    self.assertSameGradients(found, literal)
    self.assertGreater(metrics['clip_fraction'], 0.1)

  def test_microbatches_add_up_to_the_whole(self):
    agent, whole, _, _ = _learn(num_minibatches=2)
    portions = _learn(num_minibatches=2, microbatch_vectors=32)
    self.assertSameGradients(portions[1][0], whole[0])
    for x, y in zip(agent.variables, portions[0].variables, strict=True):
      self.assertAllClose(x, y, 1e-5, 1e-5)

  def test_a_pass_uses_every_sample_once(self):
    _, [whole], _, _ = _plain_step()
    _, parts, _, _ = _learn(num_minibatches=4, learning_rate=0.0)
    mean = [sum(gradients) / 4.0 for gradients in zip(*parts, strict=True)]
    self.assertSameGradients(mean, whole)
    norms = [float(tf.linalg.global_norm(part)) for part in parts]
    self.assertLen(np.unique(norms), 4)

  def test_number_of_steps(self):
    _, seen, _, learner = _learn(num_minibatches=3, num_epochs=2)
    self.assertLen(seen, 6)
    self.assertAllEqual([x.step for x in learner.optimizers], [6, 6])

  def test_each_pass_is_in_another_order(self):
    _, seen, _, _ = _learn(num_minibatches=2, num_epochs=3, learning_rate=0.0)
    norms = [float(tf.linalg.global_norm(x)) for x in seen]
    self.assertLen(np.unique(norms), 6)

  def test_gradient_scale(self):
    _, [plain], _, _ = _plain_step()
    _, [scaled], _, _ = _learn(gradient_scale=3.0)
    self.assertSameGradients(scaled, plain, 3.0)

  def test_each_networks_gradient_is_bounded(self):
    _, [whole], _, _ = _plain_step()
    _, _, metrics, learner = _learn(max_gradient_norm=0.01)
    for name, optimizer in zip(
      ('policy', 'value'), learner.optimizers, strict=True
    ):
      # After one step the first moment is a tenth of the gradient.
      norm = tf.linalg.global_norm(optimizer.m) * 10.0
      self.assertAllClose(norm, 0.01, 1e-4)
      self.assertGreater(metrics[f'{name}_gradient_norm'], 0.02)
    total = tf.sqrt(
      metrics['policy_gradient_norm'] ** 2 + metrics['value_gradient_norm'] ** 2
    )
    self.assertAllClose(total, tf.linalg.global_norm(whole), 1e-4)

  def test_centred_rewards_tell_no_shift(self):
    agent = _agent()
    trajectory = _trajectory(agent)
    higher = trajectory._replace(reward=(5.0 + trajectory.reward[0],))
    found = [
      _learn(x, _agent(), sizes=(4,), center_rewards=True)
      for x in (trajectory, higher)
    ]
    self.assertSameGradients(found[1][1][0], found[0][1][0])
    # The worlds that count have a mean of 0 then; all that is told is not.
    means = [float(metrics['reward_mean']) for _, _, metrics, _ in found]
    self.assertAllClose(means[1] - means[0], 5.0, 1e-4)
    _, [plain], _, _ = _learn(higher, _agent(), sizes=(4,))
    self.assertNotAllClose(plain[-1], found[1][1][0][-1], 1e-2)

  def test_centred_rewards_have_the_mean_0(self):
    agent = _agent()
    _, _, metrics, _ = _learn(
      _trajectory(agent),
      agent,
      is_terminal=True,
      sizes=(4,),
      center_rewards=True,
      discount=0.0,
      gae_lambda=0.0,
    )
    self.assertAllClose(metrics['return_mean'], 0.0, atol=1e-6)

  def test_small_advantages_are_not_blown_up(self):
    alone = {'entropy_cost': 0.0, 'value_cost': 0.0}
    _, [plain], _, _ = _learn(**alone)
    gradients = [
      _learn(advantage_std_floor=least, **alone)[1][0]
      for least in (1e-6, 100.0, 200.0)
    ]
    policy = slice(0, len(_agent().policies[0].variables))
    self.assertSameGradients(gradients[0][policy], plain[policy])
    for x, y in zip(gradients[1][policy], gradients[2][policy], strict=True):
      self.assertAllClose(x, 2.0 * y, 1e-3, 1e-7)
    norms = [tf.linalg.global_norm(x[policy]) for x in gradients]
    self.assertLess(norms[1], 0.1 * norms[0])

  @parameterized.parameters(True, False)
  def test_last_state_bootstraps_unless_terminal(self, is_terminal):
    agent = _agent()
    trajectory = _trajectory(agent)
    last = tf.nest.map_structure(lambda x: x[-1], trajectory.state)
    value = np.mean(agent.value(_ENV.observe(last))[0])
    metrics = _learn(
      trajectory, agent, is_terminal, gae_lambda=1.0, discount=1.0
    )[2]
    to_go = np.cumsum(trajectory.reward[0].numpy()[::-1], 0)
    expected = np.mean(to_go) + (0.0 if is_terminal else value)
    self.assertGreater(abs(value), 0.01)
    self.assertAllClose(metrics['return_mean'], expected, 1e-4, 1e-5)

  def test_an_end_in_the_middle_cuts_the_returns(self):
    agent = _agent()
    trajectory = _trajectory(agent)
    discount = np.ones([_STEPS, _TASKS], np.float32)
    discount[1, ::2] = 0.0
    trajectory = trajectory._replace(discount=tf.constant(discount))
    literal = _literal_gradients(agent, trajectory, _PLAIN)
    learner = ppo.Learner(agent, _PLAIN)
    _update(learner, trajectory)
    # After one step the first moment is a tenth of the gradient.
    moments = [10.0 * m for x in learner.optimizers for m in x.m]
    self.assertSameGradients(moments, literal)

  def test_rewarded_actions_become_likelier(self):
    # Fails if the sign of the advantage is flipped.
    agent = _agent()
    trajectory = _trajectory(agent)
    is_right = tf.cast(trajectory.action[0] == 2, tf.float32)
    trajectory = trajectory._replace(reward=(is_right,))

    def likelihood():
      logits = _logits(agent, _flat(trajectory))
      return np.mean(tf.nn.softmax(logits)[..., 2])

    before = likelihood()
    _learn(trajectory, agent, discount=0.0, num_epochs=5)
    self.assertGreater(likelihood(), before + 0.005)

  @parameterized.parameters(True, False)
  def test_value_moves_to_its_targets(self, is_normalized):
    agent = _agent()
    trajectory = _trajectory(agent)
    reward = 1.0 + tf.cast(trajectory.state.landmark[:-1] > 0.0, tf.float32)
    trajectory = trajectory._replace(reward=(reward,))
    learner = ppo.Learner(
      agent,
      dataclasses.replace(
        _PLAIN,
        discount=0.0,
        num_epochs=12,
        learning_rate=3e-2,
        normalize_value=is_normalized,
        value_clip=10.0,
      ),
    )
    target = tf.reshape(reward, [-1, 2])

    def error(value):
      value = learner.normalizer.denormalize(value)
      return float(np.mean((value - target) ** 2))

    def current():
      [value] = agent.value(_ENV.observe(_flat(trajectory)))
      return value

    before = error(current())
    _update(learner, trajectory)
    # The normaliser alone, whose mean is now that of the targets, is no value.
    unlearned = error(tf.zeros_like(target))
    self.assertLess(error(current()), 0.5 * min(before, unlearned))


class CountsTest(_Case):
  """Worlds of several entity counts in one update."""

  def test_worlds_beyond_the_size_do_not_count(self):
    agent = _agent()
    trajectory = _trajectory(agent)
    few = tf.nest.map_structure(lambda x: x[:, :4], trajectory)
    _, [found], metrics, _ = _learn(trajectory, agent, sizes=(4,))
    _, [want], few_metrics, _ = _learn(few, _agent(), sizes=(4,))
    self.assertSameGradients(found, want)
    self.assertAllClose(metrics, few_metrics, 1e-4)

  def test_two_counts_with_the_same_worlds_are_one(self):
    _, [one], metrics, _ = _plain_step()
    _, [two], both_metrics, _ = _learn(sizes=(6, 6))
    self.assertSameGradients(two, one)
    self.assertAllClose(metrics, both_metrics, 1e-4, 1e-6)

  def test_counts_weigh_by_their_agent_samples(self):
    agent = _agent()
    trajectory = _trajectory(agent)
    literal = _literal_gradients(agent, trajectory, _PLAIN)
    halves = [
      tf.nest.map_structure(lambda x, s=s: x[:, s], trajectory)
      for s in (slice(0, 2), slice(2, 6))
    ]
    learner = ppo.Learner(agent, _PLAIN)
    improve = update.Update(learner, [_ENV, _ENV], 2)
    improve(
      {
        index: update.RolloutBatch(half, tf.constant(half.progress.shape[1]))
        for index, half in enumerate(halves)
      },
      _SEED,
    )
    # After one step the first moment is a tenth of the gradient.
    moments = [10.0 * m for x in learner.optimizers for m in x.m]
    self.assertSameGradients(moments, literal)


if __name__ == '__main__':
  tf.test.main()
