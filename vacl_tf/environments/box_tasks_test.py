# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0

import re

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

  def test_no_task_at_all(self):
    for feasible in (None, lambda tasks: np.ones([len(tasks)], bool)):
      space = box_tasks.Box(_LOW, _HIGH, _easy, feasible)
      none = tf.zeros([0, 6])
      self.assertAllEqual(space.feasible(none), np.zeros([0, 3], bool))
      self.assertEqual(space.clip(none, randomness.root(0)).shape, (0, 6))
      for sample in (space.sample_easy, space.sample_target):
        self.assertEqual(sample(0, randomness.root(0)).shape, (0, 6))

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
    with (
      self.assertRaisesRegex(simulator.WorldError, f'^{re.escape(told)}$'),
      simulator.out_of_graphs(),
    ):
      tf.function(space.feasible)(tf.zeros([2, 6]))
    with self.assertRaises(tf.errors.OpError), simulator.out_of_graphs():
      raise tf.errors.UnknownError(None, None, 'x')
    self.assertIsNone(simulator.raised(tf.errors.UnknownError(None, None, 'x')))

  def test_a_single_task_is_found_where_few_are_feasible(self):
    space = box_tasks.Box(
      np.zeros([1]),
      np.ones([1]),
      lambda num, rng: np.full([num, 1], 0.001),
      lambda tasks: tasks[:, 0] < 0.002,
    )
    for seed in range(20):  # Of 1000 draws each, some would find none.
      phi = space.sample_uniform(1, randomness.root(seed))
      self.assertLess(phi[0, 0], 0.002)

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

  def test_only_what_is_illegal_moves(self):
    space = box_tasks.Box(_LOW, _HIGH, _easy, _outside_disc)
    phi = tf.constant([[0.1, 1.0, 0.9, 1.9, -0.8, 0.3]])
    found = space.clip(phi, randomness.root(2)).numpy()
    self.assertAllEqual(found[:, 2:], phi[:, 2:])
    moved = np.linalg.norm(found[0, :2] - phi[0, :2])
    # The rim of the disc is 0.3 away, and 1000 known points are near it.
    self.assertBetween(moved, 0.3, 0.4)

  def test_what_is_illegal_together_moves_as_a_whole(self):
    def apart(tasks):  # A move of one entity can leave all as wrong as before.
      offset = tasks[:, :, None] - tasks[:, None] + 9.0 * np.eye(3)[..., None]
      return np.linalg.norm(offset, axis=-1).min(2) > 0.7

    def easy(num_tasks, rng):
      return np.tile([[-0.8, 0.2], [0.8, 0.2], [0.0, 1.8]], [num_tasks, 1, 1])

    space = box_tasks.Box(_LOW, _HIGH, easy, apart)
    phi = np.random.default_rng(0).uniform(-0.2, 0.2, [200, 3, 2]) + [0, 1]
    phi = tf.constant(phi.reshape([200, 6]), tf.float32)
    self.assertFalse(space.feasible(phi).numpy().any())
    found = space.clip(phi, randomness.root(0))
    self.assertTrue(space.feasible(found).numpy().all())

  def test_uniform_tasks_fill_the_box(self):
    space = box_tasks.Box(_LOW, _HIGH, _easy)
    phi = space.sample_uniform(4000, randomness.root(1)).numpy()
    self.assertAllClose(phi.mean(0), [0.0, 1.0] * 3, atol=0.05)
    self.assertAllClose(phi.std(0), [2 / 12**0.5] * 6, atol=0.05)

  def test_target_tasks_are_those_that_its_user_draws(self):
    def target(num_tasks, rng):
      return rng.uniform([-1.0, 1.5], [-0.8, 2.0], [num_tasks, 3, 2])

    space = box_tasks.Box(_LOW, _HIGH, _easy, _outside_disc, target=target)
    checked_simulator.check_task_space(space)
    phi = space.sample_target(500, randomness.root(1)).numpy()
    self.assertAllClose(phi.mean(0), [-0.9, 1.75] * 3, atol=0.03)
    self.assertAllGreater(phi.std(0), 0.04)
    again = tf.function(lambda seed: space.sample_target(500, seed))
    self.assertAllEqual(again(randomness.root(1)), phi)
    self.assertNotAllClose(again(randomness.root(2)), phi)
    uniform = space.sample_uniform(500, randomness.root(1)).numpy()
    self.assertAllGreater(uniform.std(0), 0.4)

  def test_wrong_target_tasks_are_told(self):
    for drawn, message in (
      (0.0, 'target: expected feasible tasks, given .* refused by feasible'),
      (np.nan, 'target: expected feasible tasks'),
    ):
      with self.assertRaisesRegex(simulator.WorldError, message):
        box_tasks.Box(
          *(_LOW, _HIGH, _easy, _outside_disc),
          target=lambda k, rng, x=drawn: np.full([k, 3, 2], x) + [0.0, 1.0],
        )

  @parameterized.named_parameters(
    (
      'not_feasible',
      lambda k, rng: np.full([k, 3, 2], 9.0),
      None,
      '9.0.*row 0',
    ),
    ('of_another_shape', lambda k, rng: np.zeros([k, 6]), None, r'\[1000, 6\]'),
    ('refused', _easy, lambda x: x[:, 0, 0] < 0.5, 'refused by feasible'),
    ('nowhere', _easy, lambda x: x[:, 0, 0] > 5, 'only 0 of .* are feasible'),
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
    with self.assertRaisesRegex(
      simulator.WorldError, 'are not valid bounds; give'
    ):
      box_tasks.Box(low, high, _easy)


def _points(num_agents, kinds=None, size=2):
  """Returns agents in [-1, 1], then as many goals in [1, 3]."""
  low = np.repeat([-1.0, 1.0], num_agents)[:, None] * np.ones([size])

  def easy(num_tasks, rng):
    return np.broadcast_to(low, [num_tasks, *low.shape])

  return box_tasks.Box(low, low + 2.0, easy, kinds=kinds)


def _in_blocks(num_agents):
  return num_agents * ['agent'] + num_agents * ['goal']


def _in_turns(num_agents):
  return num_agents * ['goal', 'agent']


class MapTest(parameterized.TestCase):
  @parameterized.parameters(_in_blocks, _in_turns)
  def test_entities_lie_where_their_numbers_say(self, kinds):
    layout = box_tasks.map_of([_points(n, kinds(n)) for n in (1, 2, 3)])
    for num_agents in (1, 2, 3):
      phi = np.random.default_rng(0).uniform(-1, 3, [5, 4 * num_agents])
      found = layout.points(phi)
      self.assertLen(found, 2)
      rows = phi.reshape([5, -1, 2])
      for kind, points in found.items():
        own = [i for i, x in enumerate(kinds(num_agents)) if x == kind]
        np.testing.assert_array_equal(points, rows[:, own])

  def test_the_map_is_around_the_box(self):
    layout = box_tasks.map_of([_points(2, _in_blocks(2))])
    self.assertEqual((layout.mover, layout.goal), ('agent', 'goal'))
    self.assertEqual(layout.movers, (-1.0, 1.0, -1.0, 1.0))
    self.assertEqual(layout.goals, (1.0, 3.0, 1.0, 3.0))
    target = layout.points(layout.sample(300))
    for kind, least in (('agent', -1.0), ('goal', 1.0)):
      self.assertBetween(target[kind].min(), least, least + 0.05)
      self.assertBetween(target[kind].max(), least + 1.95, least + 2.0)

  def test_without_names_all_are_alike(self):
    layout = box_tasks.map_of([_points(2)])
    self.assertEqual(layout.points(np.zeros([3, 8]))['point'].shape, (3, 4, 2))
    self.assertEqual(layout.movers, (-1.0, 3.0, -1.0, 3.0))
    self.assertEqual((layout.mover, layout.movers), (layout.goal, layout.goals))

  def test_as_many_entities_whatever_the_agents(self):
    layout = box_tasks.map_of([_points(2), _points(2)])
    self.assertEqual(layout.points(np.zeros([3, 8]))['point'].shape, (3, 4, 2))

  @parameterized.parameters(1, 3)
  def test_other_sizes_have_no_map(self, size):
    self.assertIsNone(box_tasks.map_of([_points(2, size=size)]))

  def test_numbers_alone_have_no_map(self):
    space = box_tasks.Box(
      [0.0, 0.0], [1.0, 1.0], lambda k, rng: np.zeros([k, 2])
    )
    self.assertIsNone(box_tasks.map_of([space]))

  @parameterized.parameters((['agent'],), ('four',), ([1, 2, 3, 4],))
  def test_wrong_names_are_told(self, kinds):
    with self.assertRaisesRegex(
      simulator.WorldError, 'Box: kinds=.*; expected 4 names, one for each'
    ):
      _points(2, kinds)

  def test_kinds_that_come_later_are_told(self):
    boxes = [_points(n, [f'agent_{i}' for i in range(2 * n)]) for n in (1, 2)]
    with self.assertRaisesRegex(
      simulator.WorldError, 'with 2 entities, but .* with 4; name the same'
    ):
      box_tasks.map_of(boxes)


if __name__ == '__main__':
  absltest.main()
