# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Draws curves: python -m vacl_tf.launch.plot --run_dirs=A,B --output=FILE.png.

Runs that differ only in the seed form one curve, with the 95 % bootstrap
interval of their mean. A single run also has its success rate, dotted.
FILE_curriculum.png shows how the tasks changed, for the first run that has
recorded them.
"""

import contextlib
import itertools
import os
import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from absl import flags

from vacl_tf import reading
from vacl_tf.launch import command_line
from vacl_tf.launch import plot_curriculum
from vacl_tf.launch import plot_curves
from vacl_tf.launch import records

_RUN_DIRS = command_line.Flag(
  flags.DEFINE_multi_string,
  'run_dirs',
  [],
  'Folders of runs; separate them with commas or repeat the flag. A folder '
  'with commas in its name counts as one.',
)
_LABELS = command_line.Flag(
  flags.DEFINE_list,
  'labels',
  [],
  'Names of the runs, one for each; runs of the same name form one curve. '
  'Default: the differences between their configs.',
)
_OUTPUT = command_line.Flag(
  flags.DEFINE_string,
  'output',
  'curves.png',
  'Picture to write, FILE.png; FILE_curriculum.png is written beside it.',
)


class UnwritableError(command_line.UsageError):
  """A picture can't be written."""


def _print(text: str) -> None:
  print('note:', text)


def plot(
  run_dirs: Sequence[pathlib.Path],
  output: pathlib.Path,
  labels: Sequence[str] = (),
  note: Callable[[str], None] = _print,
) -> list[pathlib.Path]:
  """Draws the curves of runs, and the curriculum of the first that has one.

  Args:
    run_dirs: folders of runs; one that is named twice counts once.
    output: path of a .png; the curriculum is drawn beside it, as
      <stem>_curriculum.png.
    labels: a name for each run; runs of the same name form one curve. If empty,
      runs that differ only in the seed form one curve.
    note: called with a message for each run of which something is missing.

  Returns:
    The files written: one or two.

  Raises:
    UsageError: a run can't be read, a package that a task's map needs is not
      installed, or the number of labels is not that of the runs.
    UnwritableError: the output can't be written; the old file is unchanged.
  """
  if not run_dirs:
    raise command_line.UsageError(
      'no run to plot; give --run_dirs=FOLDER, or several separated by commas'
    )
  _check_output(output)
  notes: list[str] = []  # Shown at the end, and not with an error.
  runs, names = _read(run_dirs, labels, notes.append)
  try:
    written = _draw(runs, names, output, notes.append)
  except UnwritableError:
    raise
  except (ImportError, ValueError) as error:
    raise command_line.UsageError(str(error)) from error
  for text in notes:
    note(text)
  return written


def _draw(
  runs: Sequence[records.Record],
  labels: Sequence[str],
  output: pathlib.Path,
  note: Callable[[str], None],
) -> list[pathlib.Path]:
  """Draws runs; returns the files written."""
  # Everything is read before anything is drawn.
  found = plot_curriculum.find(runs)
  if labels:
    groups, title = group_by_label(runs, labels)
  else:
    groups, title = group_by_config(runs)
  with _writing(output):
    plot_curves.draw(groups, title, output)
  if found is None:
    return [output]
  first, sets = found
  beside = output.with_name(output.stem + '_curriculum.png')
  with _writing(beside):
    plot_curriculum.draw(first, sets, beside)
  if not sets.snapshots:
    note(f'{first.path} has no curriculum.npz: the map of tasks is not drawn')
  return [output, beside]


@contextlib.contextmanager
def _writing(path: pathlib.Path) -> Iterator[None]:
  try:
    yield
  except OSError as error:
    raise UnwritableError(
      f'output={path} cannot be written ({error.strerror}); give another one'
    ) from error


def _read(
  run_dirs: Sequence[pathlib.Path],
  labels: Sequence[str],
  note: Callable[[str], None],
) -> tuple[list[records.Record], list[str]]:
  """Returns the runs that can be drawn, and their labels if there are any."""
  if labels and len(labels) != len(run_dirs):
    raise command_line.UsageError(
      f'labels={",".join(labels)} has {len(labels)} for {len(run_dirs)} runs; '
      'give one label for each run, and the same label to runs of one curve'
    )
  if wrong := [x for x in labels if x.startswith('_')]:
    raise command_line.UsageError(
      f'labels={",".join(labels)}: legends leave out labels that begin with an '
      f'underscore, like {wrong[0]}; give another one'
    )
  if wrong := [x for x in labels if not x.isprintable()]:
    raise command_line.UsageError(
      f"labels: {wrong[0]!r} has characters that can't be printed; give "
      'another one'
    )
  # If a run is named twice, its first label counts.
  named = {}
  for path, label in itertools.zip_longest(run_dirs, labels):
    named.setdefault(os.path.realpath(path), (path, label))
  runs, missing = [], []
  for path, _ in named.values():
    try:
      runs.append(records.read(path))
    except records.NothingYetError as error:
      missing.append(error)
  if not runs:
    raise missing[0]
  for error in missing:
    note(f'{error}. This run is left out')
  for run in runs:
    if run.is_unfinished:
      note(
        f'{run.path} is not finished: {run.columns["env_steps"][-1]:,.0f} of '
        f'{run.length.num_env_steps:,} env steps are drawn'
      )
  if not labels:
    return runs, []
  return runs, [named[os.path.realpath(run.path)][1] for run in runs]


def _check_output(output: pathlib.Path) -> None:
  if output.suffix != '.png':
    raise command_line.UsageError(
      f'output={output} is not a picture; give a name that ends in .png'
    )
  check_parent(output)


def check_parent(output: pathlib.Path) -> None:
  """Raises UsageError if there is no folder to write an output to."""
  try:
    is_there = reading.kind(output.parent) == reading.FOLDER
  except reading.UnreadableError as error:
    raise UnwritableError(f'output: {error}; give another one') from error
  if not is_there:
    raise command_line.UsageError(
      f'output={output} is in a folder that does not exist; make it first: '
      f'mkdir -p {output.parent}'
    )


def group_by_label(
  runs: Sequence[records.Record], labels: Sequence[str]
) -> tuple[list[plot_curves.Group], str]:
  """Returns a curve for each label, and what all runs have in common."""
  groups: dict[str, list[records.Record]] = {}
  for run, label in zip(runs, labels, strict=True):
    groups.setdefault(label, []).append(run)
  varying = _varying([run.config for run in runs])
  shared = [name for name in _telling(runs) if name not in varying]
  found = [plot_curves.Group(*pair) for pair in groups.items()]
  return found, records.describe(runs[0].config, shared)


def group_by_config(
  runs: Sequence[records.Record],
) -> tuple[list[plot_curves.Group], str]:
  """Groups runs that differ only in the seed into curves.

  Returns:
    The curves, each labelled with its differences from the others, and a
    description of what all runs have in common.
  """
  groups: dict[tuple[Any, ...], list[records.Record]] = {}
  for run in runs:
    key = tuple((k, v) for k, v in run.config.items() if k != 'seed')
    groups.setdefault(key, []).append(run)
  firsts = [group[0] for group in groups.values()]
  labels, shared = _label(firsts)
  return [
    plot_curves.Group(label, group)
    for label, group in zip(labels, groups.values(), strict=True)
  ], shared


def _label(runs: Sequence[records.Record]) -> tuple[list[str], str]:
  """Returns labels that tell runs apart, and what they have in common."""
  configs = [run.config for run in runs]
  varying = _varying(configs)
  telling = _telling(runs)
  # Different agents are always named: the effect of an agent must not be taken
  # for that of a curriculum.
  chosen = [name for name in (*telling, 'agent.name') if name in varying]
  shared = [name for name in telling if name not in chosen]
  for config in configs:
    alike = [
      x for x in configs if all(x.get(k) == config.get(k) for k in chosen)
    ]
    chosen += [k for k in _varying(alike) if k not in chosen]
  if not chosen:
    chosen = [shared.pop()]
  labels = [records.describe(config, chosen) for config in configs]
  return labels, records.describe(configs[0], shared)


def _telling(runs: Sequence[records.Record]) -> list[str]:
  """Returns the leaves that labels of these runs name first."""
  names = [records.telling(run.cfg) for run in runs]
  return list(dict.fromkeys(itertools.chain(*names)))


def _varying(configs: list[dict[str, Any]]) -> list[str]:
  """Returns the leaves that differ or that some lack, except the seed."""
  names = dict.fromkeys(itertools.chain(*configs))
  return [
    name
    for name in names
    if name != 'seed' and len({x.get(name) for x in configs}) > 1
  ]


def folders(values: list[str]) -> list[pathlib.Path]:
  """Returns the folders that the flags name."""
  found = []
  for value in values:
    # A name may contain commas, or spaces at its ends.
    names = (
      [value] if _is_folder(value) else [x.strip() for x in value.split(',')]
    )
    found += [command_line.folder(name) for name in names if name]
  return found


def _is_folder(value: str) -> bool:
  try:
    found = reading.kind(command_line.folder(value))
  except reading.UnreadableError:  # A list may be too long for a name.
    return False
  return bool(value) and found == reading.FOLDER


define = command_line.defines(
  *(_RUN_DIRS, _LABELS, _OUTPUT, command_line.IMPORT)
)


def main() -> int:
  """Draws the runs that the flags name."""
  output = command_line.folder(_OUTPUT.value)
  written = plot(folders(_RUN_DIRS.value), output, _LABELS.value)
  for path in written:
    print(f'Wrote {path}')
  if len(written) == 1:
    print(
      'No picture of the curriculum: these runs recorded no tasks on a map.'
    )
  return 0


if __name__ == '__main__':
  command_line.start(main, define)
