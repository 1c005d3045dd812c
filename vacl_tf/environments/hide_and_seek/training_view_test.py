# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for training_view: worlds of MuJoCo as a simulator."""

import contextlib

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek import lock_and_return_spec
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.environments.hide_and_seek import ramp_use_spec
from vacl_tf.environments.hide_and_seek.rendering import drawing

_NUM_WORLDS = 6
_SPECS = {
  spec.name: spec for spec in (lock_and_return_spec.SPEC, ramp_use_spec.SPEC)
}


def _world(name):
  return _SPECS[name].make(_SPECS[name].world)


def _load(name):
  """Returns a world and tasks of it."""
  env = _world(name)
  phi = env.task.sample_easy(_NUM_WORLDS, np.random.default_rng(0))
  return env, phi


def _actions(env, seed):
  rng = np.random.default_rng(seed)
  shape = [_NUM_WORLDS, len(env.task.actors)]
  return np.stack([rng.integers(0, x, shape) for x in mechanics.HEADS], -1)


@parameterized.parameters('lock_and_return', 'ramp_use')
class TrainingViewTest(parameterized.TestCase):
  def test_the_role_is_that_of_the_task(self, name):
    env, _ = _load(name)
    self.assertIsInstance(env, base.HostWorld)
    self.assertTrue(env.is_terminal)
    [role] = env.roles
    self.assertEqual(role.num_agents, len(env.task.actors))
    self.assertEqual(role.action.shape, (5,))
    self.assertEqual(role.action.maximum.tolist(), [10, 10, 10, 1, 1])
    sizes = {'own': role.own_size, **role.entity_sizes}
    expected = {kind: len(x) for kind, x in env.task.features.items()}
    self.assertEqual(sizes, expected)
    [bounds] = env.observation_bounds()
    self.assertEqual({k: len(low) for k, (low, _) in bounds.items()}, expected)

  def test_the_legend_names_what_is_drawn(self, name):
    env, phi = _load(name)
    simulator = env.make_simulator(_NUM_WORLDS)
    simulator.place(phi, [0])
    locked = np.ones_like(simulator.state.is_locked)
    states = [simulator.state, simulator.state._replace(is_locked=locked)]
    drawn = {
      shape.colour
      for state in states
      for scene in drawing.scenes(env.task, state)
      for shape in (*scene.discs, *scene.polygons)
    }
    told = dict(env.legend)
    self.assertContainsSubset(told.values(), drawn)
    wanted = {
      'lock_and_return': {'box', 'locked'},
      'ramp_use': {'hider', 'seeker', 'box', 'ramp', 'locked'},
    }
    self.assertEqual(set(told), wanted[name])

  def test_worlds_are_those_of_the_task(self, name):
    """All that a simulator returns, number by number."""
    env, phi = _load(name)
    simulator = env.make_simulator(_NUM_WORLDS)
    worlds = environment.HideAndSeekWorlds(env.task, _NUM_WORLDS)
    simulator.place(phi, [3, 4])
    worlds.place(phi, [3, 4])
    for step in range(env.horizon):
      [found], expected = simulator.observe(), worlds.observe()
      self.assertIsInstance(found, types.Observation)
      np.testing.assert_array_equal(found.own, expected.own)
      np.testing.assert_array_equal(found.critic_own, expected.critic_own)
      self.assertEqual(found.masks, {})
      self.assertEqual(set(found.entities), set(expected.entities))
      for kind, array in expected.entities.items():
        np.testing.assert_array_equal(found.entities[kind], array)
        self.assertEqual(found.entities[kind].dtype, np.float32)
      actions = _actions(env, step)
      outcome, expected = simulator.step((actions,)), worlds.step(actions)
      np.testing.assert_array_equal(outcome.reward[0], expected.reward)
      np.testing.assert_array_equal(outcome.progress, expected.progress)
      discount = float(step + 1 < env.horizon)
      np.testing.assert_array_equal(outcome.discount, [discount] * _NUM_WORLDS)
    np.testing.assert_array_equal(simulator.read_task(), worlds.read_task())
    np.testing.assert_array_equal(
      simulator.state.position, worlds.state.position
    )

  def test_diverged_worlds_are_counted(self, name):
    # MuJoCo writes down its warnings wherever it is.
    self.enter_context(contextlib.chdir(self.create_tempdir().full_path))
    env, phi = _load(name)
    simulator = env.make_simulator(_NUM_WORLDS)
    simulator.place(phi, [0])
    simulator.worlds.physics.bind('qvel')[2, 0] = np.nan
    outcome = simulator.step((_actions(env, 0),))
    self.assertEqual(simulator.num_unstable, 1)
    np.testing.assert_array_equal(outcome.discount, np.ones([_NUM_WORLDS]))

  def test_worlds_have_pictures(self, name):
    env, phi = _load(name)
    simulator = env.make_simulator(2)
    simulator.place(phi[:2], [0])
    rows = env.pictures([simulator.state, simulator.state])
    self.assertEqual(np.shape(rows)[:2], (2, 2))
    self.assertEqual(rows[0][0].dtype, np.uint8)


if __name__ == '__main__':
  absltest.main()
