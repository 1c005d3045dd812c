# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rules of the house: who imports whom, and that BUILD files say so.

Reads the sources and imports none of them. Under Bazel the sources are data of
this test, so a new package also needs a line in the target all_sources.
"""

import ast

from absl.testing import absltest

from vacl_tf.testing import source_tree

_MAX_FILE_LINES = 401
_MAX_FUNCTION_LINES = 51

# By package: what its modules may import of ours, besides the package itself
# and what everyone may. A name stands for all below it too.
_EVERYONE = (
  'bounds',
  'catalog',
  'config',
  'entity_counts',
  'machine',
  'overrides',
  'randomness',
  'reading',
  'tracing',
  'types',
  'user_code',
)
_OF_WORLDS = (
  'environments.base',
  'environments.egocentric',
  'environments.map_layout',
  'environments.paper',
  'environments.rendering',
  'environments.shapes',
  'environments.simulator',
  'environments.task_space',
  'environments.task_spec',
)
_MAY_IMPORT = {
  '': ('builtin', 'registry', 'study_lists', 'study_methods', 'study_tasks'),
  'agents': ('builtin', 'networks'),
  'client': ('training.files',),  # It starts `launch.curriculum_server`.
  'curriculum': (
    'builtin',
    'environments.base',
    'environments.simulator',
    'environments.task_space',
  ),
  'curriculum.baselines': ('curriculum',),
  'environments': ('builtin',),
  'environments.hide_and_seek': _OF_WORLDS,
  'environments.hide_and_seek.rendering': (
    *_OF_WORLDS,
    'environments.hide_and_seek',
  ),
  'environments.particle': _OF_WORLDS,
  'networks': (),
  'learning': ('agents',),
  'training': ('agents', 'curriculum', 'environments', 'learning', 'networks'),
  'launch': (
    'agents',
    'benchmark_protocol',
    'builtin',
    'client',
    'curriculum',
    'environments',
    'learning',
    'networks',
    'presets',
    'statistics',
    'studies',
    'training',
  ),
  'testing': (
    'environments.base',
    'environments.shapes',
    'environments.task_space',
  ),
  'testing.stress': ('launch', 'presets', 'testing', 'training'),
}
# By module: what it may import besides what its package may. The oracles next
# to it must not know the worlds that they judge.
_MODULE_MAY_IMPORT = {
  # The package, while a command starts.
  '': ('builtin', 'launch.outputs', 'launch.signals'),
  'benchmark_protocol': ('studies',),
  'builtin': ('agents', 'curriculum', 'environments'),
  # For types alone.
  'catalog': ('agents.base', 'curriculum.base', 'environments.task_spec'),
  'testing.conformance': ('environments',),
  'testing.exchange': ('presets', 'environments', 'training'),
  'testing.golden': ('presets', 'environments', 'training'),
  'testing.products': ('agents', 'presets', 'environments', 'training'),
  'testing.run_folders': ('presets',),
  'testing.toy_learner': ('curriculum.python_curriculum',),
  'training.policy_files': ('presets',),
  'training.programs': ('builtin',),
}
# By package: what its tests may import too, to try the real thing.
_TESTS_MAY_IMPORT = {
  '': (
    'benchmark_protocol',
    'client',
    'curriculum',
    'environments',
    'presets',
    'statistics',
    'studies',
    'study_methods',
    'testing',
  ),
  'environments': ('presets',),
  'environments.hide_and_seek': ('environments',),
  'environments.hide_and_seek.rendering': ('environments',),
  'testing': ('curriculum', 'presets', 'training'),
  'training': ('presets',),
}
# By module: all that it may import, but for the standard library.
_MAY_ONLY_IMPORT = {
  # Whoever trains with something else may have NumPy alone.
  'client.checks': ('numpy', 'vacl_tf.overrides', 'vacl_tf.reading'),
  'client.process': ('numpy', 'vacl_tf.client.wire', 'vacl_tf.reading'),
  'client.wire': ('numpy',),
  'config': (),
  'machine': (),
  'overrides': ('vacl_tf.config',),
  'registry': ('vacl_tf.overrides',),
  'statistics': ('numpy',),
  'studies': (
    'vacl_tf.config',
    'vacl_tf.overrides',
    'vacl_tf.registry',
    'vacl_tf.study_lists',
    'vacl_tf.study_methods',
    'vacl_tf.study_tasks',
  ),
  'study_lists': ('vacl_tf.study_methods', 'vacl_tf.study_tasks'),
  'study_methods': (),
  'study_tasks': (),
  'types': ('dm_env', 'tensorflow'),
  'user_code': ('vacl_tf.reading',),
}

_MAY_COMPILE = (
  'environments.episodes',
  'environments.graph_simulator',
  'launch',
  'tracing',
  'training',
)
# Studies are lists of runs of tasks.
_MAY_NAME_TASKS = (
  'benchmark_protocol',
  'environments.hide_and_seek',
  'environments.particle',
  'studies',
  'study_lists',
  'study_methods',
  'study_tasks',
  'testing.fake_trainer',
  'testing.oracle_release',
  'testing.stress',
)
_MAY_HAVE_FLAGS = ('launch',)
_IMPORTED_LATE = ('PIL', 'matplotlib')  # Slow, and few runs need them.


def _is_below(name: str, tops: tuple[str, ...]) -> bool:
  return any(name == top or name.startswith(f'{top}.') for top in tops)


class _Case(absltest.TestCase):
  def assert_none(self, wrong):
    self.assertEmpty(wrong, '\n'.join(['', *wrong]))


class ImportTest(_Case):
  def test_every_package_is_seen_and_has_a_rule(self):
    packages = {source.package for source in source_tree.sources().values()}
    self.assertSameElements(packages, _MAY_IMPORT)
    for source in source_tree.sources().values():
      self.assertTrue((source.folder / '__init__.py').exists(), source)
      self.assertTrue((source.folder / 'BUILD').exists(), source)

  def test_packages_import_what_they_may(self):
    wrong = []
    for source in source_tree.sources().values():
      more = _MODULE_MAY_IMPORT.get(source.inside, ())
      tops = (*_EVERYONE, *_MAY_IMPORT[source.package], *more)
      if source.package:
        tops = (*tops, source.package)
      if source.is_test:
        more = _TESTS_MAY_IMPORT.get(source.package, ())
        tops = (*tops, 'testing', *more)
      for found in source.ours:
        name = found.module.removeprefix(source_tree.NAME).removeprefix('.')
        if name and not _is_below(name, tops):
          wrong.append(f'{source}:{found.line} may not import {name}')
    self.assert_none(wrong)

  def test_foundations_import_next_to_nothing(self):
    wrong = []
    for name, allowed in _MAY_ONLY_IMPORT.items():
      source = source_tree.sources()[f'{source_tree.NAME}.{name}']
      for found in source.ours + source.others:
        if not _is_below(found.name, allowed):
          wrong.append(f'{source}:{found.line} may not import {found.name}')
    self.assert_none(wrong)

  def test_modules_are_imported_not_their_members(self):
    wrong = [
      f'{source}:{found.line} imports {found.name}, which is not a module'
      for source in source_tree.sources().values()
      for found in source.ours
      if found.is_symbol
    ]
    self.assert_none(wrong)

  def test_flags_are_in_the_commands_only(self):
    wrong = [
      f'{source}:{found.line} has flags'
      for source in source_tree.sources().values()
      for found in source.others
      if _is_below(found.name, ('absl.flags', 'absl.app'))
      and not _is_below(source.inside, _MAY_HAVE_FLAGS)
    ]
    self.assert_none(wrong)

  def test_tasks_are_named_in_their_own_packages_only(self):
    sources = source_tree.sources()
    specs = [x for x in sources.values() if x.path.name.endswith('_spec.py')]
    names = {
      keyword.value.value
      for spec in specs
      for node, _ in spec.nodes()
      if isinstance(node, ast.Call)
      for keyword in node.keywords
      if keyword.arg == 'name' and isinstance(keyword.value, ast.Constant)
    }
    self.assertGreaterEqual(len(names), 6)
    wrong = [
      f'{source}:{node.lineno} names the task {node.value}'
      for source in sources.values()
      if not source.is_test and not _is_below(source.inside, _MAY_NAME_TASKS)
      for node, _ in source.nodes()
      if isinstance(node, ast.Constant) and node.value in names
    ]
    self.assert_none(wrong)

  def test_slow_modules_are_imported_late(self):
    wrong = [
      f'{source}:{found.line} imports {found.name} outside a function'
      for source in source_tree.sources().values()
      for found in source.others
      if _is_below(found.name, _IMPORTED_LATE)
      and not (found.is_late or source.is_test)
    ]
    self.assert_none(wrong)

  def test_library_code_is_not_compiled_by_itself(self):
    wrong = [
      f'{source}:{node.lineno} has tf.function'
      for source in source_tree.sources().values()
      if not source.is_test and not _is_below(source.inside, _MAY_COMPILE)
      for node, _ in source.nodes()
      if isinstance(node, ast.Attribute) and ast.unparse(node) == 'tf.function'
    ]
    self.assert_none(wrong)


class LengthTest(_Case):
  def test_files_and_functions_are_short(self):
    wrong = []
    for source in source_tree.sources().values():
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
    for source in source_tree.sources().values():
      stem = source.folder.name if source.is_package else source.path.stem
      names = {stem, source_tree.target_name(source)}
      kinds = {
        source_tree.targets(source.folder).get(x, {}).get('kind') for x in names
      }
      if len(names) == 2:  # The command and what others may import of it.
        expected = {'py_binary', 'py_library'}
      else:
        expected = {'py_test' if source.is_test else 'py_library'}
      if kinds != expected:
        wrong.append(f'{source} needs as {sorted(names)}: {sorted(expected)}')
      for name in names & set(source_tree.targets(source.folder)):
        srcs = source_tree.targets(source.folder)[name].get('srcs')
        if srcs != [source.path.name]:
          wrong.append(f'{source}: target {name} has srcs {srcs}')
    self.assert_none(wrong)

  def test_deps_are_what_is_imported(self):
    wrong = []
    for source in source_tree.sources().values():
      target = source_tree.targets(source.folder).get(
        source_tree.target_name(source), {}
      )
      deps = set(target.get('deps', []))
      ours = {label for label in deps if not label.startswith('@')}
      needed = source_tree.deps(source)
      missing = (needed - ours) | (source_tree.distributions(source) - deps)
      # Of others more is right: some is used with no import in sight.
      for label in sorted(missing):
        wrong.append(f'{source}: its target lacks {label}')
      for label in sorted(ours - needed):
        wrong.append(f'{source}: its target has {label}, which it never uses')
    self.assert_none(wrong)

  def test_deps_are_visible(self):
    wrong = []
    for source in source_tree.sources().values():
      target = source_tree.targets(source.folder).get(
        source_tree.target_name(source), {}
      )
      for dep in target.get('deps', []):
        if dep.startswith('//') and not source_tree.is_visible(
          dep, source.folder
        ):
          wrong.append(f'{source}: {dep} is not visible from there')
    self.assert_none(wrong)

  def test_a_command_depends_on_its_library_alone(self):
    for source in source_tree.sources().values():
      stem = source.path.stem
      if source_tree.target_name(source) == f'{stem}_lib':
        binary = source_tree.targets(source.folder)[stem]
        self.assertEqual(binary.get('deps'), [f':{stem}_lib'], source)

  def test_tests_that_are_left_out_say_so(self):
    for source in source_tree.sources().values():
      if source.is_test:
        tags = (
          source_tree.targets(source.folder)
          .get(source.path.stem, {})
          .get('tags', [])
        )
        for tag in ('browser', 'gpu', 'slow'):
          is_named_so = source.path.stem.endswith(f'_{tag}_test')
          self.assertEqual(tag in tags, is_named_so, source)

  def test_helpers_of_tests_are_for_tests_only(self):
    build = (
      source_tree.ROOT / source_tree.NAME / 'testing' / 'BUILD'
    ).read_text()
    self.assertIn('default_testonly = True', build)


if __name__ == '__main__':
  absltest.main()
