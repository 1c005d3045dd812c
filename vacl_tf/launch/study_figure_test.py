# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Figures of studies: their mean curves, lines and legends."""

import numpy as np
from absl.testing import absltest

from vacl_tf import statistics
from vacl_tf import studies
from vacl_tf.launch import study_figure


class FigureTest(absltest.TestCase):
  def test_mean_curve_keeps_ends_and_area(self):
    curves = [
      (np.array([10.0, 90.0]), np.array([0.2, 1.0])),
      (np.array([5.0, 50.0]), np.array([0.0, 0.1])),
    ]
    grid, mean = study_figure.mean_curve(curves, 100)
    self.assertEqual(mean[0], 0.0)
    self.assertAlmostEqual(mean[-1], 0.55)
    want = np.mean([statistics.area(*curve, 100) for curve in curves])
    self.assertAlmostEqual(statistics.area(grid, mean, 100), want, places=4)

  def test_what_is_drawn(self):
    steps = np.array([10.0, 100.0])
    curves = {'uniform': 2 * [(steps, steps / 100)]}
    panels = [
      study_figure.Panel('room', 100, curves, {'chance': 0.1}),
      study_figure.Panel('hall', 200, {}, {'chance': 0.2}),
      study_figure.Panel('yard', 200, curves, {'chance': 0.2}),
    ]
    picture = study_figure.draw(
      panels, ['vacl_default', 'uniform'], 'Small', ('steps', 'coverage')
    )
    self.assertEqual(
      [axis.get_title() for axis in picture.axes], ['room', 'hall', 'yard']
    )
    # Two runs, their mean and chance.
    self.assertEqual([len(axis.lines) for axis in picture.axes], [4, 1, 4])
    (legend,) = picture.legends
    self.assertEqual(
      [text.get_text() for text in legend.get_texts()], ['uniform', 'chance']
    )

  def test_every_method_has_a_line_of_its_own(self):
    curves = [(np.array([0, 100]), np.zeros(2))]
    for study in map(studies.find, studies.STUDIES.names()):
      panel = study_figure.Panel(
        'room', 100, dict.fromkeys(study.methods, curves), {}
      )
      picture = study_figure.draw(
        [panel], list(study.methods), 'small', ('steps', 'coverage')
      )
      lines = [
        (line.get_color(), line.get_linestyle())
        for line in picture.axes[0].lines
        if line.get_label() in study.methods
      ]
      self.assertLen(set(lines), len(study.methods))


if __name__ == '__main__':
  absltest.main()
