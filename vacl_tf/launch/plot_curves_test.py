# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pictures show what runs made up here have, and what they lack is told."""

import csv
import json
import pathlib
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from matplotlib import image

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf.environments import task_spec
from vacl_tf.launch import plot
from vacl_tf.launch import plot_curves
from vacl_tf.launch import records
from vacl_tf.testing import run_folders


class PicturesTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.output = self.root / 'curves.png'
    # Pictures that were drawn, to look into.
    self.drawn = []
    save = plot_curves.save

    def keep(picture, output):
      self.drawn.append(picture)
      save(picture, output)

    self.enter_context(mock.patch.object(plot_curves, 'save', keep))

  def _legend(self, picture=0):
    (legend,) = self.drawn[picture].legends
    return [text.get_text().replace('\n', ' ') for text in legend.get_texts()]

  def _curves(self, panel):
    return [line.get_xydata() for line in self.drawn[0].axes[panel].lines]

  def test_writes_both_pictures(self):
    run = run_folders.write_run(self.root / 'run')
    run_folders.write_snapshots(run)
    written = plot.plot([run], self.output)
    beside = self.root / 'curves_curriculum.png'
    self.assertEqual(written, [self.output, beside])
    for path in written:
      self.assertEqual(image.imread(path).shape[1], 1200)
    # Three panels over time; two kinds of entities and their distances, at
    # three times; the target tasks of both kinds.
    self.assertLen(self.drawn[1].axes, 3 + 3 * 3 + 2)

  def test_single_run(self):
    plot.plot([run_folders.write_run(self.root / 'run', seed=5)], self.output)
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
    run = run_folders.write_run(
      self.root / 'run', env='lock_and_return', num_agents=4
    )
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
    plot.plot(
      [run, run_folders.write_run(self.root / 'other', seed=1)], self.output
    )
    self.assertLen(self._legend(), 3)
    self.assertNotIn('success', ' '.join(self._legend()))

  def test_seeds_are_averaged_where_all_have_run(self):
    long = run_folders.write_run(self.root / 'a', seed=0)
    short = run_folders.write_run(self.root / 'b', seed=1, num_iterations=20)
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
      self._legend()[0],
      'vacl (2 seeds): mean; band: 95 % bootstrap interval of the mean over '
      'seeds',
    )

  def test_what_was_evaluated_once_is_a_dot(self):
    runs = [
      run_folders.write_run(self.root / name, seed=seed, num_iterations=10)
      for seed, name in enumerate('ab')
    ]
    plot.plot(runs, self.output)
    for axis in self.drawn[0].axes[:2]:
      for line in axis.lines:
        if len(line.get_xdata()) == 1:
          self.assertEqual(line.get_marker(), 'o')

  def test_seeds_that_share_no_steps_are_drawn_without_a_mean(self):
    first = run_folders.write_run(self.root / 'a', seed=0)
    late = run_folders.write_run(self.root / 'b', seed=1)
    header, *rows = (first / 'metrics.csv').read_text().splitlines()
    half = len(rows) // 2
    for path, part in ((first, rows[:half]), (late, rows[half:])):
      (path / 'metrics.csv').write_text('\n'.join([header, *part, '']))
    plot.plot([first, late], self.output)
    self.assertIn('vacl (2 seeds whose steps do not overlap)', self._legend())

  @parameterized.parameters(
    (({}, {'curriculum': 'uniform'}), ['vacl', 'uniform']),
    (({}, {'preset': 'paper'}), ['default preset', 'paper preset']),
    (({}, {'num_agents': 8}), ['n = 4', 'n = 8']),
    (
      ({}, {'curriculum': 'uniform', 'agent': 'recurrent_attention'}),
      ['vacl, attention agent', 'uniform, recurrent_attention agent'],
    ),
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
      path = run_folders.write_run(self.root / str(index), seed=index, **option)
      runs.append(records.read(path))
    groups, shared = plot.group_by_config(runs)
    self.assertEqual([group.label for group in groups], want)
    self.assertContainsSubset({'simple_spread'}, shared.split(', '))

  def test_nothing_is_cut_however_long_the_labels_are(self):
    changes = {
      'ppo.clip': (0.1, 0.3),
      'ppo.gae_lambda': (0.9, 0.8),
      'agent.hidden_size': (32, 128),
      'ppo.decay_start_steps': (3_000_000, 4_000_000),
      'curriculum.noise_probability': (0.5, 0.75),
    }
    runs = [
      run_folders.write_run(
        self.root / str(index), {k: x[index] for k, x in changes.items()}
      )
      for index in range(2)
    ]
    plot.plot(runs, self.output)
    picture = self.drawn[0]
    (legend,) = picture.legends
    axis = picture.axes[0]
    boxes = [legend, axis.title, axis.xaxis.label, *axis.texts]
    for thing in (*boxes, axis.yaxis.label, picture.axes[1].xaxis.label):
      box = thing.get_window_extent()
      self.assertGreaterEqual(min(box.x0, box.y0), 0)
      self.assertLessEqual(box.x1, picture.bbox.x1)
      self.assertLessEqual(box.y1, picture.bbox.y1)
    self.assertGreater(axis.get_window_extent().height, 200)
    # Too long for a curve: letters there, which the legend spells.
    texts = [text.get_text() for text in axis.texts]
    self.assertSameElements(texts, ['A', 'B', "authors' VACL"])
    self.assertStartsWith(self._legend()[1], 'B: ')
    self.assertIn('ppo.clip = 0.3', self._legend()[1])

  def test_steps_are_logarithmic_and_all_is_in_view(self):
    plot.plot([run_folders.write_run(self.root / 'run')], self.output)
    axis = self.drawn[0].axes[0]
    self.assertEqual(axis.get_xscale(), 'log')
    low, high = axis.get_xlim()
    self.assertBetween(low, 0.2, 0.35)  # From our first evaluation
    self.assertBetween(high, 40, 60)  # to the authors' last one.
    texts = {text.get_text(): text.xy for text in axis.texts}
    self.assertSameElements(texts, ['vacl', "authors' VACL"])
    x, y = texts['vacl']  # It stands at the curve.
    self.assertAlmostEqual(y, 0.1 * round(x / 0.35))

  def test_the_label_of_one_run_is_not_where_success_is(self):
    # Another task than the authors', so no curve of theirs widens the axis.
    runs = [
      run_folders.write_run(self.root / str(i), {'environment.horizon': 60 + i})
      for i in range(2)
    ]
    plot.plot(runs[:1], self.output)
    plot.plot(runs, self.output)
    sides = [
      [text.get_horizontalalignment() for text in picture.axes[0].texts]
      for picture in self.drawn
      if picture.axes[0].get_xscale() == 'log'
    ]
    self.assertEqual(sides, [['right'], ['left', 'left']])

  def test_labels_name_the_runs_and_join_them(self):
    names = ['ours', 'theirs, too $$', 'ours']
    runs = [
      run_folders.write_run(
        self.root / str(seed), seed=seed, num_agents=4 * (seed + 1)
      )
      for seed in range(3)
    ]
    plot.plot(runs, self.output, names)
    self.assertStartsWith(self._legend()[0], 'ours (2 seeds): mean')
    self.assertEqual(self._legend()[1], 'theirs, too $$ (seed 1)')
    self.assertEqual(
      self.drawn[0].get_suptitle(), 'simple_spread, default preset, vacl'
    )

  def test_what_is_not_there_yet_is_told_and_the_rest_is_drawn(self):
    run = run_folders.write_run(self.root / 'run')
    path = run / 'config.json'
    content = json.loads(path.read_text())
    content['run_length'] = {'num_env_steps': 2_000_000}
    path.write_text(json.dumps(content))
    begun = run_folders.write_run(self.root / 'begun', num_iterations=3, seed=1)
    empty = run_folders.write_run(self.root / 'empty', seed=2)
    (empty / 'metrics.csv').unlink()
    notes = []
    plot.plot([begun, run, empty], self.output, ['a', 'b', 'c'], notes.append)
    self.assertEqual(self._legend()[0], 'b (seed 0)')
    for note, words in zip(
      notes,
      (
        r'begun has no evaluation yet; .*This run is left out',
        r'empty has no metrics.csv; .*This run is left out',
        r'run is not finished: 1,400,000 of 2,000,000 env steps are drawn',
        r'run has no curriculum.npz',
      ),
      strict=True,
    ):
      self.assertRegex(note, words)

  @parameterized.parameters(
    ({'num_env_steps': 1_400_000}, False),
    ({'num_env_steps': 1_400_001}, True),
    ({'num_env_steps': 2_000_000, 'stop_at_coverage': 0.3}, False),
    ({'num_env_steps': 2_000_000, 'stop_at_coverage': 0.31}, True),
    ({'num_env_steps': 'many'}, False),
    (['num_env_steps'], False),
    ({}, False),
  )
  def test_unfinished(self, length, want):
    path = run_folders.write_run(self.root / 'run') / 'config.json'
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {'run_length': length}))
    self.assertEqual(records.read(path.parent).is_unfinished, want)

  def test_tasks_with_other_counts_and_agents_are_told_apart(self):
    options = (
      {'env': 'simple_spread'},
      {'env': 'lock_and_return'},
      {'env': 'simple_spread', 'agent': 'recurrent_attention'},
    )
    runs = [
      records.read(run_folders.write_run(self.root / str(index), **option))
      for index, option in enumerate(options)
    ]
    groups, shared = plot.group_by_config(runs)
    self.assertEqual(
      [group.label for group in groups],
      [
        'simple_spread, n = 4, attention agent',
        'lock_and_return, n = 2, 2 boxes, recurrent_attention agent',
        'simple_spread, n = 4, recurrent_attention agent',
      ],
    )
    self.assertEqual(shared, 'default preset, vacl')

  def test_a_curriculum_without_sets_is_the_tasks_that_it_played(self):
    runs = [
      run_folders.write_run(self.root / name, has_sets=False, curriculum=name)
      for name in ('uniform', 'rcg')
    ]
    run_folders.write_snapshots(runs[1])
    beside = self.root / 'curves_curriculum.png'
    self.assertEqual(plot.plot(runs, self.output), [self.output, beside])
    far, *rooms = self.drawn[1].axes
    self.assertLen(rooms, 3 * 3 + 2)
    self.assertEqual(far.get_title(), 'Distance to the target tasks')
    played = ['played, not solved', 'played, solved']
    self.assertEqual([x.get_label() for x in far.lines], played)
    [legend] = [x for part in self.drawn[1].subfigs for x in part.legends]
    told = ' '.join(x.get_text() for x in legend.get_texts())
    self.assertNotIn('active', told)
    for label in played:
      self.assertIn(label, told)

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
    run = run_folders.write_run(self.root / 'run', env='elsewhere')
    run_folders.write_snapshots(run)
    plot.plot([run], self.output)
    self.assertEqual(self._legend(), ['vacl (seed 0)'])
    self.assertLen(self.drawn[1].axes, 2)
    played = run_folders.write_run(
      self.root / 'rcg', has_sets=False, env='elsewhere', curriculum='rcg'
    )
    run_folders.write_snapshots(played)
    self.assertEqual(plot.plot([played], self.output), [self.output])

  def test_references_are_those_of_the_task(self):
    for task in map(catalog.TASKS.get, catalog.TASKS.names()):
      for num_agents, points in task.references.items():
        counts = [point[0] for point in points]
        self.assertEqual(counts, sorted(counts))
        self.assertLess(max(point[1] for point in points), 1.0)
        run = run_folders.write_run(
          self.root / f'{task.name}{num_agents}',
          env=task.name,
          num_agents=num_agents,
        )
        self.drawn.clear()
        plot.plot([run], self.output)
        self.assertStartsWith(self._legend()[1], "authors' VACL (3 seeds)")

  @parameterized.parameters(
    {'environment.half_width': 5.0},
    {'environment.cover_radius': 0.2},
    {'environment.horizon': 90},
  )
  def test_references_are_of_no_other_task(self, **values):
    run = run_folders.write_run(self.root / 'run')
    other = run_folders.write_run(self.root / 'other', values)
    plot.plot([other], self.output)
    self.assertEqual(self._legend(), ['vacl (seed 0)'])
    plot.plot([run, other], self.output)
    [told] = [x for x in self._legend(2) if 'authors' in x]
    # Which of the two it is.
    self.assertIn('on simple_spread, n = 4 (3 seeds)', told)

  def test_sets_without_snapshots(self):
    plot.plot([run_folders.write_run(self.root / 'run')], self.output)
    self.assertLen(self.drawn[1].axes, 2)

  def test_no_sets_no_second_picture(self):
    run = run_folders.write_run(
      self.root / 'run', has_sets=False, curriculum='uniform'
    )
    self.assertEqual(plot.plot([run], self.output), [self.output])
    self.assertEqual([x.name for x in self.root.glob('*.png')], ['curves.png'])

  def test_half_a_line_at_the_end_is_not_read(self):
    run = run_folders.write_run(self.root / 'run')
    with (run / 'metrics.csv').open('a') as file:
      file.write('41,14350')
    self.assertLen(records.read(run).columns['coverage'], 40)


if __name__ == '__main__':
  absltest.main()
