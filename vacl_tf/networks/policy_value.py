# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Policy and centralised value of every role (sheet, sections 5.2 and 5.3).

Neither has a parameter whose shape depends on the number of agents or
entities. Policy and value share no parameters.
"""

import numpy as np
import sonnet as snt
import tensorflow as tf

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import attention
from vacl_tf.networks import blocks

_ACTION_GAIN = 0.01  # Makes the first policy all but uniform.


class Policy(snt.Module):
  """Observation to logits, each agent by itself."""

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.NetworkConfig,
  ) -> None:
    super().__init__(name=f'{role.name}_policy')
    size = cfg.hidden_size
    self.encoder = attention.Encoder(rng, role, cfg)
    self.logits = blocks.Folded(rng, size, role.num_actions, _ACTION_GAIN)

  def __call__(self, observation: types.Observation) -> tf.Tensor:
    """Returns logits [B, n, A]."""
    code = self.encoder(observation)
    logits = self.logits(code, (self.encoder.affine,))
    return _by_agent(logits, observation.own)


class Value(snt.Module):
  """All agents' observations to one value for each agent.

  Each observation is encoded once; then every agent's encoding queries those
  of all agents.
  """

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.NetworkConfig,
  ) -> None:
    super().__init__(name=f'{role.name}_value')
    size = cfg.hidden_size
    self.encoder = attention.Encoder(rng, role, cfg)
    self.attention = attention.Attention(rng, size, cfg.attention_gain)
    self.head = blocks.Block(rng, size, size, cfg.activation, 'head')
    self.value = blocks.Folded(rng, size, 1)

  def __call__(self, observation: types.Observation) -> tf.Tensor:
    """Returns values [B, n]."""
    code, affine = self.encoder(observation), self.encoder.affine
    team = _by_agent(code, observation.own)  # [B, n, H]
    mixed = self.attention(code, affine, team, affine)
    value = self.value(self.head(mixed, affine), (self.head.affine,))
    return _by_agent(value, observation.own)[..., 0]


class PolicyValue(snt.Module):
  """The networks of all roles."""

  def __init__(
    self,
    roles: tuple[types.Role, ...],
    cfg: config.NetworkConfig,
    seed: int,
  ) -> None:
    """Creates all variables, so that nothing is created inside a graph."""
    super().__init__(name='policy_value')
    rng = np.random.default_rng(seed)
    self.policies = [Policy(rng, role, cfg) for role in roles]
    self.values = [Value(rng, role, cfg) for role in roles]

  def logits(self, observations: types.Observations) -> tuple[tf.Tensor, ...]:
    """Returns logits [B, n, A] per role."""
    pairs = zip(self.policies, observations, strict=True)
    return tuple(policy(observation) for policy, observation in pairs)

  def value(self, observations: types.Observations) -> tuple[tf.Tensor, ...]:
    """Returns values [B, n] per role."""
    pairs = zip(self.values, observations, strict=True)
    return tuple(value(observation) for value, observation in pairs)


def _by_agent(x: tf.Tensor, own: tf.Tensor) -> tf.Tensor:
  """Returns [B, n, F] of x [B * n, F], with B and n taken from `own`."""
  return tf.reshape(x, tf.concat([tf.shape(own)[:2], [x.shape[-1]]], 0))
