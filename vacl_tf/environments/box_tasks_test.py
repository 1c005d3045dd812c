# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import randomness
from vacl_tf.environments import box_tasks
from vacl_tf.environments import checked_simulator
from vacl_tf.environments import simulator

_LOW, _HIGH = np.array([[-1.0, 0.0]] * 3), np.array([[1.0, 2.0]] * 3)


def _easy(num_tasks, rng):
  return rng.uniform([0.5, 1.0], [0.9, 1.5], [num_tasks, 3, 2])


def _outside_disc(tasks):
  return np.linalg.norm(tasks - [0.0, 1.0], axis=-1) > 0.4


class BoxTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.named_parameters(
    ('anywhere', None),
    ('by_entity', _outside_disc),
    ('jointly', lambda tasks: _outside_disc(tasks).all(-1)),
  )
  def test_draws_and_clips_are_feasible(self, feasible):
    space = box_tasks.Box(_LOW, _HIGH, _easy, feasible)
    checked_simulator.check_task_space(space)

  def test_feasible_agrees_with_a_loop(self):
    space = box_tasks.Box(_LOW, _HIGH, _easy, _outside_disc)
    phi = np.random.default_rng(0).uniform(-1.5, 2.5, [40, 6])
    found = space.feasible(tf.constant(phi, tf.float32)).numpy()
    for row, task in enumerate(phi.astype(np.float32)):
      for entity, (x, y) in enumerate(task.reshape([3, 2])):
        is_in = -1 <= x <= 1 and 0 <= y <= 2
        is_out_of_disc = x**2 + (y - 1) ** 2 > 0.4**2
        self.assertEqual(found[row, entity], is_in and is_out_of_disc)
    self.assertBetween(found.mean(), 0.1, 0.9)

  def test_it_is_only_asked_of_what_is_in_the_box(self):
    free = np.array([[True, True], [True, False]])  # By half of the box.

    def on_grid(tasks):
      x, y = (tasks >= [0.0, 1.0]).transpose(2, 0, 1).astype(int)
      assert (np.abs(tasks - [0.0, 1.0]) <= 1.0).all()
      return free[x, y]

    def easy(num_tasks, rng):
      return _easy(num_tasks, rng) * [-1.0, 1.0]

    space = box_tasks.Box(_LOW, _HIGH, easy, on_grid)
    phi = tf.constant([[7.0, 0.0, 0.9, 1.9, -0.9, 1.9]])
    self.assertAllEqual(space.feasible(phi), [[False, False, True]])

  def test_what_it_raises_in_a_graph_is_told(self):
    is_broken = []

    def feasible(tasks):
      return np.ones([len(tasks)], bool) if not is_broken else tasks.nothing

    space = box_tasks.Box(_LOW, _HIGH, _easy, feasible)
    is_broken.append(True)
    with self.assertRaises(tf.errors.OpError) as caught:
      tf.function(space.feasible)(tf.zeros([2, 6]))
    told = simulator.raised(caught.exception)
    self.assertRegex(told, r'^feasible failed: AttributeError: .*nothing')
    self.assertIsNone(simulator.raised(tf.errors.UnknownError(None, None, 'x')))

  def test_a_joint_refusal_marks_all_entities(self):
    def joint(tasks):
      return _outside_disc(tasks).all(-1)

    space = box_tasks.Box(_LOW, _HIGH, _easy, joint)
    phi = tf.constant([[0.0, 1.0, 0.9, 1.9, 0.9, 1.9]])
    self.assertAllEqual(space.feasible(phi), [[False] * 3])

  def test_graphs_do_what_eager_calls_do(self):
    space = box_tasks.Box(_LOW, _HIGH, _easy, _outside_disc)
    seed = randomness.root(3)
    far = 5.0 * space.sample_uniform(20, seed)
    for function in (
      lambda: space.sample_easy(7, seed),
      lambda: space.sample_uniform(7, seed),
      lambda: space.clip(far, seed),
      lambda: space.feasible(far),
    ):
      in_graph = tf.function(function, autograph=False)()
      self.assertAllEqual(function(), in_graph)

  def test_legal_tasks_stay_where_they_are(self):
    space = box_tasks.Box(_LOW, _HIGH, _easy, _outside_disc)
    phi = space.sample_uniform(50, randomness.root(1))
    self.assertAllEqual(space.clip(phi, randomness.root(2)), phi)

  def test_uniform_tasks_fill_the_box(self):
    space = box_tasks.Box(_LOW, _HIGH, _easy)
    phi = space.sample_uniform(4000, randomness.root(1)).numpy()
    self.assertAllClose(phi.mean(0), [0.0, 1.0] * 3, atol=0.05)
    self.assertAllClose(phi.std(0), [2 / 12**0.5] * 6, atol=0.05)

  @parameterized.named_parameters(
    (
      'not_feasible',
      lambda k, rng: np.full([k, 3, 2], 9.0),
      None,
      '9.0.*row 0',
    ),
    ('of_another_shape', lambda k, rng: np.zeros([k, 6]), None, r'\[1000, 6\]'),
    ('refused', _easy, lambda x: x[:, 0, 0] < 0.5, 'refused by feasible'),
    ('nowhere', _easy, lambda x: x[:, 0, 0] > 5, 'only 0 are feasible'),
    ('failing', _easy, lambda x: x.nothing, 'feasible failed: Attrib.*nothing'),
    (
      'easy_failing',
      lambda k, rng: 1 / 0,
      None,
      'easy failed: ZeroDivisionError: ',
    ),
    ('no_bool', _easy, lambda x: x[:, 0, 0], 'feasible: expected bool'),
  )
  def test_wrong_functions_are_told(self, easy, feasible, message):
    with self.assertRaisesRegex(simulator.WorldError, message):
      box_tasks.Box(_LOW, _HIGH, easy, feasible)

  @parameterized.parameters(
    ([0.0], [0.0]), ([0.0], [np.inf]), ([0.0], [1.0, 2.0]), (0.0, 1.0)
  )
  def test_wrong_bounds_are_told(self, low, high):
    with self.assertRaisesRegex(simulator.WorldError, 'are no bounds; give'):
      box_tasks.Box(low, high, _easy)


if __name__ == '__main__':
  absltest.main()
