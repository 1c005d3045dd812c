# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Self-attention among the entities that an agent observes.

Without it, an agent sees each entity only in relation to itself. To find out
which entities belong together, such as a ball and the landmark beside it, the
agent would have to compare offsets after they have been averaged. The paper has
no such layer.
"""

from collections.abc import Mapping

import numpy as np
import sonnet as snt
import tensorflow as tf

from vacl_tf import config
from vacl_tf.networks import blocks
from vacl_tf.networks import multi_head


class Relation(snt.Module):
  """Each entity attends to all of them and to the agent itself.

  Queries, keys and values are computed from scaled and shifted inputs, with the
  affines folded as in `blocks`. The result of attention is added to the
  normalised entity without the entity's affine, and the sum is normalised. All
  kinds share the weights. The agent's own encoding does not change.
  """

  def __init__(
    self,
    rng: np.random.Generator,
    cfg: config.AttentionConfig,
  ) -> None:
    super().__init__(name='relation')
    size = cfg.hidden_size
    self._activation = blocks.ACTIVATIONS[cfg.activation]
    self.query, self.key, self.value, self.out = (
      blocks.Folded(rng, size, size, 1.0, layer)
      for layer in ('query', 'key', 'value', 'out')
    )
    self.affine = blocks.Affine(size)

  def __call__(
    self,
    mine: blocks.Encoding,
    entities: Mapping[str, blocks.Encoding],
    masks: Mapping[str, tf.Tensor],
  ) -> dict[str, blocks.Encoding]:
    """Returns the entities [N, m, H] of each kind, after attention.

    Args:
      mine: [N, H], encoding of the agent itself.
      entities: kind -> [N, m, H].
      masks: kind -> bool [N, m], True = present; kinds without a mask are
        always present. Results for absent entities have no meaning.
    """
    tokens = [
      blocks.Encoding(mine.x[:, None], mine.affine),
      *entities.values(),
    ]
    query, key, value = self._project(tokens)
    slots = {kind: tf.shape(seen.x)[:2] for kind, seen in entities.items()}
    num_slots = [1, *(shape[1] for shape in slots.values())]
    mask = multi_head.presence(slots, masks)
    found = multi_head.attend(query, key, value, mask)
    _, *parts = tf.split(found, num_slots, 1, num=len(num_slots))
    return {
      kind: self._add(seen.x, part)
      for (kind, seen), part in zip(entities.items(), parts, strict=True)
    }

  def _project(self, tokens: list[blocks.Encoding]) -> list[tf.Tensor]:
    """Returns query, key and value [N, S, heads, H] of all tokens.

    Args:
      tokens: [N, m, H] of each kind.
    """
    layers = (self.query, self.key, self.value)
    size = self.query.w.shape[0]
    size_of_head = size // config.NUM_HEADS
    num_rows, parts = tf.shape(tokens[0].x)[0], []
    for seen in tokens:
      x = tf.reshape(seen.x, [-1, size])
      x = blocks.side_by_side(layers, x, (seen.affine,))
      slots = [num_rows, tf.shape(seen.x)[1]]
      shape = [*slots, 3 * config.NUM_HEADS, size_of_head]
      parts.append(tf.reshape(x, shape))
    query, key, value = tf.split(tf.concat(parts, 1), 3, 2)
    return [size_of_head**-0.5 * query, key, value]

  def _add(self, x: tf.Tensor, found: tf.Tensor) -> blocks.Encoding:
    """Adds results of attention [N, m, heads, H] to entities x [N, m, H]."""
    size = x.shape[-1]
    rows = tf.reshape(x, [-1, size])
    found = self.out(tf.reshape(found, [-1, size]), ())
    rows = blocks.standardize(rows + self._activation(found))
    return blocks.Encoding(tf.reshape(rows, tf.shape(x)), self.affine)
