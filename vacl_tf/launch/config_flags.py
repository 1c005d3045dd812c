# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A flag for each constant of a run, like --config.ppo.clip=0.1."""

from typing import Any

from vacl_tf import config
from vacl_tf.launch import command_line
from vacl_tf.launch import config_table

PREFIX = 'config.'
# Fields that determine the defaults of all others, each with the name of the
# flag and argument that sets it.
CHOOSE_PRESETS = {
  'seed': 'seed',
  'preset': 'preset',
  'environment.name': 'env',
  'environment.num_agents': 'num_agents',
  'environment.num_boxes': 'num_boxes',
  'agent.name': 'agent',
  'curriculum.name': 'curriculum',
  'progression.entity_counts': 'entity_counts',
}


def define(cfg: config.Config) -> None:
  """Defines a flag for each leaf of a config but those of CHOOSE_PRESETS."""
  command_line.define_leaves(
    PREFIX, cfg, CHOOSE_PRESETS, lambda name: config_table.title(cfg, name)
  )


def is_constant(flag: str) -> bool:
  """Returns whether a flag sets a constant, or chooses the defaults of some."""
  return flag.startswith(PREFIX) or flag in CHOOSE_PRESETS.values()


def given(cfg: config.Config) -> dict[str, Any]:
  """Returns {leaf: value} of the flags that the user gave."""
  return command_line.given_leaves(PREFIX, cfg)
