# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for hindsight: which tasks are made, kept and played."""

import copy
from types import SimpleNamespace
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.curriculum import base
from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import hindsight
from vacl_tf.testing import fakes
from vacl_tf.testing import toy_learner

_NUM_TASKS = 40
_LINE = python_curriculum.Tasks(fakes.LineTaskSpace())  # 2 agents, 2 landmarks.


def _rng(seed=0):
  return np.random.default_rng(seed)


def _make(tasks=_LINE, **values):
  cfg = configs.HindsightConfig(**values)
  return hindsight.Hindsight(tasks, cfg, _rng())


def _told(value, final):
  return {'value': np.asarray(value, np.float32), 'final_task': final}


def _sources(chooser, tasks):
  """Returns bool [3, rows]: of the new ones, of the kept ones, of others."""
  state = chooser.state
  is_new, is_kept = (
    (tasks[:, None] == state[name][: state[f'num_{name}']]).all(-1).any(1)
    for name in ('new', 'kept')
  )
  return np.array([is_new, is_kept, ~(is_new | is_kept)])


class HindsightTest(tf.test.TestCase, parameterized.TestCase):
  def test_what_failed_becomes_a_task_with_goals_where_movers_ended(self):
    chooser = _make()
    tasks = chooser.sample(5, _rng(1))
    ends = np.array([[0.1, 0.2], [0.3, -0.4], [1.2, 9.0], [0.5, 0.6]])
    final = np.concatenate([[*ends, tasks[4, :2]], tasks[:, 2:]], 1)
    told = chooser.update(tasks, _told([0.0, 1.0, 0.0, 0.7, 0.0], final))
    # The second was solved, the third ended outside of the line, and in the
    # fifth nobody moved.
    self.assertEqual(told['new_tasks'], 2)
    expected = np.concatenate([tasks[[0, 3], :2], ends[[0, 3]]], 1)
    self.assertAllClose(chooser.state['new'][:2], expected)

  def test_hindsight_tasks_of_intermediate_value_are_played_again(self):
    chooser = _make(share=1.0)
    tasks = _LINE.target(_NUM_TASKS, _rng(1))
    chooser.sample(_NUM_TASKS, _rng(2))
    final = _LINE.target(_NUM_TASKS, _rng(6))
    told = chooser.update(tasks, _told(np.full(_NUM_TASKS, 0.7), final))
    self.assertEqual(told['kept_tasks'], 0)  # They were no hindsight tasks.
    tasks = chooser.sample(_NUM_TASKS, _rng(3))
    self.assertTrue(_sources(chooser, tasks)[0].all())
    value = np.linspace(0.0, 1.0, _NUM_TASKS)
    chooser.update(tasks, _told(value, _LINE.target(_NUM_TASKS, _rng(5))))
    is_good = (value >= 0.5) & (value <= 0.95)
    kept = chooser.state['kept'][: is_good.sum()]
    self.assertEqual(chooser.state['num_kept'], is_good.sum())
    self.assertAllEqual(kept, tasks[is_good])
    # Once they are solved or fail they leave; those not played now stay.
    tasks = chooser.sample(20, _rng(4))
    self.assertEqual(_sources(chooser, tasks)[1].sum(), 10)
    chooser.update(tasks, _told(np.zeros(20), tasks))
    self.assertEqual(chooser.state['num_kept'], is_good.sum() - 10)

  @parameterized.parameters(True, False)
  def test_shares_of_a_batch(self, knows_easy):
    chooser = _make(knows_easy=knows_easy)
    state = chooser.state
    for name, seed in (('new', 1), ('kept', 2)):
      state[name][:100] = _LINE.target(100, _rng(seed))
      state[f'num_{name}'] = np.array(100)
    with mock.patch.object(_LINE, 'easy', wraps=_LINE.easy) as easy:
      tasks = chooser.sample(_NUM_TASKS, _rng(3))
    self.assertAllEqual(_sources(chooser, tasks).sum(1), [10, 10, 20])
    self.assertEqual(easy.call_args.args[0], 10 if knows_easy else 0)
    self.assertTrue(_LINE.feasible(tasks).all())
    # They are in random order.
    self.assertGreater(_sources(chooser, tasks[:20])[2].sum(), 2)

  def test_a_task_without_goals_is_refused_with_one_line(self):
    tasks = SimpleNamespace(goals=(), num_dims=4)
    with self.assertRaisesRegex(
      base.UnsuitableError, 'has no `goals`.*; allowed: another'
    ):
      _make(tasks)

  def test_the_state_is_all_that_matters(self):
    one, other = _make(), _make()
    for seed in range(3):
      tasks = one.sample(_NUM_TASKS, _rng(seed))
      final = _LINE.target(_NUM_TASKS, _rng(seed))
      one.update(tasks, _told(_rng(seed).random(_NUM_TASKS), final))
    self.assertGreater(one.state['num_kept'], 0)
    other.state = copy.deepcopy(one.state)
    for seed in (4, 5):
      tasks = one.sample(_NUM_TASKS, _rng(seed))
      self.assertAllEqual(tasks, other.sample(_NUM_TASKS, _rng(seed)))
      for chooser in (one, other):
        chooser.update(tasks, _told(np.abs(tasks[:, 0]) / 2.0, tasks))

  @parameterized.parameters(True, False)
  def test_it_reaches_what_uniform_tasks_do_not(self, knows_easy):
    chooser = _make(toy_learner.TASKS, knows_easy=knows_easy)
    self.assertGreater(toy_learner.teach(chooser), 1.0)
    self.assertLess(toy_learner.teach(toy_learner.Uniform()), 0.3)


if __name__ == '__main__':
  tf.test.main()
