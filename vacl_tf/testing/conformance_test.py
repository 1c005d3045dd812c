# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The conformance script finds the oracle the same, and finds out changes."""

import pathlib
import sys
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.testing import commands
from vacl_tf.testing import conformance
from vacl_tf.testing import oracle_release
from vacl_tf.testing import particle_oracle

_ENVS = ('simple_spread', 'hard_spread', 'push_ball', 'speaker_listener')


def _twice(function):
  return lambda *args: 2.0 * function(*args)


def _inverted(function):
  return lambda *args: [not flag for flag in function(*args)]


# By task: what is changed in the oracle, how, and what has to be found.
_CHANGES = (
  ('simple_spread', '_DAMPING', lambda _: 0.26, 'positions'),
  ('simple_spread', '_STIFFNESS', lambda _: 99.0, 'positions'),
  ('simple_spread', 'reward', _twice, 'rewards'),
  ('simple_spread', 'coverage', _twice, 'coverage'),
  ('simple_spread', 'covered', _inverted, 'flags'),
  ('hard_spread', 'HARD_SPREAD_WALLS', lambda walls: walls[:7], 'positions'),
  ('push_ball', '_BALL_RADIUS', lambda _: 0.14, 'positions'),
  ('push_ball', 'push_ball_flags', _inverted, 'flags'),
  ('push_ball', 'push_ball_coverage', _twice, 'coverage'),
  ('speaker_listener', '_SENSITIVITY', lambda _: 4.99, 'positions'),
  ('speaker_listener', 'conversation_reward', _twice, 'rewards'),
)


class ConformanceTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.path = pathlib.Path(self.create_tempdir().full_path)
    package = self.path / 'envs' / 'mpe'
    (package / 'scenarios').mkdir(parents=True)
    # The release's own package imports worlds that nobody needs here.
    (package.parent / '__init__.py').write_text('raise ImportError("mujoco")')
    (package / '__init__.py').write_text('')
    (package / 'MPE.py').write_text(
      f'from {oracle_release.__name__} import MPEEnv\n'
    )
    for name in _ENVS:
      scenario = f'simple_{name}' if name == 'speaker_listener' else name
      (package / 'scenarios' / f'{scenario}.py').write_text('')
    self.enter_context(mock.patch.dict(sys.modules))

  def _run(self, env, *flags):
    return commands.run(
      conformance.main, f'--release={self.path}', f'--env={env}', *flags
    )

  @parameterized.parameters(*_ENVS)
  def test_the_oracle_is_the_same(self, env):
    ended = self._run(env, '--num_tasks=6')
    self.assertEqual(ended.code, 0, ended)
    self.assertEndsWith(ended.out, 'the same\n')
    rows = {line.split()[0]: line.split() for line in ended.out.splitlines()}
    for name in ('positions', 'velocities', 'rewards', 'coverage', 'flags'):
      if (env, name) != ('speaker_listener', 'flags'):
        self.assertGreater(int(rows[name][1]), 6 * 70 - 1)
        self.assertEqual(rows[name][4], '0')

  @parameterized.parameters(*_CHANGES)
  def test_a_changed_oracle_is_found_out(self, env, name, change, found):
    changed = change(getattr(particle_oracle, name))
    with mock.patch.object(particle_oracle, name, changed):
      ended = self._run(env, '--num_tasks=6')
    self.assertEqual(ended.code, 1, ended)
    rows = {line.split()[0]: line.split() for line in ended.out.splitlines()}
    self.assertGreater(int(rows[found][4]), 0)
    self.assertRegex(' '.join(rows[found]), r'step \d+ of task \d')

  def test_the_number_of_agents_is_ours_to_choose(self):
    ended = self._run('simple_spread', '--num_agents=2', '--num_tasks=2')
    self.assertEqual(ended.code, 0, ended)
    self.assertIn('2 agents', ended.out)

  @parameterized.parameters(
    (['--release=nowhere'], 'nowhere has no envs/mpe/MPE.py'),
    (['--env=walk'], 'walk'),
    (['--env=ramp_use'], 'ramp_use is no particle task'),
    (['--num_tasks=1'], 'num_tasks of 2 or more'),
    (['--num_agents=many'], 'num_agents'),
  )
  def test_bad_use_is_told_in_one_line(self, flags, message):
    ended = self._run('simple_spread', *flags)
    self.assertEqual(ended.code, 2)
    self.assertRegex(ended.err, f'^error: .*{message}.*\n$')

  def test_what_is_not_installed_is_named(self):
    (self.path / 'envs' / 'mpe' / 'MPE.py').write_text('import gym_of_old')
    ended = self._run('simple_spread')
    self.assertEqual(ended.code, 2)
    self.assertRegex(ended.err, "^error: .*'gym_of_old'.*pip install gym.*\n$")


if __name__ == '__main__':
  absltest.main()
