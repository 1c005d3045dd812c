# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Rows of the benchmark: what is read is what was written, or one line."""

import dataclasses
import json
import pathlib

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import benchmark_protocol as protocol
from vacl_tf.launch import benchmark_rows
from vacl_tf.launch import command_line
from vacl_tf.launch import study_records

_TASK = protocol.TASKS[0]
_ROW = benchmark_rows.Row(
  benchmark=protocol.VERSION,
  is_smoke=False,
  submission='mine',
  sha256='ab' * 32,
  task=_TASK.name,
  seed=protocol.SEEDS[1],
  num_env_steps=_TASK.num_env_steps,
  env_steps=_TASK.num_env_steps + 5,
  coverage=0.9,
  coverage_low=0.89,
  coverage_high=0.91,
  success=0.8,
  success_low=0.79,
  success_high=0.81,
  area=0.5,
  steps_to_level=None,
  ended='budget',
  wall_seconds=12.5,
  digest='cd' * 32,
  constants={'name': 'mine'},
  processor='some CPU',
  versions={'vacl_tf': '1'},
  git_revision='abc',
)


class RowsTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)

  def test_what_is_written_is_read(self):
    other = dataclasses.replace(_ROW, seed=protocol.SEEDS[0], steps_to_level=1)
    paths = [benchmark_rows.write(row, self.folder) for row in (_ROW, other)]
    self.assertLen(set(paths), 2)
    self.assertCountEqual(benchmark_rows.read_all([self.folder]), [_ROW, other])

  def test_when_a_run_at_chance_was_ended_makes_no_difference(self):
    half = _TASK.num_env_steps // 2
    rows = []
    for num_more in (0, 2):
      path = self.folder / str(num_more)
      path.mkdir()
      (path / 'config.json').write_text('{}')
      points = [*range(half // 10, half, half // 10), half + 5]
      points += [half + 100 * i for i in range(1, num_more + 1)]
      number = len(points)
      state = study_records.State(
        run=protocol.list_runs('mine', is_smoke=False)[0],
        path=path,
        steps=np.array(points, float),
        coverage=np.zeros([number]),
        success=np.zeros([number]),
        seconds=np.arange(number, dtype=float),
        env_steps=points[-1],
        wall_seconds=float(number),
        evaluation={
          name: {'mean': 1e-4 * num_more, 'low': 0.0, 'high': 0.1}
          for name in ('coverage', 'success')
        },
        revision='abc',
        processor='fast',
        is_diverged=False,
        import_digests={},
        trouble='',
      )
      rows.append(benchmark_rows.make(state, is_smoke=False, sha256=''))
    self.assertEqual([row.ended for row in rows], 2 * [study_records.CHANCE])
    self.assertEqual(rows[0].digest, rows[1].digest)
    self.assertEqual(rows[0].area, rows[1].area)
    self.assertTrue(benchmark_rows.compare(*rows)[0])

  @parameterized.parameters(
    (
      {'benchmark': 1},
      f'is of version 1 of the benchmark, .* with version {protocol.VERSION},',
    ),
    ({'benchmark': None}, 'is of version None'),
    ({'task': 'chess'}, 'is not a row'),
    ({'task': 3}, 'is not a row'),
    ({'seed': 5}, 'is not a row'),
    ({'submission': 'mine.py'}, 'is not a row'),
    ({'num_env_steps': 5}, 'is not a row'),
    ({'is_smoke': True}, 'is not a row'),
    ({'is_smoke': 'no'}, 'is not a row'),
    ({'coverage': '1'}, 'is not a row'),
    ({'coverage': None}, 'is not a row'),
    ({'coverage': -0.1}, 'is not a row'),
    ({'success_high': 10**400}, 'is not a row'),
    ({'area': 1.5}, 'is not a row'),
    ({'wall_seconds': 1e300}, 'is not a row'),
    ({'steps_to_level': -1.0}, 'is not a row'),
    ({'env_steps': 10**400}, 'is not a row'),
    ({'steps_to_level': 10**11}, 'is not a row'),
    ({'success_low': 0.9}, 'is not a row'),
    ({'ended': 'well'}, 'is not a row'),
    ({'sha256': '| a |'}, 'is not a row'),
    ({'steps_to_level': 'never'}, 'is not a row'),
    ({'versions': []}, 'is not a row'),
    ({'more': 1}, 'is not a row'),
  )
  def test_what_is_no_row_is_refused(self, changes, message):
    path = self.folder / 'row.json'
    path.write_text(json.dumps(dataclasses.asdict(_ROW) | changes))
    with self.assertRaisesRegex(command_line.UsageError, message) as caught:
      benchmark_rows.read(path)
    self.assertNotIn('\n', str(caught.exception))

  def test_half_a_row_is_refused(self):
    path = benchmark_rows.write(_ROW, self.folder)
    path.write_text(path.read_text()[:200])
    with self.assertRaisesRegex(
      command_line.UsageError, 'run the command that made the submission again'
    ):
      benchmark_rows.read_all([self.folder])
    with self.assertRaisesRegex(command_line.UsageError, 'is not a file'):
      benchmark_rows.read(self.folder / 'none.json')

  def test_a_run_counts_once(self):
    benchmark_rows.write(_ROW, self.folder)
    other = pathlib.Path(self.create_tempdir('again').full_path)
    benchmark_rows.write(_ROW, other)
    with self.assertRaisesRegex(
      command_line.UsageError, 'again/.* and .* are rows of the same run of'
    ):
      benchmark_rows.read_all([self.folder, other])

  def test_a_copy_is_refused(self):
    path = benchmark_rows.write(_ROW, self.folder)
    (self.folder / 'copy.json').write_text(path.read_text())
    message = f'copy.json has the content of {_ROW.file_name}; rename it, or '
    with self.assertRaisesRegex(command_line.UsageError, message):
      benchmark_rows.read_all([self.folder])

  @parameterized.parameters(
    ({}, True, 'the same to the last digit'),
    ({'digest': '0'}, False, 'the curve differs, with the same commit'),
    ({'digest': '0', 'git_revision': 'x'}, True, 'within 0.02'),
    ({'digest': '0', 'processor': 'x', 'coverage': 0.915}, True, 'within 0.02'),
    ({'digest': '0', 'versions': {}, 'area': 0.485}, True, 'within 0.02'),
    ({'digest': '0', 'processor': 'x', 'success': 0.75}, False, 'not within'),
    ({'digest': '0', 'git_revision': 'x-resumed'}, True, 'within 0.02'),
    ({'processor': 'x'}, True, 'the same'),
    ({'success': 0.99}, False, 'but the row differs: success 0.'),
    ({'success_low': 0.1}, False, 'but the row differs: success_low 0.'),
    ({'steps_to_level': 1.0}, False, 'steps_to_level'),
    ({'ended': 'chance'}, False, 'ended'),
  )
  def test_compare(self, changes, is_same, message):
    new = dataclasses.replace(_ROW, **changes)
    found, how = benchmark_rows.compare(_ROW, new)
    self.assertEqual(found, is_same)
    self.assertIn(message, how)

  @parameterized.product(
    revision=('unknown', 'abc-dirty', 'abc-resumed'), more=(0.01, 0.03)
  )
  def test_another_curve_of_what_no_commit_says(self, revision, more):
    old = dataclasses.replace(_ROW, git_revision=revision)
    new = dataclasses.replace(old, digest='0', coverage=old.coverage + more)
    is_near = more < 0.02
    how = f'{"within" if is_near else "not within"} 0.02'
    found = benchmark_rows.compare(old, new)
    self.assertEqual(found[0], is_near)
    self.assertIn(how, found[1])

  @parameterized.parameters((0.01, True), (0.03, False))
  def test_the_final_evaluation_of_a_run_at_chance(self, more, is_same):
    old = dataclasses.replace(_ROW, ended='chance')
    new = dataclasses.replace(old, coverage=old.coverage + more)
    self.assertEqual(benchmark_rows.compare(old, new)[0], is_same)


if __name__ == '__main__':
  absltest.main()
