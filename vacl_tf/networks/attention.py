# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Attention over entities, and encoders (sheet, sections 5.1 and 5.4)."""

from collections.abc import Mapping

import numpy as np
import sonnet as snt
import tensorflow as tf

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import blocks

_ABSENT = -1e9  # Score of a slot with nothing in it.


def attend(
  query: tf.Tensor, keys: tf.Tensor, mask: tf.Tensor | None
) -> tf.Tensor:
  """Returns the keys' mean, weighted by the softmax of their scores.

  Args:
    query: [N, q, H].
    keys: [N, m, H].
    mask: bool [N, m], True = present; None = all present.

  Returns:
    [N, q, H].
  """
  size = keys.shape[-1]
  keys = tf.expand_dims(keys, 1)
  products = tf.expand_dims(query, 2) * keys  # [N, q, m, H]
  # A matrix-vector product again, see `blocks.standardize`.
  scores = tf.matmul(tf.reshape(products, [-1, size]), tf.ones([size, 1]))
  scores = tf.reshape(scores, tf.shape(products)[:3])
  if mask is not None:
    scores = tf.where(tf.expand_dims(mask, 1), scores, _ABSENT)
  weights = tf.nn.softmax(scores, -1)
  return tf.reduce_sum(tf.expand_dims(weights, 3) * keys, 2)


class Attention(snt.Module):
  """Bilinear scores, one head; what is summed are the keys themselves.

  With keys k = scale * x + offset the offset shifts all scores of a query
  alike, so the softmax does not see it, and the scale can move to the query.
  The result is normalised as x is, with the affine of the keys.
  """

  def __init__(
    self,
    rng: np.random.Generator,
    size: int,
    gain: float,
    name: str = 'attention',
  ) -> None:
    super().__init__(name=name)
    self.w = tf.Variable(blocks.orthogonal(rng, size, size, gain), name='w')

  def __call__(
    self,
    query: tf.Tensor,
    keys: tf.Tensor,
    affines: tuple[blocks.Affine, blocks.Affine] | None = None,
    mask: tf.Tensor | None = None,
  ) -> tf.Tensor:
    """Returns the keys' mean for each query.

    Args:
      query: [N * q, H].
      keys: [N, m, H].
      affines: of query and keys, to be folded; None if they are applied.
      mask: see `attend`.

    Returns:
      [N * q, H], with the affine of the keys left to the reader.
    """
    size = keys.shape[-1]
    if affines is None:
      query = tf.matmul(query, self.w)
    else:
      of_query, of_keys = affines
      weight = self.w * of_keys.scale
      bias = tf.linalg.matvec(weight, of_query.offset, transpose_a=True)
      scale = tf.expand_dims(of_query.scale, 1)
      query = tf.matmul(query, scale * weight) + bias
    num_keys = tf.shape(keys)[0]
    query = tf.reshape(query, tf.stack([num_keys, -1, size]))
    return tf.reshape(attend(query, keys, mask), [-1, size])


class Encoder(snt.Module):
  """Encodes what one agent sees into H numbers, for any number of entities."""

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.NetworkConfig,
    name: str = 'encoder',
  ) -> None:
    super().__init__(name=name)
    size, activation = cfg.hidden_size, cfg.activation
    self._kinds = tuple(role.entity_sizes)
    num_parts = 1 + len(self._kinds)
    self.own = blocks.Block(rng, role.own_size, size, activation, 'own')
    self.entity: Mapping[str, blocks.Block] = {
      kind: blocks.Block(rng, role.entity_sizes[kind], size, activation, kind)
      for kind in self._kinds
    }
    self.attention = {
      kind: Attention(rng, size, cfg.attention_gain) for kind in self._kinds
    }
    self.self_block = blocks.Block(rng, size, size, activation, 'self')
    self.mix = blocks.Block(rng, num_parts * size, size, activation, 'mix')
    self.out = blocks.Block(rng, size, size, activation, 'out')

  @property
  def affine(self) -> blocks.Affine:
    """Of the encoding, for its reader to fold."""
    return self.out.affine

  def __call__(self, observation: types.Observation) -> tf.Tensor:
    """Returns normalised encodings [B * n, H] of an observation [B, n, ...]."""
    own = self.own(_rows(observation.own))
    parts = [self.self_block(own, self.own.affine)]
    affines = [self.self_block.affine]
    for kind in self._kinds:
      block, seen = self.entity[kind], observation.entities[kind]
      num_slots = tf.shape(seen)[2]
      keys = block(_rows(seen))
      keys = tf.reshape(keys, [-1, num_slots, keys.shape[-1]])
      mask = observation.masks.get(kind)
      mask = None if mask is None else _rows(mask)
      parts.append(
        self.attention[kind](own, keys, (self.own.affine, block.affine), mask)
      )
      affines.append(block.affine)
    mixed = self.mix(tf.concat(parts, -1), *affines)
    return self.out(mixed, self.mix.affine)


class OwnEncoder(snt.Module):
  """Encodes what one agent sees where that is no entity (section 5.4)."""

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.NetworkConfig,
    name: str = 'encoder',
  ) -> None:
    super().__init__(name=name)
    self.own = blocks.Block(
      rng, role.own_size, cfg.hidden_size, cfg.activation, 'own'
    )

  @property
  def affine(self) -> blocks.Affine:
    """Of the encoding, for its reader to fold."""
    return self.own.affine

  def __call__(self, observation: types.Observation) -> tf.Tensor:
    """Returns normalised encodings [B * n, H] of an observation [B, n, F]."""
    return self.own(_rows(observation.own))


def make_encoder(
  rng: np.random.Generator, role: types.Role, cfg: config.NetworkConfig
) -> Encoder | OwnEncoder:
  """Returns the encoder of what the agents of a role see."""
  make = Encoder if role.entity_sizes else OwnEncoder
  return make(rng, role, cfg)


def _rows(x: tf.Tensor) -> tf.Tensor:
  """Returns x with all axes but the last one flattened into one."""
  return tf.reshape(x, [-1, tf.shape(x)[-1]])
