# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a user's world gives wrong is told in a line that says what to do."""

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments import box_tasks
from vacl_tf.environments import checked_one_world
from vacl_tf.environments import one_world
from vacl_tf.environments import simulator

_OWN = np.zeros([2, 3])


def _box(num_agents=2):
  corner = np.ones([num_agents])
  return box_tasks.Box(
    -corner, corner, lambda num, rng: np.zeros([num, num_agents])
  )


def _picture(*shape, dtype=np.uint8):
  return np.zeros(shape, dtype)


class CheckedOneWorldTest(parameterized.TestCase):
  def _assert_told(self, told, function, *args):
    with self.assertRaises(simulator.WorldError) as caught:
      function(*args)
    self.assertEqual(str(caught.exception), told)

  @parameterized.named_parameters(
    (
      'pair_of_gymnasium',
      (_OWN, {}),
      'expected only the observation, given a tuple of it and a dict; do not '
      'return an info',
    ),
    ('none', None, 'given own: None'),
    ('objects', _OWN.astype(object), 'given own: object of shape [2, 3]'),
    ('text', {'name': np.array([['a'], ['b']])}, 'given name: str32 of shape'),
    ('ragged', {'x': [[1.0], []]}, 'given x: a list whose rows have different'),
    ('nothing', {}, 'of the agents, given an empty dict'),
    ('number', 3.0, 'of the agents, given shapes own []'),
    ('key', {1: _OWN}, 'observation: expected strings as keys, given 1'),
    ('agents', {'own': np.zeros([3, 3])}, 'given shapes own [3, 3]'),
  )
  def test_observations(self, given, told):
    with self.assertRaises(simulator.WorldError) as caught:
      checked_one_world.arrays('world 0, reset', given, 2)
    message = str(caught.exception)
    self.assertStartsWith(message, 'world 0, reset: ')
    self.assertIn('expected', message)
    self.assertIn(told, message)
    self.assertNotIn('\n', message)

  def test_the_type_of_an_array_is_told(self):
    self._assert_told(
      'here: observation: expected an array of numbers, or a dict of them, '
      'given own: object of shape [2, 3]',
      *(checked_one_world.arrays, 'here', _OWN.astype(object), 2),
    )

  @parameterized.parameters(np.float64, np.int32, np.uint8, np.bool_)
  def test_numbers_of_any_type_are_observations(self, dtype):
    found = checked_one_world.arrays('here', _OWN.astype(dtype), 2)
    np.testing.assert_array_equal(found['own'], _OWN)
    [alone] = checked_one_world.arrays('here', (1.0, 2.0), 1).values()
    self.assertEqual(alone.shape, (1, 2))

  @parameterized.named_parameters(
    ('no_step', 3, 'expected a one_world.Step, given an int'),
    (
      'ended',
      one_world.Step(_OWN, 0.0, 0.0, np.array([True, False])),
      'has_ended: expected True or False for the whole world, given bool of '
      'shape [2]',
    ),
    (
      'cut',
      one_world.Step(_OWN, 0.0, 0.0, False, np.zeros([2])),
      'is_cut: expected True or False for the whole world, given float64 of '
      'shape [2]',
    ),
    (
      'no_progress',
      one_world.Step(_OWN, 0.0, None),
      'expected progress from 0 to 1, given None',
    ),
    (
      'more_progress_than_there_is',
      one_world.Step(_OWN, 0.0, 1.001),
      'expected progress from 0 to 1, given 1.001',
    ),
    (
      'progress_of_each',
      one_world.Step(_OWN, 0.0, np.zeros([2])),
      'expected progress from 0 to 1, given float64 of shape [2]',
    ),
    (
      'no_reward',
      one_world.Step(_OWN, None, 0.0),
      'expected one reward, or one for each of 2 agents, given None',
    ),
  )
  def test_steps(self, given, told):
    # Sums of shares may be above 1.
    for progress in (0.0, np.full([10], 0.1, np.float32).sum(), 1.0 + 1e-7):
      fine = one_world.Step(_OWN, 0.0, progress)
      checked_one_world.check_step('here', fine, 2)
    self._assert_told(
      f'here: {told}', checked_one_world.check_step, 'here', given, 2
    )

  def test_a_single_agent_may_end_with_an_array(self):
    ended = one_world.Step(_OWN[:1], 0.0, 0.0, np.array([True]))
    checked_one_world.check_step('here', ended, 1)

  @parameterized.named_parameters(
    (
      'tuple',
      lambda n: (1, 2),
      'tasks: expected a function that returns a box_tasks.Box, given one that '
      'returns a tuple; return box_tasks.Box(low, high, easy)',
    ),
    (
      'box',
      _box(),
      'tasks: expected a function of the number of agents, given a Box; give '
      'tasks=lambda n: ...',
    ),
  )
  def test_tasks(self, given, told):
    self._assert_told(told, checked_one_world.box, given, 2)

  def test_what_tasks_raises_is_told(self):
    with self.assertRaisesRegex(
      simulator.WorldError, '^tasks failed: ZeroDivisionError'
    ):
      checked_one_world.box(lambda n: 1 // 0, 2)
    self.assertEqual(checked_one_world.box(_box, 3).num_entities, 3)

  def test_a_tensor_of_another_device_is_told(self):
    class Tensor:
      def __array__(self, *args, **kwargs):
        raise TypeError('copy it to host memory first')

    self._assert_told(
      'world 0, reset: observation: expected an array of numbers, or a dict of '
      'them, given own: a Tensor that is not an array',
      *(checked_one_world.arrays, 'world 0, reset', Tensor(), 2),
    )

  def test_what_is_no_world_is_told_where_it_goes(self):
    self._assert_told(
      'make: expected a one_world.OneWorld, given an object; a gymnasium.Env '
      'goes into gymnasium_world.GymnasiumWorld(env), a ParallelEnv into '
      'pettingzoo_world.PettingZooWorld(env)',
      *(checked_one_world.world, object()),
    )

  @parameterized.named_parameters(
    (
      'sizes',
      [_picture(4, 5, 3), _picture(4, 6, 3)],
      'render: expected pictures of one size, given [4, 6, 3] after [4, 5, 3]',
    ),
    (
      'list',
      [[[[0, 0, 0]]]],
      'render: expected uint8 of shape [height, width, 3], given a list',
    ),
    (
      'floats',
      [_picture(4, 5, 3, dtype=np.float32)],
      'render: expected uint8 of shape [height, width, 3], given float32 of '
      'shape [4, 5, 3]',
    ),
  )
  def test_pictures(self, frames, told):
    self._assert_told(told, checked_one_world.check_pictures, frames)


if __name__ == '__main__':
  absltest.main()
