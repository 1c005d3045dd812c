# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for speed: that it measures the same physics, not how fast."""

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments import hide_and_seek
from vacl_tf.environments.hide_and_seek import speed


class MeasureTest(parameterized.TestCase):
  @parameterized.parameters('lock_and_return', 'ramp_use')
  def test_the_same_physics_is_measured_in_the_midst_of_play(self, name):
    task = hide_and_seek.load(name)
    found = speed.measure(task, 20, 1, num_steps=10)
    self.assertGreater(found['physics_us'], 0.0)
    self.assertGreater(found['step_us'], 0.0)
    self.assertAlmostEqual(
      found['ratio'], found['step_us'] / found['physics_us']
    )
    # Who acts stands on something; what sleeps has no contacts.
    self.assertGreater(found['contacts'], len(task.actors))
    self.assertGreater(found['holding'], 0.0)
    self.assertGreater(found['locked'], 0.0)


if __name__ == '__main__':
  absltest.main()
