# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""docs/metrics.md has the columns of the runs under results/, and no others."""

import json
import pathlib
import re

from absl.testing import absltest

_ROOT = pathlib.Path(__file__).parent.parent
_PAGE = _ROOT / 'docs' / 'metrics.md'
_RESULTS = _ROOT / 'results'
_TICKED = re.compile(r'`(\w+)`')
_OF_COUNT = re.compile(r'coverage_n\d+(x\d+)?')


def _documented():
  """Returns {curriculum: columns} of the page; of every run: ''."""
  found, curricula = {}, ['']
  for line in _PAGE.read_text().splitlines():
    cells = [_TICKED.findall(x) for x in line.split('|')[1:-1]]
    if len(cells) == 3:
      curricula = cells[0] or curricula
    if len(cells) > 1:
      for curriculum in curricula:
        found.setdefault(curriculum, set()).update(cells[len(cells) - 2])
  return found


@absltest.skipUnless(_PAGE.is_file(), 'docs/ is not here')
class MetricsPageTest(absltest.TestCase):
  def test_columns_are_those_of_runs(self):
    documented, seen = _documented(), set()
    paths = sorted(_RESULTS.rglob('metrics.csv'))
    self.assertGreater(len(paths), 100)
    for path in paths:
      config = json.loads((path.parent / 'config.json').read_text())['config']
      curriculum = config.get('curriculum.name', 'vacl')
      with path.open() as file:
        columns = set(file.readline().strip().split(','))
      columns = {_OF_COUNT.sub('coverage_nCOUNT', x) for x in columns}
      known = documented[''] | documented.get(curriculum, set())
      self.assertEqual(columns - known, set(), f'{path}: not in {_PAGE.name}')
      seen |= columns
    every = set().union(*documented.values())
    self.assertEqual(every - seen, set(), 'no run has these')


if __name__ == '__main__':
  absltest.main()
