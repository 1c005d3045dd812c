# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shows runs on one page: python -m vacl_tf.launch.report --run_dirs=A,B.

The page is one HTML file that needs no network. It has the curves of all runs.
The curriculum, the worst tasks, the films and the scores by number of agents
are those of the first run that has recorded its tasks.
"""

import os
import pathlib
from collections.abc import Sequence
from typing import Any

from absl import flags

from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf.launch import command_line

# oneDNN complains about integers, in a line that means nothing to a user.
os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')
with command_line.quiet_imports():
  from vacl_tf.launch import judging

from vacl_tf.launch import devices
from vacl_tf.launch import flag_kinds
from vacl_tf.launch import plot
from vacl_tf.launch import plot_curriculum
from vacl_tf.launch import report_charts
from vacl_tf.launch import report_films
from vacl_tf.launch import report_page
from vacl_tf.launch import report_runs
from vacl_tf.launch import report_sets
from vacl_tf.launch import report_tables
from vacl_tf.launch import task_sets
from vacl_tf.training import files

_RUNS, _PLAY = 'Which runs', 'What the policy plays'
_MEASURES = ('coverage', 'success rate')  # If no task, or several, are known.

_RUN_DIRS = command_line.Flag(
  flags.DEFINE_multi_string,
  'run_dirs',
  [],
  'Folders of runs; separate them with commas or repeat the flag. A folder '
  'with commas in its name counts as one.',
  _RUNS,
)
_OUTPUT = command_line.Flag(
  flags.DEFINE_string, 'output', 'report.html', 'Page to write, FILE.html.'
)
_NUM_TASKS = command_line.Flag(
  flag_kinds.whole,
  'num_tasks',
  200,
  'Fresh target tasks that the policy plays.',
  _PLAY,
  lower_bound=int(bounds.JUDGED_TASKS.low),
  upper_bound=int(bounds.JUDGED_TASKS.high),
)
_NUM_AGENTS = command_line.Flag(
  flag_kinds.wholes,
  'num_agents',
  None,
  'Numbers of agents with which the policy is scored, like 4,8,24. Default: '
  'as many as in training, and twice as many.',
  _PLAY,
)
_SEED = command_line.SEED.meaning('Seed of the tasks that are played.', _PLAY)


def report(
  run_dirs: Sequence[pathlib.Path],
  output: pathlib.Path,
  numbers: Sequence[int],
  options: judging.Options,
) -> list[str]:
  """Writes a report on runs.

  Args:
    run_dirs: folders of runs.
    output: path of an .html file.
    numbers: numbers of agents with which the policy is scored.
    options: how the policy plays.

  Returns:
    Notes on what is missing, which the page shows, too.

  Raises:
    UsageError: there is nothing to show, or the output can't be written.
  """
  _check_output(output)
  notes: list[str] = []
  runs = report_runs.read(run_dirs, notes.append)
  page = _page(runs, numbers, options, notes)
  try:
    with files.replaced(output) as beside:
      # A folder's name may not be valid UTF-8.
      beside.write_text(page, encoding='utf-8', errors='backslashreplace')
  except OSError as error:
    raise plot.UnwritableError(
      f'output={output} cannot be written ({error.strerror}); give another one'
    ) from error
  return notes


def _page(
  runs: Sequence[report_runs.Run],
  numbers: Sequence[int],
  options: judging.Options,
  notes: list[str],
) -> str:
  """Returns the page; appends notes on what is missing."""
  known = next((run for run in runs if run.cfg is not None), None)
  of_runs = {_measures(run) for run in runs if run.cfg is not None}
  measures = of_runs.pop() if len(of_runs) == 1 else _MEASURES
  curves = report_charts.coverage(runs, measures[0])
  charts = {'curves': curves, 'speed': report_charts.speed(runs)}
  data: dict[str, Any] = {'measure': measures[0], 'charts': charts}
  sections = [
    report_page.section(
      'curves',
      'Results',
      report_page.table(report_tables.summary(runs, measures)),
      report_page.charts('curves'),
    ),
    *_played(runs, numbers, options, data, notes.append),
    _speed(runs, measures[0]),
    *([_constants(known)] if known is not None else []),
    report_page.section(
      'machine',
      'Hardware and versions',
      report_page.table(report_tables.machine(runs)),
    ),
  ]
  if notes:
    missing = report_page.bullets(notes)
    missing = report_page.section('missing', 'What is missing', missing)
    sections.insert(0, missing)
  return report_page.page(_title(runs), sections, data)


def _check_output(output: pathlib.Path) -> None:
  if output.suffix != '.html':
    raise command_line.UsageError(
      f'output={output} is not a page; give a name that ends in .html'
    )
  plot.check_parent(output)


def _title(runs: Sequence[report_runs.Run]) -> str:
  """Returns what the runs have in common, or where the first one is."""
  recorded = [run.record for run in runs if run.record is not None]
  if not recorded:
    return f'Report on {runs[0].path}'
  groups, shared = plot.group_by_config(recorded)
  return shared or ', '.join(group.label for group in groups)


def _played(
  runs: Sequence[report_runs.Run],
  numbers: Sequence[int],
  options: judging.Options,
  data: dict[str, Any],
  note: report_runs.Note,
) -> list[str]:
  """Returns the sections that need a policy or sets of tasks."""
  run = next((run for run in runs if run.cfg is not None), None)
  if run is None:
    note(
      'no curriculum, films or scores by number of agents: no run has a '
      'usable config.json'
    )
    return []
  run = next(filter(_has_tasks, runs), run)
  measures = _measures(run)
  data['measure'] = measures[0]
  sets = _sets(run, note)
  policy = report_films.load(run.path, note)
  shown = found = None
  if policy is not None:
    found = report_films.judge(policy, numbers, options, note)
    shown = report_films.show(policy, run.cfg, sets.snapshots, options, note)
  if shown is not None:
    data['films'] = shown.films
    data['failures'] = [failure._asdict() for failure in shown.failures]
  sections = [_curriculum(run, sets, shown, data, note)]
  if shown is not None and shown.failures:
    sections.append(_failures(run, shown, measures))
  if found:
    table = report_page.table(report_tables.counts(found, measures))
    told = (
      f'The greedy policy of {run.path} on {options.num_tasks} fresh target '
      'tasks each. 95 % intervals over tasks are in brackets.'
    )
    heading = 'Scores by number of agents'
    sections.append(
      report_page.section('counts', heading, report_page.paragraph(told), table)
    )
  return sections


def _measures(run: report_runs.Run) -> tuple[str, str]:
  """Returns the names of progress and success in a run's task."""
  return catalog.TASKS.get(run.cfg.environment.name).measures


def _has_tasks(run: report_runs.Run) -> bool:
  """Whether a run has recorded its curriculum, even if it can't be read."""
  if run.record is None:
    return False
  try:
    return run.record.has_sets or bool(run.record.snapshots)
  except command_line.UsageError:
    return True


def _sets(run: report_runs.Run, note: report_runs.Note) -> plot_curriculum.Sets:
  """Returns the tasks that a run recorded; none if they can't be read."""
  if run.record is None:
    return plot_curriculum.Sets(None, {})
  try:
    found = plot_curriculum.read(run.record)
  except (ImportError, ValueError) as error:
    note(f'no map of the curriculum: {error}')
    return plot_curriculum.Sets(None, {})
  if run.record.has_sets and not found.snapshots:
    note(f'{run.path} has no curriculum.npz: the map of tasks is not drawn')
  return found


def _curriculum(
  run: report_runs.Run,
  sets: plot_curriculum.Sets,
  shown: report_films.Shown | None,
  data: dict[str, Any],
  note: report_runs.Note,
) -> str:
  """Returns the section on the curriculum."""
  record = run.record
  name = run.cfg.environment.name
  if sets.snapshots and sets.layout is None:
    note(f'{name} has no map layout: the map of tasks is not drawn')
  if record is None or not (record.has_sets or sets.have_places):
    told = (
      f'{run.path} has no recorded tasks to show (curriculum: '
      f'{run.cfg.curriculum.name}).'
    )
    return report_page.section(
      'curriculum', 'Curriculum', report_page.paragraph(told)
    )
  target = None
  if sets.have_places:
    target = task_sets.sample_target(sets.layout, sets.snapshots)
    filmed = report_sets.Filmed({}, target[:100], {})
    data['curriculum'] = report_sets.build(
      sets.layout,
      sets.snapshots,
      record,
      filmed if shown is None else shown.filmed,
    )
    data.setdefault('films', {'shared': {}, 'items': []})
  data['charts']['sets'] = report_charts.sets(record, sets, target)
  told = f'The task sets of {run.path}.'
  if not record.has_sets:
    told = f'Tasks that {run.path} played in selected iterations.'
  return report_page.section(
    'curriculum',
    'Curriculum',
    report_page.paragraph(told),
    report_page.widget('curriculum') if 'curriculum' in data else '',
    report_page.charts('sets'),
  )


def _failures(
  run: report_runs.Run, shown: report_films.Shown, measures: Sequence[str]
) -> str:
  """Returns the section on the worst tasks."""
  num_bad = int((shown.values < 1.0).sum())
  told = (
    f'The {len(shown.failures)} worst of {len(shown.values)} fresh target '
    f'tasks that the policy of {run.path} played, worst first. Number of '
    f'played tasks with a value below 1: {num_bad}. The value is the mean of '
    f'"{measures[0]}" over the last five steps. Lines show the complete paths. '
    'Click a picture to play its film.'
  )
  return report_page.section(
    'failures',
    'Worst tasks',
    report_page.paragraph(told),
    report_page.widget('failures'),
  )


def _speed(runs: Sequence[report_runs.Run], measure: str) -> str:
  return report_page.section(
    'speed',
    'Speed',
    report_page.paragraph(
      f'A level of "{measure}" is reached when the mean of three evaluations '
      'is never below it again.'
    ),
    report_page.table(report_tables.speed(runs, measure)),
    report_page.charts('speed'),
  )


def _constants(run: report_runs.Run) -> str:
  """Returns the section on a run's constants."""
  found = report_tables.changes(run)
  if found is None:
    told = (
      f'The preset {run.cfg.preset} no longer exists, so there is nothing to '
      'compare with.'
    )
  elif found.rows:
    told = f'Constants of {run.path} that differ from its preset:'
  else:
    told = f'All constants of {run.path} are those of its preset.'
  return report_page.section(
    'constants',
    'Constants',
    report_page.paragraph(told),
    report_page.table(found) if found is not None and found.rows else '',
    report_page.folded(
      'All constants', report_page.table(report_tables.constants(run))
    ),
  )


define = command_line.defines(
  *(_RUN_DIRS, _OUTPUT, _NUM_TASKS, _NUM_AGENTS, _SEED, devices.DEVICE),
  command_line.IMPORT,
)


def main() -> int:
  """Writes the page that the flags ask for."""
  devices.use()
  output = command_line.folder(_OUTPUT.value)
  options = judging.Options(_NUM_TASKS.value, _SEED.value, True)
  folders = plot.folders(_RUN_DIRS.value)
  counts = _NUM_AGENTS.value or []
  for text in report(folders, output, counts, options):
    print('note:', text)
  print(f'Wrote {output}')
  return 0


if __name__ == '__main__':
  command_line.start(main, define)
