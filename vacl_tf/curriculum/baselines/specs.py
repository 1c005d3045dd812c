# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The curricula that VACL is compared with, by name."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf.curriculum.baselines import configs

if TYPE_CHECKING:
  from vacl_tf.curriculum import base
  from vacl_tf.curriculum import python_curriculum


def _spec(
  load: 'Callable[[], python_curriculum.Make]',
  constants: type[config.CurriculumConfig],
) -> catalog.CurriculumSpec:
  """Returns the spec of a chooser.

  Args:
    load: returns what makes it; it is imported then, not before.
    constants: its class of constants, with its name.
  """
  name = constants().name

  def make(setting: 'base.Setting') -> 'base.Curriculum':
    from vacl_tf.curriculum import python_curriculum

    return python_curriculum.PythonCurriculum(name, load(), setting)

  return catalog.CurriculumSpec(name=name, make=make, config=constants)


def _reverse() -> 'python_curriculum.Make':
  from vacl_tf.curriculum.baselines import reverse

  return reverse.Reverse


def _goal_gan() -> 'python_curriculum.Make':
  from vacl_tf.curriculum.baselines import goal_gan

  return goal_gan.GoalGan


def _vds() -> 'python_curriculum.Make':
  from vacl_tf.curriculum.baselines import vds

  return vds.Vds


ALL = (
  _spec(_reverse, configs.ReverseConfig),
  _spec(_goal_gan, configs.GoalGanConfig),
  _spec(_goal_gan, configs.GoalGanCodeConfig),
  _spec(_vds, configs.VdsConfig),
)
