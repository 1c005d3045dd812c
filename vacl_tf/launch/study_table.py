# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The scores of a study's runs, and the table.md made from them."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from vacl_tf import statistics
from vacl_tf import studies
from vacl_tf.launch import study_records

_JUDGED = ('coverage', 'success')
_MILLION = 1e6


class Scores(NamedTuple):
  """The reported numbers of a complete run.

  Attributes:
    task: name of the task.
    method: name of the method.
    seed: seed of the run.
    coverage: coverage of the final evaluation.
    coverage_low: lower end of its interval over tasks.
    coverage_high: upper end of its interval over tasks.
    success: success of the final evaluation: share of tasks solved as a whole.
    success_low: lower end of its interval over tasks.
    success_high: upper end of its interval over tasks.
    area: mean over the budget of the greedy coverage of target tasks.
    reached: 1 if coverage reached 0.9 and stayed there, otherwise 0.
    steps_to_level: environment steps until then, None if it did not.
    wall_seconds: seconds of training, including evaluations.
    env_steps: environment steps of training.
    ended: how the run ended, see `study_records`.
    revision: revision of the source.
    processor: model of the processor.
  """

  task: str
  method: str
  seed: int
  coverage: float
  coverage_low: float
  coverage_high: float
  success: float
  success_low: float
  success_high: float
  area: float
  reached: int
  steps_to_level: float | None
  wall_seconds: float
  env_steps: int
  ended: str
  revision: str
  processor: str


def score(state: study_records.State) -> Scores:
  """Returns the scores of a complete run; a diverged one has 0 everywhere."""
  task = state.run.task
  found = state.evaluation
  if found is None:
    found = {
      name: dict.fromkeys(('mean', 'low', 'high'), 0.0) for name in _JUDGED
    }
  steps, coverage = counted_curve(state)
  reached_at = statistics.steps_to(steps, coverage, studies.LEVEL)
  if reached_at is not None:
    # The closing evaluation is a little after the budget.
    reached_at = min(reached_at, task.num_env_steps)
  return Scores(
    task.name,
    state.run.method,
    state.run.seed,
    *(found[name][key] for name in _JUDGED for key in ('mean', 'low', 'high')),
    area=statistics.area(steps, coverage, task.num_env_steps),
    reached=int(reached_at is not None),
    steps_to_level=reached_at,
    wall_seconds=state.wall_seconds,
    env_steps=state.env_steps,
    ended=state.ended,
    revision=state.revision,
    processor=state.processor,
  )


def counted_curve(
  state: study_records.State,
) -> tuple[np.ndarray, np.ndarray]:
  """Returns steps and coverage as they count, which is 0 for a diverged run."""
  if state.is_diverged or not len(state.steps):
    return np.zeros(1), np.zeros(1)
  return state.steps, state.coverage


COLUMNS = tuple(
  f'steps_to_{studies.LEVEL}' if name == 'steps_to_level' else name
  for name in Scores._fields
)


def is_told(state: study_records.State) -> bool:
  """Returns whether a run is complete and its curve can be read."""
  return state.is_complete and (state.is_diverged or not state.trouble)


# Scores by task and method, both in the order of the study.
_Cells = dict[tuple[str, str], list[Scores]]


def render(
  study: studies.Study,
  states: Sequence[study_records.State],
  scores: Sequence[Scores],
) -> str:
  """Returns table.md.

  Args:
    study: the study.
    states: states of all planned runs, by task.
    scores: scores of the reported runs.
  """
  cells: _Cells = {}
  for row in scores:
    cells.setdefault((row.task, row.method), []).append(row)
  seeds = sorted({state.run.seed for state in states})
  lines = [
    f'# Study {study.name}',
    '',
    *([study.about, ''] if study.about else []),
    f'Seeds {_spell(seeds)}. Success and coverage are those of the final '
    f'policy on {studies.EVALUATION_TASKS} target tasks that training never '
    'sees, the same tasks for all runs. Area is the mean over the budget of '
    'the greedy coverage of target tasks, evaluated every ten iterations. '
    f'{studies.LEVEL} is reached at the first evaluation from '
    f'which on the mean of the latest {statistics.WINDOW} is never below it; '
    'a run that does not reach it counts with its whole budget. A run below '
    'chance at half of its budget was ended there and keeps its last value; a '
    'run that diverged scores 0. Brackets are 95 % intervals by the bootstrap '
    'over runs (over several tasks: stratified by task, with equal weights). '
    'With fewer than five runs they are much too narrow.',
  ]
  for task in study.tasks:
    if any(name == task.name for name, _ in cells):
      lines += ['', *_task_lines(study, task, states, cells)]
  lines += _overall_lines(study, cells)
  lines += _exception_lines(states)
  lines += ['', *_ledger_lines(study, states)]
  return '\n'.join(lines) + '\n'


def _task_lines(
  study: studies.Study,
  task: studies.Task,
  states: Sequence[study_records.State],
  cells: _Cells,
) -> Iterator[str]:
  """Yields the table of a task, a row per method."""
  chance = f', chance {task.chance:g}' if task.chance else ''
  yield f'## {task.name}: {task.num_env_steps / _MILLION:g} M steps{chance}'
  yield ''
  yield from table_header(
    'method',
    'runs',
    'success',
    'coverage',
    'area',
    'IQM of area',
    f'reached {studies.LEVEL}',
    f'M steps to {studies.LEVEL}',
    'minutes',
    f'P({study.baseline} better)',
  )
  for method in study.methods:
    rows = cells.get((task.name, method))
    if rows is None:
      continue
    planned = sum(x.run[:2] == (task, method) for x in states)
    yield table_row(
      method,
      f'{len(rows)} of {planned}',
      _mean(rows, lambda x: x.success),
      _mean(rows, lambda x: x.coverage),
      _mean(rows, lambda x: x.area),
      shown(statistics.bootstrap(statistics.interquartile_mean, _areas(rows))),
      _mean(rows, lambda x: x.reached),
      _mean(rows, lambda x: _restricted(x, task) / _MILLION),
      f'{np.median([x.wall_seconds for x in rows]) / 60:.1f}',
      _improvement((study.baseline, method), cells, [task.name]),
    )


def _overall_lines(study: studies.Study, cells: _Cells) -> Iterator[str]:
  """Yields the table over several tasks, a row per method."""
  tasks_of = {
    method: [
      task.name
      for task in study.tasks
      if {(task.name, method), (task.name, study.baseline)} <= cells.keys()
    ]
    for method in study.methods
  }
  if all(len(tasks) < 2 for tasks in tasks_of.values()):
    return
  yield from ('', '## Over tasks', '')
  yield from (
    f'For each method, over the tasks of which both it and {study.baseline} '
    'have runs.',
    '',
  )
  yield from table_header(
    'method',
    'tasks',
    'mean area',
    'IQM of area',
    f'IQM of {study.baseline}',
    f'P({study.baseline} better)',
  )
  for method, tasks in tasks_of.items():
    if len(tasks) < 2:
      continue
    ours = _groups(cells, study.baseline, tasks)
    theirs = _groups(cells, method, tasks)
    yield table_row(
      method,
      str(len(tasks)),
      shown(statistics.bootstrap(statistics.mean, theirs)),
      shown(statistics.bootstrap(statistics.interquartile_mean, theirs)),
      shown(statistics.bootstrap(statistics.interquartile_mean, ours)),
      _improvement((study.baseline, method), cells, tasks),
    )


def _exception_lines(states: Sequence[study_records.State]) -> Iterator[str]:
  """Yields lists of runs that ended differently, and what made the runs."""
  told = [x for x in states if is_told(x)]
  for about, found in (
    (
      'Ended at half of their budget, at chance',
      [x for x in states if x.ended == study_records.CHANCE],
    ),
    (
      'Diverged, score 0',
      [x for x in states if x.ended == study_records.DIVERGED],
    ),
    (
      'Evaluated before the end of their budget for no known reason',
      [x for x in states if x.ended == study_records.EARLY],
    ),
    (
      'Evaluated, but without a curve that can be read: left out',
      [x for x in states if x.is_complete and not is_told(x)],
    ),
  ):
    if found:
      yield ''
      yield f'{about}: {", ".join(x.run.name for x in found)}.'
  yield ''
  yield f'Revisions of the source: {_each({x.revision for x in told}, ", ")}.'
  yield from _version_lines(told)
  processors = {x.processor for x in told}
  if len(processors) > 1:
    yield ''
    yield (
      f'Minutes are of several processors ({_each(processors, "; ")}), so '
      'compare methods by steps.'
    )


def _version_lines(states: Sequence[study_records.State]) -> Iterator[str]:
  """Yields the imported files that were not the same in all runs."""
  for name in sorted({x for state in states for x in state.import_digests}):
    runs = {}
    for state in states:
      if digest := state.import_digests.get(name):
        runs.setdefault(digest, []).append(state.run.name)
    if len(runs) > 1:
      versions = (
        f'{digest[:8]}: {", ".join(names)}' for digest, names in runs.items()
      )
      yield ''
      yield (
        f'Runs began with different versions of {name} (SHA-256). '
        f'{". ".join(versions)}.'
      )


def _each(names: Iterable[str], separator: str) -> str:
  return separator.join(sorted(names))


def _ledger_lines(
  study: studies.Study, states: Sequence[study_records.State]
) -> Iterator[str]:
  """Yields core-hours by task: planned for all runs, and used."""
  yield from ('## Ledger', '')
  yield (
    'Core-hours of training. Those used include runs that are not complete yet.'
  )
  yield ''
  yield from table_header(
    'task', 'runs planned', 'complete', 'core-hours planned', 'used'
  )
  tasks = {task.name: [] for task in study.tasks}
  for state in states:
    tasks[state.run.task.name].append(state)
  for name, group in (*tasks.items(), (study.name, list(states))):
    if group:
      yield table_row(
        name,
        str(len(group)),
        str(sum(x.is_complete for x in group)),
        _planned_hours([x.run.task for x in group]),
        f'{sum(x.wall_seconds for x in group) / 3600:.2f}',
      )


def _planned_hours(tasks: Sequence[studies.Task]) -> str:
  """Returns the planned core-hours of a run per task, '-' if unknown."""
  if not all(task.core_minutes for task in tasks):
    return '-'
  return f'{sum(task.core_minutes for task in tasks) / 60:.2f}'


def table_header(*names: str) -> Iterator[str]:
  """Yields the first two lines of a table in Markdown."""
  yield table_row(*names)
  yield table_row(*('---' for _ in names))


def table_row(*values: str) -> str:
  """Returns a line of a table in Markdown."""
  return f'| {" | ".join(values)} |'


def _spell(seeds: Sequence[int]) -> str:
  """Returns seeds in words, as a range if they are consecutive."""
  first, last = seeds[0], seeds[-1]
  if len(seeds) > 2 and last - first == len(seeds) - 1:
    return f'{first} to {last}'
  return ', '.join(map(str, seeds))


def _areas(rows: Sequence[Scores]) -> statistics.Groups:
  return [np.array([x.area for x in rows])]


def _groups(
  cells: _Cells, method: str, tasks: Sequence[str]
) -> statistics.Groups:
  return [group for task in tasks for group in _areas(cells[task, method])]


def _restricted(row: Scores, task: studies.Task) -> float:
  """Returns the steps to the level, or the budget if it was not reached."""
  return row.steps_to_level if row.reached else task.num_env_steps


def _mean(rows: Sequence[Scores], read: Callable[[Scores], float]) -> str:
  """Returns the mean over runs of what `read` returns, with its interval."""
  values = np.array([read(row) for row in rows], float)
  return shown(statistics.bootstrap(statistics.mean, [values]))


def _improvement(
  methods: tuple[str, str], cells: _Cells, tasks: Sequence[str]
) -> str:
  """Returns the probability that the first method's run has a larger area."""
  baseline, method = methods
  has_runs = all((task, baseline) in cells for task in tasks)
  if method == baseline or not has_runs:
    return '-'
  groups = (_groups(cells, name, tasks) for name in methods)
  return shown(
    statistics.bootstrap(statistics.probability_of_improvement, *groups)
  )


def shown(found: statistics.Interval) -> str:
  """Returns a number and its interval, if it has one."""
  if math.isnan(found.low):
    return f'{found.value:.3f}'
  return f'{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]'
