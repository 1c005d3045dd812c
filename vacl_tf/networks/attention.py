# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Attention over entities, and encoders (sheet, sections 5.1 and 5.4)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

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


class Code(NamedTuple):
  """Normalised numbers, and the affine that is left to their reader."""

  x: tf.Tensor  # [..., H]
  affine: blocks.Affine


class Hop(snt.Module):
  """Attention over the entities of each kind, and what is made of it."""

  def __init__(
    self,
    rng: np.random.Generator,
    kinds: Sequence[str],
    cfg: config.NetworkConfig,
    name: str = 'hop',
  ) -> None:
    super().__init__(name=name)
    size, activation = cfg.hidden_size, cfg.activation
    self.attention = {
      kind: Attention(rng, size, cfg.attention_gain) for kind in kinds
    }
    num_parts = 1 + len(kinds)
    self.mix = blocks.Block(rng, num_parts * size, size, activation, 'mix')
    self.out = blocks.Block(rng, size, size, activation, 'out')

  def __call__(
    self,
    query: Code,
    own: Code,
    entities: Mapping[str, Code],
    masks: Mapping[str, tf.Tensor],
  ) -> Code:
    """Returns one code [N, H] for each query.

    Args:
      query: [N, H] what is asked with.
      own: [N, H] what is mixed with the answers.
      entities: kind -> [N, m, H].
      masks: kind -> bool [N, m], see `attend`; not of all kinds.
    """
    parts, affines = [own.x], [own.affine]
    for kind, seen in entities.items():
      pair = query.affine, seen.affine
      attention, mask = self.attention[kind], masks.get(kind)
      parts.append(attention(query.x, seen.x, pair, mask))
      affines.append(seen.affine)
    mixed = self.mix(tf.concat(parts, -1), *affines)
    return Code(self.out(mixed, self.mix.affine), self.out.affine)


class Encoder(snt.Module):
  """Encodes what one agent sees into H numbers, for any number of entities.

  A first hop asks with the agent's own state and is all that the paper has. A
  further one asks with what the one before has found, so that where to look may
  depend on it: at the landmarks near the ball that was chosen, say.
  """

  def __init__(
    self,
    rng: np.random.Generator,
    role: types.Role,
    cfg: config.NetworkConfig,
    name: str = 'encoder',
  ) -> None:
    super().__init__(name=name)
    size, activation = cfg.hidden_size, cfg.activation
    self.own = blocks.Block(rng, role.own_size, size, activation, 'own')
    self.entity: Mapping[str, blocks.Block] = {
      kind: blocks.Block(rng, seen_size, size, activation, kind)
      for kind, seen_size in role.entity_sizes.items()
    }
    self.self_block = blocks.Block(rng, size, size, activation, 'self')
    self.hops = [Hop(rng, tuple(self.entity), cfg) for _ in range(cfg.num_hops)]

  @property
  def affine(self) -> blocks.Affine:
    """Of the encoding, for its reader to fold."""
    return self.hops[-1].out.affine

  def __call__(self, observation: types.Observation) -> tf.Tensor:
    """Returns normalised encodings [B * n, H] of an observation [B, n, ...]."""
    own = Code(self.own(_rows(observation.own)), self.own.affine)
    entities = {
      kind: self._entities(kind, observation.entities[kind])
      for kind in self.entity
    }
    masks = {kind: _rows(mask) for kind, mask in observation.masks.items()}
    mine = Code(self.self_block(*own), self.self_block.affine)
    code = self.hops[0](own, mine, entities, masks)
    for hop in self.hops[1:]:
      code = hop(code, code, entities, masks)
    return code.x

  def _entities(self, kind: str, seen: tf.Tensor) -> Code:
    """Returns codes [B * n, m, H] of entities [B, n, m, F]."""
    block = self.entity[kind]
    x = block(_rows(seen))
    x = tf.reshape(x, [-1, tf.shape(seen)[2], x.shape[-1]])
    return Code(x, block.affine)


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
