# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The benchmark of curricula: everything that a submission can't choose.

The constants are those of the presets at the time when the version was made.
They are written out, so that later changes of a preset change no result. Every
change in this file needs a new VERSION.
"""

from collections.abc import Mapping
from typing import Any

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import studies

VERSION = 2
SEEDS = (100, 101, 102, 103, 104)
SMOKE_SEEDS = SEEDS[:1]
TOLERANCE = 0.02  # Allowed difference of a seed's scores between kinds of CPU.

_SMOKE_STEPS = 800_000

# Constants of all tasks, by dotted name of the config field.
_COMMON: Mapping[str, Any] = {
  'environment.horizon': 70,
  'environment.easy_side': 0.0,
  'agent.hidden_size': 64,
  'agent.activation': 'relu',
  'agent.attention_gain': 0.125,
  'agent.observation_frame': 'egocentric',
  'agent.num_hops': 2,
  'agent.num_relations': 0,
  'ppo.learning_rate': 7e-4,
  'ppo.decay_start_steps': 0,
  'ppo.decay_start_coverage': 0.5,
  'ppo.decay_power': 0.5,
  'ppo.average_share': 0.05,
  'ppo.adam_epsilon': 1e-5,
  'ppo.discount': 0.99,
  'ppo.gae_lambda': 0.95,
  'ppo.clip': 0.2,
  'ppo.value_clip': 0.2,
  'ppo.huber_delta': 10.0,
  'ppo.center_rewards': False,
  'ppo.advantage_std_floor': 0.0,
  'ppo.entropy_cost': 0.02,
  'ppo.value_cost': 1.0,
  'ppo.num_epochs': 1,
  'ppo.num_minibatches': 5,
  'ppo.max_minibatch': 0,
  'ppo.gradient_scale': 1.0,
  'ppo.max_gradient_norm': 1.0,
  'ppo.normalize_value': True,
  'ppo.value_decay': 0.9,
  'ppo.microbatch_vectors': 8000,
  'progression.transition': 'mix',
  'progression.switch_coverage': 0.9,
  'progression.latest_switch': 0,
  'progression.mixing_step': 0.1,
  'progression.mixing_interval': 30,
  'progression.mixing': 'agents',
  'progression.reset_optimizer': False,
  'training.num_tasks': 120,
  'training.num_rollouts': 1,
  'training.num_evaluation_tasks': 500,
  'training.checks_tasks': True,
  'training.gives_target': True,
}
_LENGTH: Mapping[str, Any] = {
  'stop_at_coverage': 0.0,
  'evaluation_interval': 10,
  'checkpoint_interval': 20,
  'num_checkpoints': 3,
}
# Constants of curricula that edit tasks, the same for all of them.
_EDITING: Mapping[str, Any] = {
  'num_easy_tasks': 500,
  'noise': 2.0,
  'noise_probability': 0.25,
}

# Constants of tasks in which landmarks are covered.
_COVER: Mapping[str, Any] = {'environment.cover_radius': 0.0}

# By task, the differences from _COMMON.
LEARNERS: Mapping[str, Mapping[str, Any]] = {
  'spread_4': _COVER,
  'spread_8': _COVER,
  'spread_4_to_8': _COVER,
  'push_ball_2': {
    **_COVER,
    'environment.horizon': 120,
    'ppo.entropy_cost': 0.01,
  },
  'speaker_listener': {
    'agent.observation_frame': 'world',
    'agent.num_hops': 1,
    'ppo.decay_start_coverage': 0.0,
    'ppo.decay_power': 1.0,
    'ppo.average_share': 0.0,
    'ppo.entropy_cost': 0.01,
    'ppo.num_minibatches': 14,
    'ppo.max_gradient_norm': 20.0,
    'training.num_tasks': 250,
  },
  'hard_spread_4': {**_COVER, 'training.gives_target': False},
  'spread_4_wide_4': _COVER,
  'spread_4_wide_5': _COVER,
}
# By task, the differences from _EDITING.
_EDITING_FOR: Mapping[str, Mapping[str, Any]] = {
  'push_ball_2': {'noise_probability': 0.125},
  'speaker_listener': {'noise': 0.2, 'noise_probability': 1.0},
  'hard_spread_4': {'noise': 5.0},
}


def _task(
  name: str,
  world: tuple[str, ...],
  million_steps: int,
  chance: float,
  core_minutes: float,
  path: str = '',
) -> studies.Task:
  """Returns a task with all flags that a submission can't choose.

  Args:
    name: name of the task.
    world: flags for the world and its size.
    million_steps: the budget.
    chance: see `studies.Task`.
    core_minutes: planned core-minutes of a run.
    path: path of entity counts; empty for all entities from the start.
  """
  pinned = {**_COMMON, **LEARNERS[name]}
  flags = (
    *world,
    '--preset=default',
    '--agent=attention',
    f'--entity_counts={path}',
    *(f'--{key}={_spelled(x)}' for key, x in _LENGTH.items()),
    *(f'--config.{key}={_spelled(x)}' for key, x in pinned.items()),
  )
  steps = 1_000_000 * million_steps
  return studies.Task(name, flags, steps, chance, core_minutes)


def _spelled(value: Any) -> str:
  return str(value).lower() if isinstance(value, bool) else str(value)


_SPREAD = ('--env=simple_spread', '--num_agents=4')
_WIDTH = '--config.environment.half_width='
_DEFAULT_WIDTH = _WIDTH + '3.0'

# Budgets are about twice the steps that task expansion takes to a coverage of
# 0.9, so that a full submission takes less than four hours on two cores. The
# last two tasks are the first one, made harder by a larger half-width of the
# room.
TASKS = (
  _task('spread_4', (*_SPREAD, _DEFAULT_WIDTH), 2, 0.02, 2.5),
  _task(
    'spread_8',
    ('--env=simple_spread', '--num_agents=8', _DEFAULT_WIDTH),
    *(3, 0.02, 7.0),
  ),
  _task(
    'spread_4_to_8',
    ('--env=simple_spread', '--num_agents=8', _DEFAULT_WIDTH),
    *(3, 0.02, 7.0),
    path='4,8',
  ),
  _task('push_ball_2', ('--env=push_ball', '--num_agents=2'), 4, 0.07, 4.0),
  _task(
    'speaker_listener',
    ('--env=speaker_listener', '--num_agents=2'),
    *(8, 0.2, 6.0),
  ),
  _task('hard_spread_4', ('--env=hard_spread', '--num_agents=4'), 6, 0.02, 9.0),
  _task('spread_4_wide_4', (*_SPREAD, _WIDTH + '4.0'), 3, 0.02, 3.5),
  _task('spread_4_wide_5', (*_SPREAD, _WIDTH + '5.0'), 3, 0.02, 3.5),
)
# These runs are too short to tell whether they are at chance.
SMOKE_TASKS = tuple(
  task._replace(num_env_steps=_SMOKE_STEPS, chance=0.0, core_minutes=1.5)
  for task in TASKS
  if task.name in ('spread_4', 'push_ball_2')
)


class Run(studies.Run):
  """One training run of a submission; its method is a curriculum."""

  @property
  def name(self) -> str:
    """Path in the folder of a submission."""
    return f'{self.task.name}/seed{self.seed}'

  @property
  def flags(self) -> tuple[str, ...]:
    """Flags of `launch.main`, except for the folder and imports."""
    own = {}
    if issubclass(
      catalog.CURRICULA.get(self.method).config, config.EditingConfig
    ):
      own = {**_EDITING, **_EDITING_FOR.get(self.task.name, {})}
    return (
      *self.task.flags,
      f'--num_env_steps={self.task.num_env_steps}',
      f'--curriculum={self.method}',
      *(f'--config.curriculum.{key}={x}' for key, x in own.items()),
      f'--seed={self.seed}',
    )


def tasks(is_smoke: bool) -> tuple[studies.Task, ...]:
  """Returns the tasks of a submission."""
  return SMOKE_TASKS if is_smoke else TASKS


def seeds(is_smoke: bool) -> tuple[int, ...]:
  """Returns the seeds of each task."""
  return SMOKE_SEEDS if is_smoke else SEEDS


def list_runs(curriculum: str, is_smoke: bool) -> list[Run]:
  """Returns the runs of a submission, seed by seed.

  Args:
    curriculum: name of a registered curriculum.
    is_smoke: whether it is the short submission, which shows that everything
      works.
  """
  return [
    Run(task, curriculum, seed)
    for seed in seeds(is_smoke)
    for task in tasks(is_smoke)
  ]
