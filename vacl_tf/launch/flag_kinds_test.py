# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for flag_kinds."""

from absl import flags
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.launch import flag_kinds


class FlagKindsTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    flag_kinds.whole('a_whole', 1, '', 0, 10**9)
    flag_kinds.number('a_number', 0.5, '')
    flag_kinds.switch('a_switch', False, '')
    flag_kinds.wholes('a_list', None, '')
    for name in ('a_whole', 'a_number', 'a_switch', 'a_list'):
      self.addCleanup(delattr, flags.FLAGS, name)

  def _parse(self, *arguments):
    flags.FLAGS(['test', *arguments])
    return flags.FLAGS

  @parameterized.parameters(
    ('3', 3), ('3e6', 3_000_000), ('3.0', 3), ('3_000', 3000), ('1.5e3', 1500)
  )
  def test_whole(self, given, value):
    found = self._parse(f'--a_whole={given}').a_whole
    self.assertEqual(found, value)
    self.assertIsInstance(found, int)

  @parameterized.parameters(
    ('--a_number=5e-4', 'a_number', 5e-4),
    ('--a_number=2', 'a_number', 2.0),
    ('--a_switch', 'a_switch', True),
    ('--a_switch=true', 'a_switch', True),
    ('--noa_switch', 'a_switch', False),
    ('--a_switch=0', 'a_switch', False),
    ('--a_list=4', 'a_list', [4]),
    ('--a_list=4, 8,-1', 'a_list', [4, 8, -1]),
    ('--a_switch', 'a_list', None),
  )
  def test_others(self, given, name, value):
    self.assertEqual(getattr(self._parse(given), name), value)

  @parameterized.parameters(
    ('--a_whole=3M', 'a_whole=3M: not a whole number; give one like 4 or 3e6'),
    ('--a_whole=1.5', 'a_whole=1.5: not a whole number'),
    ('--a_whole=nan', 'a_whole=nan: not a whole number'),
    ('--a_whole=inf', 'a_whole=inf: not a whole number'),
    ('--a_whole=', 'a_whole=: not a whole number'),
    ('--a_whole=2e9', r'in the range \[0, 1000000000\]'),
    ('--a_number=half', 'a_number=half: not a number; give one like 0.5'),
    ('--a_list=', 'a_list=: not a list of numbers; give one like 4,8,24'),
    ('--a_list=4,', 'a_list=4,: not a list of numbers'),
    ('--a_list=4,x', 'a_list=4,x: not a list of numbers'),
    ('--a_switch=maybe', 'a_switch=maybe: neither true nor false; give one'),
  )
  def test_what_can_not_be_given(self, given, message):
    with self.assertRaisesRegex(flags.IllegalFlagValueError, message):
      self._parse(given)


if __name__ == '__main__':
  absltest.main()
