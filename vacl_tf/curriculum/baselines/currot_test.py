# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for currot: transport by hand, and how far particles move and why."""

import copy

import numpy as np
import tensorflow as tf
from absl.testing import parameterized
from scipy import optimize

from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import currot
from vacl_tf.testing import toy_learner

_NUM = 60
_TASKS = toy_learner.TASKS
_RADIUS = 0.4 * (4 / 3) ** 0.5  # Of the noise below, root mean square.


def _rng(seed=0):
  return np.random.default_rng(seed)


def _make(**values):
  values = {
    'num_easy_tasks': _NUM,
    'period': 1,
    'noise': 0.4,
    'noise_probability': 1.0,
  } | values
  return currot.Currot(_TASKS, configs.CurrotConfig(**values), _rng())


def _play(chooser, success, seed=0):
  """Plays all particles; success is a function of tasks."""
  tasks = chooser.sample(_NUM, _rng(seed))
  return chooser.update(tasks, {'success': success(tasks)})


def _everywhere(tasks):
  return np.ones([len(tasks)], np.float32)


def _nowhere(tasks):
  return np.zeros([len(tasks)], np.float32)


def _inside(tasks):
  return (np.abs(tasks).max(1) < 0.5).astype(np.float32)


class TransportedTest(tf.test.TestCase):
  def test_a_target_that_is_moved_or_scaled_is_met(self):
    points = _rng().normal(size=[50, 16])
    order = _rng(1).permutation(50)
    for scale, offset in ((1.0, np.arange(16.0)), (3.0, -2.0), (0.1, 0.0)):
      target = scale * points + offset
      found = currot.transported(points, target[order], _rng(2))
      self.assertAllClose(found, target)

  def test_on_a_line_it_is_the_optimal_transport(self):
    points, target = _rng().normal(size=[2, 30, 1])
    found = currot.transported(points, target, _rng(1))
    row, column = optimize.linear_sum_assignment((points - target.T) ** 2)
    self.assertAllClose(found[row], target[column])


class CurrotTest(tf.test.TestCase, parameterized.TestCase):
  def test_particles_are_easy_until_they_are_mastered(self):
    chooser = _make()
    first = chooser.state['particles'].copy()
    for seed in range(4):
      _play(chooser, _nowhere, seed)
    chooser.sample(_NUM, _rng())
    self.assertAllEqual(chooser.state['particles'], first)
    self.assertAllLess(np.abs(first), 0.2)
    self.assertEqual(chooser.state['num_solved'], 0)

  def test_mastered_particles_go_to_the_target_step_by_step(self):
    chooser = _make()
    distances = []
    for seed in range(30):
      before = chooser.state['particles'].copy()
      told = _play(chooser, _everywhere, seed)
      after = chooser.state['particles']
      self.assertTrue(_TASKS.feasible(after).all())
      # The order of alike entities may have changed.
      turned = after.reshape([-1, 2, 2])[:, ::-1].reshape(after.shape)
      way = np.linalg.norm(
        np.stack([after, turned])[:, :, None] - before, axis=-1
      )
      self.assertAllLess(way.min((0, 2)), _RADIUS + 1e-5)
      distances.append(told['target_distance'])
      self.assertEqual(told['particle_success'], float(seed > 0))
    self.assertLess(distances[-1], 0.4 * distances[1])
    spread = chooser.state['particles'].std(0)
    wanted = _TASKS.canonical(_TASKS.target(1000, _rng())).std(0)
    self.assertAllClose(spread, wanted, rtol=0.3)

  def test_nobody_stays_where_nothing_succeeds(self):
    chooser = _make(history=400)
    for seed in range(25):
      _play(chooser, _inside, seed)
    size = np.abs(chooser.state['particles']).max(1)
    # They went as far as they could, and a little over the edge.
    self.assertGreater(np.mean(size > 0.3), 0.5)
    self.assertAllLess(size, 0.5 + 2 * _RADIUS)
    self.assertGreater(np.mean(size < 0.5), 0.2)
    for seed in range(25, 30):
      _play(chooser, _nowhere, seed)
    chooser.sample(_NUM, _rng())
    particles = chooser.state['particles']
    solved = chooser.state['solved'][: chooser.state['num_solved']]
    self.assertTrue((particles[:, None] == solved).all(-1).any(1).all())
    self.assertAllEqual(_inside(solved), np.ones([len(solved)]))

  def test_of_too_many_solved_tasks_those_near_the_target_are_kept(self):
    chooser = _make(num_easy_tasks=5, period=30)
    tasks = _TASKS.canonical(_TASKS.target(30, _rng(1)))
    chooser.update(tasks, {'success': _everywhere(tasks)})
    chooser.sample(5, _rng(2))
    solved = chooser.state['solved']
    target = _TASKS.canonical(_TASKS.target(5, _rng(2)))

    def cost(rows):
      square = np.sum((rows[:, None] - target) ** 2, -1)
      return square[optimize.linear_sum_assignment(square)].sum()

    self.assertEqual(chooser.state['num_solved'], 5)
    for seed in range(200):
      self.assertLessEqual(
        cost(solved), cost(_rng(seed).choice(tasks, 5, replace=False)) + 1e-4
      )

  def test_particles_wait_until_enough_was_played(self):
    chooser = _make(period=2 * _NUM)
    moved = []
    for seed in range(6):
      before = chooser.state['particles'].copy()
      _play(chooser, _everywhere, seed)
      moved.append(bool((before != chooser.state['particles']).any()))
    self.assertEqual(moved, [False, False, True, False, True, False])

  def test_the_state_is_all_that_matters(self):
    one, other = _make(), _make()
    for seed in range(6):
      _play(one, _inside, seed)
    other.state = copy.deepcopy(one.state)
    for seed in (6, 7):
      tasks = one.sample(_NUM, _rng(seed))
      self.assertAllEqual(tasks, other.sample(_NUM, _rng(seed)))
      for chooser in (one, other):
        chooser.update(tasks, {'success': _inside(tasks)})

  def test_it_reaches_what_uniform_tasks_do_not(self):
    chooser = _make(num_easy_tasks=100, period=40)
    self.assertGreater(toy_learner.teach(chooser), 1.0)
    self.assertLess(toy_learner.teach(toy_learner.Uniform()), 0.3)


if __name__ == '__main__':
  tf.test.main()
