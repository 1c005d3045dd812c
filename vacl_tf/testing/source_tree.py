# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reads the library's own sources and BUILD files without importing them."""

import ast
import dataclasses
import functools
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

ROOT = pathlib.Path(__file__).parent.parent.parent
NAME = 'vacl_tf'

# What to install for a module, if that is not one package of the module's name.
# Sonnet and TensorFlow Probability do not install all that they import.
_DISTRIBUTIONS = {
  'PIL': ('pillow',),
  'absl': ('absl_py',),
  'imageio_ffmpeg': (),  # Optional.
  'sonnet': ('dm_sonnet', 'tensorflow'),
  'tensorflow_probability': (
    'tensorflow',
    'tensorflow_probability',
    'tf_keras',
  ),
}


@dataclasses.dataclass(frozen=True)
class Import:
  """One imported name."""

  name: str  # Full name of a module, or of something in a module.
  line: int
  is_ours: bool
  is_symbol: bool  # Something in one of our modules.
  is_late: bool  # Inside a function, or only for the type checker.

  @property
  def module(self) -> str:
    """The module that must exist."""
    return self.name.rpartition('.')[0] if self.is_symbol else self.name


class Source:
  """A Python file."""

  def __init__(self, path: pathlib.Path) -> None:
    self.path = path
    self.folder = path.parent
    self.module = module_of(path)
    self.is_test = path.name.endswith('_test.py')
    self.is_package = path.name == '__init__.py'
    text = path.read_text()
    self.num_lines = text.count('\n')
    self.tree = ast.parse(text)

  def __str__(self) -> str:
    return str(self.path.relative_to(ROOT))

  @property
  def inside(self) -> str:
    """The name of the module inside vacl_tf."""
    return self.module.removeprefix(NAME).removeprefix('.')

  @property
  def package(self) -> str:
    """The name of the package inside vacl_tf."""
    parts = self.folder.relative_to(ROOT).parts
    return '.'.join(parts[1:])

  def nodes(self) -> Iterator[tuple[ast.AST, bool]]:
    """Yields each node, and whether importing the file leaves it out."""
    stack = [(self.tree, False)]
    while stack:
      node, is_late = stack.pop()
      yield node, is_late
      is_late |= isinstance(node, ast.FunctionDef | ast.Lambda)
      if isinstance(node, ast.If):
        is_late |= ast.unparse(node.test) == 'TYPE_CHECKING'
      stack += [(child, is_late) for child in ast.iter_child_nodes(node)]

  @functools.cached_property
  def imports(self) -> list[Import]:
    """All imports of the file."""
    found = []
    for node, is_late in self.nodes():
      names = []
      if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
      elif isinstance(node, ast.ImportFrom):
        start = '.' * node.level + (node.module or '')
        names = [f'{start}.{alias.name}' for alias in node.names]
      for name in names:
        is_ours = name.startswith('.') or name.split('.')[0] == NAME
        is_symbol = is_ours and name not in sources()
        found.append(Import(name, node.lineno, is_ours, is_symbol, is_late))
    return found

  @property
  def ours(self) -> list[Import]:
    """The imports from vacl_tf."""
    return [x for x in self.imports if x.is_ours]

  @property
  def others(self) -> list[Import]:
    """The imports of packages that must be installed."""
    known = sys.stdlib_module_names
    imports = [x for x in self.imports if not x.is_ours]
    return [x for x in imports if x.name.split('.')[0] not in known]

  def programs(self) -> set[str]:
    """Returns our modules that the file runs: 'vacl_tf.x' or f'vacl_tf.{y}'."""
    nodes = [x for x, _ in self.nodes() if isinstance(x, ast.Constant)]
    texts = {x.value for x in nodes if isinstance(x.value, str)}
    starts = {x for x in texts if x.startswith(NAME) and x.endswith('.')}
    names = {start + text for start in {'', *starts} for text in texts}
    return {x for x in names if '.' in x} & set(sources())


def module_of(path: pathlib.Path) -> str:
  """Returns the full name of a source's module."""
  parts = path.relative_to(ROOT).with_suffix('').parts
  return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


@functools.cache
def sources() -> dict[str, Source]:
  """Returns the sources by module."""
  paths = sorted((ROOT / NAME).rglob('*.py'))
  return {module_of(path): Source(path) for path in paths}


@functools.cache
def targets(folder: pathlib.Path) -> dict[str, dict[str, Any]]:
  """Returns the attributes of the targets in a BUILD file, by name."""
  targets, visibility = {}, []
  # The parts of Starlark that BUILD files use are valid Python, too.
  for statement in ast.parse((folder / 'BUILD').read_text()).body:
    call = statement.value
    attributes = {'kind': ast.unparse(call.func)}
    for keyword in call.keywords:
      try:
        attributes[keyword.arg] = ast.literal_eval(keyword.value)
      except ValueError:  # The value contains a glob.
        attributes[keyword.arg] = ast.unparse(keyword.value)
    visibility = attributes.get('default_visibility', visibility)
    if 'name' in attributes:
      targets[attributes['name']] = {'visibility': visibility} | attributes
  return targets


def is_visible(dep: str, folder: pathlib.Path) -> bool:
  """Returns whether the target of a label may be used in a folder."""
  path, _, name = dep.removeprefix('//').partition(':')
  target = targets(ROOT / path)[name or path.rpartition('/')[2]]
  package = f'//{folder.relative_to(ROOT)}'
  return any(
    (package + '/').startswith(top + '/') if rest else package == top
    for top, rest in (
      (x.partition(':')[0], x.endswith(':__subpackages__'))
      for x in target['visibility']
    )
  )


def target_name(source: Source) -> str:
  """Returns the name of the target that others depend on."""
  if source.is_package:
    return source.folder.name
  stem = source.path.stem
  is_command = targets(source.folder).get(stem, {}).get('kind') == 'py_binary'
  return f'{stem}_lib' if is_command else stem


def label(source: Source, folder: pathlib.Path) -> str:
  """Returns the label of a source, as written in the BUILD of a folder."""
  name = target_name(source)
  if source.folder == folder:
    return f':{name}'
  package = f'//{source.folder.relative_to(ROOT)}'
  return package if source.is_package else f'{package}:{name}'


def deps(source: Source) -> set[str]:
  """Returns the labels of our targets that a source needs."""
  modules = {x.module for x in source.ours} | source.programs()
  own = sources()[module_of(source.folder / '__init__.py')]
  # Importing this module first runs the package's __init__.py. If that file
  # imports other modules of ours, it can't be a dependency of theirs, and Bazel
  # creates an empty one instead.
  if own.tree.body and not own.ours and not source.is_test:
    modules.add(own.module)
  modules.discard(source.module)
  known = [sources()[x] for x in modules if x in sources()]
  return {label(x, source.folder) for x in known}


def distributions(source: Source) -> set[str]:
  """Returns the labels of the distributions that a source needs."""
  roots = {x.name.split('.')[0] for x in source.others}
  names = [name for x in roots for name in _DISTRIBUTIONS.get(x, (x,))]
  return {f'@pip//{name}' for name in names}
