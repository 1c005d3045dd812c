# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A trainer's box, whatever its units, is one that curricula know."""

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
    self.assertRegex(str(space.failure), '^feasible: none of 1000 tasks')

  def test_what_the_trainer_raises_is_kept(self):
    def fail(tasks):
      raise KeyError('mine')

    space = self._space(fail)
    with self.assertRaises(tf.errors.OpError):
      tf.function(lambda: space.feasible(tf.zeros([2, 4])))()
    self.assertIsInstance(space.failure, KeyError)


if __name__ == '__main__':
  tf.test.main()
