# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Policy and centralised value of a role, by attention over entities.

No parameter has a shape that depends on the number of agents or entities
(paper, appendix, Figure 11).
"""

import numpy as np
import sonnet as snt
import tensorflow as tf

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import attention
from vacl_tf.networks import blocks
from vacl_tf.networks import distributions
from vacl_tf.networks import views


class Policy(snt.Module):
  """Maps each agent's observation to the parameters of its action."""

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.AttentionConfig,
  ) -> None:
    super().__init__(name=f'{role.name}_policy')
    self._view = views.View(role, cfg)
    self.encoder = attention.make_encoder(rng, self._view.role, cfg)
    num_outputs = distributions.num_outputs(role.action)
    self.logits = blocks.Folded(
      rng, cfg.hidden_size, num_outputs, blocks.ACTION_GAIN
    )

  def __call__(self, observation: types.Observation) -> tf.Tensor:
    """Returns outputs [B, n, A] for `distributions.make`."""
    observation, restore = self._view(observation)
    encoding = self.encoder(observation)
    logits = self.logits(encoding, (self.encoder.affine,))
    logits = _by_agent(logits, observation.own)
    return logits if restore is None else restore(logits)


class Value(snt.Module):
  """Maps the observations of all agents to a value per agent of one role.

  Each observation is encoded once, by an encoder for its role. The encoding of
  each agent of this role then attends to those of all agents.
  """

  def __init__(
    self,
    rng: np.random.Generator,
    roles: tuple[types.Role, ...],
    index: int,
    cfg: config.AttentionConfig,
  ) -> None:
    """Initialises the value of roles[index]."""
    super().__init__(name=f'{roles[index].name}_value')
    size = cfg.hidden_size
    self._index = index
    self._views = [views.View(role, cfg) for role in roles]
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
    observations = tuple(view(seen.of_critic())[0] for view, seen in pairs)
    own = observations[self._index].own
    code, affine = self.encoder(observations[self._index]), self.encoder.affine
    if self.others:  # Keys have several affines, which can't be folded.
      code = affine(code)
      others = self._encode_others(observations)
      team = tf.concat([_by_agent(code, own), *others], 1)
      head = self.head(self.attention(code, team, own.shape[1]))
    else:
      team = _by_agent(code, own)  # [B, n, H]
      found = self.attention(code, team, own.shape[1], (affine, affine))
      head = self.head(found, affine)
    return _by_agent(self.value(head, (self.head.affine,)), own)[..., 0]

  def _encode_others(self, observations: types.Observations) -> list[tf.Tensor]:
    """Returns the encodings [B, n, H] of the agents of each other role."""
    others = _without(observations, self._index)
    return [
      _by_agent(encoder.affine(encoder(observation)), observation.own)
      for encoder, observation in zip(self.others, others, strict=True)
    ]


def _without(items: tuple, index: int) -> tuple:
  """Returns all items but one."""
  return (*items[:index], *items[index + 1 :])


def _by_agent(x: tf.Tensor, own: tf.Tensor) -> tf.Tensor:
  """Returns [B, n, F] of x [B * n, F], with B and n taken from `own`."""
  return tf.reshape(x, tf.concat([tf.shape(own)[:2], [x.shape[-1]]], 0))
