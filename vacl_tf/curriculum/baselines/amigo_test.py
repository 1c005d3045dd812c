# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for amigo: what is proposed, what is paid, and what is learned."""

import copy
from types import SimpleNamespace

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.curriculum import base
from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import amigo
from vacl_tf.curriculum.baselines import configs
from vacl_tf.testing import fakes
from vacl_tf.testing import toy_learner

_NUM_TASKS = 40
_LINE = python_curriculum.Tasks(fakes.LineTaskSpace())  # 2 agents, 2 landmarks.
_REACHED = 10.0  # Later than the first t*.


def _rng(seed=0):
  return np.random.default_rng(seed)


def _make(tasks=_LINE, seed=0, **values):
  values = {'knows_easy': False, 'pretraining_steps': 300} | values
  return amigo.Amigo(tasks, configs.AmigoConfig(**values), _rng(seed))


def _told(time):
  return {'success_time': np.asarray(time, np.float32)}


def _narrow(chooser, std=0.05):
  """Makes the teacher propose goals near their movers."""
  chooser.state['parameters'][...] = 0.0
  chooser.state['parameters'][-2:] = np.log(std)
  return chooser


class _Recording(python_curriculum.Tasks):
  """Remembers the latest target tasks, of which all batches are made."""

  def target(self, num_tasks, rng):
    self.latest = super().target(num_tasks, rng)
    return self.latest


class _NoRightHalf(fakes.LineTaskSpace):
  """Landmarks to the right are not feasible, and clipping leaves them there."""

  def feasible(self, phi):
    is_landmark = tf.range(4) >= 2
    return super().feasible(phi) & ~(is_landmark & (phi > 0.0))

  def sample_uniform(self, num_tasks, seed):
    phi = super().sample_uniform(num_tasks, seed)
    return tf.concat([phi[:, :2], -tf.abs(phi[:, 2:])], 1)


class AmigoTest(tf.test.TestCase, parameterized.TestCase):
  def test_starts_are_those_of_target_tasks_and_a_share_has_their_goals(self):
    tasks = _Recording(fakes.LineTaskSpace())
    chooser = _narrow(_make(tasks, target_share=0.3))
    batch = chooser.sample(_NUM_TASKS, _rng(1))
    self.assertAllEqual(batch[:, :2], tasks.latest[:, :2])
    is_target = (batch == tasks.latest).all(1)
    self.assertEqual(is_target.sum(), 0.3 * _NUM_TASKS)
    # They are in random order.
    self.assertBetween(is_target[:20].sum(), 2, 10)
    offset = batch[:, 2:] - batch[:, :2]
    self.assertAllClose(offset[~is_target].std(), 0.1, atol=0.03)

  def test_goals_are_moved_into_the_legal_region(self):
    chooser = _make(target_share=0.0)
    chooser.state['parameters'][-2:] = 1.0
    batch = chooser.sample(400, _rng(1))
    self.assertTrue(_LINE.feasible(batch).all())
    told = chooser.update(batch, _told(np.zeros(400)))
    self.assertEqual(told['feasible_share'], 1.0)
    is_at_end = np.abs(batch[:, 2:]) > fakes.HALF_WIDTH - 0.02
    self.assertGreater(is_at_end.mean(), 0.3)

  def test_target_tasks_replace_what_is_not_feasible_and_teach_nothing(self):
    tasks = _Recording(_NoRightHalf())
    chooser = _make(tasks, target_share=0.0)
    batch = chooser.sample(200, _rng(1))
    self.assertTrue(tasks.feasible(batch).all())
    is_target = (batch == tasks.latest).all(1)
    told = chooser.update(batch, _told(_REACHED * is_target))
    self.assertAllClose(told['feasible_share'], np.mean(~is_target))
    self.assertBetween(told['feasible_share'], 0.1, 0.9)
    self.assertEqual(told['reached_share'], 0.0)
    self.assertEqual(chooser.state['num_goals'], np.sum(~is_target))

  @parameterized.parameters((0, -0.3), (6, -0.3), (7, 0.7), (70, 0.7))
  def test_goals_pay_if_they_are_reached_but_not_too_soon(self, time, reward):
    chooser = _make(target_share=0.0)
    batch = chooser.sample(_NUM_TASKS, _rng(1))
    told = chooser.update(batch, _told([time] * _NUM_TASKS))
    self.assertAllClose(told['teacher_reward'], reward)
    self.assertEqual(told['reached_share'], float(time > 0))
    self.assertEqual(told['difficulty'], 7)

  def test_difficulty_rises_with_the_goals_up_to_a_bound(self):
    chooser = _make(
      target_share=0.5, goals_per_rise=_NUM_TASKS, most_difficulty=9
    )
    found = []
    for seed in range(8):
      batch = chooser.sample(_NUM_TASKS, _rng(seed))
      told = chooser.update(batch, _told(np.zeros(_NUM_TASKS)))
      found.append(told['difficulty'])
    self.assertEqual(found, [7, 7, 8, 8, 9, 9, 9, 9])

  def test_the_first_tasks_are_easy_and_teach_nothing(self):
    chooser = _make(knows_easy=True, num_easy_tasks=60)
    parameters = chooser.state['parameters'].copy()
    for seed, num_easy in ((1, _NUM_TASKS), (2, 20), (3, 0)):
      batch = chooser.sample(_NUM_TASKS, _rng(seed))
      is_easy = (np.abs(batch[:, :2] - batch[:, 2:]) < 0.11).all(1)
      self.assertTrue(is_easy[:num_easy].all())
      self.assertLess(is_easy[num_easy:].sum(), 10)
      chooser.update(batch, _told([_REACHED] * _NUM_TASKS))
      is_same = np.array_equal(parameters, chooser.state['parameters'])
      self.assertEqual(is_same, num_easy == _NUM_TASKS)

  def test_a_pretrained_teacher_proposes_what_is_easy(self):
    """Of easy tasks landmarks are where agents are, at the left end."""
    chooser = _make(knows_easy=True, num_easy_tasks=1, target_share=0.0)
    chooser.state['num_easy'] = np.array(0)
    batch = chooser.sample(2000, _rng(1))
    is_left = (batch[:, :2] > -1.4).all(1) & (batch[:, :2] < -0.8).all(1)
    self.assertGreater(is_left.sum(), 20)
    offset = batch[is_left, 2:] - batch[is_left, :2]
    self.assertAllLess(np.abs(offset), 0.5)
    # Half a width of 0.1, uniform.
    self.assertAllClose(offset.std(), 0.1 / np.sqrt(3.0), rtol=0.3)
    # Who knows no easy tasks proposes goals all over the map.
    batch = _make(target_share=0.0).sample(2000, _rng(1))
    self.assertGreater((batch[:, 2:] - batch[:, :2]).std(), 0.8)

  def test_it_learns_what_pays_given_the_start(self):
    """Goals pay where the agents are, mirrored."""
    chooser = _make(target_share=0.0, entropy=0.0, learning_rate=1e-3)
    found = []
    for seed in range(150):
      batch = chooser.sample(_NUM_TASKS, _rng(seed))
      error = np.abs(batch[:, 2:] + batch[:, :2]).max(1)
      time = np.where(error < np.median(error), _REACHED, 0.0)
      chooser.update(batch, _told(time))
      found.append(error.mean())
    self.assertLess(np.mean(found[-10:]), 0.5 * np.mean(found[:10]))

  def test_it_narrows_where_the_middle_pays(self):
    chooser = _make(target_share=0.0, entropy=0.0, learning_rate=1e-3)
    batch = chooser.sample(500, _rng(1))
    before = chooser.state['parameters'].copy()
    is_good = np.abs(batch[:, 2:] - batch[:, :2]).max(1) < 1.0
    chooser.update(batch, _told(_REACHED * is_good))
    moved = chooser.state['parameters'] - before
    self.assertAllLess(moved[-2:], -0.01)

  def test_where_all_rewards_are_alike_entropy_alone_counts(self):
    chooser = _make(target_share=0.0)
    before = chooser.state['parameters'].copy()
    batch = chooser.sample(_NUM_TASKS, _rng(1))
    chooser.update(batch, _told(np.zeros(_NUM_TASKS)))
    moved = chooser.state['parameters'] - before
    self.assertAllEqual(moved[:-2], np.zeros(len(moved) - 2))
    self.assertAllGreater(moved[-2:], 0.0)

  def test_goals_that_were_reached_are_counted(self):
    chooser = _make(target_share=0.0)
    batch = chooser.sample(10, _rng(1))
    told = chooser.update(batch, _told([_REACHED] * 5 + [0.0] * 5))
    self.assertEqual(told['reached_share'], 0.5)
    self.assertEqual(chooser.state['num_goals'], 10)

  def test_a_task_without_goals_is_refused_with_one_line(self):
    tasks = SimpleNamespace(goals=(), num_dims=4)
    with self.assertRaisesRegex(
      base.UnsuitableError, 'has no `goals`.*; allowed: another'
    ):
      _make(tasks)

  def test_the_state_is_all_that_counts(self):
    one = _make(knows_easy=True, num_easy_tasks=50)
    other = _make(seed=5)
    for seed in range(3):
      batch = one.sample(_NUM_TASKS, _rng(seed))
      one.update(batch, _told(20 * _rng(seed).random(_NUM_TASKS)))
    other.state = copy.deepcopy(one.state)
    for seed in (4, 5):
      batch = one.sample(_NUM_TASKS, _rng(seed))
      self.assertAllEqual(batch, other.sample(_NUM_TASKS, _rng(seed)))
      for chooser in (one, other):
        chooser.update(batch, _told(20 * _rng(seed).random(_NUM_TASKS)))

  def test_it_reaches_what_uniform_tasks_do_not(self):
    chooser = _make(toy_learner.TASKS, knows_easy=True)
    self.assertGreater(toy_learner.teach(chooser), 0.5)
    self.assertLess(toy_learner.teach(toy_learner.Uniform()), 0.3)


if __name__ == '__main__':
  tf.test.main()
