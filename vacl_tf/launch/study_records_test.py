# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for study_records: what a folder says of a run."""

import hashlib
import json
import math
import os
import pathlib
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import studies
from vacl_tf.launch import command_line
from vacl_tf.launch import extensions
from vacl_tf.launch import study_records

_TASK = studies.Task('room', (), 100, 0.1, 1.0)
_RUN = studies.Run(_TASK, 'uniform', 100)
_ESTIMATE = {'mean': 0.5, 'low': 0.4, 'high': 0.6}
_FOUND = {
  'env': 'simple_spread',
  'num_tasks': 2000,
  'seed': 1000,
  'policy': 'greedy',
  'coverage': _ESTIMATE,
  'success': _ESTIMATE,
}
_DIVERGED = 'error: value_loss is nan at iteration 7; the last is good\n'


class ReadTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.path = self.root / 'room/uniform/seed100'

  def _write(self, coverage, found=None, log=''):
    """Writes a run that was evaluated every 10 steps, after the first."""
    self.path.mkdir(parents=True)
    (self.path / 'config.json').write_text(
      json.dumps(
        {
          'config': {'environment.name': 'simple_spread'},
          'git_revision': 'abc',
          'hardware': {'processor': 'fast'},
        }
      )
    )
    rows = ['iteration,env_steps,wall_seconds,coverage,success', '1,1,3,,']
    for i, value in enumerate(coverage, start=1):
      rows.append(f'{2 * i},{10 * i},{5 * i},{value},{value / 2}')
      rows.append(f'{2 * i + 1},{10 * i + 1},{5 * i + 1},,')
    (self.path / 'metrics.csv').write_text('\n'.join(rows) + '\n')
    (self.path / 'train.log').write_text(log)
    if found is not None:
      (self.path / 'evaluation.json').write_text(found)

  def _read(self):
    return study_records.read(_RUN, self.root)

  def test_nothing_yet(self):
    state = self._read()
    self.assertFalse(state.is_complete)
    self.assertFalse(state.is_at_chance)
    self.assertEqual((state.env_steps, state.wall_seconds), (0, 0.0))
    self.assertEmpty(state.steps)
    self.assertEqual(state.ended, '')

  def test_in_work(self):
    self._write([0.2, 0.4])
    state = self._read()
    np.testing.assert_array_equal(state.steps, [10, 20])
    np.testing.assert_array_equal(state.coverage, [0.2, 0.4])
    np.testing.assert_array_equal(state.success, [0.1, 0.2])
    np.testing.assert_array_equal(state.seconds, [5, 10])
    self.assertEqual((state.env_steps, state.wall_seconds), (21, 11.0))
    self.assertEqual((state.revision, state.trouble), ('abc', ''))
    self.assertEqual(state.processor, 'fast')
    self.assertEqual(state.ended, '')

  @parameterized.parameters(
    ([0.3] * 10, '', 'budget'),
    ([0.0] * 10, '', 'budget'),  # It was not seen in time.
    ([0.0] * 5, '', 'chance'),
    ([0.3] * 5, '', 'early'),
    ([0.3] * 4, 'error: not a divergence\n', 'early'),
    ([0.0] * 5, _DIVERGED, 'chance'),  # Trained anew since then.
  )
  def test_how_it_ended(self, coverage, log, want):
    self._write(coverage, json.dumps(_FOUND), log)
    self.assertEqual(self._read().ended, want)
    self.assertEqual(self._read().evaluation, _FOUND)

  @parameterized.parameters(
    (_DIVERGED, True),
    ('warning\n' + _DIVERGED + '\n \n', True),
    (_DIVERGED.replace('nan', '-inf'), True),
    (_DIVERGED + 'Resuming in a folder\n', False),
    ('note: it is nan at iteration 7\n', False),
    ('', False),
  )
  def test_divergence(self, log, want):
    self._write([0.3, 0.4], log=log)
    state = self._read()
    self.assertEqual(state.is_diverged, want)
    self.assertEqual(state.ended, 'diverged' if want else '')

  def test_only_the_end_of_a_long_log_is_read(self):
    self._write([0.3], log='é' * 10_001 + '\n' + _DIVERGED)
    self.assertTrue(self._read().is_diverged)

  @parameterized.parameters(
    '',
    '{"num_tasks": 2000',
    '[]',
    'null',
    json.dumps(_FOUND | {'env': 'push_ball'}),
    json.dumps(_FOUND | {'num_tasks': 500}),
    json.dumps(_FOUND | {'seed': 0}),
    json.dumps(_FOUND | {'policy': 'stochastic'}),
    json.dumps(_FOUND | {'success': {'mean': 1.0}}),
    json.dumps(_FOUND | {'success': _ESTIMATE | {'low': math.nan}}),
    json.dumps(_FOUND | {'success': _ESTIMATE | {'low': 10**400}}),
    '[' * 100_000,
  )
  def test_not_valid(self, found):
    self._write([0.3] * 10, found)
    self.assertIsNone(self._read().evaluation)
    self.assertFalse(self._read().is_complete)

  @parameterized.parameters('[' * 100_000, '{}', '{"hardware": 3}')
  def test_a_config_that_does_not_say_what_made_the_run(self, text):
    self._write([0.3])
    (self.path / 'config.json').write_text(text)
    state = self._read()
    self.assertEqual((state.revision, state.processor), ('unknown', 'unknown'))

  def test_a_log_that_is_a_pipe_is_not_read(self):
    self._write([0.3])
    (self.path / 'train.log').unlink()
    os.mkfifo(self.path / 'train.log')
    self.assertFalse(self._read().is_diverged)

  def test_metrics_that_cannot_be_read(self):
    self._write([0.3] * 10, json.dumps(_FOUND))
    (self.path / 'metrics.csv').write_text('a,b\n')
    state = self._read()
    self.assertTrue(state.is_complete)
    self.assertIn('has no column', state.trouble)

  def test_metrics_without_success(self):
    self._write([0.3] * 2)
    path = self.path / 'metrics.csv'
    path.write_text(path.read_text().replace('success', 'other'))
    np.testing.assert_array_equal(self._read().success, [math.nan] * 2)


class FlagsTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    (self.folder / _RUN.name).mkdir(parents=True)

  def _with_flags(self, *flags):
    return _RUN._replace(task=_TASK._replace(flags=flags))

  def _check(self, *runs):
    study_records.check_flags(runs, self.folder)

  def _begin(self):
    (self.folder / _RUN.name / 'config.json').touch()

  def test_what_never_began_may_have_others(self):
    study_records.note_flags(self._with_flags('--evn=room'), self.folder)
    self._check(_RUN)
    study_records.note_flags(_RUN, self.folder)
    self._begin()
    self._check(_RUN)

  def test_of_an_older_version_nobody_knows(self):
    self._begin()
    study_records.note_flags(_RUN, self.folder)
    self._check(_RUN, self._with_flags('--env=hall'))

  @parameterized.parameters(
    ([], ''),
    (['--env=room', '--config.ppo.clip=0.20'], ''),
    (['--config.ppo.clip=0.3', '--config.ppo.clip=.2', '--x.y=1'], ''),
    (['--env=hall'], 'environment.name=room instead of hall'),
    (['--config.ppo.clip=0.3'], 'ppo.clip=0.2 instead of 0.3'),
    (['--config.ppo.center_rewards=true'], 'center_rewards=False instead'),
  )
  def test_without_notes_constants_tell(self, flags, message):
    constants = {
      'seed': 100,
      'environment.name': 'room',
      'curriculum.name': 'uniform',
      'ppo.clip': 0.2,
      'ppo.center_rewards': False,
    }
    path = self.folder / _RUN.name / 'config.json'
    path.write_text(json.dumps({'config': constants}))
    run = self._with_flags(*flags)
    if not message:
      self._check(run)
      return
    with self.assertRaisesRegex(command_line.UsageError, message):
      self._check(run)

  @parameterized.parameters('{}', '[]', '{"config": ["seed"]}', '{"config": 3')
  def test_of_a_damaged_config_nobody_knows(self, text):
    (self.folder / _RUN.name / 'config.json').write_text(text)
    self._check(_RUN)

  def test_without_notes_the_default_curriculum_counts(self):
    for made_with, method, wanted in (
      ('uniform', 'vacl_default', 'vacl'),
      ('vacl', 'uniform', 'uniform'),
    ):
      run = _RUN._replace(method=method)
      path = self.folder / run.name / 'config.json'
      path.parent.mkdir(parents=True, exist_ok=True)
      path.write_text(f'{{"config": {{"curriculum.name": "{made_with}"}}}}')
      with self.assertRaisesRegex(
        command_line.UsageError,
        f'curriculum.name={made_with} instead of {wanted}',
      ):
        self._check(run)

  def test_of_damaged_notes_nobody_knows(self):
    self._begin()
    path = self.folder / _RUN.name / 'flags.json'
    path.write_text('[' * 100_000)
    self._check(_RUN, self._with_flags('--env=hall'))
    path.unlink()
    os.mkfifo(path)
    self._check(_RUN, self._with_flags('--env=hall'))

  def test_a_name_too_long_is_one_line(self):
    message = 'File name too long.; give another --runs_dir$'
    with self.assertRaisesRegex(command_line.UsageError, message):
      study_records.check_flags([_RUN], self.folder / ('x' * 300))

  @parameterized.parameters(
    ([], '--env=room --a=1 instead of none'),
    (['--env=room', '--a=2'], '--a=1 instead of --a=2'),
    (['--env=room', '--a=1', '--b=3'], 'none instead of --b=3'),
    (['--a=1', '--env=room'], 'the same flags in another order or number'),
  )
  def test_runs_made_with_others_are_refused(self, flags, message):
    made = self._with_flags('--env=room', '--a=1')
    study_records.note_flags(made, self.folder)
    self._begin()
    run = self._with_flags(*flags)
    study_records.note_flags(run, self.folder)
    self._check(made, run._replace(seed=101))
    with self.assertRaisesRegex(
      command_line.UsageError, rf'seed100 was made with .* \({message}\); rem'
    ):
      self._check(run)
    with self.assertRaisesRegex(command_line.UsageError, ', 1 more likewise;'):
      other = run._replace(method='fifo')
      (self.folder / other.name).mkdir(parents=True)
      study_records.note_flags(made._replace(method='fifo'), self.folder)
      (self.folder / other.name / 'config.json').touch()
      self._check(run, other)


class ChangedFilesTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.runs = [_RUN._replace(seed=seed) for seed in (100, 101, 102)]
    self.mine = self.root / 'mine.py'
    self.mine.write_text('1')

  def _begin(self, run):
    path = self.root / run.name
    path.mkdir(parents=True)
    digest = hashlib.sha256(self.mine.read_bytes()).hexdigest()
    (path / 'config.json').write_text(
      json.dumps({'import_digests': {'mine.py': digest}})
    )

  def _changed(self):
    imports = (str(self.mine), 'numpy')
    return study_records.changed_files(self.runs, self.root, imports)

  def test_runs_that_began_with_another_file_are_counted(self):
    self.assertEmpty(self._changed())
    for run in self.runs[:2]:
      self._begin(run)
    self.assertEmpty(self._changed())
    self.mine.write_text('2')
    self._begin(self.runs[2])
    [line] = self._changed()
    self.assertIn('mine.py differs from the file with which 2 of 3', line)
    self.assertIn('(room/uniform/seed100, ...)', line)

  def test_what_registers_only_studies_may_change(self):
    self._begin(_RUN)
    self.mine.write_text('2')
    with mock.patch.object(extensions, '_only_studies', {'mine.py'}):
      self.assertEmpty(self._changed())
      self.assertEmpty(study_records.read(_RUN, self.root).import_digests)
    self.assertLen(self._changed(), 1)
    self.assertLen(study_records.read(_RUN, self.root).import_digests, 1)


if __name__ == '__main__':
  absltest.main()
