# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Stein steps against double loops; children against the legal region."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf.curriculum import svgd
from vacl_tf.environments import task_space
from vacl_tf.testing import fakes


def _slow_repulsion(points, particles, mask, bandwidth, kernel):
  """The direction of the kernel gradient in float64, with loops."""
  found = np.zeros(points.shape)
  for row, point in zip(found, points, strict=True):
    for particle, counts in zip(particles, mask, strict=True):
      joint = np.exp(-np.sum((point - particle) ** 2) / bandwidth)
      for c in range(len(row)):
        delta = point[c] - particle[c]
        single = np.exp(-(delta**2) / bandwidth)
        weight = joint if kernel == 'joint' else single
        row[c] += counts * 2 / bandwidth * delta * weight
    length = np.sqrt(np.sum(row**2))
    row /= length if length > 0.0 else 1.0
  return found


def _repulsion(points, particles, mask, bandwidth, kernel):
  weight = tf.cast(tf.constant(mask), tf.float32)
  tensors = map(tf.constant, (points, particles))
  return svgd.repulsion(*tensors, weight, bandwidth, kernel).numpy()


class RepulsionTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.product(
    kernel=('coordinate', 'joint'),
    bandwidth=(1.0, 3.0, 1000.0),
    num_dims=(2, 5),
    is_weighted=(False, True),
  )
  def test_equals_double_loops(self, kernel, bandwidth, num_dims, is_weighted):
    rng = np.random.default_rng(0)
    points = rng.uniform(-2.0, 2.0, [4, num_dims]).astype(np.float32)
    particles = rng.uniform(-2.0, 2.0, [9, num_dims]).astype(np.float32)
    particles[0] = points[0]  # A seed is one of the solved tasks itself.
    mask = rng.uniform(size=9) < 0.7
    mask[:2] = True
    if is_weighted:  # By values, some of which are 0.
      mask = mask * rng.uniform(0.01, 1.0, 9).astype(np.float32)
    found = _repulsion(points, particles, mask, bandwidth, kernel)
    slow = _slow_repulsion(
      points.astype(np.float64),
      particles.astype(np.float64),
      mask,
      bandwidth,
      kernel,
    )
    self.assertAllClose(found, slow, 1e-4, 1e-4)
    self.assertAllClose(np.linalg.norm(found, axis=-1), np.ones(4))

  @parameterized.parameters('coordinate', 'joint')
  def test_points_away_from_the_only_neighbour(self, kernel):
    found = _repulsion([[1.0, 0.0]], [[0.0, 0.0]], [True], 1.0, kernel)
    self.assertAllClose(found, [[1.0, 0.0]])

  @parameterized.parameters('coordinate', 'joint')
  def test_nothing_repels(self, kernel):
    point, other = [[1.0, 2.0]], [[1.5, 2.0]]
    alone = _repulsion(point, point, [True], 1.0, kernel)
    masked = _repulsion(point, other, [False], 1.0, kernel)
    self.assertAllEqual(alone, [[0.0, 0.0]])
    self.assertAllEqual(masked, [[0.0, 0.0]])

  @parameterized.parameters(16, 32)
  def test_joint_kernel_does_not_underflow(self, num_dims):
    rng = np.random.default_rng(1)
    points = rng.uniform(-0.4, 0.4, [3, num_dims]).astype(np.float32)
    particles = rng.uniform(-0.4, 0.4, [20, num_dims]).astype(np.float32)
    particles += (160.0 / num_dims) ** 0.5  # exp(-160) is 0 in float32 only.
    squares = np.sum((points[:, None] - particles[None]) ** 2, -1)
    plain = np.exp(-squares.astype(np.float32))
    self.assertAllEqual(plain, np.zeros([3, 20]))
    found = _repulsion(points, particles, [True] * 20, 1.0, 'joint')
    slow = _slow_repulsion(
      points.astype(np.float64),
      particles.astype(np.float64),
      np.ones(20),
      1.0,
      'joint',
    )
    self.assertAllClose(found, slow, 1e-3, 1e-3)


class _TightSpace(task_space.BoxTaskSpace):
  """Three points, of which the second has a sliver of a box to be in."""

  LOW = np.array([[-3.0, -3.0], [0.0, -3.0], [-3.0, -3.0]])
  HIGH = np.array([[3.0, 3.0], [0.05, 3.0], [3.0, 3.0]])

  def __init__(self):
    super().__init__(self.LOW[:, None], self.HIGH[:, None], 3)

  def sample_easy(self, num_tasks, seed):
    return self.sample_uniform(num_tasks, seed)


class _OrderedSpace(task_space.BoxTaskSpace):
  """Two points; a joint constraint keeps the second to the first's right."""

  def __init__(self):
    super().__init__(np.full([2, 1, 2], -3.0), np.full([2, 1, 2], 3.0), 2)

  def feasible(self, phi):
    in_order = phi[..., 2:3] > phi[..., 0:1]
    is_first = tf.ones_like(in_order)
    return super().feasible(phi) & tf.concat([is_first, in_order], -1)

  def sample_easy(self, num_tasks, seed):
    return self.sample_uniform(num_tasks, seed)


class FeasibleNoiseTest(tf.test.TestCase):
  def test_one_draw_where_all_is_legal(self):
    phi = tf.zeros([50, 6])
    space = _TightSpace()
    space.feasible = lambda phi: tf.fill([phi.shape[0], 3], True)
    seed = randomness.root(0)
    found = svgd.feasible_noise(space, phi, 0.5, 1.0, 100, seed)
    self.assertAllInRange(found, -0.5, 0.5)
    self.assertGreater(np.max(found), 0.48)
    self.assertLess(np.min(found), -0.48)
    self.assertAllEqual(
      found, svgd.feasible_noise(space, phi, 0.5, 1.0, 1, seed)
    )

  def test_only_the_infeasible_entity_is_redrawn(self):
    space, seed = _TightSpace(), randomness.root(1)
    phi = space.sample_uniform(40, randomness.root(2)) / 3.0
    once = svgd.feasible_noise(space, phi, 0.5, 1.0, 1, seed)
    often = svgd.feasible_noise(space, phi, 0.5, 1.0, 300, seed)
    self.assertAllEqual(space.feasible(often), np.ones([40, 3]))
    # The wide boxes take the first draw; what follows is the sliver's alone.
    self.assertAllEqual(once[:, :2], often[:, :2])
    self.assertAllEqual(once[:, 4:], often[:, 4:])
    redrawn = np.any(once[:, 2:4] != often[:, 2:4], 1)
    self.assertGreater(np.sum(redrawn), 25)
    self.assertTrue(np.all(often[:, 2:4] != phi[:, 2:4]))

  def test_a_joint_constraint_redraws_the_later_entity(self):
    space, seed = _OrderedSpace(), randomness.root(3)
    left = randomness.uniform(seed, [60, 2], -0.4, 0.4)
    phi = tf.concat([left, left + [0.1, 0.0]], 1)
    once = svgd.feasible_noise(space, phi, 1.0, 1.0, 1, seed)
    often = svgd.feasible_noise(space, phi, 1.0, 1.0, 200, seed)
    self.assertAllEqual(space.feasible(often), np.ones([60, 2]))
    self.assertAllEqual(once[:, :2], often[:, :2])
    self.assertNotAllEqual(once[:, 2:], often[:, 2:])

  def test_a_share_of_the_entities_gets_noise(self):
    space = _TightSpace()
    space.feasible = lambda phi: tf.fill([phi.shape[0], 3], True)
    phi = tf.zeros([2000, 6])
    found = svgd.feasible_noise(
      space, phi, 0.5, 0.25, 100, randomness.root(4)
    ).numpy()
    by_entity = found.reshape([2000, 3, 2]) != 0.0
    # An entity gets noise in all of its coordinates or in none.
    self.assertAllEqual(by_entity.all(2), by_entity.any(2))
    # 4 deviations of a share of 0.25 among 2000.
    self.assertAllInRange(by_entity.any(2).mean(0), 0.21, 0.29)
    self.assertGreater(np.max(found), 0.48)

  def test_what_stays_illegal_keeps_its_place(self):
    space = _TightSpace()
    space.feasible = lambda phi: tf.tile([[True, False, True]], [len(phi), 1])
    phi = space.sample_uniform(5, randomness.root(0))
    seed = randomness.root(1)
    found = svgd.feasible_noise(space, phi, 0.5, 1.0, 10, seed)
    self.assertAllEqual(found[:, 2:4], phi[:, 2:4])
    self.assertTrue(np.all(found[:, :2] != phi[:, :2]))

  def test_draws_end_when_nothing_that_moves_is_illegal(self):
    space, calls = _TightSpace(), []

    def feasible(phi):
      calls.append(phi)
      return tf.concat([tf.ones([8, 1], tf.bool), phi[:, 2:6:2] != 0.0], 1)

    space.feasible = feasible
    phi, seed = tf.zeros([8, 6]), randomness.root(1)
    found = svgd.feasible_noise(space, phi, 0.5, 0.5, 100, seed)
    # What has no noise stays where it is, and illegal, for ever.
    self.assertTrue(np.any(found[:, 2:] == 0.0))
    self.assertLen(calls, 1)


class ProposeTest(parameterized.TestCase, tf.test.TestCase):
  def _propose(self, space, seeds, num_seeds, solved, **changes):
    cfg = config.TaskExpansionConfig(**{'noise_probability': 1.0} | changes)
    weight = tf.ones([len(solved)])
    seed = randomness.root(7)
    return svgd.propose(
      space, seeds, tf.constant(num_seeds), solved, weight, cfg, seed
    ).numpy()

  @parameterized.parameters('coordinate', 'joint')
  def test_step_has_its_length_before_clipping(self, kernel):
    space = fakes.LineTaskSpace()
    # The rows are far enough inside that nothing is clipped. More than one
    # block of seeds, so that the loop over blocks turns twice.
    solved = space.sample_uniform(70, randomness.root(0)) * 0.5
    step = {'step_size': 0.3, 'noise': 0.0, 'kernel': kernel}
    away = self._propose(space, solved, 70, solved, **step)
    self.assertAllClose(
      np.linalg.norm(away - solved, axis=1), np.full(70, 0.3), 1e-5, 1e-5
    )
    slow = _slow_repulsion(
      solved.numpy().astype(np.float64),
      solved.numpy().astype(np.float64),
      np.ones(70),
      1.0,
      kernel,
    )
    self.assertAllClose(away - solved, 0.3 * slow, 1e-3, 1e-3)
    towards = self._propose(
      space, solved, 70, solved, is_attractive=True, **step
    )
    self.assertAllClose(towards - solved, -0.3 * slow, 1e-3, 1e-3)

  def test_goes_round_the_seeds_in_order(self):
    space = fakes.LineTaskSpace()
    seeds = space.sample_uniform(7, randomness.root(1)) * 0.5
    found = self._propose(space, seeds, 3, seeds, noise=0.0)
    self.assertAllEqual(found[3:6], found[:3])
    self.assertAllEqual(found[6], found[0])
    self.assertLess(np.max(np.abs(found[:3] - seeds[:3])), 0.61)

  def test_a_lonely_seed_takes_a_random_step(self):
    space = fakes.LineTaskSpace()
    seeds = tf.zeros([40, 4])
    found = self._propose(space, seeds, 40, seeds[:1], step_size=0.4, noise=0.0)
    self.assertAllInRange(found, -0.4, 0.4)
    self.assertGreater(np.max(np.abs(found)), 0.38)
    self.assertLen(np.unique(found), found.size)

  @parameterized.product(
    make=(_TightSpace, _OrderedSpace), max_redraws=(3, 300)
  )
  def test_children_are_feasible_and_near(self, make, max_redraws):
    space = make()
    seeds = space.sample_uniform(300, randomness.root(2))
    seeds = tf.boolean_mask(seeds, tf.reduce_all(space.feasible(seeds), 1))
    seeds = seeds[:100]
    found = self._propose(
      space,
      seeds,
      100,
      seeds,
      step_size=0.5,
      noise=0.6,
      max_redraws=max_redraws,
    )
    legal = space.feasible(tf.constant(found))
    self.assertAllEqual(legal, np.ones_like(legal))
    # The step, the noise, and the rim that clipping lands in.
    self.assertAllInRange(found - seeds, -1.12, 1.12)
    self.assertNotAllClose(found, seeds, 1e-2)

  def test_without_rejection_a_child_is_clipped_and_no_more(self):
    seeds = _OrderedSpace().sample_uniform(300, randomness.root(2))
    seeds = tf.boolean_mask(seeds, seeds[:, 2] > seeds[:, 0])[:100]
    constants = {'step_size': 0.5, 'noise': 0.9, 'rejection': False}
    found = self._propose(_OrderedSpace(), seeds, 100, seeds, **constants)
    is_legal = found[:, 2] > found[:, 0]
    self.assertBetween(np.mean(is_legal), 0.5, 0.99)
    self.assertAllInRange(found, -3.0, 3.0)
    # Nobody is asked what is feasible.
    space = _OrderedSpace()
    space.feasible = None
    again = self._propose(space, seeds, 100, seeds, **constants)
    self.assertAllEqual(found, again)
    # What needs neither clipping nor rejection is drawn as it is with them.
    seeds *= 0.5
    found = self._propose(space, seeds, 100, seeds, **constants)
    constants |= {'rejection': True, 'max_redraws': 1}
    usual = self._propose(_OrderedSpace(), seeds, 100, seeds, **constants)
    is_legal = found[:, 2] > found[:, 0]
    self.assertAllEqual(found[is_legal], usual[is_legal])
    self.assertNotAllEqual(found, usual)


if __name__ == '__main__':
  tf.test.main()
