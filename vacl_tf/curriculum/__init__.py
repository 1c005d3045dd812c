# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes curricula, which choose the tasks to train on next.

TensorFlow is only imported when a curriculum is made.
"""

import copy
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from vacl_tf import builtin  # noqa: F401  Registers the built-in names.
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides

if TYPE_CHECKING:
  from vacl_tf import types
  from vacl_tf.curriculum import base as curriculum_base
  from vacl_tf.environments import base


def make(
  cfg: config.Config, worlds: 'Sequence[base.World]', seed: 'types.Seed'
) -> 'curriculum_base.Curriculum':
  """Returns the curriculum called cfg.curriculum.name.

  With several worlds, returns entity progression over one such curriculum per
  entity count.

  Args:
    cfg: all constants of the run.
    worlds: one world per entity count, from few entities to many.
    seed: random seed of the initial state.

  Raises:
    ValueError: there is no such curriculum, it can't be used for this task,
      cfg.curriculum is of the wrong class, or the curriculum asks for feedback
      that does not exist.
  """
  name = cfg.curriculum.name
  spec = catalog.CURRICULA.get(name)
  if not isinstance(cfg.curriculum, spec.config):
    raise ValueError(
      f'curriculum={name!r} takes a {spec.config.__name__}, not a '
      f'{type(cfg.curriculum).__name__}; see catalog.skeleton'
    )
  settings = _settings(cfg, worlds, seed)
  if len(settings) > 1:
    # Imported here: TensorFlow Probability takes a second to import.
    from vacl_tf.curriculum import entity_progression

    made = entity_progression.EntityProgression(settings, spec.make)
  else:
    made = spec.make(settings[0])
  check_feedback(made, cfg)
  return made


def _settings(
  cfg: config.Config, worlds: 'Sequence[base.World]', seed: 'types.Seed'
) -> 'list[curriculum_base.Setting]':
  """Returns one setting per entity count."""
  from vacl_tf.curriculum import base as curriculum_base

  if len(worlds) > 1:
    from vacl_tf.curriculum import entity_progression

    found = entity_progression.settings(cfg, worlds, seed)
  else:
    num_tasks = cfg.training.num_tasks
    found = [
      curriculum_base.Setting(
        cfg=cfg,
        space=worlds[0].task_space,
        world=worlds[0],
        num_tasks=num_tasks,
        most_tasks=num_tasks,
        seed=seed,
      )
    ]
  if cfg.training.gives_target:
    return found
  return [_without_target(x) for x in found]


def _without_target(
  setting: 'curriculum_base.Setting',
) -> 'curriculum_base.Setting':
  """Returns the setting with its target tasks hidden from the curriculum.

  Raises:
    UnsuitableError: the world can't be given another task space.
  """
  from vacl_tf.curriculum import base as curriculum_base
  from vacl_tf.environments import task_space

  space, world = task_space.WithoutTarget(setting.space), setting.world
  if world is not None:
    world = copy.copy(world)
    try:
      world.task_space = space
    except AttributeError as error:
      raise curriculum_base.UnsuitableError(
        'training.gives_target=false replaces task_space, which '
        f'{type(world).__name__} does not allow ({error}); set '
        'self.task_space instead of a property'
      ) from error
  return dataclasses.replace(setting, space=space, world=world)


def check_feedback(
  made: 'curriculum_base.Curriculum', cfg: config.Config
) -> None:
  """Raises UnsuitableError if the run can't give the feedback asked for."""
  from vacl_tf import types
  from vacl_tf.curriculum import base

  for field in made.feedback:
    if field not in types.TaskFeedback._fields:
      known = types.TaskFeedback._fields
      raise base.UnsuitableError(overrides.unknown('feedback', field, known))
  if 'max_target' in made.feedback and cfg.ppo.center_rewards:
    raise base.UnsuitableError(
      'it compares returns of different iterations (max_target), which '
      'ppo.center_rewards=true shifts; add --noconfig.ppo.center_rewards, or '
      'choose another score'
    )
