# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The policy that is judged is the mean of those that were learned."""

import pathlib
from unittest import mock

import numpy as np
import sonnet as snt
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import randomness
from vacl_tf.agents import attention_agent
from vacl_tf.networks import distributions
from vacl_tf.testing import fakes
from vacl_tf.training import export
from vacl_tf.training import loop
from vacl_tf.training import policy_files
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_CONFIG = config.Config(
  agent=config.AttentionConfig(hidden_size=8),
  ppo=config.PpoConfig(num_minibatches=2, learning_rate=1e-2),
  curriculum=config.CurriculumConfig(name='uniform'),
  training=config.TrainingConfig(num_tasks=8, num_evaluation_tasks=8),
)


class _Various(attention_agent.AttentionAgent):
  """Has variables that no gradient reaches, or that are not to be trained."""

  def __init__(self, roles, cfg, seed):
    super().__init__(roles, cfg, seed)
    self.frozen = tf.Variable(1.5)
    self.num_calls = tf.Variable(0, dtype=tf.int64, trainable=False)
    policy = self.policies[0]
    policy.moment = tf.Variable(0.0, trainable=False)
    policy.unused = tf.Variable(1.0)
    # A module of which nothing is trained; Sonnet's may raise then.
    self.policies.append(snt.Module())
    self.policies[1].scale = tf.Variable(1.25, trainable=False)

  def act(self, observations, memory):
    self.num_calls.assign_add(1)
    self.policies[0].moment.assign_add(0.25)
    return super().act(observations, memory)

  def distributions(self, observations):
    [seen] = observations
    scale = self.policies[1].scale * (self.frozen + self.policies[0].moment)
    found = self.policies[0](seen._replace(own=scale * seen.own))
    return (distributions.make(self._actions[0], found),)


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

  @parameterized.parameters(0.0, 0.5)
  def test_an_agent_may_have_other_variables(self, share):
    spec = catalog.AgentSpec(make=_Various, config=config.AttentionConfig)
    with mock.patch.dict(catalog.AGENTS._entries, {'attention': spec}):
      run, _, iterate = self._begin(share)
    for _ in range(2):
      iterate()
    self.assertLen(run.agent.others, 4)
    self.assertGreater(int(run.agent.num_calls), 0)
    pairs = zip(run.judged.others, run.agent.others, strict=True)
    for mine, new in pairs:
      self.assertAllEqual(mine, new)
    self.assertEqual(float(run.agent.frozen), 1.5)
    self.assertEqual(float(run.agent.policies[0].unused), 1.0)

    directory = pathlib.Path(self.create_tempdir().full_path) / 'policy'
    export.export(run.judged, self.env, _CONFIG, directory)
    roles = self.env.roles
    filled = export.ExportedPolicy(_Various(roles, _CONFIG.agent, 7), roles)
    policy_files._fill(filled, directory)
    graph = tf.saved_model.load(str(directory))
    state = self.env.place(
      self.env.task_space.sample_uniform(5, randomness.root(0)),
      randomness.root(1),
    )
    seen = self.env.observe(state)
    given = {
      'seed': randomness.root(3),
      'greedy': tf.constant(True),
      **export.flat(roles, seen),
    }
    [want], _ = run.judged.act(seen, ())
    for policy in (filled, graph):
      found = policy.act(**given)
      self.assertAllClose(found['logits'], want.outputs()['logits'])


if __name__ == '__main__':
  tf.test.main()
