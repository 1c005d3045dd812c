# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Agents, by name: networks that act and that the learner improves."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from vacl_tf import builtin
from vacl_tf import catalog
from vacl_tf import config

if TYPE_CHECKING:
  from vacl_tf import types
  from vacl_tf.agents import base


def make(cfg: config.Config, roles: 'tuple[types.Role, ...]') -> 'base.Agent':
  """Returns the agent of a config.

  Args:
    cfg: all constants.
    roles: the roles of the world.

  Raises:
    ValueError: there is no such agent, or it needs something that the roles do
      not have.
  """
  return catalog.AGENTS.get(cfg.agent.name).make(roles, cfg.agent, cfg.seed)


def check(
  cfg: config.Config,
  roles: 'tuple[types.Role, ...]',
  observe: 'Callable[[], types.Observations] | None' = None,
) -> None:
  """Raises ValueError if the agent can't play these roles; see `make`.

  Args:
    cfg: all constants.
    roles: the roles of the world.
    observe: returns observations of these roles, leaves [B, n, ...]. If it is
      given, an agent that is not part of this library is made and checked.
  """
  name, task = cfg.agent.name, cfg.environment.name or 'this world'
  spec = catalog.AGENTS.get(name)
  needs = spec.needs(roles, cfg.agent)
  if needs:
    raise ValueError(f'agent={name} with env={task}: {needs}')
  if observe is None or name in builtin.AGENTS:
    return
  from vacl_tf.agents import checked_agent

  try:
    checked_agent.check(
      lambda: spec.make(roles, cfg.agent, cfg.seed),
      roles,
      observe(),
      cfg.agent.segment_length,
    )
  except ValueError as error:
    raise ValueError(f'agent={name}: {error}') from error
