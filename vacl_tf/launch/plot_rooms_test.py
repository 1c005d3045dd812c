# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shades and lines of rooms lie where the tasks are."""

import pathlib

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from matplotlib import figure

from vacl_tf import config
from vacl_tf.environments import map_layout
from vacl_tf.launch import plot_rooms
from vacl_tf.launch import records

_ROOM = (-2.0, 2.0, -1.0, 1.0)
_LAYOUT = map_layout.MapLayout(('agent', 'goal'), 'agent', 'goal', _ROOM, _ROOM)


class DensityTest(absltest.TestCase):
  def test_shares_lie_where_the_points_are(self):
    shares = plot_rooms.density(np.array([[1.0, -0.5]] * 7), _LAYOUT)
    rows, columns = shares.shape
    self.assertGreater(columns, 1.5 * rows)
    self.assertAlmostEqual(shares.sum(), 1.0)
    left, right, bottom, top = plot_rooms._extent(shares, _LAYOUT)
    row, column = np.unravel_index(shares.argmax(), shares.shape)
    x = left + (right - left) * (column + 0.5) / columns
    y = bottom + (top - bottom) * (row + 0.5) / rows
    self.assertLess(np.hypot(x - 1.0, y + 0.5), 0.2)

  def test_points_beyond_the_room_are_at_its_edge(self):
    shares = plot_rooms.density(np.array([[9.0, 9.0]]), _LAYOUT)
    self.assertEqual(
      np.unravel_index(shares.argmax(), shares.shape),
      (shares.shape[0] - 1, shares.shape[1] - 1),
    )

  def test_the_line_holds_nine_tenths(self):
    rng = np.random.default_rng(0)
    points = rng.normal(0.0, 0.3, [20_000, 2])
    axis = figure.Figure().subplots()
    plot_rooms._outline(axis, points, _LAYOUT)
    (path,) = axis.collections[0].get_paths()
    # The line is blurred outwards, and its level is of whole bins.
    self.assertBetween(path.contains_points(points).mean(), 0.88, 0.99)

  def test_many_kinds_need_more_height_and_low_rooms_less(self):
    phi = np.random.default_rng(0).uniform(-1, 1, [9, 4])
    snapshots = {1: {'active_phi': phi, 'solved_phi': phi}}
    heights = [
      plot_rooms.height(_LAYOUT._replace(kinds=kinds), snapshots)
      for kinds in (('agent', 'goal'), ('agent', 'ball', 'goal'))
    ]
    square = _LAYOUT._replace(movers=(-2.0, 2.0, -2.0, 2.0))
    self.assertLess(heights[0], heights[1])
    self.assertLess(heights[0], plot_rooms.height(square, snapshots))
    tower = _LAYOUT._replace(movers=(-2.0, 2.0, -900.0, 900.0))
    self.assertLess(plot_rooms.height(tower, snapshots), 20.0)  # Inches.


class DrawTest(parameterized.TestCase):
  @parameterized.named_parameters(
    ('with_goals', 'goal', ['share of\ngoals']), ('without', 'agent', [])
  )
  def test_distances_are_drawn_where_there_are_goals(self, goal, shares):
    layout = _LAYOUT._replace(
      kinds=('agent', goal), goal=goal, length='cells', counts=((1, 1),)
    )
    phi = np.random.default_rng(0).uniform(-1, 1, [9, 4])
    record = records.Record(
      path=pathlib.Path(),
      cfg=config.Config(),
      columns={'iteration': np.array([1.0]), 'env_steps': np.array([100.0])},
      length=config.RunLength(),
    )
    picture = figure.Figure()
    [part] = picture.subfigures(1, 1, squeeze=False)[0]
    snapshots = {1: {'active_phi': phi, 'solved_phi': phi}}
    plot_rooms.draw(part, record, snapshots, layout, phi)
    names = [axis.get_ylabel() for axis in part.axes]
    kinds = [f'{kind}s' for kind in dict.fromkeys(layout.kinds)]
    self.assertEqual([x for x in names if x], kinds + shares)
    lengths = ' '.join(axis.get_xlabel() for axis in part.axes)
    self.assertIn('cells', lengths)
    self.assertNotIn('metres', lengths)
    [legend] = part.legends
    told = [text.get_text() for text in legend.get_texts()]
    self.assertEqual('target tasks' in told, bool(shares))


if __name__ == '__main__':
  absltest.main()
