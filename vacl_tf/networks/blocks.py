# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Linear layer, activation, layer normalisation: the block of all networks.

The affine half of a layer normalisation (scale, offset) is never applied to
activations. Whatever reads them folds it into its own weights instead: a
linear layer into its matrix and bias, an attention into its query and result.
Only where encodings of several roles meet in one attention is it applied, as
one query cannot hold the affines of several keys.
The numbers are those of the plain block; the passes over memory are fewer,
and on a CPU an update takes about half the time (docs/architecture.md).
"""

from collections.abc import Callable

import numpy as np
import sonnet as snt
import tensorflow as tf

_EPSILON = 1e-5
ACTION_GAIN = 0.01  # Makes the first policy all but uniform.
ACTIVATIONS = {'relu': tf.nn.relu, 'tanh': tf.tanh}


def orthogonal(
  rng: np.random.Generator, rows: int, columns: int, gain: float
) -> np.ndarray:
  """Returns a [rows, columns] matrix, orthogonal along its shorter side."""
  normal = rng.standard_normal([max(rows, columns), min(rows, columns)])
  q, r = np.linalg.qr(normal)
  q = q * np.sign(np.diag(r))  # Makes the draw uniform over rotations.
  return (gain * (q if rows >= columns else q.T)).astype(np.float32)


@tf.custom_gradient
def standardize(x: tf.Tensor) -> tuple[tf.Tensor, Callable]:
  """Returns x [N, H] with mean 0 and variance 1 in each row.

  Row means are taken as products with a constant vector: a matrix-vector
  product runs at memory speed where a reduction over a short axis does not.
  """
  size = x.shape[1]
  average = tf.constant(1.0 / size, shape=[size, 1])
  mean = tf.matmul(x, average)
  variance = tf.maximum(tf.matmul(x * x, average) - mean * mean, 0.0)
  inverse = tf.math.rsqrt(variance + _EPSILON)
  y = (x - mean) * inverse

  def gradient(dy: tf.Tensor) -> tf.Tensor:
    along = y * tf.matmul(dy * y, average)
    return inverse * (dy - tf.matmul(dy, average) - along)

  return y, gradient


class Affine(snt.Module):
  """Scale and offset of a layer normalisation, to be folded by its reader."""

  def __init__(self, size: int, name: str = 'affine') -> None:
    super().__init__(name=name)
    self.scale = tf.Variable(tf.ones([size]), name='scale')
    self.offset = tf.Variable(tf.zeros([size]), name='offset')

  def __call__(self, x: tf.Tensor) -> tf.Tensor:
    """Returns x [N, size] with the affine applied, for who can't fold it."""
    return x * self.scale + self.offset


def folded(
  x: tf.Tensor, w: tf.Tensor, b: tf.Tensor, affines: tuple[Affine, ...]
) -> tf.Tensor:
  """Returns [N, output] of x [N, input] that some affines are left to do for.

  Args:
    x: [N, input], normalised.
    w: [input, output] of the linear layer that reads it.
    b: [output].
    affines: of x, their sizes adding up; none if there is nothing to be folded.
  """
  if not affines:
    return tf.matmul(x, w) + b
  scale = tf.concat([affine.scale for affine in affines], 0)
  offset = tf.concat([affine.offset for affine in affines], 0)
  b = b + tf.linalg.matvec(w, offset, transpose_a=True)
  return tf.matmul(x, tf.expand_dims(scale, 1) * w) + b


class Folded(snt.Module):
  """A linear layer that reads normalised inputs and their affines."""

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


class Block(snt.Module):
  """Linear, activation, normalisation; its affine is left to the reader."""

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
