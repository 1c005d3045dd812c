# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for plot, plot_curriculum and records, on runs made up here."""

import csv
import importlib.metadata
import json
import pathlib
import subprocess
import sys
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from matplotlib import figure
from matplotlib import image

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.environments import task_spec
from vacl_tf.launch import command_line
from vacl_tf.launch import plot
from vacl_tf.launch import records

_COLUMNS = ('iteration', 'env_steps', 'wall_seconds', 'coverage')
_SETS = ('active_tasks', 'solved_tasks', 'newly_solved', 'solved_spread')


def _write_run(path, values=None, num_iterations=40, has_sets=True, **options):
  """Writes a run evaluated every tenth iteration: coverage 0.1, 0.2, ..."""
  path.mkdir()
  cfg = presets.make(**({'env': 'simple_spread'} | options))
  cfg = overrides.replace(cfg, values or {})
  (path / 'config.json').write_text(
    json.dumps({'config': overrides.leaves(cfg), 'run_length': {}})
  )
  with (path / 'metrics.csv').open('w', newline='') as file:
    writer = csv.writer(file)
    writer.writerow(_COLUMNS + _SETS * has_sets)
    for i in range(1, num_iterations + 1):
      coverage = '' if i % 10 else i / 100
      row = [i, 35_000 * i, 20.0 + i, coverage, 2000, 10 * i, i, 0.04 * i]
      writer.writerow(row if has_sets else row[:4])
  return path


def _write_snapshots(path, num_dims=16, scale=None):
  """Writes snapshots whose tasks spread; no task is solved in the first."""
  rng = np.random.default_rng(0)
  arrays = {}
  for iteration, half_width in (scale or {1: 0.3, 20: 1, 40: 3}).items():
    for name in ('active', 'solved'):
      rows = 0 if name == 'solved' and iteration == 1 else 30
      phi = rng.uniform(-half_width, half_width, [rows, num_dims])
      arrays[f'{iteration}/{name}_phi'] = phi
      arrays[f'{iteration}/{name}_value'] = np.ones(rows)
  np.savez_compressed(path / 'curriculum.npz', **arrays)


class PlotTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.output = self.root / 'curves.png'
    # Pictures that were drawn, to look into.
    self.drawn = []
    save = figure.Figure.savefig

    def keep(picture, *args, **kwargs):
      self.drawn.append(picture)
      save(picture, *args, **kwargs)

    self.enter_context(mock.patch.object(figure.Figure, 'savefig', keep))

  def _legend(self, picture=0):
    (legend,) = self.drawn[picture].legends
    return [text.get_text() for text in legend.get_texts()]

  def _curves(self, panel):
    return [line.get_xydata() for line in self.drawn[0].axes[panel].lines]

  def test_writes_both_pictures(self):
    run = _write_run(self.root / 'run')
    _write_snapshots(run)
    written = plot.plot([run], self.output)
    beside = self.root / 'curves_curriculum.png'
    self.assertEqual(written, [self.output, beside])
    for path in written:
      self.assertEqual(image.imread(path).shape[1], 1200)
    # Three curves over time, then rooms and distances of three snapshots.
    self.assertLen(self.drawn[1].axes, 3 + 2 * 3)

  def test_single_run(self):
    plot.plot([_write_run(self.root / 'run', seed=5)], self.output)
    want = 0.1 * np.arange(1, 5)
    steps, minutes = self._curves(0)[0], self._curves(1)[0]
    np.testing.assert_allclose(steps.T, [3.5 * want, want])
    np.testing.assert_allclose(
      minutes.T, [(20 + 100 * want) / 60, want], rtol=1e-6
    )
    self.assertEqual(
      self._legend(),
      ['vacl (seed 5)', "authors' VACL (3 seeds): mean and std"],
    )
    title = self.drawn[0].get_suptitle()
    self.assertEqual(title, 'simple_spread, n = 4, default preset')

  def test_a_run_alone_has_its_success_rate_besides(self):
    run = _write_run(self.root / 'run', env='lock_and_return', num_agents=4)
    with (run / 'metrics.csv').open() as file:
      rows = list(csv.DictReader(file))
    with (run / 'metrics.csv').open('w', newline='') as file:
      writer = csv.DictWriter(file, [*rows[0], 'success'])
      writer.writeheader()
      for row in rows:
        half = row['coverage'] and float(row['coverage']) / 2
        writer.writerow(row | {'success': half})
    plot.plot([run], self.output)
    for panel in (0, 1):
      coverage, success = self._curves(panel)
      np.testing.assert_allclose(success, coverage * [1.0, 0.5])
    self.assertIn('success rate', self._legend()[1])
    titles = [picture.get_suptitle() for picture in self.drawn]
    self.assertEqual(
      titles,
      [
        'lock_and_return, n = 4, 4 boxes, default preset',
        'lock_and_return, n = 4, 4 boxes, default preset, vacl, seed 0',
      ],
    )
    self.drawn.clear()
    plot.plot([run, _write_run(self.root / 'other', seed=1)], self.output)
    self.assertLen(self._legend(), 3)
    self.assertNotIn('success', ' '.join(self._legend()))

  def test_seeds_are_averaged_where_all_have_run(self):
    long = _write_run(self.root / 'a', seed=0)
    short = _write_run(self.root / 'b', seed=1, num_iterations=20)
    text = (short / 'metrics.csv').read_text()
    text = text.replace(',0.1,', ',0.3,').replace(',0.2,', ',0.4,')
    (short / 'metrics.csv').write_text(text)
    plot.plot([long, short, long], self.output)
    *seeds, mean = self._curves(0)[:3]
    self.assertEqual([len(x) for x in seeds], [4, 2])
    np.testing.assert_allclose(mean[[0, -1]], [[0.35, 0.2], [0.7, 0.3]])
    band = self.drawn[0].axes[0].collections[0].get_paths()[0].vertices
    np.testing.assert_allclose(band[:, 1].min(), 0.1)
    np.testing.assert_allclose(band[:, 1].max(), 0.4)
    self.assertEqual(
      self._legend()[0], 'vacl (2 seeds): mean, band from min to max'
    )

  @parameterized.parameters(
    (({}, {'curriculum': 'uniform'}), ['vacl', 'uniform']),
    (({}, {'preset': 'paper'}), ['default preset', 'paper preset']),
    (({}, {'num_agents': 8}), ['n = 4', 'n = 8']),
    (
      ({}, {'values': {'curriculum.noise': 0.0}}, {'curriculum': 'uniform'}),
      [
        'vacl, curriculum.noise = 2.0',
        'vacl, curriculum.noise = 0.0',
        'uniform',
      ],
    ),
  )
  def test_groups_are_named_by_what_differs(self, options, want):
    runs = []
    for index, option in enumerate(options):
      path = _write_run(self.root / str(index), seed=index, **option)
      runs.append(records.read(path))
    labels, shared = plot.label_groups(plot.group_by_config(runs))
    self.assertEqual(labels, want)
    self.assertContainsSubset({'simple_spread'}, shared.split(', '))

  def test_tasks_with_other_counts_and_agents_are_told_apart(self):
    options = (
      {'env': 'simple_spread'},
      {'env': 'lock_and_return'},
      {'env': 'simple_spread', 'agent': 'recurrent_attention'},
    )
    runs = [
      records.read(_write_run(self.root / str(index), **option))
      for index, option in enumerate(options)
    ]
    labels, shared = plot.label_groups(plot.group_by_config(runs))
    self.assertEqual(
      labels,
      [
        'simple_spread, n = 4, attention agent',
        'lock_and_return, n = 2, 2 boxes, recurrent_attention agent',
        'simple_spread, n = 4, recurrent_attention agent',
      ],
    )
    self.assertEqual(shared, 'default preset, vacl')

  def test_a_task_may_have_neither_reference_nor_map(self):
    self.enter_context(mock.patch.dict(catalog.TASKS._entries))
    catalog.register_task(
      task_spec.TaskSpec(
        world=config.EnvironmentConfig(name='elsewhere'),
        make=lambda world: None,
        presets={'default': task_spec.Preset(num_env_steps=(1, 1))},
        least=(1,),
        most=(9,),
      )
    )
    run = _write_run(self.root / 'run', env='elsewhere')
    _write_snapshots(run)
    plot.plot([run], self.output)
    self.assertEqual(self._legend(), ['vacl (seed 0)'])
    self.assertLen(self.drawn[1].axes, 3)

  def test_references_are_those_of_the_task(self):
    for task in map(catalog.TASKS.get, catalog.TASKS.names()):
      for num_agents, points in task.references.items():
        counts = [point[0] for point in points]
        self.assertEqual(counts, sorted(counts))
        self.assertLess(max(point[1] for point in points), 1.0)
        run = _write_run(
          self.root / f'{task.name}{num_agents}',
          env=task.name,
          num_agents=num_agents,
        )
        self.drawn.clear()
        plot.plot([run], self.output)
        self.assertStartsWith(self._legend()[1], "authors' VACL (3 seeds)")

  def test_sets_without_snapshots(self):
    plot.plot([_write_run(self.root / 'run')], self.output)
    self.assertLen(self.drawn[1].axes, 3)

  def test_no_sets_no_second_picture(self):
    run = _write_run(self.root / 'run', has_sets=False, curriculum='uniform')
    self.assertEqual(plot.plot([run], self.output), [self.output])
    self.assertEqual([x.name for x in self.root.glob('*.png')], ['curves.png'])

  def test_half_a_line_at_the_end_is_not_read(self):
    run = _write_run(self.root / 'run')
    with (run / 'metrics.csv').open('a') as file:
      file.write('41,14350')
    self.assertLen(records.read(run).columns['coverage'], 40)


class BadInputTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.run_dir = _write_run(self.root / 'run')

  def _assert_refused(self, message, run_dir=None, output='curves.png'):
    with self.assertRaisesRegex(command_line.UsageError, message) as caught:
      plot.plot([run_dir or self.run_dir], self.root / output)
    self.assertNotIn('\n', str(caught.exception))

  def test_missing_folder(self):
    self._assert_refused('none is not a folder', self.root / 'none')

  def test_no_mujoco(self):
    run = _write_run(self.root / 'rooms', env='ramp_use')
    missing = importlib.metadata.PackageNotFoundError('mujoco')
    with mock.patch.object(importlib.metadata, 'version', side_effect=missing):
      self._assert_refused('mujoco is not installed; .*pip install', run)

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
    (','.join(_COLUMNS) + '\n', 'no evaluation yet'),
    (','.join(_COLUMNS) + '\n1,35000,20,\n', 'no evaluation yet'),
    (','.join(_COLUMNS) + '\n1,many,20,\n', 'cannot be read'),
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
    _write_snapshots(self.run_dir)
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
    (self.root / 'taken.png').mkdir()
    self._assert_refused('cannot be written', output='taken.png')


class CommandTest(parameterized.TestCase):
  def _run(self, *arguments):
    command = [sys.executable, '-m', 'vacl_tf.launch.plot', *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)

  def test_command(self):
    root = pathlib.Path(self.create_tempdir().full_path)
    run = _write_run(root / 'run', has_sets=False)
    beside = _write_run(root / 'a,b', has_sets=False, seed=2)
    done = self._run(
      f'--run_dirs={run}', f'--run_dirs={beside}', f'--output={root}/a.png'
    )
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn(f'Wrote {root}/a.png\nNo picture of the curr', done.stdout)

  @parameterized.parameters('a,b', ' a ', 'x*', 'new\nline', 'br[ab]')
  def test_a_run_of_any_name_can_be_named(self, name):
    root = pathlib.Path(self.create_tempdir().full_path)
    named, other = _write_run(root / name), _write_run(root / 'other')
    found = plot._folders([str(named), str(other)])
    self.assertEqual(found, [named, other])
    both = plot._folders([f'{other}, {root / "third"}'])
    self.assertEqual(both, [other, root / 'third'])

  def test_a_picture_needs_no_tensorflow(self):
    root = pathlib.Path(self.create_tempdir().full_path)
    run = _write_run(root / 'run')
    _write_snapshots(run)
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
