# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for check: what is tried, and how it is told."""

import pathlib
import sys
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf.launch import check
from vacl_tf.launch import command_line
from vacl_tf.testing import commands

_CURRICULA = """
from vacl_tf.curriculum import python_curriculum


class Easy(python_curriculum.Chooser):
  def __init__(self, tasks, cfg, rng):
    self.tasks, self.state = tasks, {}

  def sample(self, num_tasks, rng):
    return self.tasks.easy(num_tasks, rng)

  def update(self, tasks, told):
    return {}


class Broken(Easy):
  def update(self, tasks, told):
    return told['nothing']


class Leaving(Easy):
  def sample(self, num_tasks, rng):
    raise SystemExit(3)


python_curriculum.register('broken', Broken)
python_curriculum.register('leaving', Leaving)
python_curriculum.register('fine', Easy)
"""


class CheckTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    self.enter_context(mock.patch.dict(catalog.CURRICULA._entries))
    self.enter_context(mock.patch.object(sys, 'path', list(sys.path)))

  def _run(self, *arguments):
    return commands.run(
      lambda: command_line.run(check.main, check.define), *arguments
    )

  def test_every_thing_has_a_line_and_the_rest_goes_on(self):
    path = self.folder / 'mine_to_check.py'
    path.write_text(_CURRICULA)
    self.addCleanup(sys.modules.pop, path.stem, None)
    ended = self._run(f'--import={path}', '--env=speaker_listener')
    self.assertEqual(ended.code, command_line.FAILURE, ended.err)
    self.assertRegex(
      ended.out,
      '^curriculum fine: 30 rounds of 250 tasks of speaker_listener, .*; '
      'metrics: none\n$',
    )
    self.assertRegex(
      ended.err,
      "^error: curriculum broken: Broken failed: KeyError: 'nothing' "
      rf'\({path}, line 18\)\n'
      'error: curriculum leaving.* failed: SystemExit: 3 '
      rf'\({path}, line 23\)\n$',
    )

  @parameterized.parameters(
    ([], 'there is nothing to check; give --import=FILE.py'),
    (['--import=none.py'], 'import=none.py is not a file'),
    (['--envs=x'], "Unknown command line flag 'envs'"),
  )
  def test_bad_input(self, arguments, message):
    ended = self._run(*arguments)
    self.assertEqual(ended.code, command_line.USAGE)
    self.assertIn(message, ended.err)
    self.assertEqual(ended.err.count('\n'), 1)

  def test_an_unknown_task(self):
    path = self.folder / 'mine_for_no_task.py'
    path.write_text(_CURRICULA)
    self.addCleanup(sys.modules.pop, path.stem, None)
    ended = self._run(f'--import={path}', '--env=chess')
    self.assertEqual(ended.code, command_line.USAGE)
    self.assertIn("env='chess' is unknown; allowed: ", ended.err)


if __name__ == '__main__':
  absltest.main()
