# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Observations of hide-and-seek relative to the observing agent.

Whether something is in view, within reach or occluded depends on relative
positions, bearings and distances. World coordinates and an unbounded yaw
determine these only through products, which small layers are slow to learn. An
agent's own position stays in world coordinates. Neither the paper nor the
released code has this transform.
"""

import dataclasses

import tensorflow as tf

from vacl_tf import types
from vacl_tf.environments import egocentric

_AGENTS = ('agents', 'hiders')  # Their yaw is an angle, not cos and sin.
# Positions are those of corners. On the floor, an object's centre is this many
# metres further from its corner than an agent's centre is from its own.
_CENTRES = (0.1, 0.1, 0.0)
_LENGTH, _SPEED = 2.0, 4.0  # Metres and metres a second that count as 1.


@dataclasses.dataclass(frozen=True)
class Egocentric:
  """Relative positions with directions, bearings and nearness.

  An agent's own features [..., F] become F + 1: position (3), cos and sin of
  the yaw, velocities (4), and the others. The features of an entity become:
  offset (3), its direction (2), cosine and sine of the bearing, which is 0
  straight ahead and positive to the left, exp(-distance in metres), cos and sin
  of the yaw, velocities (4), and the others. Offsets, directions and yaws are
  along the world's axes.
  """

  def role(self, role: types.Role) -> types.Role:
    """Returns the role with the sizes of transformed observations.

    `critic_only_position` still refers to observations before the transform.
    """
    sizes = {
      kind: size + 5 + int(kind in _AGENTS)
      for kind, size in role.entity_sizes.items()
    }
    return role._replace(own_size=role.own_size + 1, entity_sizes=sizes)

  def __call__(
    self, observation: types.Observation
  ) -> tuple[types.Observation, None]:
    """Returns the transformed observation; actions do not change.

    Args:
      observation: own features [..., n, F] are position (3), yaw, velocities
        (4) and more; features of entities [..., n, m, F] are position (3), yaw
        or its cos and sin, velocities (4) and more.
    """
    own = observation.own
    sizes = [3, 1, 4, own.shape[-1] - 8]
    position, yaw, velocity, more = tf.split(own, sizes, -1)
    turn = tf.concat([tf.cos(yaw), tf.sin(yaw)], -1)
    entities = {
      kind: _entities(
        x, kind in _AGENTS, position[..., None, :], turn[..., None, :]
      )
      for kind, x in observation.entities.items()
    }
    parts = [position / _LENGTH, turn, velocity / _SPEED, more]
    own = tf.concat(parts, -1)
    return observation._replace(own=own, entities=entities), None


def _entities(
  features: tf.Tensor, is_agent: bool, position: tf.Tensor, turn: tf.Tensor
) -> tf.Tensor:
  """Returns the transformed features of entities of a kind.

  Args:
    features: [..., m, F].
    is_agent: whether they are agents.
    position: [..., 1, 3] position of the observing agent.
    turn: [..., 1, 2] cos and sin of the observing agent's yaw.
  """
  sizes = [3, 1 if is_agent else 2, 4]
  sizes.append(features.shape[-1] - sum(sizes))
  offset, its_turn, velocity, more = tf.split(features, sizes, -1)
  offset -= position
  if is_agent:
    its_turn = tf.concat([tf.cos(its_turn), tf.sin(its_turn)], -1)
  else:
    offset += tf.constant(_CENTRES)
  direction, distance = egocentric.polar(offset[..., :2])
  x, y = tf.split(direction, 2, -1)
  cos, sin = tf.split(turn, 2, -1)
  # An agent's front is -y of its body, so it faces yaw - pi / 2.
  parts = [offset / _LENGTH, x, y, x * sin - y * cos, x * cos + y * sin]
  parts += [tf.exp(-distance), its_turn, velocity / _SPEED, more]
  return tf.concat(parts, -1)
