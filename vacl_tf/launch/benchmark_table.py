# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The table of the benchmark, made only from its rows."""

import pathlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from vacl_tf import benchmark_protocol as protocol
from vacl_tf import statistics
from vacl_tf import studies
from vacl_tf.launch import benchmark_rows
from vacl_tf.launch import study_table

_BEGIN, _END = '<!-- begin of the table -->\n', '<!-- end of the table -->\n'
_MILLION = 1e6

_Rows = Sequence[benchmark_rows.Row]
# Rows by the name of the submission, which has the digest of its file if others
# have the same name.
_Submissions = dict[str, list[benchmark_rows.Row]]


def render(rows: _Rows) -> str:
  """Returns the tables of full and of smoke submissions, in Markdown."""
  # The intervals must not depend on the order in which the rows come.
  rows = sorted(rows, key=lambda x: (x.submission, x.sha256, x.seed))
  lines = []
  for is_smoke in (False, True):
    lines += ['', *_part([x for x in rows if x.is_smoke is is_smoke], is_smoke)]
  return '\n'.join(lines[1:]) + '\n'


def rewritten(page: str, folder: pathlib.Path) -> str:
  """Returns a page with the table of the rows in FOLDER/SUBMISSION/*.json.

  Args:
    page: text with the two marker lines that enclose the table.
    folder: folder with one subfolder for each submission.
  """
  before, _, rest = page.partition(_BEGIN)
  _, _, after = rest.partition(_END)
  rows = benchmark_rows.read_all(sorted(folder.glob('*/')))
  return f'{before}{_BEGIN}\n{render(rows)}\n{_END}{after}'


def _part(rows: _Rows, is_smoke: bool) -> Iterator[str]:
  """Yields the lines on full submissions, or those on smoke submissions."""
  submissions = _by_submission(rows)
  if is_smoke:
    yield '### Smoke submissions'
  else:
    yield '### Full submissions'
  yield ''
  if not submissions:
    yield 'None yet.'
    return
  if is_smoke:
    yield (
      'One seed of two tasks with small budgets: they show that everything '
      'works, and are compared with nothing.'
    )
  else:
    yield from _overall_lines(submissions)
  for task in protocol.tasks(is_smoke):
    yield from _task_lines(task, submissions)
  for name, found in submissions.items():
    yield from _missing_lines(name, found, is_smoke)


def _by_submission(rows: _Rows) -> _Submissions:
  found: dict[tuple[str, str], list[benchmark_rows.Row]] = {}
  for row in rows:
    found.setdefault((row.submission, row.sha256), []).append(row)
  names = [name for name, _ in found]
  return {
    name if names.count(name) == 1 else f'{name} ({_file(sha256)})': rows
    for (name, sha256), rows in found.items()
  }


def _file(sha256: str) -> str:
  return sha256[:8] or 'built in'


def _overall_lines(submissions: _Submissions) -> Iterator[str]:
  """Yields a row for each submission, with scores if it is complete."""
  yield from study_table.table_header(
    *('submission', 'file', 'runs'),
    *('IQM of success', 'mean of success', 'IQM of area'),
  )
  planned = len(protocol.TASKS) * len(protocol.SEEDS)
  for rows in submissions.values():
    scores = ['-', '-', '-']
    if len(rows) == planned:
      iqm, mean = statistics.interquartile_mean, statistics.mean
      scores = [
        _over_tasks(rows, iqm, lambda x: x.success),
        _over_tasks(rows, mean, lambda x: x.success),
        _over_tasks(rows, iqm, lambda x: x.area),
      ]
    yield study_table.table_row(
      rows[0].submission,
      _file(rows[0].sha256),
      f'{len(rows)} of {planned}',
      *scores,
    )


def _over_tasks(
  rows: _Rows,
  statistic: Callable[..., np.ndarray],
  read: Callable[[benchmark_rows.Row], float],
) -> str:
  """Returns a statistic of all runs, with a bootstrap stratified by task."""
  groups = [
    np.array([read(row) for row in rows if row.task == task.name])
    for task in protocol.TASKS
  ]
  return study_table.shown(statistics.bootstrap(statistic, groups))


def _task_lines(task: studies.Task, submissions: _Submissions) -> Iterator[str]:
  """Yields the table of a task, with a row for each submission."""
  yield from ('', f'**{task.name}**, {task.num_env_steps / _MILLION:g} M steps')
  yield ''
  level = studies.LEVEL
  yield from study_table.table_header(
    *('submission', 'runs', 'success', 'coverage', 'area'),
    *(f'reached {level}', f'M steps to {level}', 'minutes'),
  )
  for name, found in submissions.items():
    rows = [row for row in found if row.task == task.name]
    if not rows:
      yield study_table.table_row(name, '0', *6 * ['-'])
      continue
    reached = [x.steps_to_level for x in rows if x.steps_to_level is not None]
    # The others count with the whole budget, as in the tables of studies.
    steps = [*reached, *(len(rows) - len(reached)) * [task.num_env_steps]]
    yield study_table.table_row(
      name,
      str(len(rows)),
      _mean([x.success for x in rows]),
      _mean([x.coverage for x in rows]),
      _mean([x.area for x in rows]),
      f'{len(reached)} of {len(rows)}',
      f'{np.mean(steps) / _MILLION:.2f}' if reached else '-',
      f'{np.median([x.wall_seconds for x in rows]) / 60.0:.1f}',
    )


def _mean(values: Sequence[float]) -> str:
  return study_table.shown(
    statistics.bootstrap(statistics.mean, [np.array(values)])
  )


def _missing_lines(name: str, rows: _Rows, is_smoke: bool) -> Iterator[str]:
  """Yields a line on the runs that a submission lacks, if there are any."""
  there = {(row.task, row.seed) for row in rows}
  missing = []
  for task in protocol.tasks(is_smoke):
    seeds = [x for x in protocol.seeds(is_smoke) if (task.name, x) not in there]
    if seeds:
      missing.append(f'{task.name} {", ".join(map(str, seeds))}')
  if missing:
    yield from ('', f'Missing of {name}: {"; ".join(missing)}.')
