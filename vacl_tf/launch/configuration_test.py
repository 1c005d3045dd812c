# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""docs/configuration.md is what the dataclasses say."""

import dataclasses
import pathlib
from unittest import mock

from absl.testing import absltest

from vacl_tf import builtin
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf.launch import configuration

_PAGE = pathlib.Path(__file__).parents[2] / 'docs' / 'configuration.md'


class ConfigurationTest(absltest.TestCase):
  def test_the_page_is_what_the_command_prints(self):
    if not _PAGE.exists():
      self.skipTest('docs/ is not here')
    # Another test in this process may have registered its own.
    for registry, names in (
      (catalog.TASKS, builtin.TASKS),
      (catalog.AGENTS, builtin.AGENTS),
      (catalog.CURRICULA, builtin.CURRICULA),
    ):
      only = {name: registry.get(name) for name in names}
      self.enter_context(mock.patch.dict(registry._entries, only, clear=True))
    self.assertEqual(
      _PAGE.read_text(),
      configuration.page(),
      'print it again: python -m vacl_tf.launch.configuration',
    )

  def test_what_a_user_registers_is_there(self):
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Mine(config.CurriculumConfig):
      """Constants of mine."""

      pace: float = 0.25

    known = mock.patch.dict(catalog.CURRICULA._entries)
    self.enter_context(known)
    catalog.register_curriculum(
      catalog.CurriculumSpec(name='mine', make=mock.Mock(), config=Mine)
    )
    self.assertIn('| `curriculum.pace` | ', configuration.page())

  def test_every_field_has_its_line(self):
    page = configuration.page()
    for name in overrides.leaves(config.Config()):
      if '.' in name:
        self.assertIn(f'| `{name}` | ', page)


if __name__ == '__main__':
  absltest.main()
