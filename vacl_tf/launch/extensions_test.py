# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A user's module is imported, or one line says why it can't be."""

import os
import pathlib
import sys
from unittest import mock

# Once, before sys.modules is patched: commands import it with modules of users,
# and it can't be imported twice.
import tensorflow as tf  # noqa: F401
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import studies
from vacl_tf.launch import command_line
from vacl_tf.launch import extensions
from vacl_tf.testing import commands

_REGISTERS = """
from vacl_tf import catalog

catalog.register_curriculum(
  catalog.CurriculumSpec(name='{name}', make=lambda setting: None)
)
"""


_REGISTERS_STUDY = """
from vacl_tf import studies

task = studies.Task('maze', ('--env=maze',), 100)
studies.register('{name}', [task], {{'rcg': ('--curriculum=rcg',)}})
"""


class ExtensionsTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    for patch in (
      mock.patch.dict(catalog.CURRICULA._entries),
      mock.patch.dict(studies.STUDIES._entries),
      mock.patch.dict(sys.modules),
      mock.patch.object(sys, 'path', list(sys.path)),
      mock.patch.dict(
        os.environ, {'BUILD_WORKING_DIRECTORY': str(self.folder)}
      ),
    ):
      self.enter_context(patch)
    self.seen = []
    self.num_built_in = len(catalog.CURRICULA.names())

  def _write(self, name: str, text: str) -> str:
    path = self.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return str(path)

  def _run(self, *arguments: str) -> commands.Ended:
    def main():
      names = catalog.CURRICULA.names()
      self.seen.append((command_line.imports(), names[self.num_built_in :]))

    define = command_line.defines(command_line.IMPORT)
    return commands.run(lambda: command_line.run(main, define), *arguments)

  def _assert_imported(self, *names, given, registered):
    ended = self._run(*(f'--import={name}' for name in names))
    self.assertEqual((ended.code, ended.err), (0, ''))
    self.assertEqual(self.seen.pop(), (given, registered))

  def test_a_module_where_the_user_stands(self):
    self._write('own_zig.py', _REGISTERS.format(name='zig'))
    self._assert_imported('own_zig', given=('own_zig',), registered=('zig',))
    # Once more in the same process: it is there already.
    self._assert_imported('own_zig', given=('own_zig',), registered=('zig',))

  def test_a_module_in_a_package(self):
    self._write('own_pack/__init__.py', '')
    self._write('own_pack/zag.py', _REGISTERS.format(name='zag'))
    self._assert_imported(
      'own_pack.zag', given=('own_pack.zag',), registered=('zag',)
    )

  def test_files_with_neighbours(self):
    self._write('elsewhere/own_names.py', "NAME = 'zog'\n")
    self._write(
      'elsewhere/own_zog.py',
      'import own_names\n' + _REGISTERS.format(name="' + own_names.NAME + '"),
    )
    path = self._write('own_zug.py', _REGISTERS.format(name='zug'))
    self._assert_imported(
      'elsewhere/own_zog.py',
      path,
      given=('elsewhere/own_zog.py', path),
      registered=('zog', 'zug'),
    )

  def test_several_with_commas(self):
    for name in ('zip', 'zap'):
      self._write(f'own_{name}.py', _REGISTERS.format(name=name))
    self._assert_imported(
      'own_zip,own_zap',
      'own_zap',
      given=('own_zip', 'own_zap'),
      registered=('zip', 'zap'),
    )

  def test_a_module_that_registers_nothing_is_noted(self):
    self._write('own_nothing.py', '')
    ended = self._run('--import=own_nothing')
    self.assertEqual(ended.code, 0)
    self.assertEqual(
      ended.err,
      'note: own_nothing registers no task, agent, curriculum or study\n',
    )

  def test_files_that_register_only_studies(self):
    study = _REGISTERS_STUDY.format(name='own_study')
    both = _REGISTERS_STUDY.format(name='own_both')
    for name, text in (
      ('own_study', study),
      ('own_both', both + _REGISTERS.format(name='both')),
      ('own_helper', ''),
      ('own_curriculum', _REGISTERS.format(name='curriculum')),
    ):
      file = f'{name}.py'
      self._write(file, text)
      for _ in range(2):
        self._run(f'--import={file}')
        only = extensions.has_only_studies(file)
        self.assertEqual(only, name == 'own_study', name)

  @parameterized.parameters(
    ('own_none', 'import=own_none is not a module that can be found from here'),
    ('own_none.below', 'import=own_none.below is not a module that can be'),
    ('own_none.py', 'import=own_none.py is not a file; give the path of one'),
    ('x' * 300 + '.py', 'import: .* .File name too long.; give another file'),
  )
  def test_a_missing_module_is_one_line(self, name, message):
    self._assert_refused(name, message)

  def test_a_file_whose_name_has_a_dot(self):
    self._write('own.two.py', _REGISTERS.format(name='two'))
    self._assert_refused('own.two.py', 'own.two.py has a dot in its')

  @parameterized.parameters(
    (
      'import own_missing',
      "ModuleNotFoundError: No module named 'own_missing'",
    ),
    ('\n1 / 0', 'ZeroDivisionError: division by zero .*own_bad.py, line 2'),
    ('\nimport sys; sys.exit(3)', 'SystemExit: 3 .*own_bad.py, line 2'),
    ('def', 'SyntaxError: invalid syntax .own_bad.py, line 1'),
    (
      _REGISTERS.format(name='vacl'),
      "curriculum='vacl' is registered already; .*own_bad.py, line 4",
    ),
    (_REGISTERS.format(name='my own'), "curriculum='my own' is not a name"),
  )
  def test_a_module_that_fails_is_one_line(self, text, message):
    self._write('own_bad.py', text)
    for name in ('own_bad', 'own_bad.py'):
      self._assert_refused(name, f'^error: import={name} failed: .*{message}')

  def test_a_file_is_not_mistaken_for_another_module(self):
    path = self._write('json.py', _REGISTERS.format(name='json'))
    self._assert_refused(path, 'another module called json; rename the file')

  def _assert_refused(self, name, message):
    ended = self._run(f'--import={name}')
    self.assertEqual((ended.code, ended.out), (command_line.USAGE, ''))
    self.assertRegex(ended.err, message)
    self.assertEqual(ended.err.count('\n'), 1, ended.err)
    self.assertEmpty(self.seen)


if __name__ == '__main__':
  absltest.main()
