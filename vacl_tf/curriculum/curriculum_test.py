# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Curricula by name, and the one that does nothing."""

import dataclasses

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import task_expansion
from vacl_tf.testing import fakes


def _make(name):
  cfg = dataclasses.replace(config.CurriculumConfig(), name=name, capacity=50)
  return curriculum.make(cfg, fakes.LineTaskSpace(), randomness.root(0))


class MakeTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(
    ('vacl', task_expansion.TaskExpansion), ('uniform', base.Uniform)
  )
  def test_known(self, name, kind):
    self.assertIn(name, curriculum.NAMES)
    self.assertIsInstance(_make(name), kind)

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


if __name__ == '__main__':
  tf.test.main()
