# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Snapshots stay few, small and spread over the run."""

import pathlib

import numpy as np
import tensorflow as tf

from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf.testing import fakes
from vacl_tf.training import history


class RecordTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    folder = pathlib.Path(self.create_tempdir().full_path)
    self.path = folder / 'curriculum.npz'
    cfg = config.Config(
      curriculum=config.TaskExpansionConfig(capacity=1300, num_easy_tasks=1200)
    )
    self.curriculum = curriculum.make(
      cfg, [fakes.LineWorld()], randomness.root(0)
    )

  def _iterations(self) -> list[int]:
    with np.load(self.path) as arrays:
      return sorted({int(key.split('/')[0]) for key in arrays.files})

  def test_a_long_run_keeps_a_few_that_span_it(self):
    for iteration in range(1, 42):
      history.record(self.path, self.curriculum, iteration)
    found = self._iterations()
    self.assertLessEqual(len(found), 11)
    self.assertEqual((found[0], found[-1]), (1, 41))
    self.assertLess(max(np.diff(found)), 21)
    self.assertLess(self.path.stat().st_size, 1_000_000)

  def test_tasks_of_many_agents_stay_small_too(self):
    world = environments.load('simple_spread', num_agents=24)
    made = curriculum.make(config.Config(), [world], randomness.root(0))
    made.solved.append(
      made.active.rows, tf.range(made.active.size) < made.active.count
    )
    for iteration in range(1, 12):
      history.record(self.path, made, iteration)
    self.assertLess(self.path.stat().st_size, 1_000_000)
    with np.load(self.path) as arrays:
      self.assertGreaterEqual(len(arrays['11/active_phi']), 100)
      self.assertLen(arrays['11/solved_value'], len(arrays['11/solved_phi']))

  def test_rows_are_those_of_the_sets(self):
    history.record(self.path, self.curriculum, 7)
    with np.load(self.path) as arrays:
      phi = arrays['7/active_phi']
      self.assertLessEqual(len(phi), 500)
      self.assertAllEqual(phi, self.curriculum.active.rows.phi[:1200:3])
      self.assertEmpty(arrays['7/solved_phi'])

  def test_a_run_set_back_forgets_what_was_later(self):
    for iteration in (1, 2, 3, 2):
      history.record(self.path, self.curriculum, iteration)
    self.assertEqual(self._iterations(), [1, 2])

  def test_a_curriculum_without_sets_writes_nothing(self):
    uniform = curriculum.make(
      config.Config(curriculum=config.CurriculumConfig(name='uniform')),
      [fakes.LineWorld()],
      randomness.root(0),
    )
    history.record(self.path, uniform, 1)
    self.assertFalse(self.path.exists())


if __name__ == '__main__':
  tf.test.main()
