# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""docs/comparison.md and results/README.md say what the studies' tables say."""

import pathlib
import re

from absl.testing import absltest

_ROOT = pathlib.Path(__file__).parent.parent
_COMPARISON = _ROOT / 'docs' / 'comparison.md'
_RESULTS = _ROOT / 'results' / 'README.md'
_STUDIES = _ROOT / 'results' / 'studies'

_TASKS = ('simple_spread_n4', 'push_ball_n2', 'speaker_listener')
_HEADER = '| curriculum | Simple-Spread, 3 M | Push-Ball, 6 M | '


def _rows(text):
  """Returns the cells of each line of the tables in a text."""
  lines = (line for line in text.splitlines() if line.startswith('|'))
  return [[cell.strip() for cell in line.split('|')[1:-1]] for line in lines]


def _methods(study):
  """Returns {(task, method): {column: cell}} of a study's table.md."""
  found = {}
  for part in (_STUDIES / study / 'table.md').read_text().split('\n## ')[1:]:
    task = part.partition(':')[0]
    if task in _TASKS:
      names, _, *rows = _rows(part)
      found |= {
        (task, row[0]): dict(zip(names, row, strict=True)) for row in rows
      }
  return found


def _spelled(columns):
  """Returns what the page says of a method in a task."""
  success, steps, reached = (
    float(columns[name].partition(' ')[0])
    for name in ('success', 'M steps to 0.9', 'reached 0.9')
  )
  runs = int(columns['runs'].partition(' ')[0])
  number = round(reached * runs)
  where = f'{steps:.2f} M' if number == runs else f'{number} of {runs}'
  few = f' ({runs} runs)' if number == runs < 5 else ''
  return f'{success:.3f}, {where}{few}'


@absltest.skipUnless(_STUDIES.is_dir(), 'results/studies/ is not here')
class StudiesReadmeTest(absltest.TestCase):
  def test_its_numbers_are_those_of_the_runs(self):
    known = {}
    for study in ('main', 'modern', 'claims', 'factorial'):
      known |= _methods(study)
    _, _, rest = _COMPARISON.read_text().partition(_HEADER)
    self.assertNotEmpty(rest, f'{_COMPARISON} has no table {_HEADER}')
    told = rest.partition('\n\n')[0].splitlines()[2:]
    self.assertGreater(len(told), 10)
    for name, *cells, method in _rows('\n'.join(told)):
      for task, cell in zip(_TASKS, cells, strict=True):
        with self.subTest(name, task=task):
          columns = known.get((task, method.strip('`')))
          self.assertEqual(cell, _spelled(columns) if columns else '-')

  def test_so_many_runs_are_complete(self):
    told = dict(
      re.findall(r'\| `(\w+)` \| (\d+ of \d+) \|', _RESULTS.read_text())
    )
    for path in _STUDIES.glob('*/table.md'):
      study = path.parent.name
      with self.subTest(study):
        _, planned, complete, *_ = _rows(path.read_text())[-1]
        self.assertEqual(told[study], f'{complete} of {planned}')


if __name__ == '__main__':
  absltest.main()
