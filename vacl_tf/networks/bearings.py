# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Hide-and-seek as an agent sees it from where it stands and faces.

Whether something is in view, within reach or hidden behind something else is a
matter of ways, bearings and distances; places in the room and a yaw that is
counted on and on tell of it only through products, which small layers are slow
to learn. Its own place an agent sees as before. Neither the paper nor the
released code does so.
"""

from collections.abc import Mapping

import tensorflow as tf

from vacl_tf import types
from vacl_tf.networks import frames

_AGENTS = ('agents', 'hiders')  # Their yaw is an angle; others': cos and sin.
# Metres on the floor by which the middle of a thing is further from its corner
# than the middle of an agent from its own.
_CENTRES = (0.1, 0.1, 0.0)
_LENGTH, _SPEED = 2.0, 4.0  # Metres and metres a second that count as 1.


def sizes(role: types.Role) -> tuple[int, dict[str, int]]:
  """Returns how many features `look` returns: an agent's own, and by kind."""
  return role.own_size + 1, {
    kind: size + 5 + int(kind in _AGENTS)
    for kind, size in role.entity_sizes.items()
  }


def look(
  own: tf.Tensor, entities: Mapping[str, tf.Tensor]
) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
  """Returns what agents see, from where they stand and the way they face.

  Args:
    own: [..., F] place (3), yaw, velocities (4) and more.
    entities: kind -> [..., m, F] place (3), yaw or its cos and sin, velocities
      (4) and more.

  Returns:
    Of an agent itself [..., F + 1] place, cos and sin of the yaw, velocities,
    more. Of entities the way there (3), its direction (2), the cosine and the
    sine of the bearing, which is 0 straight ahead and positive to the left,
    exp(-distance in metres), cos and sin of the yaw, velocities, more. Ways,
    directions and yaws are in the room's axes.
  """
  place, yaw, velocity, more = tf.split(own, [3, 1, 4, own.shape[-1] - 8], -1)
  turn = tf.concat([tf.cos(yaw), tf.sin(yaw)], -1)
  seen = {
    kind: _entities(x, kind in _AGENTS, place[..., None, :], turn[..., None, :])
    for kind, x in entities.items()
  }
  return tf.concat([place / _LENGTH, turn, velocity / _SPEED, more], -1), seen


def _entities(
  seen: tf.Tensor, is_agent: bool, place: tf.Tensor, turn: tf.Tensor
) -> tf.Tensor:
  """Returns entities of a kind, as `look` does.

  Args:
    seen: [..., m, F].
    is_agent: whether they are agents.
    place: [..., 1, 3] where the one who looks stands.
    turn: [..., 1, 2] cos and sin of its yaw.
  """
  sizes = [3, 1 if is_agent else 2, 4]
  sizes.append(seen.shape[-1] - sum(sizes))
  way, its_turn, velocity, more = tf.split(seen, sizes, -1)
  way -= place
  if is_agent:
    its_turn = tf.concat([tf.cos(its_turn), tf.sin(its_turn)], -1)
  else:
    way += tf.constant(_CENTRES)
  direction, distance = frames.polar(way[..., :2])
  x, y = tf.split(direction, 2, -1)
  cos, sin = tf.split(turn, 2, -1)
  # An agent faces yaw - pi / 2 (sheet, section 2.1).
  parts = [way / _LENGTH, x, y, x * sin - y * cos, x * cos + y * sin]
  parts += [tf.exp(-distance), its_turn, velocity / _SPEED, more]
  return tf.concat(parts, -1)
