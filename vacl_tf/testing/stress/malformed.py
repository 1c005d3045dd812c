# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Invalid command lines, made from the fields of the config."""

import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple
from unittest import mock

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.testing import commands
from vacl_tf.testing.stress import checks
from vacl_tf.testing.stress import damage
from vacl_tf.testing.stress import in_process
from vacl_tf.testing.stress import runs
from vacl_tf.testing.stress import workers

PART = 'commands'
EVERY = 1

_DIGITS = '9' * 400
_NOT_NUMBERS = ('', 'much', 'nan', '1e999', '1_0_', '0x', '٣x', _DIGITS)
_NOT_INTEGERS = ('1.5', '1e-3')
_NOT_BOOLS = ('', 'maybe', '2')
_NOT_CHOICES = ('', 'none such', 'x' * 500, 'ä\n')
_ACCEPTED = 'accepted'  # Printed instead of training.


class Case(NamedTuple):
  """A command line.

  Attributes:
    command: one of `in_process.NAMES`.
    arguments: arguments of the command.
    run_dir: folder of an undamaged run, which may not change.
  """

  command: str
  arguments: tuple[str, ...]
  run_dir: pathlib.Path

  def __str__(self) -> str:
    told = self.arguments[self.command == 'main' :]  # Without the folder.
    return ' '.join(x if len(x) < 60 else f'{x[:60]}...' for x in told)


def _train(case: Case) -> commands.Ended:
  def begin(*_: Any, **__: Any) -> int:
    print(_ACCEPTED)
    return 0

  with mock.patch.object(in_process.module('session'), 'train', begin):
    return in_process.run('main', *case.arguments)


def wrong_values(node: Any, name: str) -> list[str]:
  """Returns values that a leaf of a config can't have."""
  value, bounds = overrides.leaves(node)[name], overrides.bounds(node, name)
  if isinstance(value, bool):
    return list(_NOT_BOOLS)
  if isinstance(value, str):
    return list(_NOT_CHOICES) if overrides.choices(node, name) else []
  found = list(_NOT_NUMBERS)
  if isinstance(value, int):
    found += _NOT_INTEGERS
  if bounds is not None:
    found += [str(bounds.low - 1), str(bounds.high * 2 + 1), '-1e300']
  return found


def _of_fields(env: str) -> Iterator[tuple[str, ...]]:
  """Yields wrong arguments for every field that a task's config has."""
  cfg = presets.make(env=env)
  task = (f'--env={env}',)
  for prefix, node in (('config.', cfg), ('', config.RunLength())):
    for name, usual in overrides.leaves(node).items():
      flag = prefix + name
      for value in wrong_values(node, name):
        yield (*task, f'--{flag}={value}')
      yield (*task, f'--{flag}x=1')
      if not isinstance(usual, bool):
        yield (*task, f'--{flag}')  # No value.
      yield (*task, f'--no{flag}=1')


def _of_train() -> list[tuple[str, ...]]:
  found = []
  for name in ('num_agents', 'num_boxes', 'seed'):
    found += [(f'--{name}={x}',) for x in (*_NOT_NUMBERS, '-1', '1.5')]
    found.append((f'--{name}',))
  for name in ('env', 'preset', 'curriculum', 'agent', 'import'):
    found += [(f'--{name}={x}',) for x in _NOT_CHOICES[1:]]
  for path in ('8,4', '4,,8', ',', '4x', 'x', '4;8', '4,' + _DIGITS, '-4,8'):
    found.append((f'--entity_counts={path}',))
  words = ('-', '--', '---', '--=', '--=x', 'simple_spread', '--\udcff')
  found += [(x, 'more') for x in words]
  found += [('--nojson=1',), ('--json=perhaps',), ('--flagfile=/no/such',)]
  return found


def _of_readers(run_dir: pathlib.Path) -> list[tuple[str, tuple[str, ...]]]:
  this = f'--run_dir={run_dir}'
  numbers = ('', 'few', '-1', '0', '1', '1.5', 'nan', _DIGITS, '10000000000')
  found = [(this, f'--num_tasks={x}') for x in numbers]
  found += [(this, f'--num_agents={x}') for x in (*numbers, '4,,8', '4,4x')]
  found += [(this, f'--num_boxes={x}') for x in numbers]
  found += [(this, f'--seed={x}') for x in ('', 'x', '-1', '1.5', _DIGITS)]
  found += [(this, f'--video={x}') for x in ('x', 'x.png', '.gif/')]
  found += [(this, f'--saved_model={x}') for x in ('nowhere', str(run_dir))]
  found += [(), ('--run_dir=',), ('--run_dir=nowhere',), (this, 'more')]
  plots = [(), ('--run_dirs=',), ('--run_dirs=,',), ('--run_dirs=nowhere',)]
  plots.append((f'--run_dirs={run_dir},nowhere',))
  for output in ('', 'x', 'x.pdf', '/no/such/folder/x.png'):
    plots.append((f'--run_dirs={run_dir}', f'--output={output}'))
  return [('evaluate', x) for x in found] + [('plot', x) for x in plots]


def cases(run_dir: pathlib.Path, beside: pathlib.Path) -> list[Case]:
  """Returns command lines, all of them invalid."""
  lines = [x for env in _envs() for x in _of_fields(env)] + _of_train()
  found = []
  for index, line in enumerate(dict.fromkeys(lines)):
    path = beside / f'new_{index}'
    # The folder comes first: a word that ends the flags must not hide it.
    found.append(Case('main', (f'--run_dir={path}', *line), run_dir))
  return found + [Case(x, y, run_dir) for x, y in _of_readers(run_dir)]


def _envs() -> list[str]:
  """Returns one task for each class of worlds."""
  tasks = [catalog.TASKS.get(name) for name in catalog.TASKS.names()]
  return list({type(x.world): x.world.name for x in tasks}.values())


def try_case(case: Case) -> str:
  """Returns what is wrong after a case, or '' if nothing is."""
  before = damage.contents(case.run_dir)
  if case.command == 'main':
    ended = _train(case)
  else:
    ended = in_process.run(case.command, *case.arguments)
  if _ACCEPTED in ended.out:
    return 'is accepted'
  found = [checks.complaint(ended, (2,))]
  if damage.contents(case.run_dir) != before:
    found.append('a run has changed')
  if case.command == 'main':
    path = pathlib.Path(case.arguments[0].partition('=')[2])
    if path.exists():
      found.append('a folder was made')
  return '; '.join(filter(None, found))


def play(work: pathlib.Path) -> list[checks.Check]:
  """Tries all command lines."""
  beside = work / 'malformed'
  beside.mkdir(exist_ok=True)
  tried = cases(runs.whole(runs.PARTICLE, work), beside)[::EVERY]
  found = []
  for command in in_process.NAMES:
    mine = [case for case in tried if case.command == command]
    found += workers.problems(try_case, mine, checks.LIMIT_SECONDS)
  return [
    checks.Check(PART, case.command, str(case), problem)
    for case, problem in zip(tried, found, strict=True)
  ]
