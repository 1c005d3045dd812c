# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Nothing in a run's folder is lost, and one process at a time trains there."""

import os
import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import presets
from vacl_tf.launch import command_line
from vacl_tf.launch import provenance
from vacl_tf.launch import run_folder
from vacl_tf.training import files

_CONFIG = presets.make(env='simple_spread')


def _all(folder: pathlib.Path) -> dict[str, bytes]:
  """Returns what lies in a folder, but for locks."""
  return {
    str(path.relative_to(folder)): path.read_bytes()
    for path in folder.rglob('*')
    if path.is_file() and path.name != run_folder.LOCK
  }


class _Case(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    self.path = self.folder / 'run'
    self.notes = []

  def _hold(self, cfg=_CONFIG, is_restart=False, path=None):
    return run_folder.hold(
      path or self.path, cfg, self.notes.append, is_restart
    )

  def _assert_refused(self, message, **given):
    before = sorted(self.folder.rglob('*'))
    with self.assertRaisesRegex(command_line.UsageError, message):
      with self._hold(**given):
        self.fail('it is not refused')
    self.assertEqual(sorted(self.folder.rglob('*')), before)

  def _write(self, *names, has_config=True):
    for name in names:
      path = self.path / name
      path.parent.mkdir(parents=True, exist_ok=True)
      path.write_text(f'old {name}')
    if has_config:
      self.path.mkdir(exist_ok=True)
      provenance.write(self.path / 'config.json', _CONFIG, config.RunLength())


class LostTest(_Case):
  @parameterized.parameters(
    'metrics.csv',
    'curriculum.npz',
    'saved_model/policy.json',
    'events/events.out.tfevents.1',
    'evaluation.json',
    'curves.png',
  )
  def test_results_without_a_checkpoint_are_refused_and_kept(self, name):
    for has_config in (False, True):
      self._write(name, has_config=has_config)
      kept = _all(self.path)
      self._assert_refused(
        f'run holds results .{name.split("/")[0]}. but no checkpoint .*'
        'give another run_dir, or --restart .in Python, restart=True., which '
        'sets it aside'
      )
      self.assertEqual(_all(self.path), kept)

  def test_a_run_that_has_only_begun_may_begin_again(self):
    self._write('checkpoints/ckpt-1_temp/part')
    with self._hold() as path:
      self.assertEqual(path, self.path)

  @parameterized.parameters(
    (),
    ('checkpoints/new/ckpt.index',),
    ('checkpoints/ckpt-1.index', 'checkpoints/ckpt-1.data-00000-of-00001'),
    ('checkpoints/ckpt-1.index', 'events/events.out.tfevents.1.v2'),
  )
  def test_before_its_first_iteration_has_ended_it_begins_anew(self, *names):
    self._write(*names, 'events/mine.txt', 'my notes')
    for cfg in (presets.make(env='push_ball'), _CONFIG):
      with self._hold(cfg=cfg) as path:
        found = [x for x in _all(path) if not x.startswith('checkpoints/new')]
        self.assertCountEqual(
          found, ['config.json', 'events/mine.txt', 'my notes']
        )
    told = f'{self.path}: a run that had not ended an iteration begins anew'
    has_checkpoint = any('ckpt-1.' in name for name in names)
    self.assertEqual(self.notes, [told] * has_checkpoint)

  @parameterized.parameters(
    'checkpoints/ckpt-1.index.broken',
    'checkpoints/ckpt-1.mine',
    'checkpoints/ckpt-2.index',
    'checkpoints/mine',
    'metrics.csv',
    'evaluation.json',
  )
  def test_anything_else_is_kept(self, name):
    self._write('checkpoints/ckpt-1.index', 'events/x.tfevents.1', name)
    kept = _all(self.path)
    other = presets.make(env='push_ball')
    self._assert_refused('holds a run of env=simple_spread', cfg=other)
    self.assertEqual(_all(self.path), kept)
    with self._hold():
      self.assertEqual(_all(self.path), kept)

  def test_a_config_of_somebody_else_is_kept(self):
    for content in ('{"config": {}}', '[]', 'mine'):
      self.path.mkdir(exist_ok=True)
      (self.path / 'config.json').write_text(content)
      self._assert_refused('config.json')

  def test_a_run_with_a_checkpoint_goes_on(self):
    self._write('checkpoints/ckpt-3.index', 'metrics.csv')
    with self._hold():
      pass
    self._assert_refused(
      'another config .seed: 0 -> 1.; to resume it, give run_dir and no '
      'constants; to train another, give another run_dir, or --restart .in '
      'Python, restart=True.',
      cfg=presets.make(env='simple_spread', seed=1),
    )
    self._assert_refused(
      'holds a run of env=simple_spread, not env=push_ball; to resume it, give '
      'run_dir and no constants; to train another, give another run_dir, or '
      '--restart',
      cfg=presets.make(env='push_ball'),
    )

  def test_a_restart_renames_the_run_and_loses_nothing(self):
    for number in (1, 2):
      self._write('metrics.csv', 'checkpoints/ckpt-3.index', 'my notes')
      kept = _all(self.path)
      with self._hold(is_restart=True) as path:
        self.assertEqual(_all(path), {})
      self.assertEqual(_all(self.folder / f'run.old{number}'), kept)
    renamed = f'{self.path} was renamed to {self.path}.old2; to resume the new '
    self.assertIn(f'{renamed}run later, leave out --restart', self.notes)

  def test_a_restart_that_is_refused_puts_the_run_back(self):
    self._write('metrics.csv', 'checkpoints/ckpt-3.index')
    kept = _all(self.path)
    with self.assertRaises(KeyError), self._hold(is_restart=True):
      raise KeyError
    self.assertEqual(_all(self.path), kept)
    self.assertEqual(os.listdir(self.folder), ['run'])
    with self.assertRaises(KeyError), self._hold(is_restart=True) as path:
      (path / 'config.json').write_text('{}')
      raise KeyError
    self.assertEqual(_all(self.folder / 'run.old1'), kept)

  def test_a_restart_takes_a_config_that_is_another_or_none(self):
    self._write()
    (self.path / 'config.json').write_text('{')
    with self._hold(is_restart=True) as path:
      self.assertEmpty(_all(path))

  def test_a_restart_leaves_a_folder_that_is_no_run(self):
    self._write('thesis.tex', has_config=False)
    with self._hold(is_restart=True) as path:
      self.assertEqual(list(_all(path)), ['thesis.tex'])

  def test_a_restart_where_the_user_stands_or_through_a_link(self):
    self._write('metrics.csv')
    kept = _all(self.path)
    self.addCleanup(os.chdir, os.getcwd())
    os.chdir(self.path)
    with self._hold(is_restart=True, path=pathlib.Path('.')) as path:
      (path / 'metrics.csv').write_text('new')
    self.assertEqual(_all(self.folder / 'run.old1'), kept)
    link = self.folder / 'link'
    link.symlink_to(self.path)
    with self._hold(is_restart=True, path=link):
      pass
    self.assertEqual(_all(self.folder / 'run.old2'), {'metrics.csv': b'new'})

  def test_what_a_killed_write_left_is_told_once_and_cleared(self):
    self._write()
    names = ('config.json.new', 'metrics.csv.new', 'notes.new')
    self._write(*names, has_config=False)
    for _ in range(2):
      with self._hold():
        pass
    self.assertLen(self.notes, 1)
    self.assertIn('(config.json.new, metrics.csv.new)', self.notes[0])
    self.assertCountEqual(_all(self.path), ['config.json', 'notes.new'])


class RefusedTest(_Case):
  def test_a_new_folder_without_anything_of_a_run_goes(self):
    with self.assertRaises(ValueError), self._hold():
      raise ValueError('this task has no such thing')
    self.assertFalse(self.path.exists())

  def test_one_that_was_there_or_has_something_stays(self):
    with self.assertRaises(ValueError), self._hold() as path:
      (path / 'config.json').write_text('{}')
      raise ValueError('stopped')
    self.assertTrue((self.path / 'config.json').exists())
    there = self.folder / 'there'
    there.mkdir()
    with self._hold(path=there):
      pass
    self.assertTrue(there.exists())


class LockTest(_Case):
  def test_a_second_one_is_told_who_is_there(self):
    for is_restart in (False, True):
      self._write('checkpoints/ckpt-3.index')
      with self._hold(is_restart=is_restart):
        self._assert_refused(
          f'run is in use by process {os.getpid()} on .*, which trains '
          'there; wait for it, or give another run_dir',
          is_restart=is_restart,
        )
    with self._hold():
      pass

  def test_one_that_waits_where_a_run_was_set_aside_does_not_get_it(self):
    self._write('metrics.csv')
    with self._hold(is_restart=True):
      self._assert_refused(
        'is in use by', path=self.folder / 'run.old1', is_restart=True
      )


class NameTest(_Case):
  @parameterized.parameters('br[ab]', 'back\\slash', os.fsdecode(b'a\xff'))
  def test_a_name_that_cannot_be_read_again_is_refused_at_first(self, name):
    self._assert_refused('TensorFlow cannot read', path=self.folder / name)

  @parameterized.parameters('x' * 300, 'file/below')
  def test_a_name_that_is_not_possible_is_refused(self, name):
    (self.folder / 'file').write_text('mine')
    self._assert_refused('not a folder', path=self.folder / name)

  @parameterized.parameters(
    'x*', 'q?', 'a,b', '{a,b}', ' a ', 'new\nline', 'é', '~', 'x' * 255
  )
  def test_other_names_are_fine(self, name):
    with self._hold(path=self.folder / name) as path:
      files.write_text(path / run_folder.CONFIG, '{}')
    self.assertEqual(os.listdir(self.folder), [name])


if __name__ == '__main__':
  absltest.main()
