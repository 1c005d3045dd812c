# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The library's own studies, by figure and table of the paper, and beyond."""

from collections.abc import Mapping
from typing import NamedTuple

from vacl_tf import study_methods
from vacl_tf import study_tasks

# Runs of a stage are made seed by seed, in the order of its tasks and methods.
Stage = tuple[tuple[study_tasks.Task, tuple[str, ...]], ...]


class Study(NamedTuple):
  """An ordered list of runs, the most informative ones first.

  Attributes:
    name: name of the study.
    about: purpose of the study, in one sentence.
    stages: the runs of the study, stage by stage.
    own_methods: flags by method, in a user's study.
  """

  name: str
  about: str
  stages: tuple[Stage, ...]
  own_methods: Mapping[str, tuple[str, ...]] | None = None

  @property
  def tasks(self) -> tuple[study_tasks.Task, ...]:
    """All tasks, each once."""
    return tuple(dict.fromkeys(task for s in self.stages for task, _ in s))

  @property
  def methods(self) -> tuple[str, ...]:
    """All methods, each once."""
    found = [x for s in self.stages for _, methods in s for x in methods]
    return tuple(dict.fromkeys(found))

  @property
  def baseline(self) -> str:
    """The method that all others are compared with."""
    return self.methods[0]


_BASELINE = study_methods.BASELINE
_CURRICULA = (_BASELINE, 'vacl_paper', 'uniform')
_LEFT_OUT = (
  'no_frame',
  'one_hop',
  'all_noisy',
  'gradient_norm_20',
  'with_decay',
)
_OF_PAPER_ANYWHERE = (
  _BASELINE,
  'uniform',
  'rcg_code',
  'rcg_original',
  'goal_gan',
)
# AMIGo and hindsight (below) need tasks that say which entities have to be
# where; those of Speaker-Listener do not.
_OF_PAPER = (*_OF_PAPER_ANYWHERE, 'amigo')
_MODERN_ANYWHERE = (_BASELINE, 'accel', 'sfl', 'currot', 'alp_gmm', 'vds')
_MODERN = (*_MODERN_ANYWHERE, 'hindsight')
_PURE = ('plr', 'sfl_pure', 'hindsight_pure', 'goal_gan_code', 'amigo_pure')
_EXPANSION = (
  _BASELINE,
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
  _BASELINE,
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
  _BASELINE,
  'vacl_direct',
  'vacl_hard_switch',
  'vacl_hard_switch_norm_20',
  'vacl_reset_optimizer',
  'vacl_one_by_one',
  'rcg_growing',
  'accel_growing',
)
_ORDERS = (_BASELINE, 'vacl_agents_first', 'vacl_boxes_first')

ALL = (
  Study(
    name='factorial',
    about='Curricula with one learner, at a constant rate, the preset '
    'without one thing at a time, and curricula with the learner of the paper.',
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
        # No vacl_no_target, because the preset draws no target tasks.
        (study_tasks.SPEAKER_LISTENER, _CURRICULA),
        (study_tasks.HARD_SPREAD, (*_CURRICULA, 'vacl_no_target')),
      ),
      (
        (
          study_tasks.SIMPLE_SPREAD_5M,
          (_BASELINE, 'preset_paper', 'paper_learner', 'paper_learner_uniform'),
        ),
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
        (study_tasks.HARD_SPREAD, (_BASELINE, 'accel', 'sfl', 'currot')),
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
      (
        (study_tasks.SIMPLE_SPREAD, _CONSTANTS),
        (
          study_tasks.SPEAKER_LISTENER,
          (_BASELINE, 'no_stein', 'narrow_noise', 'narrow_noise_no_stein'),
        ),
      ),
    ),
  ),
  Study(
    name='population',
    about='From few entities to many, and from the start with all; agents '
    'first or boxes first (figure 7).',
    stages=(
      ((study_tasks.SIMPLE_SPREAD_8, _POPULATION),),
      (
        (
          study_tasks.PUSH_BALL_4,
          (_BASELINE, 'vacl_direct', 'rcg_growing', 'accel_growing'),
        ),
      ),
      ((study_tasks.LOCK_AND_RETURN_4, _ORDERS),),
    ),
  ),
  Study(
    name='hide_and_seek',
    about='VACL and others on MuJoCo, with one learner, at a constant rate '
    '(table 3), and on a smaller floor.',
    stages=(
      ((study_tasks.RAMP_USE, (_BASELINE, 'uniform', 'rcg_code', 'accel')),),
      (
        (study_tasks.LOCK_AND_RETURN_6, (_BASELINE, 'rcg_code')),
        (study_tasks.LOCK_AND_RETURN, (_BASELINE, 'rcg_code')),
      ),
    ),
  ),
  Study(
    name='massive',
    about='Many agents (table 1), and what a wider radius of landmarks is '
    'worth.',
    stages=(
      (
        (study_tasks.SIMPLE_SPREAD_24, (_BASELINE,)),
        (study_tasks.SIMPLE_SPREAD_24_WIDE, (_BASELINE,)),
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
    stages=(((study_tasks.TRIAL, (_BASELINE, 'uniform')),),),
  ),
)
