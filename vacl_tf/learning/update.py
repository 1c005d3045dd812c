# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""An update of policy and value from worlds of one or several entity counts.

Each entity count has its own programs, compiled when it first comes into play,
and contributes to each minibatch in proportion to its number of worlds. This
number is an input of the programs, so a new mixture of counts compiles nothing.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.learning import microbatch
from vacl_tf.learning import ppo
from vacl_tf.learning import sums as sums_lib

Compiled = Callable[[Callable], Callable]
Sum = Callable[[Any], Any]  # Sums a structure of tensors over replicas.


class World(Protocol):
  """What an update needs from the worlds of one entity count."""

  horizon: int
  is_terminal: bool
  num_vectors: int  # Entity vectors that all agents observe in a step.

  def observe(self, state: types.State) -> types.Observations:
    """Returns the observations of all agents."""


class RolloutBatch(NamedTuple):
  """Roll-outs of one entity count."""

  trajectory: types.Trajectory  # Episodes of B worlds.
  size: tf.Tensor  # [] int32 number of worlds that count.


class _Order(NamedTuple):
  """The order in which an epoch learns from samples of one entity count."""

  rows: tf.Tensor  # int32 indices; those of rows to learn from come first.
  number: tf.Tensor  # [] int32 number of rows to learn from.
  weight: tf.Tensor  # [] number of samples that each of these stands for.


def _unchanged(tree: Any) -> Any:
  """Returns the sum over a single replica."""
  return tree


class CountUpdate:
  """The steps of an update for the worlds of one entity count.

  Attributes:
    rows_per_microbatch: number of segments that a gradient is computed on at
      once.
    order: returns the order in which to learn from samples.
    gradient: returns the gradient of one minibatch.
  """

  def __init__(
    self,
    learner: ppo.Learner,
    world: World,
    world_multiple: int,
    compiled: Compiled,
    over_replicas: Sum,
    num_replicas: int,
  ) -> None:
    self._learner = learner
    self._max_samples = -(-learner.config.max_minibatch // num_replicas)
    self._world = world
    self._block = self._at_once(world_multiple)
    rows = world_multiple * world.horizon // learner.segment_length
    self.rows_per_microbatch = self._at_once(
      rows // learner.config.num_minibatches
    )
    self._over_replicas = over_replicas
    self._has_others = num_replicas > 1
    self._compiled = compiled
    self._samples = compiled(self._make_samples)
    self.order = compiled(self._order)
    self.gradient = compiled(self._gradient)

  def _at_once(self, rows: int) -> int:
    """Returns how many of `rows` samples to process together."""
    num_vectors = self._world.num_vectors * self._learner.segment_length
    most = self._learner.config.microbatch_vectors // num_vectors
    return microbatch.largest_divisor(rows, most)

  @functools.cached_property
  def _reward_sums(self) -> Callable:
    # Made when first needed, because few runs centre rewards.
    return self._compiled(self._sum_rewards)

  def mean_reward(self, batch: RolloutBatch) -> tf.Tensor:
    """Returns the mean reward [roles] of the roll-outs of all replicas."""
    sums = self._reward_sums(batch)
    total, number = self._over_replicas(sums)
    return total / number

  def prepare(
    self, batch: RolloutBatch, mean_reward: tf.Tensor | None = None
  ) -> tuple[ppo.Samples, sums_lib.Sums]:
    """Returns the samples to learn from, and their sums.

    Args:
      batch: roll-outs.
      mean_reward: [roles] to subtract from rewards if they are centred; None
        for the mean of these roll-outs.
    """
    is_shared = self._learner.config.center_rewards and self._has_others
    if is_shared and mean_reward is None:
      mean_reward = self.mean_reward(batch)
    return self._samples(batch, mean_reward)

  def _sum_rewards(self, batch: RolloutBatch) -> tuple[tf.Tensor, tf.Tensor]:
    return self._learner.sum_rewards(*batch)

  def _make_samples(
    self, batch: RolloutBatch, mean_reward: tf.Tensor | None
  ) -> tuple[ppo.Samples, sums_lib.Sums]:
    world = self._world
    return self._learner.prepare(
      *batch, self._block, world.observe, world.is_terminal, mean_reward
    )

  def _order(self, batch: RolloutBatch, seed: types.Seed) -> _Order:
    steps, worlds = batch.trajectory.progress.shape
    rows = steps // self._learner.segment_length  # Per world.
    order = shuffled(seed, rows, worlds, batch.size)
    number = rows * batch.size
    if not self._max_samples:
      return _Order(order, number, tf.constant(1.0))
    agents = sum(x.shape[-1] for x in batch.trajectory.log_prob)
    most = tf.minimum(number, self._most_rows(agents))
    weight = tf.math.divide_no_nan(
      tf.cast(number, tf.float32), tf.cast(most, tf.float32)
    )
    return _Order(order, most, weight)

  def _most_rows(self, num_agents: int) -> int:
    """Returns the largest number of rows that an epoch learns from."""
    at_once = self.rows_per_microbatch * self._learner.segment_length
    times = max(self._max_samples // (at_once * num_agents), 1)
    minibatches = self._learner.config.num_minibatches
    return minibatches * times * self.rows_per_microbatch

  def _gradient(
    self,
    samples: ppo.Samples,
    order: _Order,
    minibatch: tf.Tensor,
    scale: ppo.Scale,
  ) -> ppo.Total:
    total = self._learner.gradient(
      samples,
      order.rows,
      order.number,
      minibatch,
      self.rows_per_microbatch,
      scale,
      self._world.observe,
    )
    if not self._max_samples:
      return total
    return tf.nest.map_structure(lambda x: order.weight * x, total)


class Update:
  """The passes over the roll-outs of an iteration.

  Attributes:
    counts: the steps of an update, for each entity count.
    combine, apply: compiled methods of the learner.
  """

  def __init__(
    self,
    learner: ppo.Learner,
    worlds: Sequence[World],
    world_multiple: int,
    compiled: Compiled = lambda function: function,
    over_replicas: Sum = _unchanged,
    num_replicas: int = 1,
  ) -> None:
    """Makes the programs.

    Args:
      learner: the learner whose policy and value to improve.
      worlds: one for each entity count.
      world_multiple: the size of each batch is a multiple of it.
      compiled: compiles a function.
      over_replicas: sums tensors over all processes that train together.
      num_replicas: number of these processes.
    """
    self._sum = over_replicas
    self._config = learner.config
    self.counts = [
      CountUpdate(
        learner, world, world_multiple, compiled, over_replicas, num_replicas
      )
      for world in worlds
    ]
    self.combine = compiled(learner.combine)
    self.apply = compiled(learner.apply)

  def __call__(
    self, batches: dict[int, RolloutBatch], seed: types.Seed
  ) -> tuple[types.Metrics, dict[int, ppo.Samples]]:
    """Makes num_epochs passes over whole episodes.

    Args:
      batches: roll-outs by index of the entity count in `worlds`.
      seed: seed of the order of samples.

    Returns:
      Means over all steps of the losses and of diagnostics, and the samples
      with the advantages that were learned from.
    """
    samples, sums = {}, []
    for index, batch in batches.items():
      samples[index], found = self.counts[index].prepare(batch)
      sums.append(found)
    scale, metrics = self.combine(self._sum(_added(sums)))
    steps = []
    for epoch in range(self._config.num_epochs):
      orders = {
        index: self.counts[index].order(
          batch, randomness.fold(seed, epoch, index)
        )
        for index, batch in batches.items()
      }
      for minibatch in range(self._config.num_minibatches):
        totals = [
          self.counts[index].gradient(
            samples[index], orders[index], tf.constant(minibatch), scale
          )
          for index in batches
        ]
        steps.append(self.apply(self._sum(_added(totals))))
    means = tf.unstack(tf.reduce_mean(tf.stack(steps), 0))
    metrics |= dict(zip(ppo.STEP_METRICS, means, strict=True))
    return metrics, samples


def shuffled(
  seed: types.Seed, num_steps: int, num_worlds: int, size: tf.Tensor
) -> tf.Tensor:
  """Returns shuffled rows, int32 [T * B], the first `size` worlds' first."""
  rows = tf.range(num_steps * num_worlds)
  score = randomness.uniform(seed, [num_steps * num_worlds])
  return tf.argsort(tf.where(rows % num_worlds < size, score, 2.0))


def _added(trees: list) -> Any:
  """Returns the sum, leaf by leaf, of structures of tensors."""
  if len(trees) == 1:
    return trees[0]
  return tf.nest.map_structure(lambda *x: tf.add_n(x), *trees)
