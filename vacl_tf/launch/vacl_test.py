# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""All commands by one name."""

import importlib
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.launch import command_line
from vacl_tf.launch import outputs
from vacl_tf.launch import signals
from vacl_tf.launch import vacl
from vacl_tf.testing import commands


class VaclTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    # These are a process's own.
    self.enter_context(mock.patch.object(outputs, 'guard'))
    self.enter_context(mock.patch.object(signals, 'listen'))
    self.enter_context(
      mock.patch.object(command_line, 'start', command_line.run)
    )

  @parameterized.parameters(
    *('train', 'evaluate', 'plot', 'report', 'study', 'benchmark'),
    'benchmark_curriculum',
  )
  def test_each_command_has_its_flags_alone(self, name):
    ended = commands.run(vacl.main, name, '--help')
    self.assertEqual(ended.code, 0)  # Imports may warn: this is a test.
    self.assertEqual('--run_dirs' in ended.out, name in ('plot', 'report'))
    self.assertEqual('--study' in ended.out, name == 'study')
    is_last = name == 'benchmark_curriculum'
    self.assertEqual('--submission' in ended.out, is_last)
    has_constants = name in ('train', 'benchmark')
    self.assertEqual('--config.ppo.clip' in ended.out, has_constants)

  def test_a_command_gets_the_rest_of_the_line(self):
    ended = commands.run(vacl.main, 'plot', '--run_dirs=/nowhere')
    self.assertEqual(ended.code, 2)
    self.assertIn('/nowhere', ended.err)

  def test_flags_of_other_commands_are_refused(self):
    ended = commands.run(vacl.main, 'plot', '--num_tasks=3')
    self.assertEqual(ended.code, 2)
    self.assertIn("'num_tasks'", ended.err)

  @parameterized.parameters([[]], [['--help']], [['help']])
  def test_without_a_command_they_are_listed(self, arguments):
    ended = commands.run(vacl.main, *arguments)
    self.assertEqual((ended.code, ended.err), (0, ''))
    self.assertIn('train, check, evaluate', ended.out)

  def test_unknown_commands(self):
    ended = commands.run(vacl.main, 'trian')
    message = "error: command='trian' is unknown; did you mean train?\n"
    self.assertEqual((ended.code, ended.err), (2, message))

  def test_printers_are_those_that_the_modules_say(self):
    for name, module in vacl._COMMANDS.items():
      path = importlib.import_module(f'vacl_tf.launch.{module}').__file__
      with open(path) as source:
        is_printer = 'is_printer=True)\n' in source.read()
      self.assertEqual(is_printer, name in vacl._PRINTERS, name)


if __name__ == '__main__':
  absltest.main()
