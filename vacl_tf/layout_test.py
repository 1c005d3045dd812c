# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rules of the house: who imports whom, and that BUILD files say so.

Reads the sources and imports none of them. Under Bazel the sources are data of
this test, so a new package also needs a line in its target.
"""

import ast
import dataclasses
import functools
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

from absl.testing import absltest

_ROOT = pathlib.Path(__file__).parent.parent
_NAME = 'vacl_tf'

_MAX_FILE_LINES = 420
_MAX_FUNCTION_LINES = 60

# By package: what its modules may import of ours, besides the package itself
# and what everyone may. A name stands for all below it too.
_EVERYONE = ('bounds', 'config', 'randomness', 'tracing', 'types')
_MAY_IMPORT = {
  '': (),
  'environments': ('presets',),
  'environments.hide_and_seek': (
    'environments.base',
    'environments.rendering',
    'environments.shapes',
    'environments.task_space',
  ),
  'environments.particle': (
    'environments.base',
    'environments.shapes',
    'environments.task_space',
  ),
  'curriculum': ('environments.task_space',),
  'networks': (),
  'learning': (),
  'training': ('environments', 'curriculum', 'networks', 'learning'),
  'launch': (
    'presets',
    'environments',
    'curriculum',
    'networks',
    'learning',
    'training',
    'statistics',
    'studies',
  ),
  'testing': (
    'environments.base',
    'environments.shapes',
    'environments.task_space',
  ),
}
# By module: what it may import besides what its package may. The oracles next
# to it must not know the worlds that they judge.
_MODULE_MAY_IMPORT = {
  'testing.golden': ('presets', 'environments', 'training.loop'),
}
# By package: what its tests may import too, to try the real thing.
_TESTS_MAY_IMPORT = {
  '': ('presets', 'statistics', 'studies'),
  'learning': ('networks',),
  'networks': ('environments',),
  'testing': ('curriculum', 'presets', 'training'),
  'training': ('presets',),
}
# By module: all that it may import, but for the standard library.
_MAY_ONLY_IMPORT = {
  'config': (),
  'presets': ('vacl_tf.config',),
  'statistics': ('numpy',),
  'studies': ('vacl_tf.config',),
  'types': ('tensorflow',),
}

_MAY_COMPILE = ('training', 'launch', 'environments.adapters', 'tracing')
_MAY_HAVE_FLAGS = ('launch',)
_IMPORTED_LATE = ('PIL', 'matplotlib')  # Slow, and few runs need them.

# What to install for a module, where it is not what the module is called. The
# wheels of TensorFlow's friends leave out some of what they import.
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
class _Import:
  """One imported name."""

  name: str  # Of a module, or of something in it.
  line: int
  is_ours: bool
  is_symbol: bool  # Of ours, something in a module.
  is_late: bool  # Inside a function, or for the type checker only.

  @property
  def module(self) -> str:
    """The module that has to be there."""
    return self.name.rpartition('.')[0] if self.is_symbol else self.name


class _Source:
  """A file of Python."""

  def __init__(self, path: pathlib.Path):
    self.path = path
    self.folder = path.parent
    self.module = _module(path)
    self.is_test = path.name.endswith('_test.py')
    self.is_package = path.name == '__init__.py'
    text = path.read_text()
    self.num_lines = text.count('\n')
    self.tree = ast.parse(text)

  def __str__(self) -> str:
    return str(self.path.relative_to(_ROOT))

  @property
  def inside(self) -> str:
    """The name of the module inside vacl_tf."""
    return self.module.removeprefix(_NAME).removeprefix('.')

  @property
  def package(self) -> str:
    """The name inside vacl_tf of the package."""
    parts = self.folder.relative_to(_ROOT).parts
    return '.'.join(parts[1:])

  def nodes(self) -> Iterator[tuple[ast.AST, bool]]:
    """Yields the nodes, each with whether a plain import leaves it out."""
    stack = [(self.tree, False)]
    while stack:
      node, is_late = stack.pop()
      yield node, is_late
      is_late |= isinstance(node, ast.FunctionDef | ast.Lambda)
      if isinstance(node, ast.If):
        is_late |= ast.unparse(node.test) == 'TYPE_CHECKING'
      stack += [(child, is_late) for child in ast.iter_child_nodes(node)]

  @functools.cached_property
  def imports(self) -> list[_Import]:
    """What the file imports."""
    found = []
    for node, is_late in self.nodes():
      names = []
      if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
      elif isinstance(node, ast.ImportFrom):
        start = '.' * node.level + (node.module or '')
        names = [f'{start}.{alias.name}' for alias in node.names]
      for name in names:
        is_ours = name.startswith('.') or name.split('.')[0] == _NAME
        is_symbol = is_ours and name not in _sources()
        found.append(_Import(name, node.lineno, is_ours, is_symbol, is_late))
    return found

  @property
  def ours(self) -> list[_Import]:
    """What the file imports of vacl_tf."""
    return [x for x in self.imports if x.is_ours]

  @property
  def others(self) -> list[_Import]:
    """What the file imports that has to be installed."""
    known = sys.stdlib_module_names
    imports = [x for x in self.imports if not x.is_ours]
    return [x for x in imports if x.name.split('.')[0] not in known]

  def programs(self) -> set[str]:
    """Returns our modules that the file runs: 'vacl_tf.x' or f'vacl_tf.{y}'."""
    nodes = [x for x, _ in self.nodes() if isinstance(x, ast.Constant)]
    texts = {x.value for x in nodes if isinstance(x.value, str)}
    starts = {x for x in texts if x.startswith(_NAME) and x.endswith('.')}
    names = {start + text for start in {'', *starts} for text in texts}
    return {x for x in names if '.' in x} & set(_sources())


def _module(path: pathlib.Path) -> str:
  parts = path.relative_to(_ROOT).with_suffix('').parts
  return '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)


@functools.cache
def _sources() -> dict[str, _Source]:
  """Returns the sources by module."""
  paths = sorted((_ROOT / _NAME).rglob('*.py'))
  return {_module(path): _Source(path) for path in paths}


@functools.cache
def _targets(folder: pathlib.Path) -> dict[str, dict[str, Any]]:
  """Returns the attributes of the targets in a BUILD file, by name."""
  targets = {}
  # What is used of Starlark is Python too.
  for statement in ast.parse((folder / 'BUILD').read_text()).body:
    call = statement.value
    attributes = {'kind': ast.unparse(call.func)}
    for keyword in call.keywords:
      try:
        attributes[keyword.arg] = ast.literal_eval(keyword.value)
      except ValueError:  # It has a glob in it.
        attributes[keyword.arg] = ast.unparse(keyword.value)
    if 'name' in attributes:
      targets[attributes['name']] = attributes
  return targets


def _name(source: _Source) -> str:
  """Returns the name of the target that others depend on."""
  if source.is_package:
    return source.folder.name
  stem = source.path.stem
  is_command = _targets(source.folder).get(stem, {}).get('kind') == 'py_binary'
  return f'{stem}_lib' if is_command else stem


def _label(source: _Source, folder: pathlib.Path) -> str:
  """Returns the label of a source, as written in the BUILD of a folder."""
  name = _name(source)
  if source.folder == folder:
    return f':{name}'
  package = f'//{source.folder.relative_to(_ROOT)}'
  return package if source.is_package else f'{package}:{name}'


def _deps(source: _Source) -> set[str]:
  """Returns the labels of what a source needs of ours."""
  modules = {x.module for x in source.ours} | source.programs()
  own = _sources()[_module(source.folder / '__init__.py')]
  # Whoever imports this module runs that file first. Where it imports others
  # of ours it can't be a dependency of theirs, and Bazel puts an empty one.
  if own.tree.body and not own.ours and not source.is_test:
    modules.add(own.module)
  modules.discard(source.module)
  known = [_sources()[x] for x in modules if x in _sources()]
  return {_label(x, source.folder) for x in known}


def _distributions(source: _Source) -> set[str]:
  """Returns the labels of what a source needs of others."""
  roots = {x.name.split('.')[0] for x in source.others}
  names = [name for x in roots for name in _DISTRIBUTIONS.get(x, (x,))]
  return {f'@pip//{name}' for name in names}


def _is_below(name: str, tops: tuple[str, ...]) -> bool:
  return any(name == top or name.startswith(f'{top}.') for top in tops)


class _Case(absltest.TestCase):
  def assert_none(self, wrong):
    self.assertEmpty(wrong, '\n'.join(['', *wrong]))


class ImportTest(_Case):
  def test_every_package_is_seen_and_has_a_rule(self):
    packages = {source.package for source in _sources().values()}
    self.assertSameElements(packages, _MAY_IMPORT)
    for source in _sources().values():
      self.assertTrue((source.folder / '__init__.py').exists(), source)
      self.assertTrue((source.folder / 'BUILD').exists(), source)

  def test_packages_import_what_they_may(self):
    wrong = []
    for source in _sources().values():
      more = _MODULE_MAY_IMPORT.get(source.inside, ())
      tops = (*_EVERYONE, *_MAY_IMPORT[source.package], *more)
      if source.package:
        tops = (*tops, source.package)
      if source.is_test:
        more = _TESTS_MAY_IMPORT.get(source.package, ())
        tops = (*tops, 'testing', *more)
      for found in source.ours:
        name = found.module.removeprefix(_NAME).removeprefix('.')
        if name and not _is_below(name, tops):
          wrong.append(f'{source}:{found.line} may not import {name}')
    self.assert_none(wrong)

  def test_foundations_import_next_to_nothing(self):
    wrong = []
    for name, allowed in _MAY_ONLY_IMPORT.items():
      source = _sources()[f'{_NAME}.{name}']
      for found in source.ours + source.others:
        if not _is_below(found.name, allowed):
          wrong.append(f'{source}:{found.line} may not import {found.name}')
    self.assert_none(wrong)

  def test_modules_are_imported_not_their_members(self):
    wrong = [
      f'{source}:{found.line} imports {found.name}, which is not a module'
      for source in _sources().values()
      for found in source.ours
      if found.is_symbol
    ]
    self.assert_none(wrong)

  def test_flags_are_in_the_commands_only(self):
    wrong = [
      f'{source}:{found.line} has flags'
      for source in _sources().values()
      for found in source.others
      if _is_below(found.name, ('absl.flags', 'absl.app'))
      and not _is_below(source.inside, _MAY_HAVE_FLAGS)
    ]
    self.assert_none(wrong)

  def test_slow_modules_are_imported_late(self):
    wrong = [
      f'{source}:{found.line} imports {found.name} outside a function'
      for source in _sources().values()
      for found in source.others
      if _is_below(found.name, _IMPORTED_LATE)
      and not (found.is_late or source.is_test)
    ]
    self.assert_none(wrong)

  def test_library_code_is_not_compiled_by_itself(self):
    wrong = [
      f'{source}:{node.lineno} has tf.function'
      for source in _sources().values()
      if not source.is_test and not _is_below(source.inside, _MAY_COMPILE)
      for node, _ in source.nodes()
      if isinstance(node, ast.Attribute) and ast.unparse(node) == 'tf.function'
    ]
    self.assert_none(wrong)


class LengthTest(_Case):
  def test_files_and_functions_are_short(self):
    wrong = []
    for source in _sources().values():
      if source.num_lines >= _MAX_FILE_LINES:
        wrong.append(f'{source} has {source.num_lines} lines')
      for node, _ in source.nodes():
        if isinstance(node, ast.FunctionDef):
          num_lines = node.end_lineno - node.lineno + 1
          if num_lines >= _MAX_FUNCTION_LINES:
            wrong.append(f'{source}: {node.name} has {num_lines} lines')
    self.assert_none(wrong)


class BuildTest(_Case):
  def test_every_file_has_its_target(self):
    wrong = []
    for source in _sources().values():
      stem = source.folder.name if source.is_package else source.path.stem
      names = {stem, _name(source)}
      kinds = {_targets(source.folder).get(x, {}).get('kind') for x in names}
      if len(names) == 2:  # The command and what others may import of it.
        expected = {'py_binary', 'py_library'}
      else:
        expected = {'py_test' if source.is_test else 'py_library'}
      if kinds != expected:
        wrong.append(f'{source} needs as {sorted(names)}: {sorted(expected)}')
      for name in names & set(_targets(source.folder)):
        srcs = _targets(source.folder)[name].get('srcs')
        if srcs != [source.path.name]:
          wrong.append(f'{source}: target {name} has srcs {srcs}')
    self.assert_none(wrong)

  def test_deps_are_what_is_imported(self):
    wrong = []
    for source in _sources().values():
      target = _targets(source.folder).get(_name(source), {})
      deps = set(target.get('deps', []))
      ours = {label for label in deps if not label.startswith('@')}
      needed = _deps(source)
      missing = (needed - ours) | (_distributions(source) - deps)
      # Of others more is right: some is used with no import in sight.
      for label in sorted(missing):
        wrong.append(f'{source}: its target lacks {label}')
      for label in sorted(ours - needed):
        wrong.append(f'{source}: its target has {label}, which it never uses')
    self.assert_none(wrong)

  def test_a_command_depends_on_its_library_alone(self):
    for source in _sources().values():
      stem = source.path.stem
      if _name(source) == f'{stem}_lib':
        binary = _targets(source.folder)[stem]
        self.assertEqual(binary.get('deps'), [f':{stem}_lib'], source)

  def test_tests_that_are_left_out_say_so(self):
    for source in _sources().values():
      if source.is_test:
        tags = _targets(source.folder).get(source.path.stem, {}).get('tags', [])
        for tag in ('gpu', 'slow'):
          is_named_so = source.path.stem.endswith(f'_{tag}_test')
          self.assertEqual(tag in tags, is_named_so, source)

  def test_helpers_of_tests_are_for_tests_only(self):
    build = (_ROOT / _NAME / 'testing' / 'BUILD').read_text()
    self.assertIn('default_testonly = True', build)


if __name__ == '__main__':
  absltest.main()
