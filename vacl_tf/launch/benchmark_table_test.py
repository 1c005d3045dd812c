# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The table of the benchmark, and that docs/benchmark.md holds it."""

import hashlib
import pathlib
import re

import numpy as np
from absl.testing import absltest

from vacl_tf import benchmark_protocol as protocol
from vacl_tf import builtin
from vacl_tf import statistics
from vacl_tf.launch import benchmark_rows
from vacl_tf.launch import benchmark_table

_ROOT = pathlib.Path(__file__).parents[2]
_RESULTS = _ROOT / 'results' / 'benchmark'
_PAGE = _ROOT / 'docs' / 'benchmark.md'
_README = _ROOT / 'README.md'


def _row(task, seed, *, success=0.5, area=0.5, is_smoke=False, **changes):
  fields = {
    'benchmark': protocol.VERSION,
    'is_smoke': is_smoke,
    'submission': 'mine',
    'sha256': 'ab' * 32,
    'task': task.name,
    'seed': seed,
    'num_env_steps': task.num_env_steps,
    'env_steps': task.num_env_steps,
    'coverage': 0.9,
    'coverage_low': 0.89,
    'coverage_high': 0.91,
    'success': success,
    'success_low': 0.0,
    'success_high': 1.0,
    'area': area,
    'steps_to_level': 1.5e6,
    'ended': 'budget',
    'wall_seconds': 90.0,
    'digest': '',
    'constants': {},
    'processor': '',
    'versions': {},
    'git_revision': '',
  }
  return benchmark_rows.Row(**fields | changes)


def _full(**changes):
  """Returns the rows of a full submission, all scores different."""
  scores = np.random.default_rng(0).random([8, 5])
  return [
    _row(task, seed, success=scores[i, k], area=scores[i, k] / 2, **changes)
    for i, task in enumerate(protocol.TASKS)
    for k, seed in enumerate(protocol.SEEDS)
  ], scores


class TableTest(absltest.TestCase):
  def test_over_tasks(self):
    rows, scores = _full()
    text = benchmark_table.render(rows[::-1])
    # Of 40 scores the middle 20.
    middle = np.sort(scores.ravel())[10:30].mean()
    self.assertIn(f'| mine | abababab | 40 of 40 | {middle:.3f} [', text)
    self.assertIn(f'| {middle / 2:.3f} [', text)
    self.assertNotIn('Missing', text)
    found = statistics.bootstrap(statistics.interquartile_mean, list(scores))
    self.assertIn(f'[{found.low:.3f}, {found.high:.3f}]', text)

  def test_of_a_task(self):
    rows, scores = _full()
    rows[0] = rows[0].__class__(**vars(rows[0]) | {'steps_to_level': None})
    rows[1] = rows[1].__class__(**vars(rows[1]) | {'steps_to_level': 5e5})
    line = benchmark_table.render(rows).partition('**spread_4**')[2]
    line = line.splitlines()[4]
    self.assertStartsWith(line, f'| mine | 5 | {scores[0].mean():.3f} [')
    # The mean of 0.5, three times 1.5, and the budget of 2 M steps.
    self.assertEndsWith(line, '| 4 of 5 | 1.40 | 1.5 |')

  def test_an_incomplete_one_has_no_score_and_says_what_is_missing(self):
    rows, _ = _full()
    text = benchmark_table.render(rows[1:5] + rows[10:])
    self.assertIn('| mine | abababab | 34 of 40 | - | - |', text)
    self.assertIn('| mine | 0 | - | - | - | - | - | - |', text)
    self.assertIn(
      'Missing of mine: spread_4 100; spread_8 100, 101, 102, 103, 104.', text
    )

  def test_files_of_one_name_and_smoke_are_apart(self):
    rows, _ = _full()
    other, _ = _full(sha256='')
    [smoke, _] = protocol.SMOKE_TASKS
    short = _row(smoke, protocol.SEEDS[0], is_smoke=True, submission='quick')
    text = benchmark_table.render([*rows, *other, short])
    self.assertIn('| mine | abababab | 40 of 40 |', text)
    self.assertIn('| mine | built in | 40 of 40 |', text)
    full, _, quick = text.partition('### Smoke')
    self.assertNotIn('quick', full)
    self.assertNotIn('mine', quick)
    self.assertIn('Missing of quick: push_ball_2 100.', quick)
    per_task = full.partition('**spread_4**')[2]
    for label in ('| mine (abababab) | 5 |', '| mine (built in) | 5 |'):
      self.assertEqual(per_task.count(label), len(protocol.TASKS))

  def test_without_rows(self):
    self.assertEqual(benchmark_table.render([]).count('None yet.'), 2)

  def test_the_page_holds_the_table_of_the_rows(self):
    if not _PAGE.exists():
      self.skipTest('docs/ is not here')
    text = _PAGE.read_text()
    wanted = benchmark_table.rewritten(text, _RESULTS)
    self.assertEqual(text, wanted, 'put what is wanted into docs/benchmark.md')
    self.assertIn('learnability', text.partition('begin of the table')[2])

  def test_the_readme_has_the_same_numbers(self):
    if not _PAGE.is_file() or not _README.is_file():
      self.skipTest('docs/ is not here')
    page, cells = _PAGE.read_text(), {}
    header = '| | VACL | RCG | CURROT |\n'
    names = re.findall(r'\w+', header.lower())
    _, _, rest = _README.read_text().partition(header)
    for line in rest.partition('\n\n')[0].splitlines()[1:]:
      for name, cell in zip(names, line.split('|')[2:-1], strict=True):
        cells.setdefault(name, []).append(cell.strip())
    self.assertLen(cells, len(names), f'README has no table {header}')
    for name, found in cells.items():
      scores = re.findall(rf'^\| {name} \| \d+ \| ([^|]+) \|', page, re.M)
      self.assertCountEqual(found, scores, f'success of {name}')

  def test_the_file_of_every_row_is_beside_it(self):
    if not _RESULTS.is_dir():
      self.skipTest('results/ is not here')
    for folder in sorted(_RESULTS.glob('*/')):
      digests = {
        hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.glob('*.py')
      }
      rows = benchmark_rows.read_all([folder])
      self.assertNotEmpty(rows, folder)
      self.assertContainsSubset({x.sha256 for x in rows}, digests | {''})
      of_library = {x.submission for x in rows if not x.sha256}
      self.assertContainsSubset(of_library, builtin.CURRICULA)

  def test_the_page_names_what_is_frozen(self):
    if not _PAGE.exists():
      self.skipTest('docs/ is not here')
    text = _PAGE.read_text()
    self.assertIn(f'version {protocol.VERSION}', text)
    for task in protocol.TASKS:
      steps = f'{task.num_env_steps / 1e6:g} M'
      self.assertRegex(text, rf'\| `{task.name}` \|.* \| {steps} \|')


if __name__ == '__main__':
  absltest.main()
