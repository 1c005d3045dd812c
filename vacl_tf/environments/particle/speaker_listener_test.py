# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for speaker_listener, against the oracle and numbers done by hand."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import randomness
from vacl_tf.environments.particle import speaker_listener
from vacl_tf.testing import particle_oracle as oracle

_NUM_WORLDS = 20
_NUM_STEPS = 100
_HORIZON = 70
_CLOSE = 1e-5


def _env():
  return speaker_listener.SpeakerListener('speaker_listener', _HORIZON)


def _state(listener, landmark, goal, **changes):
  """Returns one motionless world with a speaker in a corner."""
  state = speaker_listener.SpeakerListenerState(
    speaker=tf.constant([[-1.0, -1.0]]),
    listener=tf.constant([listener], tf.float32),
    velocity=tf.zeros([1, 2]),
    landmark=tf.constant([landmark], tf.float32),
    goal=tf.constant([goal]),
    message=tf.zeros([1, 3]),
  )
  return state._replace(**changes)


def _actions(symbol, move):
  return tf.constant(symbol)[:, None], tf.constant(move)[:, None]


def _to_oracle(state):
  """Returns the worlds of a state one by one."""
  leaves = [leaf.numpy().astype(np.float64) for leaf in state]
  worlds = []
  for speaker, listener, velocity, landmark, goal, message in zip(
    *leaves, strict=True
  ):
    worlds.append(
      oracle.Conversation(
        body=[speaker, listener],
        velocity=[np.zeros(2), velocity],
        landmark=list(landmark),
        goal=int(goal),
        message=list(message),
      )
    )
  return worlds


def _from_oracle(worlds):
  """Returns the state of worlds."""

  def stack(values):
    return tf.constant(np.array(list(values)), tf.float32)

  return speaker_listener.SpeakerListenerState(
    speaker=stack(world.body[0] for world in worlds),
    listener=stack(world.body[1] for world in worlds),
    velocity=stack(world.velocity[1] for world in worlds),
    landmark=stack(world.landmark for world in worlds),
    goal=tf.constant([world.goal for world in worlds]),
    message=stack(world.message for world in worlds),
  )


class OracleTest(tf.test.TestCase):
  def test_each_step_agrees_with_oracle(self):
    env, root = _env(), randomness.root(0)
    draw, place = randomness.split(root, 2)
    phi = env.task_space.sample_uniform(_NUM_WORLDS, draw)
    worlds = _to_oracle(env.place(phi, place))
    rng = np.random.default_rng(0)
    seen, num_reached = set(), 0
    for _ in range(_NUM_STEPS):
      state = _from_oracle(worlds)
      symbol = rng.integers(0, 3, _NUM_WORLDS, np.int32)
      move = rng.integers(0, 5, _NUM_WORLDS, np.int32)
      after = env.step(state, _actions(symbol, move))
      worlds = [
        oracle.converse(*each)
        for each in zip(worlds, symbol, move, strict=True)
      ]
      wanted = _from_oracle(worlds)
      self.assertAllEqual(after.goal, wanted.goal)
      for found, want in zip(after, wanted, strict=True):
        self.assertAllClose(found, want, atol=_CLOSE)
      num_reached += self.assert_outputs_agree(env, wanted, worlds)
      seen |= {world.goal for world in worlds}
    # The worlds show every case, or the above would prove little.
    self.assertSetEqual(seen, {0, 1, 2})
    self.assertBetween(num_reached, 20, _NUM_STEPS * _NUM_WORLDS - 20)

  def assert_outputs_agree(self, env, state, worlds):
    """Checks what is seen and got; returns in how many the goal is reached."""
    speaker, listener = env.observe(state)
    self.assertAllClose(
      speaker.own[:, 0], [oracle.what_speaker_sees(x) for x in worlds]
    )
    self.assertAllClose(
      listener.own[:, 0],
      [oracle.what_listener_sees(x) for x in worlds],
      atol=_CLOSE,
    )
    for role in (speaker, listener):
      self.assertEmpty(role.entities)
      self.assertEmpty(role.masks)
    reward = [[oracle.conversation_reward(x)] for x in worlds]
    for found in env.reward(state):
      self.assertAllClose(found, reward)
    reached = [float(oracle.is_goal_reached(x)) for x in worlds]
    self.assertAllEqual(env.progress(state), reached)
    return int(sum(reached))


class HandNumbersTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters((0.339, 1.0), (0.3392, 0.0))
  def test_reach_is_the_root_of_the_sum_of_radii(self, distance, reached):
    env = _env()
    state = _state([0.2, 0], [[9, 9], [0.2, distance], [9, 9]], goal=1)
    self.assertAllClose(env.progress(state), [reached])
    for reward in env.reward(state):
      self.assertAllClose(reward, [[0.1 * reached]])

  @parameterized.parameters(0, 1, 2)
  def test_no_other_landmark_counts(self, goal):
    env = _env()
    landmark = np.full([3, 2], 0.9)
    landmark[goal] = 0.0
    self.assertAllEqual(env.progress(_state([0, 0], landmark, goal)), [1.0])
    for other in {0, 1, 2} - {goal}:
      self.assertAllEqual(env.progress(_state([0, 0], landmark, other)), [0.0])

  def test_the_speaker_at_the_goal_does_not_count(self):
    state = _state([1, 1], [[-1, -1]] * 3, goal=0)
    self.assertAllEqual(_env().progress(state), [0.0])

  def test_a_message_is_heard_in_the_state_that_its_step_leads_to(self):
    env = _env()
    state = _state([0, 0], [[0, 1], [1, 0], [1, 1]], goal=2)
    heard = []
    for symbol in (1, 2, 0):
      heard.append(env.observe(state)[1].own[0, 0, 8:].numpy().tolist())
      state = env.step(state, _actions([symbol], [0]))
    heard.append(env.observe(state)[1].own[0, 0, 8:].numpy().tolist())
    self.assertEqual(heard, [[0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])

  def test_an_impulse_adds_up_to_a_fifth_of_a_metre(self):
    env = _env()
    state = _state([0, 0], [[0, 1], [1, 0], [1, 1]], goal=0)
    state = env.step(state, _actions([0], [3]))
    self.assertAllClose(state.velocity, [[0.0, 0.5]])
    self.assertAllClose(state.listener, [[0.0, 0.05]])
    for _ in range(40):
      state = env.step(state, _actions([0], [0]))
    self.assertAllClose(state.listener, [[0.0, 0.2]], atol=1e-5)

  def test_bodies_do_not_collide_and_the_speaker_stays(self):
    env = _env()
    state = _state(
      [0.01, 0], [[0, 0]] * 3, goal=0, speaker=tf.constant([[0.0, 0.0]])
    )
    for symbol in (0, 1, 2):
      state = env.step(state, _actions([symbol], [0]))
      self.assertAllEqual(state.speaker, [[0.0, 0.0]])
      self.assertAllClose(state.listener, [[0.01, 0.0]])

  def test_what_the_roles_see(self):
    velocity = tf.constant([[0.3, -0.4]])
    message = tf.constant([[0.0, 0.0, 1.0]])
    landmark = [[1, 0.5], [0, 0], [-1, 1]]
    state = _state(
      [0.5, 0.25], landmark, goal=1, velocity=velocity, message=message
    )
    speaker, listener = _env().observe(state)
    self.assertAllClose(speaker.own, [[[0.15, 0.65, 0.15]]])
    self.assertAllClose(
      listener.own,
      [[[0.3, -0.4, 0.5, 0.25, -0.5, -0.25, -1.5, 0.75, 0, 0, 1]]],
    )


class TasksTest(tf.test.TestCase):
  def test_the_goal_is_drawn_anew_and_uniformly(self):
    env = _env()
    phi = env.task_space.sample_uniform(3000, randomness.root(0))
    one, again, other = (
      env.place(phi, randomness.root(seed)).goal for seed in (1, 1, 2)
    )
    self.assertAllEqual(one, again)
    # Independent draws agree in a third of the worlds, give or take 0.01.
    self.assertNear(np.mean(one == other), 1 / 3, 0.04)
    self.assertAllClose(np.bincount(one) / 3000, np.full(3, 1 / 3), atol=0.04)

  def test_place_and_read_task(self):
    env = _env()
    phi = tf.range(20, dtype=tf.float32)[None] / 20.0
    phi = tf.reshape(phi, [2, 10])
    state = env.place(phi, randomness.root(0))
    self.assertAllEqual(state.speaker, phi[:, 0:2])
    self.assertAllEqual(state.listener, phi[:, 2:4])
    self.assertAllEqual(state.landmark[:, 0], phi[:, 4:6])
    self.assertAllEqual(state.landmark[:, 2], phi[:, 8:10])
    self.assertAllEqual(state.velocity, np.zeros([2, 2]))
    self.assertAllEqual(state.message, np.zeros([2, 3]))
    self.assertAllEqual(env.read_task(state), phi)

  def test_easy_bodies_stand_diagonally_beside_distinct_landmarks(self):
    env = _env()
    phi = env.task_space.sample_easy(600, randomness.root(0))
    self.assertTrue(np.all(env.task_space.feasible(phi)))
    points = tf.reshape(phi, [600, 5, 2])
    body, landmark = points[:, :2], points[:, 2:]
    self.assertAllInRange(landmark, -0.3, 0.3)
    self.assertGreater(np.max(landmark), 0.29)
    self.assertLess(np.min(landmark), -0.29)
    offset = body[:, :, None] - landmark[:, None]
    own = np.abs(offset[..., 0] - offset[..., 1]).argmin(2)  # [B, bodies]
    self.assertTrue(np.all(own[:, 0] != own[:, 1]))
    pairs = 3 * own[:, 0] + own[:, 1]
    self.assertAllInRange(np.bincount(pairs)[np.unique(pairs)], 60, 140)
    offset = tf.gather(offset, own, axis=2, batch_dims=2).numpy()
    self.assertAllInRange(offset, -0.01001, 0.01001)
    self.assertAllClose(offset[..., 0], offset[..., 1], atol=1e-6)
    self.assertGreater(offset.max(), 0.009)
    self.assertLess(offset.min(), -0.009)
    self.assertNotAllClose(offset[:, 0], offset[:, 1])  # Each has its own.

  def test_many_easy_tasks_begin_solved_and_not_all(self):
    # The listener stands at the goal in a third. Two points of a square of
    # side 0.6 lie within 0.339 with chance 0.57: 1/3 + 2/3 * 0.57 = 0.72.
    env = _env()
    draw, place = randomness.split(randomness.root(1), 2)
    state = env.place(env.task_space.sample_easy(3000, draw), place)
    self.assertNear(np.mean(env.progress(state)), 0.72, 0.03)

  def test_uniform_tasks_fill_the_room(self):
    phi = _env().task_space.sample_uniform(2000, randomness.root(0))
    self.assertAllEqual(phi.shape, [2000, 10])
    # A uniform draw has mean 0 +- 0.013 and deviation 1 / sqrt(3).
    self.assertAllClose(np.mean(phi, 0), np.zeros(10), atol=0.06)
    self.assertAllClose(np.std(phi, 0), np.full([10], 3.0**-0.5), rtol=0.05)
    self.assertAllInRange(np.max(phi, 0), 0.98, 1.0)
    self.assertAllInRange(np.min(phi, 0), -1.0, -0.98)


class DrawTest(tf.test.TestCase):
  def test_shows_bodies_landmarks_and_the_reach_of_the_goal(self):
    landmark = [[0.5, 0.5], [-0.5, 0], [0, 0.1]]
    state = _state([0, 0], landmark, goal=1)
    [scene] = _env().draw(state)
    self.assertEqual(scene.caption, 'goal not reached, no message')
    [ring] = [disc for disc in scene.discs if not disc.is_filled]
    self.assertAllClose(ring.centre, [-0.5, 0.0])
    self.assertNear(ring.radius, 0.339, 1e-3)
    self.assertEqual(ring.colour, (38, 166, 38))
    small = [disc for disc in scene.discs if disc.radius == 0.04]
    self.assertAllClose([disc.centre for disc in small], landmark)
    self.assertLen({disc.colour for disc in small}, 3)
    bodies = [disc for disc in scene.discs if disc.radius == 0.075]
    self.assertAllClose([disc.centre for disc in bodies], [[-1, -1], [0, 0]])
    self.assertNotEqual(bodies[0].colour, bodies[1].colour)

  def test_says_when_the_goal_is_reached_and_what_was_said(self):
    env = _env()
    state = _state([0, 0], [[0.5, 0.5], [-0.5, 0], [0, 0.1]], goal=2)
    [scene] = env.draw(env.step(state, _actions([1], [0])))
    self.assertEqual(scene.caption, 'goal reached, message 1')


if __name__ == '__main__':
  tf.test.main()
