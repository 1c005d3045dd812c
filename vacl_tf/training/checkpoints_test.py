# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Broken checkpoints: what is whole is found, nothing else is touched."""

import errno
import os
import pathlib
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import randomness
from vacl_tf.testing import fakes
from vacl_tf.training import checkpoints


class _Counter(tf.Module):
  """Stands for a run."""

  def __init__(self) -> None:
    super().__init__(name='counter')
    self.value = tf.Variable(0)
    self.block = tf.Variable(tf.zeros([1000]))


class CheckpointerTest(tf.test.TestCase, parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.directory = pathlib.Path(self.create_tempdir().full_path) / 'ckpt'
    self.notes = []

  def _open(self) -> tuple[_Counter, checkpoints.Checkpointer, bool]:
    counter = _Counter()
    checkpointer = checkpoints.Checkpointer(counter, self.directory, 3)
    return counter, checkpointer, checkpointer.restore(self.notes.append)

  def _save(self, *values: int) -> None:
    counter, checkpointer, _ = self._open()
    for value in values:
      counter.value.assign(value)
      counter.block.assign(tf.fill([1000], float(value)))
      checkpointer.save()

  def test_an_empty_directory_starts_afresh(self):
    counter, _, is_restored = self._open()
    self.assertFalse(is_restored)
    self.assertEqual(counter.value, 0)

  def test_the_newest_comes_back_and_old_ones_go(self):
    self._save(1, 2, 3, 4, 5)
    counter, _, is_restored = self._open()
    self.assertTrue(is_restored)
    self.assertEqual(counter.value, 5)
    self.assertLen(list(self.directory.glob('ckpt-*.index')), 3)

  def test_old_ones_go_after_a_restart_too(self):
    self._save(1, 2, 3)
    self._save(4, 5)
    self._save(6)
    kept = sorted(path.name for path in self.directory.glob('ckpt-*.index'))
    self.assertEqual(kept, [f'ckpt-{number}.index' for number in (4, 5, 6)])

  def test_a_list_of_earlier_versions_means_nothing(self):
    self._save(1, 2)
    names = self.directory / 'checkpoint'
    names.write_text('model_checkpoint_path: "ckpt-1"')
    self._save(3)
    self.assertEqual(self._open()[0].value, 3)
    self.assertLen(list(self.directory.glob('ckpt-*.index')), 3)
    self.assertFalse(names.exists())  # Others would believe it.

  def test_one_that_tensorflow_wrote_comes_back_and_goes_when_it_is_old(self):
    counter = _Counter()
    manager = tf.train.CheckpointManager(
      tf.train.Checkpoint(run=counter), str(self.directory), 3
    )
    for value in (1, 2):
      counter.value.assign(value)
      manager.save()
    self.assertEqual(self._open()[0].value, 2)
    self._save(3, 4, 5)
    kept = sorted(path.name for path in self.directory.iterdir())
    self.assertEqual(
      kept,
      [
        f'ckpt-{number}.{part}'
        for number in (3, 4, 5)
        for part in ('data-00000-of-00001', 'index')
      ],
    )

  def test_what_was_cut_short_is_told_once_and_cleared(self):
    for is_first in (True, False):
      self.notes.clear()
      for name in ('ckpt-4_temp', 'new'):
        (self.directory / name).mkdir(parents=True)
        (self.directory / name / 'part').write_text('half')
      (self.directory / 'ckpt-4.data-00000-of-00001').write_text('half')
      self.assertEqual(self._open()[2], not is_first)
      self.assertLen(self.notes, 1)
      self.assertIn('(ckpt-4.data-00000-of-00001, ckpt-4_temp', self.notes[0])
      self._save(1)
      self.assertLen(self.notes, 1)
      self.assertLen(list(self.directory.iterdir()), 2 if is_first else 4)

  @parameterized.parameters('x*', 'q?', 'a,b', '{a,b}', ' a ', 'new\nline', 'é')
  def test_a_folder_of_any_name_keeps_to_itself(self, name):
    beside = {'x*': 'xVICTIM', 'q?': 'qa', '{a,b}': 'a'}.get(name, 'other')
    self.directory = other = self.directory.parent / beside / 'ckpt'
    self._save(7, 8)
    files = {path: path.read_bytes() for path in other.iterdir()}
    self.directory = other.parent.with_name(name) / 'ckpt'
    self._save(1, 2)
    self._save(3, 4, 5)
    self.assertEqual(self._open()[0].value, 5)
    self.assertLen(list(self.directory.iterdir()), 6)
    self.assertEqual({x: x.read_bytes() for x in other.iterdir()}, files)

  def test_a_truncated_checkpoint_falls_back_and_is_kept_aside(self):
    self._save(1, 2)
    data = next(self.directory.glob('ckpt-2.data*'))
    data.write_bytes(data.read_bytes()[:100])
    counter, checkpointer, is_restored = self._open()
    self.assertTrue(is_restored)
    self.assertEqual(counter.value, 1)
    self.assertAllEqual(counter.block, np.ones(1000))
    self.assertLen(self.notes, 1)
    self.assertIn('ckpt-2', self.notes[0])
    self.assertLen(list(self.directory.glob('ckpt-2.*.broken')), 2)
    checkpointer.save()
    self.assertTrue((self.directory / 'ckpt-3.index').exists())
    self.assertFalse((self.directory / 'ckpt-2.index').exists())

  @parameterized.parameters('ckpt-1.index', 'ckpt-1.data-00000-of-00001')
  def test_a_folder_in_place_of_an_old_one_stops_no_save(self, name):
    self._save(1, 2)
    path = self.directory / name
    path.unlink()
    (path / 'mine').mkdir(parents=True)
    self._save(3, 4)
    self.assertTrue((path / 'mine').is_dir())
    self.assertEqual(self._open()[0].value, 4)

  @parameterized.parameters(errno.EACCES, errno.EIO, errno.ESTALE)
  def test_one_that_cannot_be_read_now_is_left_as_it_is(self, number):
    self._save(1, 2)
    before = {x: x.read_bytes() for x in self.directory.iterdir()}
    refused = OSError(number, os.strerror(number))
    of_tensorflow = tf.errors.PermissionDeniedError(None, None, 'no')
    with (
      mock.patch.object(
        tf.train.Checkpoint, 'restore', side_effect=of_tensorflow
      ),
      mock.patch.object(pathlib.Path, 'open', side_effect=refused),
      self.assertRaisesRegex(
        checkpoints.UnusableError, 'ckpt-2.* cannot be read .* it is unchanged'
      ),
    ):
      self._open()
    after = {x: x.read_bytes() for x in self.directory.iterdir()}
    self.assertEqual(after, before)
    self.assertEqual(self._open()[0].value, 2)

  def test_damage_in_the_middle_of_the_data_is_noticed(self):
    self._save(1, 2)
    data = next(self.directory.glob('ckpt-2.data*'))
    content = bytearray(data.read_bytes())
    content[len(content) // 2] ^= 0xFF
    data.write_bytes(bytes(content))
    self.assertEqual(self._open()[0].value, 1)

  def test_an_empty_index_falls_back(self):
    self._save(1, 2)
    (self.directory / 'ckpt-2.index').write_bytes(b'')
    self.assertEqual(self._open()[0].value, 1)

  def test_it_refuses_to_start_afresh_beside_broken_ones(self):
    self._save(1)
    next(self.directory.glob('ckpt-1.data*')).write_bytes(b'')
    for _ in range(2):  # The second time there are *.broken files alone.
      with self.assertRaisesRegex(checkpoints.UnusableError, 'another run_dir'):
        self._open()

  def test_one_of_before_there_were_parents_goes_on(self):
    def make():
      cfg = config.Config(curriculum=config.TaskExpansionConfig(capacity=30))
      made = curriculum.make(cfg, [fakes.LineWorld()], randomness.root(0))
      return tf.Module(), made

    old, old_sets = make()
    # As it was: without the variables that are now there.
    for members in (old_sets.active, old_sets.solved):
      members.rows = dict(members.rows._asdict())
      del members.rows['parent']
    old.curriculum = old_sets
    old_sets.active.count.assign(7)
    checkpoints.Checkpointer(old, self.directory, 1).save()
    new, sets = make()
    new.curriculum = sets
    new.decay_start = tf.Variable(3)
    checkpointer = checkpoints.Checkpointer(new, self.directory, 1)
    self.assertTrue(checkpointer.restore(self.fail))
    self.assertEqual(int(sets.active.count), 7)
    self.assertEqual(int(new.decay_start), 3)
    self.assertTrue(np.isnan(sets.active.rows.parent).all())
    new.more = tf.Variable(0)  # Which no earlier version lacked.
    checkpointer = checkpoints.Checkpointer(new, self.directory, 1)
    with self.assertRaisesRegex(checkpoints.UnusableError, 'another agent'):
      checkpointer.restore(self.fail)

  def test_one_of_another_layout_is_refused_and_left_alone(self):
    self._save(1, 2)
    before = sorted(self.directory.iterdir())

    class Other(_Counter):
      def __init__(self) -> None:
        super().__init__()
        self.more = tf.Variable(0)

    checkpointer = checkpoints.Checkpointer(Other(), self.directory, 3)
    with self.assertRaisesRegex(
      checkpoints.UnusableError, 'ckpt-2 was saved with another agent'
    ) as caught:
      checkpointer.restore(self.notes.append)
    self.assertNotIn('\n', str(caught.exception))
    self.assertEmpty(self.notes)
    self.assertEqual(sorted(self.directory.iterdir()), before)

  def test_one_of_another_shape_is_refused_and_left_alone(self):
    self._save(1, 2)
    before = sorted(self.directory.iterdir())
    other = _Counter()
    other.block = tf.Variable(tf.zeros([3]))
    checkpointer = checkpoints.Checkpointer(other, self.directory, 3)
    with self.assertRaisesRegex(
      checkpoints.UnusableError, 'ckpt-2 was saved with another agent'
    ):
      checkpointer.restore(self.notes.append)
    self.assertEmpty(self.notes)
    self.assertEqual(sorted(self.directory.iterdir()), before)
    self.assertTrue(
      checkpoints.Checkpointer(_Counter(), self.directory, 3).restore(self.fail)
    )

  def test_reading_changes_no_file(self):
    self._save(1, 2)
    next(self.directory.glob('ckpt-2.data*')).write_bytes(b'')
    before = sorted(self.directory.iterdir())
    counter = _Counter()
    self.assertTrue(
      checkpoints.Checkpointer(counter, self.directory, 1).read_newest()
    )
    self.assertEqual(counter.value, 1)
    self.assertEqual(sorted(self.directory.iterdir()), before)


if __name__ == '__main__':
  tf.test.main()
