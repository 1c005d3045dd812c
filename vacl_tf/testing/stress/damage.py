# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Damages every file of a run in every way, then trains, evaluates, plots."""

import hashlib
import os
import pathlib
import resource
import shutil
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

from vacl_tf import config
from vacl_tf.testing import commands
from vacl_tf.testing.stress import checks
from vacl_tf.testing.stress import compare
from vacl_tf.testing.stress import harm
from vacl_tf.testing.stress import in_process
from vacl_tf.testing.stress import runs
from vacl_tf.testing.stress import workers
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import replicas
from vacl_tf.training import run as run_lib

PART = 'damage'
EVERY = 1  # 1 tries every case, 10 every tenth case.

_KIND = runs.PARTICLE
_MORE = 2  # Iterations that the run still has to make.
_MOST_MEGABYTES = 1000.0  # Largest rise of the peak memory by a command.
_SAMPLE = 1 << 20  # Bytes at the start of a file that are compared.
_READ_BY = {
  'evaluate': ('config.json', 'saved_model'),
  'evaluate a checkpoint': ('config.json', 'checkpoints'),
  'plot': ('config.json', 'metrics.csv', 'curriculum.npz', 'curves.png'),
}
# Files that a command may rewrite, damaged or not, even if it has not trained.
_MADE_ANEW = {
  'train': ('config.json', 'checkpoints/checkpoint', 'events', 'curves', '.'),
  'evaluate': ('.',),
  'evaluate a checkpoint': ('.',),
  'plot': ('curves', '.'),
}
_TRAINED = 'Finished: '  # Printed by a command that has trained.


class Case(NamedTuple):
  """A file to damage, and the command that then runs.

  Attributes:
    whole: folder of an undamaged run.
    scratch: folder for a copy of the run.
    command: one of `COMMANDS`.
    file: path of the damaged file in the run folder.
    how: one of `harm.HARMS`.
  """

  whole: pathlib.Path
  scratch: pathlib.Path
  command: str
  file: str
  how: str

  def __str__(self) -> str:
    return f'{self.file}: {self.how}'


def _iterate(run: run_lib.Run, programs: Any, cfg: config.Config) -> dict:
  """Stands in for an iteration, which would take seconds to compile."""
  del programs
  run.iteration.assign_add(1)
  run.env_steps.assign_add(cfg.training.num_tasks * cfg.environment.horizon)
  return dict.fromkeys(_columns, 0.5)


def _evaluate(run: run_lib.Run, programs: Any) -> dict[str, float]:
  del programs
  return dict.fromkeys(run.score_names, 0.5)


_columns: list[str] = []
_programs = mock.Mock(return_value=mock.Mock(replicas=replicas.ALONE))


def _train(case: Case, path: pathlib.Path) -> commands.Ended:
  scores = ('iteration', 'env_steps', 'wall_seconds', 'coverage', 'success')
  header = (case.whole / 'metrics.csv').read_text().partition('\n')[0]
  _columns[:] = [x for x in header.strip().split(',') if x not in scores]
  with (
    mock.patch.object(loop, 'iterate', _iterate),
    mock.patch.object(loop, 'evaluate', _evaluate),
    mock.patch.object(programs_lib, 'Programs', _programs),
  ):
    return in_process.run(
      'main',
      *_KIND.flags(_KIND.iterations + _MORE),
      f'--run_dir={path}',
    )


def _play(case: Case, path: pathlib.Path) -> commands.Ended:
  del case
  return in_process.run(
    'evaluate',
    f'--run_dir={path}',
    '--num_tasks=2',
  )


def _play_checkpoint(case: Case, path: pathlib.Path) -> commands.Ended:
  shutil.rmtree(path / 'saved_model')
  return _play(case, path)


def _plot(case: Case, path: pathlib.Path) -> commands.Ended:
  del case
  return in_process.run(
    'plot',
    f'--run_dirs={path}',
    f'--output={path / "curves.png"}',
  )


COMMANDS: dict[str, Callable[[Case, pathlib.Path], commands.Ended]] = {
  'train': _train,
  'evaluate': _play,
  'evaluate a checkpoint': _play_checkpoint,
  'plot': _plot,
}


def cases(whole: pathlib.Path, scratch: pathlib.Path) -> list[Case]:
  """Returns the cases to try."""
  files = sorted(
    str(path.relative_to(whole))
    for path in whole.rglob('*')
    if path.is_file() and path.stat().st_size
  )
  return [
    Case(whole, scratch, command, file, how)
    for command in COMMANDS
    for file in files
    if file.startswith(_READ_BY.get(command, ''))
    for how in harm.harms(file)
  ]


def contents(folder: pathlib.Path) -> dict[str, str]:
  """Returns {file: size and hash of its first bytes}."""
  found = {}
  for path in folder.rglob('*'):
    if path.is_file() and not path.is_symlink():
      with path.open('rb') as file:
        sample = hashlib.sha256(file.read(_SAMPLE)).hexdigest()
      name = os.fsdecode(os.fsencode(path.relative_to(folder)))
      found[name] = f'{path.stat().st_size} {sample}'
  return found


def lost(
  case: Case, has_trained: bool, before: dict[str, str], path: pathlib.Path
) -> list[str]:
  """Returns the files of a run that are gone after a command.

  All earlier content must still be there, possibly under another name. A
  command that has trained may replace all files, and any other command may
  replace those of `_MADE_ANEW`.
  """
  after = contents(path)
  there = set(after.values())
  gone = [x for x, content in before.items() if content not in there]
  if has_trained:
    # A command that can read the snapshots need not set the file aside.
    can_read = _is_readable(path)
    return [x for x in gone if x == 'curriculum.npz' and not can_read]
  made_anew = _MADE_ANEW[case.command]
  return sorted(x for x in gone if not x.startswith(made_anew))


def _is_readable(path: pathlib.Path) -> bool:
  try:
    return bool(compare.snapshots(path))
  except Exception:  # Any error means that the file can't be read.
    return False


def lost_rows(lines: list[bytes], path: pathlib.Path) -> int:
  """Returns how many lines of a metrics.csv are in no file metrics.csv*."""
  kept = set()
  for file in path.glob('metrics.csv*'):
    if file.is_file() and file.stat().st_size < _SAMPLE:
      kept |= {line.strip() for line in file.read_bytes().splitlines()}
  return sum(line.strip() not in kept for line in lines)


def megabytes() -> float:
  """Returns the peak memory of this process."""
  return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def try_case(case: Case) -> str:
  """Returns what is wrong after a case, or '' if nothing is."""
  path = case.scratch / f'run_{os.getpid()}'
  harm.remove(path)
  shutil.copytree(case.whole, path)
  file = path / case.file
  harm.do(case.how, file)
  before = contents(path)
  if case.command == 'evaluate a checkpoint':
    before = {
      x: y for x, y in before.items() if not x.startswith('saved_model')
    }
  metrics, lines = path / 'metrics.csv', []
  if metrics.is_file() and metrics.stat().st_size < _SAMPLE:
    content = metrics.read_bytes()
    lines = content[: content.rfind(b'\n') + 1].splitlines()  # Whole lines.
  peak = megabytes()
  ended = COMMANDS[case.command](case, path)
  found = [checks.complaint(ended, (0, 1, 2))]
  has_trained = _TRAINED in ended.out
  if has_trained and ended.code:
    found.append(f'trains on to the end, then fails: {ended.err.strip()}')
  if gone := lost(case, has_trained, before, path):
    found.append(f'lost: {", ".join(gone)}')
  # Training from an older checkpoint writes the rows after it again.
  is_set_back = has_trained and case.file.startswith('checkpoints')
  number = lost_rows(lines, path)
  if number > (_KIND.every if is_set_back else 0):
    found.append(f'{number} of {len(lines)} rows are gone')
  if megabytes() - peak > _MOST_MEGABYTES:
    found.append(f'takes {megabytes() - peak:.0f} MB')
  harm.remove(path)
  return '; '.join(filter(None, found))


def play(work: pathlib.Path) -> list[checks.Check]:
  """Tries all cases."""
  scratch = work / 'damaged'
  scratch.mkdir(exist_ok=True)
  tried = cases(runs.whole(_KIND, work), scratch)[::EVERY]
  found = []
  for command in COMMANDS:  # Each command has its own processes.
    mine = [case for case in tried if case.command == command]
    found += workers.problems(try_case, mine, checks.LIMIT_SECONDS)
  return [
    checks.Check(PART, case.command, str(case), problem)
    for case, problem in zip(tried, found, strict=True)
  ]
