# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Flags are told by purpose, with ranges and defaults, in 80 columns."""

from unittest import mock

from absl import flags
from absl.testing import absltest

from vacl_tf.launch import help_page

_LONG = 'a word or two ' * 20


class PageTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    values = flags.FlagValues()
    kinds = {'flag_values': values}
    flags.DEFINE_integer(
      'number', 3, 'Of things.', lower_bound=1, upper_bound=9, **kinds
    )
    flags.DEFINE_integer('count', None, 'Default: as many as fit.', **kinds)
    flags.DEFINE_float('share', 0.0, _LONG, **kinds)
    flags.DEFINE_bool('fast', False, 'Be quick.', **kinds)
    flags.DEFINE_integer('zero', 0, 'None of them.', **kinds)
    flags.DEFINE_list('parts', [], 'Some of them.', **kinds)
    flags.DEFINE_multi_string('more', [], 'And others.', **kinds)
    self.enter_context(mock.patch.object(help_page.flags, 'FLAGS', values))

  def test_flags_stand_below_their_purpose_those_of_none_last(self):
    groups = {'more': '', 'number': 'Sizes', 'fast': 'Speed', 'count': 'Sizes'}
    lines = help_page.page('About.\n', groups).splitlines()
    self.assertEqual(
      [line for line in lines if not line.startswith('   ')],
      [
        'About.',
        '',
        'Sizes',
        '  --number=N',
        '  --count=N',
        '',
        'Speed',
        '  --[no]fast',
        '',
        'Others',
        '  --more=TEXT',
      ],
    )
    self.assertIn('\nFlags\n  --more=TEXT\n', help_page.page('', {'more': ''}))

  def test_range_and_default_are_told_once(self):
    groups = dict.fromkeys(('number', 'count', 'fast', 'parts', 'more'), '')
    words = ' '.join(help_page.page('', groups).split())
    self.assertIn('--number=N Of things. Allowed: 1 to 9. Default: 3.', words)
    self.assertIn('--count=N Default: as many as fit. --[no]fast', words)
    self.assertIn('--[no]fast Be quick. --parts=A,B Some of them.', words)
    self.assertEndsWith(words, '--more=TEXT And others.')
    self.assertEqual(words.count('Default'), 2)
    share = help_page.page('', {'share': '', 'zero': ''})
    self.assertEndsWith(share, 'None of them. Default: 0.')

  def test_nothing_is_wider_than_80_columns_and_nothing_is_lost(self):
    text = help_page.page('', {'share': 'Purpose ' * 15})
    self.assertLessEqual(max(map(len, text.splitlines())), 80)
    words = ' '.join(text.split())
    self.assertIn(_LONG.strip(), words)
    self.assertIn(('Purpose ' * 15).strip(), words)


if __name__ == '__main__':
  absltest.main()
