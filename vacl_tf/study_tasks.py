# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The tasks of studies: worlds, budgets and chance levels."""

from typing import NamedTuple


class Task(NamedTuple):
  """A task to train on, with its budget.

  Attributes:
    name: name of the task's folder.
    flags: flags of `launch.main`.
    num_env_steps: the budget of a run.
    chance: coverage that an untrained policy may have. A run below it at half
      of its budget ends there; with 0 no run does.
    core_minutes: planned core-minutes of a run; 0 if unknown.
  """

  name: str
  flags: tuple[str, ...]
  num_env_steps: int
  chance: float = 0.0
  core_minutes: float = 0.0


# The minutes of the first two tasks come from runs on one core of an AMD EPYC
# (Zen 4), those of the others from their speed relative to these two on two
# cores.
SIMPLE_SPREAD = Task(
  name='simple_spread_n4',
  flags=('--env=simple_spread', '--num_agents=4'),
  num_env_steps=3_000_000,
  chance=0.02,
  core_minutes=3.2,
)
PUSH_BALL = Task(
  name='push_ball_n2',
  flags=('--env=push_ball', '--num_agents=2'),
  num_env_steps=6_000_000,
  chance=0.07,
  core_minutes=3.5,
)
SPEAKER_LISTENER = Task(
  name='speaker_listener',
  flags=('--env=speaker_listener',),
  num_env_steps=10_000_000,
  chance=0.2,
  core_minutes=6.0,
)
# After the protocol was made, the preset was given more epochs.
HARD_SPREAD = Task(
  name='hard_spread_n4',
  flags=('--env=hard_spread', '--num_agents=4', '--config.ppo.num_epochs=1'),
  num_env_steps=10_000_000,
  chance=0.02,
  core_minutes=12.0,
)

# Methods with entity progression start from 4 and from 2 agents.
SIMPLE_SPREAD_8 = Task(
  name='simple_spread_n8',
  flags=('--env=simple_spread', '--num_agents=8'),
  num_env_steps=4_000_000,
  chance=0.02,
  core_minutes=10.0,
)
PUSH_BALL_4 = Task(
  name='push_ball_n4',
  flags=(
    '--env=push_ball',
    '--num_agents=4',
    # Both fields of the preset changed after the protocol was made.
    '--config.agent.num_relations=0',
    '--config.progression.transition=mix',
  ),
  num_env_steps=15_000_000,
  chance=0.08,
  core_minutes=35.0,
)

# The minutes of these tasks come from the runs in results/.
RAMP_USE = Task(
  name='ramp_use',
  flags=('--env=ramp_use',),
  num_env_steps=12_000_000,
  chance=0.01,
  core_minutes=60.0,
)
LOCK_AND_RETURN = Task(
  name='lock_and_return_12m',
  flags=('--env=lock_and_return', '--num_agents=2'),
  num_env_steps=20_000_000,
  chance=0.01,
  core_minutes=180.0,
)
LOCK_AND_RETURN_6 = LOCK_AND_RETURN._replace(
  name='lock_and_return_6m',
  flags=(*LOCK_AND_RETURN.flags, '--config.environment.floor_side=6.0'),
)
# Grows from two agents and two boxes, the order depends on the method.
LOCK_AND_RETURN_4 = LOCK_AND_RETURN._replace(
  name='lock_and_return_4x4',
  flags=('--env=lock_and_return', '--num_agents=4'),
  core_minutes=300.0,
)
# Methods with entity progression start from 4 agents. Untrained agents are near
# 0.05 of the landmarks by luck.
SIMPLE_SPREAD_24 = Task(
  name='simple_spread_n24',
  flags=('--env=simple_spread', '--num_agents=24'),
  num_env_steps=4_000_000,
  chance=0.08,
  core_minutes=40.0,
)
SIMPLE_SPREAD_24_WIDE = SIMPLE_SPREAD_24._replace(
  name='simple_spread_n24_wide',
  flags=(*SIMPLE_SPREAD_24.flags, '--config.environment.cover_radius=0.25'),
  chance=0.2,
)
# For the learner of the paper, which takes an hour for these steps.
SIMPLE_SPREAD_5M = SIMPLE_SPREAD._replace(
  name='simple_spread_n4_5m', num_env_steps=5_000_000, core_minutes=60.0
)
SIMPLE_SPREAD_LONG = SIMPLE_SPREAD._replace(
  name='simple_spread_n4_30m', num_env_steps=30_000_000, core_minutes=540.0
)
TRIAL = SIMPLE_SPREAD._replace(
  name='trial', num_env_steps=300_000, core_minutes=0.6
)
