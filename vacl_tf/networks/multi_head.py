# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Multi-head attention with a gradient written by hand."""

from collections.abc import Callable, Mapping

import tensorflow as tf

ABSENT = -1e9  # Score of an empty entity slot.


def attend(
  query: tf.Tensor,
  key: tf.Tensor,
  value: tf.Tensor,
  mask: tf.Tensor | None = None,
) -> tf.Tensor:
  """Returns the values, weighted by the softmax of query times key.

  Products of elements are summed over tokens without being stored; automatic
  differentiation would materialise them.

  Args:
    query: [N, S, heads, H] for S tokens and H units per head.
    key: [N, S, heads, H] for the tokens that are attended to.
    value: [N, S, heads, H] for the same tokens.
    mask: bool [N, S], True = present; None = all present. Absent tokens get
      weight 0; at least one has to be present.

  Returns:
    [N, S, heads, H].
  """

  @tf.custom_gradient
  def weighted(
    query: tf.Tensor, key: tf.Tensor, value: tf.Tensor
  ) -> tuple[tf.Tensor, Callable]:
    scores = _over_units(query, key)
    if mask is not None:
      scores = tf.where(mask[:, None, :, None], scores, ABSENT)
    weights = tf.nn.softmax(scores, 2)

    def gradient(dy: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
      of_weights = _over_units(dy, value)
      mean = tf.reduce_sum(weights * of_weights, 2, keepdims=True)
      of_scores = (weights * (of_weights - mean))[..., None]
      return (
        tf.reduce_sum(of_scores * key[:, None], 2),
        tf.reduce_sum(of_scores * query[:, :, None], 1),
        tf.reduce_sum(weights[..., None] * dy[:, :, None], 1),
      )

    return tf.reduce_sum(weights[..., None] * value[:, None], 2), gradient

  return weighted(query, key, value)


def _over_units(left: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
  """Returns products [N, S, S, heads] of [N, S, heads, H], summed over H."""
  left, right = (tf.transpose(x, [0, 2, 1, 3]) for x in (left, right))
  return tf.transpose(tf.matmul(left, right, transpose_b=True), [0, 2, 3, 1])


def presence(
  slots: Mapping[str, tf.Tensor], masks: Mapping[str, tf.Tensor]
) -> tf.Tensor | None:
  """Returns bool [N, S], which tokens are present; None if all are.

  The first token is the agent itself, then come the entities it observes.

  Args:
    slots: kind -> [N, m], the shape of its slots, in the order of the tokens.
    masks: kind -> bool [..., m]; kinds without a mask are always present.
  """
  if not masks:
    return None
  itself = tf.fill([next(iter(slots.values()))[0], 1], True)
  present = [
    tf.reshape(masks[kind], shape) if kind in masks else tf.fill(shape, True)
    for kind, shape in slots.items()
  ]
  return tf.concat([itself, *present], 1)
