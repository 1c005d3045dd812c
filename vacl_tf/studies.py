# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Studies as data: which runs, with which flags, and in which order."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vacl_tf import overrides
from vacl_tf import study_methods
from vacl_tf import study_tasks

# Whoever changes a rule of the protocol raises it: reports made under another
# one are not mixed with new ones.
PROTOCOL = 2
Task = study_tasks.Task
BASELINE = study_methods.BASELINE
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


class Run(NamedTuple):
  """One training run."""

  task: Task
  method: str
  seed: int

  @property
  def name(self) -> str:
    """Where it lies in the folder of all runs."""
    return f'{self.task.name}/{self.method}/seed{self.seed}'

  @property
  def flags(self) -> tuple[str, ...]:
    """Flags of `launch.main`, but for the folder."""
    return (
      *self.task.flags,
      f'--num_env_steps={self.task.num_env_steps}',
      *study_methods.flags(self.method, self.task.name),
      f'--seed={self.seed}',
    )


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


_CURRICULA = (BASELINE, 'vacl_paper', 'uniform')
_LEFT_OUT = (
  'no_frame',
  'one_hop',
  'all_noisy',
  'gradient_norm_20',
  'with_decay',
)
_OF_PAPER_ANYWHERE = (
  BASELINE,
  'uniform',
  'rcg_code',
  'rcg_original',
  'goal_gan',
)
# Tasks of Speaker-Listener don't say which entities have to be where.
_OF_PAPER = (*_OF_PAPER_ANYWHERE, 'amigo')
_MODERN_ANYWHERE = (BASELINE, 'accel', 'sfl', 'currot', 'alp_gmm', 'vds')
_MODERN = (*_MODERN_ANYWHERE, 'hindsight')
_PURE = ('plr', 'sfl_pure', 'hindsight_pure', 'goal_gan_code', 'amigo_pure')
_EXPANSION = (
  BASELINE,
  'no_stein',
  'attractive',
  'joint_kernel',
  'no_noise',
  'capacity_200',
  'capacity_4000',
  'fifo',
  'seeds_active',
  'seeds_any',
  'seeds_tested',
  'proportional',
  'value_weighted',
  'no_rejection',
)
_EXPANSION_HARD = (
  BASELINE,
  'no_stein',
  'no_rejection',
  'no_noise',
  'fifo',
  'seeds_active',
)
# Not in the paper: width of the noise, threshold, episodes per score.
_CONSTANTS = (
  'narrow_noise',
  'narrow_noise_all',
  'dropped_value_025',
  'dropped_value_075',
  'three_rollouts',
)
_POPULATION = (
  BASELINE,
  'vacl_direct',
  'vacl_hard_switch',
  'vacl_hard_switch_norm_20',
  'vacl_reset_optimizer',
  'vacl_one_by_one',
  'rcg_growing',
  'accel_growing',
)

_LIST = (
  Study(
    name='factorial',
    about='Curricula with one learner, at a constant rate, and the preset '
    'without one thing at a time.',
    stages=(
      (
        (study_tasks.SIMPLE_SPREAD, _CURRICULA),
        (study_tasks.PUSH_BALL, _CURRICULA),
      ),
      (
        (study_tasks.SIMPLE_SPREAD, _LEFT_OUT),
        (study_tasks.PUSH_BALL, _LEFT_OUT),
      ),
      (
        # Its preset draws no target tasks: none to leave out.
        (study_tasks.SPEAKER_LISTENER, _CURRICULA),
        (study_tasks.HARD_SPREAD, (*_CURRICULA, 'vacl_no_target')),
      ),
    ),
  ),
  Study(
    name='main',
    about='VACL and the baselines of the paper (figures 4, 8 and 10), with one '
    'learner, at a constant rate.',
    stages=(
      (
        (study_tasks.SIMPLE_SPREAD, _OF_PAPER),
        (study_tasks.PUSH_BALL, _OF_PAPER),
      ),
      (
        (study_tasks.SPEAKER_LISTENER, _OF_PAPER_ANYWHERE),
        (study_tasks.SIMPLE_SPREAD_8, (*_OF_PAPER, 'pc_unif')),
        (study_tasks.HARD_SPREAD, _OF_PAPER),
      ),
      ((study_tasks.PUSH_BALL_4, (*_OF_PAPER, 'pc_unif')),),
    ),
  ),
  Study(
    name='modern',
    about='VACL and automatic curricula of other fields, with one learner, at '
    'a constant rate.',
    stages=(
      ((study_tasks.SIMPLE_SPREAD, _MODERN), (study_tasks.PUSH_BALL, _MODERN)),
      (
        (study_tasks.SPEAKER_LISTENER, _MODERN_ANYWHERE),
        (study_tasks.HARD_SPREAD, (BASELINE, 'accel', 'sfl', 'currot')),
      ),
      ((study_tasks.SIMPLE_SPREAD, _PURE), (study_tasks.PUSH_BALL, _PURE)),
    ),
  ),
  Study(
    name='claims',
    about='What the paper says of the parts of task expansion (figures 5, 9 '
    'and 12, table 2), with one learner, at a constant rate.',
    stages=(
      (
        (study_tasks.SIMPLE_SPREAD, _EXPANSION),
        (study_tasks.PUSH_BALL, _EXPANSION),
      ),
      ((study_tasks.HARD_SPREAD, _EXPANSION_HARD),),
      ((study_tasks.SIMPLE_SPREAD, _CONSTANTS),),
    ),
  ),
  Study(
    name='population',
    about='From few entities to many, and from the start with all.',
    stages=(((study_tasks.SIMPLE_SPREAD_8, _POPULATION),),),
  ),
  Study(
    name='hide_and_seek',
    about='VACL and others on MuJoCo, with one learner, at a constant rate '
    '(table 3), and on a smaller floor.',
    stages=(
      ((study_tasks.RAMP_USE, (BASELINE, 'uniform', 'rcg_code', 'accel')),),
      (
        (study_tasks.LOCK_AND_RETURN_6, (BASELINE, 'rcg_code')),
        (study_tasks.LOCK_AND_RETURN, (BASELINE, 'rcg_code')),
      ),
    ),
  ),
  Study(
    name='massive',
    about='Many agents (table 1), and what a wider radius of landmarks is '
    'worth.',
    stages=(
      (
        (study_tasks.SIMPLE_SPREAD_24, (BASELINE,)),
        (study_tasks.SIMPLE_SPREAD_24_WIDE, (BASELINE,)),
      ),
    ),
  ),
  Study(
    name='paper',
    about='The preset paper as published, with its own learner.',
    stages=(((study_tasks.SIMPLE_SPREAD_LONG, ('preset_paper',)),),),
  ),
  Study(
    name='trial',
    about='A few minutes, to see that everything works.',
    stages=(((study_tasks.TRIAL, (BASELINE, 'uniform')),),),
  ),
)
STUDIES = {study.name: study for study in _LIST}


def find(name: str | None) -> Study:
  """Returns a study.

  Raises:
    ValueError: there is none of that name.
  """
  if name is None:
    raise ValueError(f'give --study, one of {", ".join(STUDIES)}')
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
