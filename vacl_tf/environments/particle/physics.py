# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Physics of the particle world, as in the released code.

The batch of worlds is the last axis of all arrays, [2, n, B] for vectors of n
bodies. Loops then vectorise over worlds for any n, and no short trailing axis
is reduced. All bodies are discs of mass 1.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import tensorflow as tf

TIME_STEP = 0.1
DAMPING = 0.25
CONTACT_STIFFNESS = 100.0
CONTACT_MARGIN = 1e-3  # Metres over which contact fades in.
ACTION_FORCE = 5.0
_APART = 1e-9  # Metres added between coincident centres, so that they repel.
_TINY = 1e-24  # Squared metres; avoids division by 0.
# Minimax fit: e * polynomial(e) is log(1 + e) on [0, 1] to within 1.5e-6, which
# is 1.5e-9 metres of depth.
_LOG1P = [
  -0.01833833,
  0.08556835,
  -0.19375924,
  0.31764821,
  -0.49787489,
  0.99990163,
]


class Wall(NamedTuple):
  """An axis-aligned slab; all lengths in metres.

  Attributes:
    is_vertical: thin along x (else thin along y).
    axis: centre of the wall on the thin axis.
    ends: where the wall begins and ends along the other axis.
    thickness: full width of the wall along the thin axis.
  """

  is_vertical: bool
  axis: float
  ends: tuple[float, float]
  thickness: float

  def corners(self) -> tuple[tuple[float, float], tuple[float, float]]:
    """Returns the lower left and the upper right corner."""
    half = self.thickness / 2
    across = (self.axis - half, self.axis + half)
    x, y = (across, self.ends) if self.is_vertical else (self.ends, across)
    return (x[0], y[0]), (x[1], y[1])


def from_others(x: tf.Tensor) -> Iterator[tf.Tensor]:
  """Yields differences [2, n, B], x_i - x_(i + k mod n), for k = 1 .. n - 1.

  Each pair is computed twice, once for each of its bodies. Computing it once
  would halve the arithmetic, but adding the result to both bodies costs more:
  elementwise operations on [n, B] compile to a single vectorised loop.
  """
  num = x.shape[1]
  twice = tf.concat([x, x], 1)
  for k in range(1, num):
    yield x - twice[:, k : k + num]


def square_length(vector: tf.Tensor) -> tf.Tensor:
  """Returns x^2 + y^2 of vectors whose coordinates lie on the first axis."""
  x, y = tf.unstack(vector)
  return x * x + y * y


def softened(penetration: tf.Tensor) -> tf.Tensor:
  """Returns the softplus of a depth [metres], of width CONTACT_MARGIN.

  Most of a step's time is spent here, so a polynomial approximates the
  logarithm.
  """
  scaled = penetration / CONTACT_MARGIN
  e = tf.exp(-tf.abs(scaled))
  tail = e * tf.math.polyval(_LOG1P, e)
  return CONTACT_MARGIN * (tf.maximum(scaled, 0.0) + tail)


def contact_forces(x: tf.Tensor, radius: np.ndarray | float) -> tf.Tensor:
  """Returns the forces [2, n, B] of discs at x [2, n, B] on each other.

  Args:
    x: centres, in metres.
    radius: radius of all discs, or one for each, [n, 1], in metres.
  """
  total = tf.zeros_like(x)
  for k, delta in enumerate(from_others(x), start=1):
    delta += _parting_offset(x.shape[1], k)
    distance = tf.sqrt(tf.maximum(square_length(delta), _TINY))
    reach = (radius + np.roll(radius, -k)).astype(np.float32)
    push = CONTACT_STIFFNESS * softened(reach - distance)
    total += delta * (push / distance)
  return total


def _parting_offset(num: int, k: int) -> np.ndarray:
  """Returns [n, 1], added to the differences of bodies i and i + k mod n.

  Contact forces of coincident bodies have no direction. The offset gives them
  one, along the diagonal, with opposite signs for the two. For bodies that are
  apart, rounding removes the offset.
  """
  is_last = np.arange(num)[:, None] + k >= num
  return np.where(is_last, -_APART, _APART).astype(np.float32)


def wall_forces(
  x: tf.Tensor, radius: float, walls: Sequence[Wall]
) -> tf.Tensor:
  """Returns the forces [2, n, B] of walls on discs at x [2, n, B].

  If a disc's centre is past an end of a wall, the force is oblique: it also
  pushes the disc along the wall, away from it.
  """
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


def largest_force(
  radius: float, num_bodies: int, walls: Sequence[Wall] = ()
) -> float:
  """Returns a bound on the force on a disc along either axis.

  Args:
    radius: radius of the largest disc, in metres.
    num_bodies: number of discs that touch each other, in any positions.
    walls: walls that the discs touch as well.
  """
  soft = CONTACT_MARGIN * np.log(2.0)  # By which `softened` exceeds the depth.
  depths = [2 * radius + soft] * (num_bodies - 1)
  depths += [radius + wall.thickness / 2 + soft for wall in walls]
  return ACTION_FORCE + CONTACT_STIFFNESS * sum(depths)


def largest_motion(force: float, num_steps: int) -> tuple[float, float]:
  """Returns bounds on the speed and the distance moved, along either axis.

  Args:
    force: largest force along an axis.
    num_steps: number of steps from rest.
  """
  speed = TIME_STEP * force / DAMPING
  return speed, num_steps * TIME_STEP * speed


def action_forces(action: tf.Tensor) -> tf.Tensor:
  """Returns forces [2, n, B] of actions [n, B]: none, +x, -x, +y, -y."""

  def axis(plus: int, minus: int) -> tf.Tensor:
    return ACTION_FORCE * (
      tf.cast(action == plus, tf.float32) - tf.cast(action == minus, tf.float32)
    )

  return tf.stack([axis(1, 2), axis(3, 4)])
