# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Studies as data: which runs, with which flags, and in which order."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vacl_tf import overrides

# Whoever changes a rule of the protocol raises it: reports made under another
# one are not mixed with new ones.
PROTOCOL = 1
BASELINE = 'vacl_default'  # The method that all others are compared with.
FIRST_SEED = 100  # Smaller ones were used to choose presets.
LEVEL = 0.9  # Of coverage; the steps until then are a score.

# What each run is judged by, once it is trained.
EVALUATION_TASKS = 2000
EVALUATION_SEED = 1000
EVALUATION_FLAGS = (
  f'--num_tasks={EVALUATION_TASKS}',
  f'--seed={EVALUATION_SEED}',
  '--json',
)


class Task(NamedTuple):
  """What is to be mastered.

  Attributes:
    name: of its folder.
    flags: of `launch.main`.
    num_env_steps: the budget of a run.
    chance: coverage that an untrained policy may have. A run below it at half
      of its budget ends there.
    core_minutes: that a run is planned to take.
  """

  name: str
  flags: tuple[str, ...]
  num_env_steps: int
  chance: float
  core_minutes: float


class Run(NamedTuple):
  """One training run."""

  task: Task
  method: str
  seed: int

  @property
  def name(self) -> str:
    """Where it lies in the folder of its study."""
    return f'{self.task.name}/{self.method}/seed{self.seed}'

  @property
  def flags(self) -> tuple[str, ...]:
    """Flags of `launch.main`, but for the folder."""
    return (*flags(self.task, self.method), f'--seed={self.seed}')


# Runs of a stage are made seed by seed, in the order of its tasks and methods.
Stage = tuple[tuple[Task, tuple[str, ...]], ...]


class Study(NamedTuple):
  """An ordered list of runs, the most informative ones first."""

  name: str
  about: str
  stages: tuple[Stage, ...]

  @property
  def tasks(self) -> tuple[Task, ...]:
    """All tasks, each once."""
    return tuple(dict.fromkeys(task for s in self.stages for task, _ in s))

  @property
  def methods(self) -> tuple[str, ...]:
    """All methods, each once."""
    found = [x for s in self.stages for _, methods in s for x in methods]
    return tuple(dict.fromkeys(found))


def _fields(**values: float | str) -> tuple[str, ...]:
  """Returns flags that set fields of the curriculum."""
  return tuple(f'--config.curriculum.{k}={v}' for k, v in values.items())


# Names and values of config fields are here and nowhere else in this file.
_CONSTANT_RATE = ('--config.ppo.decay_start_steps=0',)
_METHODS = {
  BASELINE: (),
  # The curriculum of the preset `paper`, which the test compares it with.
  'vacl_paper': _fields(
    num_children=150,
    max_children_per_seed=0,
    step_size=0.6,
    noise=0.6,
    noise_probability=1.0,
    target_share=0.0,
    seed_choice='first',
  ),
  'uniform': ('--curriculum=uniform',),
  'vacl_no_target': _fields(target_share=0.0),
  # Each leaves out one thing that the preset `default` adds.
  'no_frame': ('--config.agent.observation_frame=world',),
  'one_hop': ('--config.agent.num_hops=1',),
  'all_noisy': _fields(noise_probability=1.0),
  'gradient_norm_20': ('--config.ppo.max_gradient_norm=20.0',),
  'with_decay': (),
}
_KEEPS_DECAY = ('with_decay',)
# By method and task; of a flag given twice the last one counts.
_METHODS_FOR = {
  ('vacl_paper', 'push_ball_n2'): _fields(step_size=0.4, noise=0.4),
  ('vacl_paper', 'hard_spread_n4'): _fields(num_children=300, bandwidth=1000.0),
  ('vacl_paper', 'speaker_listener'): _fields(
    num_easy_tasks=1000, num_children=30, step_size=0.05, noise=0.05
  ),
}

# Minutes of the first two are from runs on one core of an AMD EPYC (Zen 4),
# those of the others from their speed relative to these on two cores.
_SIMPLE_SPREAD = Task(
  name='simple_spread_n4',
  flags=('--env=simple_spread', '--num_agents=4'),
  num_env_steps=3_000_000,
  chance=0.02,
  core_minutes=3.2,
)
_PUSH_BALL = Task(
  name='push_ball_n2',
  flags=('--env=push_ball', '--num_agents=2'),
  num_env_steps=6_000_000,
  chance=0.07,
  core_minutes=3.5,
)
_SPEAKER_LISTENER = Task(
  name='speaker_listener',
  flags=('--env=speaker_listener',),
  num_env_steps=10_000_000,
  chance=0.2,
  core_minutes=6.0,
)
_HARD_SPREAD = Task(
  name='hard_spread_n4',
  flags=('--env=hard_spread', '--num_agents=4'),
  num_env_steps=10_000_000,
  chance=0.02,
  core_minutes=12.0,
)

_CURRICULA = (BASELINE, 'vacl_paper', 'uniform')
_LEFT_OUT = (
  'no_frame',
  'one_hop',
  'all_noisy',
  'gradient_norm_20',
  'with_decay',
)

STUDIES = {
  study.name: study
  for study in (
    Study(
      name='factorial',
      about='Curricula with one learner, at a constant rate, and the preset '
      'without one thing at a time.',
      stages=(
        ((_SIMPLE_SPREAD, _CURRICULA), (_PUSH_BALL, _CURRICULA)),
        ((_SIMPLE_SPREAD, _LEFT_OUT), (_PUSH_BALL, _LEFT_OUT)),
        (
          # Its preset draws no target tasks: none to leave out.
          (_SPEAKER_LISTENER, _CURRICULA),
          (_HARD_SPREAD, (*_CURRICULA, 'vacl_no_target')),
        ),
      ),
    ),
    Study(
      name='trial',
      about='A few minutes, to see that everything works.',
      stages=(
        (
          (
            _SIMPLE_SPREAD._replace(num_env_steps=300_000, core_minutes=0.6),
            (BASELINE, 'uniform'),
          ),
        ),
      ),
    ),
  )
}


def flags(task: Task, method: str) -> tuple[str, ...]:
  """Returns the flags of `launch.main` that are the same for every seed."""
  rate = () if method in _KEEPS_DECAY else _CONSTANT_RATE
  own = _METHODS[method] + _METHODS_FOR.get((method, task.name), ())
  budget = f'--num_env_steps={task.num_env_steps}'
  return (*task.flags, budget, *rate, *own)


def find(name: str | None) -> Study:
  """Returns a study.

  Raises:
    ValueError: there is none of that name.
  """
  if name not in STUDIES:
    raise ValueError(overrides.unknown('study', name, STUDIES))
  return STUDIES[name]


def list_runs(
  study: Study,
  seeds: Sequence[int],
  tasks: Sequence[str] = (),
  methods: Sequence[str] = (),
) -> list[Run]:
  """Returns the runs of a study in their order.

  Args:
    study: which one.
    seeds: of each task and method.
    tasks: to keep; empty for all.
    methods: to keep; empty for all.

  Raises:
    ValueError: a task or a method is none of the study, or both never meet.
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
        yield from (Run(task, method, seed) for method in methods)


def parse_seeds(text: str) -> tuple[int, ...]:
  """Returns the seeds of a list like '100-104,110', each once, in order.

  Raises:
    ValueError: it is no such list, or has a seed below FIRST_SEED.
  """
  seeds = []
  for part in text.split(','):
    match = re.fullmatch(r'(\d+)(?:-(\d+))?', part.strip(), re.ASCII)
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
        f'seeds={text!r} has one below {FIRST_SEED}, which may have been used '
        f'to choose a preset; give {FIRST_SEED} or more'
      )
    if last - first >= 1000:
      raise ValueError(f'seeds={text!r} has too many; give at most 1000')
    seeds += range(first, last + 1)
  return tuple(dict.fromkeys(seeds))


def parse_shard(text: str) -> tuple[int, int]:
  """Returns which part, from 1, and of how many, of a text like '1/4'.

  Raises:
    ValueError: it is none, or there is no such part.
  """
  match = re.fullmatch(r'(\d+)/(\d+)', text.strip(), re.ASCII)
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

  Of `count` runs in a row each part has one, not always the same: else a
  machine would have one method alone where there are as many as parts.
  """
  return [
    run for i, run in enumerate(runs) if (i + i // count) % count == index - 1
  ]
