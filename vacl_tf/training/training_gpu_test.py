# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Training on a GPU is training on the CPU, and stays on the GPU."""

import numpy as np
import tensorflow as tf

from vacl_tf import environments
from vacl_tf import presets
from vacl_tf.testing import tiny
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_ITERATIONS = 3


class GpuTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    if not tf.config.list_physical_devices('GPU'):
      self.skipTest('TensorFlow finds no GPU')
    # Products of floats as exact as those of the CPU.
    tf.config.experimental.enable_tensor_float_32_execution(False)

  def _train(self, device: str) -> tuple[run_lib.Run, list[dict[str, float]]]:
    cfg = tiny.shrunk(presets.make(env='simple_spread', num_agents=2, path=''))
    with tf.device(device):
      envs = environments.load_all(cfg)
      run = run_lib.Run(cfg, envs)
      programs = programs_lib.Programs(run, envs, cfg)
      rows = [loop.iterate(run, programs, cfg) for _ in range(_ITERATIONS)]
    return run, [{k: float(x) for k, x in row.items()} for row in rows]

  def test_it_learns_as_on_the_cpu(self):
    _, on_gpu = self._train('/GPU:0')
    _, on_cpu = self._train('/CPU:0')
    # Sums in another order may choose another action later on.
    for name, expected in on_cpu[0].items():
      self.assertAllClose(on_gpu[0][name], expected, 1e-3, 1e-3, msg=name)
    self.assertTrue(all(np.isfinite(x) for x in on_gpu[-1].values()))

  def test_networks_are_on_the_gpu(self):
    run, _ = self._train('/GPU:0')
    for variable in run.agent.variables:
      self.assertIn('GPU', variable.device, variable.name)


if __name__ == '__main__':
  tf.test.main()
