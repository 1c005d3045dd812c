# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Which tasks come next: the paper's methods, by name."""

from collections.abc import Sequence

from vacl_tf import config
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import entity_progression
from vacl_tf.curriculum import task_expansion
from vacl_tf.environments import task_space

# Task expansion and entity progression, the former alone, and neither.
NAMES = ('vacl', 'task_expansion', 'uniform')


def check(cfg: config.Config) -> None:
  """Raises ValueError if there is no such curriculum, or not for the counts."""
  name = cfg.curriculum.name
  if name not in NAMES:
    raise ValueError(config.unknown('curriculum', name, NAMES))
  if len(config.entity_counts(cfg)) > 1 and name != 'vacl':
    raise ValueError(
      f'curriculum={name!r} has one entity count, not '
      f'{cfg.progression.entity_counts}; leave out entity_counts, or choose '
      "'vacl'"
    )


def make(
  cfg: config.Config,
  spaces: Sequence[task_space.TaskSpace],
  seed: types.Seed,
) -> base.Curriculum:
  """Returns the curriculum called cfg.curriculum.name.

  Args:
    cfg: all constants.
    spaces: tasks of each entity count, from few entities to many.
    seed: of what it begins with.

  Raises:
    ValueError: there is no such curriculum, or not for so many counts.
  """
  check(cfg)
  num_tasks = cfg.training.num_tasks
  if len(spaces) == 1:
    if cfg.curriculum.name == 'uniform':
      return base.Uniform(spaces[0])
    return task_expansion.TaskExpansion(
      spaces[0], cfg.curriculum, num_tasks, seed
    )

  def make_inner(
    space: task_space.TaskSpace, most_tasks: int, seed: types.Seed
  ) -> base.Curriculum:
    return task_expansion.TaskExpansion(
      space, cfg.curriculum, num_tasks, seed, most_tasks
    )

  return entity_progression.EntityProgression(
    spaces, make_inner, cfg.progression, num_tasks, seed
  )
