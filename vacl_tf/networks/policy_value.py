# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Policy and centralised value of every role (sheet, sections 5.2 to 5.4).

Neither has a parameter whose shape depends on the number of agents or
entities. Policies and values share no parameters, of one role or of several.
"""

import numpy as np
import sonnet as snt
import tensorflow as tf
import tensorflow_probability as tfp

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import attention
from vacl_tf.networks import blocks
from vacl_tf.networks import frames


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
    self._view = frames.View(role, cfg)
    self.encoder = attention.make_encoder(rng, self._view.role, cfg)
    self.logits = blocks.Folded(rng, size, role.num_actions, blocks.ACTION_GAIN)

  def __call__(self, observation: types.Observation) -> tf.Tensor:
    """Returns logits [B, n, A]."""
    observation, frame = self._view(observation)
    code = self.encoder(observation)
    logits = self.logits(code, (self.encoder.affine,))
    logits = _by_agent(logits, observation.own)
    return logits if frame is None else frames.restore(logits, frame)


class Value(snt.Module):
  """The observations of all agents to one value for each agent of a role.

  Each observation is encoded once, by an encoder for its role; then the
  encoding of every agent of this role queries those of all agents.
  """

  def __init__(
    self,
    rng: np.random.Generator,
    roles: tuple[types.Role, ...],
    index: int,
    cfg: config.NetworkConfig,
  ) -> None:
    """Initialises the value of roles[index]."""
    super().__init__(name=f'{roles[index].name}_value')
    size = cfg.hidden_size
    self._index = index
    self._views = [frames.View(role, cfg) for role in roles]
    roles = tuple(view.role for view in self._views)
    self.encoder = attention.make_encoder(rng, roles[index], cfg)
    self.attention = attention.Attention(rng, size, cfg.attention_gain)
    self.head = blocks.Block(rng, size, size, cfg.activation, 'head')
    self.value = blocks.Folded(rng, size, 1)
    self.others = [
      attention.make_encoder(rng, role, cfg) for role in _without(roles, index)
    ]

  def __call__(self, observations: types.Observations) -> tf.Tensor:
    """Returns values [B, n] of the observations of all roles."""
    pairs = zip(self._views, observations, strict=True)
    observations = tuple(view(observation)[0] for view, observation in pairs)
    own = observations[self._index].own
    code, affine = self.encoder(observations[self._index]), self.encoder.affine
    if self.others:  # Keys of several affines: they are applied, not folded.
      code = affine(code)
      others = self._encode_others(observations)
      team = tf.concat([_by_agent(code, own), *others], 1)
      head = self.head(self.attention(code, team))
    else:
      team = _by_agent(code, own)  # [B, n, H]
      head = self.head(self.attention(code, team, (affine, affine)), affine)
    return _by_agent(self.value(head, (self.head.affine,)), own)[..., 0]

  def _encode_others(self, observations: types.Observations) -> list[tf.Tensor]:
    """Returns the encodings [B, n, H] of the agents of each other role."""
    others = _without(observations, self._index)
    return [
      _by_agent(encoder.affine(encoder(observation)), observation.own)
      for encoder, observation in zip(self.others, others, strict=True)
    ]


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
    self.values = [Value(rng, roles, index, cfg) for index in range(len(roles))]

  def logits(self, observations: types.Observations) -> tuple[tf.Tensor, ...]:
    """Returns logits [B, n, A] per role."""
    pairs = zip(self.policies, observations, strict=True)
    return tuple(policy(observation) for policy, observation in pairs)

  def distributions(
    self, observations: types.Observations
  ) -> tuple[tfp.distributions.Categorical, ...]:
    """Returns the distribution of actions [B, n] per role."""
    return tuple(
      tfp.distributions.Categorical(logits=logits)
      for logits in self.logits(observations)
    )

  def value(self, observations: types.Observations) -> tuple[tf.Tensor, ...]:
    """Returns values [B, n] per role."""
    return tuple(value(observations) for value in self.values)


def _without(items: tuple, index: int) -> tuple:
  """Returns all items but one."""
  return (*items[:index], *items[index + 1 :])


def _by_agent(x: tf.Tensor, own: tf.Tensor) -> tf.Tensor:
  """Returns [B, n, F] of x [B * n, F], with B and n taken from `own`."""
  return tf.reshape(x, tf.concat([tf.shape(own)[:2], [x.shape[-1]]], 0))
