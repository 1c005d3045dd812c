# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""An agent without a memory, made of a policy and a value alone."""

from typing import NamedTuple

import numpy as np
import sonnet as snt
import tensorflow as tf

from vacl_tf import types
from vacl_tf.agents import base
from vacl_tf.networks import distributions

_STEPS, _WORLDS = 4, 3
_NUM_AGENTS = (2, 1)


class _Linear(base.FeedForwardAgent):
  """Linear in what is observed."""

  def __init__(self):
    super().__init__(name='linear')
    self.policies = [snt.Linear(3) for _ in _NUM_AGENTS]
    self.values = [snt.Linear(1) for _ in _NUM_AGENTS]

  def distributions(self, observations):
    pairs = zip(self.policies, observations, strict=True)
    return tuple(
      distributions.Categorical(logits=policy(x.own)) for policy, x in pairs
    )

  def value(self, observations):
    pairs = zip(self.values, observations, strict=True)
    return tuple(value(x.own)[..., 0] for value, x in pairs)


class _OneValue(_Linear):
  """Both roles have the same value."""

  def __init__(self):
    super().__init__()
    self.values = self.values[:1]

  def value(self, observations):
    [value] = self.values
    return tuple(value(x.own)[..., 0] for x in observations)


class _State(NamedTuple):
  place: tf.Tensor  # [B, 3, 2] of all agents.


def _observe(state):
  first, second = state.place[:, :2], state.place[:, 2:]
  return types.Observation(2.0 * first, {}), types.Observation(-second, {})


def _states(*leading):
  rng = np.random.default_rng(0)
  return _State(tf.constant(rng.normal(size=[*leading, 3, 2]), tf.float32))


class MergedTest(tf.test.TestCase):
  def test_rows_are_segments_and_their_steps(self):
    tree = {
      'a': tf.reshape(tf.range(24), [2, 3, 4]),
      'b': tf.constant([[1, 2, 3], [4, 5, 6]]),
      'c': (),
    }
    found = base.merged(tree)
    self.assertEqual(found['a'].shape, (6, 4))
    self.assertAllEqual(found['b'], [1, 2, 3, 4, 5, 6])
    self.assertEqual(found['c'], ())
    for row in range(6):
      self.assertAllEqual(found['a'][row], tree['a'][row // 3, row % 3])


class ObserveSequenceTest(tf.test.TestCase):
  def test_each_step_is_what_is_observed_there(self):
    states = _states(_STEPS, _WORLDS)
    found = base.observe_sequence(_observe, states)
    self.assertEqual([x.own.shape[2] for x in found], [2, 1])
    for t in range(_STEPS):
      now = _observe(_State(states.place[t]))
      for one, whole in zip(now, found, strict=True):
        self.assertAllEqual(whole.own[t], one.own)


class TrainableTest(tf.test.TestCase):
  def test_what_several_modules_share_is_there_once(self):
    one, other = snt.Linear(2), snt.Linear(3)
    one(tf.zeros([1, 4]))
    other(tf.zeros([1, 4]))
    other.first = one
    found = base.trainable([one, other, one])
    self.assertCountEqual(
      map(id, found), map(id, (*one.variables, other.w, other.b))
    )


class FeedForwardAgentTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    self.agent = _Linear()
    self.states = _states(_STEPS, _WORLDS)
    self.observations = base.observe_sequence(_observe, self.states)
    self.agent.distributions(_observe(_State(self.states.place[0])))
    self.agent.value(_observe(_State(self.states.place[0])))

  def test_it_has_no_memory(self):
    self.assertEqual(self.agent.segment_length, 1)
    self.assertEqual(self.agent.initial_memory(_WORLDS, _NUM_AGENTS), ())
    self.assertEqual(self.agent.initial_value_memory(_WORLDS, _NUM_AGENTS), ())
    _, memory = self.agent.act(_observe(_State(self.states.place[0])), ())
    self.assertEqual(memory, ())

  def test_values_along_episodes_are_those_of_each_step(self):
    values, memory = self.agent.unroll_values(_observe, self.states, ())
    self.assertEqual(memory, ())
    for t in range(_STEPS):
      expected = self.agent.value(_observe(_State(self.states.place[t])))
      for whole, one in zip(values, expected, strict=True):
        self.assertAllClose(whole[t], one, 1e-5, 1e-5)

  def test_one_module_may_be_the_value_of_all_roles(self):
    agent = _OneValue()
    values, _ = agent.unroll_values(_observe, self.states, ())
    for t in range(_STEPS):
      expected = agent.value(_observe(_State(self.states.place[t])))
      for whole, one in zip(values, expected, strict=True):
        self.assertAllClose(whole[t], one, 1e-5, 1e-5)

  def test_segments_are_evaluated_step_by_step(self):
    # Whatever their length is.
    found = self.agent.evaluate(types.Sequence(self.observations, (), ()))
    self.assertAllEqual(found.loss, 0.0)
    for row in range(_STEPS * _WORLDS):
      place = self.states.place[row // _WORLDS, row % _WORLDS]
      observations = _observe(_State(place[None]))
      logits = [x.logits[0] for x in self.agent.distributions(observations)]
      values = [x[0] for x in self.agent.value(observations)]
      for role in range(2):
        distribution = found.distributions[role]
        self.assertAllClose(distribution.logits[row], logits[role], 1e-5, 1e-5)
        self.assertAllClose(found.values[role][row], values[role], 1e-5, 1e-5)


if __name__ == '__main__':
  tf.test.main()
