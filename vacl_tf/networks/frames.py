# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The particle world as an agent sees it from where it stands.

Where to go and whether one is there are a matter of directions and distances,
which small layers are slow to make of ways along x and y, so entities are told
with both.

And turning or mirroring an open square room about its centre changes nothing
but names of directions. There an agent looks at its world in the view in which
it is itself in a certain octant of the room, and its moves are named as before
when it comes to act: what is learned in one view holds in all eight, exactly.

Neither the paper nor the released code does either.
"""

from typing import NamedTuple

import tensorflow as tf

from vacl_tf import config
from vacl_tf import types

_NEAR = 0.5  # Metres within which nearness falls to 1 / e.


class Frame(NamedTuple):
  """The axes in which an agent looks at its world."""

  sign: tf.Tensor  # [B, n, 2] -1 where the axis is mirrored, else 1.
  is_swapped: tf.Tensor  # bool [B, n, 1] whether the axes change places then.


class View:
  """How the agents of a role look at their world, `network.frame`.

  Attributes:
    role: the role, with the sizes of what is seen.
  """

  def __init__(self, role: types.Role, cfg: config.NetworkConfig) -> None:
    self._is_own = cfg.frame == 'own'
    self._has_octants = self._is_own and role.is_in_square
    self.role = role
    if self._is_own:
      sizes = {kind: 3 + size for kind, size in role.entity_sizes.items()}
      self.role = role._replace(entity_sizes=sizes)

  def __call__(
    self, observation: types.Observation
  ) -> tuple[types.Observation, Frame | None]:
    """Returns what agents see, and in which axes if not in the room's.

    Args:
      observation: what is told of entities ends with the way to them. In an
        open square the agents' own features are velocity and place, whose
        origin is the centre.
    """
    frame = None
    if self._has_octants:
      observation, frame = canonical(observation)
    if self._is_own:
      observation = directed(observation)
    return observation, frame


def directed(observation: types.Observation) -> types.Observation:
  """Returns an observation with entities' directions (2) and nearness."""

  def look(seen: tf.Tensor) -> tf.Tensor:
    direction, distance = polar(seen[..., -2:])
    return tf.concat([seen, direction, tf.exp(-distance / _NEAR)], -1)

  entities = {kind: look(x) for kind, x in observation.entities.items()}
  return observation._replace(entities=entities)


def polar(way: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """Returns the directions [..., 2] and lengths [..., 1] of ways [..., 2].

  A square centimetre is added to their squares: nothing is divided by 0.
  """
  distance = tf.sqrt(tf.reduce_sum(way * way, -1, keepdims=True) + 1e-4)
  return way / distance, distance


def canonical(
  observation: types.Observation,
) -> tuple[types.Observation, Frame]:
  """Returns what agents see where 0 <= y <= x for themselves, and the frame.

  Args:
    observation: own features are velocity and position, whose origin is the
      centre of the room; those of entities end with the way to them.
  """
  velocity, place = tf.split(observation.own, 2, -1)
  size = tf.abs(place)
  frame = Frame(
    sign=tf.where(place < 0.0, -1.0, 1.0),
    is_swapped=size[..., 1:] > size[..., :1],
  )
  own = tf.concat([_turn(velocity, frame), _turn(place, frame)], -1)
  of_entities = Frame(*(tf.expand_dims(x, 2) for x in frame))
  entities = {
    kind: tf.concat([x[..., :-2], _turn(x[..., -2:], of_entities)], -1)
    for kind, x in observation.entities.items()
  }
  return types.Observation(own, entities, observation.masks), frame


def restore(logits: tf.Tensor, frame: Frame) -> tf.Tensor:
  """Returns logits [B, n, 5] of moves in the room's own frame.

  Args:
    logits: of staying, +x, -x, +y and -y in the canonical frame.
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
  """Returns vectors [..., 2] in a frame."""
  vector = frame.sign * vector
  return tf.where(frame.is_swapped, vector[..., ::-1], vector)
