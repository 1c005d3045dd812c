# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reports of studies, with tables and figures, on made-up runs."""

import csv
import json
import pathlib

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from matplotlib import image

from vacl_tf import studies
from vacl_tf.launch import command_line
from vacl_tf.launch import study_panels
from vacl_tf.launch import study_records
from vacl_tf.launch import study_report
from vacl_tf.launch import study_table

_ROOM = studies.Task('room', (), 1_000_000, 0.1, 30.0)
_HALL = studies.Task('hall', (), 2_000_000, 0.2, 60.0)
_METHODS = ('vacl_default', 'uniform')
_STUDY = studies.Study(
  'small', 'A small one.', (((_ROOM, _METHODS), (_HALL, _METHODS)),)
)
_DIVERGED = 'error: value_loss is nan at iteration 7; the last is good\n'


def _write_run(
  folder, run, coverage, final=None, log='', processor='fast', digests=None
):
  """Writes a run that was evaluated every tenth of its budget."""
  path = folder / run.name
  path.mkdir(parents=True)
  (path / 'config.json').write_text(
    json.dumps(
      {
        'config': {'environment.name': 'simple_spread'},
        'git_revision': 'abc',
        'hardware': {'processor': processor},
        'import_digests': digests,
      }
    )
  )
  rows = ['iteration,env_steps,wall_seconds,coverage,success']
  for i, value in enumerate(coverage, start=1):
    steps = i * run.task.num_env_steps // 10
    rows.append(f'{i},{steps},{360 * i},{value},{value}')
  (path / 'metrics.csv').write_text('\n'.join(rows) + '\n')
  (path / 'train.log').write_text(log)
  if final is not None:
    found = {'mean': final, 'low': final - 0.1, 'high': final + 0.1}
    (path / 'evaluation.json').write_text(
      json.dumps(
        {
          **dict(env='simple_spread', num_tasks=2000, seed=1000),
          'policy': 'greedy',
          'coverage': found,
          'success': found,
        }
      )
    )


class _Case(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.folder, self.output = self.root / 'runs', self.root / 'out' / 'small'
    self.runs = studies.list_runs(_STUDY, (100, 101))

  def write_runs(self):
    """Writes two methods in two tasks; of the last one run is missing."""
    good, bad = [0.0, 0.5, 0.8] + [1.0] * 7, [0.0] * 5
    for run in self.runs[:-1]:
      if run.method == 'uniform':
        _write_run(self.folder, run, bad, 0.0)
      else:
        _write_run(self.folder, run, good, 0.9 + run.seed / 10_000)

  def report(self, study=_STUDY):
    return study_report.write(study, self.runs, self.folder, self.output)

  def rows(self, name):
    with (self.output / name).open(newline='') as file:
      return list(csv.DictReader(file))


class ScoreTest(_Case):
  def _score(self, *args, **kwargs):
    run = self.runs[0]
    _write_run(self.folder, run, *args, **kwargs)
    return study_table.score(study_records.read(run, self.folder))

  def test_by_hand(self):
    scores = self._score([0.0, 0.5] + [1.0] * 8, 0.95)
    # A tenth of the steps from 0 to 0.5, another from there to 1, then 7.
    self.assertAlmostEqual(scores.area, (2.5 + 7.5 + 70) / 100)
    # Of 0.5 and two ones the mean is below the level.
    self.assertEqual((scores.reached, scores.steps_to_level), (1, 500_000))
    np.testing.assert_allclose(scores[3:9], [0.95, 0.85, 1.05] * 2)
    self.assertEqual(scores[:3], ('room', 'vacl_default', 100))
    self.assertEqual(
      scores[-5:], (3600.0, 1_000_000, study_records.BUDGET, 'abc', 'fast')
    )

  def test_one_that_ended_early_keeps_its_last_value(self):
    scores = self._score([0.0, 0.0, 0.04, 0.04, 0.04], 0.05)
    self.assertAlmostEqual(scores.area, (0.2 + 70 * 0.04) / 100)
    self.assertEqual(scores.ended, study_records.CHANCE)
    self.assertEqual((scores.reached, scores.steps_to_level), (0, None))

  def test_one_that_diverged_scores_zero(self):
    scores = self._score([1.0] * 7, log=_DIVERGED)
    self.assertEqual(scores[3:9], (0.0,) * 6)
    self.assertEqual((scores.area, scores.reached), (0.0, 0))
    self.assertIsNone(scores.steps_to_level)
    self.assertEqual(scores.ended, study_records.DIVERGED)
    self.assertEqual(scores.env_steps, 700_000)

  def test_a_level_reached_after_the_budget_is_reached_at_its_end(self):
    run = self.runs[0]
    _write_run(self.folder, run, [0.0] * 7 + [0.9] * 3, 0.9)
    path = self.folder / run.name / 'metrics.csv'
    path.write_text(path.read_text().replace('10,1000000,', '10,1090000,'))
    scores = study_table.score(study_records.read(run, self.folder))
    self.assertEqual(scores.steps_to_level, 1_000_000)


class ReportTest(_Case):
  def test_minutes_of_several_processors(self):
    note = 'Minutes are of several processors (fast; slow), so compare'
    made_on = ('fast', 'fast', 'slow')
    for run, name in zip(self.runs, made_on, strict=False):
      _write_run(self.folder, run, [1.0] * 10, 0.9, processor=name)
      self.report()
      is_told = note in (self.output / 'table.md').read_text()
      self.assertEqual(is_told, name == 'slow')
    found = [row['processor'] for row in self.rows('runs.csv')]
    self.assertEqual(found, list(made_on))

  @parameterized.parameters(('a', False), ('b', True))
  def test_different_versions_of_an_imported_file(self, other, is_told):
    for run, version in zip(self.runs, ('a', 'a', other), strict=False):
      digests = {'mine.py': 12 * version}
      _write_run(self.folder, run, [0.5] * 10, 0.5, digests=digests)
    self.report()
    first, second, third = (run.name for run in self.runs[:3])
    self.assertEqual(
      'Runs began with different versions of mine.py (SHA-256). '
      f'aaaaaaaa: {first}, {second}. bbbbbbbb: {third}.\n'
      in (self.output / 'table.md').read_text(),
      is_told,
    )

  def test_files(self):
    self.write_runs()
    written = self.report()
    self.assertEqual([x.name for x in written], list(study_report.FILES))
    names = {x.name for x in self.output.iterdir()}
    self.assertEqual(names, {'study.json', *study_report.FILES})
    self.assertEqual(
      json.loads((self.output / 'study.json').read_text()),
      {'study': 'small', 'protocol': studies.PROTOCOL},
    )
    self.assertEqual(image.imread(written[3]).shape[1], 1280)

  def test_rows_of_runs(self):
    self.write_runs()
    self.report()
    rows = self.rows('runs.csv')
    self.assertEqual(
      [tuple(row.values())[:3] for row in rows],
      [
        (task, method, seed)
        for task in ('room', 'hall')
        for method in _METHODS
        for seed in ('100', '101')
      ][:-1],
    )
    self.assertEqual(rows[0]['coverage'], '0.91')
    self.assertEqual(rows[0]['steps_to_0.9'], '500000')
    self.assertEqual((rows[2]['reached'], rows[2]['steps_to_0.9']), ('0', ''))
    self.assertEqual([row['ended'] for row in rows[1:3]], ['budget', 'chance'])

  def test_rows_of_curves(self):
    self.write_runs()
    self.report()
    rows = self.rows('curves.csv')
    self.assertLen(rows, 4 * 10 + 3 * 5)
    self.assertEqual(
      list(rows[1].values()),
      ['room', 'vacl_default', '100', '200000', '720', '0.5', '0.5'],
    )

  def test_table(self):
    self.write_runs()
    self.report()
    text = (self.output / 'table.md').read_text()
    cells = {
      tuple(row.split(' | ')[:2]): row.split(' | ')
      for row in text.splitlines()
      if row.startswith('| ')
    }
    # The area is 0.1 * (0 + 0 + 0.25 + 0.65 + 0.9) + 0.6.
    row = cells['| vacl_default', '2 of 2']
    self.assertEqual(row[4], '0.780 [0.780, 0.780]')
    self.assertEqual(row[2], '0.910 [0.910, 0.910]')
    self.assertEqual(
      row[5:9],
      [
        '0.780 [0.780, 0.780]',
        '1.000 [1.000, 1.000]',
        '1.000 [1.000, 1.000]',  # Half of the hall's budget.
        '60.0',
      ],
    )
    self.assertEqual(row[9], '- |')
    row = cells['| uniform', '1 of 2']
    self.assertEqual(row[2:4], ['0.000', '0.000'])
    self.assertEqual(row[7], '2.000')  # The whole budget.
    self.assertEqual(row[9], '1.000 |')  # One run has no interval.
    row = cells['| uniform', '2 of 2']
    self.assertEqual(row[7], '1.000 [1.000, 1.000]')
    self.assertEqual(row[9], '1.000 [1.000, 1.000] |')
    self.assertIn('| uniform | 2 | 0.000', text)
    self.assertIn('at chance: room/uniform/seed100, room/uniform/se', text)
    self.assertNotIn('Diverged', text)
    # 4 runs of half an hour and 4 of a whole one; 4 with 1 h, 3 with half.
    self.assertIn('| room | 4 | 4 | 2.00 | 3.00 |', text)
    self.assertIn('| hall | 4 | 3 | 4.00 | 2.50 |', text)
    self.assertIn('| small | 8 | 7 | 6.00 | 5.50 |', text)

  def test_diverged_runs_count_and_are_listed(self):
    _write_run(self.folder, self.runs[0], [1.0] * 10, 1.0)
    other = self.runs[4]
    self.assertEqual(other.name, 'room/vacl_default/seed101')
    _write_run(self.folder, other, [1.0] * 5, log=_DIVERGED)
    self.report()
    text = (self.output / 'table.md').read_text()
    self.assertIn('Diverged, score 0: room/vacl_default/seed101.', text)
    self.assertIn('| vacl_default | 2 of 2 | 0.500 [0.000, 1.000]', text)
    rows = self.rows('runs.csv')
    # It rises from 0 to the first evaluation, after a tenth of the budget.
    self.assertEqual([row['area'] for row in rows], ['0.95', '0'])

  def test_one_without_a_curve_is_left_out_and_listed(self):
    self.write_runs()
    (self.folder / self.runs[0].name / 'metrics.csv').write_text('a\n')
    self.report()
    text = (self.output / 'table.md').read_text()
    self.assertIn('left out: room/vacl_default/seed100.', text)
    self.assertLen(self.rows('runs.csv'), 6)

  def test_without_the_baseline(self):
    _write_run(self.folder, self.runs[1], [0.0] * 5, 0.0)
    self.report()
    text = (self.output / 'table.md').read_text()
    self.assertRegex(text, r'\| uniform \| 1 of 2 .* - \|')
    self.assertNotIn('## Over tasks', text)

  def test_the_same_runs_give_the_same_files(self):
    self.write_runs()
    before = [path.read_bytes() for path in self.report()]
    for path in self.output.iterdir():
      if path.name != 'study.json':
        path.write_bytes(path.read_bytes()[:40])  # As if half written.
    (self.output / 'runs.csv.new').write_text('task,met')
    self.assertEqual([path.read_bytes() for path in self.report()], before)
    self.assertFalse((self.output / 'runs.csv.new').exists())


class BadInputTest(_Case):
  def _assert_refused(self, message, study=_STUDY):
    with self.assertRaisesRegex(command_line.UsageError, message) as caught:
      self.report(study)
    self.assertNotIn('\n', str(caught.exception))

  def test_no_run(self):
    self._assert_refused('no complete run among these 8')
    _write_run(self.folder, self.runs[0], [0.5] * 3)
    self._assert_refused('no complete run')
    self.assertFalse(self.output.exists())

  @parameterized.parameters(
    ('{"study": "large", "protocol": 1}', 'is the report of another study'),
    ('{"study": "small", "protocol": 0}', 'is the report of another study'),
    ('{"study":', 'study.json cannot be read .*; give another --output'),
    ('[' * 100_000, 'study.json cannot be read .*; give another --output'),
  )
  def test_another_report(self, stamp, message):
    self.write_runs()
    self.output.mkdir(parents=True)
    (self.output / 'study.json').write_text(stamp)
    (self.output / 'table.md').write_text('theirs')
    self._assert_refused(message)
    self.assertEqual((self.output / 'table.md').read_text(), 'theirs')

  def test_one_that_was_killed_before_its_stamp_goes_on(self):
    self.write_runs()
    self.output.mkdir(parents=True)
    (self.output / 'study.json.new').write_text('{"stu')
    self.report()
    self.assertTrue((self.output / 'table.md').exists())
    self.assertFalse((self.output / 'study.json.new').exists())

  def test_not_a_report(self):
    self.write_runs()
    self.output.mkdir(parents=True)
    (self.output / 'thesis.md').write_text('mine')
    self._assert_refused('no study.json')
    self.assertLen(list(self.output.iterdir()), 1)

  def test_not_a_folder(self):
    self.write_runs()
    self.output.parent.mkdir()
    self.output.touch()
    self._assert_refused('cannot be written')


class PanelTest(_Case):
  def _states(self):
    self.write_runs()
    return [study_records.read(run, self.folder) for run in self.runs[:-1]]

  def test_over_steps_and_minutes(self):
    states = self._states()
    for panels, limits, last in (
      (study_panels.over_steps(states), [1.0, 2.0], 1.0),
      (study_panels.over_minutes(states), [67.5, 90.0], 60.0),
    ):
      self.assertEqual([x.limit for x in panels], limits)
      self.assertEqual([x.levels['chance'] for x in panels], [0.1, 0.2])
      self.assertEqual([len(x.curves['uniform']) for x in panels], [2, 1])
      x, y = panels[0].curves['vacl_default'][1]
      self.assertAlmostEqual(x[-1], last)
      self.assertEqual(y[2], 0.8)

  def test_one_that_diverged_counts_as_zero(self):
    _write_run(self.folder, self.runs[0], [1.0] * 7, log=_DIVERGED)
    states = [study_records.read(self.runs[0], self.folder)]
    for panels in study_panels.over_steps, study_panels.over_minutes:
      [(x, y)] = panels(states)[0].curves['vacl_default']
      self.assertEqual((len(x), list(y)), (1, [0.0]))

  def test_a_profile_is_the_share_of_runs_above(self):
    scores = [study_table.score(x) for x in self._states()]
    panels = {x.title: x for x in study_panels.profiles(scores)}
    self.assertEqual(
      list(panels),
      ['room, success', 'room, area', 'hall, success', 'hall, area'],
    )
    [(x, y)] = panels['room, success'].curves['vacl_default']
    self.assertEqual(y[x < 0.91].min(), 1.0)  # 0.9100 and 0.9101.
    self.assertEqual(y[x > 0.911].max(), 0.0)
    mean = np.mean([x.area for x in scores if x.method == 'vacl_default'])
    [(x, y)] = panels['hall, area'].curves['vacl_default']
    # The area below a profile is the mean.
    self.assertAlmostEqual(np.trapezoid(y, x), mean, delta=0.003)


if __name__ == '__main__':
  absltest.main()
