# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/configuration.md: python -m vacl_tf.launch.configuration.

The page is read from the dataclasses and the presets of the tasks.
"""

from collections.abc import Iterator
from typing import Any

from vacl_tf import builtin  # noqa: F401  Registers the built-in entries.
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf.launch import command_line
from vacl_tf.launch import fields

_HEAD = """# Configuration

Each field is a flag of `launch.main`, such as `--config.ppo.clip=0.1`. The
fields of `environment`, `agent` and `curriculum` depend on `--env`, `--agent`
and `--curriculum`. These three names, the seed, the preset and the entity
counts have [flags of their own](flags.md). This page is printed by
`python -m vacl_tf.launch.configuration`; a test compares it with that output.
"""


def page() -> str:
  """Returns the page, in Markdown."""
  parts = [_HEAD]
  for prefix, node in _sections():
    parts.append(_section(prefix, node))
  parts.append('## Presets\n\nValues that differ from the defaults above.\n')
  for name in catalog.TASKS.names():
    parts.append(_presets(name))
  return '\n'.join(parts)


def _sections() -> Iterator[tuple[str, Any]]:
  """Yields the configs to describe, each with the prefix of its fields."""
  defaults = config.Config()
  described = set()
  for task in map(catalog.TASKS.get, catalog.TASKS.names()):
    if type(task.world) not in described:
      described.add(type(task.world))
      yield 'environment.', task.world
  for agent in map(catalog.AGENTS.get, catalog.AGENTS.names()):
    yield 'agent.', agent.config()
  for name in ('ppo', 'progression', 'training'):
    yield f'{name}.', getattr(defaults, name)
  for curriculum in map(catalog.CURRICULA.get, catalog.CURRICULA.names()):
    if curriculum.config not in described:
      described.add(curriculum.config)
      yield 'curriculum.', curriculum.config(name=curriculum.name)
  yield '', config.RunLength()


def _section(prefix: str, node: Any) -> str:
  """Returns the table of a config class."""
  summary = (type(node).__doc__ or '').partition('\n')[0]
  lines = [
    f'## {prefix.rstrip(".") or "run length"}: {type(node).__name__}',
    '',
    summary,
    '',
    '| field | meaning | allowed | default |',
    '| --- | --- | --- | --- |',
  ]
  for name, value in overrides.leaves(node).items():
    cells = [
      fields.meaning(node, name),
      fields.allowed(node, name, _told),
      _told(value),
    ]
    lines.append(f'| `{prefix}{name}` | {" | ".join(cells)} |')
  return '\n'.join([*lines, ''])


def _told(value: Any) -> str:
  """Returns a value as the page shows it."""
  if isinstance(value, str):
    return f'`{value}`' if value else ''
  if isinstance(value, int) and not isinstance(value, bool):
    return f'{value:,}'.replace(',', ' ')
  return fields.told(value)


def _presets(name: str) -> str:
  """Returns the table of a task's presets."""
  task = catalog.TASKS.get(name)
  columns = {}
  for preset_name, preset in task.presets.items():
    columns[preset_name] = dict(preset.values)
    for most, values in sorted(preset.above.items()):
      columns[f'{preset_name}, more than {most} entities'] = dict(values)
  names = dict.fromkeys(x for values in columns.values() for x in values)
  lines = [
    f'### {name}, agent `{task.agent}`',
    '',
    f'| field | {" | ".join(columns)} |',
    f'| --- |{" --- |" * len(columns)}',
  ]
  for field in names:
    told = [
      _told(values[field]) if field in values else ''
      for values in columns.values()
    ]
    lines.append(f'| `{field}` | {" | ".join(told)} |')
  return '\n'.join([*lines, ''])


define = command_line.defines(command_line.IMPORT)


def main() -> int:
  """Prints the page."""
  print(page(), end='')
  return 0


if __name__ == '__main__':
  command_line.start(main, define, is_printer=True)
