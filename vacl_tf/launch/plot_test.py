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

from vacl_tf import config
from vacl_tf import environments
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf.launch import command_line
from vacl_tf.launch import plot
from vacl_tf.launch import plot_curriculum
from vacl_tf.launch import records

_COLUMNS = ('iteration', 'env_steps', 'wall_seconds', 'coverage')
_SETS = ('active_tasks', 'solved_tasks', 'newly_solved', 'solved_spread')


def _write_run(path, values=None, num_iterations=40, has_sets=True, **options):
  """Writes a run evaluated every tenth iteration: coverage 0.1, 0.2, ..."""
  path.mkdir()
  cfg = config.replace(presets.make(**options), values or {})
  (path / 'config.json').write_text(
    json.dumps({'config': config.leaves(cfg), 'run_length': {}})
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
        'uniform, curriculum.noise = 2.0',
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

  def test_other_worlds_have_neither_reference_nor_rooms(self):
    run = _write_run(self.root / 'run', {'environment.name': 'elsewhere'})
    _write_snapshots(run)
    plot.plot([run], self.output)
    self.assertEqual(self._legend(), ['vacl (seed 0)'])
    self.assertLen(self.drawn[1].axes, 3)

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

  def test_even_growth_from_uneven_snapshots(self):
    run = _write_run(self.root / 'run')
    _write_snapshots(run, scale={1: 0.1, 10: 1.1, 20: 2.1, 30: 3, 40: 3, 50: 3})
    snapshots = records.read_snapshots(run / 'curriculum.npz')
    chosen = plot_curriculum.choose_snapshots(snapshots)
    self.assertEqual(chosen, [1, 10, 20, 50])

  def test_growth_from_a_corner(self):
    noise = np.random.default_rng(0).uniform(-1, 1, [500, 4])
    snapshots = {
      iteration: {'active_phi': [9, 0, 9, 0] + noise * size}
      for iteration, size in zip((1, 10, 20, 50), (0.1, 1, 2, 3), strict=True)
    }
    chosen = plot_curriculum.choose_snapshots(snapshots)
    self.assertEqual(chosen, [1, 10, 20, 50])

  def test_nearest_mover(self):
    phi = np.array([[0, 0, 3, 0, 0, 1, 3, 4]], np.float32)  # Two and two.
    layout = plot_curriculum.LAYOUTS['simple_spread']
    np.testing.assert_allclose(
      plot_curriculum.nearest_mover(phi, layout), [1, 4]
    )
    phi = np.array([[9, 9, 0, 0, 0, 1, 2, 0, 0, 3]], np.float32)
    layout = plot_curriculum.LAYOUTS['speaker_listener']
    np.testing.assert_allclose(
      plot_curriculum.nearest_mover(phi, layout), [1, 2, 3]
    )

  @parameterized.parameters(*plot_curriculum.LAYOUTS)
  def test_layout_is_that_of_the_environment(self, name):
    layout = plot_curriculum.LAYOUTS[name]
    space = environments.load(name).task_space
    phi = space.sample_target(500, randomness.root(0)).numpy()
    points = phi.reshape(500, len(layout.kinds), -1, 2)
    for kind, found in zip(
      layout.kinds, points.transpose(1, 3, 0, 2), strict=True
    ):
      box = layout.goals if kind == layout.goal else layout.movers
      sides = np.reshape(box, [2, 2])
      np.testing.assert_allclose(found.min((1, 2)), sides[:, 0], atol=0.1)
      np.testing.assert_allclose(found.max((1, 2)), sides[:, 1], atol=0.1)

  @parameterized.parameters(('ramp_use', 4), ('lock_and_return', 8))
  def test_tasks_of_hide_and_seek_are_in_metres(self, name, num_dims):
    layout = plot_curriculum.layout_of(presets.make(env=name))
    phi = layout.sample(50)
    self.assertEqual(phi.shape, (50, num_dims))
    points = layout.points(phi)
    self.assertEqual(tuple(points), layout.kinds)
    for found in points.values():
      self.assertEqual(found.shape, (50, num_dims // 4, 2))
      self.assertBetween(found.min(), 0.1, 1.0 if num_dims == 4 else 7.0)
      self.assertBetween(found.max(), layout.goals[1] - 2.0, layout.goals[1])

  def test_counts_of_agents_and_boxes_may_differ(self):
    cfg = presets.make(env='lock_and_return', num_agents=4)
    layout = plot_curriculum.layout_of(cfg)
    for num_agents, num_boxes in ((2, 2), (4, 2), (4, 4)):
      num = num_agents + num_boxes
      points = layout.points(np.arange(2.0 * num).reshape(1, -1))
      self.assertEqual(points['agent'].shape, (1, num_agents, 2))
      np.testing.assert_allclose(
        points['box'][0, :, 0], 0.4 * np.arange(num_agents, num)
      )


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


class CommandTest(absltest.TestCase):
  def _run(self, *arguments):
    command = [sys.executable, '-m', 'vacl_tf.launch.plot', *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)

  def test_command(self):
    root = pathlib.Path(self.create_tempdir().full_path)
    run = _write_run(root / 'run', has_sets=False)
    done = self._run(f'--run_dirs={run}', f'--output={root}/a.png')
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertIn(f'Wrote {root}/a.png\nNo picture of the curr', done.stdout)

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
