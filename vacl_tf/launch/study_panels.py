# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The panels of the figures of a study.

Coverage over environment steps and over wall time, and performance profiles
(Agarwal et al. 2021): the share of runs that score above a threshold.
"""

from collections.abc import Callable, Sequence

import numpy as np

from vacl_tf.launch import study_figure
from vacl_tf.launch import study_records
from vacl_tf.launch import study_table

_MILLION = 1e6
_MINUTE = 60.0
_PROFILED = ('success', 'area')
_THRESHOLDS = 401
_SHOWN = 1.5  # Times the median run; a run that had to wait took far longer.

STEP_LABELS = ('environment steps (millions)', 'coverage of the evaluation')
MINUTE_LABELS = ('minutes of wall time', 'coverage of the evaluation')
PROFILE_LABELS = ('score', 'share of runs above it')


def over_steps(
  states: Sequence[study_records.State],
) -> list[study_figure.Panel]:
  """Returns a panel for each task, up to its budget in million steps."""
  return _panels(
    states,
    lambda state: study_table.counted_curve(state)[0] / _MILLION,
    lambda mine: mine[0].run.task.num_env_steps / _MILLION,
  )


def over_minutes(
  states: Sequence[study_records.State],
) -> list[study_figure.Panel]:
  """Returns a panel for each task, up to 1.5 times the median run's time.

  Wall time includes evaluations and is not corrected for the machine.
  """

  def limit(mine: list[study_records.State]) -> float:
    seconds = float(np.median([x.wall_seconds for x in mine]))
    return max(_SHOWN * seconds / _MINUTE, 1.0)

  return _panels(states, _minutes, limit)


def profiles(
  scores: Sequence[study_table.Scores],
) -> list[study_figure.Panel]:
  """Returns a panel for each task and kind of score."""
  grid = np.linspace(0.0, 1.0, _THRESHOLDS)
  panels = []
  for task in dict.fromkeys(score.task for score in scores):
    for kind in _PROFILED:
      found: dict[str, list[float]] = {}
      for score in scores:
        if score.task == task:
          found.setdefault(score.method, []).append(getattr(score, kind))
      curves = {
        method: [(grid, np.mean(np.array(mine)[:, None] > grid, 0))]
        for method, mine in found.items()
      }
      panels.append(study_figure.Panel(f'{task}, {kind}', 1.0, curves, {}))
  return panels


def _minutes(state: study_records.State) -> np.ndarray:
  num_counted = len(study_table.counted_curve(state)[0])
  if not len(state.seconds):
    return np.zeros(num_counted)
  return state.seconds[:num_counted] / _MINUTE


def _panels(
  states: Sequence[study_records.State],
  abscissae: Callable[[study_records.State], np.ndarray],
  limit: Callable[[list[study_records.State]], float],
) -> list[study_figure.Panel]:
  """Returns a panel for each task.

  Args:
    states: states of all runs.
    abscissae: returns the abscissae of those evaluations of a run that count.
    limit: returns the upper end of the abscissae, given the states of a task.
  """
  by_task: dict[str, list[study_records.State]] = {}
  for state in states:
    by_task.setdefault(state.run.task.name, []).append(state)
  panels = []
  for name, mine in by_task.items():
    task, curves = mine[0].run.task, {}
    for state in mine:
      curve = abscissae(state), study_table.counted_curve(state)[1]
      curves.setdefault(state.run.method, []).append(curve)
    title = f'{name}, {task.num_env_steps / _MILLION:g} M steps'
    levels = {'chance': task.chance} if task.chance else {}
    panels.append(study_figure.Panel(title, limit(mine), curves, levels))
  return panels
