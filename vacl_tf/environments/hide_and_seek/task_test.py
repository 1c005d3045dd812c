# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for task."""

import math

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments import hide_and_seek
from vacl_tf.environments.hide_and_seek import task as task_lib


def _state(num_worlds, is_locked, locker):
  shape = [num_worlds, 1]
  return task_lib.State(
    *(np.zeros([num_worlds, 1, 4]) for _ in range(2)),
    np.array(is_locked),
    np.array(locker),
    np.zeros(shape, int),
    np.zeros([*shape, 2]),
    np.zeros(shape, bool),
    step=0,
  )


class TaskTest(parameterized.TestCase):
  @parameterized.parameters('lock_and_return', 'ramp_use')
  def test_a_task_fits_together(self, name):
    task = hide_and_seek.load(name)
    self.assertEqual(task.horizon, 60)
    self.assertLen(task.teams, task.cast.num_agents)
    self.assertContainsSubset(task.actors, range(task.cast.num_agents))
    phi = task.sample_uniform(5, np.random.default_rng(0))
    numbers = np.random.default_rng(0).random([5, task.num_start_draws])
    cells = task.start(phi + 0.4, numbers)
    self.assertEqual(cells.shape, (5, task.cast.num_entities, 2))
    np.testing.assert_array_equal(cells, np.floor(cells))
    np.testing.assert_array_equal(task.read_task(cells), phi)

  def test_lock_flags_are_mine_ours_and_anybodys(self):
    task = hide_and_seek.load('lock_and_return', num_agents=3, num_boxes=2)
    task.teams = (0, 1, 0)
    state = _state(2, [[True, False], [True, True]], [[0, 0], [2, 1]])
    flags = task_lib.lock_flags(state, task)
    names = [feature.name for feature in task_lib.LOCK_FLAGS]
    self.assertEqual(names, ['locked_by_me', 'locked_by_my_team', 'is_locked'])
    nobody = [[0, 0, 0]] * 3
    first, second, third = (
      [[0, 1, 1], [0, 0, 1], [0, 1, 1]],
      [[0, 0, 1], [0, 0, 1], [0, 0, 1]],
      [[0, 1, 1], [0, 0, 1], [0, 1, 1]],
    )
    first[0][0] = second[1][0] = second[1][1] = third[2][0] = 1
    want = [[first, nobody], [third, second]]
    np.testing.assert_array_equal(flags, np.swapaxes(want, 1, 2))

  def test_a_turn_is_told_by_cosine_and_sine(self):
    position = np.array([1.0, 2.0, 3.0, 7.0])
    found = task_lib.with_turn(position, np.array([4.0, 5.0, 6.0, 8.0]))
    np.testing.assert_allclose(
      found, [1, 2, 3, math.cos(7), math.sin(7), 4, 5, 6, 8]
    )
    names = [x.name for x in task_lib.joint_features(6.0, ('cos', 'sin'))]
    self.assertEqual(
      names, ['x', 'y', 'z', 'cos', 'sin', 'vx', 'vy', 'vz', 'yaw_rate']
    )


if __name__ == '__main__':
  absltest.main()
