# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The curricula of the paper."""

from typing import TYPE_CHECKING

from vacl_tf import catalog
from vacl_tf import config

if TYPE_CHECKING:
  from vacl_tf.curriculum import base


def _task_expansion(setting: 'base.Setting') -> 'base.Curriculum':
  from vacl_tf.curriculum import task_expansion
  from vacl_tf.curriculum import tested_expansion

  if setting.cfg.curriculum.admission == 'tested':
    return tested_expansion.TestedExpansion(setting)
  return task_expansion.TaskExpansion(setting)


def _uniform(setting: 'base.Setting') -> 'base.Curriculum':
  from vacl_tf.curriculum import base

  return base.Uniform(setting)


# Task expansion; runs start with few entities.
VACL = catalog.CurriculumSpec(
  name='vacl',
  make=_task_expansion,
  config=config.TaskExpansionConfig,
  grows=True,
)
# Task expansion; runs start with all entities (ablation of the paper).
TASK_EXPANSION = catalog.CurriculumSpec(
  name='task_expansion',
  make=_task_expansion,
  config=config.TaskExpansionConfig,
)
UNIFORM = catalog.CurriculumSpec(name='uniform', make=_uniform)
