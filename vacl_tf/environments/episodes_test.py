# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for episodes, with the line worlds of the tests."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized
from dm_env import specs

from vacl_tf.environments import episodes
from vacl_tf.testing import fakes

_HORIZON = 4
_STAY = 0


def _episodes(num_worlds=2, env=None, **more):
  env = env or fakes.LineWorld(_HORIZON)
  return episodes.Episodes(env, num_worlds, **more)


def _stay(worlds):
  return worlds.step((np.full([worlds.num_worlds, 2], _STAY),))


class _Plane(fakes.LineWorld):
  """Its tasks are two points in the plane."""

  def __init__(self):
    super().__init__(_HORIZON)
    self.task_space.num_entities = 2
    self.task_space.entity_of_dim = np.array([0, 0, 1, 1])
    self.task_space.feasible = lambda phi: tf.reduce_all(
      tf.reshape(tf.abs(phi) <= fakes.HALF_WIDTH, [-1, 2, 2]), 2
    )


class EpisodesTest(tf.test.TestCase, parameterized.TestCase):
  def test_tasks_are_determined_by_seed_and_number_of_the_episode(self):
    def tasks(worlds, seeds):
      found = []
      for seed in seeds:
        worlds.reset(seed)
        found.append(worlds.phi)
      return np.stack(found)

    one = tasks(_episodes(seed=3), [None, None, None])
    again = tasks(_episodes(seed=0), [3, None, None])
    self.assertAllEqual(one, again)
    self.assertFalse(np.any(one[0] == one[1]))
    self.assertFalse(np.any(one == tasks(_episodes(), [None, None, None])))
    self.assertAllEqual(tasks(_episodes(), [3, 3, None]), one[[0, 0, 1]])

  def test_the_task_of_an_episode_is_where_it_begins(self):
    worlds = _episodes()
    worlds.reset()
    self.assertAllClose(worlds.simulator.read_task(), worlds.phi)
    one, each = [0.0, 1.0, -1.0, 0.5], [[0.0] * 4, [1.0] * 4]
    for phi, expected in ((one, [one, one]), (each, each)):
      phi = episodes.legal_tasks(worlds.env, phi, 2, 'phi')
      worlds.reset(phi=phi)
      self.assertAllClose(worlds.simulator.read_task(), expected)

  def test_no_task_is_drawn_where_one_is_given(self):
    drawn = []

    def sample(num_tasks, seed):
      drawn.append(num_tasks)
      if len(drawn) > 1:
        raise KeyError('no more')
      return tf.zeros([num_tasks, 4])

    worlds = _episodes(sample_tasks=sample)
    worlds.reset()
    worlds.reset(phi=np.ones([2, 4], np.float32))
    self.assertEqual(drawn, [2])
    with self.assertRaisesRegex(ValueError, '^sample_tasks failed: KeyError'):
      worlds.reset()
    self.assertAllEqual(worlds.phi, np.ones([2, 4]))
    self.assertTrue(worlds.is_playing)

  @parameterized.parameters(1, 2)
  def test_drawn_tasks_may_have_rows(self, num_worlds):
    phi = np.arange(num_worlds * 4.0).reshape([num_worlds, 2, 2]) / 8.0
    worlds = _episodes(num_worlds, _Plane(), sample_tasks=lambda num, seed: phi)
    worlds.reset()
    self.assertAllClose(worlds.phi, phi.reshape([num_worlds, 4]))

  @parameterized.parameters(
    (1, [4], r'\[4\] for num_tasks=1; allowed: \[1, 4\] or \[1, 2, 2\]$'),
    (2, [2, 9], r'\[2, 9\] for num_tasks=2; allowed: \[2, 4\] or \[2, 2, 2\]$'),
    (2, [1, 4], r'\[1, 4\] for num_tasks=2; allowed: '),
  )
  def test_drawn_tasks_of_another_shape_are_told(
    self, num_worlds, shape, message
  ):
    worlds = _episodes(
      num_worlds, _Plane(), sample_tasks=lambda num, seed: np.zeros(shape)
    )
    with self.assertRaisesRegex(
      ValueError, f'^sample_tasks returned tasks of shape {message}'
    ):
      worlds.reset()

  @parameterized.product(is_terminal=(False, True), is_hosted=(False, True))
  def test_the_horizon_ends_or_cuts_off(self, is_terminal, is_hosted):
    env = fakes.LineWorld(_HORIZON)
    if is_hosted:
      env = fakes.HostedWorld(env)
    env.is_terminal = is_terminal
    worlds = _episodes(env=env)
    for _ in range(2):
      worlds.reset()
      found = [_stay(worlds) for _ in range(_HORIZON)]
      self.assertFalse(worlds.is_playing)
      for step, last in zip(found, [False] * 3 + [True], strict=True):
        ended = [last and is_terminal] * 2
        cut = [last and not is_terminal] * 2
        self.assertAllEqual(step.is_terminated, ended)
        self.assertAllEqual(step.is_truncated, cut)

  @parameterized.parameters((1, 3), (2, fakes.HORIZON))
  def test_a_world_that_ends_early_ends_its_own_episode(self, num_worlds, num):
    worlds = _episodes(num_worlds, fakes.EndingWorld())
    worlds.reset()
    terminated = []
    while worlds.is_playing:
      terminated.append(_stay(worlds).is_terminated.tolist())
    expected = [[step % 3 == 0] * num_worlds for step in range(1, num + 1)]
    self.assertEqual(terminated, expected)

  def test_what_is_refused_leaves_the_episode_alone(self):
    worlds = _episodes(
      sample_tasks=lambda num_tasks, seed: tf.fill([num_tasks, 4], 9)
    )
    with self.assertRaisesRegex(ValueError, 'not a legal task of line_world'):
      worlds.reset()
    self.assertFalse(worlds.is_playing)
    worlds.reset(phi=np.zeros([2, 4], np.float32))
    before = worlds.state
    for seed in (None, -1, 'x'):
      with self.assertRaises(ValueError):
        worlds.reset(seed)
    self.assertIs(worlds.state, before)
    _stay(worlds)

  def test_calls_out_of_order_say_what_to_do(self):
    worlds = _episodes()
    self.assertIsNone(worlds.state)
    with self.assertRaisesRegex(
      ValueError, 'step was called before reset; call reset'
    ):
      _stay(worlds)
    with self.assertRaisesRegex(
      ValueError, 'render was called before reset; call reset'
    ):
      worlds.sketches()
    worlds.reset()
    self.assertLen(worlds.sketches(), 2)
    for _ in range(_HORIZON):
      _stay(worlds)
    with self.assertRaisesRegex(ValueError, 'after the end of an episode'):
      _stay(worlds)
    worlds.close()
    worlds.close()
    for call in (worlds.reset, lambda: _stay(worlds)):
      with self.assertRaisesRegex(ValueError, 'closed; make a new one'):
        call()


class ChecksTest(parameterized.TestCase):
  def test_options_are_read(self):
    given = {'task': [1.0], 'num_agents': 3}
    self.assertEqual(
      episodes.read_options(given), (episodes.Options([1.0], 3), '')
    )
    for nothing in (None, {}):
      self.assertEqual(episodes.read_options(nothing), (episodes.Options(), ''))
    found, wrong = episodes.read_options({'num_agents': 3, 'x': 0, 'y': 0})
    self.assertEqual(found, episodes.Options(None, 3))
    self.assertRegex(wrong, r"\['x', 'y'\]; allowed keys: task, num_agents")

  def test_the_first_bad_row_of_tasks_is_shown(self):
    phi = np.zeros([3, 4])
    phi[1, 2], phi[2] = 2.5, 8.0
    with self.assertRaisesRegex(
      ValueError, r'tasks=\[0.0, 0.0, 2.5, 0.0\] .*entities \[2\] .*1\.[45]'
    ):
      episodes.legal_tasks(fakes.LineWorld(), phi, 3, 'tasks')
    phi[1, 2], phi[2] = 0.0, np.inf
    with self.assertRaisesRegex(ValueError, r'inf\]; allowed: finite'):
      episodes.legal_tasks(fakes.LineWorld(), phi, 3, 'tasks')

  @parameterized.parameters('x', [np.array([['a'] * 30] * 9)], object())
  def test_what_is_no_task_is_shown_in_one_line(self, phi):
    with self.assertRaisesRegex(ValueError, 'phi=.* not an array') as error:
      episodes.legal_tasks(fakes.LineWorld(), phi, 3, 'phi')
    self.assertLess(len(str(error.exception)), 150)
    self.assertNotIn('\n', str(error.exception))

  @parameterized.parameters(
    ([2, 2], 1), ([1, 4], 1), ([1, 2, 2], 1), ([2, 2], 3), ([3, 2, 2], 3)
  )
  def test_tasks_may_have_rows(self, shape, num_worlds):
    phi = np.arange(np.prod(shape)).reshape(shape) / 8.0
    found = episodes.legal_tasks(_Plane(), phi, num_worlds, 'phi')
    expected = np.broadcast_to(phi.reshape([-1, 4]), [num_worlds, 4])
    np.testing.assert_array_equal(found, expected)

  @parameterized.parameters(
    (
      [2, 4],
      1,
      r'allowed: \[4\] or \[1, 4\] or \[2, 2\] or \[1, 2, 2\], 2 entities of',
    ),
    (
      [4, 1],
      3,
      r'allowed: \[4\] or \[3, 4\] or \[2, 2\] or \[3, 2, 2\], 2 ent',
    ),
  )
  def test_tasks_of_another_shape_are_told(self, shape, num_worlds, message):
    with self.assertRaisesRegex(ValueError, f'^phi has shape .*{message}'):
      episodes.legal_tasks(_Plane(), np.zeros(shape), num_worlds, 'phi')

  def test_given_tasks_are_copied(self):
    phi = np.zeros([4], np.float32)
    found = episodes.legal_tasks(fakes.LineWorld(), phi, 1, 'phi')
    found += 1.0
    self.assertEqual(phi.tolist(), [0.0] * 4)

  @parameterized.parameters(
    ((), 3, r'x=3 \(int64, shape \[\]\); allowed: integer from 0 to 2, as'),
    ((2,), [0, 1.5], 'x=.*float64.*allowed: 2 integers from 0 to 2, as here'),
    ((2,), [[0], [1, 2]], r'x=\[\[0\], \[1, 2\]\] \(object'),
    ((2,), None, 'x=None'),
    ((30,), [9] * 30, r'x=\.\.\. \(int64, shape \[30\]\); allowed: 30 int'),
    ((2, 2), [0, 1], r'allowed: integers of shape \[2, 2\] from 0 to 2'),
  )
  def test_bad_actions_are_shown_with_what_is_allowed(
    self, shape, action, message
  ):
    spec = specs.BoundedArray(shape, np.int32, 0, 2)
    with self.assertRaisesRegex(ValueError, message) as error:
      episodes.checked_action(action, spec, 'x', 'here')
    self.assertNotIn('\n', str(error.exception))

  @parameterized.parameters(np.float32, np.float64)
  def test_bounds_are_allowed_in_any_precision(self, dtype):
    spec = specs.BoundedArray((2,), np.float32, -0.7, 0.7)  # 0.7 is rounded.
    found = episodes.checked_action(dtype([-0.7, 0.7]), spec, 'x', 'here')
    self.assertEqual(found.dtype, np.float32)
    for outside in (np.nextafter(np.float32(0.7), np.float32(1.0)), np.nan):
      with self.assertRaisesRegex(ValueError, 'allowed: 2 numbers from'):
        episodes.checked_action(dtype([0, outside]), spec, 'x', 'here')

  @parameterized.parameters(True, 2.0, '3', None)
  def test_numbers_of_agents_are_whole(self, given):
    with self.assertRaisesRegex(ValueError, 'allowed: a whole number'):
      episodes.checked_num_agents(given)
    self.assertEqual(episodes.checked_num_agents(np.int64(3)), 3)


if __name__ == '__main__':
  tf.test.main()
