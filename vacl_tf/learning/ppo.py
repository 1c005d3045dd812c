# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Proximal policy optimisation on whole roll-outs, chunk by chunk.

The gradient of a minibatch is summed over chunks small enough for their
activations to stay in the cache; the sum is exact, so the chunk size is not a
hyper-parameter. Worlds are stored as states, and each chunk observes anew.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import sonnet as snt
import tensorflow as tf
import tensorflow_probability as tfp

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.learning import losses
from vacl_tf.learning import value_normalizer

Observe = Callable[[types.State], types.Observations]
Gradients = list[tf.Tensor]
Loop = Any  # What a loop carries from one turn to the next.

_LOSS_METRICS = ('policy_loss', 'value_loss', 'entropy', 'kl', 'clip_fraction')
_STEP_METRICS = (
  *_LOSS_METRICS,
  'policy_gradient_norm',
  'value_gradient_norm',
)


class Network(Protocol):
  """Policies and values of all roles; variables exist already."""

  policies: Sequence[snt.Module]
  values: Sequence[snt.Module]

  def logits(self, observations: types.Observations) -> tuple[tf.Tensor, ...]:
    """Returns logits [B, n, A] per role."""

  def value(self, observations: types.Observations) -> tuple[tf.Tensor, ...]:
    """Returns values [B, n] per role."""


class Samples(NamedTuple):
  """What a gradient is taken on; leaves [rows, ...], a row a world's step."""

  state: types.State
  action: types.Actions
  log_prob: tuple[tf.Tensor, ...]
  acting_value: tuple[tf.Tensor, ...]  # As the network said it: normalised.
  advantage: tuple[tf.Tensor, ...]
  target: tuple[tf.Tensor, ...]  # Normalised returns.


class Learner(tf.Module):
  """Improves policy and value on a trajectory (L1 of the paper's bound)."""

  def __init__(
    self,
    network: Network,
    cfg: config.PpoConfig,
    reduce: Callable[[Gradients], Gradients] = lambda gradients: gradients,
  ) -> None:
    """Creates optimisers and their slots.

    Args:
      network: whose policy and value to improve.
      cfg: all constants.
      reduce: combines the gradients of several workers.
    """
    super().__init__(name='learner')
    self._config = cfg
    self._reduce = reduce
    self._network = network
    self._parts = [
      tuple(variable for module in modules for variable in module.variables)
      for modules in (network.policies, network.values)
    ]
    self.learning_rate = tf.Variable(cfg.learning_rate, trainable=False)
    self.optimizers = [
      snt.optimizers.Adam(self.learning_rate, epsilon=cfg.adam_epsilon)
      for _ in self._parts
    ]
    for optimizer, variables in zip(self.optimizers, self._parts, strict=True):
      # Slots must exist before any graph; a step of length 0 makes them.
      optimizer.apply([tf.zeros_like(x) for x in variables], variables)
      optimizer.step.assign(0)
    self.normalizer = value_normalizer.ValueNormalizer(
      cfg.value_decay, cfg.normalize_value
    )

  def learn(
    self,
    trajectory: types.Trajectory,
    observe: Observe,
    is_terminal: bool,
    seed: types.Seed,
  ) -> types.Metrics:
    """Makes num_epochs passes over the trajectory.

    Args:
      trajectory: whole episodes.
      observe: state to observations.
      is_terminal: whether the last step of an episode ends the world.
      seed: of the order of samples.

    Returns:
      Means over all steps of the losses and of what tells their health.
    """
    cfg = self._config
    samples, prepared = self._prepare(trajectory, observe, is_terminal)
    packed, unpack = _pack(samples)
    rows = packed.shape[0]
    agents = sum(action.shape[2] for action in trajectory.action)
    rows_per_step = rows // cfg.num_minibatches
    per_chunk = chunk_rows(rows_per_step, cfg.chunk_agent_samples // agents)
    chunks = rows_per_step // per_chunk

    def epoch(index: tf.Tensor, totals: types.Metrics) -> types.Metrics:
      order = randomness.permutation(randomness.fold(seed, index), rows)

      def step(minibatch: tf.Tensor, totals: types.Metrics) -> types.Metrics:
        def chunk(k: tf.Tensor) -> Samples:
          begin = (minibatch * chunks + k) * per_chunk
          chosen = tf.slice(order, [begin], [per_chunk])
          return unpack(tf.gather(packed, chosen))

        return _add(totals, self._step(chunk, chunks, observe))

      return _repeat(cfg.num_minibatches, step, totals)

    zeros = {name: tf.constant(0.0) for name in _STEP_METRICS}
    totals = _repeat(cfg.num_epochs, epoch, zeros)
    steps = cfg.num_epochs * cfg.num_minibatches
    return prepared | {name: total / steps for name, total in totals.items()}

  def _prepare(
    self, trajectory: types.Trajectory, observe: Observe, is_terminal: bool
  ) -> tuple[Samples, types.Metrics]:
    """Returns samples [T * B, ...] with advantages and targets."""
    cfg, normalizer = self._config, self.normalizer
    # Step by step: the activations of all steps at once would fill memory.
    acting = tf.map_fn(
      lambda state: self._network.value(observe(state)),
      trajectory.state,
      fn_output_signature=tuple(tf.float32 for _ in trajectory.action),
    )
    advantages, returns = [], []
    for reward, bonus, value in zip(
      trajectory.reward, trajectory.bonus, acting, strict=True
    ):
      value = normalizer.denormalize(value)
      advantage = losses.generalized_advantages(
        reward + bonus, value, cfg.discount, cfg.trace_decay, is_terminal
      )
      advantages.append(advantage)
      returns.append(advantage + value[:-1])
    metrics = {
      'return_mean': tf.reduce_mean(tf.concat(returns, -1)),
      'reward_mean': tf.reduce_mean(tf.concat(trajectory.reward, -1)),
    }
    normalizer.update(tf.concat(returns, -1))
    samples = Samples(
      state=tf.nest.map_structure(lambda x: x[:-1], trajectory.state),
      action=trajectory.action,
      log_prob=trajectory.log_prob,
      acting_value=tuple(value[:-1] for value in acting),
      advantage=tuple(losses.normalized(x) for x in advantages),
      target=tuple(normalizer.normalize(x) for x in returns),
    )
    rows = trajectory.progress.shape[0] * trajectory.progress.shape[1]
    flat = tf.nest.map_structure(
      lambda x: tf.reshape(x, [rows, *x.shape[2:]]), samples
    )
    return flat, metrics

  def _step(
    self,
    chunk: Callable[[tf.Tensor], Samples],
    num_chunks: int,
    observe: Observe,
  ) -> types.Metrics:
    """Makes one Adam step on the mean gradient of num_chunks chunks."""
    parts = self._parts
    variables = [variable for part in parts for variable in part]

    def accumulate(
      k: tf.Tensor, total: tuple[Gradients, types.Metrics]
    ) -> tuple[Gradients, types.Metrics]:
      with tf.GradientTape() as tape:
        loss, metrics = self._loss(chunk(k), observe)
      gradients = tape.gradient(loss, variables)
      summed = [x + y for x, y in zip(total[0], gradients, strict=True)]
      return summed, _add(total[1], metrics)

    nothing = (
      [tf.zeros_like(variable) for variable in variables],
      {name: tf.constant(0.0) for name in _LOSS_METRICS},
    )
    gradients, metrics = _repeat(num_chunks, accumulate, nothing)
    scale = self._config.gradient_scale / num_chunks
    gradients = self._reduce([scale * gradient for gradient in gradients])
    metrics = {name: total / num_chunks for name, total in metrics.items()}
    for name, optimizer, part in zip(
      ('policy', 'value'), self.optimizers, parts, strict=True
    ):
      mine, gradients = gradients[: len(part)], gradients[len(part) :]
      norm = tf.linalg.global_norm(mine)
      metrics[f'{name}_gradient_norm'] = norm
      if self._config.max_gradient_norm:
        mine, _ = tf.clip_by_global_norm(
          mine, self._config.max_gradient_norm, norm
        )
      optimizer.apply(mine, part)
    return metrics

  def _loss(
    self, samples: Samples, observe: Observe
  ) -> tuple[tf.Tensor, types.Metrics]:
    """Returns the loss, summed over roles, and metrics, averaged over them."""
    cfg = self._config
    observations = observe(samples.state)
    logits = self._network.logits(observations)
    values = self._network.value(observations)
    total = tf.constant(0.0)
    metrics = {name: tf.constant(0.0) for name in _LOSS_METRICS}
    for role in range(len(logits)):
      distribution = tfp.distributions.Categorical(logits=logits[role])
      log_ratio = (
        distribution.log_prob(samples.action[role]) - samples.log_prob[role]
      )
      ratio = tf.exp(log_ratio)
      policy_loss = losses.clipped_policy_loss(
        ratio, samples.advantage[role], cfg.clip
      )
      value_loss = losses.clipped_value_loss(
        values[role],
        samples.acting_value[role],
        samples.target[role],
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
      total -= cfg.entropy_cost * found['entropy']
      metrics = _add(metrics, found)
    return total, {name: x / len(logits) for name, x in metrics.items()}


def chunk_rows(rows: int, at_most: int) -> int:
  """Returns the largest divisor of `rows` that is not above `at_most`."""
  return max(k for k in range(1, max(at_most, 1) + 1) if rows % k == 0)


def _add(one: types.Metrics, other: types.Metrics) -> types.Metrics:
  return {name: one[name] + other[name] for name in one}


def _repeat(
  times: int, body: Callable[[tf.Tensor, Loop], Loop], carried: Loop
) -> Loop:
  """Returns `carried` after body(0, .) ... body(times - 1, .), in a graph."""
  return tf.while_loop(
    lambda index, _: index < times,
    lambda index, loop: (index + 1, body(index, loop)),
    (tf.constant(0), carried),
  )[1]


def _pack(
  samples: Samples,
) -> tuple[tf.Tensor, Callable[[tf.Tensor], Samples]]:
  """Returns samples as one matrix [rows, width], and the way back.

  Shuffling then is one gather of whole rows. Integers survive as floats:
  they are action indices, far below 2^24.
  """
  leaves = tf.nest.flatten(samples)
  rows = leaves[0].shape[0]
  columns = [
    tf.cast(tf.reshape(leaf, [rows, -1]), tf.float32) for leaf in leaves
  ]
  sizes = [column.shape[1] for column in columns]

  def unpack(packed: tf.Tensor) -> Samples:
    parts = tf.split(packed, sizes, 1)
    restored = [
      tf.cast(tf.reshape(part, [packed.shape[0], *leaf.shape[1:]]), leaf.dtype)
      for part, leaf in zip(parts, leaves, strict=True)
    ]
    return tf.nest.pack_sequence_as(samples, restored)

  return tf.concat(columns, 1), unpack
