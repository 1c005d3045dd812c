# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The policy that is judged is the mean of those that were learned."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import randomness
from vacl_tf.testing import fakes
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_CONFIG = config.Config(
  agent=config.AttentionConfig(hidden_size=8),
  ppo=config.PpoConfig(num_minibatches=2, learning_rate=1e-2),
  curriculum=config.CurriculumConfig(name='uniform'),
  training=config.TrainingConfig(num_tasks=8, num_evaluation_tasks=8),
)


def _parameters(agent) -> list[np.ndarray]:
  return [x.numpy() for module in agent.policies for x in module.variables]


class JudgedTest(tf.test.TestCase, parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.env = fakes.LineWorld()

  def _begin(self, share):
    cfg = overrides.replace(_CONFIG, {'ppo.average_share': share})
    run = run_lib.Run(cfg, [self.env])
    programs = programs_lib.Programs(run, [self.env], cfg, use_xla=False)
    return run, programs, lambda: loop.iterate(run, programs, cfg)

  def test_of_all_iterations_it_is_the_arithmetic_mean(self):
    run, _, iterate = self._begin(1.0)
    self.assertAllClose(_parameters(run.judged), _parameters(run.agent))
    seen = []
    for _ in range(5):
      iterate()
      seen.append(_parameters(run.agent))
    self.assertNotAllClose(seen[0][0], seen[-1][0])
    means = [np.mean(x, 0) for x in zip(*seen, strict=True)]
    self.assertAllClose(_parameters(run.judged), means, atol=1e-6)

  def test_at_first_it_is_the_latest(self):
    """A third of one, two or three iterations is no more than one."""
    run, _, iterate = self._begin(1 / 3)
    for is_latest in (True, True, True, False):
      iterate()
      pairs = zip(_parameters(run.judged), _parameters(run.agent), strict=True)
      gaps = [np.abs(mean - new).max() for mean, new in pairs]
      self.assertEqual(max(gaps) < 1e-6, is_latest)

  def test_without_averages_there_is_one_agent(self):
    run, _, _ = self._begin(0.0)
    self.assertIs(run.judged, run.agent)

  @parameterized.parameters(False, True)
  def test_it_is_what_is_evaluated(self, is_on_host):
    if is_on_host:
      self.env = fakes.HostedWorld(self.env)
    run, programs, _ = self._begin(0.5)
    seed = randomness.root(0)
    before, _ = programs.counts[0].evaluate(seed)
    for variable in run.agent.variables:
      variable.assign(-variable)
    same, _ = programs.counts[0].evaluate(seed)
    self.assertAllEqual(before, same)
    for variable in run.judged.variables:
      variable.assign(-variable)
    other, _ = programs.counts[0].evaluate(seed)
    self.assertNotAllEqual(before, other)


if __name__ == '__main__':
  tf.test.main()
