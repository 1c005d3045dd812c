# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Studies as data: which runs, with which flags, and in which order.

Users register their own studies in a module; see docs/guides/own_study.md.
"""

import numbers
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import registry
from vacl_tf import study_lists
from vacl_tf import study_methods
from vacl_tf import study_tasks

# Every change of a rule of the protocol needs a new number: reports made under
# another protocol are not mixed with new ones.
PROTOCOL = 2
Task = study_tasks.Task
Study = study_lists.Study
BASELINE = study_methods.BASELINE
FIRST_SEED = 100  # Smaller seeds were used to choose presets.
LEVEL = 0.9  # Coverage; the steps to reach it are a score.

# The evaluation of each trained run.
EVALUATION_TASKS = 2000
EVALUATION_SEED = 1000
EVALUATION_FLAGS = (
  f'--num_tasks={EVALUATION_TASKS}',
  f'--seed={EVALUATION_SEED}',
  '--json',
)

_MOST_SEEDS = 1000
# Python refuses to read numbers of thousands of digits.
_RANGE, _PART = r'(\d{1,18})(?:-(\d{1,18}))?', r'(\d{1,18})/(\d{1,18})'
_MOST_STEPS = 10**12  # As many as `launch.main` allows.
_MOST_MINUTES = 10**9

# Flags that the study itself sets for each of its runs.
_TAKEN_FLAGS = (
  'device',
  'import',
  'num_env_steps',
  'num_replicas',
  'print_config',
  'restart',
  'run_dir',
  'seed',
  'stop_at_coverage',
  'threads',
)


class Run(NamedTuple):
  """One training run.

  Attributes:
    task: the task to train on.
    method: name of the method.
    seed: seed of the run.
    own_flags: flags of the method in a user's study; None for those of
      `study_methods`.
  """

  task: Task
  method: str
  seed: int
  own_flags: tuple[str, ...] | None = None

  @property
  def name(self) -> str:
    """Path in the folder of all runs."""
    return f'{self.task.name}/{self.method}/seed{self.seed}'

  @property
  def flags(self) -> tuple[str, ...]:
    """Flags of `launch.main`, except for the folder."""
    of_method = self.own_flags
    if of_method is None:
      of_method = study_methods.flags(self.method, self.task.name)
    return (
      *self.task.flags,
      f'--num_env_steps={self.task.num_env_steps}',
      *of_method,
      f'--seed={self.seed}',
    )


STUDIES: registry.Registry[Study] = registry.Registry('study')
for _study in study_lists.ALL:
  STUDIES.add(_study)


def register(
  name: str,
  tasks: Sequence[Task],
  methods: Mapping[str, Sequence[str]],
  about: str = '',
) -> None:
  """Registers a study of your own by its name.

  Each method is trained on each task, with the seeds of `launch.study`.

  Args:
    name: name of the study.
    tasks: tasks, with their flags and budgets.
    methods: flags of `launch.main` by name of the method; the other methods are
      compared with the first one.
    about: purpose of the study, in one sentence.

  Raises:
    ValueError: the name is taken, there are no tasks or methods, or one of them
      can't be used.
  """
  tasks = tuple(tasks)
  flags = _checked(name, tasks, methods)
  for task in tasks:
    _check_task(f'study {name}, task {task.name}', task)
  stage = tuple(
    (task._replace(flags=flags['task', task.name]), tuple(methods))
    for task in tasks
  )
  own = {key: flags['method', key] for key in methods}
  STUDIES.add(Study(name, about, (stage,), own))


def _checked(
  name: str, tasks: Sequence[Task], methods: Mapping[str, Iterable[str]]
) -> dict[tuple[str, str], tuple[str, ...]]:
  """Returns flags by ('task', its name) and ('method', its name).

  Raises:
    ValueError: there are no tasks or methods, or their names or flags are
      wrong.
  """
  if not isinstance(methods, Mapping):
    raise ValueError(
      f'study {name}: methods={methods!r:.60} is not a dict; give one like '
      "{'mine': ('--curriculum=mine',)}"
    )
  named = [*(('task', task.name, task.flags) for task in tasks)]
  named += [('method', key, flags) for key, flags in methods.items()]
  for what in ('task', 'method'):
    names = [key for kind, key, _ in named if kind == what]
    if not names or len(set(names)) < len(names):
      raise ValueError(
        f'study {name} has {what}s {names}; give one or more, with different '
        'names'
      )
  found = {}
  for what, key, flags in named:
    where = f'study {name}, {what} {key!r}'
    # Legends of plots leave out names that begin with an underscore.
    is_name = isinstance(key, str) and key.isidentifier()
    if not is_name or key.startswith('_'):
      raise ValueError(
        f'{where} is not a name; give letters, digits and underscores, '
        'beginning with a letter'
      )
    found[what, key] = _checked_flags(where, flags)
  return found


def _check_task(where: str, task: Task) -> None:
  """Raises ValueError for numbers that a task can't have."""
  steps = task.num_env_steps
  for field, is_good, allowed in (
    (
      'num_env_steps',
      isinstance(steps, numbers.Integral) and 1 <= steps <= _MOST_STEPS,
      f'whole numbers from 1 to {_MOST_STEPS}',
    ),
    ('chance', _is_number(task.chance, 1), '0 to 1'),
    (
      'core_minutes',
      _is_number(task.core_minutes, _MOST_MINUTES),
      f'0 to {_MOST_MINUTES}',
    ),
  ):
    if not is_good:
      value = getattr(task, field)
      raise ValueError(f'{where}: {field}={value!r}; allowed: {allowed}')


def _is_number(value: float, most: float) -> bool:
  return isinstance(value, numbers.Real) and 0 <= value <= most


def _checked_flags(where: str, flags: Iterable[str]) -> tuple[str, ...]:
  """Returns flags as a tuple.

  Raises:
    ValueError: a study may not set them, or they are not a list of flags.
  """
  if isinstance(flags, str) or not isinstance(flags, Iterable):
    raise ValueError(
      f'{where}: flags={flags!r} is not a list of flags; give a tuple of them'
    )
  found = tuple(map(str, flags))  # Iterators can be read only once.
  for flag in found:
    if not flag.startswith('--') or flag[2:].partition('=')[0] in _TAKEN_FLAGS:
      raise ValueError(
        f'{where}: {flag!r} is not a flag that a study may give; allowed: '
        f'those of launch.main except {", ".join(_TAKEN_FLAGS)}'
      )
  return found


def find(name: str | None) -> Study:
  """Returns a study.

  Raises:
    ValueError: there is no study of that name.
  """
  if name is None:
    raise ValueError(f'give --study, one of {", ".join(STUDIES.names())}')
  return STUDIES.get(name)


def list_runs(
  study: Study,
  seeds: Sequence[int],
  tasks: Sequence[str] = (),
  methods: Sequence[str] = (),
) -> list[Run]:
  """Returns the runs of a study, in order.

  Args:
    study: the study.
    seeds: seeds for each task and method.
    tasks: names of the tasks to keep; empty for all.
    methods: names of the methods to keep; empty for all.

  Raises:
    ValueError: the study does not have a task or a method, or never combines
      them.
  """
  for what, given, known in (
    ('task', tasks, [task.name for task in study.tasks]),
    ('method', methods, study.methods),
  ):
    for name in given:
      if name not in known:
        raise ValueError(overrides.unknown(what, name, known))
  runs = [
    run
    for run in _all_runs(study, seeds)
    if (not tasks or run.task.name in tasks)
    and (not methods or run.method in methods)
  ]
  if not runs:
    raise ValueError(
      f'study {study.name} has no run with these tasks and methods; give '
      'fewer of --tasks and --methods'
    )
  return runs


def _all_runs(study: Study, seeds: Sequence[int]) -> Iterator[Run]:
  for stage in study.stages:
    for seed in seeds:
      for task, methods in stage:
        for method in methods:
          own = study.own_methods[method] if study.own_methods else None
          yield Run(task, method, seed, own)


def parse_seeds(text: str) -> tuple[int, ...]:
  """Returns the seeds of a list like '100-104,110', each once, in order.

  Raises:
    ValueError: it is not such a list, has a seed below FIRST_SEED or above
      config.MAX_SEED, or more than 1000 seeds.
  """
  seeds: dict[int, None] = {}
  for part in text.split(','):
    match = re.fullmatch(_RANGE, part.strip(), re.ASCII)
    if not match:
      raise ValueError(
        f'seeds={text!r} is not a list of seeds; give one like 100-104 or '
        '100,102'
      )
    first, last = int(match[1]), int(match[2] or match[1])
    if first > last:
      raise ValueError(
        f'seeds={text!r} has a range that runs backwards; give the smaller '
        f'one first, like {last}-{first}'
      )
    if first < FIRST_SEED:
      raise ValueError(
        f'seeds={text!r} has a seed below {FIRST_SEED}, which may have been '
        f'used to choose a preset; give {FIRST_SEED} or more'
      )
    if last > config.MAX_SEED:
      raise ValueError(
        f'seeds={text!r} has a seed above {config.MAX_SEED}; give a smaller one'
      )
    # Not even made where it is too long.
    seeds |= dict.fromkeys(range(first, min(last, first + _MOST_SEEDS) + 1))
    if len(seeds) > _MOST_SEEDS:
      raise ValueError(
        f'seeds={text!r} has too many seeds; give at most {_MOST_SEEDS}'
      )
  return tuple(seeds)


def parse_shard(text: str) -> tuple[int, int]:
  """Returns the part, from 1, and the number of parts in a text like '1/4'.

  Raises:
    ValueError: it is not such a text, or there is no such part.
  """
  match = re.fullmatch(_PART, text.strip(), re.ASCII)
  if not match:
    raise ValueError(f'shard={text!r} is not a part; give one like 1/4')
  index, count = int(match[1]), int(match[2])
  if not 1 <= index <= count:
    raise ValueError(
      f'shard={text!r} does not exist; allowed: 1/{max(count, 1)} to '
      f'{max(count, 1)}/{max(count, 1)}'
    )
  return index, count


def take_shard(runs: Sequence[Run], index: int, count: int) -> list[Run]:
  """Returns part `index`, from 1, of `count` parts of about equal length.

  Each part has one of `count` consecutive runs, at a place that rotates. If it
  did not rotate, a machine would train only one method when there are as many
  methods as parts.
  """
  return [
    run for i, run in enumerate(runs) if (i + i // count) % count == index - 1
  ]
