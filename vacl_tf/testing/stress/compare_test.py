# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A planted difference between two runs is found."""

import json
import pathlib
import shutil

import numpy as np
import tensorflow as tf

from vacl_tf.testing.stress import compare
from vacl_tf.training import history
from vacl_tf.training import loggers

_STEPS = (100, 200, 300)


class _Sets:
  def history(self):
    return {'active_phi': np.ones([3, 2], np.float32)}


class DifferencesTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    self.whole = self.folder / 'whole'
    self._make(self.whole)

  def _make(self, path, weight=1.0, last=0.5):
    """Writes a run with the library's own loggers."""
    path.mkdir()
    run = tf.train.Checkpoint(
      weight=tf.Variable(weight),
      wall_seconds=tf.Variable(float(len(str(path)))),
    )
    run.write(str(path / 'checkpoints' / 'ckpt-1'))
    policy = path / 'saved_model'
    run.write(str(policy / 'variables' / 'variables'))
    (policy / 'policy.json').write_text(json.dumps({'env': 'line'}))
    for logger in (
      loggers.CsvLogger(path / 'metrics.csv'),
      loggers.TensorBoardLogger(path / 'events', {}),
    ):
      for i, steps in enumerate(_STEPS):
        row = {'iteration': i + 1, 'env_steps': steps, 'wall_seconds': i + 0.1}
        row['coverage'] = last if i == 2 else 0.25
        logger.write(row)
      logger.close()
    history.record(path / 'curriculum.npz', _Sets(), 1)

  def _changed(self):
    path = self.folder / 'changed'
    shutil.copytree(self.whole, path)
    return path

  def test_runs_that_differ_in_time_alone_are_equal(self):
    other = self.folder / 'other_name'
    self._make(other)
    self.assertEqual(compare.differences(other, self.whole), [])

  def test_a_variable(self):
    other = self.folder / 'other'
    self._make(other, weight=1.0 + 2e-7)
    found = ' '.join(compare.differences(other, self.whole))
    self.assertIn('checkpoint: weight', found)
    self.assertIn('policy: weight', found)

  def test_a_number_in_a_row(self):
    other = self.folder / 'other'
    self._make(other, last=0.500001)
    found = compare.differences(other, self.whole)
    self.assertIn('metrics.csv: coverage differs', found)
    self.assertIn('events: coverage differs', found)

  def test_a_row_that_is_missing_or_there_twice(self):
    path = self._changed()
    metrics = path / 'metrics.csv'
    lines = metrics.read_text().splitlines(keepends=True)
    for changed in (lines[:-1], lines[:2] + lines[1:], lines + ['4,4\n']):
      metrics.write_text(''.join(changed))
      found = compare.differences(path, self.whole)
      self.assertLen([x for x in found if 'metrics.csv' in x][:1], 1)

  def test_a_step_that_tensorboard_shows_twice(self):
    path = self._changed()
    logger = loggers.TensorBoardLogger(path / 'events', {})
    logger.write({'env_steps': 300, 'wall_seconds': 1.0, 'coverage': 0.5})
    logger.close()
    found = compare.differences(path, self.whole)
    self.assertIn('events: coverage differs', found)

  def test_a_snapshot(self):
    path = self._changed()
    history.record(path / 'curriculum.npz', _Sets(), 2)
    found = compare.differences(path, self.whole)
    self.assertIn('curriculum.npz: 2/active_phi is too many', found)

  def test_what_cannot_be_read_and_what_is_left_over(self):
    path = self._changed()
    (path / 'curriculum.npz').write_bytes(b'PK')
    (path / 'metrics.csv.new').touch()
    found = ' '.join(compare.differences(path, self.whole))
    self.assertIn('curriculum.npz cannot be read', found)
    self.assertIn('left over: metrics.csv.new', found)


if __name__ == '__main__':
  tf.test.main()
