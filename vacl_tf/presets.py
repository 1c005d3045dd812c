# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""From the name of a task to a whole config, and back from a saved one.

The constants themselves stand beside each task; see `TaskSpec.presets`.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from vacl_tf import bounds
from vacl_tf import builtin  # noqa: F401  Registers what has names.
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import overrides


def make(
  *,
  env: str,
  num_agents: int | None = None,
  num_boxes: int | None = None,
  preset: str = 'default',
  agent: str | None = None,
  curriculum: str | None = None,
  path: str | None = None,
  seed: int = 0,
) -> config.Config:
  """Returns the config of a preset.

  Args:
    env: name of the task.
    num_agents: to master; None for the last of the path, or else see
      `TaskSpec.with_counts`.
    num_boxes: likewise.
    preset: one of the task's presets.
    agent: None for the task's own.
    curriculum: None for task expansion with entity progression.
    path: numbers of entities on the way there, see
      `config.ProgressionConfig.entity_counts`; None for one that doubles from
      the task's own numbers, see `task_spec.Preset`, if the curriculum grows.
    seed: of everything.

  Raises:
    ValueError: there is no such task, preset, agent, curriculum, seed or count.
  """
  # It is used before the whole config is checked.
  bounds.check_leaves(config.Config(seed=seed))
  task = catalog.TASKS.get(env)
  if agent is None:
    agent = task.agent
  if curriculum is None:
    curriculum = config.TaskExpansionConfig().name
  world = _world(env, num_agents, num_boxes, path)
  values = task.values(preset, world)
  base = catalog.skeleton(world, agent, curriculum)
  values = _applicable(values, base, catalog.skeleton(world, task.agent))
  if path is None and catalog.CURRICULA.get(curriculum).grows:
    together = task.preset(preset).grows_together
    path = entity_counts.doubling(
      task.world.counts, world.counts, together=together
    )
  if path:
    values = values | {'progression.entity_counts': path}
  return overrides.replace(base, values | {'seed': seed, 'preset': preset})


def _world(
  env: str,
  num_agents: int | None,
  num_boxes: int | None,
  path: str | None,
) -> config.EnvironmentConfig:
  """Returns a task's world with the counts to master; see `make`."""
  task = catalog.TASKS.get(env)
  given = {'num_agents': num_agents, 'num_boxes': num_boxes}
  if path and num_agents is None and num_boxes is None:
    last = entity_counts.parsed(path)[-1]
    given = dict(zip(task.world.count_fields, last, strict=False))
  world = task.with_counts(**given)
  task.check(world)
  return world


def _applicable(
  values: Mapping[str, Any], wanted: config.Config, meant: config.Config
) -> dict[str, Any]:
  """Returns the overrides that hold for another agent or curriculum, too.

  These are all but those of fields that only the agent or the curriculum that
  a preset is meant for has: fields of a class that the wanted one is not
  derived from.
  """
  found = {}
  for name, value in values.items():
    section, _, field = name.partition('.')
    owner = next(
      (
        cls
        for cls in reversed(type(getattr(meant, section)).__mro__)
        if dataclasses.is_dataclass(cls)
        and field in {x.name for x in dataclasses.fields(cls)}
      ),
      object,
    )
    if isinstance(getattr(wanted, section), owner):
      found[name] = value
  return found


def leaves_of_preset(cfg: config.Config) -> frozenset[str]:
  """Returns the leaves that the preset of a config sets, if nobody else."""
  task = catalog.TASKS.get(cfg.environment.name)
  values = task.values(cfg.preset, cfg.environment)
  meant = catalog.skeleton(cfg.environment, task.agent)
  return frozenset(_applicable(values, cfg, meant))


def run_length(cfg: config.Config) -> config.RunLength:
  """Returns how long a run of a preset is, unless its user says so."""
  task = catalog.TASKS.get(cfg.environment.name)
  return config.RunLength(
    num_env_steps=task.num_env_steps(cfg.preset, cfg.environment)
  )


def restore(values: Mapping[str, Any]) -> config.Config:
  """Returns the config that was saved as leaves; what it lacks is default.

  Raises:
    ValueError: a field, or the name of a task, agent or curriculum, is unknown,
      or a value is not of the field's type.
  """
  for name, value in values.items():
    if not isinstance(value, bool | int | float | str):
      raise ValueError(
        f'config field {name!r} is a {type(value).__name__}; allowed: a '
        'number, a string, true or false'
      )
  try:
    task = catalog.TASKS.get(values.get('environment.name', ''))
    base = catalog.skeleton(
      task.world,
      values.get('agent.name', task.agent),
      values.get('curriculum.name', config.Config().curriculum.name),
    )
  except ValueError as error:
    if '--import' in str(error):
      raise
    raise ValueError(
      f'{error}; to use your own, give --import, or import its module in Python'
    ) from error
  known = overrides.leaves(base)
  for name, value in values.items():
    if name in known and not _is_one(value, overrides.kind(base, name)):
      kind = overrides.kind(base, name)
      raise ValueError(
        f'config.{name}={value!r} is not possible; allowed: '
        + ('printable text' if kind is str else kind.__name__)
      )
  return overrides.replace(base, values)


def _is_one(value: Any, kind: type) -> bool:
  """Returns whether a saved value can be of a field of this type."""
  if kind is str:  # It is printed, and drawn in pictures.
    return isinstance(value, str) and value.isprintable()
  return type(value) in ((int, float) if kind is float else (kind,))
