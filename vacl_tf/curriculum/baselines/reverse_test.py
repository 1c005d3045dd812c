# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for reverse: the laws of the baseline, and that it gets somewhere."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import reverse
from vacl_tf.testing import toy_learner

_NUM_TASKS = 40


def _make(**values):
  cfg = configs.ReverseConfig(**values)
  rng = np.random.default_rng(0)
  return reverse.Reverse(toy_learner.TASKS, cfg, rng)


class ReverseTest(tf.test.TestCase, parameterized.TestCase):
  def test_without_seeds_tasks_are_of_the_pool_and_none_comes_twice(self):
    chooser = _make(num_easy_tasks=50)
    tasks = chooser.sample(_NUM_TASKS, np.random.default_rng(1))
    self.assertLen(np.unique(tasks, axis=0), _NUM_TASKS)
    pool = chooser.state['pool'][:50]
    self.assertTrue((tasks[:, None] == pool).all(-1).any(1).all())
    again = chooser.sample(120, np.random.default_rng(1))
    _, counts = np.unique(again, axis=0, return_counts=True)
    self.assertSameElements(counts, [2, 3])

  def test_seeds_are_the_tasks_with_a_good_score(self):
    chooser = _make()
    tasks = chooser.sample(_NUM_TASKS, np.random.default_rng(1))
    value = np.linspace(0.0, 1.0, _NUM_TASKS)
    told = chooser.update(tasks, {'value': value})
    is_good = (value >= 0.5) & (value <= 0.95)
    self.assertEqual(told['seed_tasks'], is_good.sum())
    seeds = chooser.state['seeds'][: is_good.sum()]
    self.assertAllEqual(seeds, tasks[is_good])
    self.assertEqual(told['pool_tasks'], 500 + is_good.sum())
    chooser.update(tasks, {'value': np.zeros(_NUM_TASKS)})
    self.assertEqual(chooser.state['num_seeds'], 0)

  def test_children_are_near_their_seeds_and_70_in_100(self):
    chooser = _make(noise=0.3, noise_probability=1.0)
    seeds = chooser.sample(_NUM_TASKS, np.random.default_rng(1))[:7]
    chooser.update(seeds, {'value': np.full(7, 0.7)})
    tasks = chooser.sample(_NUM_TASKS, np.random.default_rng(2))
    distance = np.abs(tasks[:, None] - seeds).max(-1)
    nearest, parent = distance.min(1), distance.argmin(1)
    pool = chooser.state['pool'][: chooser.state['num_pool']]
    is_old = (tasks[:, None] == pool).all(-1).any(1)
    self.assertEqual((~is_old).sum(), 28)
    self.assertAllLess(nearest[~is_old], 0.3)
    # Each has as many children; easy tasks lie close, so some are mistaken.
    self.assertLen(np.unique(parent[~is_old]), 7)

  def test_the_oldest_leave_a_full_pool(self):
    chooser = _make(capacity=30, num_easy_tasks=30)
    easy = chooser.state['pool'].copy()
    tasks = np.random.default_rng(3).uniform(-1, 1, [10, 4]).astype(np.float32)
    chooser.update(tasks, {'value': np.full(10, 0.6)})
    self.assertAllEqual(chooser.state['pool'][:20], easy[10:])
    self.assertAllEqual(chooser.state['pool'][20:], tasks)

  def test_the_score_may_be_success(self):
    chooser = _make(score='success', least=0.1, most=0.9)
    self.assertEqual(chooser.feedback, ('success',))
    tasks = chooser.sample(_NUM_TASKS, np.random.default_rng(1))
    told = {'value': np.full(_NUM_TASKS, 0.7), 'success': np.zeros(_NUM_TASKS)}
    told['success'][:3] = 0.5
    self.assertEqual(chooser.update(tasks, told)['seed_tasks'], 3)

  def test_a_task_near_the_pool_or_another_one_is_not_added(self):
    chooser = _make(num_easy_tasks=1, pool_distance=0.5)
    [easy] = chooser.state['pool'][:1]
    swapped = easy[[2, 3, 0, 1]]  # The same task: its points are alike.
    tasks = np.stack([easy, swapped, easy + 1.0, easy + 1.1, easy - 1.0])
    told = chooser.update(tasks, {'value': np.full(5, 0.7)})
    self.assertEqual(told, {'pool_tasks': 3, 'seed_tasks': 5})
    self.assertAllEqual(chooser.state['pool'][1:3], tasks[[2, 4]])

  def test_it_falls_back_on_the_pool_or_goes_farther(self):
    chooser = _make(falls_back=True, noise=0.1, num_easy_tasks=7)
    pool = chooser.state['pool'][:7].copy()
    tasks = np.random.default_rng(3).uniform(1, 2, [10, 4]).astype(np.float32)
    chooser.update(tasks, {'value': np.zeros(10)})
    self.assertAllEqual(chooser.state['seeds'][:7], pool)
    self.assertEqual(chooser.state['noise'], 0.1)
    chooser.update(tasks, {'value': np.ones(10)})
    self.assertAllEqual(chooser.state['seeds'][:10], tasks)
    self.assertAllClose(chooser.state['noise'], 1.0)
    chooser.update(tasks, {'value': np.full(10, 0.7)})
    self.assertEqual(chooser.state['noise'], 0.1)

  def test_it_reaches_what_uniform_tasks_do_not(self):
    with_rcg = toy_learner.teach(_make(noise=0.4, noise_probability=1.0))
    self.assertGreater(with_rcg, 1.0)
    self.assertLess(toy_learner.teach(toy_learner.Uniform()), 0.3)


if __name__ == '__main__':
  tf.test.main()
