# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Dense block of all networks: linear layer, activation, layer normalisation.

The learned scale and offset of a layer normalisation are not applied to its
activations. The next layer folds them into its own weights: a linear layer
into its matrix and bias, attention into its query and result. They are applied
only where one attention reads encodings of several roles, because one query
cannot absorb the scales of several kinds of keys.

The results equal those of the plain block with fewer passes over memory, which
about halves the time of an update on a CPU.

On a CPU sums over an axis are products with ones: a product is limited by
memory bandwidth, a reduction over a short axis is much slower. On a GPU XLA
fuses a reduction with what comes before it, and a product is a call of its own.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import sonnet as snt
import tensorflow as tf

_EPSILON = 1e-5
ACTION_GAIN = 0.01  # The initial policy is nearly uniform.
ACTIVATIONS = {'relu': tf.nn.relu, 'tanh': tf.tanh}


def orthogonal(
  rng: np.random.Generator, rows: int, columns: int, gain: float
) -> np.ndarray:
  """Returns [rows, columns], a random matrix with orthogonal rows or columns.

  The shorter side is orthogonal, with vectors of length `gain`.
  """
  normal = rng.standard_normal([max(rows, columns), min(rows, columns)])
  q, r = np.linalg.qr(normal)
  q = q * np.sign(np.diag(r))  # Without it the draw is not uniform (Haar).
  return (gain * (q if rows >= columns else q.T)).astype(np.float32)


def _reduces() -> bool:
  """Returns whether reductions are faster than products, as on a GPU."""
  return bool(tf.config.get_visible_devices('GPU'))


def sum_rows(x: tf.Tensor) -> tf.Tensor:
  """Returns [H], the sum of the rows of x [N, H]."""
  if _reduces():
    return tf.reduce_sum(x, 0)
  # Two rows of ones: with one row, XLA computes column by column.
  return tf.matmul(tf.ones([2, tf.shape(x)[0]]), x)[0]


def sum_columns(x: tf.Tensor, scale: float = 1.0) -> tf.Tensor:
  """Returns [N, 1], the sum of the columns of x [N, H], scaled."""
  if _reduces():
    return scale * tf.reduce_sum(x, 1, keepdims=True)
  return tf.matmul(x, tf.constant(scale, shape=[x.shape[1], 1]))


def _mean_columns(x: tf.Tensor) -> tf.Tensor:
  return sum_columns(x, 1.0 / x.shape[1])


@tf.custom_gradient
def standardize(x: tf.Tensor) -> tuple[tf.Tensor, Callable]:
  """Returns x [N, H] with mean 0 and variance 1 in each row."""
  mean = _mean_columns(x)
  variance = tf.maximum(_mean_columns(x * x) - mean * mean, 0.0)
  inverse = tf.math.rsqrt(variance + _EPSILON)
  y = (x - mean) * inverse

  def gradient(dy: tf.Tensor) -> tf.Tensor:
    along = y * _mean_columns(dy * y)
    return inverse * (dy - _mean_columns(dy) - along)

  return y, gradient


class Affine(snt.Module):
  """Scale and offset of a layer normalisation, folded by the next layer."""

  def __init__(self, size: int) -> None:
    super().__init__(name='affine')
    self.scale = tf.Variable(tf.ones([size]), name='scale')
    self.offset = tf.Variable(tf.zeros([size]), name='offset')

  def __call__(self, x: tf.Tensor) -> tf.Tensor:
    """Returns x [N, size] scaled and shifted, if no layer can fold this."""
    return x * self.scale + self.offset


class Encoding(NamedTuple):
  """Normalised activations, and the affine that has yet to be applied."""

  x: tf.Tensor  # [..., H]
  affine: Affine


@tf.custom_gradient
def linear(
  x: tf.Tensor, w: tf.Tensor, b: tf.Tensor, scale: tf.Tensor
) -> tuple[tf.Tensor, Callable]:
  """Returns (scale x) w + b.

  The gradient is written out for speed on a CPU, where a product that is summed
  over rows is faster with the wider factor on the right.

  Args:
    x: [N, input].
    w: [input, output].
    b: [output].
    scale: [input] scale of x, applied to w.
  """
  scaled = tf.expand_dims(scale, 1) * w

  def gradient(dy: tf.Tensor) -> tuple[tf.Tensor, ...]:
    if x.shape[1] > dy.shape[1]:  # Transposed late, or XLA swaps the factors.
      product = tf.matmul(dy, x, transpose_a=True)
      dw = tf.transpose(product * scale)
      dscale = tf.reduce_sum(product * tf.transpose(w), 0)
    else:
      product = tf.matmul(x, dy, transpose_a=True)
      dw = product * tf.expand_dims(scale, 1)
      dscale = tf.reduce_sum(product * w, 1)
    dx = tf.matmul(dy, scaled, transpose_b=True)
    return dx, dw, sum_rows(dy), dscale

  return tf.matmul(x, scaled) + b, gradient


def folded(
  x: tf.Tensor, w: tf.Tensor, b: tf.Tensor, affines: tuple[Affine, ...]
) -> tf.Tensor:
  """Returns [N, output], a linear layer with the affines of its input folded.

  Args:
    x: [N, input], normalised; affines not yet applied.
    w: [input, output] weights of the layer.
    b: [output] its bias.
    affines: affines of consecutive parts of x, whose sizes add up to `input`;
      empty if there is nothing to fold.
  """
  if not affines:
    return linear(x, w, b, tf.ones(w.shape[:1]))
  scale = tf.concat([affine.scale for affine in affines], 0)
  offset = tf.concat([affine.offset for affine in affines], 0)
  b = b + tf.linalg.matvec(w, offset, transpose_a=True)
  return linear(x, w, b, scale)


class Folded(snt.Module):
  """A linear layer that folds the affines of its normalised input."""

  def __init__(
    self,
    rng: np.random.Generator,
    input_size: int,
    output_size: int,
    gain: float = 2.0**0.5,
    name: str = 'linear',
  ) -> None:
    super().__init__(name=name)
    self.w = tf.Variable(
      orthogonal(rng, input_size, output_size, gain), name='w'
    )
    self.b = tf.Variable(tf.zeros([output_size]), name='b')

  def __call__(self, x: tf.Tensor, affines: tuple[Affine, ...]) -> tf.Tensor:
    """Returns [N, output] of x [N, input]; see `folded`."""
    return folded(x, self.w, self.b, affines)


def side_by_side(
  layers: Sequence[Folded], x: tf.Tensor, affines: tuple[Affine, ...]
) -> tf.Tensor:
  """Returns the outputs of several layers of x [N, input], concatenated.

  One matrix product is faster than one for each layer.
  """
  w = tf.concat([layer.w for layer in layers], 1)
  b = tf.concat([layer.b for layer in layers], 0)
  return folded(x, w, b, affines)


class Block(snt.Module):
  """Linear layer, activation, normalisation; the next layer folds `affine`."""

  def __init__(
    self,
    rng: np.random.Generator,
    input_size: int,
    output_size: int,
    activation: str,
    name: str = 'block',
  ) -> None:
    super().__init__(name=name)
    self._activation = ACTIVATIONS[activation]
    self.linear = Folded(rng, input_size, output_size)
    self.affine = Affine(output_size)

  def __call__(self, x: tf.Tensor, *affines: Affine) -> tf.Tensor:
    """Returns normalised [N, output] of x [N, input]."""
    return standardize(self._activation(self.linear(x, affines)))
