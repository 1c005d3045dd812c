# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for task_lists, against lists of Python."""

import numpy as np
from absl.testing import absltest

from vacl_tf.curriculum.baselines import task_lists


def _state(*shape):
  return {'known': np.zeros(shape, np.float32), 'num_known': np.array(0)}


class TaskListsTest(absltest.TestCase):
  def test_the_first_rows_leave_a_full_list(self):
    rng = np.random.default_rng(0)
    state, expected = _state(10, 2), []
    for size in (0, 4, 3, 0, 6, 25, 10):
      new = rng.normal(size=[size, 2]).astype(np.float32)
      known = task_lists.rows_of(state, 'known')
      task_lists.store(state, 'known', np.concatenate([known, new]))
      expected = [*expected, *new][-10:]
      self.assertLen(expected, state['num_known'])
      np.testing.assert_array_equal(
        task_lists.rows_of(state, 'known'), np.reshape(expected, [-1, 2])
      )

  def test_a_shorter_list_replaces_all_rows(self):
    state = _state(5)
    task_lists.store(state, 'known', np.arange(1.0, 5.0))
    task_lists.store(state, 'known', np.array([7.0]))
    np.testing.assert_array_equal(state['known'], [7.0, 0.0, 0.0, 0.0, 0.0])

  def test_names_shapes_and_types_of_the_state_stay(self):
    state = _state(5, 2)
    task_lists.store(state, 'known', np.ones([8, 2], np.float64))
    self.assertEqual(list(state), ['known', 'num_known'])
    for name, array in _state(5, 2).items():
      self.assertEqual(state[name].shape, array.shape)
      self.assertEqual(state[name].dtype, array.dtype)

  def test_rows_that_were_taken_before_stay(self):
    state = _state(3)
    task_lists.store(state, 'known', np.array([1.0, 2.0]))
    before = task_lists.rows_of(state, 'known')
    task_lists.store(state, 'known', before[::-1])
    np.testing.assert_array_equal(before, [1.0, 2.0])
    np.testing.assert_array_equal(task_lists.rows_of(state, 'known'), [2, 1])


if __name__ == '__main__':
  absltest.main()
