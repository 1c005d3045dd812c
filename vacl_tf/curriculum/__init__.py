# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Which tasks come next: the paper's methods, by name."""

from vacl_tf import config
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import task_expansion
from vacl_tf.environments import task_space

NAMES = ('vacl', 'uniform')


def make(
  cfg: config.CurriculumConfig,
  space: task_space.TaskSpace,
  seed: types.Seed,
) -> base.Curriculum:
  """Returns the curriculum called cfg.name.

  Raises:
    ValueError: there is no such curriculum.
  """
  if cfg.name == 'vacl':
    return task_expansion.TaskExpansion(space, cfg, seed)
  if cfg.name == 'uniform':
    return base.Uniform(space)
  raise ValueError(config.unknown('curriculum', cfg.name, NAMES))
