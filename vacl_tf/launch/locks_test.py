# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A lock has one holder, who says so, and dies with its process."""

import errno
import os
import pathlib
import subprocess
import sys
import warnings
from unittest import mock

from absl.testing import absltest

from vacl_tf.launch import locks

_HOLD = """
import pathlib, sys
from vacl_tf.launch import locks

with locks.hold(pathlib.Path(sys.argv[1])):
  print('held', flush=True)
  sys.stdin.read()
"""


class HoldTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.path = pathlib.Path(self.create_tempdir().full_path) / 'lock'

  def test_what_another_wrote_is_taken_over(self):
    self.path.write_text('process 1 on another machine, with a long name\n')
    with locks.hold(self.path):
      text = self.path.read_text()
      self.assertRegex(text, rf'^process {os.getpid()} on \S+\n$')
      with self.assertRaisesRegex(
        locks.BusyError, f'is in use by process {os.getpid()} on '
      ):
        with locks.hold(self.path):
          pass
      self.assertEqual(self.path.read_text(), text)
    with locks.hold(self.path):
      pass

  def test_without_flock_the_file_stays_as_it_is_found_stale_by(self):
    error = OSError(errno.ENOSYS, 'no locks here')
    with (
      mock.patch('fcntl.flock', side_effect=error),
      warnings.catch_warnings(action='ignore'),
      locks.hold(self.path),
    ):
      self.assertEqual(self.path.read_text().split()[0], str(os.getpid()))
      with self.assertRaisesRegex(locks.BusyError, f'{os.getpid()} '):
        with locks.hold(self.path):
          pass

  def test_it_ends_with_its_process(self):
    with subprocess.Popen(
      [sys.executable, '-c', _HOLD, self.path],
      stdin=subprocess.PIPE,
      stdout=subprocess.PIPE,
      text=True,
    ) as process:
      self.assertEqual(process.stdout.readline(), 'held\n')
      with self.assertRaisesRegex(locks.BusyError, f'{process.pid} on '):
        with locks.hold(self.path):
          pass
      process.kill()
      process.wait()
    with locks.hold(self.path):
      self.assertIn(str(os.getpid()), self.path.read_text())


if __name__ == '__main__':
  absltest.main()
