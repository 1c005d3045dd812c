# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Constants of the curricula that VACL is compared with."""

import dataclasses
from typing import Annotated, Literal

from vacl_tf import config


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReverseConfig(config.CurriculumConfig):
  """Reverse curriculum generation (a baseline of the paper).

  Attributes:
    capacity: tasks in the pool, of which the oldest leave.
    num_easy_tasks: easy tasks that the pool begins with.
    new_share: share of a batch that are children of seeds.
    half_width: of the uniform noise that makes a child, in units of phi. The
      authors have 0.6 in Simple-Spread, 0.4 in Push-Ball and 0.1 in
      Speaker-Listener.
    score: what says how good a task is: the value (released code), or the share
      of episodes that succeed (Florensa et al.).
    least: score of a seed at least.
    most: score of a seed at most.
  """

  name: str = 'rcg'
  capacity: Annotated[int, config.Range(1, 20_000)] = 2000
  num_easy_tasks: Annotated[int, config.Range(1, 20_000)] = 500
  new_share: Annotated[float, config.Range(0.0, 1.0)] = 0.7
  half_width: Annotated[float, config.Range(0.0, config.MANY)] = 0.6
  score: Literal['value', 'success'] = 'value'
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
  steps_per_task: Annotated[float, config.Range(0.0, 100.0)] = 0.3
  score: Literal['value', 'success'] = 'value'
  least: Annotated[float, config.Range(0.0, 1.0)] = 0.5
  most: Annotated[float, config.Range(0.0, 1.0)] = 0.95


@dataclasses.dataclass(frozen=True, kw_only=True)
class GoalGanCodeConfig(GoalGanConfig):
  """GoalGAN with the constants of the authors of VACL."""

  name: str = 'goal_gan_code'
  new_share: Annotated[float, config.Range(0.0, 1.0)] = 0.7
  noise_dims: Annotated[int, config.Range(1, 1000)] = 16
  goal_noise: Annotated[float, config.Range(0.0, 10.0)] = 0.01


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
