# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Curricula take the tasks of hide-and-seek as they are."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum import svgd
from vacl_tf.curriculum import task_expansion
from vacl_tf.environments import hide_and_seek
from vacl_tf.environments.hide_and_seek import grid_task_space


def _space(name, **options):
  task = hide_and_seek.load(name, **options)
  return grid_task_space.GridTaskSpace(task.grid, len(task.actors))


class GridTaskSpaceTest(tf.test.TestCase, parameterized.TestCase):
  def test_a_compiled_curriculum_expands(self):
    cfg = config.TaskExpansionConfig(
      capacity=60, num_easy_tasks=30, num_children=40, step_size=1.0, noise=1.0
    )
    space = _space('ramp_use')
    sets = task_expansion.TaskExpansion(
      base.Setting(
        cfg=config.Config(curriculum=cfg),
        space=space,
        num_tasks=20,
        most_tasks=20,
        seed=randomness.root(0),
      )
    )
    update = tf.function(sets.update, jit_compile=True, autograph=False)
    for index in range(3):
      seed = randomness.root(index)
      batches = sets.sample(20, seed)
      feedback = (types.TaskFeedback(tf.ones([20])),)
      update(batches, feedback, tf.constant([0.0]), seed)
    self.assertGreater(int(sets.solved.count), 20)
    history = sets.history()
    born = history['active_phi'][history['active_generation'] > 0]
    self.assertGreater(len(born), 20)
    self.assertTrue(np.all(space.feasible(born)))

  @parameterized.parameters('lock_and_return', 'ramp_use')
  def test_children_are_legal_and_elsewhere(self, name):
    cfg = config.TaskExpansionConfig(
      step_size=1.0, noise=2.0, noise_probability=1.0
    )
    space = _space(name)
    seeds = space.sample_easy(50, randomness.root(0))
    children = svgd.propose(
      space,
      seeds,
      tf.constant(50),
      seeds,
      tf.ones([50]),
      cfg,
      randomness.root(1),
    )
    self.assertTrue(np.all(space.feasible(children)))
    moved = np.abs(children - seeds).max(1)
    self.assertGreater(np.mean(moved > 0.5), 0.9)

  @parameterized.product(side=(6.0, 12.0), probability=(0.25, 1.0))
  def test_noise_keeps_tasks_legal(self, side, probability):
    """Though one entity may move to where another one has to stay."""
    space = _space('lock_and_return', floor_side=side)
    tasks = python_curriculum.Tasks(space)
    rng = np.random.default_rng(0)
    parents = space.sample_easy(4000, randomness.root(0)).numpy()
    children = tasks.perturbed(parents, 3.0, rng, probability)
    self.assertTrue(np.all(space.feasible(children)))
    moved = np.abs(children - parents).max(1)
    self.assertGreater(np.mean(moved > 0.0), 0.4)


if __name__ == '__main__':
  tf.test.main()
