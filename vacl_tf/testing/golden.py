# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks that a change of the code changed no number.

  python -m vacl_tf.testing.golden --against=HEAD~1

Plays tiny runs on this machine, with the code of the working tree and with the
code of a commit, and compares all metrics and tensors bit for bit. Their names
may have changed, so they are matched by their content.
"""

import collections
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent import futures
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import vacl_tf
from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import presets
from vacl_tf.testing import one_line
from vacl_tf.testing import tiny

if TYPE_CHECKING:
  import tensorflow as tf

_MODULE = 'vacl_tf.testing.golden'
_PATH = 'vacl_tf/testing/golden.py'
_ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
_NUM_MADE_UP = 5  # Updates of the curriculum with made-up values.
_MOST_TOLD = 4  # Lines that are printed of one kind of difference in a case.
_SEPARATOR = '|'  # Between the parts of a key; no name of a variable has it.

Arrays = dict[str, np.ndarray]


class Case(NamedTuple):
  """A tiny run."""

  task: str
  preset: str
  curriculum: str

  def __str__(self) -> str:
    return '/'.join(self)


class _Failure(Exception):
  """A run or git failed; the message is one line."""


def cases(chosen: str = '') -> list[Case]:
  """Returns the cases whose names contain a part in `chosen`, or all."""
  from vacl_tf.testing import products  # It imports TensorFlow.

  parts = chosen.split(',')
  found = [
    Case(task, preset, curriculum)
    for task in catalog.TASKS.names()
    for preset in catalog.TASKS.get(task).presets
    for curriculum in catalog.CURRICULA.names()
    if products.suits(task, curriculum)
  ]
  return [case for case in found if any(part in str(case) for part in parts)]


def make_config(case: Case) -> config.Config:
  """Returns the case's config: the preset with smaller sizes."""
  task = catalog.TASKS.get(case.task)
  counts = task.world.counts
  path = ''
  if catalog.CURRICULA.get(case.curriculum).grows and task.most > counts:
    # From fewer agents to the task's own, or from these to twice as many.
    first = tuple(map(max, task.least, (x // 2 for x in counts)))
    last = counts if first != counts else tuple(2 * x for x in counts)
    path = ','.join(map(entity_counts.spelled, (first, last)))
  cfg = presets.make(
    env=case.task,
    preset=case.preset,
    curriculum=case.curriculum,
    path=path,
  )
  cfg = tiny.shrunk(cfg)
  bounds.check(cfg)
  return cfg


def play(case: Case, use_xla: bool = False) -> Arrays:
  """Returns metrics and tensors of a run, with this tree's names.

  Args:
    case: the run.
    use_xla: whether to compile the run.

  Returns:
    Arrays by key: 'metrics|WHEN|NAME', a number each, and 'tensors||NAME'.
  """
  # Imported here, because comparing alone needs no TensorFlow.
  import tensorflow as tf

  from vacl_tf import environments
  from vacl_tf import randomness
  from vacl_tf import types
  from vacl_tf.training import loop
  from vacl_tf.training import programs as programs_lib
  from vacl_tf.training import run as run_lib

  tf.get_logger().setLevel('ERROR')  # It warns of programs with equal names.
  cfg = make_config(case)
  envs = environments.load_all(cfg)
  run = run_lib.Run(cfg, envs)
  programs = programs_lib.Programs(run, envs, cfg, use_xla)
  rows = {'iteration 1': loop.iterate(run, programs, cfg)}
  # Luck solves hardly any task. With made-up values some tasks count as solved,
  # so that sets fill up, entity counts mix, and the second iteration plays
  # tasks of all sources.
  scores = tf.linspace(0.5, 0.2, len(envs))
  for index in range(_NUM_MADE_UP):
    seeds = [run.seed(randomness.Stream.CURRICULUM, index, x) for x in range(2)]
    batches = programs.sample(seeds[0])
    made_up = []
    for batch in batches:
      thirds = tf.cast(tf.range(batch.phi.shape[0]) % 3, tf.float32) / 2.0
      told = dict.fromkeys(run.curriculum.feedback, thirds)
      told |= {'final_task': batch.phi} if 'final_task' in told else {}
      made_up.append(types.TaskFeedback(**told | {'value': thirds}))
    row = programs.update(batches, tuple(made_up), scores, seeds[1])
    rows[f'made up {index}'] = row
  rows['iteration 2'] = loop.iterate(run, programs, cfg)
  rows['evaluation'] = loop.evaluate(run, programs)
  found = {
    _SEPARATOR.join(['metrics', when, name]): np.float64(value)
    for when, row in rows.items()
    for name, value in row.items()
  }
  return found | _tensors(run.variables)


def _tensors(variables: Sequence['tf.Variable']) -> Arrays:
  """Returns the values of variables, except for wall time."""
  found, seen = {}, collections.Counter()
  for variable in variables:
    name = variable.name.partition(':')[0]
    seen[name] += 1  # Names are not unique.
    if 'wall_seconds' not in name:
      name = f'{name}#{seen[name]}'
      found[_SEPARATOR.join(['tensors', '', name])] = variable.numpy()
  return found


def differences(old: Arrays, new: Arrays) -> list[str]:
  """Returns the differences of two results of `play`, whatever the names."""
  found = []
  theirs, ours = _by_group(old), _by_group(new)
  for group in sorted({*theirs, *ours}):
    kind, _, when = group.partition(_SEPARATOR)
    both = _unmatched(theirs.get(group, {}), ours.get(group, {}))
    lines = list(_pairs(*both))
    if len(lines) > _MOST_TOLD:
      more = len(lines) - _MOST_TOLD
      lines = [*lines[:_MOST_TOLD], f'{more} more']
    found += [f'{when or kind}: {line}' for line in lines]
  return found


def _by_group(arrays: Arrays) -> dict[str, Arrays]:
  """Returns arrays by group and name; they are matched within a group."""
  groups = collections.defaultdict(dict)
  for key, array in arrays.items():
    group, _, name = key.rpartition(_SEPARATOR)
    groups[group][name] = array
  return groups


def _unmatched(old: Arrays, new: Arrays) -> tuple[Arrays, Arrays]:
  """Returns the arrays of each side whose content the other side lacks."""
  # Match arrays of the same name first: if several arrays are equal, those with
  # other names should be left over.
  equal = {x for x in {*old} & {*new} if _content(old[x]) == _content(new[x])}
  old = {name: array for name, array in old.items() if name not in equal}
  new = {name: array for name, array in new.items() if name not in equal}
  return _without(old, new), _without(new, old)


def _without(arrays: Arrays, others: Arrays) -> Arrays:
  """Returns `arrays` without one of equal content for each of `others`."""
  left = collections.Counter(map(_content, others.values()))
  rest = {}
  for name, array in arrays.items():
    content = _content(array)
    if left[content]:
      left[content] -= 1
    else:
      rest[name] = array
  return rest


def _kind(array: np.ndarray) -> tuple[str, tuple[int, ...]]:
  return str(array.dtype), array.shape


def _content(array: np.ndarray) -> tuple[str, tuple[int, ...], bytes]:
  return *_kind(array), array.tobytes()


def _pairs(lost: Arrays, come: Arrays) -> Iterator[str]:
  """Yields a line for each array that probably changed, is gone or is new."""
  come = dict(come)
  for name, old in sorted(lost.items(), key=lambda item: item[0] not in come):
    alike = [other for other, new in come.items() if _kind(new) == _kind(old)]
    if not alike:
      yield f'{_told(name, old)} is gone'
      continue
    other = name if name in alike else alike[0]
    new = come.pop(other)
    if old.ndim:
      yield f'{_told(name, old)} differs by up to {_distance(old, new):.3g}'
    else:
      yield f'{_told(name, old)} is now {_told(other, new)}'
  for name, new in come.items():
    yield f'{_told(name, new)} is new'


def _distance(old: np.ndarray, new: np.ndarray) -> float:
  """Returns the greatest difference of two arrays; NaN if only one is NaN."""
  old, new = old.astype(np.float64), new.astype(np.float64)
  is_same = (old == new) | (np.isnan(old) & np.isnan(new))
  return float(np.max(np.where(is_same, 0.0, np.abs(old - new)), initial=0.0))


def _told(name: str, array: np.ndarray) -> str:
  if array.ndim:
    return f'{name} {array.dtype}{list(array.shape)}'
  return f'{name}={array.item()!r}'


def compare(
  old: dict[str, Arrays], new: dict[str, Arrays]
) -> tuple[list[str], int]:
  """Compares two sides: the results of `play`, by name of the case.

  Returns:
    A line for each case, and the number of cases that differ.
  """
  lines, num_different = [], 0
  for name in [*new, *(name for name in old if name not in new)]:
    if name not in old:
      lines.append(f'{name}: only here, nothing to compare it with')
      continue
    found = differences(old[name], new[name]) if name in new else ['missing']
    num_different += bool(found)
    lines.append(f'{name}: {"; ".join(found) or "same"}')
  return lines, num_different


def dump(chosen: Sequence[Case], use_xla: bool, path: pathlib.Path) -> None:
  """Plays cases and writes the results of `play` to an NPZ file."""
  arrays = {}
  for case in chosen:
    for key, array in play(case, use_xla).items():
      arrays[f'{case}{_SEPARATOR}{key}'] = array
  np.savez(path, **arrays)


def read(path: pathlib.Path) -> dict[str, Arrays]:
  """Returns what `dump` wrote, by name of the case."""
  found = collections.defaultdict(dict)
  with np.load(path) as arrays:
    for key, array in arrays.items():
      name, _, rest = key.partition(_SEPARATOR)
      found[name][rest] = array
  return dict(found)


def _git(*arguments: str) -> bytes:
  """Returns what git prints; raises _Failure if it fails."""
  command = ['git', '-C', str(_ROOT), *arguments]
  try:
    return subprocess.run(command, capture_output=True, check=True).stdout
  except (OSError, subprocess.CalledProcessError) as error:
    raise _Failure(f'git can not do it: {error}') from error


def extract(commit: str, folder: pathlib.Path) -> None:
  """Writes the code of a commit, with a golden.py, to a folder."""
  packed = folder / 'tree.tar'
  packed.write_bytes(_git('archive', commit, 'vacl_tf'))
  with tarfile.open(packed) as archive:
    archive.extractall(folder, filter='data')
  own = folder / _PATH
  if own.exists():
    return
  # The first version of golden.py fits the code before it was added.
  added = ['log', '--diff-filter=A', '--format=%H', '--', _PATH]
  history = _git(*added).decode().split()
  text = _git('show', f'{history[-1]}:{_PATH}')
  own.parent.mkdir(exist_ok=True)
  own.write_bytes(text)


def _play_tree(
  root: pathlib.Path, path: pathlib.Path, options: list[str]
) -> tuple[dict[str, Arrays], float]:
  """Plays with the code of a tree; returns its results and the seconds."""
  began = time.monotonic()
  command = [sys.executable, '-m', _MODULE, f'--dump={path}', *options]
  environment = {**os.environ, 'TF_CPP_MIN_LOG_LEVEL': '2'}
  environment.pop('PYTHONSAFEPATH', None)  # Modules must come from `root`.
  done = subprocess.run(command, cwd=root, env=environment, capture_output=True)
  if done.returncode:
    sys.stderr.buffer.write(done.stderr)
    # The return code is negative if a signal ended the process.
    raise _Failure(f'the runs in {root} ended with {done.returncode}')
  return read(path), time.monotonic() - began


def against(commit: str, options: list[str], jobs: int) -> int:
  """Plays with both trees, prints differences, returns the exit code."""
  with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    tree = folder / 'tree'
    tree.mkdir()
    extract(commit, tree)
    # The working tree comes first, because it is the one that may be broken.
    sides = [(_ROOT, folder / 'new.npz'), (tree, folder / 'old.npz')]
    with futures.ThreadPoolExecutor(jobs) as pool:
      each = pool.map if jobs > 1 else map
      played = each(lambda side: _play_tree(*side, options), sides)
      (new, after), (old, before) = played
  lines, num_different = compare(old, new)
  print('\n'.join(lines))
  print(
    f'{num_different} of {len(lines)} cases differ from {commit[:10]} '
    f'({before:.0f} s there, {after:.0f} s here)'
  )
  return int(num_different > 0)


def main(arguments: Sequence[str] | None = None) -> int:
  """Runs the command; returns the exit code."""
  parser = one_line.Parser(prog=_MODULE, description=__doc__.partition('\n')[0])
  does = parser.add_mutually_exclusive_group(required=True)
  does.add_argument('--against', metavar='COMMIT', help='compare with it')
  does.add_argument('--dump', type=pathlib.Path, help='play, and write an NPZ')
  does.add_argument('--list', action='store_true', help='list the cases')
  parser.add_argument('--cases', default='', help='parts of names, by commas')
  parser.add_argument('--xla', action='store_true', help='compile with XLA')
  parser.add_argument('--jobs', type=int, choices=(1, 2), default=1)
  args = parser.parse_args(arguments)
  chosen = cases(args.cases)
  if args.dump:  # This tree may have none of the cases of the other tree.
    if pathlib.Path(vacl_tf.__file__).parent.parent != pathlib.Path.cwd():
      parser.error(f'vacl_tf is not from here, but {vacl_tf.__file__}')
    dump(chosen, args.xla, args.dump)
    return 0
  if not chosen:
    parser.error(f'--cases={args.cases}: there is none; see --list')
  if args.list:
    print('\n'.join(map(str, chosen)))
    return 0
  options = [f'--cases={args.cases}', *(['--xla'] if args.xla else [])]
  try:
    commit = _git('rev-parse', '--verify', f'{args.against}^{{commit}}')
  except _Failure:
    parser.error(f'--against={args.against}: there is no such commit')
  try:
    return against(commit.decode().strip(), options, args.jobs)
  except _Failure as error:
    print(f'error: {error}', file=sys.stderr)
    return 1


if __name__ == '__main__':
  sys.exit(main())
