# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Code that the egocentric transforms of all worlds share."""

import tensorflow as tf

_SOFTENING = 1e-4  # Square metres, so that no distance is 0.


def polar(offset: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """Returns unit directions [..., 2] and lengths [..., 1] of offsets [..., 2].

  A square centimetre is added to the squared length, so that gradients stay
  finite at 0.
  """
  squared = tf.reduce_sum(offset * offset, -1, keepdims=True)
  distance = tf.sqrt(squared + _SOFTENING)
  return offset / distance, distance
