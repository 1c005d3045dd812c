# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Attention over entities, and encoders of observations.

Follows the paper's appendix (training details, Figure 11) and the released
code.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import sonnet as snt
import tensorflow as tf

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import blocks
from vacl_tf.networks import multi_head
from vacl_tf.networks import relations

_MATRIX = 16  # From this number of keys on, a matrix product is faster.


def attend(
  query: tf.Tensor, keys: tf.Tensor, mask: tf.Tensor | None
) -> tf.Tensor:
  """Returns dot-product attention in which the keys are also the values.

  Args:
    query: [N, q, H].
    keys: [N, m, H].
    mask: bool [N, m], True = present; None if all keys are present.

  Returns:
    [N, q, H], zero where no key is present.
  """
  # On a CPU many small matrix products are slower than sums of products, but
  # those of a single query are not.
  is_small = query.shape[1] != 1 and (keys.shape[1] or 0) < _MATRIX
  if is_small:
    size = keys.shape[-1]
    products = tf.expand_dims(query, 2) * tf.expand_dims(keys, 1)
    scores = blocks.sum_columns(tf.reshape(products, [-1, size]))
    scores = tf.reshape(scores, tf.shape(products)[:3])
  else:
    scores = tf.matmul(query, keys, transpose_b=True)
  if mask is not None:
    scores = tf.where(tf.expand_dims(mask, 1), scores, multi_head.ABSENT)
  weights = tf.nn.softmax(scores, -1)
  if mask is not None:  # If all keys are absent, they would share the weight.
    weights = tf.where(tf.expand_dims(mask, 1), weights, 0.0)
  if is_small:
    return tf.reduce_sum(
      tf.expand_dims(weights, 3) * tf.expand_dims(keys, 1), 2
    )
  return tf.matmul(weights, keys)


class Attention(snt.Module):
  """Single-head attention with bilinear scores; keys are also the values.

  For keys k = scale * x + offset, the offset adds the same constant to all
  scores of a query and cancels in the softmax, and the scale can be folded into
  the query. The result is a mean of x, so the affine of the keys still has to
  be applied to it.
  """

  def __init__(
    self,
    rng: np.random.Generator,
    size: int,
    gain: float,
  ) -> None:
    super().__init__(name='attention')
    self.w = tf.Variable(blocks.orthogonal(rng, size, size, gain), name='w')

  def __call__(
    self,
    query: tf.Tensor,
    keys: tf.Tensor,
    num_queries: int | None,
    affines: tuple[blocks.Affine, blocks.Affine] | None = None,
    mask: tf.Tensor | None = None,
  ) -> tf.Tensor:
    """Returns the attended keys for each query.

    Args:
      query: [N * q, H].
      keys: [N, m, H].
      num_queries: q; None if it is not known.
      affines: affines of query and keys, to be folded into the weights; None if
        they have been applied to the activations.
      mask: see `attend`.

    Returns:
      [N * q, H]; the caller applies the affine of the keys.
    """
    size = keys.shape[-1]
    if affines is None:
      query = tf.matmul(query, self.w)
    else:
      of_query, of_keys = affines
      weight = self.w * of_keys.scale
      bias = tf.linalg.matvec(weight, of_query.offset, transpose_a=True)
      query = blocks.linear(query, weight, bias, of_query.scale)
    query = tf.reshape(query, [tf.shape(keys)[0], num_queries or -1, size])
    return tf.reshape(attend(query, keys, mask), [-1, size])


class Hop(snt.Module):
  """Attention over the entities of each kind, then two dense blocks."""

  def __init__(
    self,
    rng: np.random.Generator,
    kinds: Sequence[str],
    cfg: config.AttentionConfig,
  ) -> None:
    super().__init__(name='hop')
    size, activation = cfg.hidden_size, cfg.activation
    self.attention = {
      kind: Attention(rng, size, cfg.attention_gain) for kind in kinds
    }
    num_parts = 1 + len(kinds)
    self.mix = blocks.Block(rng, num_parts * size, size, activation, 'mix')
    self.out = blocks.Block(rng, size, size, activation, 'out')

  def __call__(
    self,
    query: blocks.Encoding,
    own: blocks.Encoding,
    entities: Mapping[str, blocks.Encoding],
    masks: Mapping[str, tf.Tensor],
  ) -> blocks.Encoding:
    """Returns one encoding [N, H] for each query.

    Args:
      query: [N, H].
      own: [N, H], concatenated with the attended entities.
      entities: kind -> [N, m, H].
      masks: kind -> bool [N, m], see `attend`; kinds without a mask are
        always present.
    """
    parts, affines = [own.x], [own.affine]
    for kind, seen in entities.items():
      pair = query.affine, seen.affine
      attention, mask = self.attention[kind], masks.get(kind)
      parts.append(attention(query.x, seen.x, 1, pair, mask))
      affines.append(seen.affine)
    mixed = self.mix(tf.concat(parts, -1), *affines)
    return blocks.Encoding(self.out(mixed, self.mix.affine), self.out.affine)


class Encoder(snt.Module):
  """Encodes an agent's observation, for any number of entities.

  The query of the first hop is the agent's own state; the paper has only this
  hop. The query of each further hop is the output of the hop before, so that
  attention can depend on it: first choose a ball, then the landmarks near it.
  With relations, the entities attend to each other before the first hop.
  """

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.AttentionConfig,
  ) -> None:
    super().__init__(name='encoder')
    size, activation = cfg.hidden_size, cfg.activation
    self.own = blocks.Block(rng, role.own_size, size, activation, 'own')
    self.entity: Mapping[str, blocks.Block] = {
      kind: blocks.Block(rng, seen_size, size, activation, kind)
      for kind, seen_size in role.entity_sizes.items()
    }
    self.self_block = blocks.Block(rng, size, size, activation, 'self')
    self.relations = [
      relations.Relation(rng, cfg) for _ in range(cfg.num_relations)
    ]
    self.hops = [Hop(rng, tuple(self.entity), cfg) for _ in range(cfg.num_hops)]

  @property
  def affine(self) -> blocks.Affine:
    """Scale and offset that the layer after the encoder has to fold."""
    return self.hops[-1].out.affine

  def __call__(self, observation: types.Observation) -> tf.Tensor:
    """Returns normalised encodings [B * n, H] of an observation [B, n, ...]."""
    own = blocks.Encoding(self.own(_rows(observation.own)), self.own.affine)
    # Instead of a -1, which is undefined if there are no entities.
    num_rows = tf.shape(own.x)[0]
    entities = {
      kind: self._entities(kind, observation.entities[kind], num_rows)
      for kind in self.entity
    }
    masks = {
      kind: tf.reshape(mask, [num_rows, tf.shape(mask)[2]])
      for kind, mask in observation.masks.items()
    }
    mine = blocks.Encoding(self.self_block(*own), self.self_block.affine)
    for relation in self.relations:
      entities = relation(mine, entities, masks)
    found = self.hops[0](own, mine, entities, masks)
    for hop in self.hops[1:]:
      found = hop(found, found, entities, masks)
    return found.x

  def _entities(
    self, kind: str, seen: tf.Tensor, num_rows: tf.Tensor
  ) -> blocks.Encoding:
    """Returns encodings [B * n, m, H] of entities [B, n, m, F]."""
    block = self.entity[kind]
    x = block(_rows(seen))
    x = tf.reshape(x, [num_rows, tf.shape(seen)[2], x.shape[-1]])
    return blocks.Encoding(x, block.affine)


class OwnEncoder(snt.Module):
  """Encodes the observation of an agent that observes no entities."""

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.AttentionConfig,
  ) -> None:
    super().__init__(name='encoder')
    self.own = blocks.Block(
      rng, role.own_size, cfg.hidden_size, cfg.activation, 'own'
    )

  @property
  def affine(self) -> blocks.Affine:
    """Scale and offset that the layer after the encoder has to fold."""
    return self.own.affine

  def __call__(self, observation: types.Observation) -> tf.Tensor:
    """Returns normalised encodings [B * n, H] of an observation [B, n, F]."""
    return self.own(_rows(observation.own))


def make_encoder(
  rng: np.random.Generator, role: types.Role, cfg: config.AttentionConfig
) -> Encoder | OwnEncoder:
  """Returns the encoder for the observations of a role."""
  make = Encoder if role.entity_sizes else OwnEncoder
  return make(rng, role, cfg)


def _rows(x: tf.Tensor) -> tf.Tensor:
  """Returns x with all axes but the last one flattened into one."""
  return tf.reshape(x, [-1, tf.shape(x)[-1]])
