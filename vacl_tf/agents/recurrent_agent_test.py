# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Memories of several roles, and the way to what the critic alone observes."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import types
from vacl_tf.agents import recurrent_agent

_WORLDS, _STEPS, _SIZE = 4, 3, 8
_SPEAKER = types.Role('speaker', 1, types.discrete(3), 3, {})
_LISTENER = types.Role(
  'listener',
  2,
  types.discrete(5),
  4,
  {'things': 2},
  critic_only_position=(3, 2),
)
_PAIR = (_SPEAKER, _LISTENER)


def _agent(roles=_PAIR, cost=0.0, seed=0):
  cfg = config.RecurrentConfig(
    hidden_size=_SIZE,
    activation='tanh',
    segment_length=_STEPS,
    auxiliary_position_cost=cost,
  )
  agent = recurrent_agent.RecurrentAgent(roles, cfg, seed)
  rng = np.random.default_rng(1)
  for variable in agent.variables:
    variable.assign(variable + 0.3 * rng.normal(size=variable.shape))
  return agent


def _sequence(seed=2) -> types.Sequence:
  """Returns segments [N, L, ...] of random observations and memories."""
  rng = np.random.default_rng(seed)

  def draw(*shape):
    return tf.constant(rng.normal(size=[_WORLDS, *shape]), tf.float32)

  observations = []
  for role in _PAIR:
    leading = [_STEPS, role.num_agents]
    entities = {
      kind: draw(*leading, 3, size) for kind, size in role.entity_sizes.items()
    }
    observations.append(
      types.Observation(
        own=draw(*leading, role.own_size),
        entities=entities,
        critic_own=draw(*leading, role.own_size) if entities else (),
      )
    )
  memories = [
    tuple(draw(role.num_agents, _SIZE) for role in _PAIR) for _ in range(2)
  ]
  return types.Sequence(tuple(observations), *memories)


def _outputs(agent, sequence):
  """Returns logits and values [N * L, n, ...] per role."""
  found = agent.evaluate(sequence)
  return [x.logits.numpy() for x in found.distributions], [
    x.numpy() for x in found.values
  ]


class RolesTest(parameterized.TestCase, tf.test.TestCase):
  def assertFar(self, one, other):
    self.assertGreater(np.max(np.abs(one - other)), 0.02)

  def test_memories_are_of_each_role(self):
    agent = _agent()
    for memory in (
      agent.initial_memory(_WORLDS, [1, 2]),
      agent.initial_value_memory(_WORLDS, [1, 2]),
    ):
      self.assertEqual(
        [x.shape for x in memory], [(_WORLDS, 1, _SIZE), (_WORLDS, 2, _SIZE)]
      )
      for x in memory:
        self.assertAllEqual(x, tf.zeros_like(x))
    # Numbers may be tensors.
    numbers = tf.constant(5), [tf.constant(2), tf.constant(7)]
    found = tf.function(agent.initial_memory)(*numbers)
    self.assertEqual([x.shape for x in found], [(5, 2, _SIZE), (5, 7, _SIZE)])

  @parameterized.parameters(0, 1)
  def test_roles_do_not_mix(self, index):
    # Critics of this agent are not centralised: each observes more by itself.
    agent, one, other = _agent(), _sequence(), _sequence(seed=9)

    def mixed(ours, theirs):
      ours = list(ours)
      ours[index] = theirs[index]
      return tuple(ours)

    changed = types.Sequence(
      *(mixed(*pair) for pair in zip(one[:3], other[:3], strict=True))
    )
    found, expected = _outputs(agent, changed), _outputs(agent, one)
    for x, y in zip(found, expected, strict=True):
      self.assertFar(x[index], y[index])
      self.assertAllEqual(x[1 - index], y[1 - index])

  def test_each_network_has_a_memory_of_its_own(self):
    agent, sequence = _agent(), _sequence()
    logits, values = _outputs(agent, sequence)
    forgetful = tf.nest.map_structure(tf.zeros_like, sequence)
    found = _outputs(
      agent, sequence._replace(policy_memory=forgetful.policy_memory)
    )
    for role in range(2):
      self.assertFar(found[0][role], logits[role])
      self.assertAllEqual(found[1][role], values[role])
    found = _outputs(
      agent, sequence._replace(value_memory=forgetful.value_memory)
    )
    for role in range(2):
      self.assertAllEqual(found[0][role], logits[role])
      self.assertFar(found[1][role], values[role])


class PositionTest(parameterized.TestCase, tf.test.TestCase):
  def test_without_a_cost_there_is_no_layer_and_no_loss(self):
    agent = _agent()
    self.assertFalse(hasattr(agent.policies[1], 'way'))
    self.assertAllEqual(agent.evaluate(_sequence()).loss, 0.0)

  @parameterized.parameters((None,), ((),))
  def test_roles_without_such_a_position_have_neither(self, position):
    listener = _LISTENER._replace(critic_only_position=position)
    agent = _agent((_SPEAKER, listener), cost=2.0)
    for policy in agent.policies:
      self.assertFalse(hasattr(policy, 'way'))
    self.assertAllEqual(agent.evaluate(_sequence()).loss, 0.0)

  def test_the_loss_is_pseudo_huber_of_the_way_there(self):
    agent, sequence = _agent(cost=2.0), _sequence()
    self.assertFalse(hasattr(agent.policies[0], 'way'))
    policy, observation = agent.policies[1], sequence.observations[1]
    by_time = tf.nest.map_structure(
      lambda x: tf.transpose(x, [1, 0, *range(2, x.shape.rank)]), observation
    )
    hidden, _ = policy(by_time, sequence.policy_memory[1])
    own = by_time.critic_own.numpy()
    way = np.stack([own[..., 3] - own[..., 0], own[..., 2] - own[..., 1]], -1)
    error = hidden @ policy.way.w + policy.way.b - way
    expected = np.mean(np.sqrt(1.0 + np.sum(error**2, -1)) - 1.0)
    self.assertGreater(expected, 0.1)
    self.assertAllClose(agent.evaluate(sequence).loss, 2.0 * expected, 1e-4)

  def test_the_loss_is_the_policy_s_alone(self):
    agent, sequence = _agent(cost=2.0), _sequence()
    with tf.GradientTape(persistent=True) as tape:
      loss = agent.evaluate(sequence).loss
    policy = agent.policies[1]
    for layer in (policy.way, policy.core):
      gradients = tape.gradient(loss, layer.variables)
      self.assertGreater(float(tf.linalg.global_norm(gradients)), 1e-3)
    others = [*agent.values[1].variables, *agent.policies[0].variables]
    self.assertEqual({*tape.gradient(loss, others)}, {None})


if __name__ == '__main__':
  tf.test.main()
