# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The registries of tasks, agents and curricula.

One line registers an entry. Those of the library are in `builtin.py`; users
register theirs in their own modules (docs/guides).
"""

import dataclasses
import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vacl_tf import bounds
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import registry

if TYPE_CHECKING:
  from vacl_tf.agents import base as agent_base
  from vacl_tf.curriculum import base as curriculum_base
  from vacl_tf.environments import task_spec


@dataclasses.dataclass(frozen=True, kw_only=True)
class AgentSpec:
  """An agent.

  Attributes:
    make: returns the agent, given the roles of a world, the agent's constants
      and the seed of its variables.
    config: class of its constants; the default of `name` there is the agent's
      name.
    needs: returns, given the roles of a world and the constants, what is
      missing for this agent to play them; empty if nothing is.
  """

  make: 'Callable[..., agent_base.Agent]'
  config: type[config.AgentConfig]
  needs: 'Callable[..., str]' = lambda roles, cfg: ''

  @property
  def name(self) -> str:
    """The name of the agent."""
    return self.config().name


@dataclasses.dataclass(frozen=True, kw_only=True)
class CurriculumSpec:
  """A curriculum of tasks with one entity count.

  Attributes:
    name: name of the curriculum.
    make: returns the curriculum, given a `curriculum.base.Setting`.
    config: class of its constants.
    grows: whether runs start with few entities unless the user says otherwise.
  """

  name: str
  make: 'Callable[[curriculum_base.Setting], curriculum_base.Curriculum]'
  config: 'type[config.CurriculumConfig]' = config.CurriculumConfig
  grows: bool = False


TASKS: 'registry.Registry[task_spec.TaskSpec]' = registry.Registry('env')
AGENTS: registry.Registry[AgentSpec] = registry.Registry('agent')
CURRICULA: registry.Registry[CurriculumSpec] = registry.Registry('curriculum')


def register_task(spec: 'task_spec.TaskSpec') -> None:
  """Registers a task by its name.

  Raises:
    ValueError: this is not a TaskSpec, the name is taken, the agent is unknown,
      a constant can't be saved, there is no default preset, a preset names an
      unknown field, or counts or lengths are not whole numbers.
  """
  from vacl_tf.environments import task_spec  # Its package imports us.

  _check_spec(spec, task_spec.TaskSpec)
  if 'default' not in spec.presets:
    raise ValueError(f"task {spec.name} has no preset 'default'; add one")
  _check_types(spec.world)
  _check_numbers(spec)
  known = overrides.leaves(skeleton(spec.world, spec.agent))
  for preset_name, preset in spec.presets.items():
    for values in (preset.values, *preset.above.values()):
      for name in values:
        if name not in known:
          raise ValueError(
            f'task {spec.name}, preset {preset_name}: '
            + overrides.unknown('config field', name, known)
          )
  TASKS.add(spec)


def register_agent(spec: AgentSpec) -> None:
  """Registers an agent by its name.

  Raises:
    ValueError: this is not an AgentSpec, the name is taken, or the constants
      are not a `config.AgentConfig` or can't be saved.
  """
  _check_spec(spec, AgentSpec)
  _check_base(spec.config, config.AgentConfig)
  _check_types(spec.config())
  AGENTS.add(spec)


def register_curriculum(spec: CurriculumSpec) -> None:
  """Registers a curriculum by its name.

  Raises:
    ValueError: this is not a CurriculumSpec, the name is taken, or the
      constants are not a `config.CurriculumConfig` or can't be saved.
  """
  _check_spec(spec, CurriculumSpec)
  _check_base(spec.config, config.CurriculumConfig)
  _check_types(spec.config(name=spec.name))
  CURRICULA.add(spec)


def _check_spec(spec: object, kind: type) -> None:
  """Raises ValueError unless this is such a spec, with a function `make`."""
  name = kind.__name__
  if not isinstance(spec, kind):
    raise ValueError(f'spec={spec!r:.60} is no {name}; give {name}(...)')
  if not callable(spec.make):
    raise ValueError(
      f'{name}.make={spec.make!r:.60} is not a function; give one'
    )


def _check_base(kind: type, base: type) -> None:
  """Raises ValueError if constants do not derive from the base class."""
  if not (isinstance(kind, type) and issubclass(kind, base)):
    raise ValueError(
      f'config={getattr(kind, "__name__", kind)} is not derived from '
      f'config.{base.__name__}'
    )


def _check_numbers(spec: 'task_spec.TaskSpec') -> None:
  """Raises ValueError unless counts and lengths are whole numbers."""
  size = len(spec.world.count_fields)
  fields = {'least': (spec.least, size), 'most': (spec.most, size)}
  for name, preset in spec.presets.items():
    fields[f'preset {name}, num_env_steps'] = preset.num_env_steps, 2
  for field, (given, wanted) in fields.items():
    if not (
      isinstance(given, Sequence)
      and len(given) == wanted
      and all(isinstance(x, numbers.Integral) for x in given)
    ):
      raise ValueError(
        f'task {spec.name}, {field}={given!r:.60}; allowed: a tuple of '
        f'{wanted} whole number{"s" if wanted > 1 else ""}'
      )


def _check_types(node: object) -> None:
  """Raises ValueError for a constant that flags and JSON can't hold."""
  prefix = f'{type(node).__name__}.'
  for name, value in overrides.leaves(node).items():
    if not isinstance(value, bool | int | float | str):
      raise ValueError(
        f'{prefix}{name}={value!r} is a {type(value).__name__}; allowed: bool, '
        'int, float, str'
      )
    if overrides.kind(node, name) not in (bool, int, float, str):
      raise ValueError(
        f'{prefix}{name} is annotated as neither bool, int, float nor str; '
        'use one of these'
      )
  bounds.check_leaves(node, prefix)


def skeleton(
  world: config.EnvironmentConfig,
  agent: str,
  curriculum: str = config.TaskExpansionConfig().name,
) -> config.Config:
  """Returns the config of a world, with defaults for agent and curriculum.

  Raises:
    ValueError: there is no such agent or curriculum.
  """
  return config.Config(
    environment=world,
    agent=AGENTS.get(agent).config(),
    curriculum=CURRICULA.get(curriculum).config(name=curriculum),
  )
