# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The curriculum stays on the CPU, wherever the rest is computed.

A second device of TensorFlow's stands for a GPU: like there, a compiled program
fails if it reads a variable of another device.
"""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import presets
from vacl_tf.testing import fakes
from vacl_tf.testing import tiny
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_OTHER = '/CPU:1'


def setUpModule():
  tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices('CPU')[0],
    [tf.config.LogicalDeviceConfiguration()] * 2,
  )


class TwoDevicesTest(tf.test.TestCase, parameterized.TestCase):
  # Counters are int32, probes are noted, and a teacher has a network.
  @parameterized.parameters('task_expansion', 'accel', 'amigo')
  def test_it_trains(self, name):
    cfg = presets.make(env='simple_spread', curriculum=name, path='')
    cfg = tiny.shrunk(cfg)
    with tf.device(_OTHER):
      env = fakes.LineWorld()
      run = run_lib.Run(cfg, [env])
      programs = programs_lib.Programs(run, [env], cfg)
      row = loop.iterate(run, programs, cfg)
    self.assertTrue(np.all(np.isfinite([float(x) for x in row.values()])), row)
    for variable in run.curriculum.variables:
      self.assertIn('CPU:0', variable.device, variable.name)
    learned = [*run.agent.variables, *run.learner.variables]
    for variable in learned:
      self.assertIn('CPU:1', variable.device, variable.name)
      # These would be on the CPU even if the rest is on a GPU.
      self.assertNotEqual(variable.dtype, tf.int32, variable.name)


if __name__ == '__main__':
  tf.test.main()
