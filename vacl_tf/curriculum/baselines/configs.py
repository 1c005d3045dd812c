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
class CurrotConfig(config.EditingConfig):
  """CURROT; num_easy_tasks is the number of its particles.

  Attributes:
    threshold: share of successes from which on a task is mastered (delta).
    period: episodes between moves of the particles.
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
