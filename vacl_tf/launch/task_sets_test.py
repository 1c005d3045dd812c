# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Numbers about sets of tasks, by hand and by laws."""

import numpy as np
from absl.testing import absltest

from vacl_tf import presets
from vacl_tf.environments import map_layout
from vacl_tf.launch import plot_curriculum
from vacl_tf.launch import task_sets


def _layout(name):
  return plot_curriculum.layout_of(presets.make(env=name))


class SnapshotsTest(absltest.TestCase):
  def test_even_growth_from_uneven_snapshots(self):
    noise = np.random.default_rng(0).uniform(-1, 1, [30, 16])
    sizes = {1: 0.1, 10: 1.1, 20: 2.1, 30: 3, 40: 3, 50: 3}
    snapshots = {
      iteration: {'active_phi': noise * size}
      for iteration, size in sizes.items()
    }
    chosen = task_sets.choose_snapshots(snapshots)
    self.assertEqual(chosen, [1, 10, 20, 50])

  def test_growth_from_a_corner(self):
    noise = np.random.default_rng(0).uniform(-1, 1, [500, 4])
    snapshots = {
      iteration: {'active_phi': [9, 0, 9, 0] + noise * size}
      for iteration, size in zip((1, 10, 20, 50), (0.1, 1, 2, 3), strict=True)
    }
    chosen = task_sets.choose_snapshots(snapshots)
    self.assertEqual(chosen, [1, 10, 20, 50])


class TargetTest(absltest.TestCase):
  def test_kinds_may_be_of_different_numbers(self):
    left, right = (-2.0, -1.0, -1.0, 1.0), (1.0, 2.0, -1.0, 1.0)
    layout = map_layout.MapLayout(
      kinds=('beacon', 'agent'),
      mover='agent',
      goal='beacon',
      movers=left,
      goals=right,
      counts=((1, 2), (1, 4)),
    )
    for num_agents in (2, 4):
      phi = np.zeros([3, 2 + 2 * num_agents])
      target = task_sets.sample_target(layout, {1: {'active_phi': phi}})
      points = layout.points(target)
      self.assertEqual(points['beacon'].shape[1:], (1, 2))
      self.assertEqual(points['agent'].shape[1:], (num_agents, 2))
      self.assertGreater(points['beacon'][..., 0].min(), 1.0)
      self.assertLess(points['agent'][..., 0].max(), -1.0)


class DistanceTest(absltest.TestCase):
  def test_nearest_mover(self):
    phi = np.array([[0, 0, 3, 0, 0, 1, 3, 4]], np.float32)  # Two and two.
    np.testing.assert_allclose(
      task_sets.nearest_mover(phi, _layout('simple_spread')), [1, 4]
    )
    phi = np.array([[9, 9, 0, 0, 0, 1, 2, 0, 0, 3]], np.float32)
    np.testing.assert_allclose(
      task_sets.nearest_mover(phi, _layout('speaker_listener')), [1, 2, 3]
    )

  def test_a_shift_is_as_far_as_it_goes(self):
    layout = _layout('simple_spread')
    target = np.random.default_rng(0).uniform(-1, 1, [300, 16])
    for shift in (0.0, 0.5, -2.0):
      found = task_sets.distance_to_target(target + shift, target, layout)
      self.assertAlmostEqual(found, abs(shift))
    moved = target.copy()
    moved[:, :8] += 1.0  # Agents alone: half of the kinds.
    found = task_sets.distance_to_target(moved, target, layout)
    self.assertAlmostEqual(found, 0.5)

  def test_other_numbers_of_entities_and_their_order_do_not_matter(self):
    layout = _layout('simple_spread')
    rng = np.random.default_rng(0)
    few, many = (rng.uniform(-3, 3, [4000, dims]) for dims in (8, 32))
    found = task_sets.distance_to_target(few, many, layout)
    self.assertLess(found, 0.05)
    points = few.reshape(4000, 2, 2, 2)[:, :, ::-1].reshape(4000, 8)
    self.assertEqual(task_sets.distance_to_target(points, many, layout), found)

  def test_tasks_are_in_metres_and_none_have_no_distance(self):
    layout = _layout('ramp_use')
    target = layout.sample(50)
    found = task_sets.distance_to_target(target + 2.0, target, layout)
    self.assertAlmostEqual(found, 2.0 * layout.unit)
    self.assertTrue(
      np.isnan(task_sets.distance_to_target(target[:0], target, layout))
    )

  def test_targets_of_hard_spread_are_far_though_as_spread_as_the_easy(self):
    layout = _layout('hard_spread')
    target = task_sets.sample_target(
      layout, {1: {'active_phi': np.ones([1, 16])}}
    )
    easy = target.copy()
    easy[:, :8:2] += 8.0  # Agents in the room of the landmarks.
    self.assertAlmostEqual(
      task_sets.distance_to_target(easy, target, layout), 8.0 / 4
    )


if __name__ == '__main__':
  absltest.main()
