# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Names are unique, and an unknown one is answered with the closest."""

from typing import NamedTuple

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import registry


class _Entry(NamedTuple):
  name: str


class RegistryTest(parameterized.TestCase):
  def test_what_is_added_is_found(self):
    known = registry.Registry('fruit')
    pear = _Entry('pear')
    known.add(pear)
    self.assertIs(known.get('pear'), pear)
    self.assertEqual(known.names(), ('pear',))

  def test_a_name_is_taken_once(self):
    known = registry.Registry('fruit')
    known.add(_Entry('pear'))
    with self.assertRaisesRegex(
      ValueError, "fruit='pear' is registered already; choose another name"
    ):
      known.add(_Entry('pear'))

  @parameterized.parameters('', 'two words', 'a.b', '4x4', 'a-b')
  def test_a_name_is_one_word(self, name):
    with self.assertRaisesRegex(ValueError, 'is not a name; give letters'):
      registry.Registry('fruit').add(_Entry(name))

  def test_an_unknown_name_is_answered_with_the_closest(self):
    known = registry.Registry('fruit')
    known.add(_Entry('pear'))
    with self.assertRaisesRegex(ValueError, "fruit='peer'.*did you mean pear"):
      known.get('peer')
    message = "fruit='fig'.*allowed: pear; to use your own, give --import"
    with self.assertRaisesRegex(ValueError, message):
      known.get('fig')


if __name__ == '__main__':
  absltest.main()
