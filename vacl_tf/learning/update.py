# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""An update of policy and value from worlds of one or several entity counts.

Each entity count has programs of its own, compiled when it first comes into
play, and takes part in each minibatch in proportion to its worlds. How many
those are is data: a new mixture of counts compiles nothing.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.learning import chunks
from vacl_tf.learning import ppo

Compiled = Callable[[Callable], Callable]


class World(Protocol):
  """What an update must know of the worlds of one entity count."""

  horizon: int
  is_terminal: bool
  num_vectors: int  # That all agents of a world look at in a step.

  def observe(self, state: types.State) -> types.Observations:
    """Returns what the agents see."""


class Experience(NamedTuple):
  """What was lived through with one entity count."""

  trajectory: types.Trajectory  # Of B worlds.
  size: tf.Tensor  # [] int32 how many of them count.


class _Programs:
  """What is worked out for the worlds of one entity count."""

  def __init__(
    self,
    learner: ppo.Learner,
    world: World,
    quantum: int,
    compiled: Compiled,
  ) -> None:
    self._learner = learner
    self._world = world
    self._block = self._at_once(quantum)
    rows = quantum * world.horizon // learner.steps_per_row
    self._rows_per_chunk = self._at_once(rows // learner.config.num_minibatches)
    self.prepare = compiled(self._prepare)
    self.order = compiled(self._order)
    self.gradient = compiled(self._gradient)

  def _at_once(self, rows: int) -> int:
    """Returns how many of `rows` samples to work on together."""
    num_vectors = self._world.num_vectors * self._learner.steps_per_row
    most = self._learner.config.chunk_vectors // num_vectors
    return chunks.largest_divisor(rows, most)

  def _prepare(self, experience: Experience) -> tuple[ppo.Samples, ppo.Sums]:
    return self._learner.prepare(
      *experience, self._block, self._world.observe, self._world.is_terminal
    )

  def _order(
    self, experience: Experience, seed: types.Seed
  ) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the order of rows, and how many of them count."""
    steps, worlds = experience.trajectory.progress.shape
    rows = steps // self._learner.steps_per_row  # Of a world.
    order = ppo.order(seed, rows, worlds, experience.size)
    return order, rows * experience.size

  def _gradient(
    self,
    samples: ppo.Samples,
    order: tuple[tf.Tensor, tf.Tensor],
    minibatch: tf.Tensor,
    scale: ppo.Scale,
  ) -> ppo.Total:
    return self._learner.gradient(
      samples,
      *order,
      minibatch,
      self._rows_per_chunk,
      scale,
      self._world.observe,
    )


class Update:
  """The passes over an iteration's experience."""

  def __init__(
    self,
    learner: ppo.Learner,
    worlds: Sequence[World],
    quantum: int,
    compiled: Compiled = lambda function: function,
  ) -> None:
    """Makes the programs.

    Args:
      learner: whose policy and value to improve.
      worlds: one for each entity count.
      quantum: each number of worlds that counts is a multiple of it.
      compiled: compiles a function.
    """
    self._config = learner.config
    self.counts = [
      _Programs(learner, world, quantum, compiled) for world in worlds
    ]
    self.combine = compiled(learner.combine)
    self.apply = compiled(learner.apply)

  def __call__(
    self, experiences: dict[int, Experience], seed: types.Seed
  ) -> types.Metrics:
    """Makes num_epochs passes over whole episodes.

    Args:
      experiences: by number of the entity count, of `worlds`.
      seed: of the order of samples.

    Returns:
      Means over all steps of the losses and of what tells their health.
    """
    samples, sums = {}, []
    for count, experience in experiences.items():
      samples[count], found = self.counts[count].prepare(experience)
      sums.append(found)
    scale, metrics = self.combine(_added(sums))
    steps = []
    for epoch in range(self._config.num_epochs):
      orders = {
        count: self.counts[count].order(
          experience, randomness.fold(seed, epoch, count)
        )
        for count, experience in experiences.items()
      }
      for minibatch in range(self._config.num_minibatches):
        totals = [
          self.counts[count].gradient(
            samples[count], orders[count], tf.constant(minibatch), scale
          )
          for count in experiences
        ]
        steps.append(self.apply(_added(totals)))
    means = tf.unstack(tf.reduce_mean(tf.stack(steps), 0))
    return metrics | dict(zip(ppo.STEP_METRICS, means, strict=True))


def _added(trees: list) -> Any:
  """Returns the sum, leaf by leaf, of structures of tensors."""
  if len(trees) == 1:
    return trees[0]
  return tf.nest.map_structure(lambda *x: tf.add_n(x), *trees)
