# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Agents, by name: networks that act and that the learner improves."""

from typing import TYPE_CHECKING

from vacl_tf import builtin  # noqa: F401  Registers what has names.
from vacl_tf import catalog
from vacl_tf import config

if TYPE_CHECKING:
  from vacl_tf import types
  from vacl_tf.agents import base


def make(cfg: config.Config, roles: 'tuple[types.Role, ...]') -> 'base.Agent':
  """Returns the agent of a config.

  Args:
    cfg: all constants.
    roles: of the world.

  Raises:
    ValueError: there is no such agent, or it needs something that the roles do
      not have.
  """
  return catalog.AGENTS.get(cfg.agent.name).make(roles, cfg.agent, cfg.seed)


def check(cfg: config.Config, roles: 'tuple[types.Role, ...]') -> None:
  """Raises ValueError if the agent can't play these roles; see `make`."""
  task = cfg.environment.name or 'this world'
  needs = catalog.AGENTS.get(cfg.agent.name).needs(roles, cfg.agent)
  if needs:
    raise ValueError(f'agent={cfg.agent.name} with env={task}: {needs}')
