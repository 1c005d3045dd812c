# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The command of studies: its flags, and studies of a user's own."""

import os
import pathlib
import subprocess
import sys
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import studies
from vacl_tf.launch import command_line
from vacl_tf.launch import study
from vacl_tf.launch import study_jobs
from vacl_tf.testing import commands
from vacl_tf.testing import fake_trainer

_FAKES = study_jobs.Commands(
  *((*fake_trainer.COMMAND, name) for name in ('train', 'evaluate'))
)
_OWN = """
from vacl_tf import studies

studies.register(
  'maze',
  tasks=[studies.Task('maze', ('--env=maze',), num_env_steps=100)],
  methods={'own': ('--curriculum=own',), 'rcg': ('--curriculum=rcg',)},
)
"""


class CommandTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.enter_context(mock.patch.dict(studies.STUDIES._entries))
    # No run behaves in a way of its own.
    self.enter_context(mock.patch.dict(os.environ, {fake_trainer.KINDS: '{}'}))

  def _run(self, *arguments):
    return commands.run(
      lambda: command_line.run(study.main, study.define),
      f'--runs_dir={self.root}/runs',
      f'--output={self.root}/report',
      *arguments,
    )

  @parameterized.parameters(
    (['--study=factorail'], 'did you mean factorial'),
    ([], 'give --study, one of factorial, main, '),
    (['--study=trial', '--methods=unifrom'], 'did you mean uniform'),
    (['--study=trial', '--tasks=push_ball_n2'], 'task=.*allowed: trial'),
    (['--study=trial', '--seeds=3-1'], 'runs backwards'),
    (['--study=trial', '--seeds=a'], 'not a list of seeds'),
    (['--study=trial', '--shard=5/4'], 'allowed: 1/4 to 4/4'),
    (['--study=trial', '--jobs=0'], 'jobs=0 is out of range; allowed: 1 to'),
    (['--study=trial', '--jobs=9999'], 'allowed: 1 to'),
    (['--study=trial', '--run_dir=a'], 'runs_dir'),
    (['--study=trial', '--report', '--shard=1/2'], 'leave out --shard'),
    (['--study=trial', '--report'], 'no complete run among these 10'),
    (['--study=trial', '--runs_dir=/proc/none'], 'give another --runs_dir'),
  )
  def test_one_line_on_bad_input(self, arguments, message):
    code, out, err = self._run(*arguments)
    self.assertEqual(code, command_line.USAGE, err)
    self.assertRegex(err, message)
    self.assertEqual(err.count('\n'), 1, err)
    self.assertEmpty(out)
    self.assertEmpty(list(self.root.iterdir()))

  def test_runs_then_reports(self):
    real = study.run_missing

    def run_fakes(plan, shard):
      self.assertEqual(shard, (2, 2))
      self.assertEqual(plan.commands, study_jobs.Commands())
      return real(plan._replace(commands=_FAKES, poll_seconds=0.01), shard)

    flags = ('--study=trial', '--seeds=100', '--methods=uniform')
    with mock.patch.object(study, 'run_missing', run_fakes):
      # The fakes evaluate every 10 steps: too often for these many.
      trial = studies.find('trial')
      task = trial.tasks[0]._replace(num_env_steps=100)
      small = trial._replace(stages=(((task, ('uniform', 'vacl_default')),),))
      studies.STUDIES._entries['trial'] = small
      code, out, err = self._run(*flags, '--seeds=100,101', '--shard=2/2')
    self.assertEqual(code, 0, err)
    self.assertIn('1 of 1 runs', out)
    code, out, err = self._run(*flags, '--report', '--seeds=100,101')
    self.assertEqual(code, 0, err)
    self.assertIn(f'Wrote {self.root}/report/trial/table.md', out)

  def test_a_study_of_ones_own(self):
    self.enter_context(mock.patch.object(sys, 'path', list(sys.path)))
    path = self.root / 'own_maze_study.py'
    path.write_text(_OWN)
    real = study.run_missing

    def run_fakes(plan, shard):
      want = study_jobs.Commands().importing([str(path)])
      self.assertEqual(plan.commands, want)
      self.assertEqual(want.train[-1], f'--import={path}')
      fakes = _FAKES.importing([str(path)])
      return real(plan._replace(commands=fakes, poll_seconds=0.01), shard)

    flags = (f'--import={path}', '--study=maze', '--seeds=100,101')
    with mock.patch.object(study, 'run_missing', run_fakes):
      code, out, err = self._run(*flags)
    self.assertEqual((code, err), (0, ''))
    self.assertIn('4 of 4 runs', out)
    for command in ('starts', 'evaluations'):
      told = self.root / f'runs/maze/rcg/seed100/{command}'
      (line,) = told.read_text().splitlines()
      self.assertIn(f'--import={path} ', line)
    code, out, err = self._run(*flags, '--report')
    self.assertEqual(code, 0, err)  # Matplotlib may have something to say.
    table = (self.root / 'report/maze/table.md').read_text()
    self.assertIn('| P(own better) |', table)
    self.assertNotIn(studies.BASELINE, table)
    # What is there is not what the file says now.
    task = studies.Task('maze', ('--env=maze', '--num_agents=3'), 100)
    del studies.STUDIES._entries['maze']
    studies.register('maze', [task], {'own': ['--curriculum=own']})
    for more in ((), ('--report',)):
      code, out, err = self._run('--study=maze', *more)
      self.assertEqual(code, command_line.USAGE)
      self.assertIn('(none instead of --num_agents=3), 1 more likewise;', err)
      self.assertEqual((err.count('\n'), out), (1, ''))

  def test_starts_fast(self):
    code = (
      'import sys; from vacl_tf.launch import study; '
      'print({"tensorflow", "matplotlib"} & set(sys.modules))'
    )
    done = subprocess.run(
      [sys.executable, '-c', code], capture_output=True, text=True, check=True
    )
    self.assertEqual(done.stdout, 'set()\n')


if __name__ == '__main__':
  absltest.main()
