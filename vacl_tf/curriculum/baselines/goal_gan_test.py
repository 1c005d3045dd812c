# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for goal_gan: what is remembered, what is learned, what is played."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import goal_gan
from vacl_tf.testing import toy_learner

_NUM_TASKS = 40
_TASKS = toy_learner.TASKS


class _UpperHalf(toy_learner.SquareSpace):
  """Nothing is feasible but where all numbers are positive."""

  def feasible(self, phi):
    return super().feasible(phi) & tf.reduce_all(phi > 0.0, -1, keepdims=True)

  def sample_uniform(self, num_tasks, seed):
    return tf.abs(super().sample_uniform(num_tasks, seed))

  def sample_easy(self, num_tasks, seed):
    return 2.0 - tf.abs(super().sample_easy(num_tasks, seed))


class _Nothing(_UpperHalf):
  """Not even what is generated in the right place is feasible."""

  def feasible(self, phi):
    return tf.zeros_like(super().feasible(phi))


def _make(space_tasks=_TASKS, seed=0, **values):
  values = {'pretraining_steps': 60} | values
  return goal_gan.GoalGan(
    space_tasks, configs.GoalGanConfig(**values), np.random.default_rng(seed)
  )


def _replay(chooser):
  return chooser.state['replay'][: chooser.state['num_replay']]


def _distances(rows, columns):
  return np.linalg.norm(rows[:, None] - columns, axis=-1)


def _told(value, number=_NUM_TASKS):
  return {'value': np.full(number, value, np.float32)}


class GoalGanTest(tf.test.TestCase, parameterized.TestCase):
  def test_the_replay_admits_good_tasks_that_are_far_from_all(self):
    chooser = _make(knows_easy=False, least_distance=0.5)
    rng = np.random.default_rng(1)
    offered = []
    for _ in range(3):
      tasks = rng.uniform(-1, 1, [_NUM_TASKS, 4]).astype(np.float32)
      value = rng.uniform(0.0, 1.0, _NUM_TASKS)
      chooser.update(tasks, {'value': value})
      offered.append(_TASKS.canonical(tasks[(value >= 0.5) & (value <= 0.95)]))
    offered, replay = np.concatenate(offered), _replay(chooser)
    self.assertBetween(len(replay), 2, len(offered) - 1)
    self.assertAllEqual(
      _distances(replay, offered).min(1), np.zeros(len(replay))
    )
    between = _distances(replay, replay) + np.eye(len(replay))
    self.assertGreater(between.min(), 0.5)
    # Whoever was turned away is near a member.
    self.assertLess(_distances(offered, replay).min(1).max(), 0.5 + 1e-5)

  def test_tasks_in_another_order_are_not_new(self):
    chooser = _make(knows_easy=False)
    task = np.array([[1.0, 2.0, -1.0, 0.0]], np.float32)
    chooser.update(task, _told(0.7, 1))
    chooser.update(task[:, [2, 3, 0, 1]], _told(0.7, 1))
    self.assertAllEqual(_replay(chooser), [[-1.0, 0.0, 1.0, 2.0]])

  def test_the_oldest_leave_a_full_replay(self):
    chooser = _make(capacity=5, knows_easy=False)
    tasks = np.repeat(np.arange(8.0)[:, None], 4, 1).astype(np.float32)
    for task in tasks:
      told = chooser.update(task[None], _told(0.7, 1))
    self.assertEqual(told['replay_tasks'], 5)
    self.assertAllEqual(_replay(chooser), tasks[3:])

  def test_easy_tasks_are_replayed_only_if_they_are_known(self):
    rows = _replay(_make(least_distance=0.05))
    self.assertNotEmpty(rows)
    self.assertAllLess(np.abs(rows), 0.15 + 1e-6)
    self.assertEmpty(_replay(_make(knows_easy=False)))

  def test_a_third_of_a_batch_is_replayed_and_none_twice(self):
    chooser = _make(least_distance=0.01, new_share=0.6)
    replay = _replay(chooser)
    tasks = chooser.sample(_NUM_TASKS, np.random.default_rng(1))
    is_old = (_distances(tasks, replay) == 0.0).any(1)
    self.assertAllEqual(is_old, np.arange(_NUM_TASKS) >= 24)
    self.assertLen(np.unique(tasks, axis=0), _NUM_TASKS)
    # While there are too few, more tasks are new.
    few = _make(num_easy_tasks=2, least_distance=0.0)
    tasks = few.sample(_NUM_TASKS, np.random.default_rng(1))
    is_old = (_distances(tasks, _replay(few)) == 0.0).any(1)
    self.assertEqual(is_old.sum(), 2)

  def test_at_first_it_makes_easy_tasks(self):
    chooser = _make(new_share=1.0, goal_noise=0.0)
    tasks = chooser.sample(400, np.random.default_rng(1))
    self.assertLess(np.median(np.abs(tasks).max(1)), 0.4)

  def test_it_makes_what_is_good_and_leaves_what_is_not(self):
    """Of tasks at two places the first alone are good."""
    chooser = _make(new_share=1.0, steps_per_task=0.75)
    rng = np.random.default_rng(1)
    good, bad = np.full([1, 4], 1.5), np.full([1, 4], -1.5)
    is_good = rng.random([500, 1]) < 0.5
    tasks = np.where(is_good, good, bad) + 0.1 * rng.standard_normal([500, 4])
    value = np.where(is_good[:, 0], 0.7, 1.0)
    chooser.update(tasks.astype(np.float32), {'value': value})
    made = chooser.sample(400, rng)
    self.assertGreater(np.mean(_distances(made, good) < 1.5), 0.9)
    self.assertLess(np.mean(_distances(made, bad) < 1.5), 0.05)

  def test_networks_learn_only_if_there_is_something_good(self):
    chooser, rng = _make(), np.random.default_rng(1)
    names = ('generator', 'discriminator')
    for value, moves in ((1.0, False), (0.7, True)):
      chooser.update(_TASKS.target(500, rng), _told(value, 500))
      before = [chooser.state[name].copy() for name in names]
      chooser.sample(_NUM_TASKS, rng)
      for name, array in zip(names, before, strict=True):
        self.assertEqual(np.any(chooser.state[name] != array), moves)

  def test_noise_is_a_share_of_half_the_width(self):
    still = _make(new_share=1.0, goal_noise=0.0, steps_per_task=0.0)
    noisy = _make(new_share=1.0, goal_noise=0.1, steps_per_task=0.0)
    noisy.state['generator'][...] = 0.0  # It makes the middle of the map.
    still.state['generator'][...] = 0.0
    middle = np.zeros([2000, 4])
    rng = np.random.default_rng(1)
    self.assertAllClose(still.sample(2000, rng), middle, atol=0.01)
    made = noisy.sample(2000, rng)
    self.assertAllClose(made.mean(), 0.0, atol=0.02)
    self.assertAllClose(made.std(), 0.1 * toy_learner.HALF_WIDTH, atol=0.02)

  def test_batches_are_feasible(self):
    space_tasks = python_curriculum.Tasks(_UpperHalf())
    chooser = _make(space_tasks, new_share=1.0, goal_noise=1.0)
    tasks = chooser.sample(200, np.random.default_rng(1))
    self.assertTrue(space_tasks.feasible(tasks).all())
    told = chooser.update(tasks, _told(0.0, 200))
    self.assertBetween(told['feasible_share'], 0.05, 0.95)

  def test_target_tasks_make_up_for_what_is_not_feasible(self):
    chooser = _make(python_curriculum.Tasks(_Nothing()), new_share=1.0)
    tasks = chooser.sample(200, np.random.default_rng(1))
    self.assertAllGreater(tasks, 0.0)
    self.assertAllClose(tasks.mean(), toy_learner.HALF_WIDTH / 2, atol=0.2)
    self.assertEqual(
      chooser.update(tasks, _told(0.0, 200))['feasible_share'], 0
    )

  def test_the_state_is_all_that_counts(self):
    one, other = _make(), _make(seed=5)
    rng = np.random.default_rng(1)
    for _ in range(2):
      tasks = one.sample(_NUM_TASKS, rng)
      one.update(tasks, {'value': rng.uniform(0, 1, _NUM_TASKS)})
    other.state = {name: x.copy() for name, x in one.state.items()}
    found = [
      x.sample(_NUM_TASKS, np.random.default_rng(2)) for x in (one, other)
    ]
    self.assertAllEqual(*found)

  def test_the_score_may_be_success(self):
    chooser = _make(score='success', least=0.1, most=0.9)
    self.assertEqual(chooser.feedback, ('success',))
    tasks = chooser.sample(_NUM_TASKS, np.random.default_rng(1))
    success = np.where(np.arange(_NUM_TASKS) < 10, 0.5, 1.0)
    told = chooser.update(tasks, _told(0.7) | {'success': success})
    self.assertEqual(told['good_share'], 0.25)

  @parameterized.parameters(
    {}, {'new_share': 0.7, 'noise_dims': 16, 'goal_noise': 0.01}
  )
  def test_it_reaches_what_uniform_tasks_do_not(self, **values):
    with_gan = toy_learner.teach(_make(**values), num_rounds=30)
    self.assertGreater(with_gan, 0.5)
    uniform = toy_learner.teach(toy_learner.Uniform(), num_rounds=30)
    self.assertLess(uniform, 0.3)


if __name__ == '__main__':
  tf.test.main()
