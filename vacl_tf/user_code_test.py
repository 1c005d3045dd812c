# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for user_code."""

import importlib.util
import pathlib

import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import tracing
from vacl_tf import user_code

_FILE = """
import json

import numpy as np
import tensorflow as tf


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


def with_arrays():
  raise ValueError('given [[0, 1]] {{x}} [Op:y]\\nFile "x.py", line 1, in f')


def out_of_bounds(is_xla):
  @tf.function(jit_compile=is_xla, autograph=False)
  def graph(x):
    return tf.unique(x)[0][9]

  graph(tf.ones([2]))


def calls_python(x):
  return tf.numpy_function(lambda x: x, [x], tf.float32)


def other_shapes():
  tf.function(lambda x: x + tf.ones([3]))(tf.ones([2]))
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
    ('divides', 'ZeroDivisionError: division by zero', 9),
    ('of_a_library', 'LinAlgError: Singular matrix', 13),
    ('of_python', 'JSONDecodeError: .*', 17),
  )
  def test_the_place_is_in_the_users_file(self, name, message, line):
    self.assertRegex(
      self._told(name), rf'^{message} \({self.path}, line {line}\)$'
    )

  def test_a_graph_failed_where_the_user_made_it(self):
    for is_xla in (False, True):
      self.assertEqual(
        self._told('out_of_bounds', is_xla),
        'InvalidArgumentError: slice index 9 of dimension 0 out of bounds. '
        f'({self.path}, line 35)',
      )

  def test_an_operation_that_xla_does_not_know(self):
    x = tf.ones([2])
    run = tracing.program(self.theirs.calls_python)
    for function, *args in (
      (run, x),
      (tracing.check_compiles, self.theirs.calls_python, x),
    ):
      with self.assertRaises(Exception) as caught:
        function(*args)
      self.assertRegex(
        user_code.told(caught.exception),
        r"^[a-zA-Z]+Error: XLA can't compile PyFunc "
        rf'\({self.path}, line 41\)$',
      )

  def test_what_a_user_writes_is_kept(self):
    told = self._told('with_arrays')
    self.assertStartsWith(
      told,
      'ValueError: given [[0, 1]] {{x}} [Op:y] File "x.py", line 1, in f (',
    )

  def test_a_graph_that_can_not_be_made(self):
    told = self._told('other_shapes')
    self.assertStartsWith(told, 'ValueError: ')
    self.assertIn('Dimensions must be equal, but are 2 and 3 for ', told)
    self.assertNotIn('{{', told)

  def test_it_is_within_code_of_the_user_or_not(self):
    for function, is_within in (
      (self.theirs.divides, True),
      (self.theirs.of_a_library, True),
      (user_code.told, False),  # Without an error to tell of.
    ):
      try:
        function()
      except Exception as error:
        self.assertEqual(user_code.is_within(error), is_within)
      else:
        self.fail('it did not raise')

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
    self.assertEndsWith(told, f'({self.path}, line 25)')


if __name__ == '__main__':
  absltest.main()
