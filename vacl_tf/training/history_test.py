# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Snapshots stay few, small and spread over the run."""

import errno
import os
import pathlib
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf.testing import fakes
from vacl_tf.training import files
from vacl_tf.training import history


class RecordTest(tf.test.TestCase, parameterized.TestCase):
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

  def test_parents_are_those_of_their_rows(self):
    active = self.curriculum.active.rows
    active.parent.assign(active.phi + 1.0)
    history.record(self.path, self.curriculum, 7)
    with np.load(self.path) as arrays:
      rows = arrays['7/active_parent_row']
      self.assertBetween(len(rows), 50, len(arrays['7/active_phi']))
      children = arrays['7/active_phi'][rows]
      self.assertAllEqual(arrays['7/active_parent'], children + 1.0)
      self.assertEmpty(arrays['7/solved_parent'])

  def test_a_run_set_back_forgets_what_was_later(self):
    for iteration in (1, 2, 3, 2):
      history.record(self.path, self.curriculum, iteration)
    self.assertEqual(self._iterations(), [1, 2])

  def test_cut_keeps_what_an_unbroken_run_would_have(self):
    for last, kept in (
      (9, [1, 5, 8]),
      (8, [1, 5]),
      (5, [1, 5]),
      (1, [1]),
      (0, []),
    ):
      for iteration in (1, 5, 8, 10):
        history.record(self.path, self.curriculum, iteration)
      history.cut(self.path, last, 5, self.fail)
      self.assertEqual(self._iterations() if kept else [], kept)
    self.assertFalse(self.path.exists())
    history.cut(self.path, 5, 5, self.fail)

  def test_what_is_written_is_the_old_one_or_the_new_one(self):
    history.record(self.path, self.curriculum, 1)
    before = self.path.read_bytes()
    full = OSError(errno.ENOSPC, 'No space left on device')
    with mock.patch.object(os, 'fsync', side_effect=full):
      with self.assertRaisesRegex(files.WriteError, 'No space left'):
        history.record(self.path, self.curriculum, 2)
    self.assertEqual(self.path.read_bytes(), before)
    self.assertEqual(list(self.path.parent.iterdir()), [self.path])

  def _assert_set_aside(self) -> None:
    notes = []
    history.cut(self.path, 5, 5, notes.append)
    self.assertLen(notes, 1)
    self.assertNotIn('\n', notes[0])
    self.assertFalse(self.path.exists())
    self.assertTrue(self.path.with_name(f'{self.path.name}.broken1').exists())
    history.record(self.path, self.curriculum, 6)
    self.assertEqual(self._iterations(), [6])

  @parameterized.parameters(b'', b'no archive', b'PK\x03\x04 cut')
  def test_a_broken_one_is_set_aside(self, content):
    self.path.write_bytes(content)
    self._assert_set_aside()

  @parameterized.parameters(0.2, 0.5, 0.9)
  def test_one_that_is_cut_or_damaged_is_set_aside(self, share):
    history.record(self.path, self.curriculum, 5)
    content = self.path.read_bytes()
    self.path.write_bytes(content[: int(share * len(content))])
    self._assert_set_aside()

  def test_one_that_expands_without_end_is_set_aside_unread(self):
    np.savez_compressed(self.path, **{'1/phi': np.zeros(10**8, np.int8)})
    notes = []
    history.cut(self.path, 5, 5, notes.append)
    self.assertIn('it expands to 100,000,128 bytes; allowed: ', notes[0])

  def test_one_with_foreign_names_is_set_aside(self):
    np.savez(self.path, phi=np.zeros(3))
    self._assert_set_aside()

  def test_a_folder_in_its_place_is_set_aside(self):
    self.path.mkdir()
    self._assert_set_aside()

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
