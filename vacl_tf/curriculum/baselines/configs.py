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
    pool_distance: Euclidean distance from all tasks of the pool that a task
      needs to be added, in units of phi; 0 adds all seeds, again and again.
    falls_back: whether a batch without any seed is followed by children of the
      pool if most of its tasks were too hard, or else by children of its own
      tasks with ten times the noise. Without it the pool is played.
  """

  name: str = 'rcg'
  capacity: Annotated[int, config.Range(1, 20_000)] = 2000
  num_easy_tasks: Annotated[int, config.Range(1, 20_000)] = 500
  new_share: Annotated[float, config.Range(0.0, 1.0)] = 0.7
  half_width: Annotated[float, config.Range(0.0, config.MANY)] = 0.6
  score: Literal['value', 'success'] = 'value'
  least: Annotated[float, config.Range(0.0, 1.0)] = 0.5
  most: Annotated[float, config.Range(0.0, 1.0)] = 0.95
  pool_distance: Annotated[float, config.Range(0.0, config.MANY)] = 0.0
  falls_back: bool = False
