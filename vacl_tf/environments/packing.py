# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Packs structures of small tensors into one vector for each dtype.

Each tensor that goes into a compiled function, or comes out of one, costs about
10 us of Python, which is more than the arithmetic of one world.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf


class Packing:
  """The layout of a structure of tensors in vectors.

  Attributes:
    specs: specs of the vectors.
  """

  def __init__(self, like: Any) -> None:
    """Lays out a structure.

    Args:
      like: the structure, of tensors with known shapes or of their specs.
    """
    self._like = like
    sizes: dict[tf.DType, int] = {}
    self._slots = []  # Of each leaf: dtype, first, end, shape.
    for leaf in tf.nest.flatten(like):
      first = sizes.get(leaf.dtype, 0)
      end = first + leaf.shape.num_elements()
      self._slots.append((leaf.dtype, first, end, tuple(leaf.shape)))
      sizes[leaf.dtype] = end
    self.specs = [tf.TensorSpec([size], dtype) for dtype, size in sizes.items()]
    which = {dtype: index for index, dtype in enumerate(sizes)}
    self._slots = [(which[dtype], *slot) for dtype, *slot in self._slots]

  def pack(self, structure: Any) -> list[tf.Tensor]:
    """Returns the vectors of a structure of tensors."""
    parts: list[list[tf.Tensor]] = [[] for _ in self.specs]
    leaves = tf.nest.flatten(structure)
    for (which, *_), leaf in zip(self._slots, leaves, strict=True):
      parts[which].append(tf.reshape(leaf, [-1]))
    return [tf.concat(part, 0) for part in parts]

  def unpack(self, vectors: Sequence[tf.Tensor]) -> Any:
    """Returns the structure of tensors that vectors hold."""
    leaves = [
      tf.reshape(vectors[which][first:end], shape)
      for which, first, end, shape in self._slots
    ]
    return tf.nest.pack_sequence_as(self._like, leaves)

  def arrays(self, vectors: Sequence[tf.Tensor]) -> list[np.ndarray]:
    """Returns the leaves that vectors hold, in the order of `tf.nest`."""
    arrays = [vector.numpy() for vector in vectors]
    return [
      arrays[which][first:end].reshape(shape)
      for which, first, end, shape in self._slots
    ]
