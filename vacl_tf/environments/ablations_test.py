# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worlds with other constants than the task's own: radii and easy squares."""

import itertools

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import environments
from vacl_tf import randomness

_COVERED = ('simple_spread', 'hard_spread', 'push_ball')
_NUM = 4  # Agents.
# Of the landmarks: where easy tasks of Hard-Spread lie.
_CENTRES = {'hard_spread': [4.0, 0.0]}


def _landmarks(env, phi):
  """Returns points [B, n, 2] of a batch of tasks; they are last in phi."""
  points = tf.reshape(phi, [len(phi), -1, 2]).numpy()
  num = 3 if env.name == 'speaker_listener' else env.num_agents
  return points[:, -num:] - _CENTRES.get(env.name, [0.0, 0.0])


def _crowd(env, num=200):
  """Returns states in which what covers lies about the landmarks."""
  seed = randomness.root(5)
  state = env.place(env.task_space.sample_easy(num, seed), seed)
  near = tf.tile(state.landmark, [1, state.position.shape[1] // _NUM, 1])
  shift = tf.random.stateless_uniform(near.shape, (1, 2), -0.5, 0.5)
  return state._replace(position=near + shift)


def _coverage(state, radius):
  """Returns the share of landmarks within a radius, [B], and distances."""
  mover = state.position.numpy()[:, -_NUM:]  # Balls, or all agents.
  away = state.landmark.numpy()[:, :, None] - mover[:, None]
  nearest = np.hypot(away[..., 0], away[..., 1]).min(2)
  assert np.abs(nearest - radius).min() > 1e-6  # No doubt by rounding.
  return (nearest <= radius).mean(1)


class CoverRadiusTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.product(name=_COVERED, radius=(0.02, 0.1, 0.25, 0.4))
  def test_whoever_is_within_it_covers(self, name, radius):
    env = environments.load(name, num_agents=_NUM, cover_radius=radius)
    state = _crowd(env)
    want = _coverage(state, radius)
    self.assertAllClose(env.progress(state), want)
    self.assertNotAllEqual(want, np.full_like(want, want[0]))
    # All else follows from it: reward, picture and what agents are told.
    own = environments.load(name, num_agents=_NUM)
    gain = env.reward(state)[0] - own.reward(state)[0]
    all_covered = env.progress(state) == 1.0
    is_gained = tf.cast(all_covered, float) - tf.cast(
      own.progress(state) == 1.0, float
    )
    paid = {'push_ball': 0.1}.get(name, 0.4) * is_gained
    if name == 'push_ball':
      paid += 0.2 * (env.progress(state) - own.progress(state))
    self.assertAllClose(gain, tf.tile(paid[:, None], [1, _NUM]), atol=1e-6)
    scenes = env.draw(state)
    rings = [x for x in scenes[0].discs if not x.is_filled]
    self.assertAllClose([x.radius for x in rings], [radius] * _NUM)
    told = env.observe(state)[0].entities['landmarks'][..., 0]
    if name == 'push_ball':  # A flag of its own, as in the released code.
      self.assertAllEqual(
        told, own.observe(state)[0].entities['landmarks'][..., 0]
      )
    else:
      self.assertAllClose(np.mean(told, 2), np.tile(want[:, None], [1, _NUM]))

  @parameterized.parameters(*_COVERED)
  def test_a_larger_one_covers_no_less(self, name):
    radii = (0.01, 0.1, 0.15, 0.2, 0.3, 0.5, 2.0)
    worlds = [
      environments.load(name, num_agents=_NUM, cover_radius=x) for x in radii
    ]
    state = _crowd(worlds[0])
    found = [env.progress(state).numpy() for env in worlds]
    for less, more in itertools.pairwise(found):
      self.assertAllGreaterEqual(more - less, 0.0)
    self.assertLess(found[0].mean(), found[-1].mean())
    self.assertAllEqual(found[-1], np.ones_like(found[-1]))

  @parameterized.parameters(
    ('simple_spread', 4, 0.15),
    ('simple_spread', 24, 0.15),
    ('simple_spread', 25, 0.25),
    ('hard_spread', 4, 0.15),
    ('push_ball', 2, 0.3),
  )
  def test_the_tasks_own(self, name, num_agents, radius):
    env = environments.load(name, num_agents=num_agents)
    self.assertAllClose(env.cover_distance, radius)
    given = environments.load(name, num_agents=num_agents, cover_radius=0.5)
    self.assertEqual(given.cover_distance, 0.5)


class EasySideTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(
    ('simple_spread', 4, 0.1),
    ('simple_spread', 4, 5.9),
    ('simple_spread', 8, 0.6),
    ('simple_spread', 24, 1.05),
    ('simple_spread', 24, 5.9),
    ('hard_spread', 4, 1.76),
    ('hard_spread', 8, 0.3),
    ('push_ball', 2, 0.8),
    ('push_ball', 2, 3.2),
    ('push_ball', 4, 1.3),
    ('push_ball', 8, 1.6),
    ('speaker_listener', 2, 0.1),
    ('speaker_listener', 2, 1.9),
  )
  def test_easy_landmarks_fill_the_square(self, name, num_agents, side):
    env = environments.load(name, num_agents=num_agents, easy_side=side)
    seed = randomness.root(3)
    phi = env.task_space.sample_easy(500, seed)
    self.assertTrue(np.all(env.task_space.feasible(phi)))
    landmark = _landmarks(env, phi)
    self.assertAllInRange(landmark, -side / 2 - 1e-6, side / 2 + 1e-6)
    # In Push-Ball and in crowds they may lie at the centres of cells.
    margin = 0.0
    if name == 'push_ball':
      margin = side / int(side / 0.4 + 1e-6)
    elif num_agents > 8:
      margin = side / np.ceil(num_agents**0.5)
    self.assertGreater(landmark.max(), 0.9 * side / 2 - 0.5 * margin)
    self.assertLess(landmark.min(), -0.9 * side / 2 + 0.5 * margin)
    if name == 'push_ball':
      bodies = np.reshape(phi, [500, -1, 2])[:, : 2 * num_agents]
      away = bodies[:, :, None] - bodies[:, None]
      gap = np.hypot(*np.moveaxis(away, -1, 0)) + 9.0 * np.eye(2 * num_agents)
      self.assertGreater(gap.min(), 0.299)  # Two balls touch at 0.3.
    elif name != 'speaker_listener':
      state = env.place(phi, seed)
      self.assertAllEqual(env.progress(state), np.ones([500]))

  @parameterized.parameters(
    ('simple_spread', 4, 0.6),
    ('simple_spread', 8, 2.0),
    ('simple_spread', 16, 1.6),
    ('hard_spread', 4, 0.6),
    ('hard_spread', 8, 1.76),
    ('push_ball', 3, 1.2),
    ('push_ball', 4, 1.6),
    ('speaker_listener', 2, 0.6),
  )
  def test_the_tasks_own(self, name, num_agents, side):
    seed = randomness.root(1)
    own, given = (
      environments.load(name, num_agents=num_agents, easy_side=x)
      for x in (0.0, side)
    )
    self.assertAllClose(
      own.task_space.sample_easy(50, seed),
      given.task_space.sample_easy(50, seed),
      atol=1e-6,
    )
    # It changes no other tasks.
    other = environments.load(name, num_agents=num_agents, easy_side=1.7)
    self.assertAllEqual(
      own.task_space.sample_target(50, seed),
      other.task_space.sample_target(50, seed),
    )

  @parameterized.parameters(
    ('simple_spread', 24, 1.0, 'too small for 24 landmarks .* least 1.05$'),
    ('simple_spread', 4, 6.0, 'easy_side=6.0 .*allowed: 0.0 to 5.9$'),
    ('hard_spread', 4, 1.8, 'allowed: 0.0 to 1.76$'),
    ('push_ball', 4, 1.1, 'too small for 4 balls .* give at least 1.2$'),
    ('push_ball', 4, 3.3, 'allowed: 0.0 to 3.2$'),
    ('speaker_listener', 2, 2.0, 'allowed: 0.0 to 1.9$'),
  )
  def test_an_impossible_one_is_refused(self, name, num_agents, side, message):
    with self.assertRaisesRegex(ValueError, message):
      environments.load(name, num_agents=num_agents, easy_side=side)


if __name__ == '__main__':
  tf.test.main()
