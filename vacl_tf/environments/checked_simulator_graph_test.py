# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for checked_simulator: worlds in a graph, and task spaces."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.environments import checked_simulator
from vacl_tf.testing import fakes


class _Growing(fakes.LineWorld):
  def step(self, state, action):
    state = super().step(state, action)
    return state._replace(position=tf.concat([state.position] * 2, 1))


class _Retyped(fakes.LineWorld):
  def step(self, state, action):
    return tuple(super().step(state, action))


class _Percent(fakes.LineWorld):
  def progress(self, state):
    return 100.0 * super().progress(state)


class _Whole(fakes.LineWorld):
  def reward(self, state):
    return tuple(tf.cast(x, tf.int32) for x in super().reward(state))


class _NumpyInStep(fakes.LineWorld):
  def step(self, state, action):
    return super().step(state, [tf.constant(x.numpy()) for x in action])


class _BranchInReward(fakes.LineWorld):
  def reward(self, state):
    scale = 1.0 if tf.reduce_all(state.position < 9.0) else 0.5
    return tuple(scale * x for x in super().reward(state))


class _PythonInPlace(fakes.LineWorld):
  def place(self, phi, seed):
    same = tf.numpy_function(lambda x: x, [phi], tf.float32)
    return super().place(tf.ensure_shape(same, phi.shape), seed)


class EnvironmentTest(tf.test.TestCase, parameterized.TestCase):
  def test_a_sound_environment_passes(self):
    checked_simulator.check_world(fakes.LineWorld())

  @parameterized.parameters(
    (
      _Growing,
      r'state after step, leaf 0: expected float32 of shape \[2, 2\], given '
      r'float32 of shape \[2, 4\]',
    ),
    (_Retyped, 'state after step: expected the structure of the state'),
    (
      _Percent,
      'progress: expected numbers from 0 to 1, given 100.0 in world 0',
    ),
    (_Whole, r'reward of agent: expected float32 .* given int32'),
    (_NumpyInStep, r"^step in a graph failed: AttributeError: .*'numpy' \("),
    (_BranchInReward, '^reward in a graph failed: OperatorNotAllowedInGraphEr'),
    (
      _PythonInPlace,
      "^place in a graph failed: ValueError: XLA can't compile PyFunc ",
    ),
  )
  def test_each_fault_is_told_in_a_line(self, make, message):
    with self.assertRaisesRegex(ValueError, message) as caught:
      checked_simulator.check_world(make())
    self.assertNotIn('\n', str(caught.exception))


class _BadSpace(fakes.LineTaskSpace):
  """A task space with one method, or attribute, exchanged."""

  def __init__(self, **faults):
    for name, fault in faults.items():
      setattr(self, name, fault)


class TaskSpaceTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.named_parameters(
    (
      'easy',
      {
        'sample_easy': lambda num, seed: tf.tile(
          [[0.0, 9.0, 0.0, 2.0]], [num, 1]
        )
      },
      r'sample_easy: expected feasible tasks, given \[0.0, 9.0, 0.0, 2.0\], '
      r'whose entities \[1, 3\] \(counted from 0\) are not',
    ),
    (
      'raising',
      {'sample_easy': lambda num, seed: num.nothing},
      "sample_easy failed: AttributeError: 'int' object has no",
    ),
    (
      'shape',
      {'sample_easy': lambda num, seed: tf.zeros([num, 3])},
      r'sample_easy: expected float32 of shape \[50, 4\], given float32 of '
      r'shape \[50, 3\]',
    ),
    (
      'dtype',
      {'sample_uniform': lambda num, seed: np.zeros([num, 4])},
      'sample_uniform: expected float32 .* given float64',
    ),
    (
      'nan',
      {'sample_target': lambda num, seed: tf.fill([num, 4], np.nan)},
      r'sample_target: expected finite numbers, given nan in task 0, number 0',
    ),
    (
      'clip',
      {'clip': lambda phi, seed: phi},
      'clip: expected feasible tasks, given .* are not',
    ),
    (
      'feasible',
      {'feasible': lambda phi: tf.reduce_all(tf.abs(phi) < 9.0, -1)},
      r'feasible: expected bool of shape \[50, 4\], given bool of shape \[50\]',
    ),
    (
      'graph',
      {
        'sample_target': lambda num, seed: tf.zeros(
          [num, len(seed.numpy()) * 2]
        )
      },
      'sample_target in a graph, as the task space has is_compiled=True, failed'
      ": AttributeError: .*'numpy'",
    ),
    (
      'entities',
      {'entity_of_dim': np.array([0, 0, 1, 1])},
      r'entity_of_dim=\[0, 0, 1, 1\]; expected all of 0 to 3',
    ),
    (
      'dims',
      {'entity_of_dim': np.arange(5)},
      r'entity_of_dim: expected integer of shape \[4\], given int64 of',
    ),
  )
  def test_each_fault_is_told_in_a_line(self, faults, message):
    world = fakes.LineWorld()
    world.task_space = _BadSpace(**faults)
    with self.assertRaisesRegex(ValueError, message) as caught:
      checked_simulator.check_world(world)
    self.assertNotIn('\n', str(caught.exception))

  def test_a_space_that_is_not_compiled_may_use_numpy(self):
    world = fakes.LineWorld()
    world.task_space = _BadSpace(
      sample_uniform=lambda num, seed: tf.zeros([num, len(seed.numpy()) * 2]),
      is_compiled=False,
    )
    checked_simulator.check_world(world)


if __name__ == '__main__':
  tf.test.main()
