# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for alp_gmm: progress by hand, and what a batch is made of."""

import copy
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.curriculum.baselines import alp_gmm
from vacl_tf.curriculum.baselines import configs
from vacl_tf.testing import toy_learner

_NUM_TASKS = 40
_SIDE = toy_learner.HALF_WIDTH


def _rng(seed=0):
  return np.random.default_rng(seed)


def _make(**values):
  cfg = configs.AlpGmmConfig(**values)
  return alp_gmm.AlpGmm(toy_learner.TASKS, cfg, _rng())


def _anywhere(number, seed=0):
  return _rng(seed).uniform(-_SIDE, _SIDE, [number, 4]).astype(np.float32)


def _is_easy(tasks):
  return np.abs(tasks).max(1) <= 0.05 * _SIDE


class AlpGmmTest(tf.test.TestCase, parameterized.TestCase):
  def test_progress_is_the_change_since_the_nearest_earlier_task(self):
    chooser = _make(history=100)
    earlier, value = _anywhere(30), _rng(1).random(30).astype(np.float32)
    told = chooser.update(earlier, {'value': value})
    self.assertEqual(told['learning_progress'], 0.0)  # Nothing was earlier.
    tasks = _anywhere(10, seed=2)
    order = toy_learner.TASKS.canonical
    distance = np.linalg.norm(order(tasks)[:, None] - order(earlier), axis=-1)
    expected = np.abs(0.5 - value[distance.argmin(1)])
    turned = tasks.reshape([10, 2, 2])[:, ::-1].reshape([10, 4])
    for played in (tasks, turned):  # Points that change places are alike.
      other = _make()
      other.state = copy.deepcopy(chooser.state)
      told = other.update(played, {'value': np.full(10, 0.5, np.float32)})
      self.assertAllClose(told['learning_progress'], expected.mean())
      self.assertAllClose(other.state['known'][30:40, -1], expected)

  @parameterized.parameters(4000, 50)
  def test_first_tasks_are_easy_and_then_half_are(self, history):
    chooser = _make(num_easy_tasks=60, history=history)
    shares = []
    for seed in range(3):
      tasks = chooser.sample(_NUM_TASKS, _rng(seed))
      shares.append(_is_easy(tasks).mean())
      chooser.update(tasks, {'value': np.zeros(_NUM_TASKS, np.float32)})
    self.assertAllClose(shares, [1.0, 0.75, 0.5])

  def test_pure_is_given_no_easy_tasks(self):
    chooser = _make(knows_easy=False, fit_period=1)
    with mock.patch.object(toy_learner.TASKS, 'easy') as easy:
      easy.side_effect = lambda number, _: np.zeros([number, 4])
      for seed in range(4):
        tasks = chooser.sample(_NUM_TASKS, _rng(seed))
        value = _rng(seed).random(_NUM_TASKS).astype(np.float32)
        chooser.update(tasks, {'value': value})
    self.assertSameElements([call.args[0] for call in easy.mock_calls], [0])

  def test_tasks_are_drawn_where_progress_is(self):
    chooser = _make(
      fit_period=2, num_easy_tasks=1, num_components=4, history=8000
    )
    tasks = _anywhere(1000)
    tasks = tasks[np.argsort(tasks[:, 0])]
    is_left = toy_learner.TASKS.canonical(tasks)[:, 0] < -1.0
    chooser.update(tasks, {'value': np.zeros(1000, np.float32)})
    value = np.where(is_left, 0.9, 0.0).astype(np.float32)
    chooser.update(tasks, {'value': value})
    drawn = chooser.sample(1000, _rng(1))
    self.assertTrue(toy_learner.TASKS.feasible(drawn).all())
    left = toy_learner.TASKS.canonical(drawn)[:, 0] < -1.0
    # 8 in 10 follow progress; of target tasks 56 in 100 are on the left.
    self.assertGreater(left.mean(), 0.75)
    self.assertBetween(_is_easy(drawn).mean(), 0.1, 0.13)

  def test_the_state_is_all_that_matters(self):
    one, other = _make(fit_period=2), _make(fit_period=2)
    for seed in range(5):
      tasks = one.sample(_NUM_TASKS, _rng(seed))
      value = _rng(seed).random(_NUM_TASKS).astype(np.float32)
      one.update(tasks, {'value': value})
    other.state = copy.deepcopy(one.state)
    for seed in (6, 7):
      tasks = one.sample(_NUM_TASKS, _rng(seed))
      self.assertAllEqual(tasks, other.sample(_NUM_TASKS, _rng(seed)))
      for chooser in (one, other):
        chooser.update(tasks, {'value': np.abs(tasks[:, 0]) / _SIDE})

  def test_it_reaches_what_uniform_tasks_do_not(self):
    uniform = toy_learner.teach(toy_learner.Uniform())
    self.assertGreater(toy_learner.teach(_make()), 0.6)
    self.assertLess(uniform, 0.3)


if __name__ == '__main__':
  tf.test.main()
