# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A run that was killed and resumed equals one that never stopped."""

import csv
import pathlib
import signal
import subprocess
import sys

import numpy as np
from absl.testing import absltest

_LAST, _KILLED = 32, 12
_RESUMED_FROM = 10  # The last multiple of the save interval, 5.
_TIMING = 'wall_seconds'


def _train(folder: pathlib.Path, *numbers: int) -> int:
  """Runs the child process; returns its exit code."""
  command = [sys.executable, '-m', 'vacl_tf.testing.resumable', str(folder)]
  return subprocess.run(
    [*command, *map(str, numbers)], check=False, capture_output=True
  ).returncode


def _metrics(folder: pathlib.Path) -> list[dict[str, str]]:
  with (folder / 'metrics.csv').open(newline='') as file:
    rows = list(csv.DictReader(file))
  for row in rows:
    del row[_TIMING]
  return rows


class ResumeTest(absltest.TestCase):
  def test_kill_and_resume_change_nothing_bit_for_bit(self):
    whole = pathlib.Path(self.create_tempdir('whole').full_path)
    broken = pathlib.Path(self.create_tempdir('broken').full_path)
    self.assertEqual(_train(whole, _LAST), 0)
    self.assertEqual(_train(broken, _LAST, _KILLED), -signal.SIGKILL)
    self.assertLen(_metrics(broken), _KILLED)
    self.assertEqual(_train(broken, _LAST), 0)

    rows = _metrics(whole)
    saved = rows[_RESUMED_FROM - 1]
    # Else the test would not show that the sets come back.
    self.assertGreater(float(saved['solved_tasks']), 0)
    self.assertTrue(any(float(r['newly_solved']) for r in rows[:_RESUMED_FROM]))
    self.assertGreaterEqual(float(saved['active_tasks']), 32)
    self.assertGreaterEqual(_LAST - _RESUMED_FROM, 20)
    self.assertEqual(_metrics(broken), rows)
    with np.load(whole / 'final.npz') as a, np.load(broken / 'final.npz') as b:
      self.assertEqual(a.files, b.files)
      self.assertGreater(len(a.files), 100)
      for name in a.files:
        if _TIMING not in name:
          np.testing.assert_array_equal(a[name], b[name], name)


if __name__ == '__main__':
  absltest.main()
