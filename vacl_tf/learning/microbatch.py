# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Loops over a dynamic number of microbatches, each of which fits the cache.

Activations of all worlds at once would exceed the cache and, with many agents,
the memory. The number of microbatches is a tensor, so that one compiled program
processes any number of worlds.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from vacl_tf import tracing

Loop = Any  # What a loop carries from one iteration to the next.
Nest = Any  # A structure of tensors.


def largest_divisor(rows: int, at_most: int) -> int:
  """Returns the largest divisor of `rows` that is at most `at_most`."""
  most = max(min(at_most, rows), 1)
  return next(k for k in range(most, 0, -1) if rows % k == 0)


def repeat(
  times: int | tf.Tensor, body: Callable[[tf.Tensor, Loop], Loop], carried: Loop
) -> Loop:
  """Returns `carried` after body(0, .) ... body(times - 1, .), in a graph."""
  return tf.while_loop(
    lambda index, _: index < times,
    lambda index, loop: (index + 1, body(index, loop)),
    (tf.constant(0), carried),
  )[1]


def over_worlds(
  function: Callable[[tf.Tensor], Nest],
  num_worlds: int,
  block: int,
  size: int | tf.Tensor,
) -> Nest:
  """Returns the results of `function` for all worlds, block by block.

  Args:
    function: takes the index of the first world of a block and returns a
      structure of tensors [T, block, ...]; T may differ between them.
    num_worlds: number of worlds of the result (B), a multiple of `block`.
    block: number of worlds per call.
    size: number of worlds to process, rounded up to whole blocks.

  Returns:
    The structure with tensors [T, B, ...]. Blocks that were not processed are
    0, unless a single block holds all worlds.
  """
  if num_worlds == block:
    return function(tf.constant(0))
  function, outputs = tracing.once(function, tf.TensorSpec([], tf.int32))
  num_blocks = num_worlds // block
  arrays = [
    tf.TensorArray(x.dtype, num_blocks, element_shape=x.shape)
    for x in tf.nest.flatten(outputs)
  ]

  def body(index: tf.Tensor, arrays: list) -> list:
    leaves = tf.nest.flatten(function(index * block))
    return [a.write(index, x) for a, x in zip(arrays, leaves, strict=True)]

  arrays = repeat((size + block - 1) // block, body, arrays)
  stacked = [_side_by_side(array.stack()) for array in arrays]
  return tf.nest.pack_sequence_as(outputs, stacked)


def worlds(tree: Nest, begin: tf.Tensor, block: int) -> Nest:
  """Returns `block` worlds from `begin` on, of tensors [T, B, ...]."""

  def cut(x: tf.Tensor) -> tf.Tensor:
    rest = x.shape.rank - 2
    return tf.slice(
      x, [0, begin, *[0] * rest], [x.shape[0], block, *x.shape[2:]]
    )

  return tf.nest.map_structure(cut, tree)


def _side_by_side(x: tf.Tensor) -> tf.Tensor:
  """Returns [T, K * block, ...] of [K, T, block, ...]."""
  num, steps, block = x.shape[:3]
  order = [1, 0, *range(2, x.shape.rank)]
  return tf.reshape(tf.transpose(x, order), [steps, num * block, *x.shape[3:]])
