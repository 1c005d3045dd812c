# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A trainer's box, whatever its units, is one that curricula know."""

import time

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.launch import curriculum_space

_LOW, _HIGH = np.array([-1.0, 5.0, 0.1, 1e-3]), np.array([1.0, 5.1, 7.0, 9e3])


def _first_is_positive(tasks):
  """Legal entities of pairs of numbers: the first one depends on both."""
  return np.stack([tasks[:, 0] > 0, tasks[:, 2] < 6.9], 1)


class TrainerSpaceTest(tf.test.TestCase, parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self._asked = []
    self._easy = np.stack([_LOW, 0.5 * (_LOW + _HIGH), _HIGH]).astype('f')

  def _space(self, oracle=None):
    def ask(tasks):
      self._asked.append(tasks)
      return oracle(tasks)

    return curriculum_space.TrainerSpace(
      _LOW, _HIGH, 2, self._easy, oracle and ask
    )

  def test_sides_are_equally_long(self):
    space = self._space()
    corners = np.stack([_LOW, _HIGH]).astype(np.float32)
    expected = [[-3.0] * 4, [3.0] * 4]
    self.assertAllClose(space.from_trainer(corners), expected, atol=1e-4)
    self.assertAllEqual(space.entity_of_dim, [0, 0, 1, 1])

  def test_units_are_those_of_the_trainer(self):
    rng = np.random.default_rng(0)
    phi = rng.uniform(-3, 3, [100, 4]).astype(np.float32)
    tasks = self._space().to_trainer(phi)
    self.assertDTypeEqual(tasks, np.float32)
    expected = _LOW + (phi + 3.0) / 6.0 * (_HIGH - _LOW)
    self.assertAllClose(tasks, expected, rtol=1e-6)
    self.assertAllClose(self._space().from_trainer(tasks), phi, atol=1e-4)

  def test_no_task_is_outside_by_rounding(self):
    phi = np.concatenate(
      [np.full([1, 4], 3.0), np.full([1, 4], -3.0), np.full([1, 4], 3.1)]
    ).astype(np.float32)
    tasks = self._space().to_trainer(phi).astype(np.float64)
    self.assertTrue(np.all(tasks >= _LOW) and np.all(tasks <= _HIGH))

  def test_easy_tasks_on_the_rim_are_feasible(self):
    rng = np.random.default_rng(0)
    for _ in range(50):
      low = rng.uniform(-9, 9, [4])
      high = low + 10.0 ** rng.uniform(-2, 2, [4])
      easy = np.stack([low, high]).astype(np.float32)
      space = curriculum_space.TrainerSpace(low, high, 2, easy, None)
      phi = space.sample_easy(2, tf.constant([0, 0]))
      self.assertAllEqual(space.feasible(phi), np.ones([2, 2], bool))

  @parameterized.parameters(2, 3, 7)
  def test_easy_tasks_are_chosen_once_before_they_repeat(self, num):
    found = self._space().sample_easy(num, tf.constant([1, num]))
    rows = [tuple(x) for x in np.round(found.numpy(), 3)]
    self.assertLen(set(rows), min(num, 3))
    easy = self._space().from_trainer(self._easy)
    known = {tuple(x) for x in np.round(easy, 3)}
    self.assertContainsSubset(set(rows), known)

  @parameterized.parameters(True, False)
  def test_easy_tasks_are_judged_as_the_trainer_will_get_them(self, is_lost):
    low, high = -np.ones([4]), np.ones([4])
    least = np.float32(0.9)  # Rounding moves this number below itself.
    easy = np.array([[0.9, 0, 0, 0], [0.9, 0, 0, 0.2], [0.95, 0, 0, 0]])
    easy = easy[: 2 if is_lost else 3].astype(np.float32)
    space = curriculum_space.TrainerSpace(
      *(low, high, 4, easy), lambda tasks: tasks[:, :1] >= least
    )
    self.assertTrue(np.all(easy[:, 0] >= least))
    if is_lost:
      with self.assertRaisesRegex(ValueError, '^easy: all 2 tasks become inf'):
        space.sample_easy(3, tf.constant([0, 0]))
      return
    phi = space.sample_easy(3, tf.constant([0, 0])).numpy()
    self.assertAllClose(space.to_trainer(phi), easy[[2, 2, 2]], atol=1e-6)

  def test_without_easy_tasks_it_says_so(self):
    space = curriculum_space.TrainerSpace(_LOW, _HIGH, 1, None, None)
    with self.assertRaisesRegex(ValueError, '^easy=None: .* tasks; give some$'):
      space.sample_easy(3, tf.constant([0, 0]))
    # Curricula that can do without ask for none.
    self.assertEqual(space.sample_easy(0, tf.constant([0, 0])).shape, [0, 4])

  @parameterized.parameters(True, False)
  def test_what_is_feasible(self, is_asked):
    space = self._space(_first_is_positive if is_asked else None)
    self.assertNotEqual(space.is_compiled, is_asked)
    rng = np.random.default_rng(0)
    phi = rng.uniform(-3.5, 3.5, [5, 20, 4]).astype(np.float32)
    inside = (np.abs(phi) <= 3.0).reshape([5, 20, 2, 2]).all(-1)
    tasks = space.to_trainer(phi.reshape([-1, 4]))
    legal = _first_is_positive(tasks).reshape([5, 20, 2])
    expected = inside & legal if is_asked else inside
    self.assertAllEqual(space.feasible(tf.constant(phi)), expected)
    in_graph = tf.function(space.feasible, autograph=False)
    self.assertAllEqual(in_graph(tf.constant(phi)), expected)

  def test_only_tasks_that_changed_are_asked_for(self):
    space, rng = self._space(_first_is_positive), np.random.default_rng(0)
    phi = rng.uniform(-2.9, 2.9, [6, 4]).astype(np.float32)
    first = space.feasible(tf.constant(phi))
    self.assertAllEqual(space.feasible(tf.constant(phi)), first)
    phi[3] = -phi[3]
    third = space.feasible(tf.constant(phi)).numpy()
    self.assertEqual([len(x) for x in self._asked], [6, 1])
    self.assertAllEqual(
      third, _first_is_positive(space.to_trainer(phi)), 'the answers agree'
    )

  def test_one_question_at_a_time(self):
    busy, overlaps = [], []

    def slow(tasks):
      overlaps.extend(busy)
      busy.append(True)
      time.sleep(0.01)
      busy.pop()
      return _first_is_positive(tasks)

    space, rng = self._space(slow), np.random.default_rng(0)
    phi = rng.uniform(-2.9, 2.9, [8, 6, 4]).astype(np.float32)
    ask = tf.function(lambda phi: [space.feasible(x) for x in tf.unstack(phi)])
    tasks = space.to_trainer(phi.reshape([-1, 4]))
    expected = _first_is_positive(tasks).reshape([8, 6, 2])
    self.assertAllEqual(ask(tf.constant(phi)), expected)
    self.assertEmpty(overlaps)

  @parameterized.product(is_whole=[True, False], has_easy=[True, False])
  def test_clipped_tasks_are_feasible_and_near(self, is_whole, has_easy):
    def oracle(tasks):
      square = (tasks.reshape([-1, 2, 2]) ** 2).sum(-1)
      if is_whole:
        return np.repeat(square.sum(1, keepdims=True) < 1.0, 2, 1)
      return square < 0.5

    easy = np.zeros([3, 4], np.float32) if has_easy else None
    space = curriculum_space.TrainerSpace(
      *(-np.ones([4]), np.ones([4]), 2, easy, oracle)
    )
    rng = np.random.default_rng(0)
    phi = rng.uniform(-3.5, 3.5, [50, 4]).astype(np.float32)
    was_legal = np.all(space.feasible(phi), 1)
    clip = tf.function(lambda phi: space.clip(phi, tf.constant([1, 2])))
    found = clip(tf.constant(phi)).numpy()
    self.assertTrue(np.all(space.feasible(found)))
    self.assertBetween(was_legal.sum(), 1, 49)
    self.assertAllEqual(found[was_legal], phi[was_legal])
    # Uniform tasks are 4.4 away.
    near = np.linalg.norm(np.clip(phi, -3.0, 3.0) - found, axis=1)
    self.assertLess(near.mean(), 2.0)
    eager = space.clip(tf.constant(phi), tf.constant([1, 2]))
    self.assertAllEqual(found, eager)
    nowhere = np.full([2, 4], np.nan, np.float32)
    self.assertAllEqual(clip(tf.constant(nowhere)), nowhere)  # Not hidden.

  def test_uniform_tasks_may_be_rare(self):
    side = 0.005**0.25  # Of the feasible part of the box: 0.5 % of it.
    space = curriculum_space.TrainerSpace(
      -np.ones([4]),
      np.ones([4]),
      *(4, None, lambda tasks: (np.abs(tasks) < side).all(1)[:, None]),
    )
    for seed in range(20):  # A task may take more than 1000 draws.
      phi = space.sample_uniform(120, tf.constant([0, seed]))
      self.assertTrue(np.all(space.feasible(phi)))

  def test_uniform_tasks_are_feasible_and_fill_the_region(self):
    space = self._space(_first_is_positive)
    sample = tf.function(lambda seed: space.sample_uniform(4000, seed))
    phi = sample(tf.constant([3, 4]))
    self.assertTrue(np.all(space.feasible(phi)))
    self.assertAllEqual(phi, sample(tf.constant([3, 4])))
    self.assertNotAllEqual(phi, sample(tf.constant([3, 5])))
    # Uniform on [0, 3]: the standard error of the mean is 0.014.
    self.assertAllClose(np.mean(phi[:, 0]), 1.5, atol=0.06)
    self.assertAllClose(np.mean(phi[:, 1]), 0.0, atol=0.12)

  def test_nothing_feasible_says_so(self):
    space = self._space(lambda tasks: np.zeros([len(tasks), 2], bool))
    with self.assertRaises(tf.errors.OpError):
      tf.function(lambda: space.sample_uniform(2, tf.constant([3, 4])))()
    self.assertRegex(str(space.failure), '^feasible: only 0 of 1002000 tasks')

  def test_what_the_trainer_raises_is_kept(self):
    def fail(tasks):
      raise KeyError('mine')

    space = self._space(fail)
    with self.assertRaises(tf.errors.OpError):
      tf.function(lambda: space.feasible(tf.zeros([2, 4])))()
    self.assertIsInstance(space.failure, KeyError)


if __name__ == '__main__':
  tf.test.main()
