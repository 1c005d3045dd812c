# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for spread, against the oracle and against numbers done by hand."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import randomness
from vacl_tf.environments import base
from vacl_tf.environments.particle import spread
from vacl_tf.testing import particle_oracle as oracle

_COUNTS = (2, 3, 4, 5, 8)  # Odd ones too: pairs are enumerated cyclically.
_NUM_WORLDS = 40
_HORIZON = 70


def _env(num_agents):
  return spread.Spread('simple_spread', num_agents, _HORIZON)


def _crowd(num_agents, seed=0):
  """Returns worlds in which some landmarks are covered and agents touch."""
  rng = np.random.default_rng(seed)
  half_width = 0.15 * num_agents**0.5
  position, landmark, velocity = rng.uniform(
    -half_width, half_width, [3, _NUM_WORLDS, num_agents, 2]
  ).astype(np.float32)
  jitter = rng.uniform(-0.01, 0.01, [_NUM_WORLDS // 4, num_agents, 2])
  landmark[::4] = position[::4] + jitter  # So that all are covered in some.
  return spread.SpreadState(*map(tf.constant, (position, velocity, landmark)))


def _worlds(state):
  return zip(*(leaf.numpy().astype(np.float64) for leaf in state), strict=True)


def _state(position, landmark):
  """Returns one motionless world."""
  position = tf.constant([position], tf.float32)
  landmark = tf.constant([landmark], tf.float32)
  return spread.SpreadState(position, tf.zeros_like(position), landmark)


class HalfWidthTest(tf.test.TestCase):
  def test_a_wider_room_is_the_same_world_with_other_tasks(self):
    usual, seed = _env(4), randomness.root(0)
    wide = spread.Spread('simple_spread', 4, _HORIZON, half_width=5.0)
    target = wide.task_space.sample_target(2000, seed).numpy()
    self.assertTrue(np.all(wide.task_space.feasible(target)))
    self.assertAllClose(
      target, usual.task_space.sample_target(2000, seed) * 5 / 3, 1e-5, 1e-5
    )
    # Easy tasks and the rules are the same.
    self.assertAllEqual(
      wide.task_space.sample_easy(50, seed),
      usual.task_space.sample_easy(50, seed),
    )
    state = _crowd(4)
    action = (tf.zeros([_NUM_WORLDS, 4], tf.int32),)
    for one, other in zip(
      wide.step(state, action), usual.step(state, action), strict=True
    ):
      self.assertAllEqual(one, other)
    [bounds], [usual_bounds] = (x.observation_bounds() for x in (wide, usual))
    self.assertAllGreater(bounds['own'][1] - usual_bounds['own'][1] + 1e-3, 0)
    self.assertEqual(wide.draw(state)[0].half_width, 5.3)


class OracleTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(*_COUNTS)
  def test_step(self, num_agents):
    env = _env(num_agents)
    state = _crowd(num_agents)
    rng = np.random.default_rng(1)
    action = rng.integers(0, 5, [_NUM_WORLDS, num_agents], np.int32)
    after = env.step(state, (tf.constant(action),))
    self.assertAllEqual(after.landmark, state.landmark)
    for index, (position, velocity, _) in enumerate(_worlds(state)):
      want = oracle.step(position, velocity, action[index])
      self.assertAllClose(after.position[index], want[0], atol=1e-5)
      self.assertAllClose(after.velocity[index], want[1], atol=1e-5)

  @parameterized.parameters(*_COUNTS)
  def test_observe(self, num_agents):
    env = _env(num_agents)
    state = _crowd(num_agents)
    (seen,) = env.observe(state)
    self.assertEmpty(seen.masks)
    landmarks, agents = seen.entities['landmarks'], seen.entities['agents']
    flat = [_NUM_WORLDS, num_agents, -1]
    vectors = tf.concat(
      [seen.own, tf.reshape(landmarks, flat), tf.reshape(agents, flat)], -1
    )
    self.assertEqual(vectors.shape[-1], 4 + 3 * num_agents + 2 * num_agents - 2)
    for index, (position, velocity, landmark) in enumerate(_worlds(state)):
      for agent in range(num_agents):
        want = oracle.observation(position, velocity, landmark, agent)
        self.assertAllClose(vectors[index, agent], want, atol=1e-6)

  @parameterized.parameters(*_COUNTS)
  def test_reward_and_progress(self, num_agents):
    env = _env(num_agents)
    state = _crowd(num_agents)
    (reward,) = env.reward(state)
    progress = env.progress(state)
    for index, (position, _, landmark) in enumerate(_worlds(state)):
      want = oracle.reward(position, landmark)
      self.assertAllClose(reward[index], want)
      want = oracle.coverage(position, landmark)
      self.assertAllClose(progress[index], want)
    # The worlds show every case, or the above would prove little.
    self.assertLess(np.min(progress), np.max(progress))
    values = set(np.round(reward.numpy(), 3).flat)
    self.assertContainsSubset(
      np.float32([-0.1, 0.0, 0.3]).round(3).tolist(), values
    )


class CompiledTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(4, 41, 47, 83, 97, 100)
  def test_all_landmarks_are_all_of_them(self, num_agents):
    env = _env(num_agents)  # 41 * (1 / 41) is below 1 in float32.
    state = _crowd(num_agents)
    state = state._replace(landmark=state.position)
    found = [
      tf.function(function, jit_compile=True)(state)
      for function in (env.reward, env.progress)
    ]
    self.assertAllClose(np.max(found[0]), spread.REWARD_ALL_COVERED)
    self.assertAllEqual(found[0], env.reward(state))
    self.assertAllGreaterEqual(found[1], 1.0 - base.ROUNDING)


class HandNumbersTest(tf.test.TestCase, parameterized.TestCase):
  def test_reward_is_shared_and_the_penalty_is_not(self):
    env = _env(3)
    state = _state([[0, 0], [0.15, 0], [2, 2]], [[0.1, 0], [0, 0.1], [2, 2]])
    self.assertAllClose(env.reward(state)[0], [[0.3, 0.3, 0.4]])
    self.assertAllClose(env.progress(state), [1.0])

  def test_an_agent_that_touches_two_pays_once(self):
    env = _env(3)
    state = _state([[-0.15, 0], [0, 0], [0.15, 0]], [[2, 2]] * 3)
    self.assertAllClose(env.reward(state)[0], [[-0.1, -0.1, -0.1]])

  @parameterized.parameters((0.149, 1.0), (0.151, 0.0))
  def test_cover_distance(self, distance, progress):
    env = _env(2)
    state = _state([[1, 1], [-2, 0]], [[1 + distance, 1]] * 2)
    self.assertAllClose(env.progress(state), [progress])
    flags = env.observe(state)[0].entities['landmarks'][..., 0]
    self.assertAllEqual(flags, np.full([1, 2, 2], progress))

  @parameterized.parameters((0.199, -0.1), (0.201, 0.0))
  def test_contact_distance(self, distance, reward):
    env = _env(2)
    state = _state([[0, 0], [distance, 0]], [[2, 2]] * 2)
    self.assertAllClose(env.reward(state)[0], [[reward, reward]])

  def test_vectors_point_from_self_to_other(self):
    env = _env(2)
    seen = env.observe(_state([[1, 1], [2, 0]], [[1, 3], [0, 0]]))[0].entities
    self.assertAllClose(seen['agents'][0], [[[1, -1]], [[-1, 1]]])
    self.assertAllClose(seen['landmarks'][0, 0], [[0, 0, 2], [0, -1, -1]])


class SymmetryTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(4, 5)
  def test_renumbering_agents_renumbers_everything(self, num_agents):
    env = _env(num_agents)
    state = _crowd(num_agents)
    order = np.random.default_rng(2).permutation(num_agents)
    self.assertNotAllEqual(order, np.arange(num_agents))
    actions = tf.constant(order[None] % 5 + np.zeros([_NUM_WORLDS, 1], int))
    turned = state._replace(
      position=tf.gather(state.position, order, axis=1),
      velocity=tf.gather(state.velocity, order, axis=1),
    )
    after = env.step(state, (actions,))
    turned_after = env.step(turned, (tf.gather(actions, order, axis=1),))
    self.assertAllClose(
      turned_after.position, tf.gather(after.position, order, axis=1), atol=1e-5
    )
    self.assertAllClose(env.progress(turned), env.progress(state))
    (reward,), (turned_reward,) = env.reward(state), env.reward(turned)
    self.assertAllClose(turned_reward, tf.gather(reward, order, axis=1))
    (seen,), (turned_seen,) = env.observe(state), env.observe(turned)
    self.assertAllClose(turned_seen.own, tf.gather(seen.own, order, axis=1))
    self.assertAllClose(
      turned_seen.entities['landmarks'],
      tf.gather(seen.entities['landmarks'], order, axis=1),
    )

  @parameterized.parameters(4, 5)
  def test_renumbering_landmarks_changes_no_reward(self, num_agents):
    env = _env(num_agents)
    state = _crowd(num_agents)
    turned = state._replace(landmark=tf.reverse(state.landmark, [1]))
    self.assertAllClose(env.reward(turned)[0], env.reward(state)[0])
    self.assertAllClose(env.progress(turned), env.progress(state))


class TasksTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(*_COUNTS)
  def test_easy_tasks_begin_solved(self, num_agents):
    env = _env(num_agents)
    seed = randomness.root(num_agents)
    phi = env.task_space.sample_easy(300, seed)
    self.assertTrue(np.all(env.task_space.feasible(phi)))
    state = env.place(phi, seed)
    self.assertAllEqual(env.progress(state), np.ones([300]))
    half_width = 0.3 if num_agents <= 4 else 1.0
    self.assertAllInRange(state.landmark, -half_width, half_width)
    self.assertGreater(np.max(state.landmark), 0.95 * half_width)

  def test_easy_agents_each_stand_diagonally_beside_a_landmark(self):
    env = _env(5)
    seed = randomness.root(0)
    state = env.place(env.task_space.sample_easy(200, seed), seed)
    offset = state.position[:, :, None] - state.landmark[:, None]
    # [B, agents]; the nearest may be another one, where landmarks overlap.
    own = np.abs(offset[..., 0] - offset[..., 1]).argmin(2)
    self.assertAllEqual(np.sort(own), np.tile(np.arange(5), [200, 1]))
    self.assertGreater(np.mean(own != np.arange(5)), 0.5)  # In random order.
    offset = tf.gather(offset, own, axis=2, batch_dims=2).numpy()
    self.assertAllInRange(offset, -0.01001, 0.01001)
    self.assertAllClose(offset[..., 0], offset[..., 1], atol=1e-6)
    self.assertGreater(offset.max(), 0.009)
    self.assertLess(offset.min(), -0.009)

  @parameterized.parameters(9, 24, 50, 100)
  def test_easy_crowds_stand_still_on_landmarks_apart(self, num_agents):
    env = _env(num_agents)
    seed = randomness.root(num_agents)
    phi = env.task_space.sample_easy(20, seed)
    self.assertTrue(np.all(env.task_space.feasible(phi)))
    state = env.place(phi, seed)
    landmark = state.landmark.numpy()
    between = landmark[:, :, None] - landmark[:, None]
    distance = np.linalg.norm(between, axis=-1) + 9.0 * np.eye(num_agents)
    self.assertAllInRange(distance, 0.2099, 10.0)
    side = 0.4 * num_agents**0.5
    self.assertAllInRange(landmark, -side / 2, side / 2)
    self.assertGreater(np.max(landmark), 0.4 * side)
    self.assertGreater(np.min(np.std(landmark, axis=0)), 0.05)  # All vary.
    # None pushes another away, though neighbours may all but touch.
    idle = (tf.zeros([20, num_agents], tf.int32),)
    for _ in range(5):
      state = env.step(state, idle)
    self.assertAllEqual(env.progress(state), np.ones([20]))

  @parameterized.parameters((24, 0.15), (25, 0.25), (100, 0.25))
  def test_crowds_have_wide_landmarks(self, num_agents, cover_distance):
    env = _env(num_agents)
    self.assertAllClose(env.cover_distance, cover_distance)
    place = np.arange(2.0 * num_agents).reshape([-1, 2])
    for shift, progress in ((-0.001, 1.0), (0.001, 0.0)):
      agent = place + [cover_distance + shift, 0.0]
      self.assertAllClose(env.progress(_state(agent, place)), [progress])

  @parameterized.parameters(24, 33, 100)
  def test_crowds_are_told_what_is_covered(self, num_agents):
    env, state = _env(num_agents), _crowd(num_agents)
    away = state.landmark[:, :, None] - state.position[:, None]
    is_near = np.linalg.norm(away, axis=-1) <= env.cover_distance
    is_covered = is_near.any(-1)
    self.assertBetween(is_covered.mean(), 0.3, 0.999)
    [seen] = env.observe(state)
    told = seen.entities['landmarks'][..., 0]
    self.assertAllEqual(told, np.repeat(is_covered[:, None], num_agents, 1))
    self.assertAllClose(env.progress(state), is_covered.mean(1))

  def test_uniform_tasks_fill_the_room(self):
    env = _env(3)
    phi = env.task_space.sample_uniform(2000, randomness.root(0))
    self.assertAllEqual(phi.shape, [2000, 12])
    self.assertTrue(np.all(env.task_space.feasible(phi)))
    # A uniform draw has mean 0 +- 0.04 and deviation 3 / sqrt(3).
    self.assertAllClose(np.mean(phi, 0), np.zeros(12), atol=0.2)
    self.assertAllClose(np.std(phi, 0), np.full([12], 3.0**0.5), rtol=0.05)
    self.assertAllInRange(np.max(phi, 0), 2.95, 3.0)
    self.assertAllInRange(np.min(phi, 0), -3.0, -2.95)

  def test_place_puts_agents_before_landmarks_at_rest(self):
    env = _env(2)
    phi = tf.range(8, dtype=tf.float32)[None]
    state = env.place(phi, randomness.root(0))
    self.assertAllEqual(state.position, [[[0, 1], [2, 3]]])
    self.assertAllEqual(state.landmark, [[[4, 5], [6, 7]]])
    self.assertAllEqual(state.velocity, np.zeros([1, 2, 2]))
    self.assertAllEqual(env.read_task(state), phi)

  def test_draw_shows_every_body_and_colours_what_is_covered(self):
    env = _env(2)
    state = _state([[1, 1], [2, 0]], [[1, 1], [-1, -2]])
    (scene,) = env.draw(state)
    self.assertEqual(scene.caption, '1 of 2 landmarks covered')
    self.assertLen(scene.discs, 2 + 2 * 2)
    rings = [disc for disc in scene.discs if not disc.is_filled]
    self.assertAllClose([ring.radius for ring in rings], [0.15, 0.15])
    self.assertNotEqual(rings[0].colour, rings[1].colour)
    agents = [disc for disc in scene.discs if disc.radius == 0.1]
    self.assertAllClose(
      [list(disc.centre) for disc in agents], [[1, 1], [2, 0]]
    )


class HardSpreadTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    self.env = spread.Spread('hard_spread', 4, _HORIZON)

  def test_each_step_agrees_with_oracle(self):
    space, root = self.env.task_space, randomness.root(0)
    state = self.env.place(space.sample_uniform(_NUM_WORLDS, root), root)
    rng = np.random.default_rng(0)
    num_pushed = 0
    for _ in range(10):
      action = rng.integers(0, 5, [_NUM_WORLDS, 4], np.int32)
      after = self.env.step(state, (tf.constant(action),))
      for index, (position, velocity, _) in enumerate(_worlds(state)):
        want = oracle.step(
          position, velocity, action[index], oracle.HARD_SPREAD_WALLS
        )
        free = oracle.step(position, velocity, action[index])
        num_pushed += np.sum(np.abs(want[1] - free[1]) > 1e-3)
        self.assertAllClose(after.position[index], want[0], atol=1e-4)
        self.assertAllClose(after.velocity[index], want[1], atol=1e-3)
      state = after
    self.assertGreater(num_pushed, 20)

  def test_target_tasks_lead_from_the_left_room_to_the_right_one(self):
    phi = self.env.task_space.sample_target(1000, randomness.root(1))
    points = tf.reshape(phi, [1000, 2, 4, 2]).numpy()
    for part, low, high in (
      (points[:, 0], [-4.9, -0.9], [-3.1, 0.9]),
      (points[:, 1], [3.1, -0.9], [4.9, 0.9]),
    ):
      self.assertAllInRange(part.min((0, 1)) - low, 0.0, 0.02)
      self.assertAllInRange(high - part.max((0, 1)), 0.0, 0.02)

  def test_easy_tasks_lie_in_the_right_room(self):
    for num_agents, half_width in ((4, 0.3), (8, 0.88)):
      env = spread.Spread('hard_spread', num_agents, _HORIZON)
      phi = env.task_space.sample_easy(500, randomness.root(2))
      points = tf.reshape(phi, [500, -1, 2]).numpy() - [4.0, 0.0]
      self.assertAllInRange(np.abs(points).max(), half_width, half_width + 0.01)
      self.assertTrue(np.all(env.task_space.feasible(phi)))

  def test_the_gaps_between_rooms_and_doorways_are_illegal(self):
    phi = self.env.task_space.sample_target(6, randomness.root(3)).numpy()
    phi[:, :2] = [
      [-3.05, 0.6],  # A gap.
      [-2.0, 0.6],  # The left doorway.
      [-2.0, 0.8],
      [2.0, -0.6],  # The right doorway.
      [2.0, 0.6],
      [0.0, -0.9],  # The room in the middle.
    ]
    found = self.env.task_space.feasible(phi)
    self.assertAllEqual(found[:, 0], [False, True, False, True, False, True])
    phi[:, 8:10] = [0.0, 0.0]  # No place for a landmark.
    self.assertFalse(np.any(self.env.task_space.feasible(phi)[:, 4]))

  def test_draw_shows_the_walls(self):
    phi = self.env.task_space.sample_target(1, randomness.root(4))
    [scene] = self.env.draw(self.env.place(phi, randomness.root(4)))
    corners = [tuple(map(tuple, slab)) for slab in scene.slabs]
    self.assertLen(corners, 8)
    self.assertIn(((-3.0, 0.8), (-1.0, 2.0)), corners)
    self.assertIn(((-6.0, -4.0), (6.0, -1.0)), corners)


if __name__ == '__main__':
  tf.test.main()
