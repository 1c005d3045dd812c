# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pictures of curricula show tasks where they are, early to late."""

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import environments
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf.launch import plot_curriculum


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
    chosen = plot_curriculum.choose_snapshots(snapshots)
    self.assertEqual(chosen, [1, 10, 20, 50])

  def test_growth_from_a_corner(self):
    noise = np.random.default_rng(0).uniform(-1, 1, [500, 4])
    snapshots = {
      iteration: {'active_phi': [9, 0, 9, 0] + noise * size}
      for iteration, size in zip((1, 10, 20, 50), (0.1, 1, 2, 3), strict=True)
    }
    chosen = plot_curriculum.choose_snapshots(snapshots)
    self.assertEqual(chosen, [1, 10, 20, 50])


class LayoutTest(parameterized.TestCase):
  def test_nearest_mover(self):
    phi = np.array([[0, 0, 3, 0, 0, 1, 3, 4]], np.float32)  # Two and two.
    np.testing.assert_allclose(
      plot_curriculum.nearest_mover(phi, _layout('simple_spread')), [1, 4]
    )
    phi = np.array([[9, 9, 0, 0, 0, 1, 2, 0, 0, 3]], np.float32)
    np.testing.assert_allclose(
      plot_curriculum.nearest_mover(phi, _layout('speaker_listener')), [1, 2, 3]
    )

  @parameterized.parameters(
    'simple_spread', 'hard_spread', 'push_ball', 'speaker_listener'
  )
  def test_layout_is_that_of_the_environment(self, name):
    layout = _layout(name)
    space = environments.load(name).task_space
    phi = space.sample_target(500, randomness.root(0)).numpy()
    points = phi.reshape(500, len(layout.kinds), -1, 2)
    for kind, found in zip(
      layout.kinds, points.transpose(1, 3, 0, 2), strict=True
    ):
      box = layout.goals if kind == layout.goal else layout.movers
      sides = np.reshape(box, [2, 2])
      np.testing.assert_allclose(found.min((1, 2)), sides[:, 0], atol=0.1)
      np.testing.assert_allclose(found.max((1, 2)), sides[:, 1], atol=0.1)

  @parameterized.parameters(('ramp_use', 4), ('lock_and_return', 8))
  def test_tasks_of_hide_and_seek_are_in_metres(self, name, num_dims):
    layout = _layout(name)
    phi = layout.sample(50)
    self.assertEqual(phi.shape, (50, num_dims))
    points = layout.points(phi)
    self.assertEqual(tuple(points), layout.kinds)
    for found in points.values():
      self.assertEqual(found.shape, (50, num_dims // 4, 2))
      self.assertBetween(found.min(), 0.1, 1.0 if num_dims == 4 else 7.0)
      self.assertBetween(found.max(), layout.goals[1] - 2.0, layout.goals[1])

  def test_counts_of_agents_and_boxes_may_differ(self):
    cfg = presets.make(env='lock_and_return', num_agents=4)
    layout = plot_curriculum.layout_of(cfg)
    for num_agents, num_boxes in ((2, 2), (4, 2), (4, 4)):
      num = num_agents + num_boxes
      points = layout.points(np.arange(2.0 * num).reshape(1, -1))
      self.assertEqual(points['agent'].shape, (1, num_agents, 2))
      np.testing.assert_allclose(
        points['box'][0, :, 0], 0.4 * np.arange(num_agents, num)
      )


if __name__ == '__main__':
  absltest.main()
