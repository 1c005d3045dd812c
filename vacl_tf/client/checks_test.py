# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Every mistake is one line that says what is allowed."""

import pathlib

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.client import checks

_NAN = float('nan')
_LOW, _HIGH = np.zeros([2]), np.array([0.1, 10.0])


class _Case(parameterized.TestCase):
  def assert_refused(self, message, check, *arguments):
    with self.assertRaisesWithLiteralMatch(ValueError, message):
      check(*arguments)


class ChecksTest(_Case):
  @parameterized.named_parameters(
    ('text', 'ab', [1], 'low=ab are not numbers'),
    (
      'nan',
      [_NAN],
      [1],
      'low=[nan] is not a list of numbers; give one for each number of a task',
    ),
    (
      'single',
      0,
      [1],
      'low=0 is not a list of numbers; give one for each number of a task',
    ),
    (
      'empty',
      [],
      [],
      'low=[] is not a list of numbers; give one for each number of a task',
    ),
    (
      'turned',
      [0, 2],
      [1, 1],
      'low=[0.0, 2.0] is not below high=[1.0, 1.0] everywhere; give lists '
      'of the same length, with each number of low below that of high',
    ),
    (
      'lengths',
      [0],
      [1, 1],
      'low=[0.0] is not below high=[1.0, 1.0] everywhere; give lists '
      'of the same length, with each number of low below that of high',
    ),
    (
      'narrow',
      [1e8 + 1],
      [1e8 + 2],
      'low=[100000001.0] to high=[100000002.0] is too narrow or too wide for '
      '32-bit numbers, which tasks are; shift or scale them, for example to '
      '-1 to 1',
    ),
  )
  def test_box(self, low, high, message):
    self.assert_refused(message, checks.check_box, low, high)

  def test_easy_tasks(self):
    def check(easy, feasible=None):
      easy = checks.check_tasks('easy', easy, 2)
      checks.check_easy(easy, _LOW, _HIGH, feasible, 1)

    check([[0.1, 10.0], [0, 0]])  # As single numbers 0.1 is above the bound.
    check([[0.1, 3.0]], lambda tasks: tasks > 0)
    self.assert_refused(
      'easy: expected tasks [m, 2], given [2]', check, [0.1, 3.0]
    )
    self.assert_refused(
      'easy: expected tasks [m, 2], given [0, 2]', check, np.zeros([0, 2])
    )
    self.assert_refused(
      'easy: expected finite numbers, given nan', check, [[0.1, _NAN]]
    )
    self.assert_refused(
      'easy: 1 of 2 tasks are outside the box, the first is [0.0, 11.0]; leave '
      'them out',
      *(check, [[0, 1], [0, 11]]),
    )
    self.assert_refused(
      'easy: 2 of 3 tasks are infeasible, the first is [0.0, 1.0]; leave them '
      'out',
      *(check, [[0, 1], [0, 2], [0, 3]], lambda tasks: tasks[:, 1] > 2),
    )

  def test_what_feasible_returns(self):
    def told(answer):
      return checks.legal_entities(lambda tasks: answer, np.zeros([3, 4]), 2)

    np.testing.assert_array_equal(
      told([True, False, True]), [[True] * 2, [False] * 2, [True] * 2]
    )
    each = np.array([[True, False], [False, True], [True, True]])
    np.testing.assert_array_equal(told(each), each)
    for answer, given in (
      (np.zeros([3]), 'float64 [3]'),
      (True, 'bool []'),
      (np.full([3, 4], True), 'bool [3, 4]'),
      (np.full([4], True), 'bool [4]'),
    ):
      self.assert_refused(
        f'feasible: expected bool [3] or [3, 2], given {given}', told, answer
      )

  @parameterized.named_parameters(
    ('shape', [0.5], 'values: expected numbers [2], given [1]'),
    ('nan', [0.5, _NAN], 'values: expected finite numbers, given nan'),
    ('above', [0.5, 1.5], 'values: expected numbers from 0 to 1, given 1.5'),
    ('below', [-2, 1.5], 'values: expected numbers from 0 to 1, given -2'),
    ('text', ['a', 'b'], "values=['a', 'b'] are not numbers"),
  )
  def test_values(self, values, message):
    check = checks.check_shares
    np.testing.assert_array_equal(check('values', [0, True], 2), [0, 1])
    self.assert_refused(message, check, 'values', values, 2)

  def test_the_rest(self):
    self.assertEqual(checks.check_whole('seed', np.int64(3), 0), 3)
    for given in (-1, 0.5, '1', None):
      self.assert_refused(
        f'seed={given!r}; allowed: whole numbers, 0 or more',
        *(checks.check_whole, 'seed', given, 0),
      )
    self.assertEqual(checks.check_changes({'noise': 1}), {'noise': 1})
    self.assert_refused(
      'changes: noise=[1] is a list; allowed: bool, int, float, str',
      *(checks.check_changes, {'noise': [1]}),
    )
    self.assert_refused(
      "changes=[('noise', 1.0)] is not a dict; give one like "
      "{'num_children': 200}",
      *(checks.check_changes, [('noise', 1.0)]),
    )
    self.assert_refused(
      "changes: name='uniform' is not a constant; to choose another "
      'curriculum, give its name first: Curriculum(name, low, high)',
      *(checks.check_changes, {'name': 'uniform'}),
    )
    for given in (
      'a.py',
      pathlib.Path('a.py'),
      ['a.py'],
      [pathlib.Path('a.py')],
    ):
      self.assertEqual(checks.check_imports(given), ['a.py'])
    self.assertEqual(checks.check_imports(()), [])
    for given in (3, [3], None):
      with self.assertRaisesRegex(ValueError, r'^imports=.* a list of their'):
        checks.check_imports(given)
    self.assertEqual(checks.check_divisor(2, 6), 2)
    self.assert_refused(
      'entity_size=4 does not divide the 6 numbers of a task; give a divisor',
      *(checks.check_divisor, 4, 6),
    )

  def test_feedback(self):
    def check(needed, **given):
      return checks.check_feedback(given, needed, (2, 3))

    self.assertEqual(check(()), {})
    needed = ('success', 'final_task')
    good = {'success': np.array([0.0, 0.7]), 'final_task': 7 * np.ones([2, 3])}
    for name, array in check(needed, **good).items():
      np.testing.assert_array_equal(array, good[name])
    self.assert_refused(
      'success: this curriculum takes only values; leave it out',
      lambda: check((), success=[0, 1]),
    )
    self.assert_refused(
      "feedback='sucess' is unknown; did you mean success?",
      lambda: check(needed, sucess=[0, 1]),
    )
    self.assert_refused(
      'update: this curriculum also takes final_task; give numbers [2, 3]',
      lambda: check(needed, success=[0, 1]),
    )
    self.assert_refused(
      'final_task: expected numbers [2, 3], given [2]',
      lambda: check(needed, success=[0, 1], final_task=[0, 1]),
    )
    self.assert_refused(
      'success: expected numbers from 0 to 1, given 50',
      lambda: check(('success',), success=[0, 50]),
    )
    returns = check(('max_return',), max_return=[0, 50])
    np.testing.assert_array_equal(returns['max_return'], [0, 50])


if __name__ == '__main__':
  absltest.main()
