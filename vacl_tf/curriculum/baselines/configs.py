# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Constants of the curricula that VACL is compared with."""

import dataclasses
from typing import Annotated, Literal

from vacl_tf import config


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReverseConfig(config.EditingConfig):
  """Reverse curriculum generation (a baseline of the paper).

  The authors of VACL perturb all entities, by up to 0.6 in Simple-Spread, 0.4
  in Push-Ball and 0.1 in Speaker-Listener.

  Attributes:
    capacity: capacity of the pool, in tasks. The pool starts with easy tasks;
      when it is full, the oldest tasks leave.
    new_share: share of a batch that consists of children of seeds.
    score: score that decides which tasks become seeds: the value (released
      code), or the share of episodes that succeed (Florensa et al.).
    least: smallest score of a seed.
    most: largest score of a seed.
    pool_distance: Euclidean distance from every task in the pool, in units of
      phi, that a seed must exceed to join the pool; 0: all seeds join it, again
      and again.
    falls_back: whether the curriculum falls back after a batch without any
      seed: on children of the pool if most tasks of the batch were too hard,
      and otherwise on children of its own tasks with ten times the noise. If
      not, it plays tasks of the pool.
  """

  name: str = 'rcg'
  capacity: Annotated[int, config.Range(1, 20_000)] = 2000
  new_share: Annotated[float, config.Range(0.0, 1.0)] = 0.7
  score: Literal['value', 'success'] = 'value'
  least: Annotated[float, config.Range(0.0, 1.0)] = 0.5
  most: Annotated[float, config.Range(0.0, 1.0)] = 0.95
  pool_distance: Annotated[float, config.Range(0.0, config.MANY)] = 0.0
  falls_back: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class AccelConfig(config.EditingConfig):
  """ACCEL: prioritised level replay (PLR) that edits the tasks it replays.

  Attributes:
    knows_easy: whether the curriculum is given easy tasks. If so, the buffer
      starts with some of them, and half of the new tasks are easy. If not, all
      new tasks are target tasks, and num_easy_tasks has no effect.
    capacity: capacity of the buffer, in tasks (Lambda).
    replay_probability: share of replayed tasks among replayed and new tasks.
    edited_share: share of the replayed tasks that are edited; their edits are
      played in the next iteration. 0 is plain PLR. The authors of ACCEL edit
      all replayed tasks or the few simplest.
    train_on_new: whether new and edited tasks are part of the batch and trained
      on. If not, they are played beside the batch (robust PLR), and their steps
      count.
    score: estimate of what the policy may still gain from a task: the positive
      value loss, the critic's best target so far minus its mean value (MaxMC),
      or p (1 - p) with a running mean p of success that starts at 0.5.
    temperature: temperature of the replay by rank of the score (beta).
    stale_share: share of the replayed tasks that are chosen by the time since
      they were last played (rho).
    least_filled: share of the buffer that must be filled before any task is
      replayed.
  """

  name: str = 'accel'
  knows_easy: bool = True
  capacity: Annotated[int, config.Range(1, 20_000)] = 2000
  replay_probability: Annotated[float, config.Range(0.1, 1.0)] = 0.8
  edited_share: Annotated[float, config.Range(0.0, 1.0)] = 0.5
  train_on_new: bool = False
  score: Literal['pvl', 'maxmc', 'learnability'] = 'pvl'
  temperature: Annotated[float, config.Range(0.01, 100.0)] = 0.3
  stale_share: Annotated[float, config.Range(0.0, 1.0)] = 0.3
  least_filled: Annotated[float, config.Range(0.0, 1.0)] = 0.5


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlrConfig(AccelConfig):
  """Robust prioritised level replay (PLR): ACCEL without edits."""

  name: str = 'plr'
  replay_probability: Annotated[float, config.Range(0.1, 1.0)] = 0.5
  edited_share: Annotated[float, config.Range(0.0, 1.0)] = 0.0
  score: Literal['pvl', 'maxmc', 'learnability'] = 'maxmc'
  temperature: Annotated[float, config.Range(0.01, 100.0)] = 0.1


@dataclasses.dataclass(frozen=True, kw_only=True)
class SflConfig(config.EditingConfig):
  """Sampling for learnability (SFL).

  Attributes:
    knows_easy: whether the curriculum is given easy tasks. If so, new tasks are
      target tasks, easy tasks and edits, a third each. If not, all new tasks
      are target tasks, and num_easy_tasks, noise and noise_probability have no
      effect.
    num_easy_tasks: solved tasks that are kept to be edited; at first these are
      easy tasks.
    num_candidates: candidates that are compared to find the learnable tasks
      (N).
    num_episodes: episodes played on each candidate (k). If an iteration has
      fewer tasks, no candidate is ever played.
    num_kept: candidates that are kept (K).
    kept_share: share of a batch that is drawn from the kept candidates (rho).
    refresh_interval: smallest number of iterations in which all candidates are
      played (T).
  """

  name: str = 'sfl'
  knows_easy: bool = True
  num_candidates: Annotated[int, config.Range(1, 20_000)] = 300
  num_episodes: Annotated[int, config.Range(2, 1000)] = 4
  num_kept: Annotated[int, config.Range(1, 20_000)] = 60
  kept_share: Annotated[float, config.Range(0.0, 1.0)] = 0.5
  refresh_interval: Annotated[int, config.Range(1, 10_000)] = 20


@dataclasses.dataclass(frozen=True, kw_only=True)
class CurrotConfig(config.EditingConfig):
  """CURROT; num_easy_tasks is the number of its particles.

  Attributes:
    threshold: share of successes at which a task counts as mastered (delta).
    period: episodes between moves of the particles, rounded up to whole
      batches.
    num_candidates: candidate tasks around a particle to which it may move.
    history: latest tasks from which expected success is estimated.
  """

  name: str = 'currot'
  threshold: Annotated[float, config.Range(0.0, 1.0)] = 0.8
  period: Annotated[int, config.Range(1, 20_000)] = 500
  num_candidates: Annotated[int, config.Range(1, 1000)] = 20
  history: Annotated[int, config.Range(1, 20_000)] = 4000


@dataclasses.dataclass(frozen=True, kw_only=True)
class AlpGmmConfig(config.CurriculumConfig):
  """ALP-GMM.

  Attributes:
    knows_easy: whether the curriculum is given easy tasks.
    num_easy_tasks: easy tasks that the curriculum starts with if knows_easy is
      true.
    random_share: share of random tasks in a batch, drawn regardless of
      progress.
    num_components: Gaussians in the mixture. Each of their variances has 0.001
      added, in squared units of phi.
    fit_period: iterations between fits of the mixture.
    fit_steps: steps of expectation maximisation in a fit.
    fitted_tasks: latest tasks to which the mixture is fitted.
    history: latest tasks among which the nearest earlier task is found.
  """

  name: str = 'alp_gmm'
  knows_easy: bool = True
  num_easy_tasks: Annotated[int, config.Range(1, 20_000)] = 500
  random_share: Annotated[float, config.Range(0.0, 1.0)] = 0.2
  num_components: Annotated[int, config.Range(1, 1000)] = 10
  fit_period: Annotated[int, config.Range(1, 20_000)] = 10
  fit_steps: Annotated[int, config.Range(1, 1000)] = 20
  fitted_tasks: Annotated[int, config.Range(1, 20_000)] = 2000
  history: Annotated[int, config.Range(1, 20_000)] = 4000


@dataclasses.dataclass(frozen=True, kw_only=True)
class HindsightConfig(config.CurriculumConfig):
  """Target tasks mixed with hindsight tasks.

  Attributes:
    knows_easy: whether the curriculum is given easy tasks.
    share: share of hindsight tasks in a batch.
    capacity: capacity of the set of tasks to play again; when it is full, the
      oldest tasks leave.
    least: smallest value of a hindsight task that is played again.
    most: largest value of a hindsight task that is played again. Tasks with a
      larger value make no new hindsight tasks.
  """

  name: str = 'hindsight'
  knows_easy: bool = True
  share: Annotated[float, config.Range(0.0, 1.0)] = 0.5
  capacity: Annotated[int, config.Range(1, 20_000)] = 2000
  least: Annotated[float, config.Range(0.0, 1.0)] = 0.5
  most: Annotated[float, config.Range(0.0, 1.0)] = 0.95


@dataclasses.dataclass(frozen=True, kw_only=True)
class GoalGanConfig(config.CurriculumConfig):
  """GoalGAN (a baseline of the paper), with the noise of the original.

  Attributes:
    knows_easy: whether the curriculum is given easy tasks to replay. The
      networks are pretrained on easy tasks in any case.
    num_easy_tasks: easy tasks that the replay starts with.
    capacity: capacity of the replay, in tasks; when it is full, the oldest
      tasks leave. Neither source has a bound.
    least_distance: distance from every task in the replay, in units of phi,
      that a new task must exceed to join the replay.
    new_share: share of generated tasks in a batch.
    noise_dims: dimensions of the noise from which the generator makes a task.
    goal_noise: standard deviation of the noise on generated tasks, as a share
      of half the width of the map. The original uses 0.06 to 0.1.
    pretraining_steps: steps of each network on easy tasks before the first
      batch.
    steps_per_task: steps of each network per task in a batch. The authors of
      VACL make 300 in a round of two episodes with each of 500 tasks, that is
      0.3 times training.num_rollouts.
    score: score that decides whether a task is good: the value (authors of
      VACL), or the share of episodes that succeed (original), which needs
      several roll-outs.
    least: smallest score of a good task; the original uses 0.1.
    most: largest score of a good task; the original uses 0.9.
  """

  name: str = 'goal_gan'
  knows_easy: bool = True
  num_easy_tasks: Annotated[int, config.Range(1, 20_000)] = 500
  capacity: Annotated[int, config.Range(1, 20_000)] = 2000
  least_distance: Annotated[float, config.Range(0.0, config.MANY)] = 0.3
  new_share: Annotated[float, config.Range(0.0, 1.0)] = 0.67
  noise_dims: Annotated[int, config.Range(1, 1000)] = 4
  goal_noise: Annotated[float, config.Range(0.0, 10.0)] = 0.06
  pretraining_steps: Annotated[int, config.Range(1, 100_000)] = 300
  steps_per_task: Annotated[float, config.Range(0.0, 100.0)] = 0.3
  score: Literal['value', 'success'] = 'value'
  least: Annotated[float, config.Range(0.0, 1.0)] = 0.5
  most: Annotated[float, config.Range(0.0, 1.0)] = 0.95


@dataclasses.dataclass(frozen=True, kw_only=True)
class AmigoConfig(config.CurriculumConfig):
  """AMIGo (a baseline of the paper), which repairs the runs of VACL's authors.

  Attributes:
    knows_easy: whether the curriculum is given easy tasks. If so, the first
      batches are easy, and the teacher is pretrained on easy tasks. If not,
      num_easy_tasks and pretraining_steps have no effect.
    num_easy_tasks: easy tasks that are played before all others. The authors of
      VACL play one batch of 500.
    pretraining_steps: pretraining steps of the teacher's mean, before the first
      batch.
    target_share: share of target tasks in a batch.
    reward: reward of the teacher if its goals are reached, but not too soon
      (alpha).
    penalty: penalty of the teacher if its goals are reached too soon or never
      (beta).
    first_difficulty: initial value of t*. Goals earn the reward if they are
      reached after t* steps or later.
    most_difficulty: final value of t*, the steps after which reached goals earn
      the reward. If it is above the steps of an episode, no goal earns it.
    goals_per_rise: goals after which t*, the steps after which reached goals
      earn the reward, rises by one: ten batches of 150 in the original code.
    learning_rate: learning rate of Adam. The authors of VACL use 0.001, with
      which a pretrained teacher forgets; the original uses 0.002.
    entropy: weight of the teacher's entropy; the original uses 0.05.
  """

  name: str = 'amigo'
  knows_easy: bool = True
  num_easy_tasks: Annotated[int, config.Range(1, 20_000)] = 500
  pretraining_steps: Annotated[int, config.Range(1, 100_000)] = 1000
  target_share: Annotated[float, config.Range(0.0, 1.0)] = 0.5
  reward: Annotated[float, config.Range(0.0, 10.0)] = 0.7
  penalty: Annotated[float, config.Range(0.0, 10.0)] = 0.3
  first_difficulty: Annotated[int, config.Range(1, config.MANY)] = 7
  most_difficulty: Annotated[int, config.Range(1, config.MANY)] = 100
  goals_per_rise: Annotated[int, config.Range(1, config.MANY)] = 1500
  learning_rate: Annotated[float, config.Range(0.0, 1.0)] = 1e-4
  entropy: Annotated[float, config.Range(0.0, 10.0)] = 0.01


@dataclasses.dataclass(frozen=True, kw_only=True)
class VdsConfig(config.EditingConfig):
  """Value disagreement sampling.

  Attributes:
    knows_easy: whether candidates are target tasks, easy tasks and edits of
      recently played tasks, in equal parts. If not, all candidates are target
      tasks.
    num_candidates: candidate tasks from which a batch is drawn.
    num_members: regressions of the value whose disagreement is measured (K).
    window: latest tasks from which the regressions learn.
    num_epochs: passes over the window of latest tasks in an iteration.
    learning_rate: learning rate of Adam.
  """

  name: str = 'vds'
  knows_easy: bool = True
  num_candidates: Annotated[int, config.Range(3, 100_000)] = 1000
  num_members: Annotated[int, config.Range(2, 100)] = 3
  window: Annotated[int, config.Range(10, 20_000)] = 1000
  num_epochs: Annotated[int, config.Range(1, 1000)] = 4
  learning_rate: Annotated[float, config.Range(0.0, 1.0)] = 1e-3
