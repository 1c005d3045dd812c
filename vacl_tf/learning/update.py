# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""An update of policy and value from worlds of one or several entity counts.

Each entity count has programs of its own, compiled when it first comes into
play, and takes part in each minibatch in proportion to its worlds. How many
those are is data: a new mixture of counts compiles nothing.
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
Sum = Callable[[Any], Any]  # Of a structure of tensors, over replicas.


class World(Protocol):
  """What an update uses of the worlds of one entity count."""

  horizon: int
  is_terminal: bool
  num_vectors: int  # Entity vectors that all agents observe in a step.

  def observe(self, state: types.State) -> types.Observations:
    """Returns the observations of all agents."""


class RolloutBatch(NamedTuple):
  """Roll-outs of one entity count."""

  trajectory: types.Trajectory  # Of B worlds.
  size: tf.Tensor  # [] int32 how many of them count.


class _Order(NamedTuple):
  """In which an epoch learns from the samples of one entity count."""

  rows: tf.Tensor  # int32, those that are learned from first.
  number: tf.Tensor  # [] int32 of these.
  weight: tf.Tensor  # [] how many samples each of them stands for.


class _Programs:
  """The steps of an update for the worlds of one entity count.

  Attributes:
    rows_per_microbatch: segments that a gradient is computed of at once.
    prepare: of roll-outs, samples to learn from.
    order: in which to learn from them.
    gradient: of one minibatch.
  """

  def __init__(
    self,
    learner: ppo.Learner,
    world: World,
    world_multiple: int,
    compiled: Compiled,
    over_replicas: Sum | None,
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
    # Made when it is first asked for; few runs center rewards.
    return self._compiled(self._sum_rewards)

  def mean_reward(self, batch: RolloutBatch) -> tf.Tensor:
    """Returns the mean reward [roles] of the roll-outs of all replicas."""
    sums = self._reward_sums(batch)
    total, number = self._over_replicas(sums) if self._over_replicas else sums
    return total / number

  def prepare(
    self, batch: RolloutBatch, mean_reward: tf.Tensor | None = None
  ) -> tuple[ppo.Samples, sums_lib.Sums]:
    """Returns the samples to learn from, and their sums.

    Args:
      batch: roll-outs.
      mean_reward: [roles] to center rewards by, if they are; None for the mean
        of these.
    """
    is_shared = self._learner.config.center_rewards and self._over_replicas
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
    rows = steps // self._learner.segment_length  # Of a world.
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
    """Returns how many rows an epoch learns from at most."""
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
  """The passes over the roll-outs of an iteration."""

  def __init__(
    self,
    learner: ppo.Learner,
    worlds: Sequence[World],
    world_multiple: int,
    compiled: Compiled = lambda function: function,
    over_replicas: Sum | None = None,
    num_replicas: int = 1,
  ) -> None:
    """Makes the programs.

    Args:
      learner: whose policy and value to improve.
      worlds: one for each entity count.
      world_multiple: each number of worlds that counts is a multiple of it.
      compiled: compiles a function.
      over_replicas: sums what several processes have found; None for one.
      num_replicas: how many these are.
    """
    self._sum = over_replicas or (lambda tree: tree)
    self._config = learner.config
    self.counts = [
      _Programs(
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
      batches: by index of the entity count, of `worlds`.
      seed: of the order of samples.

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
  """Returns int32 [T * B]: rows of the first `size` worlds, shuffled, first."""
  rows = tf.range(num_steps * num_worlds)
  score = randomness.uniform(seed, [num_steps * num_worlds])
  return tf.argsort(tf.where(rows % num_worlds < size, score, 2.0))


def _added(trees: list) -> Any:
  """Returns the sum, leaf by leaf, of structures of tensors."""
  if len(trees) == 1:
    return trees[0]
  return tf.nest.map_structure(lambda *x: tf.add_n(x), *trees)
