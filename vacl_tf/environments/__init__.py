# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worlds, by the names of their tasks.

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
    name: of the task.
    num_agents: agents in each world; None for as many as num_boxes, if they are
      given, else for the task's own number.
    num_boxes: boxes, in tasks that have some; None for as many as num_agents,
      likewise.
    **constants: others of the task's, such as its horizon.

  Raises:
    ImportError: what simulates the world is not installed.
    ValueError: there is no such task, or not with such constants.
  """
  task = catalog.TASKS.get(name)
  world = task.with_counts(num_agents=num_agents, num_boxes=num_boxes)
  given = {key: value for key, value in constants.items() if value is not None}
  return make(overrides.replace(world, given))


def make(world: config.EnvironmentConfig) -> 'base.World':
  """Returns the world of given constants; see `load`.

  Raises:
    base.WorldError: besides, a world that is not of this library breaks its
      contract, or raises something else.
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
  """Returns a world that a user has registered, after a look at it."""
  from vacl_tf.environments import checked_simulator
  from vacl_tf.environments import simulator

  try:
    env = simulator.called('make', task.make, world)
    checked_simulator.check_world(env)
  except simulator.WorldError as error:
    raise simulator.WorldError(f'env={task.name}: {error}') from error
  return env


def load_all(cfg: config.Config) -> 'tuple[base.World, ...]':
  """Returns the world of a config with each of its entity counts.

  Raises:
    ImportError: what simulates the world is not installed.
    ValueError: there is no such task, or not with one of the counts.
  """
  world, text = cfg.environment, cfg.progression.entity_counts
  # First what was asked for: the path may be the preset's.
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
  """Returns the constants with other numbers of entities, same horizon."""
  return dataclasses.replace(
    world, **dict(zip(world.count_fields, counts, strict=True))
  )
