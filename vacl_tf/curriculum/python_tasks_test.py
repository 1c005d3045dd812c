# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for python_tasks: the tasks of a world, in NumPy."""

from unittest import mock

import numpy as np
import tensorflow as tf

from vacl_tf.curriculum import python_tasks
from vacl_tf.environments import task_space
from vacl_tf.testing import fakes
from vacl_tf.testing import toy_learner


class TasksTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    self.space = fakes.LineWorld(10).task_space

  def test_tasks_are_those_of_the_space(self):
    tasks = python_tasks.Tasks(self.space)
    rng = np.random.default_rng(0)
    for drawn in (tasks.easy(50, rng), tasks.target(50, rng)):
      self.assertEqual(drawn.shape, (50, tasks.num_dims))
      self.assertTrue(tasks.feasible(drawn).all())
    far = np.full([3, tasks.num_dims], 1e3)
    self.assertFalse(tasks.feasible(far).any())
    self.assertTrue(tasks.feasible(tasks.clip(far, rng)).all())
    self.assertNotAllEqual(tasks.target(5, rng), tasks.target(5, rng))
    before = tasks.target(200, rng)
    moved = tasks.perturbed(before, 0.1, rng)
    self.assertTrue(tasks.feasible(moved).all())
    self.assertAllLessEqual(np.abs(moved - before), 0.1 + 1e-6)
    self.assertGreater(np.abs(moved - before).max(), 0.05)
    for width, probability in ((1, 1), (np.float64(0.1), np.float32(0.5))):
      moved = tasks.perturbed(before, width, rng, probability)
      self.assertTrue(tasks.feasible(moved).all())

  def test_no_task_at_all(self):
    tasks, rng = python_tasks.Tasks(self.space), np.random.default_rng(0)
    none = np.zeros([0, tasks.num_dims], np.float32)
    with (
      mock.patch.object(fakes.LineTaskSpace, 'sample_easy') as easy,
      mock.patch.object(fakes.LineTaskSpace, 'sample_target') as target,
    ):
      drawn = [tasks.easy(0, rng), tasks.target(0, rng)]
    easy.assert_not_called()  # It may be a user's, who need not know of it.
    target.assert_not_called()
    drawn += [tasks.clip(none, rng), tasks.perturbed(none, 0.1, rng)]
    for found in drawn:
      self.assertEqual(found.shape, none.shape)
    self.assertEqual(tasks.feasible(none).shape, (0, tasks.num_entities))

  def test_hindsight_tasks_have_goals_where_movers_ended(self):
    tasks = python_tasks.Tasks(self.space)
    begun = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]])
    final = np.array([[1.1, 1.2, 0.3, 0.4], [1.5, 1.6, 0.7, 0.8]])
    self.assertAllEqual(
      tasks.hindsight(begun, final),
      [[0.1, 0.2, 1.1, 1.2], [0.5, 0.6, 1.5, 1.6]],
    )
    self.assertAllEqual(begun[0], [0.1, 0.2, 0.3, 0.4])

  def test_legal_are_those_tasks_all_of_whose_entities_are(self):
    tasks = python_tasks.Tasks(self.space)
    phi = tasks.target(3, np.random.default_rng(0))
    phi[1, -1] = 1e3
    for is_compiled in (True, False):
      self.space.is_compiled = is_compiled
      judge = python_tasks.judge(self.space)
      self.assertAllEqual(judge(tf.constant(phi)), [True, False, True])
      self.assertAllEqual(judge(tf.constant(phi[1:2])), [False])

  def test_canonical_order_is_that_of_graph_code(self):
    space = toy_learner.SquareSpace()
    phi = np.random.default_rng(0).integers(-1, 2, [50, space.num_dims])
    phi = phi.astype(np.float32)
    self.assertAllEqual(
      python_tasks.Tasks(space).canonical(phi),
      task_space.canonical(space, tf.constant(phi)),
    )


if __name__ == '__main__':
  tf.test.main()
