# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for lock_and_return."""

import itertools
import math

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek import lock_and_return
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.environments.hide_and_seek import task as task_lib

_AWAY = np.array([0.5001, 0.0])
_NEAR = np.array([0.2999, -0.4])


def _state(task, num_worlds=1, seed=0):
  """Returns a state of random numbers."""
  rng = np.random.default_rng(seed)
  n, m, _ = task.cast
  return task_lib.State(
    position=rng.normal(size=[num_worlds, n + m, 4]),
    velocity=rng.normal(size=[num_worlds, n + m, 4]),
    is_locked=rng.random([num_worlds, m]) < 0.5,
    locker=rng.integers(0, n, [num_worlds, m]),
    held=np.full([num_worlds, n], mechanics.NOTHING),
    birthplace=rng.normal(size=[num_worlds, n, 2]),
    is_seen=np.zeros([num_worlds, 0], bool),
    step=15,
  )


class JudgeTest(parameterized.TestCase):
  @parameterized.parameters(
    # Boxes locked, agents' way from home, reward, progress, success.
    ([1, 1], [0 * _AWAY, _NEAR], 1.2, 1.0, True),
    ([1, 1], [0 * _AWAY, _AWAY], 0.2, 0.5, False),
    ([1, 1], [_AWAY, _AWAY], 0.2, 0.0, False),
    ([1, 0], [0 * _AWAY, _NEAR], 0.0, 0.0, False),
    ([0, 0], [0 * _AWAY, 0 * _AWAY], 0.0, 0.0, False),
  )
  def test_amounts(self, locked, away, reward, progress, is_success):
    task = lock_and_return.LockAndReturn()
    state = _state(task)
    position = state.position.copy()
    position[0, :2, :2] = state.birthplace[0] + away
    position[0, :, 2] = 3.0  # Height does not count.
    state = state._replace(
      position=position, is_locked=np.array([locked], bool)
    )
    outcome = task.judge(state)
    np.testing.assert_allclose(outcome.reward, [[reward, reward]], rtol=1e-6)
    np.testing.assert_allclose(outcome.progress, [progress])
    np.testing.assert_array_equal(outcome.is_success, [is_success])

  def test_four_agents_of_which_one_is_away(self):
    task = lock_and_return.LockAndReturn(4, 1)
    state = _state(task)
    position = state.position.copy()
    position[0, :4, :2] = state.birthplace
    position[0, 2, 0] += 1.0
    state = state._replace(position=position, is_locked=np.ones([1, 1], bool))
    outcome = task.judge(state)
    np.testing.assert_allclose(outcome.reward, np.full([1, 4], 0.2))
    np.testing.assert_allclose(outcome.progress, [0.75])
    self.assertFalse(outcome.is_success[0])

  def test_captions_count_what_is_locked_and_who_is_at_home(self):
    task = lock_and_return.LockAndReturn(2, 3)
    state = _state(task, num_worlds=2)
    position = state.position.copy()
    position[:, :2, :2] = state.birthplace
    position[0, 1, :2] += _AWAY
    is_locked = np.array([[1, 0, 1], [0, 0, 0]], bool)
    state = state._replace(position=position, is_locked=is_locked)
    self.assertEqual(
      task.captions(state),
      ['2 of 3 locked, 1 of 2 at home', '0 of 3 locked, 2 of 2 at home'],
    )

  def test_a_motionless_team_beside_its_boxes_scores_in_full(self):
    worlds = environment.HideAndSeekWorlds(lock_and_return.LockAndReturn(), 3)
    # Boxes within reach to the south, where agents look to.
    worlds.place(np.tile([35, 10, 45, 20, 35, 7, 45, 17], [3, 1]), 0)
    position = worlds.physics.bind('qpos').reshape(3, 4, 4)
    position[:, 2:, 1] = position[:, :2, 1] - 0.55
    action = np.tile([5, 5, 5, 1, 0], [3, 2, 1])
    outcomes = [worlds.step(action) for _ in range(60)]
    for outcome in outcomes:
      np.testing.assert_allclose(outcome.reward, np.full([3, 2], 1.2))
    last = np.mean([outcome.progress for outcome in outcomes[-5:]], 0)
    np.testing.assert_array_equal(last, 1.0)

  def test_locking_then_leaving_then_coming_home(self):
    """The two amounts in one episode."""
    worlds = environment.HideAndSeekWorlds(
      lock_and_return.LockAndReturn(1, 1), 1
    )
    worlds.place(np.array([[40, 20, 40, 10]]), 0)
    still, south, north = 5, 3, 7
    rewards = []
    for _ in range(60):
      is_locked = worlds.state.is_locked.all()
      y = north if is_locked else south
      home = worlds.state.birthplace[0, 0, 1]
      if is_locked and abs(worlds.state.position[0, 0, 1] - home) < 0.3:
        y = still
      [[reward]] = worlds.step(np.array([[[still, y, still, 1, 0]]])).reward
      rewards.append(round(float(reward), 3))
    kinds = [kind for kind, _ in itertools.groupby(rewards)]
    self.assertEqual(kinds, [0.0, 0.2, 1.2])


class ObserveTest(parameterized.TestCase):
  @parameterized.parameters((2, 2), (4, 2), (4, 4), (1, 1))
  def test_every_feature_has_its_place(self, n, m):
    task = lock_and_return.LockAndReturn(n, m)
    state = _state(task, 3)
    seen = task.observe(state)
    p, v = state.position, state.velocity
    for b in range(3):
      for i in range(n):
        own = [*p[b, i], *v[b, i], *state.birthplace[b, i], 15 / 60]
        np.testing.assert_allclose(seen.critic_own[b, i], own, rtol=1e-6)
        for k in range(1, n):
          j = (i - k) % n
          np.testing.assert_allclose(
            seen.entities['agents'][b, i, k - 1],
            [*p[b, j], *v[b, j]],
            rtol=1e-6,
          )
        for j in range(m):
          x, y, z, yaw = p[b, n + j]
          locked = state.is_locked[b, j]
          mine = locked and state.locker[b, j] == i
          token = [x, y, z, math.cos(yaw), math.sin(yaw), *v[b, n + j]]
          token += [0.5, 0.5, 0.5, mine, locked, locked]
          np.testing.assert_allclose(
            seen.entities['boxes'][b, i, j], token, rtol=1e-6
          )
    sizes = {kind: len(names) for kind, names in task.features.items()}
    self.assertEqual(sizes, {'own': 11, 'agents': 8, 'boxes': 15})
    if (n, m) == (2, 2):
      self.assertEqual(11 + 8 * (n - 1) + 15 * m, 49)

  def test_an_actor_does_not_know_where_it_was_born(self):
    task = lock_and_return.LockAndReturn(4, 2)
    seen = task.observe(_state(task, 2))
    names = [feature.name for feature in task.features['own']]
    where = [names.index('birthplace_x'), names.index('birthplace_y')]
    np.testing.assert_array_equal(seen.own[..., where], 0.0)
    self.assertTrue(np.all(seen.critic_own[..., where] != 0.0))
    others = np.delete(np.arange(11), where)
    np.testing.assert_array_equal(
      seen.own[..., others], seen.critic_own[..., others]
    )

  def test_unless_the_task_shows_it(self):
    task = lock_and_return.LockAndReturn(sees_birthplace=True)
    self.assertEqual(task.critic_only_position, ())
    state = _state(task, 2)
    seen = task.observe(state)
    self.assertEqual(seen.critic_own, ())
    hidden = lock_and_return.LockAndReturn().observe(state)
    np.testing.assert_array_equal(seen.own, hidden.critic_own)

  def test_time_runs_from_0_to_1(self):
    worlds = environment.HideAndSeekWorlds(
      lock_and_return.LockAndReturn(1, 1), 1
    )
    worlds.place(np.array([[40, 20, 40, 10]]), 0)
    times = [worlds.observe().own[0, 0, 10]]
    for _ in range(60):
      worlds.step(np.array([[mechanics.NO_OP]]))
      times.append(worlds.observe().own[0, 0, 10])
    np.testing.assert_allclose(times, np.arange(61) / 60, rtol=1e-6)


class TaskTest(parameterized.TestCase):
  @parameterized.parameters(
    (0, 2, 'num_agents=0 with num_boxes=2 is not possible'),
    (2, 9, 'num_agents=2 with num_boxes=9 is not possible'),
  )
  def test_impossible_numbers(self, num_agents, num_boxes, message):
    message += ' in lock_and_return; allowed: 1 to 8 of each$'
    with self.assertRaisesRegex(ValueError, message):
      lock_and_return.LockAndReturn(num_agents, num_boxes)

  @parameterized.parameters((2, 2, 8), (4, 2, 12), (4, 4, 16))
  def test_tasks_have_two_numbers_an_entity(self, num_agents, num_boxes, dims):
    task = lock_and_return.LockAndReturn(num_agents, num_boxes)
    self.assertEqual(task.grid.num_dims, dims)
    self.assertEqual(task.horizon, 60)
    names = [piece.name.split()[0] for piece in task.grid.pieces]
    self.assertEqual(names, ['agent'] * num_agents + ['box'] * num_boxes)


class FloorTest(parameterized.TestCase):
  @parameterized.product(
    side=(6.0, 7.4, 9.0, 12.0), counts=((2, 2), (1, 3), (8, 8))
  )
  def test_tasks_are_inside_and_apart(self, side, counts):
    task = lock_and_return.LockAndReturn(*counts, floor_side=side)
    cells = round(side / 0.2)
    self.assertAlmostEqual(task.arena.side, side)
    self.assertEqual(task.features['own'][0].high, task.arena.side)
    rng = np.random.default_rng(0)
    for phi in (
      task.sample_easy(300, rng),
      task.sample_uniform(1000, rng),
      task.grid.nearest(rng.uniform(-9, cells + 9, [300, task.grid.num_dims])),
    ):
      self.assertTrue(np.all(task.grid.feasible(phi)))
      for row in phi[::10].reshape([-1, sum(counts), 2]).astype(int):
        floor = np.zeros([cells, cells], int)
        for index, (x, y) in enumerate(row):
          size = 2 if index < counts[0] else 3
          floor[x : x + size, y : y + size] += 1
          if index < counts[0]:  # Bottom right, off the middle lines.
            self.assertGreaterEqual(x, cells / 2)
            self.assertLessEqual(y + size, cells / 2)
        self.assertEqual(floor.max(), 1)
        walls = (floor[0], floor[-1], floor[:, 0], floor[:, -1])
        self.assertEqual(np.sum(walls), 0)
        self.assertEqual(floor.sum(), 4 * counts[0] + 9 * counts[1])

  @parameterized.parameters(6.0, 9.0)
  def test_easy_tasks_have_agents_beside_boxes(self, side):
    task = lock_and_return.LockAndReturn(floor_side=side)
    phi = task.sample_easy(300, np.random.default_rng(0)).reshape(300, 4, 2)
    away = np.abs(phi[:, :2, None] + 1 - phi[:, None, 2:] - 1.5).sum(-1)
    self.assertLess(np.quantile(away.min(2), 0.9), 5.1)  # As on 12 m.
    drawn = phi[:, 2:].max((0, 1)) - phi[:, 2:].min((0, 1))
    self.assertGreater(drawn.min(), side / 0.2 / 2 - 7)

  def test_the_usual_floor_has_the_cells_of_the_release(self):
    agent, *_, box = lock_and_return.LockAndReturn().grid.pieces
    self.assertEqual(agent.legal, ((30, 57, 1, 27),))
    self.assertEqual(agent.usual, ((30, 56, 1, 26),))
    self.assertEqual(box.legal, ((1, 56, 1, 56),))
    self.assertEqual(box.usual, ((1, 55, 1, 55),))

  def test_a_world_of_it_can_be_played(self):
    task = lock_and_return.LockAndReturn(floor_side=6.0)
    worlds = environment.HideAndSeekWorlds(task, 8)
    rng = np.random.default_rng(0)
    worlds.place(task.sample_uniform(8, rng), 0)
    walk = [10, 10, 5, 0, 0]  # To the top right corner, at full force.
    for _ in range(30):
      worlds.step(np.tile(walk, [8, 2, 1]))
    position = worlds.state.position[:, :2, :2]
    self.assertGreater(position.max(), 5.0)  # There they are stopped.
    self.assertLess(position.max(), 6.0 - 0.3)

  @parameterized.parameters(5.8, 12.2, 9.1, float('nan'))
  def test_an_impossible_floor(self, side):
    message = f'floor_side={side} is not possible; allowed: 6.0 to 12.0 in '
    with self.assertRaisesRegex(ValueError, message):
      lock_and_return.LockAndReturn(floor_side=side)


if __name__ == '__main__':
  absltest.main()
