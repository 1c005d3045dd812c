# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The fakes themselves: what tests rest on must hold."""

import itertools

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf.testing import fakes
from vacl_tf.training import rollout

_SEED = randomness.root(0)


class LineTaskSpaceTest(tf.test.TestCase):
  def test_draws_are_legal(self):
    space = fakes.LineTaskSpace()
    for draw in (space.sample_easy, space.sample_uniform, space.sample_target):
      phi = draw(200, _SEED)
      self.assertEqual(phi.shape, [200, space.num_dims])
      self.assertAllEqual(space.feasible(phi), np.ones([200, 4]))
    spread = space.sample_uniform(200, _SEED)
    self.assertLess(np.min(spread), -1.45)
    self.assertGreater(np.max(spread), 1.45)

  def test_clip_brings_back_to_the_rim(self):
    space = fakes.LineTaskSpace()
    phi = tf.constant([[-9.0, 0.3, 1.6, 1.5]])
    found = space.clip(phi, _SEED)
    self.assertAllEqual(space.feasible(phi), [[False, True, False, True]])
    self.assertAllClose(found, [[-1.5, 0.3, 1.5, 1.5]], atol=0.01)
    self.assertAllEqual(space.feasible(found), np.ones([1, 4]))


class LineWorldTest(tf.test.TestCase):
  def test_easy_tasks_are_solved_by_standing_still(self):
    env = fakes.LineWorld()
    state = env.place(env.task_space.sample_easy(100, _SEED), _SEED)
    self.assertAllEqual(env.progress(state), np.ones(100))
    self.assertAllClose(env.reward(state)[0], np.full([100, 2], 0.4))

  def test_every_task_can_be_solved_in_time_for_the_value(self):
    env = fakes.LineWorld()
    ends = itertools.product((-fakes.HALF_WIDTH, fakes.HALF_WIDTH), repeat=4)
    uniform = env.task_space.sample_uniform(300, _SEED).numpy()
    phi = tf.constant(np.concatenate([list(ends), uniform]), tf.float32)
    state, progress = env.place(phi, _SEED), []
    for _ in range(env.horizon):
      goal = tf.sort(state.landmark)  # The left agent takes the left landmark.
      rank = tf.argsort(tf.argsort(state.position, stable=True))
      towards = tf.gather(goal, rank, batch_dims=1) - state.position
      is_near = tf.abs(towards) <= fakes.COVER_DISTANCE
      action = tf.where(is_near, 0, tf.where(towards < 0.0, 1, 2))
      state = env.step(state, (action,))
      progress.append(env.progress(state))
    value = rollout.task_value(tf.stack(progress))
    self.assertAllEqual(value, np.ones(len(phi)))

  def test_reward_needs_both_landmarks(self):
    env = fakes.LineWorld()
    phi = tf.constant([[0.0, 1.0, 0.2, 1.2], [0.0, 1.0, 0.2, -1.0]])
    state = env.place(phi, _SEED)
    self.assertAllClose(env.progress(state), [1.0, 0.5])
    self.assertAllClose(env.reward(state)[0], [[0.4, 0.4], [0.0, 0.0]])
    self.assertAllEqual(env.read_task(state), phi)

  def test_observation_tells_the_cells(self):
    env = fakes.LineWorld()
    phi = tf.constant([[0.0, 1.0, 0.2, -1.2]])
    [seen] = env.observe(env.place(phi, _SEED))
    landmarks = seen.entities['landmarks'].numpy()
    self.assertAllEqual(landmarks[0, :, :, 0], [[1.0, 0.0]] * 2)
    cells = np.argmax(landmarks[..., 1:], -1) - 6
    self.assertAllEqual(cells, [[[0, -2], [-2, -4]]])
    partner = np.argmax(seen.entities['agents'], -1) - 6
    self.assertAllEqual(partner, [[[2], [-2]]])

  def test_refuses_other_actions(self):
    env = fakes.LineWorld()
    state = env.place(tf.zeros([3, 4]), _SEED)
    with self.assertRaisesRegex(ValueError, 'int32'):
      env.step(state, (tf.zeros([3, 2]),))
    with self.assertRaisesRegex(ValueError, r'action has shape \(3, 3\)'):
      env.step(state, (tf.zeros([3, 3], tf.int32),))


class VariantsTest(tf.test.TestCase):
  def test_a_drifting_agent_stays_on_the_line(self):
    env = fakes.DriftingWorld()
    state = env.place(tf.constant([[0.0, 1.0, 0.2, 1.2]]), _SEED)
    state = env.step(state, (tf.constant([[[-0.25], [1.0]]]),))
    self.assertAllClose(state.position, [[-0.25, fakes.HALF_WIDTH]])

  def test_an_ending_world_is_at_the_start_of_its_task_again(self):
    env = fakes.EndingWorld()
    phi = env.task_space.sample_uniform(4, _SEED)
    state, discounts = env.place(phi, _SEED), []
    for _ in range(6):
      state = env.step(state, (tf.fill([4, 2], 2),))
      discounts.append(env.discount(state)[0])
      is_start = np.allclose(env.read_task(state), phi)
      self.assertEqual(is_start, discounts[-1] == 0.0)
    self.assertAllEqual(discounts, 2 * [1.0, 1.0, 0.0])

  def test_far_landmarks_are_masked(self):
    env = fakes.MaskedWorld()
    phi = tf.constant([[0.0, 1.0, 0.2, -1.2]])
    [seen] = env.observe(env.place(phi, _SEED))
    self.assertAllEqual(
      seen.masks['landmarks'], [[[True, False], [True, False]]]
    )
    landmarks = seen.entities['landmarks']
    self.assertAllEqual(landmarks[:, :, 1], np.full([1, 2, 14], -7.0))
    [plain] = fakes.LineWorld().observe(env.place(phi, _SEED))
    self.assertAllEqual(
      landmarks[:, :, 0], plain.entities['landmarks'][:, :, 0]
    )


if __name__ == '__main__':
  tf.test.main()
