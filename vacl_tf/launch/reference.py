# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/python.md: python -m vacl_tf.launch.reference.

Signatures and docstrings are read from the sources, which are not imported,
because the views need optional packages.
"""

import ast
import importlib.util
import pathlib
import re
import textwrap
from collections.abc import Iterable
from typing import NamedTuple

from vacl_tf.launch import command_line

_HEAD = """# Python

The public functions and classes: what they take, return and raise.
`import vacl_tf` is quick: TensorFlow is imported with the first name that needs
it. This page is printed by `python -m vacl_tf.launch.reference`; a test
compares it with that output.
"""


class _Entry(NamedTuple):
  """A function or class of the page.

  Attributes:
    module: module that defines it.
    name: name in the module.
    shown: name for users; None for its module and name.
  """

  module: str
  name: str
  shown: str | None = None

  @property
  def title(self) -> str:
    return self.shown or f'{self.module}.{self.name}'


_LIBRARY = 'vacl_tf.launch.library'
_GYMNASIUM = 'vacl_tf.environments.gymnasium_view'
SECTIONS = {
  """## Train and evaluate

TensorFlow decides which device is used, and how much of its memory. To change
that, first call `tf.config.set_visible_devices` or
`tf.config.experimental.set_memory_growth`. Rows are dicts of numbers, so
`on_row=wandb.log` sends them to a service. Training prints to `sys.stdout`;
`contextlib.redirect_stdout` sends its output elsewhere.
""": (
    _Entry(_LIBRARY, 'make_config', 'vacl_tf.make_config'),
    _Entry(_LIBRARY, 'train', 'vacl_tf.train'),
    _Entry(_LIBRARY, 'Trained'),
    _Entry(_LIBRARY, 'evaluate', 'vacl_tf.evaluate'),
    _Entry(
      'vacl_tf.training.policy_files', 'load_policy', 'vacl_tf.load_policy'
    ),
    _Entry('vacl_tf.training.actor', 'load_actor', 'vacl_tf.load_actor'),
    _Entry('vacl_tf.training.actor', 'Actor'),
  ),
  """## Worlds for other libraries

[The guide](guides/gymnasium_pettingzoo.md) has examples.
""": (
    _Entry(
      'vacl_tf.environments.adapters',
      'dm_environment',
      'vacl_tf.dm_environment',
    ),
    _Entry('vacl_tf.environments.adapters', 'DmEnv'),
    _Entry(
      'vacl_tf.environments.pettingzoo_view',
      'parallel_env',
      'vacl_tf.parallel_env',
    ),
    _Entry(_GYMNASIUM, 'gym_env', 'vacl_tf.gym_env'),
    _Entry(_GYMNASIUM, 'vector_env', 'vacl_tf.vector_env'),
  ),
  """## A curriculum beside your own trainer

[The guide](guides/other_learners.md) has examples.
""": (_Entry('vacl_tf.client', 'Curriculum'),),
  """## Tasks, agents, curricula and studies of your own

Guides: [a world](guides/own_world.md), [a task](guides/own_task.md),
[an agent](guides/own_agent.md), [a curriculum](guides/own_curriculum.md) and
[a study](guides/own_study.md).
""": (
    _Entry('vacl_tf.environments.python_world', 'register'),
    _Entry('vacl_tf.curriculum.python_curriculum', 'register'),
    _Entry('vacl_tf.studies', 'register'),
    _Entry('vacl_tf.catalog', 'register_task', 'vacl_tf.register_task'),
    _Entry('vacl_tf.catalog', 'register_agent', 'vacl_tf.register_agent'),
    _Entry(
      'vacl_tf.catalog', 'register_curriculum', 'vacl_tf.register_curriculum'
    ),
    _Entry('vacl_tf.environments.task_spec', 'TaskSpec'),
    _Entry('vacl_tf.catalog', 'AgentSpec'),
    _Entry('vacl_tf.catalog', 'CurriculumSpec'),
  ),
}
_PUBLIC = ('__init__', '__call__')  # Of those that begin with an underscore.
_HEADING = re.compile(
  r'^(Args|Attributes|Returns|Yields|Raises):\n', re.MULTILINE
)
_ITEM = re.compile(r'^(\*{0,2}[\w.]+(?:, [\w.]+)*): ', re.MULTILINE)

_Def = ast.FunctionDef | ast.ClassDef


def page() -> str:
  """Returns the page, in Markdown."""
  parts = [_HEAD]
  for head, entries in SECTIONS.items():
    parts.append(head)
    parts += map(_entry, entries)
  return '\n'.join(parts)


def _entry(entry: _Entry) -> str:
  """Returns the section on a function, or on a class and its methods."""
  path = importlib.util.find_spec(entry.module).origin
  source = pathlib.Path(path).read_text()
  body = ast.parse(source).body
  node = next(x for x in body if isinstance(x, _Def) and x.name == entry.name)
  parts = [f'### {entry.title}\n']
  if isinstance(node, ast.FunctionDef):
    return '\n'.join([*parts, _signature(source, node), _document(node)])
  fields = [x for x in node.body if isinstance(x, ast.AnnAssign)]
  if fields:
    parts.append(_code(_text(source, field) for field in fields))
  parts.append(_document(node))
  is_dataclass = bool(node.decorator_list)  # Users only construct it.
  for method in () if is_dataclass else node.body:
    is_method = isinstance(method, ast.FunctionDef)
    if is_method and (method.name in _PUBLIC or method.name[0] != '_'):
      parts += [_signature(source, method), _document(method)]
  return '\n'.join(parts)


def _text(source: str, field: ast.AnnAssign) -> str:
  """Returns the source of a field of a class."""
  return ast.get_source_segment(source, field).replace('\n  ', '\n')


def _code(lines: Iterable[str]) -> str:
  return '\n'.join(['```python', *lines, '```', ''])


def _signature(source: str, node: ast.FunctionDef) -> str:
  """Returns the source of the head of a function."""
  begin = min([node, *node.decorator_list], key=lambda x: x.lineno).lineno - 1
  lines = source.splitlines()[begin : node.body[0].lineno - 1]
  text = textwrap.dedent('\n'.join(lines)).rstrip().removesuffix(':')
  return _code([text])


def _document(node: _Def) -> str:
  """Returns a docstring; arguments, attributes and errors become lists."""
  text, *sections = _HEADING.split((ast.get_docstring(node) or '') + '\n')
  parts = [text.strip() + '\n'] if text.strip() else []
  for heading, body in zip(sections[::2], sections[1::2], strict=True):
    body = textwrap.dedent(body.rstrip())
    heading = heading.replace('Args', 'Arguments')
    if _ITEM.match(body):
      _, *items = _ITEM.split(body)
      lines = [
        f'* `{name}`: {" ".join(told.split())}'
        for name, told in zip(items[::2], items[1::2], strict=True)
      ]
      parts.append('\n'.join([f'{heading}:\n', *lines, '']))
    else:
      parts.append(f'{heading}: {" ".join(body.split())}\n')
  return '\n'.join(parts)


define = command_line.defines()


def main() -> int:
  """Prints the page."""
  print(page(), end='')
  return 0


if __name__ == '__main__':
  command_line.start(main, define, is_printer=True)
