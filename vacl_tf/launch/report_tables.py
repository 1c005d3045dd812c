# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The tables of a report: rows of text below a row of headings."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from vacl_tf import overrides
from vacl_tf import statistics
from vacl_tf.launch import fields
from vacl_tf.launch import report_charts
from vacl_tf.launch import report_runs

_LEVELS = (0.5, 0.9, 0.95, 0.99)
_MINUTE = 60.0
_NONE = '–'
_HARDWARE = ('processor', 'cores', 'gpus')


class Table(NamedTuple):
  """Text in rows below headings."""

  headings: tuple[str, ...]
  rows: list[tuple[str, ...]]


def summary(runs: Sequence[report_runs.Run], measures: Sequence[str]) -> Table:
  """Returns a row for each run: its scores, steps, time and seed."""
  rows = []
  for run in runs:
    steps, minutes, scores = _NONE, _NONE, [_NONE, _NONE]
    if run.columns:
      steps = f'{run.columns["env_steps"][-1]:,.0f}'
      minutes = f'{run.columns["wall_seconds"][-1] / _MINUTE:,.1f}'
      scores = [_last(run.columns.get(x)) for x in ('coverage', 'success')]
    seed = _NONE if run.cfg is None else str(run.cfg.seed)
    rows.append((*scores, steps, minutes, seed, str(run.path)))
  headings = (*measures, 'environment steps', 'minutes', 'seed', 'run')
  return Table(headings, rows)


def changes(run: report_runs.Run) -> Table | None:
  """Returns the constants that differ from the preset's.

  None if the preset no longer exists.
  """
  try:
    found = report_runs.changes(run.cfg)
  except ValueError:
    return None
  rows = [(name, _told(before), _told(now)) for name, before, now in found]
  return Table(('constant', f'preset {run.cfg.preset}', 'this run'), rows)


def constants(run: report_runs.Run) -> Table:
  """Returns all constants with what they mean."""
  leaves = overrides.leaves(run.cfg).items()
  rows = [(x, _told(y), fields.meaning(run.cfg, x)) for x, y in leaves]
  return Table(('constant', 'value', 'meaning'), rows)


def counts(found: Sequence[dict[str, Any]], measures: Sequence[str]) -> Table:
  """Returns the scores of a policy with each number of entities.

  Args:
    found: results of `judging.judge`, one per number of entities.
    measures: names of coverage and success in the task.
  """
  rows = []
  for row in found:
    scores = [_interval(row[name]) for name in ('coverage', 'success')]
    rows.append((row['counts'], str(row['horizon']), *scores))
  return Table(('entities', 'steps per episode', *measures), rows)


def speed(runs: Sequence[report_runs.Run], measure: str) -> Table:
  """Returns the speed of runs, and when they reached levels of coverage.

  Args:
    runs: those without metrics are left out.
    measure: name of coverage in the task.
  """
  rows = []
  for run in runs:
    if not run.columns:
      continue
    rates = report_charts.rates(run.columns)
    rate = f'{np.nanmedian(rates):,.0f}' if np.isfinite(rates).any() else _NONE
    first = f'{run.columns["wall_seconds"][0]:,.1f}'
    rows.append((rate, first, *_reached(run), str(run.path)))
  levels = (f'{measure} {level:g} reached after' for level in _LEVELS)
  first = 'seconds to the end of the first iteration'
  return Table(('steps per second (median)', first, *levels, 'run'), rows)


def machine(runs: Sequence[report_runs.Run]) -> Table:
  """Returns the hardware and versions of runs, a column per run."""
  columns = [_facts(run) for run in runs]
  names = dict.fromkeys(name for column in columns for name in column)
  rows = [(x, *(column.get(x, _NONE) for column in columns)) for x in names]
  return Table(('', *(str(run.path) for run in runs)), rows)


def _facts(run: report_runs.Run) -> dict[str, str]:
  """Returns hardware and versions by name."""
  hardware = run.fact('hardware')
  found = {name: hardware.get(name) for name in _HARDWARE if name in hardware}
  if 'gpus' in found:
    gpus = found['gpus']
    found['gpus'] = ', '.join(map(str, gpus)) if isinstance(gpus, list) else ''
    found['gpus'] = found['gpus'] or 'none'
  for name in ('num_replicas', 'git_revision'):
    if name in run.facts:
      found[name.replace('_', ' ')] = run.facts[name]
  found |= run.fact('versions')
  return {name: str(value) for name, value in found.items()}


def _reached(run: report_runs.Run) -> list[str]:
  """Returns the steps and minutes after which each level is reached."""
  if run.record is None:
    return [_NONE] * len(_LEVELS)
  names = ('env_steps', 'wall_seconds', 'coverage')
  steps, seconds, values = (run.record.evaluated(name) for name in names)
  found = []
  for level in _LEVELS:
    at = statistics.steps_to(steps, values, level)
    if at is None:
      found.append(_NONE)
    else:
      minutes = np.interp(at, steps, seconds) / _MINUTE
      found.append(f'{at / 1e6:.2f} M steps, {minutes:.1f} min')
  return found


def _last(column: np.ndarray | None) -> str:
  """Returns the last known number of a column."""
  known = column[np.isfinite(column)] if column is not None else []
  return f'{known[-1]:.3f}' if len(known) else _NONE


def _interval(found: dict[str, float]) -> str:
  return f'{found["mean"]:.3f} ({found["low"]:.3f} to {found["high"]:.3f})'


def _told(value: Any) -> str:
  if value is None:
    return _NONE
  return fields.told(value) or '(empty)'
