# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Makes worlds from the names of their tasks.

TensorFlow is imported when a world is made, not before.
"""

import dataclasses
from typing import TYPE_CHECKING, Any

from vacl_tf import bounds
from vacl_tf import builtin
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import overrides

if TYPE_CHECKING:
  from vacl_tf.environments import base
  from vacl_tf.environments import task_spec


def load(
  name: str,
  num_agents: int | None = None,
  num_boxes: int | None = None,
  **constants: Any,
) -> 'base.World':
  """Returns the world of a task.

  Args:
    name: name of the task.
    num_agents: agents in each world; None for as many as num_boxes, if that is
      given, or else for the task's own number.
    num_boxes: boxes in each world, if the task has any; None for as many as
      num_agents, if that is given, or else for the task's own number.
    **constants: other constants of the task, such as its horizon.

  Raises:
    ImportError: the simulator of the world is not installed.
    ValueError: there is no such task, or its constants are not possible.
  """
  task = catalog.TASKS.get(name)
  world = task.with_counts(num_agents=num_agents, num_boxes=num_boxes)
  given = {key: value for key, value in constants.items() if value is not None}
  return make(overrides.replace(world, given))


def make(world: config.EnvironmentConfig) -> 'base.World':
  """Returns the world with the given constants; see `load`.

  Raises:
    base.WorldError: in addition to the errors of `load`: a user's world breaks
      its contract, or its code raises any other exception.
  """
  task = catalog.TASKS.get(world.name)
  task.check(world)
  bounds.check_leaves(world)
  if task.name in builtin.TASKS:
    return task.make(world)
  return _make_foreign(task, world)


def _make_foreign(
  task: 'task_spec.TaskSpec', world: config.EnvironmentConfig
) -> 'base.World':
  """Makes and checks a world that a user registered."""
  from vacl_tf.environments import checked_simulator
  from vacl_tf.environments import simulator

  try:
    env = simulator.called('make', task.make, world)
    simulator.called('check of the world', checked_simulator.check_world, env)
    wanted = world.counts, world.horizon
    if (env.counts, env.horizon) != wanted:
      raise simulator.WorldError(
        f'make: expected a world with (counts, horizon) {wanted}, given '
        f'{(env.counts, env.horizon)}; use the constants that make receives'
      )
  except simulator.WorldError as error:
    raise simulator.WorldError(f'env={task.name}: {error}') from error
  return env


def load_all(cfg: config.Config) -> 'tuple[base.World, ...]':
  """Returns one world for each entity count of a config.

  Raises:
    ImportError: the simulator of the world is not installed.
    ValueError: there is no such task, or an entity count is not possible.
  """
  world, text = cfg.environment, cfg.progression.entity_counts
  # Make the world of the config itself first. Its errors concern what the user
  # asked for, whereas the path of entity counts may come from the preset.
  last = make(world)
  try:
    return (
      *(make(_counting(world, x)) for x in entity_counts.path(cfg)[:-1]),
      last,
    )
  except ValueError as error:
    raise ValueError(f'entity_counts={text}: {error}') from error


def _counting(
  world: config.EnvironmentConfig, counts: entity_counts.Counts
) -> config.EnvironmentConfig:
  """Returns the constants with other entity counts and the same horizon."""
  return dataclasses.replace(
    world, **dict(zip(world.count_fields, counts, strict=True))
  )
