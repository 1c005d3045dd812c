# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Physics of the particle world (sheet mpe_tasks, section 1).

Arrays here have the worlds last, [2, n, B] for vectors of n bodies: the
vector units then run over worlds, whatever n is, and no tiny trailing axis
is ever reduced. All bodies are discs of mass 1.
"""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

TIME_STEP = 0.1
DAMPING = 0.25
CONTACT_STIFFNESS = 100.0
CONTACT_MARGIN = 1e-3  # Metres over which contact fades in.
ACTION_FORCE = 5.0
_TINY = 1e-12  # Squared metres; keeps coincident centres from dividing 0 by 0.


Combine = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
Flip = Callable[[tf.Tensor], tf.Tensor]


class Wall(NamedTuple):
  """An axis-aligned slab; all lengths in metres.

  Attributes:
    is_vertical: thin along x (else thin along y).
    axis: its centre on the thin axis.
    ends: where it begins and ends along the other axis.
    thickness: its full width along the thin axis.
  """

  is_vertical: bool
  axis: float
  ends: tuple[float, float]
  thickness: float


def cyclic_pairs(x: tf.Tensor) -> tf.Tensor:
  """Returns differences [2, n // 2, n, B], x_i - x_(i + k), k = 1 .. n // 2.

  Every unordered pair of the n bodies appears once, but for k = n / 2, where
  it appears twice with opposite signs.
  """
  num = x.shape[1]
  twice = tf.concat([x, x], 1)
  others = [twice[:, k : k + num] for k in range(1, num // 2 + 1)]
  return x[:, None] - tf.stack(others, 1)


def sum_of_pairs(
  per_pair: tf.Tensor, combine: Combine, flip: Flip = lambda x: x
) -> tf.Tensor:
  """Returns, for each body, what its pairs give, combined.

  Unrolled over the distance k, not reduced over an axis: XLA makes one
  vectorised loop over worlds of it, and a scalar one of a fused reduction.

  Args:
    per_pair: [n // 2, ..., n, B] laid out as by `cyclic_pairs`, k first.
    combine: of two such values, associative.
    flip: what the second body of a pair gets, given the first one's.

  Returns:
    [..., n, B].
  """
  num = per_pair.shape[-2]
  parts = []
  for k, mine in enumerate(tf.unstack(per_pair), start=1):
    parts.append(mine)
    if 2 * k != num:  # Else the pair is there twice already.
      parts.append(tf.roll(flip(mine), k, -2))
  return functools.reduce(combine, parts)


def square_length(x: tf.Tensor) -> tf.Tensor:
  """Returns x^2 + y^2 of vectors whose coordinates lie on the first axis."""
  return x[0] * x[0] + x[1] * x[1]


def softened(penetration: tf.Tensor) -> tf.Tensor:
  """Returns the softplus of a depth [metres], of width CONTACT_MARGIN.

  Written out because it is what a step spends its time on: the library's
  log1p is accurate to far below the 1e-8 m that matter here, and slower.
  """
  scaled = penetration / CONTACT_MARGIN
  tail = tf.math.log(1.0 + tf.exp(-tf.abs(scaled)))
  return CONTACT_MARGIN * (tf.maximum(scaled, 0.0) + tail)


def contact_forces(x: tf.Tensor, contact_distance: float) -> tf.Tensor:
  """Returns forces [2, n, B] between n equal discs at x [2, n, B]."""
  if x.shape[1] < 2:
    return tf.zeros_like(x)
  delta = cyclic_pairs(x)
  square = square_length(delta)
  delta = tf.where(square < _TINY, _parting_offsets(x.shape[1]), delta)
  distance = tf.sqrt(tf.maximum(square, _TINY))
  push = CONTACT_STIFFNESS * softened(contact_distance - distance)
  force = delta * (push / distance)  # [2, n // 2, n, B]
  return sum_of_pairs(
    tf.transpose(force, [1, 0, 2, 3]), operator.add, operator.neg
  )


def _parting_offsets(num: int) -> np.ndarray:
  """Returns [n // 2, n, 1] what stands for delta where bodies coincide.

  It lies along the diagonal. The two copies of a pair at k = n / 2 get
  opposite signs, or both bodies would be pushed the same way and never part.
  """
  offsets = np.full([num // 2, num, 1], (0.5 * _TINY) ** 0.5, np.float32)
  if num % 2 == 0:
    offsets[-1, num // 2 :] *= -1.0
  return offsets


def wall_forces(
  x: tf.Tensor, radius: float, walls: Sequence[Wall]
) -> tf.Tensor:
  """Returns the walls' forces [2, n, B] on discs at x; sheet 1.4."""
  total = tf.zeros_like(x)
  for wall in walls:
    along, across = (x[1], x[0]) if wall.is_vertical else (x[0], x[1])
    beyond = tf.maximum(along - wall.ends[1], 0.0)
    beyond = tf.where(along < wall.ends[0], along - wall.ends[0], beyond)
    sine = tf.clip_by_value(beyond / radius, -1.0, 1.0)
    cosine = tf.sqrt(1.0 - sine * sine)
    reach = radius * cosine + wall.thickness / 2
    delta = across - wall.axis
    push = CONTACT_STIFFNESS * softened(reach - tf.abs(delta))
    push = tf.where(tf.abs(beyond) <= radius, push, 0.0)
    force_across = cosine * push * tf.sign(delta)
    force_along = sine * push
    pair = (force_across, force_along)
    total += tf.stack(pair if wall.is_vertical else pair[::-1])
  return total


def integrate(
  x: tf.Tensor, velocity: tf.Tensor, force: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
  """Returns position and velocity after one step, semi-implicit Euler."""
  velocity = (1.0 - DAMPING) * velocity + TIME_STEP * force
  return x + TIME_STEP * velocity, velocity


def action_forces(action: tf.Tensor) -> tf.Tensor:
  """Returns forces [2, n, B] of actions [n, B]: none, +x, -x, +y, -y."""

  def axis(plus: int, minus: int) -> tf.Tensor:
    return ACTION_FORCE * (
      tf.cast(action == plus, tf.float32) - tf.cast(action == minus, tf.float32)
    )

  return tf.stack([axis(1, 2), axis(3, 4)])
