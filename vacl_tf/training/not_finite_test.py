# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Numbers that are not finite are blamed on what was so first."""

import math

import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.testing import fakes
from vacl_tf.training import loop
from vacl_tf.training import not_finite
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_HORIZON, _TASKS = 4, 6


class _Cliff(fakes.LineWorld):
  """A world whose landmarks are no numbers for whoever left the right half."""

  def observe(self, state):
    [seen] = super().observe(state)
    fell = tf.reduce_any(state.position < 0.0, 1)[:, None, None, None]
    landmarks = tf.where(fell, math.inf, seen.entities['landmarks'])
    return (seen._replace(entities={**seen.entities, 'landmarks': landmarks}),)


def _trajectory():
  """Returns a roll-out in which nobody moves."""
  phi = tf.fill([_TASKS, fakes.LineWorld().task_space.num_dims], 0.1)
  state = fakes.LineWorld().place(phi, randomness.root(0))
  shape = [_HORIZON, _TASKS, fakes.NUM_AGENTS]
  return types.Trajectory(
    state=tf.nest.map_structure(
      lambda x: tf.tile(x[None], [_HORIZON + 1, 1, 1]), state
    ),
    memory=(),
    action=(tf.zeros(shape, tf.int32),),
    log_prob=(tf.zeros(shape),),
    reward=(tf.zeros(shape),),
    progress=tf.zeros(shape[:2]),
    discount=tf.ones(shape[:2]),
  )


def _at(x, step, world, number):
  """Returns x with another number in one step of one world."""
  return tf.tensor_scatter_nd_update(
    x, [[step, world]], [tf.fill(x.shape[2:], number)]
  )


class InObservationsTest(tf.test.TestCase, parameterized.TestCase):
  def _find(self, trajectory, num_worlds=_TASKS):
    return not_finite.in_observations(_Cliff(_HORIZON), trajectory, num_worlds)

  def test_nowhere(self):
    self.assertEqual(self._find(_trajectory()), '')

  @parameterized.product(
    world_at=list(range(_HORIZON + 1)), policy_at=[0, 2, 3]
  )
  def test_whichever_was_first(self, world_at, policy_at):
    trajectory = _trajectory()
    state = trajectory.state
    position = _at(state.position, world_at, 1, -0.1)
    trajectory = trajectory._replace(
      state=state._replace(position=position),
      log_prob=(_at(trajectory.log_prob[0], policy_at, 2, math.nan),),
    )
    found = self._find(trajectory)
    # A policy that is not finite at the same step was shown such numbers.
    if world_at <= policy_at:
      where = f'inf in landmarks of role agent after {world_at} steps'
      self.assertEqual(found, where)
    else:
      self.assertEqual(found, '')
    self.assertEqual(self._find(trajectory, 1), '')  # They do not count.

  @parameterized.parameters('own', 'critic_own')
  def test_other_parts(self, name):
    class Broken(fakes.LineWorld):
      def observe(self, state):
        [seen] = super().observe(state)
        return (seen._replace(**{name: math.nan * seen.own}),)

    found = not_finite.in_observations(Broken(), _trajectory(), _TASKS)
    self.assertStartsWith(found, f'nan in {name} of role agent after 0 steps')


class LoopTest(tf.test.TestCase):
  def _begin(self, env):
    cfg = config.Config(
      agent=config.AttentionConfig(hidden_size=8),
      ppo=config.PpoConfig(num_minibatches=2),
      curriculum=config.CurriculumConfig(name='uniform'),
      training=config.TrainingConfig(num_tasks=_TASKS, num_evaluation_tasks=9),
    )
    run = run_lib.Run(cfg, [env])
    return run, programs_lib.Programs(run, [env], cfg, use_xla=False), cfg

  def test_a_world_is_told_of(self):
    with self.assertRaisesRegex(
      base.WorldError,
      '^observation: expected finite numbers, given -?inf in landmarks of '
      r'role agent after \d steps of an episode at iteration 1$',
    ):
      loop.iterate(*self._begin(_Cliff(_HORIZON)))

  def test_a_policy_is_not_the_fault_of_the_world(self):
    run, programs, cfg = self._begin(fakes.LineWorld(_HORIZON))
    for variable in run.agent.policies[0].trainable_variables:
      variable.assign(math.nan * variable)
    for variable in run.agent.values[0].trainable_variables:
      variable.assign(math.nan * variable)
    metrics = loop.iterate(run, programs, cfg)
    self.assertAllEqual(tf.math.is_nan(metrics['return_mean']), True)


if __name__ == '__main__':
  tf.test.main()
