# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for grid_task_space."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import randomness
from vacl_tf.environments import hide_and_seek
from vacl_tf.environments import task_space
from vacl_tf.environments.hide_and_seek import grid_task_space

_TASKS = (('lock_and_return', 8, 2), ('ramp_use', 4, 1))
_NUM = 200


def _task(name):
  return hide_and_seek.load(name)


def _space(name):
  task = _task(name)
  return grid_task_space.GridTaskSpace(task.grid, len(task.actors), task.alike)


def _crowded(space, seed=0):
  """Returns tasks [_NUM, D] of which many are wrong."""
  middle = np.random.default_rng(seed).uniform(0, 60, [_NUM, 1, 2])
  steps = np.random.default_rng(seed).uniform(
    -5, 5, [_NUM, space.num_entities, 2]
  )
  return (middle + steps).reshape(_NUM, -1).astype(np.float32)


@parameterized.parameters(*_TASKS)
class GridTaskSpaceTest(tf.test.TestCase, parameterized.TestCase):
  def test_layout(self, name, num_dims, num_agents):
    space = _space(name)
    self.assertIsInstance(space, task_space.TaskSpace)
    self.assertEqual(space.num_dims, num_dims)
    self.assertEqual(space.num_agents, num_agents)
    self.assertAllEqual(space.entity_of_dim, np.arange(num_dims) // 2)
    self.assertEqual(space.num_entities, num_dims // 2)

  def test_tensors_are_judged_as_arrays_are(self, name, *_):
    space, task = _space(name), _task(name)
    phi = _crowded(space)
    want = task.grid.feasible(phi)
    self.assertTrue(np.any(want) and not np.all(want))
    self.assertAllEqual(space.feasible(tf.constant(phi)), want)
    folded = tf.reshape(phi, [4, _NUM // 4, -1])
    self.assertAllEqual(space.feasible(folded), want.reshape(4, _NUM // 4, -1))

  def test_a_task_is_the_same_whoever_of_a_kind_is_where(self, name, *_):
    space, rng = _space(name), np.random.default_rng(0)
    self.assertEqual(bool(space.alike), 'lock' in name)
    phi = np.concatenate(
      [space.sample_uniform(_NUM, randomness.root(0)), _crowded(space)]
    )
    pieces = phi.reshape(2 * _NUM, -1, 2)
    swapped = pieces.copy()
    for kind in map(list, space.alike):
      swapped[:, kind] = np.stack(
        [row[rng.permutation(len(kind))] for row in pieces[:, kind]]
      )
    swapped = swapped.reshape(phi.shape)
    self.assertAllEqual(
      task_space.canonical(space, tf.constant(swapped)),
      task_space.canonical(space, tf.constant(phi)),
    )
    # Which of two that overlap is blamed is another matter.
    self.assertAllEqual(
      *(space.feasible(tf.constant(x)).numpy().all(1) for x in (phi, swapped))
    )

  def test_clip_moves_who_is_wrong_to_the_nearest_cell(self, name, *_):
    space, task = _space(name), _task(name)
    phi = _crowded(space)
    clipped = space.clip(tf.constant(phi), randomness.root(0)).numpy()
    self.assertTrue(np.all(space.feasible(clipped)))
    # Whoever has moved is in the cell that `nearest` says, in a random place.
    self.assertAllEqual(np.floor(clipped + 0.5), task.grid.nearest(phi))
    stays = np.floor(clipped + 0.5) == np.floor(phi + 0.5)
    self.assertAllEqual(clipped[stays], phi[stays])
    off = (clipped - np.floor(clipped + 0.5))[~stays]
    self.assertAllInRange(off, -0.5, 0.5)
    self.assertGreater(np.std(off), 0.2)
    again = space.clip(tf.constant(phi), randomness.root(0))
    self.assertAllEqual(clipped, again)

  def test_clip_reads_half_cells_as_feasible_does(self, name, *_):
    space = _space(name)
    phi = np.round(2.0 * _crowded(space)) / 2.0
    self.assertTrue(np.any(phi != np.floor(phi)))
    clipped = space.clip(tf.constant(phi), randomness.root(0))
    self.assertTrue(np.all(space.feasible(clipped)))

  def test_draws(self, name, num_dims, num_agents):
    del num_agents
    space = _space(name)
    for draw in (space.sample_easy, space.sample_uniform, space.sample_target):
      phi = draw(_NUM, randomness.root(3))
      self.assertAllEqual(phi.shape, [_NUM, num_dims])
      self.assertEqual(phi.dtype, tf.float32)
      self.assertTrue(np.all(space.feasible(phi)))
      self.assertAllEqual(phi, draw(_NUM, randomness.root(3)))
      self.assertNotAllClose(phi, draw(_NUM, randomness.root(4)))


class CompiledTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters('lock_and_return', 'ramp_use')
  def test_xla_agrees(self, name):
    """Curricula are compiled, and the task space with them."""
    space = _space(name)
    phi = tf.constant(_crowded(space))

    @tf.function(jit_compile=True, autograph=False)
    def outputs(phi):
      cells = space.clip(phi, randomness.root(0))
      return space.feasible(phi), tf.floor(cells + 0.5)

    cells = space.clip(phi, randomness.root(0))
    feasible, rounded = outputs(phi)
    self.assertAllEqual(feasible, space.feasible(phi))
    self.assertAllEqual(rounded, tf.floor(cells + 0.5))

  @parameterized.parameters('lock_and_return', 'ramp_use')
  def test_xla_draws_are_feasible(self, name):
    space = _space(name)
    draw = tf.function(
      lambda seed: space.sample_uniform(_NUM, seed),
      jit_compile=True,
      autograph=False,
    )
    phi = draw(randomness.root(0))
    self.assertTrue(np.all(space.feasible(phi)))
    self.assertAllEqual(phi, tf.floor(phi))


if __name__ == '__main__':
  tf.test.main()
