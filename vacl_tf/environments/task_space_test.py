# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for task_space."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import randomness
from vacl_tf.environments import task_space

_LOW = np.array([[-1.0, -2.0], [0.0, 3.0], [-5.0, -5.0]])
_HIGH = np.array([[1.0, 2.0], [0.5, 4.0], [-4.0, 5.0]])
_RIM = 0.01


class _Boxes(task_space.BoxTaskSpace):
  def sample_easy(self, num_tasks, seed):
    return self.sample_uniform(num_tasks, seed)


def _space():
  return _Boxes(_LOW[:, None], _HIGH[:, None], num_agents=2)


def _far_and_near(num_tasks=500, seed=0):
  """Returns tasks in and about the boxes, most of them infeasible."""
  rng = np.random.default_rng(seed)
  return rng.uniform(-6.0, 6.0, [num_tasks, 6]).astype(np.float32)


class BoxTaskSpaceTest(tf.test.TestCase, parameterized.TestCase):
  def test_layout(self):
    space = _space()
    self.assertEqual(space.num_entities, 3)
    self.assertEqual(space.num_dims, 6)
    self.assertEqual(space.num_agents, 2)
    self.assertAllEqual(space.entity_of_dim, [0, 0, 1, 1, 2, 2])

  def test_feasible_agrees_with_a_loop(self):
    phi = _far_and_near()
    feasible = _space().feasible(phi).numpy()
    want = np.ones([len(phi), 3], bool)
    for row, task in enumerate(phi):
      for dim, number in enumerate(task):
        low, high = _LOW[dim // 2, dim % 2], _HIGH[dim // 2, dim % 2]
        want[row, dim // 2] &= low <= number <= high
    self.assertAllEqual(feasible, want)
    self.assertTrue(np.all(want.any(0) & ~want.all(0)))  # Both cases occur.

  @parameterized.parameters(1, 3)
  def test_points_of_other_sizes(self, size):
    low, high = _LOW.reshape([6 // size, 1, size]), _HIGH.reshape([-1, 1, size])
    space, plane = _Boxes(low, high, num_agents=2), _space()
    phi, seed = _far_and_near(), randomness.root(1)
    self.assertEqual((space.num_entities, space.num_dims), (6 // size, 6))
    inside = (phi >= _LOW.reshape(-1)) & (phi <= _HIGH.reshape(-1))
    want = inside.reshape([len(phi), 6 // size, size]).all(-1)
    self.assertAllEqual(space.feasible(phi), want)
    self.assertAllEqual(space.clip(phi, seed), plane.clip(phi, seed))
    self.assertAllEqual(
      space.sample_uniform(9, seed), plane.sample_uniform(9, seed)
    )

  def test_feasible_is_per_entity_and_keeps_leading_axes(self):
    inside = ((_LOW + _HIGH) / 2).reshape(-1)
    for entity in range(3):
      phi = np.tile(inside.astype(np.float32), [4, 7, 1])
      phi[..., 2 * entity + 1] = 100.0
      want = np.tile(np.arange(3) != entity, [4, 7, 1])
      self.assertAllEqual(_space().feasible(phi), want)

  def test_bounds_themselves_are_feasible(self):
    for corner in (_LOW, _HIGH):
      phi = corner.reshape(1, -1).astype(np.float32)
      self.assertAllEqual(_space().feasible(phi), np.ones([1, 3], bool))

  def test_not_a_number_is_infeasible(self):
    phi = ((_LOW + _HIGH) / 2).reshape(1, -1).astype(np.float32)
    phi[0, 2] = np.nan
    self.assertAllEqual(_space().feasible(phi), [[True, False, True]])

  def test_clip_makes_everything_feasible(self):
    phi = np.concatenate([_far_and_near(), np.float32([[1e9] * 6, [-1e9] * 6])])
    self.assertFalse(np.all(_space().feasible(phi)))
    clipped = _space().clip(phi, randomness.root(0))
    self.assertTrue(np.all(_space().feasible(clipped)))

  def test_clip_leaves_alone_what_is_inside(self):
    phi = _far_and_near()
    inside = (phi >= _LOW.reshape(-1)) & (phi <= _HIGH.reshape(-1))
    clipped = _space().clip(phi, randomness.root(0)).numpy()
    self.assertAllEqual(clipped[inside], phi[inside])

  def test_clip_moves_the_rest_to_a_rim_at_the_side_that_was_crossed(self):
    phi = _far_and_near()
    low, high = _LOW.reshape(-1), _HIGH.reshape(-1)
    clipped = _space().clip(phi, randomness.root(0)).numpy()
    below, above = (clipped - low)[phi < low], (high - clipped)[phi > high]
    for depth in (below, above):
      self.assertAllInRange(depth, -1e-6, _RIM + 1e-6)
      # Not onto the edge itself, where particles would pile up.
      self.assertGreater(np.std(depth), 0.2 * _RIM)

  def test_clip_depends_on_its_seed_alone(self):
    phi = _far_and_near()
    clipped = _space().clip(phi, randomness.root(1))
    self.assertAllEqual(clipped, _space().clip(phi, randomness.root(1)))
    self.assertNotAllEqual(clipped, _space().clip(phi, randomness.root(2)))

  @parameterized.parameters('sample_uniform', 'sample_target')
  def test_draws_fill_the_boxes(self, method):
    phi = getattr(_space(), method)(2000, randomness.root(0))
    self.assertEqual(phi.dtype, tf.float32)
    self.assertAllEqual(phi.shape, [2000, 6])
    self.assertTrue(np.all(_space().feasible(phi)))
    share = (phi - _LOW.reshape(-1)) / (_HIGH - _LOW).reshape(-1)
    self.assertAllClose(np.mean(share, 0), np.full([6], 0.5), atol=0.04)
    self.assertAllInRange(np.min(share, 0), 0.0, 0.01)
    self.assertAllInRange(np.max(share, 0), 0.99, 1.0)
    correlation = np.corrcoef(share.numpy().T) - np.eye(6)
    self.assertAllInRange(correlation, -0.1, 0.1)

  def test_draws_depend_on_their_seed_alone(self):
    one = _space().sample_uniform(5, randomness.root(1))
    self.assertAllEqual(one, _space().sample_uniform(5, randomness.root(1)))
    other = _space().sample_uniform(5, randomness.root(2))
    self.assertNotAllClose(one, other)


# Entity 0: a wide, a low and a far box, apart along x; entity 1: one box.
_UNION_LOW = np.array([[[-4, -1], [-1.9, 0.4], [3, -1]], [[0, 0]] * 3])
_UNION_HIGH = np.array([[[-2, 1], [1, 0.6], [4, 1]], [[2, 1]] * 3])


def _in_union(x, y):
  return [
    low[0] <= x <= high[0] and low[1] <= y <= high[1]
    for low, high in zip(_UNION_LOW[0], _UNION_HIGH[0], strict=True)
  ]


class UnionTest(tf.test.TestCase, parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.space = _Boxes(_UNION_LOW, _UNION_HIGH, num_agents=1)

  def test_feasible_in_any_box(self):
    rng = np.random.default_rng(0)
    phi = rng.uniform(-5.0, 5.0, [2000, 4]).astype(np.float32)
    feasible = self.space.feasible(phi).numpy()
    want = [any(_in_union(x, y)) for x, y in phi[:, :2]]
    self.assertAllEqual(feasible[:, 0], want)
    self.assertTrue(np.any(want))
    inside = (phi[:, 2:] >= 0) & (phi[:, 2:] <= [2, 1])
    self.assertAllEqual(feasible[:, 1], inside.all(1))

  def test_uniform_draws_fill_boxes_by_area(self):
    phi = self.space.sample_uniform(8000, randomness.root(0)).numpy()
    self.assertTrue(np.all(self.space.feasible(phi)))
    where = np.array([_in_union(x, y) for x, y in phi[:, :2]])
    area = np.array([4.0, 2.9 * 0.2, 2.0])
    # 4 deviations of a share of 0.5 among 8000.
    self.assertAllClose(where.mean(0), area / area.sum(), atol=0.022)
    far = phi[where[:, 2], :2]
    self.assertAllClose(far.mean(0), [3.5, 0.0], atol=0.08)
    self.assertAllClose(phi[:, 2:].mean(0), [1.0, 0.5], atol=0.03)

  @parameterized.parameters(
    ((-3.0, 5.0), (-3.0, 1.0)),  # x lies in a box, which is kept.
    ((0.0, -3.0), (0.0, 0.4)),
    ((-9.0, 0.0), (-4.0, 0.0)),
    ((2.9, 0.5), (3.0, 0.5)),  # Between boxes: to the one that is nearer.
    ((1.2, 0.9), (1.0, 0.6)),
    ((-3.0, 0.2), (-3.0, 0.2)),
  )
  def test_clip_goes_to_the_box_nearest_along_x(self, given, want):
    phi = np.float32([[*given, 1.0, 0.5]])
    clipped = self.space.clip(phi, randomness.root(0))
    self.assertAllClose(clipped[0], [*want, 1.0, 0.5], atol=_RIM + 1e-6)
    self.assertTrue(np.all(self.space.feasible(clipped)))


class _Corner(_Boxes):
  def sample_target(self, num_tasks, seed):
    return tf.tile(tf.constant([_LOW.reshape(-1)], tf.float32), [num_tasks, 1])


class WithoutTargetTest(tf.test.TestCase):
  def test_all_but_the_target_is_the_same(self):
    space = _Corner(_LOW[:, None], _HIGH[:, None], num_agents=2)
    space.alike = ((0, 1),)
    space.goals = (1,)
    other, seed = task_space.WithoutTarget(space), randomness.root(3)
    phi = _far_and_near(50)
    self.assertAllEqual(other.feasible(phi), space.feasible(phi))
    self.assertAllEqual(other.clip(phi, seed), space.clip(phi, seed))
    for name in ('sample_easy', 'sample_uniform'):
      found, want = (getattr(x, name)(9, seed) for x in (other, space))
      self.assertAllEqual(found, want)
    for name in ('num_dims', 'num_entities', 'num_agents', 'alike', 'goals'):
      self.assertEqual(getattr(other, name), getattr(space, name))
    self.assertAllEqual(other.entity_of_dim, space.entity_of_dim)
    self.assertEqual(other.is_compiled, space.is_compiled)

  def test_targets_are_uniform_instead(self):
    space = _Corner(_LOW[:, None], _HIGH[:, None], num_agents=2)
    other, seed = task_space.WithoutTarget(space), randomness.root(3)
    self.assertAllEqual(
      other.sample_target(9, seed), space.sample_uniform(9, seed)
    )
    self.assertNotAllClose(
      other.sample_target(9, seed), space.sample_target(9, seed)
    )


class CanonicalTest(tf.test.TestCase):
  def test_sorts_entities_of_a_kind(self):
    low = np.full([6, 1, 2], -3.0)
    space = _Boxes(low, -low, num_agents=2)
    space.alike = ((0, 4, 2), (5, 1))  # Entity 3 is one of its own.
    rng = np.random.default_rng(0)
    phi = rng.integers(-1, 2, [50, 12]).astype(np.float32)  # With equal x.
    want = phi.reshape([50, 6, 2]).copy()
    for task in want:
      for kind in map(list, space.alike):
        task[kind] = sorted(task[kind].tolist())
    found = task_space.canonical(space, tf.constant(phi))
    self.assertAllEqual(found, want.reshape([50, 12]))
    swapped = phi.reshape([50, 6, 2])[:, [4, 5, 0, 3, 2, 1]].reshape([50, 12])
    self.assertAllEqual(task_space.canonical(space, swapped), found)

  def test_leaves_tasks_without_such_entities_alone(self):
    phi = tf.constant([[3.0, 1.0, 2.0, 0.0]])
    space = _Boxes(_LOW[:, None], _HIGH[:, None], num_agents=2)
    self.assertAllEqual(task_space.canonical(space, phi), phi)


if __name__ == '__main__':
  tf.test.main()
