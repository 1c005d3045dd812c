# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Observations of the particle world relative to the observing agent.

The transform adds the unit direction and exp(-distance / 0.5 m) of every entity
to its features, because small layers are slow to learn both from x and y.

An open square room is symmetric: rotating or mirroring it about its centre
only renames the moves. In such a room, observations are expressed in the axes
in which the agent's own position lies in a canonical octant, and the logits of
its moves are mapped back. So what is learned in one octant holds exactly in all
eight.

Neither the paper nor the released code has these transforms.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from vacl_tf import types
from vacl_tf.environments import egocentric

_SCALE = 0.5  # Metres over which nearness falls to 1 / e.
_NUM_FEATURES = 3  # Direction (2) and nearness.


class Frame(NamedTuple):
  """The axes in which an agent's observation is expressed."""

  sign: tf.Tensor  # [..., n, 2] -1 where the axis is mirrored, else 1.
  is_swapped: tf.Tensor  # bool [..., n, 1] whether axes are swapped after that.


@dataclasses.dataclass(frozen=True)
class Egocentric:
  """Adds directions and nearness; canonical octants in open square rooms.

  Features of entities have to end with the offset from agent to entity.

  Attributes:
    is_open_square: whether the room is a square without walls inside, centred
      at the origin. If so, own features have to be velocity and position, and
      actions have to be the five moves.
  """

  is_open_square: bool

  def role(self, role: types.Role) -> types.Role:
    """Returns the role with the sizes of transformed observations."""
    sizes = {k: size + _NUM_FEATURES for k, size in role.entity_sizes.items()}
    return role._replace(entity_sizes=sizes)

  def __call__(
    self, observation: types.Observation
  ) -> tuple[types.Observation, Callable[[tf.Tensor], tf.Tensor] | None]:
    """Returns the transformed observation and a function that maps logits back.

    Args:
      observation: leaves [..., n, F] and [..., n, m, F].

    Returns:
      The observation and, in an open square, a function of logits [..., n, 5];
      otherwise None.
    """
    if not self.is_open_square:
      return directed(observation), None
    observation, frame = canonical(observation)
    return directed(observation), lambda logits: restore(logits, frame)


def directed(observation: types.Observation) -> types.Observation:
  """Returns the observation with directions (2) and nearness of entities."""

  def extended(features: tf.Tensor) -> tf.Tensor:
    direction, distance = egocentric.polar(features[..., -2:])
    return tf.concat([features, direction, tf.exp(-distance / _SCALE)], -1)

  entities = {kind: extended(x) for kind, x in observation.entities.items()}
  return observation._replace(entities=entities)


def canonical(
  observation: types.Observation,
) -> tuple[types.Observation, Frame]:
  """Returns the observation in axes with 0 <= y <= x for the agent itself.

  Args:
    observation: own features are velocity and position relative to the centre
      of the room; the features of entities end with the offset to the entity.
  """
  velocity, position = tf.split(observation.own, 2, -1)
  size = tf.abs(position)
  frame = Frame(
    sign=tf.where(position < 0.0, -1.0, 1.0),
    is_swapped=size[..., 1:] > size[..., :1],
  )
  own = tf.concat([_turn(velocity, frame), _turn(position, frame)], -1)
  of_entities = Frame(*(tf.expand_dims(x, -2) for x in frame))
  entities = {
    kind: tf.concat([x[..., :-2], _turn(x[..., -2:], of_entities)], -1)
    for kind, x in observation.entities.items()
  }
  return observation._replace(own=own, entities=entities), frame


def restore(logits: tf.Tensor, frame: Frame) -> tf.Tensor:
  """Returns the logits [..., n, 5] of moves along the room's own axes.

  Args:
    logits: of staying, +x, -x, +y and -y in the canonical axes.
    frame: from `canonical`.
  """
  stay, one, other = tf.split(logits, [1, 2, 2], -1)
  pairs = [
    tf.where(frame.is_swapped, other, one),
    tf.where(frame.is_swapped, one, other),
  ]
  for axis, pair in enumerate(pairs):
    is_mirrored = frame.sign[..., axis : axis + 1] < 0.0
    pairs[axis] = tf.where(is_mirrored, pair[..., ::-1], pair)
  return tf.concat([stay, *pairs], -1)


def _turn(vector: tf.Tensor, frame: Frame) -> tf.Tensor:
  """Returns vectors [..., 2] in the axes of a frame."""
  vector = frame.sign * vector
  return tf.where(frame.is_swapped, vector[..., ::-1], vector)
