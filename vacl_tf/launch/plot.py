# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Draws curves: python -m vacl_tf.launch.plot --run_dirs=A,B --output=FILE.png.

Runs that differ in nothing but the seed are one curve; a run alone has its
success rate besides, dotted. FILE_curriculum.png shows how the sets of tasks
grew in the first run that has them.
"""

import itertools
import pathlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from absl import flags

from vacl_tf import catalog
from vacl_tf.environments import task_spec
from vacl_tf.launch import command_line
from vacl_tf.launch import plot_curriculum
from vacl_tf.launch import records
from vacl_tf.training import files

if TYPE_CHECKING:  # At run time inside functions: it is slow to import.
  from matplotlib import axes

_RUN_DIRS = command_line.Flag(
  flags.DEFINE_multi_string,
  'run_dirs',
  [],
  'Folders of runs, with commas or the flag several times. A folder that has '
  'commas in its name is one.',
)
_OUTPUT = command_line.Flag(
  flags.DEFINE_string, 'output', 'curves.png', 'Picture to write.'
)

# Okabe and Ito's colours, told apart by colour-blind eyes too.
_COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#E69F00', '#56B4E9')
_INK = '#555555'
_MARKERS = 'os^Dv'
_GRID_POINTS = 400


class UnwritableError(command_line.UsageError):
  """A picture can't be written."""


class Group(NamedTuple):
  """Runs that share everything but the seed."""

  config: dict[str, Any]  # Of the first run.
  runs: list[records.Record]

  @property
  def world(self) -> tuple[str, int]:
    """Returns the name of the task and the number of agents."""
    world = self.runs[0].cfg.environment
    return world.name, world.num_agents


def plot(
  run_dirs: list[pathlib.Path], output: pathlib.Path
) -> list[pathlib.Path]:
  """Draws the curves of runs, and the curriculum of the first that has one.

  Args:
    run_dirs: folders of runs; one that is named twice counts once.
    output: a .png; the curriculum goes beside it, as <stem>_curriculum.png.

  Returns:
    The files written: one or two.

  Raises:
    UsageError: a run can't be read, or a package is missing that a task's map
      needs.
    UnwritableError: the output can't be written; the old one is as before.
  """
  if not run_dirs:
    raise command_line.UsageError(
      'no run to plot; give --run_dirs=FOLDER or several with commas'
    )
  _check_output(output)
  runs = [records.read(path) for path in dict.fromkeys(run_dirs)]
  beside = output.with_name(output.stem + '_curriculum.png')
  with_sets = [run for run in runs if run.has_sets]
  try:
    # All is read before anything is drawn.
    sets = [(run, plot_curriculum.read(run)) for run in with_sets[:1]]
    _draw_curves(group_by_config(runs), output)
    for run, sets_of_run in sets:
      plot_curriculum.draw(run, sets_of_run, beside)
  except (ImportError, ValueError) as error:
    raise command_line.UsageError(str(error)) from error
  except OSError as error:
    raise UnwritableError(
      f'output={output} cannot be written ({error.strerror}); give another one'
    ) from error
  return [output, beside] if with_sets else [output]


def _check_output(output: pathlib.Path) -> None:
  if output.suffix != '.png':
    raise command_line.UsageError(
      f'output={output} is not a picture; give a name that ends in .png'
    )
  if not output.parent.is_dir():
    raise command_line.UsageError(
      f'output={output} is in a folder that does not exist; make it first: '
      f'mkdir -p {output.parent}'
    )


def group_by_config(runs: list[records.Record]) -> list[Group]:
  """Returns the runs, those together that differ in nothing but the seed."""
  groups: dict[tuple[Any, ...], Group] = {}
  for run in runs:
    key = tuple((k, v) for k, v in run.config.items() if k != 'seed')
    groups.setdefault(key, Group(run.config, [])).runs.append(run)
  return list(groups.values())


def label_groups(groups: list[Group]) -> tuple[list[str], str]:
  """Returns what tells each group apart, and what they have in common."""
  configs = [group.config for group in groups]
  varying = _varying(configs)
  telling = _telling(groups)
  chosen = [name for name in telling if name in varying]
  shared = [name for name in telling if name not in chosen]
  # Another agent has other constants, which go without saying.
  for wanted in (('agent.name',), varying):
    for config in configs:
      alike = [
        x for x in configs if all(x.get(k) == config.get(k) for k in chosen)
      ]
      chosen += [k for k in _varying(alike) if k in wanted and k not in chosen]
  if not chosen:
    chosen = [shared.pop()]
  labels = [records.describe(config, chosen) for config in configs]
  return labels, records.describe(configs[0], shared)


def _telling(groups: list[Group]) -> list[str]:
  """Returns the leaves that tell runs of any of the groups apart first."""
  names = [records.telling(group.runs[0].cfg) for group in groups]
  return list(dict.fromkeys(itertools.chain(*names)))


def _varying(configs: list[dict[str, Any]]) -> list[str]:
  """Returns the leaves but the seed that differ, or that not all have."""
  names = dict.fromkeys(itertools.chain(*configs))
  return [
    name
    for name in names
    if name != 'seed' and len({x.get(name) for x in configs}) > 1
  ]


def _draw_curves(groups: list[Group], output: pathlib.Path) -> None:
  import matplotlib
  from matplotlib import figure

  labels, title = label_groups(groups)
  with matplotlib.rc_context(plot_curriculum.STYLE):
    picture = figure.Figure(figsize=(12.0, 5.2), layout='constrained')
    left, right = picture.subplots(1, 2, sharey=True)
    for index, (group, label) in enumerate(zip(groups, labels, strict=True)):
      colour = _COLOURS[index % len(_COLOURS)]
      _draw_group(left, group, 'env_steps', 1e6, colour, label)
      _draw_group(right, group, 'wall_seconds', 60.0, colour, None)
    if len(groups) == len(groups[0].runs) == 1:
      _draw_success(left, right, groups[0].runs[0])
    left.set_xlim(0.0, 1.03 * _draw_authors(left, groups))
    right.set_xlim(0.0)
    left.set_ylim(0.0, 1.02)
    left.set_ylabel('coverage of the evaluation (0 to 1)')
    left.set_xlabel('environment steps (millions)')
    right.set_xlabel('wall time (minutes)')
    picture.suptitle(title)
    picture.legend(loc='outside lower center', ncols=min(2, 1 + len(groups)))
    with files.replaced(output) as beside:
      picture.savefig(beside, format='png', dpi=100)


def _draw_group(
  axis: 'axes.Axes',
  group: Group,
  column: str,
  unit: float,
  colour: str,
  label: str | None,
) -> None:
  """Draws a thin line a seed, their mean, and a band over them."""
  curves = [
    (run.evaluated(column) / unit, run.evaluated('coverage'))
    for run in group.runs
  ]
  seeds = {run.config['seed'] for run in group.runs}
  if len(curves) == 1:
    (seed,) = seeds
    if label is not None:
      label = f'{label} (seed {seed})'
    # A run may have been evaluated only once.
    marker = 'o' if len(curves[0][0]) == 1 else None
    axis.plot(*curves[0], color=colour, lw=2.0, marker=marker, label=label)
    return
  for curve in curves:
    axis.plot(*curve, color=colour, lw=0.7, alpha=0.55)
  # Seeds may be evaluated at different times: compared where all have run.
  grid = np.linspace(
    max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves), _GRID_POINTS
  )
  values = np.array([np.interp(grid, *curve) for curve in curves])
  if label is not None:
    what = 'seeds' if len(seeds) == len(curves) else 'runs'
    label = f'{label} ({len(curves)} {what}): mean, band from min to max'
  low, high = values.min(0), values.max(0)
  axis.fill_between(grid, low, high, color=colour, alpha=0.18, lw=0.0)
  axis.plot(grid, values.mean(0), color=colour, lw=2.2, label=label)


def _draw_success(
  left: 'axes.Axes', right: 'axes.Axes', run: records.Record
) -> None:
  """Draws the share of tasks in which all agents succeed, of a run alone."""
  if 'success' not in run.columns:
    return
  success = run.evaluated('success')
  style = {'color': _COLOURS[0], 'ls': ':', 'lw': 1.5}
  label = 'success rate: tasks that are solved as a whole'
  left.plot(run.evaluated('env_steps') / 1e6, success, label=label, **style)
  right.plot(run.evaluated('wall_seconds') / 60.0, success, **style)


def _reference(task: str, num_agents: int) -> tuple[task_spec.Point, ...]:
  """Returns the points of the published curve, none if there is none."""
  return catalog.TASKS.get(task).references.get(num_agents, ())


def _draw_authors(axis: 'axes.Axes', groups: list[Group]) -> float:
  """Draws the authors' curves; returns where the axis should end (millions).

  That is where our runs end, or later if the authors' curve has not reached
  by then what ours did.
  """
  end = (
    max(run.columns['env_steps'][-1] for g in groups for run in g.runs) / 1e6
  )
  worlds = list(dict.fromkeys(group.world for group in groups))
  known = {world: _reference(*world) for world in worlds}
  known = {world: points for world, points in known.items() if points}
  for index, (world, points) in enumerate(known.items()):
    steps, mean, std = np.array(points, float).T
    label = "authors' VACL"
    if len(worlds) > 1:
      label += f' on {world[0]}, n = {world[1]}'
    bars = 'mean and std' if not np.isnan(std).any() else 'mean'
    axis.errorbar(
      steps,
      mean,
      None if np.isnan(std).all() else std,
      color=_INK,
      ls='--',
      lw=1.0,
      marker=_MARKERS[index % len(_MARKERS)],
      ms=5,
      capsize=3,
      label=f'{label} (3 seeds): {bars}',
    )
    ours = [run for g in groups if g.world == world for run in g.runs]
    best = max(run.evaluated('coverage').max() for run in ours)
    last = max(run.columns['env_steps'][-1] for run in ours) / 1e6
    is_past = (steps >= last) & (mean >= best)
    end = max(end, steps[is_past.argmax()] if is_past.any() else steps[-1])
  return end


def _folders(values: list[str]) -> list[pathlib.Path]:
  """Returns the folders that the flags name."""
  found = []
  for value in values:
    # Its name may have commas, or spaces at the ends.
    is_one = bool(value) and command_line.folder(value).is_dir()
    names = [value] if is_one else [x.strip() for x in value.split(',')]
    found += [command_line.folder(name) for name in names if name]
  return found


define = command_line.defines(_RUN_DIRS, _OUTPUT, command_line.IMPORT)


def main() -> int:
  """Draws the runs that the flags name."""
  output = command_line.folder(_OUTPUT.value)
  written = plot(_folders(_RUN_DIRS.value), output)
  for path in written:
    print(f'Wrote {path}')
  if len(written) == 1:
    print('No picture of the curriculum: none of these runs keeps task sets.')
  return 0


if __name__ == '__main__':
  command_line.start(main, define)
