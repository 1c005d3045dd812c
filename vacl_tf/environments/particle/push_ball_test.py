# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for push_ball, against the oracle and against numbers done by hand."""

import itertools

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import randomness
from vacl_tf.environments.particle import push_ball
from vacl_tf.testing import particle_oracle as oracle

_COUNTS = (2, 3, 4, 8)  # An odd one too: pairs are enumerated cyclically.
_NUM_WORLDS = 40
_NUM_STEPS = 100
_HORIZON = 120
_FAR = [[-2, -2], [-2, 2]]  # Where two things are in nobody's way.
_CELL, _JITTER = 0.4, 0.05


def _env(num_agents):
  return push_ball.PushBall('push_ball', num_agents, _HORIZON)


def _single(x):
  return np.asarray(x, np.float32)


def _crowd(num_agents, num_worlds=_NUM_WORLDS):
  """Returns worlds with contacts, and landmarks in every state."""
  rng = np.random.default_rng(num_agents)
  half_width = 0.3 * num_agents**0.5
  shape = [num_worlds, 2 * num_agents, 2]
  position = rng.uniform(-half_width, half_width, shape)
  velocity = rng.uniform(-2.0, 2.0, shape)
  landmark = rng.uniform(-2 * half_width, 2 * half_width, shape)
  landmark = landmark[:, :num_agents]
  landmark[::4] = position[::4, num_agents:]  # All are covered in some.
  landmark[::4] += rng.uniform(-0.2, 0.2, landmark[::4].shape)
  return push_ball.PushBallState(
    *(tf.constant(_single(x)) for x in (position, velocity, landmark))
  )


def _worlds(state):
  """Yields agents, balls, velocities and landmarks of each world."""
  leaves = (np.asarray(leaf, np.float64) for leaf in state)
  for position, velocity, landmark in zip(*leaves, strict=True):
    agent, ball = np.split(position, 2)
    yield agent, ball, velocity, landmark


def _state(agent, ball, landmark):
  """Returns one motionless world."""
  position = tf.constant([[*agent, *ball]], tf.float32)
  landmark = tf.constant([landmark], tf.float32)
  return push_ball.PushBallState(position, tf.zeros_like(position), landmark)


def _easy(num_agents, num_tasks=400, is_compiled=False):
  """Returns points [num_tasks, 3, n, 2] of agents, balls and landmarks."""
  space = _env(num_agents).task_space
  draw = tf.function(
    lambda seed: space.sample_easy(num_tasks, seed),
    jit_compile=is_compiled,
    autograph=False,
  )
  phi = draw(randomness.root(num_agents))
  return tf.reshape(phi, [num_tasks, 3, num_agents, 2]).numpy()


def _cells(points, num_agents):
  """Returns the cells that points lie in; 0 to n - 1 is the grid."""
  return np.round(points / _CELL + (num_agents - 1) / 2)


class OracleTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(*_COUNTS)
  def test_each_step(self, num_agents):
    env = _env(num_agents)
    state = _crowd(num_agents, 4)
    rng = np.random.default_rng(1)
    step = tf.function(env.step, autograph=False)
    num_pushed = 0
    for _ in range(_NUM_STEPS):
      # Pulled together again, as the crowd would disperse in a few steps.
      state = state._replace(position=0.95 * state.position)
      action = rng.integers(0, 5, [4, num_agents], np.int32)
      after = step(state, (tf.constant(action),))
      self.assertAllEqual(after.landmark, state.landmark)
      want = [
        oracle.push_ball_step(agent, ball, velocity, action[index])
        for index, (agent, ball, velocity, _) in enumerate(_worlds(state))
      ]
      position, velocity = (_single(x) for x in zip(*want, strict=True))
      self.assertAllClose(after.position, position, rtol=1e-6, atol=1e-5)
      self.assertAllClose(after.velocity, velocity, rtol=1e-6, atol=1e-5)
      coasting = 0.75 * state.velocity[:, num_agents:]
      push = np.abs(velocity[:, num_agents:] - coasting)
      num_pushed += np.sum(push.max(-1) > 0.01)
      state = state._replace(position=position, velocity=velocity)
    self.assertGreater(num_pushed, _NUM_STEPS)

  @parameterized.parameters(*_COUNTS)
  def test_observe(self, num_agents):
    state = _crowd(num_agents)
    (seen,) = _env(num_agents).observe(state)
    self.assertEmpty(seen.masks)
    flat = [_NUM_WORLDS, num_agents, -1]
    parts = [seen.entities[kind] for kind in ('agents', 'balls', 'landmarks')]
    vectors = tf.concat([seen.own] + [tf.reshape(x, flat) for x in parts], -1)
    self.assertEqual(vectors.shape[-1], 2 + 7 * num_agents)
    cases = set()
    for index, (agent, ball, velocity, landmark) in enumerate(_worlds(state)):
      for i in range(num_agents):
        want = oracle.push_ball_observation(agent, ball, landmark, velocity, i)
        self.assertAllClose(vectors[index, i], want, atol=1e-6)
      flags = oracle.push_ball_flags(agent, ball, landmark)
      covered = oracle.push_ball_covered(ball, landmark)
      cases |= set(zip(flags, covered, strict=True))
    # The worlds show every case, or the above would prove little.
    self.assertLen(cases, 4)

  @parameterized.parameters(*_COUNTS)
  def test_reward_and_progress(self, num_agents):
    env = _env(num_agents)
    state = _crowd(num_agents)
    (reward,) = env.reward(state)
    progress = env.progress(state)
    for index, (_, ball, _, landmark) in enumerate(_worlds(state)):
      want = oracle.push_ball_reward(ball, landmark)
      self.assertAllClose(reward[index], [want] * num_agents)
      want = oracle.push_ball_coverage(ball, landmark)
      self.assertAllClose(progress[index], want)
    self.assertEqual(np.min(progress), 0.0)
    self.assertEqual(np.max(progress), 1.0)
    self.assertGreater(len(np.unique(progress)), 2)


class HandNumbersTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters((0.299, 0.5, 0.1), (0.301, 0.0, 0.0))
  def test_a_ball_covers(self, distance, progress, reward):
    env = _env(2)
    state = _state(_FAR, [[1, 1], [2, 2]], [[1, 1 + distance], [0, -1]])
    self.assertAllClose(env.progress(state), [progress])
    self.assertAllClose(env.reward(state)[0], [[reward, reward]])

  def test_all_covered_pays_more(self):
    env = _env(4)
    corners = [[1, 1], [1, -1], [-1, 1], [-1, -1]]
    for num_covered, reward in enumerate((0.0, 0.05, 0.1, 0.15, 0.3)):
      balls = corners[:num_covered] + [[0, 0]] * (4 - num_covered)
      state = _state([[2, 2]] * 4, balls, corners)
      self.assertAllClose(env.reward(state)[0], [[reward] * 4])
      self.assertAllClose(env.progress(state), [num_covered / 4])

  def test_an_agent_covers_nothing(self):
    env = _env(2)
    state = _state([[1, 1], [0, -1]], _FAR, [[1, 1], [0, -1]])
    self.assertAllClose(env.progress(state), [0.0])
    self.assertAllClose(env.reward(state)[0], [[0.0, 0.0]])

  def test_two_balls_on_one_landmark_count_once(self):
    state = _state(_FAR, [[1, 1], [1.1, 1]], [[1, 1.1], [0, -1]])
    self.assertAllClose(_env(2).progress(state), [0.5])

  @parameterized.product(
    distance=((0.249, 1.0), (0.251, 0.0)), is_ball=(True, False)
  )
  def test_any_disc_raises_the_flag(self, distance, is_ball):
    distance, flag = distance
    near = [[1, 1 - distance], [2, -2]]
    pair = (_FAR, near) if is_ball else (near, _FAR)
    (seen,) = _env(2).observe(_state(*pair, [[1, 1], [0, -1]]))
    self.assertAllEqual(
      seen.entities['landmarks'][..., 0], [[[flag, 0.0], [flag, 0.0]]]
    )

  def test_vectors_point_from_self_to_other(self):
    state = _state([[1, 1], [2, 0]], [[1, 2], [0, 0]], [[-1, 1], [1, -1]])
    seen = _env(2).observe(state)[0].entities
    self.assertAllClose(seen['agents'][0], [[[1, -1]], [[-1, 1]]])
    self.assertAllClose(seen['balls'][0, 1], [[-1, 2], [-2, 0]])
    self.assertAllClose(seen['landmarks'][0, 0], [[0, -2, 0], [0, 0, -2]])

  def test_touching_costs_nothing(self):
    state = _state([[0, 0], [0.05, 0]], [[0, 0.1], [0, 0.2]], _FAR)
    self.assertAllEqual(_env(2).reward(state)[0], [[0.0, 0.0]])

  def test_an_agent_pushes_a_ball_and_momentum_stays(self):
    env = _env(2)
    state = _state([[0, 0], _FAR[0]], [[0.23, 0], _FAR[1]], [[2, 2]] * 2)
    after = env.step(state, (tf.zeros([1, 2], tf.int32),))
    # 0.02 m of depth are a force of 2, hence 0.2 m / s in a step.
    self.assertAllClose(
      after.velocity[0], [[-0.2, 0], [0, 0], [0.2, 0], [0, 0]], atol=1e-5
    )

  @parameterized.parameters((0.28, 0.2), (0.32, 0.0))
  def test_balls_touch_at_twice_their_radius(self, distance, speed):
    state = _state(_FAR, [[0, 0], [distance, 0]], [[2, 2]] * 2)
    after = _env(2).step(state, (tf.zeros([1, 2], tf.int32),))
    self.assertAllClose(
      after.velocity[0, 2:], [[-speed, 0], [speed, 0]], atol=1e-5
    )

  def test_walking_into_a_ball_takes_it_along(self):
    env = _env(2)
    state = _state([[0, 0], _FAR[0]], [[0.5, 0], _FAR[1]], [[2, 2]] * 2)
    for _ in range(20):
      state = env.step(state, (tf.constant([[1, 0]]),))
    self.assertGreater(float(state.position[0, 2, 0]), 1.5)
    self.assertAllClose(state.position[0, 1::2], _FAR)


class SymmetryTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.product(num_agents=(3, 4), what=('agents', 'balls'))
  def test_renumbering_bodies_renumbers_everything(self, num_agents, what):
    env = _env(num_agents)
    state = _crowd(num_agents)
    same, turn = np.arange(num_agents), np.roll(np.arange(num_agents), 1)
    agents, balls = (turn, same) if what == 'agents' else (same, turn)
    order = np.concatenate([agents, num_agents + balls])

    def turned(x, order):
      return tf.gather(x, order, axis=1)

    other = state._replace(
      position=turned(state.position, order),
      velocity=turned(state.velocity, order),
    )
    action = np.random.default_rng(2).integers(0, 5, [_NUM_WORLDS, num_agents])
    after = env.step(state, (tf.constant(action),))
    other_after = env.step(other, (tf.constant(action[:, agents]),))
    self.assertAllClose(
      other_after.position, turned(after.position, order), atol=1e-5
    )
    self.assertAllEqual(env.progress(other), env.progress(state))
    self.assertAllEqual(env.reward(other)[0], env.reward(state)[0])
    (seen,), (other_seen,) = env.observe(state), env.observe(other)
    self.assertAllEqual(other_seen.own, turned(seen.own, agents))
    for kind, columns in (('landmarks', same), ('balls', balls)):
      want = tf.gather(turned(seen.entities[kind], agents), columns, axis=2)
      self.assertAllEqual(other_seen.entities[kind], want)

  def test_renumbering_landmarks_renumbers_what_is_seen_of_them(self):
    env = _env(4)
    state = _crowd(4)
    other = state._replace(landmark=tf.reverse(state.landmark, [1]))
    self.assertAllEqual(env.progress(other), env.progress(state))
    self.assertAllClose(env.reward(other)[0], env.reward(state)[0])
    (seen,), (other_seen,) = env.observe(state), env.observe(other)
    self.assertAllEqual(other_seen.entities['balls'], seen.entities['balls'])
    self.assertAllEqual(
      other_seen.entities['landmarks'],
      tf.reverse(seen.entities['landmarks'], [2]),
    )


class EasyTasksTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(
    *((num_agents, False) for num_agents in range(2, 9)), (3, True)
  )
  def test_all_have_cells_of_their_own(self, num_agents, is_compiled):
    points = _easy(num_agents, is_compiled=is_compiled)
    self.assertAllInRange(points, -push_ball.HALF_WIDTH, push_ball.HALF_WIDTH)
    cells = _cells(points, num_agents)
    offset = points - _CELL * (cells - (num_agents - 1) / 2)
    self.assertAllInRange(offset, -_JITTER - 1e-6, _JITTER + 1e-6)
    self.assertGreater(offset.max(), 0.95 * _JITTER)
    self.assertLess(offset.min(), -0.95 * _JITTER)
    agent, ball, landmark = np.moveaxis(cells, 1, 0)
    last = num_agents - 1
    self.assertAllInRange(np.concatenate([ball, landmark]), 0, last)
    self.assertAllInRange(agent, -1, last + 1)  # With the rim.
    for one, other in ((ball, landmark), (ball, agent)):
      for bodies in np.concatenate([one, other], 1):
        self.assertLen(set(map(tuple, bodies)), 2 * num_agents)

  @parameterized.parameters(2, 4, 8)
  def test_a_landmark_and_an_agent_are_next_to_each_ball(self, num_agents):
    cells = _cells(_easy(num_agents), num_agents)
    agent, ball, landmark = np.moveaxis(cells, 1, 0)
    for other in (agent, landmark):
      ring = np.abs(ball[:, :, None] - other[:, None]).max(-1)
      # Of the balls that each has within reach one is its own; in a crowd the
      # last may have found only the second ring free.
      self.assertGreater(np.mean(ring.min(2) == 1), 0.97)
      self.assertAllInRange(ring.min(2), 1, 2)
      if num_agents > 2:  # In two by two cells all are neighbours.
        self.assertGreater(np.mean(ring.argmin(2) != range(num_agents)), 0.3)

  @parameterized.parameters(2, 4)
  def test_they_are_solvable_within_a_few_pushes(self, num_agents):
    points = _easy(num_agents, 1000)
    orders = list(itertools.permutations(range(num_agents)))

    def mean_distance(one, other):
      """Returns the mean over pairs, matched as well as can be."""
      gap = np.linalg.norm(
        points[:, one, :, None] - points[:, other, None], axis=-1
      )
      totals = [gap[:, range(num_agents), order].mean(1) for order in orders]
      return np.mean(np.min(totals, 0))

    # Next to each other are 0.4, at a corner 0.57.
    self.assertAllInRange(mean_distance(1, 2), 0.38, 0.57)
    self.assertAllInRange(mean_distance(1, 0), 0.38, 0.57)

  def test_all_cells_are_used_alike(self):
    _, ball, landmark = np.moveaxis(_cells(_easy(4, 2000), 4), 1, 0)
    # In a corner there are fewer balls to be next to.
    for cells, low, high in ((ball, 0.7, 1.3), (landmark, 0.35, 1.7)):
      index = (4 * cells[..., 0] + cells[..., 1]).astype(int)
      for entity in index.T:  # Whatever the number of the entity.
        share = np.bincount(entity, minlength=16) / len(entity)
        self.assertAllInRange(16 * share, low, high)

  def test_agents_use_the_rim_too_and_a_landmarks_cell(self):
    agent, _, landmark = np.moveaxis(_cells(_easy(4), 4), 1, 0)
    is_rim = ((agent < 0) | (agent > 3)).any(-1)
    self.assertAllInRange(np.mean(is_rim), 0.2, 0.6)
    shares = (agent[:, :, None] == landmark[:, None]).all(-1).any(2)
    self.assertGreater(np.mean(shares), 0.05)

  def test_nothing_overlaps_but_agents_and_landmarks(self):
    bodies = _easy(4)[:, :2].reshape(-1, 8, 2)
    gap = np.linalg.norm(bodies[:, :, None] - bodies[:, None], axis=-1)
    gap = gap[:, ~np.eye(8, dtype=bool)]
    self.assertGreaterEqual(gap.min(), 2 * push_ball.BALL_RADIUS - 1e-6)


class TasksTest(tf.test.TestCase):
  def test_uniform_tasks_fill_the_room(self):
    space = _env(3).task_space
    for draw in (space.sample_uniform, space.sample_target):
      phi = draw(2000, randomness.root(0))
      self.assertAllEqual(phi.shape, [2000, 18])
      self.assertTrue(np.all(space.feasible(phi)))
      # A uniform draw has mean 0 +- 0.03 and deviation 2 / sqrt(3).
      self.assertAllClose(np.mean(phi, 0), np.zeros(18), atol=0.13)
      self.assertAllClose(np.std(phi, 0), np.full([18], 4 / 12**0.5), rtol=0.05)
      self.assertAllInRange(np.max(phi, 0), 1.95, 2.0)
      self.assertAllInRange(np.min(phi, 0), -2.0, -1.95)

  def test_each_entity_has_to_be_in_the_room(self):
    space = _env(2).task_space
    phi = np.zeros([1, 12], np.float32)
    phi[0, [1, 6]] = [2.1, -2.1]
    self.assertAllEqual(
      space.feasible(phi), [[False, True, True, False, True, True]]
    )

  def test_place_puts_agents_before_balls_before_landmarks_at_rest(self):
    env = _env(2)
    phi = tf.range(12, dtype=tf.float32)[None]
    state = env.place(phi, randomness.root(0))
    self.assertAllEqual(state.position, [[[0, 1], [2, 3], [4, 5], [6, 7]]])
    self.assertAllEqual(state.landmark, [[[8, 9], [10, 11]]])
    self.assertAllEqual(state.velocity, np.zeros([1, 4, 2]))
    self.assertAllEqual(env.read_task(state), phi)

  def test_draw_shows_every_body_and_colours_what_is_covered(self):
    agents, balls = [[1, 0], [2, 0]], [[1, 1], [0, 0]]
    (scene,) = _env(2).draw(_state(agents, balls, [[1, 1.2], [-1, -2]]))
    self.assertEqual(scene.caption, '1 of 2 landmarks covered')
    rings = [disc for disc in scene.discs if not disc.is_filled]
    self.assertAllClose([ring.radius for ring in rings], [0.3, 0.3])
    self.assertNotEqual(rings[0].colour, rings[1].colour)
    filled = [disc for disc in scene.discs if disc.is_filled]
    self.assertAllClose(
      [[*disc.centre, disc.radius] for disc in filled],
      [[1, 1.2, 0.15], [-1, -2, 0.15]]
      + [[*centre, 0.15] for centre in balls]
      + [[*centre, 0.1] for centre in agents],
    )
    self.assertLen({disc.colour for disc in filled}, 4)


if __name__ == '__main__':
  tf.test.main()
