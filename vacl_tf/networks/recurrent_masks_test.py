# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Empty entity slots in the self-attention of recurrent networks."""

import functools

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import recurrent

_STEPS, _BATCH, _AGENTS, _SIZE = 3, 2, 3, 8
_SLOTS = {'agents': 2, 'boxes': 4}
_ENTITY_SIZES = {'agents': 3, 'boxes': 6}


@functools.cache  # No test changes it.
def _value() -> recurrent.Value:
  """Returns a network whose variables are all of order one."""
  role = types.Role('agent', _AGENTS, types.discrete(3), 5, _ENTITY_SIZES)
  cfg = config.RecurrentConfig(hidden_size=_SIZE, activation='tanh')
  made = recurrent.Value(np.random.default_rng(0), role, cfg)
  rng = np.random.default_rng(1)
  for variable in made.variables:
    noise = rng.normal(size=variable.shape)
    if variable.shape.rank == 2:
      variable.assign(noise * (2.0 / variable.shape[0]) ** 0.5)
    else:
      variable.assign(0.4 * noise + float('scale' in variable.name))
  return made


def _inputs() -> tuple[types.Observation, tf.Tensor]:
  """Returns observations [L, B, n, ...] and memories of order one."""
  rng = np.random.default_rng(2)

  def draw(*shape):
    return tf.constant(rng.normal(size=shape), tf.float32)

  leading = [_STEPS, _BATCH, _AGENTS]
  entities = {
    kind: draw(*leading, num, _ENTITY_SIZES[kind])
    for kind, num in _SLOTS.items()
  }
  seen = types.Observation(draw(*leading, 5), entities)
  return seen, draw(_BATCH, _AGENTS, _SIZE)


class MaskTest(parameterized.TestCase, tf.test.TestCase):
  def setUp(self):
    super().setUp()
    self.seen, self.memory = _inputs()
    rng = np.random.default_rng(7)
    # Of each step, world and agent; an agent may see nothing of a kind.
    self.is_present = {
      kind: rng.integers(0, 2, [_STEPS, _BATCH, _AGENTS, num]).astype(bool)
      for kind, num in _SLOTS.items()
    }
    self.masks = tf.nest.map_structure(tf.constant, self.is_present)

  def values(self, **changes):
    """Returns values [L, B, n]; changes are of the observation."""
    return _value()(self.seen._replace(**changes), self.memory)[0]

  def assertFar(self, one, other):
    self.assertGreater(np.max(np.abs(one - other)), 0.02)

  def test_masks_matter(self):
    self.assertGreater(np.std(self.values()), 0.1)
    self.assertFar(self.values(masks=self.masks), self.values())

  @parameterized.product(kind=('agents', 'boxes'), jit=(False, True))
  def test_padding_changes_nothing(self, kind, jit):
    seen = self.seen.entities[kind]
    num = seen.shape[3]
    padding = tf.fill([*seen.shape[:3], 3, seen.shape[4]], 7.0)
    padded = self.seen.entities | {kind: tf.concat([seen, padding], 3)}
    mask = tf.broadcast_to(tf.range(num + 3) < num, [*seen.shape[:3], num + 3])
    values = tf.function(self.values, jit_compile=jit, autograph=False)
    found = values(entities=padded, masks={kind: mask})
    self.assertAllClose(found, self.values(), 1e-4, 1e-4)
    self.assertFar(self.values(entities=padded), self.values())

  def test_what_is_in_absent_slots_does_not_matter(self):
    other = {
      kind: tf.where(self.masks[kind][..., None], x, 5.0 - x)
      for kind, x in self.seen.entities.items()
    }
    self.assertAllEqual(
      self.values(entities=other, masks=self.masks),
      self.values(masks=self.masks),
    )

  def test_the_order_of_kinds_does_not_matter(self):
    # Masks and tokens of each kind stay together.
    turned = [
      dict(reversed(tree.items())) for tree in (self.seen.entities, self.masks)
    ]
    self.assertAllEqual(
      self.values(entities=turned[0], masks=turned[1]),
      self.values(masks=self.masks),
    )

  def test_each_agent_has_a_mask_of_its_own(self):
    values = self.values(masks=self.masks)
    # The first step of each agent, with what it sees and nothing else.
    for b, i in np.ndindex(_BATCH, _AGENTS):
      alone = tf.nest.map_structure(
        lambda x, b=b, i=i: x[:1, b : b + 1, i : i + 1], self.seen
      )
      left = {
        kind: tf.gather(
          x, np.flatnonzero(self.is_present[kind][0, b, i]), axis=3
        )
        for kind, x in alone.entities.items()
      }
      memory = self.memory[b : b + 1, i : i + 1]
      found, _ = _value()(alone._replace(entities=left), memory)
      self.assertAllClose(found[0, 0, 0], values[0, b, i], 1e-4, 1e-4)

  def test_masks_that_leave_nothing_out_equal_none(self):
    masks = tf.nest.map_structure(tf.ones_like, self.masks)
    for some in (masks, {'boxes': masks['boxes']}):
      self.assertAllClose(self.values(masks=some), self.values(), 1e-5, 1e-5)

  def test_without_masks_nothing_is_masked(self):
    # No operation is there for them.
    def operations(seen):
      call = tf.function(
        lambda seen: _value()(seen, self.memory), autograph=False
      )
      graph = call.get_concrete_function(seen).graph
      return {op.type for op in graph.get_operations()}

    masked = operations(self.seen._replace(masks=self.masks))
    self.assertIn('SelectV2', masked)
    self.assertNotIn('SelectV2', operations(self.seen))

  def test_gradients_are_those_without_the_padding(self):
    seen = self.seen.entities['boxes']
    is_present = tf.broadcast_to(tf.range(4) < 3, seen.shape[:-1])
    fewer = self.seen.entities | {'boxes': seen[..., :3, :]}
    found = []
    for changes in ({'masks': {'boxes': is_present}}, {'entities': fewer}):
      with tf.GradientTape() as tape:
        loss = tf.reduce_sum(self.values(**changes) ** 2)
      found.append(tape.gradient(loss, _value().variables))
    for x, y in zip(*found, strict=True):
      self.assertAllClose(x, y, 1e-3, 1e-3)


if __name__ == '__main__':
  tf.test.main()
