# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Proximal policy optimisation of networks with a memory.

Episodes are cut into chunks of equal length, each of which begins with the
memories that the networks had there when the episode was played; gradients go
back to the beginning of a chunk (hide-and-seek sheet, section 7.2).
"""

from typing import Protocol

import tensorflow as tf

from vacl_tf import config
from vacl_tf import types
from vacl_tf.learning import chunks
from vacl_tf.learning import ppo


class Network(ppo.Network, Protocol):
  """Policies and values that remember."""

  hidden_size: int
  recalls: bool

  def recall(
    self, past: types.Remembered
  ) -> tuple[tuple[ppo.Distribution, ...], tf.Tensor]:
    """Returns distributions, and errors [B, L, n, 2] of a way, in metres."""

  def unroll_value(
    self, seen: types.Seen, memory: tf.Tensor
  ) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the values of consecutive steps, and the memories after them."""


class Learner(ppo.Learner):
  """A row of its samples is a chunk of an episode; leaves [rows, L, ...]."""

  def __init__(self, network: Network, cfg: config.PpoConfig) -> None:
    super().__init__(network, cfg)
    self.steps_per_row = cfg.chunk_length

  def prepare(
    self,
    trajectory: types.Trajectory,
    size: tf.Tensor,
    block: int,
    observe: ppo.Observe,
    is_terminal: bool,
  ) -> tuple[ppo.Samples, ppo.Sums]:
    """Returns samples with advantages and returns, and their sums.

    Args:
      trajectory: whole episodes of B worlds, with states `types.Seen` and
        the policy's memories before them, [T, B, ...].
      size: [] int32 the worlds that count, a multiple of `block`.
      block: worlds that are looked at together.
      observe: what was stored to (Seen, policy's memories).
      is_terminal: true; the last step of an episode ends the world.

    Returns:
      Samples [T / L * B, L, ...] whose states are `types.Remembered`, the
      world being the faster index, and their sums over the worlds that count.
    """
    seen, memory = observe(trajectory.state)
    assert is_terminal  # Otherwise the state after the end would be needed.
    values, value_memory = self._unroll(seen, size, block)
    values = tf.concat([values, tf.zeros_like(values[:1])], 0)
    state = types.Remembered(seen, memory, value_memory)
    samples, sums = self._credited(
      trajectory._replace(state=state), (values,), size, is_terminal
    )
    rows = tf.nest.map_structure(self._cut, samples)
    # Of the memories only those before a chunk.
    state = rows.state._replace(
      policy_memory=rows.state.policy_memory[:, 0],
      value_memory=rows.state.value_memory[:, 0],
    )
    return rows._replace(state=state), sums

  def _reconsider(
    self, observations: types.Remembered
  ) -> tuple[tuple[ppo.Distribution, ...], tf.Tensor]:
    if not self._network.recalls:
      return super()._reconsider(observations)
    distributions, error = self._network.recall(observations)
    # Half its square near 0, the distance less 1 far away.
    distance = tf.sqrt(1.0 + tf.reduce_sum(error * error, -1)) - 1.0
    return distributions, self.config.recall_cost * tf.reduce_mean(distance)

  def _unroll(
    self, seen: types.Seen, size: tf.Tensor, block: int
  ) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns values [T, B, n], and the memories [T, B, n, H] before them.

    Args:
      seen: of whole episodes, [T, B, ...].
      size: see `prepare`.
      block: see `prepare`.
    """
    num_worlds, num_agents = seen.own.shape[1:3]
    start = tf.zeros([block, num_agents, self._network.hidden_size])

    def of_block(begin: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      mine = chunks.worlds(seen, begin, block)
      values, memory = self._network.unroll_value(mine, start)
      return values, tf.concat([start[None], memory[:-1]], 0)

    return chunks.over_worlds(of_block, num_worlds, block, size)

  def _cut(self, x: tf.Tensor) -> tf.Tensor:
    """Returns chunks [T / L * B, L, ...] of episodes [T, B, ...]."""
    steps, worlds, *rest = x.shape
    length = self.steps_per_row
    x = tf.reshape(x, [steps // length, length, worlds, *rest])
    x = tf.transpose(x, [0, 2, 1, *range(3, x.shape.rank)])
    return tf.reshape(x, [-1, length, *rest])
