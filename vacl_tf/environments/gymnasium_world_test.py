# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0

import gymnasium
import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from gymnasium import spaces

from vacl_tf.environments import base
from vacl_tf.environments import box_tasks
from vacl_tf.environments import gymnasium_spaces
from vacl_tf.environments import gymnasium_world
from vacl_tf.environments import python_world


class Env(gymnasium.Env):
  """Says what it was given."""

  render_mode = 'rgb_array'

  def __init__(self, action_space, observation_space=None):
    self.action_space = action_space
    self.observation_space = observation_space or spaces.Box(-1, 1, [3])
    self.actions = []
    self.info = {'progress': 0.25}

  def reset(self, *, seed=None, options=None):
    super().reset(seed=seed)
    self.task = options['task']
    return self.observation_space.sample(), {}

  def step(self, action):
    self.actions.append(action)
    assert self.action_space.contains(action), action
    return self.observation_space.sample(), 1.5, False, False, self.info

  def render(self):
    return np.zeros([2, 2, 3], np.uint8)


class _Reader(gymnasium.Wrapper):
  def read_task(self):
    return np.array([0.25], np.float32)


def _reset(world, task=(0.5,)):
  return world.reset(np.array(task, np.float32), np.random.default_rng(0))


class GymnasiumWorldTest(parameterized.TestCase):
  @parameterized.parameters(
    (spaces.Discrete(4), np.int32(3), 3),
    (spaces.Discrete(4, start=-1), np.int32(3), 2),
    (spaces.MultiDiscrete([2, 3]), np.int32([1, 2]), [1, 2]),
    (spaces.Box(-2.0, 1.0, [2]), np.float32([-2.0, 1.0]), [-2.0, 1.0]),
    (spaces.Box(-0.1, 0.1, [1], np.float64), np.float32([0.1]), [0.1]),
  )
  def test_actions_fit_the_space(self, space, action, expected):
    env = Env(space)
    world = gymnasium_world.GymnasiumWorld(env)
    self.assertEqual(world.action.shape, np.shape(expected))
    world.action.validate(action)
    _reset(world)
    found = world.step(action[None])
    np.testing.assert_allclose(env.actions[0], expected)
    self.assertEqual((found.reward, found.progress), (1.5, 0.25))

  @parameterized.parameters(
    (spaces.Box(-np.inf, 1.0, [2]), 'is not bounded; give it finite bounds'),
    (spaces.Box(0.0, 0.0, [2]), 'is not bounded; give it finite bounds'),
    (spaces.Box(0.0, 1.0, [2, 2]), r'Box.* is not supported'),
    (spaces.Box(0, 9, [2], np.int64), r'Box.* is not supported'),
    (spaces.Dict(a=spaces.Discrete(2)), r'Dict.* is not supported'),
  )
  def test_spaces_without_policies_are_refused(self, space, message):
    with self.assertRaisesRegex(base.WorldError, f'action_space: .*{message}'):
      gymnasium_world.GymnasiumWorld(Env(space))

  def test_a_dict_is_vectors_and_entities(self):
    space = spaces.Dict(
      me=spaces.Box(-1, 1, [2]),
      mode=spaces.Discrete(3),
      walls=spaces.Box(-1, 1, [4, 2]),
      walls_mask=spaces.MultiBinary(4),
    )
    world = gymnasium_world.GymnasiumWorld(Env(spaces.Discrete(2), space))
    found = {key: x.shape for key, x in _reset(world).items()}
    expected = {'me': (2,), 'mode': (3,), 'walls': (4, 2), 'walls_mask': (4,)}
    self.assertEqual(found, expected)
    tasks = box_tasks.Box([0.0], [1.0], lambda k, rng: rng.random([k, 1]))
    [role] = python_world.PythonWorld('x', lambda: world, tasks, 5, 1).roles
    self.assertEqual(role.own_size, 5)
    self.assertEqual(role.mask_kinds, ('walls',))

  def test_all_else_is_flattened(self):
    space = spaces.Box(-1, 1, [4, 2])
    self.assertEqual(
      gymnasium_spaces.to_arrays(space, space.sample())['own'].shape, (8,)
    )

  def test_the_task_and_the_seed_arrive(self):
    env = Env(spaces.Discrete(2))
    world = gymnasium_world.GymnasiumWorld(env)
    _reset(world, [0.125])
    self.assertEqual(env.task, [0.125])
    first = env.np_random.random()
    _reset(world, [0.125])
    self.assertEqual(env.np_random.random(), first)
    self.assertEqual(world.render().shape, (2, 2, 3))

  def test_what_a_wrapper_knows_is_read(self):
    env = Env(spaces.Discrete(2))
    self.assertIsNone(gymnasium_world.GymnasiumWorld(env).read_task())
    for outer in (_Reader(env), gymnasium.wrappers.TimeLimit(_Reader(env), 9)):
      world = gymnasium_world.GymnasiumWorld(outer)
      self.assertIs(world.wrapped, env)
      self.assertEqual(world.read_task().tolist(), [0.25])

  def test_spaces_that_change_are_told(self):
    env = Env(spaces.Discrete(2))
    world = gymnasium_world.GymnasiumWorld(env)
    _reset(world)
    env.action_space = spaces.Discrete(3)
    with self.assertRaisesRegex(
      base.WorldError,
      r'action_space: Discrete\(3\), but it was Discrete\(2\) before',
    ):
      _reset(world)

  def test_missing_progress_is_told(self):
    env = Env(spaces.Discrete(2))
    world = gymnasium_world.GymnasiumWorld(env)
    _reset(world)
    env.info = {'reward': 1}
    with self.assertRaisesRegex(
      base.WorldError, "'reward'.*expected 'progress'"
    ):
      world.step(np.zeros([1], np.int32))


if __name__ == '__main__':
  absltest.main()
