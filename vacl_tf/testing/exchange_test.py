# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is counted is what has to be exchanged."""

from unittest import mock

import tensorflow as tf

from vacl_tf import presets
from vacl_tf.testing import exchange
from vacl_tf.testing import tiny
from vacl_tf.training import run as run_lib


class ExchangeTest(tf.test.TestCase):
  def test_gradients_are_most_of_it(self):
    made = presets.make

    def small(**options):
      return tiny.shrunk(made(**options))

    with mock.patch.object(presets, 'make', small):
      found = exchange.count('simple_spread', 2)
    cfg = small(env='simple_spread', num_agents=2, path='')
    run = run_lib.Run(cfg, exchange.environments.load_all(cfg))
    gradients = sum(4 * x.shape.num_elements() for x in run.agent.variables)
    large = [size for size in found.summed if size >= gradients]
    self.assertLen(large, cfg.ppo.num_minibatches * cfg.ppo.num_epochs)
    self.assertLess(sum(large), 1.1 * len(large) * gradients)
    # A value for each task that a replica plays.
    self.assertLen(found.gathered, 1)
    self.assertEqual(found.gathered[0] % (2 * cfg.training.num_tasks), 0)


if __name__ == '__main__':
  tf.test.main()
