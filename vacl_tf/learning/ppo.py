# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Proximal policy optimisation on whole roll-outs, for any agent.

Episodes are cut into segments of the agent's segment length. The gradient of a
minibatch is summed over microbatches small enough for their activations to stay
in the cache; the sum is exact, so their size is not a hyper-parameter. Samples
hold states of worlds, and each microbatch computes its observations from them.

An iteration may have worlds of several entity counts. The sums of all counts'
shares of a minibatch are added before the optimiser makes one step.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from vacl_tf import config
from vacl_tf import types
from vacl_tf.agents import base
from vacl_tf.learning import adam
from vacl_tf.learning import losses
from vacl_tf.learning import microbatch
from vacl_tf.learning import sums as sums_lib
from vacl_tf.learning import value_normalizer

_LOSS_METRICS = ('policy_loss', 'value_loss', 'entropy', 'kl', 'clip_fraction')
STEP_METRICS = (
  *_LOSS_METRICS,
  'policy_gradient_norm',
  'value_gradient_norm',
)


class Samples(NamedTuple):
  """What the gradient is computed from; leaves [N, L, ...] of N segments."""

  state: types.State
  policy_memory: types.Memory  # [N, ...] before the first step of a segment.
  value_memory: types.Memory  # [N, ...]
  action: types.Actions
  log_prob: tuple[tf.Tensor, ...]
  acting_value: tuple[tf.Tensor, ...]  # Predicted at roll-out, normalised.
  advantage: tuple[tf.Tensor, ...]  # Not normalised.
  returns: tuple[tf.Tensor, ...]
  is_first: Any = ()  # See types.Sequence.


class Scale(NamedTuple):
  """Moments of the advantages of an iteration, [roles]."""

  mean: tf.Tensor
  deviation: tf.Tensor


class Total(NamedTuple):
  """Sums over agent-samples."""

  gradient: tf.Tensor  # [P] of all variables; one tensor is cheap to pass.
  metrics: tf.Tensor  # The _LOSS_METRICS.
  number: tf.Tensor  # [] number of agent-samples.


class Learner(tf.Module):
  """Improves policy and value (maximises L1 of the paper's bound).

  Its methods are the steps that `update.Update` combines.

  Attributes:
    config: its constants.
    segment_length: consecutive steps in a row of the samples (L).
  """

  def __init__(self, agent: base.Agent, cfg: config.PpoConfig) -> None:
    """Creates optimisers and their slots."""
    super().__init__(name='learner')
    self.config = cfg
    self.segment_length = agent.segment_length
    self._agent = agent
    self._parts = [base.trainable(x) for x in (agent.policies, agent.values)]
    self.learning_rate = tf.Variable(cfg.learning_rate, trainable=False)
    self.entropy_cost = tf.Variable(cfg.entropy_cost, trainable=False)
    self.optimizers = [
      adam.Adam(self.learning_rate, epsilon=cfg.adam_epsilon)
      for _ in self._parts
    ]
    for optimizer, variables in zip(self.optimizers, self._parts, strict=True):
      # Slots must exist before any graph is traced; a zero step creates them.
      optimizer.apply([tf.zeros_like(x) for x in variables], variables)
      optimizer.step.assign(0)
    self.normalizer = value_normalizer.ValueNormalizer(
      cfg.value_decay, cfg.normalize_value
    )

  def anneal(self, env_steps: int, decay_start: int = 0) -> None:
    """Sets learning rate and entropy bonus for a number of environment steps.

    The decay depends on the steps made and not on the length of the run, so
    that a run can end at any time or be prolonged.

    Args:
      env_steps: environment steps made so far.
      decay_start: steps at which decay_start_coverage was reached, or 0.
    """
    cfg = self.config
    starts = (cfg.decay_start_steps, decay_start)
    start = min((x for x in starts if x), default=math.inf)
    decay = max(env_steps / start, 1.0)
    decay **= cfg.decay_power
    # TensorFlow caches a tensor for each Python number and never frees it.
    self.learning_rate.assign(np.float32(cfg.learning_rate / decay))
    self.entropy_cost.assign(np.float32(cfg.entropy_cost / decay))

  def sum_rewards(
    self, trajectory: types.Trajectory, size: tf.Tensor
  ) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns sums and numbers [roles] of rewards; see `prepare`.

    Args:
      trajectory: whole episodes of B worlds.
      size: [] int32 number of worlds that count.
    """
    return (
      tf.stack([sums_lib.total(x, size) for x in trajectory.reward]),
      tf.stack([sums_lib.number(x, size) for x in trajectory.reward]),
    )

  def prepare(
    self,
    trajectory: types.Trajectory,
    size: tf.Tensor,
    block: int,
    observe: base.Observe,
    is_terminal: bool = False,
    mean_reward: tf.Tensor | None = None,
  ) -> tuple[Samples, sums_lib.Sums]:
    """Returns samples with advantages and returns, and their sums.

    Args:
      trajectory: whole episodes of B worlds.
      size: [] int32 number of worlds that count.
      block: number of worlds whose values are computed together.
      observe: maps states to observations.
      is_terminal: whether the last step ends every world; then the value of
        the state after it is not needed.
      mean_reward: [roles] to subtract from rewards if they are centred; None
        for the mean of these worlds.

    Returns:
      Samples [T / L * B, L, ...], where the index of the world varies faster,
      and their sums over the worlds that count.
    """
    num_agents = [x.shape[-1] for x in trajectory.log_prob]
    start = self._agent.initial_value_memory(block, num_agents)
    states, is_first = trajectory.state, ()
    if tf.nest.flatten((start, trajectory.memory)):
      has_ended = trajectory.discount == 0.0
      is_first = tf.concat([tf.zeros_like(has_ended[:1]), has_ended], 0)
    if is_terminal:
      states, is_first = _before((states, is_first))

    def of_block(begin: tf.Tensor) -> tuple:
      mine, first = microbatch.worlds((states, is_first), begin, block)
      return self._agent.unroll_values(observe, mine, start, first)

    num_worlds = trajectory.progress.shape[1]
    values, memory = microbatch.over_worlds(of_block, num_worlds, block, size)
    if is_terminal:
      values, memory = tf.nest.map_structure(
        lambda x: tf.concat([x, tf.zeros_like(x[:1])], 0), (values, memory)
      )
    samples, sums = self._add_advantages(
      trajectory, values, memory, size, mean_reward
    )
    num_steps = trajectory.progress.shape[0]
    is_first = tf.nest.map_structure(lambda x: x[:num_steps], is_first)
    return self._segments(samples._replace(is_first=is_first)), sums

  def _add_advantages(
    self,
    trajectory: types.Trajectory,
    acting: tuple[tf.Tensor, ...],
    value_memory: types.Memory,
    size: tf.Tensor,
    mean_reward: tf.Tensor | None,
  ) -> tuple[Samples, sums_lib.Sums]:
    """Returns samples [T, B, ...] with advantages and returns; see `prepare`.

    Args:
      trajectory: whole episodes.
      acting: values [T + 1, B, n] per role, predicted at roll-out.
      value_memory: [T + 1, B, ...] before each step.
      size: number of worlds that count.
      mean_reward: see `prepare`.
    """
    cfg = self.config
    advantages, returns, sums = [], [], []
    for role, (reward, value) in enumerate(
      zip(trajectory.reward, acting, strict=True)
    ):
      value = self.normalizer.denormalize(value)
      learned = reward
      if cfg.center_rewards:
        learned -= (
          sums_lib.total(learned, size) / sums_lib.number(learned, size)
          if mean_reward is None
          else mean_reward[role]
        )
      advantages.append(
        losses.generalized_advantages(
          learned, value, trajectory.discount, cfg.discount, cfg.gae_lambda
        )
      )
      returns.append(advantages[-1] + value[:-1])
      sums.append(
        sums_lib.of_rollout(advantages[-1], returns[-1], reward, size)
      )
    samples = Samples(
      state=_before(trajectory.state),
      policy_memory=trajectory.memory,
      value_memory=_before(value_memory),
      action=trajectory.action,
      log_prob=trajectory.log_prob,
      acting_value=_before(acting),
      advantage=tuple(advantages),
      returns=tuple(returns),
    )
    return samples, sums_lib.Sums(*map(tf.stack, zip(*sums, strict=True)))

  def _segments(self, samples: Samples) -> Samples:
    """Returns samples [T / L * B, L, ...] of samples [T, B, ...]."""
    length = self.segment_length

    def cut(x: tf.Tensor) -> tf.Tensor:
      steps, worlds, *rest = x.shape
      x = tf.reshape(x, [steps // length, length, worlds, *rest])
      x = tf.transpose(x, [0, 2, 1, *range(3, x.shape.rank)])
      return tf.reshape(x, [-1, length, *rest])

    def first(x: tf.Tensor) -> tf.Tensor:
      return tf.reshape(x[::length], [-1, *x.shape[2:]])

    cut_samples = tf.nest.map_structure(
      cut, samples._replace(policy_memory=(), value_memory=())
    )
    return cut_samples._replace(
      policy_memory=tf.nest.map_structure(first, samples.policy_memory),
      value_memory=tf.nest.map_structure(first, samples.value_memory),
    )

  def combine(self, sums: sums_lib.Sums) -> tuple[Scale, types.Metrics]:
    """Updates the value normaliser.

    Args:
      sums: sums over all samples of all entity counts of an iteration.

    Returns:
      The moments to normalise advantages with, and metrics.
    """
    number = tf.reduce_sum(sums.number)
    mean = tf.reduce_sum(sums.returns) / number
    self.normalizer.update(mean, tf.reduce_sum(sums.square_returns) / number)
    advantage = sums.advantage / sums.number
    variance = sums.square_advantage / sums.number - advantage * advantage
    metrics = {
      'return_mean': mean,
      'reward_mean': tf.reduce_sum(sums.reward) / number,
    }
    return Scale(advantage, tf.sqrt(tf.maximum(variance, 0.0))), metrics

  def gradient(
    self,
    samples: Samples,
    order: tf.Tensor,
    num_rows: tf.Tensor,
    minibatch: tf.Tensor,
    rows_per_microbatch: int,
    scale: Scale,
    observe: base.Observe,
  ) -> Total:
    """Returns the sums over one minibatch's samples of one entity count.

    Args:
      samples: leaves [N, L, ...].
      order: int32 [N] indices of rows; those of rows that count come first.
      num_rows: [] int32 number of rows that count.
      minibatch: [] int32 index of the minibatch.
      rows_per_microbatch: a divisor of the rows of a minibatch.
      scale: moments of the advantages.
      observe: maps states to observations.
    """
    variables = sum(self._parts, ())
    num_agents = sum(x.shape[-1] for x in samples.log_prob)
    rows = num_rows // self.config.num_minibatches
    within = tf.range(rows_per_microbatch)
    number = rows_per_microbatch * self.segment_length * num_agents
    number = tf.constant(float(number))

    def accumulate(k: tf.Tensor, total: tuple) -> tuple:
      # Not a slice, whose start XLA has to know at compile time.
      place = minibatch * rows + k * rows_per_microbatch + within
      chosen = tf.gather(order, place)
      mine = tf.nest.map_structure(lambda x: tf.gather(x, chosen), samples)
      with tf.GradientTape() as tape:
        loss, metrics = self._loss(mine, scale, observe)
        loss *= number
      parts = tape.gradient(loss, variables, unconnected_gradients='zero')
      found = (parts, number * metrics, number)
      return tf.nest.map_structure(tf.add, total, found)

    nothing = (
      tuple(tf.zeros_like(variable) for variable in variables),
      tf.zeros([len(_LOSS_METRICS)]),
      tf.constant(0.0),
    )
    times = rows // rows_per_microbatch
    parts, *others = microbatch.repeat(times, accumulate, nothing)
    return Total(tf.concat([tf.reshape(x, [-1]) for x in parts], 0), *others)

  def apply(self, total: Total) -> tf.Tensor:
    """Makes one step on the mean gradient.

    Args:
      total: what `gradient` returned, summed over entity counts.

    Returns:
      The STEP_METRICS, as a vector.
    """
    cfg = self.config
    shapes = [x.shape for x in sum(self._parts, ())]
    scale = cfg.gradient_scale / total.number
    flat = tf.split(scale * total.gradient, [x.num_elements() for x in shapes])
    gradients = [tf.reshape(*x) for x in zip(flat, shapes, strict=True)]
    norms = []
    for optimizer, part in zip(self.optimizers, self._parts, strict=True):
      mine, gradients = gradients[: len(part)], gradients[len(part) :]
      norms.append(tf.linalg.global_norm(mine))
      if cfg.max_gradient_norm:
        mine, _ = tf.clip_by_global_norm(mine, cfg.max_gradient_norm, norms[-1])
      optimizer.apply(mine, part)
    return tf.concat([total.metrics / total.number, tf.stack(norms)], 0)

  def _loss(
    self, samples: Samples, scale: Scale, observe: base.Observe
  ) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the mean loss, summed over roles, and mean _LOSS_METRICS."""
    cfg = self.config
    distributions, values, total = self._agent.evaluate(
      types.Sequence(
        base.observe_sequence(observe, samples.state),
        samples.policy_memory,
        samples.value_memory,
        samples.is_first,
      )
    )
    samples = base.merged(
      samples._replace(state=(), policy_memory=(), value_memory=(), is_first=())
    )
    metrics = tf.zeros([len(_LOSS_METRICS)])
    for role, distribution in enumerate(distributions):
      log_ratio = (
        distribution.log_prob(samples.action[role]) - samples.log_prob[role]
      )
      ratio = tf.exp(log_ratio)
      deviation = (
        tf.maximum(scale.deviation[role], cfg.advantage_std_floor) + 1e-5
      )
      advantage = (samples.advantage[role] - scale.mean[role]) / deviation
      policy_loss = losses.clipped_policy_loss(ratio, advantage, cfg.clip)
      value_loss = losses.clipped_value_loss(
        values[role],
        samples.acting_value[role],
        self.normalizer.normalize(samples.returns[role]),
        cfg.value_clip,
        cfg.huber_delta,
      )
      found = {
        'policy_loss': policy_loss,
        'value_loss': value_loss,
        'entropy': distribution.entropy(),
        'kl': ratio - 1.0 - log_ratio,
        'clip_fraction': tf.cast(tf.abs(ratio - 1.0) > cfg.clip, tf.float32),
      }
      found = {name: tf.reduce_mean(x) for name, x in found.items()}
      total += found['policy_loss'] + cfg.value_cost * found['value_loss']
      total -= self.entropy_cost * found['entropy']
      metrics += tf.stack([found[name] for name in _LOSS_METRICS])
    return total, metrics / len(distributions)


def _before(tree: types.State) -> types.State:
  """Returns leaves [T + 1, ...] without the last entry."""
  return tf.nest.map_structure(lambda x: x[:-1], tree)
