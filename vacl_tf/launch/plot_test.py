# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What can't be plotted is told in a line; plotting needs little."""

import importlib.metadata
import json
import pathlib
import subprocess
import sys
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.launch import command_line
from vacl_tf.launch import plot
from vacl_tf.testing import run_folders


class BadInputTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.run_dir = run_folders.write_run(self.root / 'run')

  def _assert_refused(self, message, run_dir=None, output='curves.png'):
    with self.assertRaisesRegex(command_line.UsageError, message) as caught:
      plot.plot([run_dir or self.run_dir], self.root / output)
    self.assertNotIn('\n', str(caught.exception))

  def test_missing_folder(self):
    self._assert_refused('none is not a folder', self.root / 'none')

  def test_a_name_too_long(self):
    message = r'cannot be read \(File name too long\); give the run_dir of an'
    self._assert_refused(message, self.root / ('x' * 300))

  def test_no_mujoco(self):
    run = run_folders.write_run(self.root / 'rooms', env='ramp_use')
    missing = importlib.metadata.PackageNotFoundError('mujoco')
    with mock.patch.object(importlib.metadata, 'version', side_effect=missing):
      self._assert_refused('mujoco is not installed; .*pip install', run)

  @parameterized.parameters([['a']], [['a', 'b', 'c']])
  def test_labels_of_another_number(self, labels):
    other = run_folders.write_run(self.root / 'other', seed=1)
    message = f'has {len(labels)} for 2 runs; give one label for each'
    with self.assertRaisesRegex(command_line.UsageError, message):
      plot.plot([self.run_dir, other], self.root / 'curves.png', labels)
    self.assertFalse((self.root / 'curves.png').exists())

  def test_labels_that_a_legend_leaves_out(self):
    with self.assertRaisesRegex(
      command_line.UsageError, 'labels=_a: legends leave out .* like _a; give'
    ):
      plot.plot([self.run_dir], self.root / 'curves.png', ['_a'])

  def test_labels_that_cannot_be_printed(self):
    with self.assertRaisesRegex(
      command_line.UsageError, "labels: 'ÿ.n' has ch"
    ):
      plot.plot([self.run_dir], self.root / 'curves.png', ['\xff\n'])

  def test_no_run(self):
    with self.assertRaisesRegex(command_line.UsageError, '--run_dirs='):
      plot.plot([], self.root / 'curves.png')

  @parameterized.parameters('metrics.csv', 'config.json')
  def test_missing_file(self, name):
    (self.run_dir / name).unlink()
    self._assert_refused(f'run has no {name}.* give the run_dir')

  @parameterized.parameters(
    ('', 'has no column iteration, env_steps, wall_seconds, coverage'),
    ('a,b\n1,2\n', 'has no column iteration'),
    (','.join(run_folders.COLUMNS) + '\n', 'no evaluation yet'),
    (','.join(run_folders.COLUMNS) + '\n1,35000,20,\n', 'no evaluation yet'),
    (','.join(run_folders.COLUMNS) + '\n1,many,20,\n', 'cannot be read'),
  )
  def test_metrics(self, text, message):
    (self.run_dir / 'metrics.csv').write_text(text)
    self._assert_refused(f'run.* {message}')

  @parameterized.parameters(
    ({'ppo.trace_decay': 0.5}, "field='ppo.trace_decay' is unknown"),
    ({'ppo.gae_lamda': 0.5}, 'did you mean ppo.gae_lambda'),
    ({'environment.name': 'push_bal'}, 'did you mean push_ball'),
    ({'agent.name': 'none'}, "agent='none' is unknown; allowed"),
    ({'curriculum.name': 'vacle'}, 'did you mean vacl'),
    ({'progression.entity_counts': '4,8'}, 'does not end at 4'),
  )
  def test_a_name_that_does_not_exist(self, values, message):
    path = self.run_dir / 'config.json'
    saved = json.loads(path.read_text())
    path.write_text(json.dumps({'config': saved['config'] | values}))
    run_folders.write_snapshots(self.run_dir)
    self._assert_refused(message)
    if 'progression.entity_counts' not in values:
      self._assert_refused('run/config.json: ')

  def test_a_run_of_a_users_own_says_what_to_import(self):
    path = self.run_dir / 'config.json'
    values = json.loads(path.read_text())['config']
    values['environment.name'] = 'corridor'
    content = {'config': values, 'imports': ['my_task.py', 'mine']}
    path.write_text(json.dumps(content))
    self._assert_refused('was started with --import=my_task.py,mine$')

  @parameterized.parameters('', '[]', '{}', '{"config": 3}')
  def test_config(self, text):
    (self.run_dir / 'config.json').write_text(text)
    self._assert_refused('run has no config.json that can be read')

  @parameterized.parameters(b'', b'PK\3\4 and no more', b'nonsense')
  def test_snapshots(self, content):
    (self.run_dir / 'curriculum.npz').write_bytes(content)
    self._assert_refused('curriculum.npz cannot be read')

  def test_output(self):
    self._assert_refused('ends in .png', output='curves.pdf')
    self._assert_refused('mkdir -p .*/none', output='none/curves.png')
    self._assert_refused('File name too long', output='x' * 300 + '/a.png')
    (self.root / 'taken.png').mkdir()
    with self.assertRaisesRegex(plot.UnwritableError, 'cannot be written'):
      plot.plot([self.run_dir], self.root / 'taken.png')

  def test_the_picture_that_cannot_be_written_is_named(self):
    (self.root / 'a_curriculum.png').mkdir()
    self._assert_refused(
      'output=.*/a_curriculum.png cannot be w', output='a.png'
    )


class CommandTest(parameterized.TestCase):
  def _run(self, *arguments):
    command = [sys.executable, '-m', 'vacl_tf.launch.plot', *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)

  def test_command(self):
    root = pathlib.Path(self.create_tempdir().full_path)
    run = run_folders.write_run(root / 'run', has_sets=False)
    beside = run_folders.write_run(root / 'a,b', has_sets=False, seed=2)
    done = self._run(
      f'--run_dirs={run}', f'--run_dirs={beside}', f'--output={root}/a.png'
    )
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn(f'Wrote {root}/a.png\nNo picture of the curr', done.stdout)

  @parameterized.parameters('a,b', ' a ', 'x*', 'new\nline', 'br[ab]')
  def test_a_run_of_any_name_can_be_named(self, name):
    root = pathlib.Path(self.create_tempdir().full_path)
    named, other = (
      run_folders.write_run(root / name),
      run_folders.write_run(root / 'other'),
    )
    found = plot.folders([str(named), str(other)])
    self.assertEqual(found, [named, other])
    both = plot.folders([f'{other}, {root / "third"}'])
    self.assertEqual(both, [other, root / 'third'])

  def test_a_list_may_be_longer_than_a_name_may(self):
    names = [f'run{number}' for number in range(100)]
    found = plot.folders([','.join(names)])
    self.assertEqual([path.name for path in found], names)

  def test_a_picture_needs_no_tensorflow(self):
    root = pathlib.Path(self.create_tempdir().full_path)
    run = run_folders.write_run(root / 'run')
    run_folders.write_snapshots(run)
    code = (
      'import pathlib, sys; from vacl_tf.launch import plot; '
      f'plot.plot([pathlib.Path({str(run)!r})], '
      f'pathlib.Path({str(root / "a.png")!r})); '
      'print({"tensorflow", "mujoco"} & set(sys.modules))'
    )
    done = subprocess.run(
      [sys.executable, '-c', code], capture_output=True, text=True, check=True
    )
    self.assertEqual(done.stdout, 'set()\n')

  def test_one_line_on_bad_input(self):
    done = self._run('--run_dirs=/nowhere')
    self.assertEqual(done.returncode, 2)
    self.assertEqual(done.stderr.count('\n'), 1)
    self.assertIn('/nowhere is not a folder', done.stderr)

  def test_starts_fast(self):
    code = (
      'import sys; from vacl_tf.launch import plot; '
      'print({"tensorflow", "matplotlib"} & set(sys.modules))'
    )
    done = subprocess.run(
      [sys.executable, '-c', code], capture_output=True, text=True, check=True
    )
    self.assertEqual(done.stdout, 'set()\n')


if __name__ == '__main__':
  absltest.main()
