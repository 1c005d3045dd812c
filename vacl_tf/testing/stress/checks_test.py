# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The suite sees what is wrong, and says it."""

import json
import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.testing import commands
from vacl_tf.testing.stress import checks

_TRACEBACK = 'Traceback (most recent call last):\n  File "x"\nKeyError: 1\n'


class ComplaintTest(parameterized.TestCase):
  @parameterized.parameters(
    (2, 'error: no such flag; give another\n'),
    (2, 'note: a file was set aside\nerror: no\n'),
    (0, ''),
    (0, 'note: a file was set aside\n'),
  )
  def test_what_is_right(self, code, err):
    ended = commands.Ended(code, 'out', err)
    self.assertEqual(checks.complaint(ended, (0, 2)), '')

  @parameterized.parameters(
    (1, _TRACEBACK, 'traceback'),
    (0, _TRACEBACK, 'traceback'),
    (2, '', '0 lines'),
    (2, 'error: a\nmore\n', '2 lines'),
    (1, 'error: a\n', 'exit code 1'),
    (-11, '', 'exit code -11'),
    (0, 'W0000 a library complains\n', 'succeeds, but says'),
  )
  def test_what_is_wrong(self, code, err, message):
    found = checks.complaint(commands.Ended(code, '', err), (0, 2))
    self.assertIn(message, found)

  def test_a_line_that_nobody_reads(self):
    ended = commands.Ended(2, '', 'error: ' + 'x' * 2000 + '\n')
    self.assertIn('characters', checks.complaint(ended, (2,)))

  def test_a_traceback_on_standard_output_counts(self):
    ended = commands.Ended(0, _TRACEBACK, '')
    self.assertIn('traceback', checks.complaint(ended, (0,)))


class TableTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.checks = [
      checks.Check('damage', 'plot', 'a: cut'),
      checks.Check('damage', 'plot', 'b: cut', 'lost in /tmp/work1/run/b.csv'),
      checks.Check('kills', 'runs', '1'),
    ]
    self.minutes = {'damage': 1.25, 'kills': 60.0}

  def test_counts_by_group(self):
    table = '\n'.join(checks.table(self.checks, self.minutes))
    self.assertIn('| damage | plot | 2 | 1 |', table)
    self.assertIn('| kills | runs | 1 | 0 |', table)
    self.assertIn('kills 60.0', table)

  def test_problems_of_a_group_are_bounded(self):
    many = [checks.Check('damage', 'plot', str(i), 'bad') for i in range(9)]
    self.assertLen(checks.problems(many, 4), 4)

  def test_written_results_name_no_folder_of_the_machine(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    checks.write(folder, self.checks, self.minutes, {'commit': 'abc'})
    text = (folder / 'reliability.md').read_text()
    found = json.loads((folder / 'reliability.json').read_text())
    self.assertEqual(found['commit'], 'abc')
    self.assertLen(found['checks'], 3)
    self.assertIn('lost in .../b.csv', text)
    for said in (text, json.dumps(found)):
      self.assertNotIn('work1', said)


if __name__ == '__main__':
  absltest.main()
