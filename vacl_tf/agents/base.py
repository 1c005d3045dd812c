# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The contract of an agent, which acts and which the learner evaluates.

An agent has the networks of all roles. Its memory is any structure of tensors,
() if it has none. It chooses its own distributions of actions. See docs/guides
for an agent in one file.
"""

import abc
from collections.abc import Callable, Sequence
from typing import NamedTuple

import sonnet as snt
import tensorflow as tf

from vacl_tf import types
from vacl_tf.networks import distributions

Observe = Callable[[types.State], types.Observations]
Distributions = tuple[distributions.Distribution, ...]  # Per role.
NumAgents = Sequence[int | tf.Tensor]  # Per role.


class Evaluation(NamedTuple):
  """What the loss is computed from."""

  distributions: Distributions  # Of actions [N * L, n, ...].
  values: tuple[tf.Tensor, ...]  # [N * L, n]
  loss: tf.Tensor  # [] auxiliary loss, added to the learner's.


class Agent(tf.Module, abc.ABC):
  """Policies and values of all roles; all variables exist from the start.

  Attributes:
    policies: modules whose trainable variables one optimiser updates.
    values: modules whose trainable variables the other one updates.
    segment_length: consecutive steps of a segment in `evaluate` (L).
  """

  policies: Sequence[snt.Module]
  values: Sequence[snt.Module]
  segment_length: int = 1

  @property
  def others(self) -> tuple[tf.Variable, ...]:
    """Variables that no optimiser updates, such as running moments."""
    learned = set(map(id, trainable([*self.policies, *self.values])))
    return tuple(x for x in self.variables if id(x) not in learned)

  def initial_memory(
    self, num_worlds: int | tf.Tensor, num_agents: NumAgents
  ) -> types.Memory:
    """Returns the memory [B, ...] of the policies at the start."""
    del num_worlds, num_agents
    return ()

  def initial_value_memory(
    self, num_worlds: int | tf.Tensor, num_agents: NumAgents
  ) -> types.Memory:
    """Returns the memory [B, ...] of the values at the start."""
    del num_worlds, num_agents
    return ()

  @abc.abstractmethod
  def act(
    self, observations: types.Observations, memory: types.Memory
  ) -> tuple[Distributions, types.Memory]:
    """Returns distributions of actions [B, n, ...], and the memory [B, ...]."""

  @abc.abstractmethod
  def unroll_values(
    self,
    observe: Observe,
    states: types.State,
    memory: types.Memory,
    is_first: tf.Tensor | tuple = (),
  ) -> tuple[tuple[tf.Tensor, ...], types.Memory]:
    """Returns the values along episodes.

    Args:
      observe: returns the observations of states [B, ...].
      states: leaves [T, B, ...].
      memory: memory of the values before the first step, leaves [B, ...].
      is_first: bool [T, B]; see `types.Sequence`.

    Returns:
      Values [T, B, n] per role, and the memory [T, B, ...] before each step.
    """

  @abc.abstractmethod
  def evaluate(self, sequence: types.Sequence) -> Evaluation:
    """Evaluates policies and values on all steps of N segments."""


def drawn(
  distributions: Distributions, numbers: tuple[tf.Tensor, ...]
) -> tuple[types.Actions, tuple[tf.Tensor, ...]]:
  """Returns actions and their log-probabilities, per role.

  Args:
    distributions: distributions of actions, per role.
    numbers: uniform numbers [B, n, ...] per role, see `Distribution.draw`.
  """
  actions = tuple(
    x.draw(number) for x, number in zip(distributions, numbers, strict=True)
  )
  log_probs = tuple(
    x.log_prob(action) for x, action in zip(distributions, actions, strict=True)
  )
  return actions, log_probs


class FeedForwardAgent(Agent):
  """An agent without a memory, which treats each step separately."""

  @abc.abstractmethod
  def distributions(self, observations: types.Observations) -> Distributions:
    """Returns distributions of actions [B, n, ...]."""

  @abc.abstractmethod
  def value(self, observations: types.Observations) -> tuple[tf.Tensor, ...]:
    """Returns values [B, n]."""

  def act(
    self, observations: types.Observations, memory: types.Memory
  ) -> tuple[Distributions, types.Memory]:
    return self.distributions(observations), memory

  def unroll_values(
    self,
    observe: Observe,
    states: types.State,
    memory: types.Memory,
    is_first: tf.Tensor | tuple = (),
  ) -> tuple[tuple[tf.Tensor, ...], types.Memory]:
    del is_first  # There is no memory to reset.

    @tf.autograph.experimental.do_not_convert  # Takes seconds.
    def of_step(state: types.State) -> tuple[tf.Tensor, ...]:
      return self.value(observe(state))

    # Step by step: the activations of all steps at once would fill memory.
    first = observe(tf.nest.map_structure(lambda x: x[0], states))
    roles = tuple(tf.float32 for _ in first)
    return tf.map_fn(of_step, states, fn_output_signature=roles), memory

  def evaluate(self, sequence: types.Sequence) -> Evaluation:
    steps = merged(sequence.observations)
    return Evaluation(
      self.distributions(steps), self.value(steps), tf.constant(0.0)
    )


def trainable(modules: Sequence[tf.Module]) -> tuple[tf.Variable, ...]:
  """Returns the variables that an optimiser updates, each of them once."""
  # Roles may share a module, which is then in a list twice. Sonnet's property
  # of trainable variables raises an error if a module has none.
  found = {id(x): x for module in modules for x in module.variables}
  return tuple(x for x in found.values() if x.trainable)


def merged(tree: types.State) -> types.State:
  """Returns leaves [N, L, ...] as [N * L, ...]."""
  return tf.nest.map_structure(
    lambda x: tf.reshape(x, [-1, *x.shape[2:]]), tree
  )


def observe_sequence(
  observe: Observe, states: types.State
) -> types.Observations:
  """Returns the observations [N, L, n, ...] of states [N, L, ...]."""
  num, length = tf.nest.flatten(states)[0].shape[:2]
  return tf.nest.map_structure(
    lambda x: tf.reshape(x, [num, length, *x.shape[1:]]),
    observe(merged(states)),
  )
