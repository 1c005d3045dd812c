# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Self-attention over entities and a GRU, for agents that have to remember.

Segments start from stored memories. Those of the policy come from the roll-out;
those of the value are recomputed from the start of the episode.
"""

import numpy as np
import tensorflow as tf

from vacl_tf import config
from vacl_tf import types
from vacl_tf.agents import base
from vacl_tf.networks import distributions
from vacl_tf.networks import recurrent


class RecurrentAgent(base.Agent):
  """The paper's networks for hide-and-seek (appendix).

  The memory is a tuple over roles of tensors [B, n, H].
  """

  def __init__(
    self,
    roles: tuple[types.Role, ...],
    cfg: config.RecurrentConfig,
    seed: int,
  ) -> None:
    """Creates all variables, so that nothing is created inside a graph."""
    super().__init__(name='recurrent_agent')
    rng = np.random.default_rng(seed)
    self.segment_length = cfg.segment_length
    self._hidden_size = cfg.hidden_size
    self._position_cost = cfg.auxiliary_position_cost
    self._roles = roles
    self._positions = [
      role.critic_only_position if cfg.auxiliary_position_cost else None
      for role in roles
    ]
    self.policies = [
      recurrent.Policy(rng, role, cfg, bool(position))
      for role, position in zip(roles, self._positions, strict=True)
    ]
    self.values = [recurrent.Value(rng, role, cfg) for role in roles]

  def initial_memory(
    self, num_worlds: int | tf.Tensor, num_agents: base.NumAgents
  ) -> tuple[tf.Tensor, ...]:
    return tuple(
      tf.zeros(tf.stack([num_worlds, num, self._hidden_size]))
      for num in num_agents
    )

  initial_value_memory = initial_memory

  def act(
    self, observations: types.Observations, memory: tuple[tf.Tensor, ...]
  ) -> tuple[base.Distributions, tuple[tf.Tensor, ...]]:
    found, after = [], []
    for role, policy, observation, before in zip(
      self._roles, self.policies, observations, memory, strict=True
    ):
      step = tf.nest.map_structure(lambda x: x[None], observation)
      hidden, restore = policy(step, before)
      outputs = policy.outputs(hidden)
      outputs = outputs if restore is None else restore(outputs)
      found.append(distributions.make(role.action, outputs[0]))
      after.append(hidden[0])
    return tuple(found), tuple(after)

  def unroll_values(
    self,
    observe: base.Observe,
    states: types.State,
    memory: tuple[tf.Tensor, ...],
    is_first: tf.Tensor | tuple = (),
  ) -> tuple[tuple[tf.Tensor, ...], tuple[tf.Tensor, ...]]:
    observations = base.observe_sequence(observe, states)
    values, memories = [], []
    for value, observation, start in zip(
      self.values, observations, memory, strict=True
    ):
      found, after = value(observation, start, is_first)
      values.append(found)
      memories.append(tf.concat([start[None], after[:-1]], 0))
    return tuple(values), tuple(memories)

  def evaluate(self, sequence: types.Sequence) -> base.Evaluation:
    loss = tf.constant(0.0)
    found, values = [], []
    is_first = _time_major(sequence.is_first)
    for index, observation in enumerate(sequence.observations):
      by_time = _time_major(observation)
      policy, value = self.policies[index], self.values[index]
      memory = sequence.policy_memory[index]
      hidden, restore = policy(by_time, memory, is_first)
      hidden = _time_major(hidden)
      outputs = policy.outputs(hidden)
      if restore is not None:
        outputs = _time_major(restore(_time_major(outputs)))
      found.append(
        distributions.make(self._roles[index].action, base.merged(outputs))
      )
      if self._positions[index]:
        loss += self._position_loss(index, hidden, observation)
      judged, _ = value(by_time, sequence.value_memory[index], is_first)
      values.append(base.merged(_time_major(judged)))
    return base.Evaluation(tuple(found), tuple(values), loss)

  def _position_loss(
    self, index: int, hidden: tf.Tensor, observation: types.Observation
  ) -> tf.Tensor:
    """Returns the auxiliary loss of predicting the way to a position.

    Args:
      index: index of the role.
      hidden: [N, L, n, H] memories of the policy.
      observation: leaves [N, L, n, ...]; an agent's own position comes first.
    """
    own = observation.of_critic().own
    way = tf.gather(own, self._positions[index], axis=-1) - own[..., :2]
    error = self.policies[index].predicted_way(hidden) - way
    # About half the square of a small error, and a large error minus 1.
    distance = tf.sqrt(1.0 + tf.reduce_sum(error * error, -1)) - 1.0
    return self._position_cost * tf.reduce_mean(distance)


def _time_major(tree: types.State) -> types.State:
  """Returns leaves [N, L, ...] as [L, N, ...], or the other way round."""

  def swap(x: tf.Tensor) -> tf.Tensor:
    return tf.transpose(x, [1, 0, *range(2, x.shape.rank)])

  return tf.nest.map_structure(swap, tree)
