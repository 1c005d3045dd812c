# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for benchmark_folder: who may use it, and what is never removed."""

import pathlib
import threading
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.launch import benchmark_folder
from vacl_tf.launch import benchmark_submission
from vacl_tf.launch import command_line

_OLD, _NEW = (
  benchmark_submission.Submission('mine', 'mine.py', content)
  for content in (b'# Old.', b'# Mended.')
)


class FolderTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.output = pathlib.Path(self.create_tempdir().full_path) / 'out'
    self.run = self.output / 'runs/spread_4/seed100'

  def _hold(self, submission=_OLD, shard=(1, 1)):
    return benchmark_folder.held(self.output, submission, 'full', shard)

  def _begin(self, *inside):
    with self._hold():
      for name in ('config.json', 'checkpoints/ckpt-1.index', *inside):
        path = self.run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('iteration,coverage\n')

  def test_a_mended_file_begins_anew(self):
    self._begin('metrics.csv')
    with self._hold(_NEW):
      self.assertFalse(self.run.exists())
    with self.assertRaisesRegex(command_line.UsageError, 'sha256 .* instead'):
      self._begin()  # With the old file, which makes a run again,
      self._begin('checkpoints/ckpt-2.index')  # and one that is trained.
      self._hold(_NEW).__enter__()

  @parameterized.parameters(
    'checkpoints/ckpt-2.index', 'evaluation.json', 'metrics.csv', 'rows'
  )
  def test_what_was_trained_stays(self, name):
    self._begin(*(() if name == 'rows' else (name,)))
    if name == 'metrics.csv':
      (self.run / name).write_text('iteration,coverage\n1,0.5\n')
    if name == 'rows':
      (self.output / 'rows/spread_4-seed100.json').touch()
    with self.assertRaisesRegex(command_line.UsageError, 'rename it, or'):
      self._hold(_NEW).__enter__()
    self.assertTrue(self.run.exists())

  @parameterized.parameters((1, 1), (1, 2))
  def test_nobody_begins_anew_while_another_one_trains(self, *shard):
    self._begin()
    with self._hold(shard=(2, 2)):
      with self.assertRaisesRegex(command_line.UsageError, 'is in use by'):
        self._hold(_NEW, shard).__enter__()
    self.assertTrue(self.run.exists())
    with self._hold(_NEW, shard):  # Locks that nobody holds do not matter.
      self.assertFalse(self.run.exists())

  def test_a_part_has_one_machine(self):
    with self._hold(shard=(1, 2)), self._hold(shard=(2, 2)):
      with self.assertRaisesRegex(command_line.UsageError, 'is in use by'):
        self._hold(shard=(2, 2)).__enter__()

  def test_machines_may_begin_at_the_same_time(self):
    number, failed = 8, []
    begin = threading.Barrier(number)

    def enter(index):
      begin.wait()
      try:
        with self._hold(shard=(index + 1, number)):
          begin.wait()
      except Exception as error:
        failed.append(error)
        begin.abort()

    threads = [
      threading.Thread(target=enter, args=(index,)) for index in range(number)
    ]
    for thread in threads:
      thread.start()
    for thread in threads:
      thread.join()
    self.assertEqual(failed, [])

  def test_who_takes_too_long_is_named(self):
    with self._hold(), benchmark_folder.alone(self.output):
      with mock.patch.object(benchmark_folder, '_PATIENCE', 0.0):
        with self.assertRaisesRegex(command_line.UsageError, 'wait for it'):
          benchmark_folder.alone(self.output).__enter__()


if __name__ == '__main__':
  absltest.main()
