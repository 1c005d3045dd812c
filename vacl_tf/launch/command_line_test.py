# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Errors are one line, and their exit code says whose they are."""

import os
import pathlib
from collections.abc import Callable
from unittest import mock

from absl.testing import absltest

from vacl_tf.launch import command_line
from vacl_tf.testing import commands


def _run(main: Callable[[], int | None], *arguments: str) -> tuple[int, str]:
  """Returns exit code and stderr of a command."""
  ended = commands.run(lambda: command_line.run(main), *arguments)
  return ended.code, ended.err


class RunTest(absltest.TestCase):
  def test_success_is_silent(self):
    self.assertEqual(_run(lambda: None), (0, ''))

  def test_an_exit_code_is_passed_on(self):
    self.assertEqual(_run(lambda: 143), (143, ''))

  def test_a_usage_error_is_one_line_and_code_2(self):
    def main() -> None:
      raise command_line.UsageError('this\nthat')

    self.assertEqual(_run(main), (2, 'error: this that\n'))

  def test_a_failure_is_code_1(self):
    code, text = _run(lambda: command_line.fail('went wrong'))
    self.assertEqual((code, text), (1, 'error: went wrong\n'))

  def test_an_unknown_flag_names_the_closest(self):
    code, text = _run(lambda: None, '--run_dirr=x')
    self.assertEqual(code, 2)
    self.assertIn('run_dir', text)
    self.assertEqual(text.count('\n'), 1)

  def test_help_tells_about_the_command_and_its_flags(self):
    ended = commands.run(lambda: command_line.run(lambda: None), '--help')
    self.assertEqual((ended.code, ended.err), (0, ''))
    self.assertIn('exit code says whose they are', ended.out)
    self.assertIn('--run_dir: Folder of the run.', ended.out)
    self.assertNotIn('verbosity', ended.out)

  def test_a_word_that_is_no_flag_is_refused(self):
    code, text = _run(lambda: None, 'run_dir=x')
    self.assertEqual(code, 2)
    self.assertIn("'run_dir=x' is not a flag", text)

  def test_a_flag_of_the_wrong_type_is_refused(self):
    self.assertEqual(_run(lambda: None, '--seed=many')[0], 2)

  def test_under_bazel_run_paths_are_relative_to_the_user(self):
    with mock.patch.dict(os.environ, {'BUILD_WORKING_DIRECTORY': '/home/me'}):
      self.assertEqual(
        command_line.folder('runs'), pathlib.Path('/home/me/runs')
      )


if __name__ == '__main__':
  absltest.main()
