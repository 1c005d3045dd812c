# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The constants that a command would train with, and where each comes from."""

import inspect
from collections.abc import Collection, Mapping

from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.launch import fields

_EMPTY = '(empty)'
# Sections whose defaults come from what was chosen by name.
_CHOSEN = {
  'environment': 'task',
  'agent': 'agent',
  'curriculum': 'curriculum',
}
_OF_TASK = ('agent.name', 'progression.entity_counts')
_OF_COUNTS = 'num_env_steps'  # Set by a preset, although it is not a constant.


def title(cfg: config.Config, name: str) -> str:
  """Returns the heading of the section that a leaf of the config is in."""
  section = name.partition('.')[0]
  about = inspect.getdoc(type(getattr(cfg, section))) or ''
  return f'Constants, {section}: {about.partition(chr(10))[0]}'


def page(
  cfg: config.Config, length: config.RunLength, given: Mapping[str, str]
) -> str:
  """Returns a line for each constant: its field, its value and its origin.

  Args:
    cfg: all constants.
    length: length of the run.
    given: {field: origin} of those that are neither default nor preset.
  """
  leaves = overrides.leaves(cfg)
  of_preset = presets.leaves_of_preset(cfg)
  rows = [('field', 'value', 'from')]
  for name, value in leaves.items():
    rows.append((name, fields.told(value) or _EMPTY, _origin(name, of_preset)))
  for name, value in overrides.leaves(length).items():
    origin = 'preset' if name == _OF_COUNTS else 'default'
    rows.append((name, fields.told(value), origin))
  counts = [f'environment.{field}' for field in cfg.environment.count_fields]
  for name in ('progression.entity_counts', *counts):
    if name in given:  # The other counts follow.
      given = dict.fromkeys(counts, given[name]) | dict(given)
  rows = [
    (name, value, given.get(name, origin)) for name, value, origin in rows
  ]
  widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
  return '\n'.join(
    f'{name:{widths[0]}}  {value:{widths[1]}}  {origin}'
    for name, value, origin in rows
  )


def _origin(name: str, of_preset: Collection[str]) -> str:
  """Returns the origin of a leaf that is not given."""
  if name in of_preset:
    return 'preset'
  if name in _OF_TASK:
    return 'task'
  section = name.partition('.')[0]
  is_name = name in ('environment.name', 'curriculum.name')
  return 'default' if is_name else _CHOSEN.get(section, 'default')
