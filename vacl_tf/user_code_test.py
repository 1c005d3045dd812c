# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for user_code."""

import importlib.util
import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import user_code

_FILE = """
import json

import numpy as np


def divides():
  return 1 / 0


def of_a_library():
  return np.linalg.inv(np.zeros([2, 2]))


def of_python():
  return json.loads('{')


def takes_none():
  pass


def many_lines():
  raise ValueError('one\\n  two' + 1000 * '.')
"""


class ToldTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.path = pathlib.Path(self.create_tempdir().full_path) / 'theirs.py'
    self.path.write_text(_FILE)
    spec = importlib.util.spec_from_file_location('theirs', self.path)
    self.theirs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(self.theirs)

  def _told(self, name, *arguments):
    try:
      getattr(self.theirs, name)(*arguments)
    except Exception as error:
      return user_code.told(error)
    self.fail('it did not raise')

  @parameterized.parameters(
    ('divides', 'ZeroDivisionError: division by zero', 8),
    ('of_a_library', 'LinAlgError: Singular matrix', 12),
    ('of_python', 'JSONDecodeError: .*', 16),
  )
  def test_the_place_is_in_the_users_file(self, name, message, line):
    self.assertRegex(
      self._told(name), rf'^{message} \({self.path}, line {line}\)$'
    )

  def test_other_arguments_have_no_place_of_the_user(self):
    told = self._told('takes_none', 1)
    self.assertRegex(
      told, r'^TypeError: takes_none\(\) takes 0 positional arguments but 1'
    )
    self.assertEndsWith(told, 'was given')

  def test_it_is_one_short_line(self):
    told = self._told('many_lines')
    self.assertStartsWith(told, 'ValueError: one two...')
    self.assertLess(len(told), 400 + len(str(self.path)))
    self.assertEndsWith(told, f'({self.path}, line 24)')


if __name__ == '__main__':
  absltest.main()
