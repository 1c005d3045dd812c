# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Recurrent policy and value of one role (paper, appendix, hide-and-seek).

The agent and the entities that it observes become tokens. After self-attention,
their mean passes through two dense layers into a GRU. Policy and value share no
parameters, and each agent has its own recurrent state in both. No parameter has
a shape that depends on the number of agents or entities.
"""

from collections.abc import Mapping

import numpy as np
import sonnet as snt
import tensorflow as tf

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import blocks
from vacl_tf.networks import distributions
from vacl_tf.networks import gru
from vacl_tf.networks import multi_head
from vacl_tf.networks import views


class Attention(snt.Module):
  """Self-attention with normalised input and a residual connection."""

  def __init__(self, rng: np.random.Generator, size: int, gain: float) -> None:
    super().__init__(name='attention')
    self.affine = blocks.Affine(size)
    self.query, self.key, self.value, self.out = (
      blocks.Folded(rng, size, size, gain_of_layer, name)
      for name, gain_of_layer in (
        ('query', gain),
        ('key', gain),
        ('value', 1.0),
        ('out', 1.0),
      )
    )

  def __call__(
    self, tokens: tf.Tensor, mask: tf.Tensor | None = None
  ) -> tf.Tensor:
    """Returns tokens [N, S, H] after `multi_head.attend`."""
    num_tokens, size = tf.shape(tokens)[1], tokens.shape[2]
    size_of_head = size // config.NUM_HEADS
    x = blocks.standardize(tf.reshape(tokens, [-1, size]))
    layers = (self.query, self.key, self.value)
    found = blocks.side_by_side(layers, x, (self.affine,))
    query, key, value = tf.split(
      tf.reshape(found, [-1, num_tokens, 3 * config.NUM_HEADS, size_of_head]),
      3,
      2,
    )
    found = multi_head.attend(size_of_head**-0.5 * query, key, value, mask)
    found = self.out(tf.reshape(found, [-1, size]), ())
    return tokens + tf.reshape(found, [-1, num_tokens, size])


class Core(snt.Module):
  """Maps observations of consecutive steps to recurrent states."""

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.RecurrentConfig,
  ) -> None:
    super().__init__(name='core')
    size = cfg.hidden_size
    self._view = views.View(role, cfg)
    own_size = self._view.role.own_size
    entity_sizes = self._view.role.entity_sizes
    self._activation = blocks.ACTIVATIONS[cfg.activation]
    self.own = blocks.Folded(rng, own_size, size, name='own')
    self.entity = {
      kind: blocks.Folded(rng, own_size + seen_size, size, name=kind)
      for kind, seen_size in entity_sizes.items()
    }
    self.attention = Attention(rng, size, cfg.attention_gain)
    self.affine = blocks.Affine(size)
    self.first = blocks.Folded(rng, size + own_size, size, 1.0, 'first')
    self.second = blocks.Folded(rng, size, size, 1.0, 'second')
    self.memory = gru.Gru(rng, size, size)

  def __call__(
    self,
    observation: types.Observation,
    memory: tf.Tensor,
    is_first: tf.Tensor | tuple = (),
  ) -> tuple[tf.Tensor, views.Restore | None]:
    """Returns the memories after each step.

    Args:
      observation: leaves [L, B, n, ...].
      memory: [B, n, H] before the first step.
      is_first: bool [L, B], True where the memory is reset to zero before the
        step; () for nowhere.

    Returns:
      The memories [L, B, n, H], and the function that restores outputs, if any;
      see `views.View`.
    """
    seen, restore = self._view(observation)
    steps, size = seen.own.shape[0], memory.shape[-1]
    own = tf.reshape(seen.own, [-1, seen.own.shape[-1]])
    # Instead of a -1, which is undefined if there are no entities.
    num_rows = tf.shape(own)[0]
    entities = {
      kind: tf.reshape(x, [num_rows, tf.shape(x)[-2], x.shape[-1]])
      for kind, x in seen.entities.items()
    }
    slots = {kind: tf.shape(entities[kind])[:2] for kind in self.entity}
    mask = multi_head.presence(slots, seen.masks)
    tokens = self.attention(self._tokens(own, entities), mask)
    shape = tf.shape(tokens)
    tokens = blocks.standardize(tf.reshape(tokens, [-1, size]))
    # Applied after the mean, with which it commutes.
    mean = self.affine(_mean(tf.reshape(tokens, shape), mask))
    x = self._activation(self.first(tf.concat([mean, own], -1), ()))
    x = self._activation(self.second(x, ()))
    x = tf.reshape(x, [steps, -1, size])
    if not isinstance(is_first, tuple):
      is_first = tf.repeat(is_first, tf.shape(memory)[1], axis=1)
    hidden = self.memory(x, tf.reshape(memory, [-1, size]), is_first)
    shape = tf.concat([[steps], tf.shape(memory)], 0)
    return tf.reshape(hidden, shape), restore

  def _tokens(
    self, own: tf.Tensor, entities: Mapping[str, tf.Tensor]
  ) -> tf.Tensor:
    """Returns [N, S, H]: the agent itself, then the entities it observes."""
    tokens = [self._activation(self.own(own, ()))[:, None]]
    for kind, layer in self.entity.items():
      seen, slots = entities[kind], tf.shape(entities[kind])[:2]
      seen_size = seen.shape[-1]
      # The product W [entity, own] without concatenating `own` to each entity.
      seen = tf.matmul(tf.reshape(seen, [-1, seen_size]), layer.w[:seen_size])
      mine = tf.matmul(own, layer.w[seen_size:]) + layer.b
      seen = tf.reshape(seen, [*tf.unstack(slots), mine.shape[-1]])
      tokens.append(self._activation(seen + mine[:, None]))
    return tf.concat(tokens, 1)


def _mean(tokens: tf.Tensor, mask: tf.Tensor | None) -> tf.Tensor:
  """Returns the mean [N, H] of the tokens [N, S, H] that are present."""
  if mask is None:
    return tf.reduce_mean(tokens, 1)
  weights = tf.cast(mask, tf.float32)[..., None]
  total = tf.reduce_sum(weights * tokens, 1)
  return total / tf.reduce_sum(weights, 1)


class Policy(snt.Module):
  """Maps observations to the parameters of actions."""

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.RecurrentConfig,
    predicts_way: bool,
  ) -> None:
    """Creates the variables.

    Args:
      rng: generator of the initial variables.
      role: the role that has the policy.
      cfg: constants of the networks.
      predicts_way: whether `predicted_way` is needed.
    """
    super().__init__(name='policy')
    self.core = Core(rng, role, cfg)
    num_outputs = distributions.num_outputs(role.action)
    self.logits = blocks.Folded(
      rng, cfg.hidden_size, num_outputs, blocks.ACTION_GAIN, 'logits'
    )
    if predicts_way:
      self.way = blocks.Folded(rng, cfg.hidden_size, 2, name='way')

  def __call__(
    self,
    observation: types.Observation,
    memory: tf.Tensor,
    is_first: tf.Tensor | tuple = (),
  ) -> tuple[tf.Tensor, views.Restore | None]:
    """Returns the memories [L, B, n, H] after each step; see `Core`."""
    return self.core(observation, memory, is_first)

  def outputs(self, hidden: tf.Tensor) -> tf.Tensor:
    """Returns [..., A] of memories [..., H]; see `distributions.make`."""
    return _of_last_axis(self.logits, hidden)

  def predicted_way(self, hidden: tf.Tensor) -> tf.Tensor:
    """Returns ways [..., 2] to the position, in metres, from [..., H]."""
    return _of_last_axis(self.way, hidden)


class Value(snt.Module):
  """Maps the critic's observations to values."""

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.RecurrentConfig,
  ) -> None:
    super().__init__(name='value')
    self.core = Core(rng, role, cfg)
    self.value = blocks.Folded(rng, cfg.hidden_size, 1, name='value')

  def __call__(
    self,
    observation: types.Observation,
    memory: tf.Tensor,
    is_first: tf.Tensor | tuple = (),
  ) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns values [L, B, n] and the memories after each step; see `Core`."""
    hidden, _ = self.core(observation.of_critic(), memory, is_first)
    return _of_last_axis(self.value, hidden)[..., 0], hidden


def _of_last_axis(layer: blocks.Folded, x: tf.Tensor) -> tf.Tensor:
  """Returns the layer's output [..., A] for x [..., H]."""
  found = layer(tf.reshape(x, [-1, x.shape[-1]]), ())
  shape = tf.concat([tf.shape(x)[:-1], [found.shape[-1]]], 0)
  return tf.reshape(found, shape)
