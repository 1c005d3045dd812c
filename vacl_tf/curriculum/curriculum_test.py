# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Curricula by name, and the one that does nothing."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import entity_progression
from vacl_tf.curriculum import task_expansion
from vacl_tf.testing import fakes


def _make(name, num_counts=1):
  cfg = config.replace(
    config.Config(),
    {
      'curriculum.name': name,
      'curriculum.capacity': 50,
      'curriculum.num_easy_tasks': 50,
      'progression.entity_counts': '2,4' if num_counts > 1 else '',
    },
  )
  spaces = [fakes.LineTaskSpace()] * num_counts
  return curriculum.make(cfg, spaces, randomness.root(0))


class MakeTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(
    ('vacl', task_expansion.TaskExpansion),
    ('task_expansion', task_expansion.TaskExpansion),
    ('uniform', base.Uniform),
  )
  def test_known(self, name, kind):
    self.assertIn(name, curriculum.NAMES)
    self.assertIsInstance(_make(name), kind)

  def test_several_counts_are_a_progression(self):
    made = _make('vacl', 2)
    self.assertIsInstance(made, entity_progression.EntityProgression)
    for inner in made.inner:
      self.assertIsInstance(inner, task_expansion.TaskExpansion)

  @parameterized.parameters('task_expansion', 'uniform')
  def test_others_have_one_count(self, name):
    with self.assertRaisesRegex(ValueError, f"'{name}' has one.*leave out"):
      _make(name, 2)

  def test_unknown_name_is_answered_with_a_known_one(self):
    with self.assertRaisesRegex(ValueError, "'vacll' is unknown.*vacl"):
      _make('vacll')


class UniformTest(tf.test.TestCase):
  def test_plays_the_target_distribution(self):
    made = _make('uniform')
    seed = randomness.root(1)
    [batch] = made.sample(500, seed)
    space = fakes.LineTaskSpace()
    self.assertAllEqual(batch.phi, space.sample_target(500, seed))
    self.assertAllEqual(batch.origin, np.full(500, types.Origin.FRESH))
    self.assertEqual(int(batch.count), space.count)
    metrics = made.update(
      (batch,), (tf.fill([500], 0.25),), tf.constant([0.1]), seed
    )
    self.assertAllClose(metrics['training_value'], 0.25)
    self.assertEmpty(made.history())

  def test_tasks_beyond_the_size_do_not_count(self):
    made, seed = _make('uniform'), randomness.root(1)
    [batch] = made.sample(4, seed, tf.constant(3))
    value = tf.constant([0.5, 0.5, 0.2, 9.0])
    metrics = made.update((batch,), (value,), tf.constant([0.1]), seed)
    self.assertAllClose(metrics['training_value'], 0.4)


if __name__ == '__main__':
  tf.test.main()
