# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The report of a study: its runs, curves, table and figures."""

import csv
import io
import json
import math
import pathlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from vacl_tf import reading
from vacl_tf import studies
from vacl_tf.launch import command_line
from vacl_tf.launch import study_figure
from vacl_tf.launch import study_panels
from vacl_tf.launch import study_records
from vacl_tf.launch import study_table
from vacl_tf.training import files

if TYPE_CHECKING:  # Slow to import.
  from matplotlib import figure

FILES = (
  'table.md',
  'runs.csv',
  'curves.csv',
  'figure.png',
  'figure.svg',
  'minutes.png',
  'profiles.png',
)

_STAMP = 'study.json'  # Says which study a folder reports on.
_CURVES = (
  'task',
  'method',
  'seed',
  'env_steps',
  'wall_seconds',
  'coverage',
  'success',
)


def write(
  study: studies.Study,
  runs: Sequence[studies.Run],
  folder: pathlib.Path,
  output: pathlib.Path,
) -> list[pathlib.Path]:
  """Writes table.md, runs.csv, curves.csv and the figures.

  Args:
    study: the study.
    runs: the planned runs; complete ones are reported.
    folder: folder of the runs.
    output: folder of the report, created if necessary.

  Returns:
    The files written, except study.json.

  Raises:
    UsageError: no run is complete, a run was made with other flags, or the
      output folder belongs to another study or can't be written to.
  """
  study_records.check_flags(runs, folder)
  states = [study_records.read(run, folder) for run in _in_rows(study, runs)]
  told = [x for x in states if study_table.is_told(x)]
  if not told:
    raise command_line.UsageError(
      f'{folder} has no complete run among these {len(runs)}; run the study '
      'first'
    )
  scores = [study_table.score(state) for state in told]
  pictures = _draw(study, told, scores)  # Before anything is written.
  table = study_table.render(study, states, scores)
  texts = {
    'table.md': table,
    'runs.csv': _as_csv(study_table.COLUMNS, scores),
    'curves.csv': _as_csv(_CURVES, _curve_rows(told)),
  }
  try:
    with files.writing(output):
      _claim(output, study)
    for name, text in texts.items():
      files.write_text(output / name, text)
    for name, picture in pictures.items():
      study_figure.save(picture, output / name)
  except files.WriteError as error:
    raise command_line.UsageError(f'{error}; give another --output') from error
  return [output / name for name in FILES]


def _draw(
  study: studies.Study,
  states: Sequence[study_records.State],
  scores: Sequence[study_table.Scores],
) -> dict[str, 'figure.Figure']:
  """Returns the figures by the names of their files."""
  steps, minutes, profiles = (
    study_figure.draw(
      panels, list(study.methods), f'Study {study.name}', labels
    )
    for panels, labels in (
      (study_panels.over_steps(states), study_panels.STEP_LABELS),
      (study_panels.over_minutes(states), study_panels.MINUTE_LABELS),
      (study_panels.profiles(scores), study_panels.PROFILE_LABELS),
    )
  )
  return {
    'figure.png': steps,
    'figure.svg': steps,
    'minutes.png': minutes,
    'profiles.png': profiles,
  }


def _in_rows(
  study: studies.Study, runs: Sequence[studies.Run]
) -> list[studies.Run]:
  """Returns runs by task, then by method, then by seed."""
  tasks, methods = list(study.tasks), list(study.methods)
  return sorted(
    runs, key=lambda x: (tasks.index(x.task), methods.index(x.method), x.seed)
  )


def _claim(output: pathlib.Path, study: studies.Study) -> None:
  """Creates the folder of a report; refuses a folder with other content."""
  path = output / _STAMP
  ours = {'study': study.name, 'protocol': studies.PROTOCOL}
  output.mkdir(parents=True, exist_ok=True)
  if not path.exists():
    # A report that was interrupted while it wrote its stamp leaves part of it.
    if any(x.name != _STAMP + files.NEW for x in output.iterdir()):
      raise command_line.UsageError(
        f'{output} has files but no {_STAMP}, so it is not a report; give '
        'another --output'
      )
    files.write_text(path, json.dumps(ours) + '\n')
    return
  try:
    found = reading.read_json(path)
  except reading.UnreadableError as error:
    raise command_line.UsageError(f'{error}; give another --output') from error
  if found != ours:
    raise command_line.UsageError(
      f'{output} is the report of another study ({json.dumps(found)} instead '
      f'of {json.dumps(ours)}); give another --output'
    )


def _as_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
  """Returns rows as CSV; None is an empty cell."""
  file = io.StringIO()
  writer = csv.writer(file, lineterminator='\n')
  writer.writerow(header)
  for row in rows:
    writer.writerow([_cell(value) for value in row])
  return file.getvalue()


def _cell(value: Any) -> Any:
  if isinstance(value, float):
    return '' if math.isnan(value) else f'{value:.9g}'
  return value


def _curve_rows(states: list[study_records.State]) -> Iterator[Sequence[Any]]:
  """Yields the evaluations of all runs, as they were recorded."""
  for state in states:
    run = state.run
    for steps, *values in zip(
      state.steps, state.seconds, state.coverage, state.success, strict=True
    ):
      yield (run.task.name, run.method, run.seed, int(steps), *values)
