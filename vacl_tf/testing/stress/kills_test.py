# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Processes die where they should, and nowhere else."""

import os
import pathlib
import signal
import subprocess
import sys
from unittest import mock

from absl.testing import absltest

from vacl_tf.testing import commands
from vacl_tf.testing.stress import compare
from vacl_tf.testing.stress import killed
from vacl_tf.testing.stress import kills
from vacl_tf.testing.stress import runs

# Three operations in the folder, and some beside it.
_WRITER = """
import os, pathlib, sys
folder = pathlib.Path(sys.argv[1])
(folder.parent / 'beside').write_text('x')
(folder / 'a').write_text('x')
(folder / 'a').read_text()
os.replace(folder / 'a', folder / 'b')
(folder / 'b').unlink()
"""


class KilledTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    (self.folder / 'writer.py').write_text(_WRITER)

  def _run(self, number):
    """Returns the exit code of the writer, killed at an operation."""
    path = self.folder / f'run{number}'
    path.mkdir()
    before = os.environ.get('PYTHONPATH', '')
    paths = [str(self.folder), *filter(None, [before]), *sys.path]
    return subprocess.run(
      [sys.executable, '-m', killed.__name__]
      + [str(number), str(path), 'writer', str(path)],
      env={**os.environ, 'PYTHONPATH': os.pathsep.join(paths)},
      check=False,
    ).returncode

  def test_counts_what_changes_the_folder(self):
    self.assertEqual(self._run(0), 0)
    count = (self.folder / 'run0.operations').read_text()
    self.assertEqual(count, '3')

  def test_dies_before_the_operation(self):
    for number, left in ((1, []), (2, ['a']), (3, ['b'])):
      self.assertEqual(self._run(number), -signal.SIGKILL)
      names = [x.name for x in (self.folder / f'run{number}').iterdir()]
      self.assertEqual(names, left)
    self.assertEqual(self._run(4), 0)


class ChainTest(absltest.TestCase):
  def _chain(self, code, err=''):
    """Returns what is found if the first process ends by itself."""
    kind, path = runs.KINDS[0], pathlib.Path('run')
    ended = commands.Ended(code, '', err)
    with (
      mock.patch.object(kills, 'killed', return_value=ended),
      mock.patch.object(kills, '_start') as started,
      mock.patch.object(runs, 'whole', return_value=path),
      mock.patch.object(compare, 'differences', return_value=[]),
    ):
      started.return_value.wait.return_value = commands.Ended(0, '', '')
      found = kills._chain(kind, path, path, [kills.Moment(operation=1)])
      enough = kills._killed_enough(kind, path, [kills.Moment(operation=1)])
    self.assertIn('0 kills instead of', enough[-1].problem)
    return found

  def test_one_that_ends_before_its_moment_is_nothing(self):
    self.assertEmpty(self._chain(0))

  def test_one_that_fails_by_itself_is_told(self):
    (found,) = self._chain(1, 'error: lost')
    self.assertIn('exit code 1', found.problem)


class MomentsTest(absltest.TestCase):
  def test_of_each_sort_and_the_same_each_time(self):
    found = kills.moments(1, operations=50, seconds=9.0)
    self.assertEqual(found, kills.moments(1, operations=50, seconds=9.0))
    self.assertNotEqual(found, kills.moments(2, operations=50, seconds=9.0))
    self.assertGreaterEqual(len(found), 3 * kills.NUM_KILLS)
    third = len(found) / 3
    for name in kills.Moment._fields:
      if name != 'times':
        number = sum(bool(getattr(x, name)) for x in found)
        self.assertAlmostEqual(number, third, delta=2)
    self.assertLessEqual(max(x.operation for x in found), 50)
    self.assertLess(max(x.seconds for x in found), 9.0)

  def test_a_hundred_in_all(self):
    self.assertGreaterEqual(2 * kills.NUM_KILLS, 100)

  def test_changes_of_files_are_seen(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    (folder / 'old.csv').write_text('x')
    watch = kills.Watch(folder, '*.csv')
    self.assertEqual(watch.poll(), 0)
    (folder / 'new.txt').write_text('x')
    self.assertEqual(watch.poll(), 0)
    (folder / 'new.csv').write_text('x')
    self.assertEqual(watch.poll(), 1)
    (folder / 'old.csv').write_text('xx')
    self.assertEqual(watch.poll(), 2)
    (folder / 'old.csv').unlink()
    self.assertEqual(watch.poll(), 2)


if __name__ == '__main__':
  absltest.main()
