# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Learning rate and entropy bonus as training goes on."""

import resource

import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf.agents import attention_agent
from vacl_tf.learning import ppo
from vacl_tf.testing import fakes

_NUM_STEPS = 10_000


def _learner(steps: int, power: float) -> ppo.Learner:
  small = config.AttentionConfig(hidden_size=8)
  agent = attention_agent.AttentionAgent(fakes.LineWorld(4).roles, small, 0)
  cfg = config.PpoConfig(decay_start_steps=steps, decay_power=power)
  return ppo.Learner(agent, cfg)


class AnnealingTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(
    (0, 1.0, 1.0), (100, 1.0, 3.0), (100, 2.0, 9.0), (400, 1.0, 1.0)
  )
  def test_rate_and_bonus_are_annealed_by_steps_made(
    self, steps, power, divisor
  ):
    learner = _learner(steps, power)
    for env_steps, by in ((300, divisor), (0, 1.0)):
      learner.anneal(env_steps)
      cfg = learner.config
      self.assertAllClose(learner.learning_rate, cfg.learning_rate / by)
      self.assertAllClose(learner.entropy_cost, cfg.entropy_cost / by)

  @parameterized.parameters(
    (0, 0, 1.0), (0, 100, 3.0), (200, 100, 3.0), (100, 200, 3.0)
  )
  def test_the_sooner_of_both_starts_counts(self, steps, reached, divisor):
    learner = _learner(steps, 1.0)
    learner.anneal(300, reached)
    rate = learner.config.learning_rate / divisor
    self.assertAllClose(learner.learning_rate, rate)

  def test_it_leaves_nothing_in_memory(self):
    learner = _learner(1, 1.0)
    learner.anneal(0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for env_steps in range(_NUM_STEPS):
      learner.anneal(env_steps)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    self.assertLess(after - before, 4000)  # It was about 9000 KB.


if __name__ == '__main__':
  tf.test.main()
