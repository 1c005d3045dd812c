# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Outputs that nobody reads, or that break, end no command in a traceback."""

import os
import pathlib
import subprocess
import sys

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.launch import command_line

# A command that prints, writes a file and prints again. Its first argument
# says whether what it prints is what it is for.
_COMMAND = """
import pathlib, sys
import rich.live
from vacl_tf.launch import command_line

def main():
  print('first', flush=True)
  with rich.live.Live('a table'):
    pass
  print('a' * 100_000)
  print('folder \\u00e9 \\udce9')
  print('note', file=sys.stderr, flush=True)
  pathlib.Path(path).write_text('done')
  print('last')

_, kind, path = sys.argv
del sys.argv[1:]
command_line.start(main, is_printer=kind == 'printer')
"""
_KINDS = ('trainer', 'printer')


class OutputsTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.path = pathlib.Path(self.create_tempdir().full_path) / 'file'

  def _run(self, kind: str, shell: str, **variables: str) -> tuple[int, str]:
    """Returns exit code and stderr of the command with redirections."""
    ended = subprocess.run(
      ['bash', '-c', f'"$@" {shell}', '', sys.executable, '-c', _COMMAND]
      + [kind, str(self.path)],
      env=os.environ | variables,
      capture_output=True,
      text=True,
      check=False,
    )
    self.assertEqual(self.path.read_text(), 'done')
    return ended.returncode, ended.stderr

  @parameterized.product(
    kind=_KINDS,
    case=(
      ('>/dev/full', 'No space left on device'),
      ('>&-', 'Bad file descriptor'),
    ),
  )
  def test_standard_output_that_cannot_be_written(self, kind, case):
    shell, reason = case
    line = f'error: standard output cannot be written ({reason})\n'
    code, expected = (0, '')
    if kind == 'printer':
      code, expected = command_line.FAILURE, line
    self.assertEqual(self._run(kind, shell), (code, 'note\n' + expected))

  @parameterized.parameters(*zip(_KINDS, (0, command_line.UNREAD), strict=True))
  def test_a_reader_that_is_gone(self, kind, code):
    found = self._run(kind, '| true; exit ${PIPESTATUS[0]}')
    self.assertEqual(found, (code, 'note\n'))

  @parameterized.product(
    kind=_KINDS, shell=('2>/dev/full', '2>&-', '<&- 2>&- >/dev/null')
  )
  def test_standard_error_that_cannot_be_written(self, kind, shell):
    self.assertEqual(self._run(kind, shell), (0, ''))

  @parameterized.product(
    kind=_KINDS,
    variables=(
      {'LC_ALL': 'C'},
      {'LC_ALL': 'C', 'PYTHONUTF8': '0', 'PYTHONCOERCECLOCALE': '0'},
      {'PYTHONIOENCODING': 'ascii'},
      {'PYTHONIOENCODING': 'utf-8:strict'},
    ),
  )
  def test_letters_that_a_terminal_does_not_know(self, kind, variables):
    found = self._run(kind, '>/dev/null', **variables)
    self.assertEqual(found, (0, 'note\n'))

  def test_no_file_takes_the_place_of_a_closed_output(self):
    self._run('trainer', '>&- 2>&- <&-')
    self.assertEqual(self.path.read_text(), 'done')


if __name__ == '__main__':
  absltest.main()
