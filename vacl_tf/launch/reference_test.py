# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The page of functions is true, whole, and says what each argument is."""

import importlib
import inspect
import pathlib
import re

from absl.testing import absltest

import vacl_tf
from vacl_tf.launch import reference

_PAGE = pathlib.Path(__file__).parents[2] / 'docs' / 'python.md'
_ENTRIES = [entry for x in reference.SECTIONS.values() for entry in x]


def _of(entry):
  return getattr(importlib.import_module(entry.module), entry.name)


class ReferenceTest(absltest.TestCase):
  def test_the_page_is_what_the_command_prints(self):
    if not _PAGE.exists():
      self.skipTest('docs/ is not here')
    self.assertEqual(
      _PAGE.read_text(),
      reference.page(),
      'print it again: python -m vacl_tf.launch.reference',
    )

  def test_names_are_those_of_the_package(self):
    for entry in _ENTRIES:
      module, _, name = entry.title.rpartition('.')
      found = getattr(importlib.import_module(module), name)
      self.assertIs(found, _of(entry))

  def test_all_that_the_package_offers_is_there(self):
    offered = {*vacl_tf._LATE, *(x for x in dir(vacl_tf) if 'register' in x)}
    titles = [entry.title for entry in _ENTRIES]
    for name in offered - {'client'}:
      self.assertIn(f'vacl_tf.{name}', titles)

  def test_every_argument_is_explained(self):
    found = re.findall(
      r'```python\n((?:@\w+\n)?def .*?)\n```\n(.*?)(?=\n```|\n#|\Z)',
      reference.page(),
      re.DOTALL,
    )
    self.assertGreater(len(found), 15)
    for signature, told in found:
      if '__init__' in signature:  # The text of its class says so.
        continue
      names = re.findall(r'(?:^  |\()(\*{0,2}\w+)[:,)]', signature, re.M)
      for name in set(names) - {'self', 'cls', 'spec'}:
        if len(names) > 2:
          self.assertIn(f'* `{name}`: ', told, signature)

  def test_signatures_are_those_of_the_functions(self):
    page = reference.page()
    for entry in _ENTRIES:
      if inspect.isfunction(own := _of(entry)):
        section = page.partition(f'### {entry.title}\n')[2].partition('###')[0]
        for name in inspect.signature(own).parameters:
          self.assertRegex(section, rf'\b{name}: ')


if __name__ == '__main__':
  absltest.main()
