# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Errors are one line, and their exit code says whose they are."""

import importlib
import os
import pathlib
import sys
import types
from collections.abc import Callable, Sequence
from unittest import mock

from absl import flags
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf.launch import command_line
from vacl_tf.launch import flag_kinds
from vacl_tf.testing import commands

_define = command_line.defines(
  *(command_line.RUN_DIR, command_line.SEED, command_line.JSON),
  command_line.IMPORT,
)


def _run(
  main: Callable[[], int | None],
  *arguments: str,
  define: Callable[[Sequence[str]], None] = _define,
) -> tuple[int, str]:
  """Returns exit code and stderr of a command."""
  ended = commands.run(lambda: command_line.run(main, define), *arguments)
  return ended.code, ended.err


class RunTest(parameterized.TestCase):
  def test_commands_may_be_imported_together(self):
    # Each with a flag of the same name, and none of them there before it runs.
    before = set(flags.FLAGS)
    one, other = (
      command_line.Flag(flag_kinds.whole, 'number', default, about)
      for default, about in ((1, 'of one'), (2, 'of another'))
    )
    found = []

    def main():
      found.append((one.value, other.value))

    for flag, arguments in ((one, []), (other, []), (one, ['--number=3'])):
      define = command_line.defines(flag)
      self.assertEqual(_run(main, *arguments, define=define), (0, ''))
    self.assertEqual(found, [(1, 1), (2, 2), (3, 3)])
    self.assertEqual((one.value, other.value), (1, 2))
    self.assertEqual(set(flags.FLAGS), before)

  def test_success_is_silent(self):
    self.assertEqual(_run(lambda: None), (0, ''))

  def test_an_exit_code_is_passed_on(self):
    self.assertEqual(_run(lambda: 143), (143, ''))

  def test_a_usage_error_is_one_line_and_code_2(self):
    def main() -> None:
      raise command_line.UsageError('this\nthat')

    self.assertEqual(_run(main), (2, 'error: this that\n'))

  @parameterized.parameters(ValueError, OSError)
  def test_a_refusal_becomes_a_usage_error(self, kind):
    with self.assertRaisesRegex(command_line.UsageError, '^so it is$'):
      with command_line.as_usage_error(ValueError, OSError):
        raise kind('so it is')

  def test_other_errors_keep_their_kind(self):
    class MissingError(command_line.UsageError):
      pass

    for kind in MissingError, TypeError:
      with self.subTest(kind), self.assertRaises(kind):
        with command_line.as_usage_error(ValueError):
          raise kind

  def test_a_failure_is_code_1(self):
    code, text = _run(lambda: command_line.fail('went wrong'))
    self.assertEqual((code, text), (1, 'error: went wrong\n'))

  def test_an_unknown_flag_names_the_closest(self):
    code, text = _run(lambda: None, '--run_dirr=x')
    self.assertEqual(code, 2)
    self.assertIn('run_dir', text)
    self.assertEqual(text.count('\n'), 1)

  @parameterized.parameters('--help', '--help=1', '-help', '-h')
  def test_help_tells_about_the_command_and_its_flags(self, asked):
    ended = commands.run(
      lambda: command_line.run(lambda: None, _define), asked, '--seed=x'
    )
    self.assertEqual((ended.code, ended.err), (0, ''))
    self.assertIn('exit code says whose they are', ended.out)
    words = ' '.join(ended.out.split())
    self.assertIn('--run_dir=TEXT Folder of the run.', words)
    self.assertIn('--import=TEXT Module, or path of a .py file', words)
    self.assertNotIn('verbosity', ended.out)

  def test_a_word_that_is_no_flag_is_refused(self):
    code, text = _run(lambda: None, 'run_dir=x')
    self.assertEqual(code, 2)
    self.assertIn("'run_dir=x' is not a flag", text)

  @parameterized.parameters(
    '--seed=many',
    '--seed=-1',
    '--seed=2147483648',
    '--seed=12345678901234567890',
    '--seed=1.5',
    '--nojson=1',
    '--nojson=',
    '--json=maybe',
    '--seed',
    '--=1',
    '-',
    '--no',
  )
  def test_a_flag_of_the_wrong_type_or_range_is_refused(self, argument):
    code, text = _run(lambda: None, argument)
    self.assertEqual(code, 2)
    self.assertRegex(text, '^error: .*\n$')

  def test_under_bazel_run_paths_are_relative_to_the_user(self):
    with mock.patch.dict(os.environ, {'BUILD_WORKING_DIRECTORY': '/home/me'}):
      self.assertEqual(
        command_line.folder('runs'), pathlib.Path('/home/me/runs')
      )

  def test_home_is_found_where_the_shell_leaves_it(self):
    with mock.patch.dict(os.environ, {'HOME': '/home/me'}):
      for given, wanted in (
        ('~/runs', '/home/me/runs'),
        (pathlib.Path('~/runs'), '/home/me/runs'),
        ('runs/~', 'runs/~'),
      ):
        self.assertEqual(command_line.folder(given), pathlib.Path(wanted))


class DefineTest(parameterized.TestCase):
  """Flags that depend on the arguments."""

  def _define(self, arguments):
    ppo = config.PpoConfig(
      num_epochs=int(command_line.given(arguments, 'n')[0]),
      gae_lambda=1,  # A number, however it is written.
    )
    command_line.define_leaves('config.', ppo, without=('clip',))

  def test_they_are_typed_and_gone_afterwards(self):
    before = set(flags.FLAGS)
    found = {}

    def main():
      found.update(command_line.given_leaves('config.', config.PpoConfig()))

    arguments = (
      '--n=3',
      '--config.num_epochs=2',
      '--config.discount=1',
      '--config.gae_lambda=0.5',
      '--config.center_rewards',
      '--noconfig.normalize_value',
    )
    flag_kinds.whole('n', 0, 'For this test.')
    for _ in range(2):  # A process may run a command twice.
      self.assertEqual(_run(main, *arguments, define=self._define), (0, ''))
      self.assertEqual(
        found,
        {
          'num_epochs': 2,
          'gae_lambda': 0.5,
          'discount': 1.0,
          'center_rewards': True,
          'normalize_value': False,
        },
      )
      self.assertIsInstance(found['discount'], float)
    self.assertEqual(set(flags.FLAGS), before | {'n'})
    bad = '--config.num_epochs=many'
    code, text = _run(main, '--n=3', bad, define=self._define)
    self.assertEqual((code, text.count('\n')), (2, 1))
    code, text = _run(main, '--n=3', '--config.clip=1', define=self._define)
    self.assertEqual(code, 2)
    self.assertIn("'config.clip'", text)
    delattr(flags.FLAGS, 'n')

  def test_help_has_their_meanings_ranges_and_defaults(self):
    def define(arguments):
      del arguments
      command_line.RUN_DIR.define()
      command_line.define_leaves('config.', config.TrainingConfig())
      command_line.describe('run_dir', 'Somewhere else.')

    ended = commands.run(
      lambda: command_line.run(lambda: None, define), '--help'
    )
    words = ' '.join(ended.out.split())
    self.assertIn(
      '--config.num_tasks=N Worlds played in parallel (B). Allowed: 1 to '
      '1000000. Default: 120.',
      words,
    )
    self.assertIn('--run_dir=TEXT Somewhere else.', words)

  def test_an_error_of_define_is_one_line(self):
    def define(arguments):
      raise command_line.UsageError(f'not {arguments[0]}')

    self.assertEqual(
      _run(lambda: None, '--env=x', define=define), (2, 'error: not --env=x\n')
    )

  @parameterized.parameters(
    (['--env=a'], ['a']),
    (['--env', 'a'], ['a']),
    (['-env=a', '--environment=b', '--env=c=d'], ['a', 'c=d']),
    (['--env='], ['']),
    (['--env'], []),
    (['--', '--env=a'], []),
    (['env=a'], []),
  )
  def test_flags_are_read_before_they_are_parsed(self, arguments, values):
    self.assertEqual(command_line.given(arguments, 'env'), values)


class QuietImportsTest(parameterized.TestCase):
  @parameterized.parameters('keras', 'tf_keras')
  def test_keras_is_left_out_then_and_only_then(self, name):
    with mock.patch.dict(sys.modules):
      sys.modules.pop(name, None)
      with command_line.quiet_imports(), self.assertRaises(ImportError):
        importlib.import_module(name)
      self.assertNotIn(name, sys.modules)

  def test_a_keras_that_is_there_stays(self):
    there = types.ModuleType('keras')
    with mock.patch.dict(sys.modules, keras=there):
      with command_line.quiet_imports():
        self.assertIs(sys.modules['keras'], there)
      self.assertIs(sys.modules['keras'], there)


if __name__ == '__main__':
  absltest.main()
