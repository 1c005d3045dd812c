# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Constants of the curricula that VACL is compared with."""

import dataclasses
from typing import Annotated, Literal

from vacl_tf import config


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReverseConfig(config.EditingConfig):
  """Reverse curriculum generation (a baseline of the paper).

  VACL's authors perturb all entities, by up to 0.6 in Simple-Spread, 0.4 in
  Push-Ball and 0.1 in Speaker-Listener.

  Attributes:
    capacity: tasks in the pool, which begins with easy tasks, and of which the
      oldest leave.
    new_share: share of a batch that are children of seeds.
    score: what says how good a task is: the value (released code), or the share
      of episodes that succeed (Florensa et al.).
    least: score of a seed at least.
    most: score of a seed at most.
    pool_distance: Euclidean distance from all tasks of the pool that a task
      needs to be added, in units of phi; 0 adds all seeds, again and again.
    falls_back: whether a batch without any seed is followed by children of the
      pool if most of its tasks were too hard, or else by children of its own
      tasks with ten times the noise. Without it the pool is played.
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
  """ACCEL: prioritised level replay (PLR) that edits what it replays.

  Attributes:
    knows_easy: whether it is given easy tasks: the buffer begins with some, and
      half of the new tasks are easy. Otherwise new tasks are of the target
      distribution alone, and num_easy_tasks means nothing.
    capacity: tasks in the buffer (Lambda).
    replay_probability: share of replayed tasks among replayed and new ones.
    edited_share: share of the replayed tasks of which an edit is played in the
      next iteration; 0 is PLR alone. The authors of ACCEL edit all or the few
      simplest.
    train_on_new: whether new and edited tasks are trained on, as part of the
      batch. Otherwise they are played beside it (robust PLR), and their steps
      count.
    score: what the policy may still gain from a task: the positive value loss,
      the best target of the critic so far less its mean value (MaxMC), or
      p (1 - p) of a running mean p of success, which begins at 0.5.
    temperature: of replay by rank of score (beta).
    stale_share: share of the replayed tasks that are chosen by how long ago
      they were played (rho).
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
  """Robust prioritised level replay: as ACCEL, without edits."""

  name: str = 'plr'
  replay_probability: Annotated[float, config.Range(0.1, 1.0)] = 0.5
  edited_share: Annotated[float, config.Range(0.0, 1.0)] = 0.0
  score: Literal['pvl', 'maxmc', 'learnability'] = 'maxmc'
  temperature: Annotated[float, config.Range(0.01, 100.0)] = 0.1


@dataclasses.dataclass(frozen=True, kw_only=True)
class SflConfig(config.EditingConfig):
  """Sampling for learnability (SFL).

  Attributes:
    knows_easy: whether it is given easy tasks: new tasks are then of the target
      distribution, easy, or edits, a third each. Otherwise they are of the
      target distribution alone, and num_easy_tasks, noise and noise_probability
      mean nothing.
    num_easy_tasks: solved tasks that may be edited; in the beginning they are
      easy tasks.
    num_candidates: tasks that are compared to find the learnable ones (N).
    num_episodes: played of each candidate (k). If an iteration has fewer tasks,
      no candidate is ever played.
    num_kept: candidates that are kept (K).
    kept_share: share of a batch that is drawn from those (rho).
    refresh_interval: iterations in which all candidates are played, at least
      (T).
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
    threshold: share of successes from which on a task is mastered (delta).
    period: episodes between moves of the particles, rounded up to batches.
    num_candidates: tasks around a particle that it may move to.
    history: latest tasks that expected success is found from.
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
    knows_easy: whether it is given easy tasks.
    num_easy_tasks: easy tasks that it begins with then.
    random_share: share of a batch that does not follow progress.
    num_components: Gaussians of the mixture.
    fit_period: iterations between fits.
    fit_steps: of expectation maximisation.
    fitted_tasks: latest tasks that the mixture is fitted to.
    history: latest tasks among which the nearest earlier one is.
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
  """Target tasks, and hindsight tasks.

  Attributes:
    knows_easy: whether it is given easy tasks.
    share: of a batch that is hindsight tasks.
    capacity: of the set of tasks to play again, of which the oldest leave.
    least: value of a hindsight task that is played again, at least.
    most: the same, at most. Tasks with a larger value make no new ones.
  """

  name: str = 'hindsight'
  knows_easy: bool = True
  share: Annotated[float, config.Range(0.0, 1.0)] = 0.5
  capacity: Annotated[int, config.Range(1, 20_000)] = 2000
  least: Annotated[float, config.Range(0.0, 1.0)] = 0.5
  most: Annotated[float, config.Range(0.0, 1.0)] = 0.95


@dataclasses.dataclass(frozen=True, kw_only=True)
class GoalGanConfig(config.CurriculumConfig):
  """GoalGAN (a baseline of the paper), with the noise of its original.

  Attributes:
    knows_easy: whether it is given easy tasks to replay. Its networks are
      pretrained on easy tasks in any case.
    num_easy_tasks: easy tasks that the replay begins with.
    capacity: tasks in the replay, of which the oldest leave. Both sources know
      no bound.
    least_distance: of a new task in the replay from all others there, in units
      of phi.
    new_share: share of a batch that are generated.
    noise_dims: numbers that the generator makes a task of.
    goal_noise: standard deviation of the noise on generated tasks, as a share
      of half the width of the map. The original has 0.06 to 0.1.
    pretraining_steps: of each network, on easy tasks, before the first batch.
    steps_per_task: steps of each network per task of a batch. The authors of
      VACL make 300 in a round of two episodes with each of 500 tasks, that is
      0.3 times training.num_rollouts.
    score: what says how good a task is: the value (authors of VACL), or the
      share of episodes that succeed (original), which takes several roll-outs.
    least: score of a good task at least; the original has 0.1.
    most: score of a good task at most; the original has 0.9.
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
  """AMIGo (a baseline of the paper), with repairs of its authors' runs.

  Attributes:
    knows_easy: whether it is given easy tasks: the first batches are easy, and
      the teacher is pretrained on easy tasks. If not, num_easy_tasks and
      pretraining_steps mean nothing.
    num_easy_tasks: easy tasks that are played before all others. The authors of
      VACL have one batch of 500.
    pretraining_steps: of the teacher's mean, before the first batch.
    target_share: share of a batch that is tasks of the target distribution.
    reward: of the teacher, if its goals are reached, but not too soon (alpha).
    penalty: of the teacher, if not (beta).
    first_difficulty: steps that its goals must take at first (t*).
    most_difficulty: the same in the end. Above the steps of an episode no goal
      is paid for.
    goals_per_rise: goals after which t* rises by a step: ten batches of 150 in
      the original code.
    learning_rate: of Adam. The authors of VACL have 0.001, with which a teacher
      that was pretrained forgets; the original has 0.002.
    entropy: weight of the teacher's entropy; the original has 0.05.
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
    knows_easy: whether candidates are, in equal parts, tasks of the target
      distribution, easy ones and edits of what was played lately. If not, all
      are of the target distribution.
    num_candidates: tasks that a batch is chosen from.
    num_members: regressions of the value, whose disagreement counts (K).
    window: latest tasks that they learn from.
    num_epochs: passes over these in an iteration.
    learning_rate: of Adam.
  """

  name: str = 'vds'
  knows_easy: bool = True
  num_candidates: Annotated[int, config.Range(3, 100_000)] = 1000
  num_members: Annotated[int, config.Range(2, 100)] = 3
  window: Annotated[int, config.Range(10, 20_000)] = 1000
  num_epochs: Annotated[int, config.Range(1, 1000)] = 4
  learning_rate: Annotated[float, config.Range(0.0, 1.0)] = 1e-3
