# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for vds: who learns what, and which tasks come of it."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import vds
from vacl_tf.testing import toy_learner

_NUM_TASKS = 40


def _make(seed=0, **values):
  cfg = configs.VdsConfig(**values)
  return vds.Vds(toy_learner.TASKS, cfg, np.random.default_rng(seed))


def _target(number, seed=1):
  return toy_learner.TASKS.target(number, np.random.default_rng(seed))


def _play(chooser, rounds, value_of, number=_NUM_TASKS):
  rng = np.random.default_rng(3)
  for _ in range(rounds):
    tasks = chooser.sample(number, rng)
    told = chooser.update(tasks, {'value': value_of(tasks)})
  return told


class VdsTest(tf.test.TestCase, parameterized.TestCase):
  def test_members_have_halves_of_their_own(self):
    is_own = _make(num_members=4, window=100).state['is_own']
    self.assertAllEqual(is_own.sum(1), [50] * 4)
    self.assertLen(np.unique(is_own, axis=0), 4)

  def test_a_member_learns_nothing_from_what_is_not_its_own(self):
    one, other = _make(window=_NUM_TASKS), _make(window=_NUM_TASKS)
    tasks, value = _target(_NUM_TASKS), np.linspace(0, 1, _NUM_TASKS)
    is_first = one.state['is_own'][0]
    one.update(tasks, {'value': value})
    other.update(tasks, {'value': np.where(is_first, value, 0.3)})
    for chooser in (one, other):
      chooser.sample(5, np.random.default_rng(2))
    same = [x.state['parameters'] for x in (one, other)]
    self.assertAllEqual(same[0][0], same[1][0])
    self.assertNotAllEqual(same[0][1], same[1][1])

  def test_the_window_holds_the_latest_tasks(self):
    chooser, tasks = _make(window=30), _target(80)
    for rows in (slice(0, 25), slice(25, 55), slice(55, 80)):
      chooser.update(tasks[rows], {'value': np.arange(80.0)[rows] / 80.0})
    order = np.argsort(chooser.state['values'])
    self.assertAllClose(
      chooser.state['values'][order], np.arange(50.0, 80.0) / 80.0
    )
    self.assertAllEqual(chooser.state['window'][order], tasks[50:])

  def test_tasks_are_drawn_in_proportion_to_disagreement(self):
    """Two linear members, whose difference is known in each task."""
    chooser = _make(knows_easy=False)
    chooser._predictions = lambda tasks: np.stack(
      [np.where(tasks[:, 0] > 0.0, 3.0, 1.0), np.zeros(len(tasks))]
    )
    tasks = chooser.sample(20_000, np.random.default_rng(1))
    # Half of the candidates disagree three times as much.
    self.assertAllClose(np.mean(tasks[:, 0] > 0.0), 0.75, atol=0.05)

  def test_candidates_are_thirds_of_target_easy_and_edits(self):
    chooser = _make(num_candidates=300, noise=0.2, noise_probability=1.0)
    far = np.full([5, 4], 2.0, np.float32)
    chooser.update(far, {'value': np.zeros(5)})
    tasks, is_target = chooser._candidates(np.random.default_rng(1))
    self.assertEqual(is_target.sum(), 100)
    size = np.abs(tasks[~is_target]).max(1)
    self.assertEqual((size < 0.2).sum(), 100)
    self.assertEqual((np.abs(tasks[~is_target] - 2.0) < 0.2).all(1).sum(), 100)
    # Before anything is played, edits are of easy tasks.
    tasks, is_target = _make(
      num_candidates=300, noise=0.2, noise_probability=1.0
    )._candidates(np.random.default_rng(1))
    self.assertAllLess(np.abs(tasks[~is_target]).max(1), 0.4)

  def test_without_easy_tasks_all_are_of_the_target(self):
    chooser = _make(knows_easy=False)
    tasks = chooser.sample(400, np.random.default_rng(1))
    self.assertLess((np.abs(tasks).max(1) < 0.5).mean(), 0.02)
    told = chooser.update(tasks, {'value': np.zeros(400)})
    self.assertEqual(told['target_share'], 1.0)

  def test_values_are_learned(self):
    def value_of(tasks):
      return 1.0 - np.abs(tasks).max(1) / toy_learner.HALF_WIDTH

    chooser = _make(knows_easy=False)
    first = _play(chooser, 1, value_of)['prediction_error']
    last = _play(chooser, 40, value_of)['prediction_error']
    spread = value_of(_target(1000)).std()
    self.assertGreater(first, spread)
    self.assertLess(last, 0.8 * spread)

  def test_disagreement_is_where_values_are_uncertain(self):
    """On one side all is failure; on the other nobody knows."""
    rng = np.random.default_rng(5)

    def value_of(tasks):
      is_left = tasks.mean(1) < 0.0
      return np.where(is_left, 0.0, rng.integers(0, 2, len(tasks)))

    chooser = _make(knows_easy=False)
    _play(chooser, 40, value_of)
    tasks = chooser.sample(1000, rng)
    self.assertGreater(np.mean(tasks.mean(1) > 0.0), 0.6)

  def test_order_of_alike_entities_is_of_no_account(self):
    chooser, tasks = _make(), _target(50)
    self.assertAllEqual(
      chooser._predictions(tasks), chooser._predictions(tasks[:, [2, 3, 0, 1]])
    )

  def test_the_state_is_all_that_counts(self):
    one, other = _make(), _make(seed=5)
    _play(one, 2, lambda tasks: np.abs(tasks).max(1) / 3.0)
    other.state = {name: x.copy() for name, x in one.state.items()}
    found = [
      x.sample(_NUM_TASKS, np.random.default_rng(2)) for x in (one, other)
    ]
    self.assertAllEqual(*found)

  def test_it_reaches_what_uniform_tasks_do_not(self):
    chooser = _make(noise=0.4, noise_probability=1.0, num_candidates=200)
    self.assertGreater(toy_learner.teach(chooser), 0.4)
    self.assertLess(toy_learner.teach(toy_learner.Uniform()), 0.25)


if __name__ == '__main__':
  tf.test.main()
