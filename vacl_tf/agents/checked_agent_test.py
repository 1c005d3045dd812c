# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for checked_agent: a broken agent for each fault."""

import sys
from unittest import mock

import numpy as np
import sonnet as snt
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import agents
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import types
from vacl_tf.agents import base
from vacl_tf.agents import checked_agent
from vacl_tf.networks import distributions

_ROLES = (
  types.Role('walker', 2, types.continuous([-1.0], [1.0]), 3, {'things': 2}),
  types.Role('talker', 1, types.multi_discrete((3, 2)), 4, {}, (), (0, 1)),
)


def _seen(roles=_ROLES):
  """Returns what they could observe in two worlds, with three entities each."""
  found = []
  for role in roles:
    leading = [2, role.num_agents]
    found.append(
      types.Observation(
        own=tf.ones([*leading, role.own_size]),
        entities={
          kind: tf.ones([*leading, 3, size])
          for kind, size in role.entity_sizes.items()
        },
        masks={
          kind: tf.ones([*leading, 3], tf.bool) for kind in role.mask_kinds
        },
        critic_own=tf.ones([*leading, role.own_size])
        if role.critic_only_position
        else (),
      )
    )
  return tuple(found)


class _Agent(base.FeedForwardAgent):
  """A linear layer of what each agent knows of itself."""

  extra_outputs = 0

  def __init__(self, roles=_ROLES):
    super().__init__()
    self.roles = roles
    sizes = [distributions.num_outputs(role.action) for role in roles]
    self.policies = [snt.Linear(size + self.extra_outputs) for size in sizes]
    self.values = [snt.Linear(1) for _ in roles]
    for parts in (self.policies, self.values):
      for part, role in zip(parts, roles, strict=True):
        part(tf.zeros([1, role.own_size]))

  def distributions(self, observations):
    return tuple(
      distributions.make(
        role.action, snt.BatchApply(part, seen.own.ndim - 1)(seen.own)
      )
      for role, part, seen in zip(
        self.roles, self.policies, observations, strict=True
      )
    )

  def value(self, observations):
    return tuple(
      snt.BatchApply(part, seen.own.ndim - 1)(seen.of_critic().own)[..., 0]
      for part, seen in zip(self.values, observations, strict=True)
    )


class _TooManyOutputs(_Agent):
  extra_outputs = 2


class _Late(_Agent):
  def __init__(self):
    super().__init__()
    self.values = [snt.Linear(1) for _ in _ROLES]


class _Bug(_Agent):
  def value(self, observations):
    return observations.nothing


class _OneRole(_Agent):
  def distributions(self, observations):
    return super().distributions(observations)[:1]


class _ValueShape(_Agent):
  def value(self, observations):
    return tuple(x[..., None] for x in super().value(observations))


class _ActAlone(_Agent):
  def act(self, observations, memory):
    return self.distributions(observations)


class _Growing(_Agent):
  def act(self, observations, memory):
    return self.distributions(observations), tf.zeros([2])


class _NotFinite(_Agent):
  def __init__(self):
    super().__init__()
    for part in self.policies:
      part.b.assign_add(np.full(part.b.shape, np.nan))


class _Alone(_Agent):
  def __init__(self):
    super().__init__()
    self.policies = self.policies[0]


class _OtherNames(_Agent):
  def __init__(self):
    super().__init__()
    self.pi, self.v = self.policies, self.values
    del self.policies, self.values


class _LossOfRows(_Agent):
  def evaluate(self, sequence):
    return super().evaluate(sequence)._replace(loss=tf.zeros([2]))


class _SharedTrunk(_Agent):
  def distributions(self, observations):
    trunk = self.values[0]
    observations[0].own @ trunk.w
    return super().distributions(observations)


class _Unfinished(distributions.MultiCategorical):
  """Has all that training needs, and not what an export needs."""

  outputs = None


class _NoOutputs(_Agent):
  def distributions(self, observations):
    found = super().distributions(observations)
    flat = tf.zeros([*observations[1].own.shape[:-1], 5])
    return found[0], _Unfinished(flat, (3, 2))


class _Long(distributions.MultiCategorical):
  def draw(self, uniform):
    return tf.cast(super().draw(uniform), tf.int64)


class _LongActions(_Agent):
  def distributions(self, observations):
    one, other = super().distributions(observations)
    return one, _Long(other.logits, (3, 2))


class _LongSegments(_Agent):
  segment_length = 3  # Its config does not say so.


class _OneUnrolledRole(_Agent):
  def unroll_values(self, observe, states, memory, is_first=()):
    values, memory = super().unroll_values(observe, states, memory)
    return values[:1], memory


class _TrunkInBoth(_Agent):
  def __init__(self):
    super().__init__()
    self.values = [*self.values, self.policies[0]]


class _LazyHead(_Agent):
  def __init__(self):
    super().__init__()
    self.values[0].head = snt.Linear(1, name='lazy')

  def value(self, observations):
    first, *others = super().value(observations)
    shape, head = first.shape, self.values[0].head
    return tf.reshape(head(tf.reshape(first, [-1, 1])), shape), *others


class _OneLazyModule(_Agent):
  def __init__(self):
    super().__init__()
    self.values = [*self.values, snt.Linear(1)]


class _NoModule(_Agent):
  def __init__(self):
    super().__init__()
    self.policies = [*self.policies, {'w': tf.Variable(0.0)}]


class _SameValueMemory(_Agent):
  """Returns the first memory of the values, not that before each step."""

  def initial_value_memory(self, num_worlds, num_agents):
    return tuple(tf.zeros([num_worlds, num, 2]) for num in num_agents)


class _ListMemory(_Agent):
  def initial_memory(self, num_worlds, num_agents):
    return [tf.zeros([num_worlds, num]) for num in num_agents]

  def act(self, observations, memory):
    return self.distributions(observations), tuple(memory)


class _NumpyInAct(_Agent):
  def act(self, observations, memory):
    observations[0].own.numpy()
    return super().act(observations, memory)


class _BranchInEvaluate(_Agent):
  def evaluate(self, sequence):
    if tf.reduce_all(sequence.observations[0].own > 0.0):
      return super().evaluate(sequence)
    return None


class _NumpyInUnroll(_Agent):
  def unroll_values(self, observe, states, memory, is_first=()):
    states[0].own.numpy()
    return super().unroll_values(observe, states, memory)


class _PythonInEvaluate(_Agent):
  def evaluate(self, sequence):
    found = super().evaluate(sequence)
    loss = tf.numpy_function(lambda x: x, [found.loss], tf.float32)
    return found._replace(loss=loss)


class _EagerEntropy(distributions.BoundedNormal):
  def entropy(self):
    return tf.constant(super().entropy().numpy())


class _EagerDistribution(_Agent):
  def distributions(self, observations):
    action = _ROLES[0].action
    outputs = tf.zeros([*observations[0].own.shape[:-1], 2])
    one = _EagerEntropy(outputs, action.minimum, action.maximum)
    return one, super().distributions(observations)[1]


class CheckedAgentTest(tf.test.TestCase, parameterized.TestCase):
  def test_a_sound_agent_passes(self):
    checked_agent.check(_Agent, _ROLES, _seen())

  def test_roles_may_share_a_module_that_is_listed_twice(self):
    roles = tuple(_ROLES[0]._replace(name=name) for name in ('one', 'other'))

    def make():
      agent = _Agent(roles)
      agent.policies = [agent.policies[0]] * 2
      return agent

    checked_agent.check(make, roles, _seen(roles))

  @parameterized.parameters(*catalog.AGENTS.names())
  def test_those_of_the_library_pass(self, agent):
    cfg = catalog.AGENTS.get(agent).config()
    entities = {'agents': 2, 'things': 3}
    roles = (
      types.Role('agent', 3, types.discrete(5), 4, entities, ('things',)),
    )
    checked_agent.check(
      lambda: agents.make(config.Config(agent=cfg), roles),
      roles,
      _seen(roles),
      cfg.segment_length,
    )

  @parameterized.parameters(
    (_TooManyOutputs, '^act failed: InvalidArgumentError: '),
    (_Late, 'values have no variables to train; all of them have to be there'),
    (_Bug, "evaluate failed: AttributeError: 'tuple' object has no"),
    (_OneRole, 'act, distributions: expected a tuple of 2.* of 1'),
    (
      _ValueShape,
      r'evaluate, values of walker: expected shape \[2, 2\], given \[2, 2, 1\]',
    ),
    (_ActAlone, 'act, distributions: expected a tuple of 2.* BoundedNormal$'),
    (_NotFinite, 'walker: expected finite numbers, given NaN'),
    (
      _OtherNames,
      '^self.policies is missing; set it to a list of modules when the agent',
    ),
    (_Alone, 'policies: expected a list of modules, given Linear'),
    (_Growing, 'act: the memory after a step differs from initial_memory'),
    (_LossOfRows, r'evaluate, loss: expected shape \[\], given \[2\]'),
    (_SharedTrunk, 'act uses the variable .*, which is not exported with the'),
    (
      _NoOutputs,
      "act, actions of talker: outputs failed: TypeError: 'NoneType' object",
    ),
    (
      _LongSegments,
      'segment_length: expected 1 as in its config, given 3; mak',
    ),
    (_OneUnrolledRole, 'unroll_values, values: expected a tuple of 2.* of 1'),
    (
      _TrunkInBoth,
      'the variable .* is in self.policies and in self.values, so',
    ),
    (_LazyHead, 'the variable lazy/.* was made by a later call and would nev'),
    (_OneLazyModule, 'modules of values have no variables to train; all of'),
    (_NoModule, r'^policies\[2\]: expected a Sonnet module or .*Dict'),
    (
      _SameValueMemory,
      'unroll_values, memory: expected the memory before each step, like',
    ),
    (_LongActions, 'talker: draw returns int64 and mode int32; return the sam'),
    (_ListMemory, 'act: the memory after a step differs from .* structure'),
    (_NumpyInAct, 'act in a graph failed: AttributeError: .*numpy.*, line '),
    (_BranchInEvaluate, 'evaluate in a graph failed: OperatorNotAllowedInGra'),
    (_PythonInEvaluate, "evaluate in a graph .*: XLA can't compile PyFunc"),
    (_NumpyInUnroll, 'unroll_values in a graph failed: AttributeError: .*num'),
    (_EagerDistribution, 'act in a graph failed: AttributeError: .*numpy'),
    (dict, 'make: expected a base.Agent, given dict'),
    (lambda: 1 / 0, 'make failed: ZeroDivisionError'),
    (lambda: sys.exit(3), '^make failed: SystemExit: 3$'),
  )
  def test_each_fault_is_told_in_a_line(self, make, message):
    with self.assertRaisesRegex(ValueError, message) as caught:
      checked_agent.check(make, _ROLES, _seen())
    self.assertNotIn('\n', str(caught.exception))

  def test_actions_that_there_are_not(self):
    class Wide(_Agent):
      extra_outputs = 3

    roles = (types.Role('agent', 2, types.discrete(5), 3, {}),)
    with self.assertRaisesRegex(
      ValueError, 'act, actions of agent: expected 0 to 4, given 7; distr'
    ):
      checked_agent.check(lambda: Wide(roles), roles, _seen(roles))

  def test_foreign_agents_are_looked_at_before_they_train(self):
    self.enter_context(mock.patch.dict(catalog.AGENTS._entries))

    class Config(config.AgentConfig):
      name: str = 'mine'

    spec = catalog.AgentSpec(make=lambda *_: _Bug(), config=Config)
    with mock.patch.object(catalog.AgentSpec, 'name', 'mine'):
      catalog.AGENTS.add(spec)
    cfg = config.Config(agent=config.AgentConfig(name='mine'))
    with self.assertRaisesRegex(ValueError, '^agent=mine: evaluate failed: '):
      agents.check(cfg, _ROLES, _seen)
    agents.check(cfg, _ROLES)  # Without observations there is nothing to see.


if __name__ == '__main__':
  tf.test.main()
