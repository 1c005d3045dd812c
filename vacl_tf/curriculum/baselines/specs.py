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
    load: imports the chooser's module and returns what makes the chooser.
    constants: class of its constants, whose default `name` is its name.
  """
  name = constants().name

  def make(setting: 'base.Setting') -> 'base.Curriculum':
    from vacl_tf.curriculum import python_curriculum

    return python_curriculum.PythonCurriculum(
      name, load(), setting, are_trusted=True
    )

  return catalog.CurriculumSpec(name=name, make=make, config=constants)


def _accel() -> 'python_curriculum.Make':
  from vacl_tf.curriculum.baselines import accel

  return accel.make


def _reverse() -> 'python_curriculum.Make':
  from vacl_tf.curriculum.baselines import reverse

  return reverse.Reverse


def _sfl() -> 'python_curriculum.Make':
  from vacl_tf.curriculum.baselines import sfl

  return sfl.Sfl


def _currot() -> 'python_curriculum.Make':
  from vacl_tf.curriculum.baselines import currot

  return currot.Currot


def _alp_gmm() -> 'python_curriculum.Make':
  from vacl_tf.curriculum.baselines import alp_gmm

  return alp_gmm.AlpGmm


def _hindsight() -> 'python_curriculum.Make':
  from vacl_tf.curriculum.baselines import hindsight

  return hindsight.Hindsight


def _goal_gan() -> 'python_curriculum.Make':
  from vacl_tf.curriculum.baselines import goal_gan

  return goal_gan.GoalGan


def _amigo() -> 'python_curriculum.Make':
  from vacl_tf.curriculum.baselines import amigo

  return amigo.Amigo


def _vds() -> 'python_curriculum.Make':
  from vacl_tf.curriculum.baselines import vds

  return vds.Vds


ALL = (
  _spec(_reverse, configs.ReverseConfig),
  _spec(_accel, configs.AccelConfig),
  _spec(_accel, configs.PlrConfig),
  _spec(_sfl, configs.SflConfig),
  _spec(_currot, configs.CurrotConfig),
  _spec(_alp_gmm, configs.AlpGmmConfig),
  _spec(_hindsight, configs.HindsightConfig),
  _spec(_goal_gan, configs.GoalGanConfig),
  _spec(_amigo, configs.AmigoConfig),
  _spec(_vds, configs.VdsConfig),
)
