# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The agents of the paper; TensorFlow is imported when one is made."""

from typing import TYPE_CHECKING

from vacl_tf import catalog
from vacl_tf import config

if TYPE_CHECKING:
  from vacl_tf import types
  from vacl_tf.agents import base


def _attention(
  roles: 'tuple[types.Role, ...]', cfg: config.AttentionConfig, seed: int
) -> 'base.Agent':
  from vacl_tf.agents import attention_agent

  return attention_agent.AttentionAgent(roles, cfg, seed)


def _recurrent(
  roles: 'tuple[types.Role, ...]', cfg: config.RecurrentConfig, seed: int
) -> 'base.Agent':
  from vacl_tf.agents import recurrent_agent

  return recurrent_agent.RecurrentAgent(roles, cfg, seed)


def _common_needs(
  roles: 'tuple[types.Role, ...]', cfg: config.AttendingConfig
) -> str:
  """Returns what is missing for the actions or the observation frame."""
  from vacl_tf.networks import distributions

  for role in roles:
    try:
      distributions.num_outputs(role.action)
    except ValueError as error:
      return f'role {role.name}: {error}'
  has_transform = any(role.egocentric is not None for role in roles)
  if cfg.observation_frame == 'egocentric' and not has_transform:
    return (
      'config.agent.observation_frame=egocentric needs a transform of '
      'observations, but the task has none; allowed: world'
    )
  return ''


def _indivisible(cfg: config.AttendingConfig) -> str:
  return (
    f'config.agent.hidden_size={cfg.hidden_size} is not a multiple of '
    f'{config.NUM_HEADS}, the number of attention heads; give one that is'
  )


def _attention_needs(
  roles: 'tuple[types.Role, ...]', cfg: config.AttentionConfig
) -> str:
  for name, given, least in (
    ('num_hops', cfg.num_hops, 1),
    ('num_relations', cfg.num_relations, 0),
  ):
    if given > least and not any(role.entity_sizes for role in roles):
      return (
        f'config.agent.{name}={given} needs entities to attend to, but no '
        f'agent observes any; allowed: {least}'
      )
  if cfg.num_relations and cfg.hidden_size % config.NUM_HEADS:
    return _indivisible(cfg)
  return _common_needs(roles, cfg)


def _recurrent_needs(
  roles: 'tuple[types.Role, ...]', cfg: config.RecurrentConfig
) -> str:
  if cfg.hidden_size % config.NUM_HEADS:
    return _indivisible(cfg)
  if cfg.auxiliary_position_cost and all(
    role.critic_only_position is None for role in roles
  ):
    return (
      f'config.agent.auxiliary_position_cost={cfg.auxiliary_position_cost} '
      'needs a position that only the critic observes, but the task has '
      'none; allowed: 0'
    )
  return _common_needs(roles, cfg)


ATTENTION = catalog.AgentSpec(
  make=_attention, config=config.AttentionConfig, needs=_attention_needs
)
RECURRENT = catalog.AgentSpec(
  make=_recurrent, config=config.RecurrentConfig, needs=_recurrent_needs
)
