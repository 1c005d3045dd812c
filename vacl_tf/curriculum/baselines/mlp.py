# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Small multilayer perceptrons in NumPy, for choosers that learn something.

The parameters of a network are one vector, so that a network and the slots of
its optimiser are arrays of a chooser's state.
"""

import itertools

import numpy as np

_RMS_PROP_DECAY = 0.9  # Decay rate of the moving average of RMSprop.


class Mlp:
  """Linear layers with leaky ReLUs or tanhs between them.

  Parameters are arrays [..., P]; leading axes are for several networks of the
  same sizes.

  Attributes:
    num_parameters: number of parameters of a network (P).
  """

  def __init__(
    self, sizes: tuple[int, ...], slope: float = 0.0, is_tanh: bool = False
  ) -> None:
    """Initialises the layout; the object holds no parameters.

    Args:
      sizes: number of features of the input, each hidden layer and the output.
      slope: slope of hidden units below zero.
      is_tanh: whether hidden units are tanhs instead.
    """
    self._shapes = tuple(itertools.pairwise(sizes))
    self._slope = np.float32(slope)
    self._is_tanh = is_tanh
    self.num_parameters = sum((rows + 1) * cols for rows, cols in self._shapes)

  def initial(
    self, rng: np.random.Generator, num_networks: int | None = None
  ) -> np.ndarray:
    """Returns parameters, float32 [num_networks, P], or [P] for None.

    Weights are uniform with the bounds of Glorot and Bengio, 2010; biases are
    zero.
    """
    leading = () if num_networks is None else (num_networks,)
    parts = []
    for rows, cols in self._shapes:
      bound = np.sqrt(6.0 / (rows + cols))
      parts.append(rng.uniform(-bound, bound, (*leading, rows * cols)))
      parts.append(np.zeros((*leading, cols)))
    return np.concatenate(parts, -1).astype(np.float32)

  def apply(self, parameters: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
    """Returns the layers: the input, each hidden layer and the output.

    Args:
      parameters: [..., P].
      x: [..., N, F]; without leading axes all networks have the same input.
    """
    layers = [x]
    for weights, bias in self._layers(parameters):
      if len(layers) > 1:
        layers[-1] = self._unit(layers[-1])
      layers.append(layers[-1] @ weights + bias)
    return layers

  def gradients(
    self,
    parameters: np.ndarray,
    layers: list[np.ndarray],
    of_output: np.ndarray,
  ) -> tuple[np.ndarray, np.ndarray]:
    """Returns the gradients of a loss, by backpropagation.

    Args:
      parameters: [..., P].
      layers: layers that `apply` returned for these parameters.
      of_output: [..., N, outputs] the loss's gradient with respect to the
        output.

    Returns:
      The loss's gradients with respect to the parameters [..., P] and to the
      input [..., N, F].
    """
    parts, gradient = [], of_output
    for index in reversed(range(len(self._shapes))):
      below = layers[index]
      weights, _ = self._layers(parameters)[index]
      of_weights = np.swapaxes(below, -1, -2) @ gradient
      parts += [gradient.sum(-2), of_weights.reshape(*weights.shape[:-2], -1)]
      gradient = gradient @ np.swapaxes(weights, -1, -2)
      if index:
        gradient = gradient * self._slope_of(below)
    return np.concatenate(parts[::-1], -1), gradient

  def _unit(self, x: np.ndarray) -> np.ndarray:
    return np.tanh(x) if self._is_tanh else np.maximum(x, self._slope * x)

  def _slope_of(self, unit: np.ndarray) -> np.ndarray:
    """Returns the derivatives of hidden units, given their outputs."""
    if self._is_tanh:
      return 1.0 - unit * unit
    return np.where(unit > 0.0, np.float32(1.0), self._slope)

  def _layers(
    self, parameters: np.ndarray
  ) -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns weights [..., F, H] and bias [..., 1, H] of each layer."""
    found, begin = [], 0
    for rows, cols in self._shapes:
      middle, end = begin + rows * cols, begin + (rows + 1) * cols
      weights = parameters[..., begin:middle]
      weights = weights.reshape(*weights.shape[:-1], rows, cols)
      found.append((weights, parameters[..., None, middle:end]))
      begin = end
    return found


def extent(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """Returns the middle and the half-width [D] of the box around rows [N, D].

  They serve to scale inputs of a network to [-1, 1]; no half-width is 0.
  """
  low, high = rows.min(0), rows.max(0)
  return (low + high) / 2.0, np.maximum((high - low) / 2.0, 1e-6)


def rms_prop(
  parameters: np.ndarray,
  gradient: np.ndarray,
  square: np.ndarray,
  learning_rate: float,
) -> tuple[np.ndarray, np.ndarray]:
  """Returns parameters and squares after a step of RMSprop.

  Args:
    parameters: of any shape.
    gradient: of the same shape.
    square: moving average of squared gradients, at first 0.
    learning_rate: learning rate of the step.
  """
  decay = _RMS_PROP_DECAY
  square = decay * square + (1.0 - decay) * gradient * gradient
  step = learning_rate * gradient / (np.sqrt(square) + 1e-8)
  return parameters - step, square


def adam(
  parameters: np.ndarray,
  gradient: np.ndarray,
  moments: np.ndarray,
  num_steps: int,
  learning_rate: float,
) -> tuple[np.ndarray, np.ndarray]:
  """Returns parameters and moments after a step of Adam (Kingma and Ba, 2015).

  Args:
    parameters: of any shape.
    gradient: of the same shape.
    moments: [2, ...] moving averages of gradients and of their squares, at
      first 0.
    num_steps: number of steps taken before.
    learning_rate: learning rate of the step.
  """
  mean = 0.9 * moments[0] + 0.1 * gradient
  square = 0.999 * moments[1] + 0.001 * gradient * gradient
  unbiased = np.sqrt(square / (1.0 - 0.999 ** (num_steps + 1)))
  rate = learning_rate / (1.0 - 0.9 ** (num_steps + 1))
  step = rate * mean / (unbiased + 1e-8)
  return parameters - step, np.stack([mean, square])
