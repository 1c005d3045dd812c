# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Action distributions: categorical, multi-categorical, bounded continuous.

Sampling inverts the cumulative distribution. It needs uniform numbers of the
shape of the action, one per choice, whereas the Gumbel trick needs one per
category. Roll-outs draw the numbers of all steps at once, which is faster than
drawing in each step.
"""

import math
from typing import Protocol

import numpy as np
import tensorflow as tf
from dm_env import specs

_MIN_SCALE, _MAX_SCALE = 0.05, 2.0  # Of a TruncatedNormal on [-1, 1].
_FIRST_SCALE = 0.5
_FIRST_SHARE = math.log(_FIRST_SCALE / _MIN_SCALE) / math.log(
  _MAX_SCALE / _MIN_SCALE
)


class Distribution(Protocol):
  """A distribution of actions [..., *action.shape] of agents [...]."""

  def draw(self, uniform: tf.Tensor) -> tf.Tensor:
    """Returns the actions at quantiles `uniform` [..., *action.shape]."""

  def mode(self) -> tf.Tensor:
    """Returns the most likely actions."""

  def log_prob(self, action: tf.Tensor) -> tf.Tensor:
    """Returns the log-probabilities [...] of actions."""

  def entropy(self) -> tf.Tensor:
    """Returns entropies [...] for the entropy bonus."""

  def outputs(self) -> dict[str, tf.Tensor]:
    """Returns the parameters that an exported policy returns, by name."""


class Categorical:
  """One choice, int32 [...], with logits [..., A]."""

  def __init__(self, logits: tf.Tensor) -> None:
    self.logits = logits

  def log_prob(self, action: tf.Tensor) -> tf.Tensor:
    return -tf.nn.sparse_softmax_cross_entropy_with_logits(
      labels=action, logits=self.logits
    )

  def entropy(self) -> tf.Tensor:
    return entropy(tf.math.log_softmax(self.logits))

  def draw(self, uniform: tf.Tensor) -> tf.Tensor:
    return draw_actions(self.logits, uniform)

  def mode(self) -> tf.Tensor:
    return tf.argmax(self.logits, -1, tf.int32)

  def outputs(self) -> dict[str, tf.Tensor]:
    return {'logits': self.logits}


class MultiCategorical:
  """Independent choices with a joint probability."""

  def __init__(self, logits: tf.Tensor, sizes: tuple[int, ...]) -> None:
    """Makes the joint distribution.

    Args:
      logits: [..., sum(sizes)], head after head.
      sizes: choices of each head.
    """
    self.logits = logits
    self._parts = [Categorical(x) for x in tf.split(logits, sizes, -1)]

  def log_prob(self, action: tf.Tensor) -> tf.Tensor:
    """Returns joint log-probabilities [...] of actions int32 [..., heads]."""
    pairs = zip(self._parts, tf.unstack(action, axis=-1), strict=True)
    return sum(part.log_prob(chosen) for part, chosen in pairs)

  def entropy(self) -> tf.Tensor:
    """Returns [...], the mean over heads, as in the released code."""
    return sum(part.entropy() for part in self._parts) / len(self._parts)

  def draw(self, uniform: tf.Tensor) -> tf.Tensor:
    """Returns actions int32 [..., heads] at quantiles of the same shape."""
    pairs = zip(self._parts, tf.unstack(uniform, axis=-1), strict=True)
    return tf.stack([part.draw(numbers) for part, numbers in pairs], -1)

  def mode(self) -> tf.Tensor:
    """Returns the most likely actions, int32 [..., heads]."""
    return tf.stack([part.mode() for part in self._parts], -1)

  def outputs(self) -> dict[str, tf.Tensor]:
    return {'logits': self.logits}


class BoundedNormal:
  """Independent truncated normal distributions on a box."""

  def __init__(
    self, parameters: tf.Tensor, low: np.ndarray, high: np.ndarray
  ) -> None:
    """Makes the joint distribution.

    Args:
      parameters: [..., 2 * dims]: locations, where 0 is the middle of the box,
        then scales, where 0 is a quarter of its width. Any numbers are allowed.
      low: [dims] lower bounds.
      high: [dims] upper bounds.
    """
    location, scale = tf.split(parameters, 2, -1)
    self._low = tf.constant(low, tf.float32)
    self._high = tf.constant(high, tf.float32)
    self._middle = tf.constant((low + high) / 2, tf.float32)
    self._half = tf.constant((high - low) / 2, tf.float32)
    self._unit = _continuous('TruncatedNormal')(
      loc=tf.tanh(location),
      # Interpolates between the bounds on a logarithmic scale. If it were
      # clipped, it would have no gradient beyond a bound.
      scale=_MIN_SCALE
      * tf.pow(
        _MAX_SCALE / _MIN_SCALE,
        tf.sigmoid(scale + math.log(_FIRST_SHARE / (1.0 - _FIRST_SHARE))),
      ),
      low=-1.0,
      high=1.0,
    )

  def draw(self, uniform: tf.Tensor) -> tf.Tensor:
    """Returns actions float32 [..., dims] at quantiles of the same shape."""
    normal = _continuous('Normal')(self._unit.loc, self._unit.scale)
    low, high = normal.cdf(-1.0), normal.cdf(1.0)
    # Not 0 or 1, where the quantile is infinite.
    share = tf.clip_by_value(low + (high - low) * uniform, 1e-6, 1.0 - 1e-6)
    found = normal.quantile(share)
    return self._on_box(found)

  def mode(self) -> tf.Tensor:
    """Returns the most likely actions, float32 [..., dims]."""
    return self._on_box(self._unit.loc)

  def log_prob(self, action: tf.Tensor) -> tf.Tensor:
    """Returns log-densities [...] of actions [..., dims]."""
    unit = tf.clip_by_value((action - self._middle) / self._half, -1.0, 1.0)
    density = self._unit.log_prob(unit) - tf.math.log(self._half)
    return tf.reduce_sum(density, -1)

  def entropy(self) -> tf.Tensor:
    """Returns [...], the mean over dimensions, of actions scaled to [-1, 1]."""
    return tf.reduce_mean(self._unit.entropy(), -1)

  def outputs(self) -> dict[str, tf.Tensor]:
    return {'location': self.mode(), 'scale': self._half * self._unit.scale}

  def _on_box(self, unit: tf.Tensor) -> tf.Tensor:
    """Returns actions for numbers in [-1, 1], exactly within the bounds."""
    action = self._middle + self._half * unit
    return tf.clip_by_value(action, self._low, self._high)


def _continuous(name: str) -> type:
  """Returns a distribution class of TensorFlow Probability.

  It is imported only here: that takes a second, and few actions are continuous.
  """
  with tf.init_scope():  # So that the import creates nothing inside a graph.
    import tensorflow_probability as tfp

    return getattr(tfp.distributions, name)


def num_outputs(action: specs.BoundedArray) -> int:
  """Returns how many parameters a network outputs for an agent's action.

  Raises:
    ValueError: there is no distribution for such actions.
  """
  if not _is_continuous(action):
    return sum(sizes(action))
  width = action.maximum - action.minimum
  is_bounded = np.all(np.isfinite(width) & (width > 0.0))
  if len(action.shape) != 1 or not is_bounded:
    raise ValueError(
      f'action={action} is continuous but not a bounded vector; give it one '
      'axis, and finite bounds, low below high'
    )
  return 2 * action.shape[0]


def make(action: specs.BoundedArray, outputs: tf.Tensor) -> Distribution:
  """Returns the distribution of actions.

  Args:
    action: spec of the action of one agent; see `types.Role.action`.
    outputs: [..., num_outputs(action)] outputs of a network.
  """
  if _is_continuous(action):
    low, high = (
      np.broadcast_to(bound, action.shape)
      for bound in (action.minimum, action.maximum)
    )
    return BoundedNormal(outputs, low, high)
  if not action.shape:
    return Categorical(logits=outputs)
  return MultiCategorical(outputs, sizes(action))


def sizes(action: specs.BoundedArray) -> tuple[int, ...]:
  """Returns the number of choices of each head, also if there is only one.

  Raises:
    ValueError: there is no distribution for such actions.
  """
  if len(action.shape) > 1 or np.any(action.minimum):
    raise ValueError(
      f'action={action} is neither a choice counted from 0 nor a vector of '
      'such choices; see types.discrete and types.multi_discrete'
    )
  most = np.broadcast_to(action.maximum, action.shape)
  return tuple(int(x) + 1 for x in most.reshape(-1))


def _is_continuous(action: specs.BoundedArray) -> bool:
  return np.issubdtype(action.dtype, np.floating)


def entropy(log_probs: tf.Tensor) -> tf.Tensor:
  """Returns entropies [...] of log-probabilities [..., A].

  An action of probability 0 (log-probability -inf) adds nothing and gets no
  gradient.
  """
  probs = tf.exp(log_probs)
  safe = tf.where(probs == 0.0, tf.zeros_like(log_probs), log_probs)
  return -tf.reduce_sum(safe * probs, -1)


def draw_actions(logits: tf.Tensor, uniform: tf.Tensor) -> tf.Tensor:
  """Returns actions int32 [...] for logits [..., A] at quantiles [...]."""
  probs = tf.nn.softmax(logits)
  bounds = tf.cumsum(probs, -1)[..., :-1]
  found = tf.reduce_sum(tf.cast(uniform[..., None] >= bounds, tf.int32), -1)
  # Rounding of the sums may lead to a choice of probability 0.
  choices = tf.range(logits.shape[-1])
  is_possible = (probs > 0.0) & (choices <= found[..., None])
  return tf.reduce_max(tf.where(is_possible, choices, 0), -1)
