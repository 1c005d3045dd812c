# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Proximal policy optimisation on whole roll-outs, chunk by chunk.

The gradient of a minibatch is summed over chunks small enough for their
activations to stay in the cache; the sum is exact, so the chunk size is not a
hyper-parameter. Worlds are stored as states, and each chunk observes anew.

An iteration may have worlds of several entity counts. Each count's share of a
minibatch adds its sums to those of the others, and then one step is made.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import sonnet as snt
import tensorflow as tf

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.learning import adam
from vacl_tf.learning import chunks
from vacl_tf.learning import losses
from vacl_tf.learning import value_normalizer

Observe = Callable[[types.State], types.Observations]

_LOSS_METRICS = ('policy_loss', 'value_loss', 'entropy', 'kl', 'clip_fraction')
STEP_METRICS = (
  *_LOSS_METRICS,
  'policy_gradient_norm',
  'value_gradient_norm',
)


class Distribution(Protocol):
  """Of actions."""

  def log_prob(self, action: tf.Tensor) -> tf.Tensor:
    """Returns the log-probabilities of actions."""

  def entropy(self) -> tf.Tensor:
    """Returns entropies, as the bonus rewards them."""


class Network(Protocol):
  """Policies and values of all roles; variables exist already."""

  policies: Sequence[snt.Module]
  values: Sequence[snt.Module]

  def distributions(self, seen: Any) -> tuple[Distribution, ...]:
    """Returns the distribution of actions per role."""

  def value(self, seen: Any) -> tuple[tf.Tensor, ...]:
    """Returns values per role."""


class Samples(NamedTuple):
  """What a gradient is taken on; leaves [rows, ...], a row a world's step."""

  state: types.State
  action: types.Actions
  log_prob: tuple[tf.Tensor, ...]
  acting_value: tuple[tf.Tensor, ...]  # As the network said it: normalised.
  advantage: tuple[tf.Tensor, ...]  # Not normalised yet.
  returns: tuple[tf.Tensor, ...]


class Sums(NamedTuple):
  """Over the agent-samples of an iteration, [roles]."""

  number: tf.Tensor
  advantage: tf.Tensor
  square_advantage: tf.Tensor
  returns: tf.Tensor
  square_returns: tf.Tensor
  reward: tf.Tensor


class Scale(NamedTuple):
  """Moments of the advantages of an iteration, [roles]."""

  mean: tf.Tensor
  deviation: tf.Tensor


class Total(NamedTuple):
  """Sums over agent-samples."""

  gradients: list[tf.Tensor]
  metrics: tf.Tensor  # The _LOSS_METRICS.
  number: tf.Tensor  # [] of agent-samples.


class Learner(tf.Module):
  """Improves policy and value (L1 of the paper's bound).

  Pure steps that `update.Update` puts together.

  Attributes:
    config: its constants.
    steps_per_row: consecutive steps that make a row of the samples.
  """

  steps_per_row = 1

  def __init__(self, network: Network, cfg: config.PpoConfig) -> None:
    """Creates optimisers and their slots."""
    super().__init__(name='learner')
    self.config = cfg
    self._network = network
    self._parts = [
      tuple(variable for module in modules for variable in module.variables)
      for modules in (network.policies, network.values)
    ]
    self.learning_rate = tf.Variable(cfg.learning_rate, trainable=False)
    self.entropy_cost = tf.Variable(cfg.entropy_cost, trainable=False)
    self.optimizers = [
      adam.Adam(self.learning_rate, epsilon=cfg.adam_epsilon)
      for _ in self._parts
    ]
    for optimizer, variables in zip(self.optimizers, self._parts, strict=True):
      # Slots must exist before any graph; a step of length 0 makes them.
      optimizer.apply([tf.zeros_like(x) for x in variables], variables)
      optimizer.step.assign(0)
    self.normalizer = value_normalizer.ValueNormalizer(
      cfg.value_decay, cfg.normalize_value
    )

  def anneal(self, env_steps: int) -> None:
    """Sets learning rate and entropy bonus after so many environment steps.

    They fall with the steps made, not with those that are left, so that a run
    may end at any time or be prolonged.
    """
    cfg = self.config
    decay = max(env_steps / (cfg.annealed_after or math.inf), 1.0)
    decay **= cfg.annealing_power
    self.learning_rate.assign(cfg.learning_rate / decay)
    self.entropy_cost.assign(cfg.entropy_cost / decay)

  def prepare(
    self,
    trajectory: types.Trajectory,
    size: tf.Tensor,
    block: int,
    observe: Observe,
    is_terminal: bool,
  ) -> tuple[Samples, Sums]:
    """Returns samples with advantages and returns, and their sums.

    Args:
      trajectory: whole episodes of B worlds.
      size: [] int32 the worlds that count, a multiple of `block`.
      block: worlds that are looked at together.
      observe: state to observations.
      is_terminal: whether the last step of an episode ends the world.

    Returns:
      Samples [T * B], the world being the faster index, and their sums over
      the worlds that count.
    """
    acting = self._acting_values(trajectory.state, size, block, observe)
    before = tf.nest.map_structure(lambda x: x[:-1], trajectory.state)
    trajectory = trajectory._replace(state=before)
    samples, sums = self._credited(trajectory, acting, size, is_terminal)
    rows = trajectory.progress.shape[0] * trajectory.progress.shape[1]
    flat = tf.nest.map_structure(
      lambda x: tf.reshape(x, [rows, *x.shape[2:]]), samples
    )
    return flat, sums

  def _credited(
    self,
    trajectory: types.Trajectory,
    acting: tuple[tf.Tensor, ...],
    size: tf.Tensor,
    is_terminal: bool,
  ) -> tuple[Samples, Sums]:
    """Returns samples [T, B, ...] with advantages and returns; see `prepare`.

    Args:
      trajectory: whole episodes, with the states before each step.
      acting: values [T + 1, B, n] per role.
      size: the worlds that count.
      is_terminal: whether the last step of an episode ends the world.
    """
    cfg = self.config
    advantages, returns, sums = [], [], []
    for reward, bonus, value in zip(
      trajectory.reward, trajectory.bonus, acting, strict=True
    ):
      value = self.normalizer.denormalize(value)
      learned = reward + bonus
      if cfg.center_rewards:
        learned -= _total(learned, size) / _number(learned, size)
      advantages.append(
        losses.generalized_advantages(
          learned, value, cfg.discount, cfg.trace_decay, is_terminal
        )
      )
      returns.append(advantages[-1] + value[:-1])
      sums.append(_sums(advantages[-1], returns[-1], reward, size))
    samples = Samples(
      state=trajectory.state,
      action=trajectory.action,
      log_prob=trajectory.log_prob,
      acting_value=tuple(value[:-1] for value in acting),
      advantage=tuple(advantages),
      returns=tuple(returns),
    )
    return samples, Sums(*map(tf.stack, zip(*sums, strict=True)))

  def _acting_values(
    self, states: types.State, size: tf.Tensor, block: int, observe: Observe
  ) -> tuple[tf.Tensor, ...]:
    """Returns values [T + 1, B, n] per role of states [T + 1, B, ...]."""
    roles = tuple(tf.float32 for _ in self._network.values)

    @tf.autograph.experimental.do_not_convert  # It would take seconds.
    def of_step(state: types.State) -> tuple[tf.Tensor, ...]:
      return self._network.value(observe(state))

    def of_block(begin: tf.Tensor) -> tuple[tf.Tensor, ...]:
      # Step by step: the activations of all steps at once would fill memory.
      mine = chunks.worlds(states, begin, block)
      return tf.map_fn(of_step, mine, fn_output_signature=roles)

    num_worlds = tf.nest.flatten(states)[0].shape[1]
    return chunks.over_worlds(of_block, num_worlds, block, size)

  def combine(self, sums: Sums) -> tuple[Scale, types.Metrics]:
    """Takes the sums of an iteration into account.

    Args:
      sums: over all samples, of all entity counts.

    Returns:
      How to normalise the advantages, and metrics.
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
    rows_per_chunk: int,
    scale: Scale,
    observe: Observe,
  ) -> Total:
    """Returns the sums over one minibatch's samples of one entity count.

    Args:
      samples: leaves [rows, ...].
      order: int32 [rows], those that count first.
      num_rows: [] int32 how many rows count.
      minibatch: [] int32 which of the config's num_minibatches.
      rows_per_chunk: a divisor of any minibatch.
      scale: of the advantages.
      observe: state to observations.
    """
    variables = [variable for part in self._parts for variable in part]
    num_agents = sum(x.shape[-1] for x in samples.log_prob)
    rows = num_rows // self.config.num_minibatches
    within = tf.range(rows_per_chunk)
    number = rows_per_chunk * self.steps_per_row * num_agents
    number = tf.constant(float(number))

    def accumulate(k: tf.Tensor, total: Total) -> Total:
      # Gathered: of a slice XLA wants to know the place when it compiles.
      place = minibatch * rows + k * rows_per_chunk + within
      chosen = tf.gather(order, place)
      chunk = tf.nest.map_structure(lambda x: tf.gather(x, chosen), samples)
      with tf.GradientTape() as tape:
        loss, metrics = self._loss(chunk, scale, observe)
        loss *= number
      found = Total(tape.gradient(loss, variables), number * metrics, number)
      return tf.nest.map_structure(tf.add, total, found)

    nothing = Total(
      [tf.zeros_like(variable) for variable in variables],
      tf.zeros([len(_LOSS_METRICS)]),
      tf.constant(0.0),
    )
    return chunks.repeat(rows // rows_per_chunk, accumulate, nothing)

  def apply(self, total: Total) -> tf.Tensor:
    """Makes one step on the mean gradient.

    Args:
      total: what `gradient` returned, summed over entity counts.

    Returns:
      The STEP_METRICS, as a vector.
    """
    cfg = self.config
    scale = cfg.gradient_scale / total.number
    gradients = [scale * x for x in total.gradients]
    norms = []
    for optimizer, part in zip(self.optimizers, self._parts, strict=True):
      mine, gradients = gradients[: len(part)], gradients[len(part) :]
      norms.append(tf.linalg.global_norm(mine))
      if cfg.max_gradient_norm:
        mine, _ = tf.clip_by_global_norm(mine, cfg.max_gradient_norm, norms[-1])
      optimizer.apply(mine, part)
    return tf.concat([total.metrics / total.number, tf.stack(norms)], 0)

  def _reconsider(
    self, observations: Any
  ) -> tuple[tuple[Distribution, ...], tf.Tensor]:
    """Returns the distributions of actions per role, and a loss to add."""
    return self._network.distributions(observations), tf.constant(0.0)

  def _loss(
    self, samples: Samples, scale: Scale, observe: Observe
  ) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the mean loss, summed over roles, and mean _LOSS_METRICS."""
    cfg = self.config
    observations = observe(samples.state)
    distributions, total = self._reconsider(observations)
    values = self._network.value(observations)
    metrics = tf.zeros([len(_LOSS_METRICS)])
    for role, distribution in enumerate(distributions):
      log_ratio = (
        distribution.log_prob(samples.action[role]) - samples.log_prob[role]
      )
      ratio = tf.exp(log_ratio)
      deviation = tf.maximum(scale.deviation[role], cfg.least_deviation) + 1e-5
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


def order(
  seed: types.Seed, num_steps: int, num_worlds: int, size: tf.Tensor
) -> tf.Tensor:
  """Returns the rows [T * B] of worlds below `size` in random order first."""
  rows = tf.range(num_steps * num_worlds)
  score = randomness.uniform(seed, [num_steps * num_worlds])
  return tf.argsort(tf.where(rows % num_worlds < size, score, 2.0))


def _total(x: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
  """Returns the sum over the worlds below `size` of [T, B, n]."""
  counts = tf.cast(tf.range(x.shape[1]) < size, tf.float32)[:, None]
  return tf.reduce_sum(counts * x)


def _number(x: tf.Tensor, size: tf.Tensor) -> tf.Tensor:
  """Returns how many numbers of [T, B, n] are of worlds below `size`."""
  return float(x.shape[0] * x.shape[2]) * tf.cast(size, tf.float32)


def _sums(
  advantage: tf.Tensor, returns: tf.Tensor, reward: tf.Tensor, size: tf.Tensor
) -> Sums:
  """Returns sums over the worlds below `size` of [T, B, n]."""
  return Sums(
    number=_number(advantage, size),
    advantage=_total(advantage, size),
    square_advantage=_total(advantage * advantage, size),
    returns=_total(returns, size),
    square_returns=_total(returns * returns, size),
    reward=_total(reward, size),
  )
