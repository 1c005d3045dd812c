# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What every agent owes to roll-outs and to the learner."""

import dataclasses
import functools
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from absl.testing import parameterized
from dm_env import specs

from vacl_tf import agents
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.agents import base

_STEPS, _WORLDS, _HIDDEN = 4, 3, 8
_SLOTS = 3
_compiled = functools.partial(tf.function, jit_compile=True, autograph=False)


class _Mirror:
  """A made-up transform: whoever stands on the left sees everything mirrored.

  What it sees has one more feature, so that sizes matter, and its actions
  come in the opposite order.
  """

  def role(self, role):
    return role._replace(own_size=role.own_size + 1)

  def __call__(self, observation):
    is_left = observation.own[..., :1] < 0.0
    sign = tf.where(is_left, -1.0, 1.0)
    own = tf.concat([sign * observation.own, sign], -1)
    entities = {
      kind: sign[..., None] * x for kind, x in observation.entities.items()
    }
    observation = observation._replace(own=own, entities=entities)
    return observation, lambda x: tf.where(is_left, tf.reverse(x, [-1]), x)


_ROLES = {
  'entities': (
    types.Role(
      'agent', 3, types.discrete(5), 4, {'agents': 2, 'things': 3}, ('things',)
    ),
  ),
  'two_roles': (
    types.Role('speaker', 1, types.discrete(3), 3, {}),
    types.Role('listener', 2, types.multi_discrete((3, 2)), 5, {'things': 2}),
  ),
  'continuous': (
    types.Role(
      'agent',
      2,
      specs.BoundedArray((2,), 'float32', [-1.0, 0.0], 2.0),
      4,
      {'things': 3},
    ),
  ),
  'critic': (
    types.Role(
      'agent',
      2,
      types.multi_discrete((4, 2)),
      5,
      {'things': 3},
      critic_only_position=(3, 4),
    ),
  ),
  'egocentric': (
    types.Role(
      'agent', 3, types.discrete(4), 4, {'things': 2}, egocentric=_Mirror()
    ),
  ),
}
_CASES = [
  (agent, roles) for agent in catalog.AGENTS.names() for roles in _ROLES
]


def _fields(cls):
  return {field.name for field in dataclasses.fields(cls)}


@functools.cache  # What follows from the names alone is made once.
def _agent(name, roles) -> base.Agent:
  """Returns an agent whose variables are all of order one."""
  cls = catalog.AGENTS.get(name).config
  values = {'num_hops': 2, 'num_relations': 1, 'segment_length': 2}
  values = {key: x for key, x in values.items() if key in _fields(cls)}
  frame = 'egocentric' if _ROLES[roles][0].egocentric else 'world'
  cfg = cls(
    hidden_size=_HIDDEN, activation='tanh', observation_frame=frame, **values
  )
  made = agents.make(config.Config(agent=cfg, seed=0), _ROLES[roles])
  rng = np.random.default_rng(1)
  for variable in made.variables:
    noise = rng.normal(size=variable.shape)
    if variable.shape.rank == 2:
      variable.assign(noise * (2.0 / variable.shape[0]) ** 0.5)
    else:
      variable.assign(0.4 * noise + float('scale' in variable.name))
  return made


def _observations(roles, *leading, seed=2) -> types.Observations:
  """Returns random observations [*leading, n, ...] of order one."""
  rng = np.random.default_rng(seed)

  def draw(*shape):
    return tf.constant(rng.normal(size=[*leading, *shape]), tf.float32)

  found = []
  for role in _ROLES[roles]:
    n = role.num_agents
    masks = {
      kind: draw(n, _SLOTS) + 2.0 * tf.one_hot(0, _SLOTS) > 0.0
      for kind in role.mask_kinds
    }
    found.append(
      types.Observation(
        own=draw(n, role.own_size),
        entities={
          kind: draw(n, _SLOTS, size)
          for kind, size in role.entity_sizes.items()
        },
        masks=masks,
        critic_own=draw(n, role.own_size) if role.critic_only_position else (),
      )
    )
  return tuple(found)


def _num_agents(roles):
  return [role.num_agents for role in _ROLES[roles]]


class _Played(NamedTuple):
  """An episode; leaves [T, B, ...], observations one more."""

  observations: types.Observations
  memory: types.Memory
  action: types.Actions
  log_prob: tuple[tf.Tensor, ...]


@functools.cache
def _play(agent, roles) -> _Played:
  """Returns an episode of random observations."""
  observations = _observations(roles, _STEPS + 1, _WORLDS)
  memory = agent.initial_memory(_WORLDS, _num_agents(roles))
  rows = []
  for t in range(_STEPS):
    now = tf.nest.map_structure(lambda x, t=t: x[t], observations)
    found, after = agent.act(now, memory)
    actions = tuple(
      x.draw(
        randomness.uniform(
          randomness.root(t, index),
          [_WORLDS, role.num_agents, *role.action.shape],
        )
      )
      for index, (x, role) in enumerate(zip(found, _ROLES[roles], strict=True))
    )
    pairs = zip(found, actions, strict=True)
    rows.append((memory, actions, tuple(x.log_prob(a) for x, a in pairs)))
    memory = after
  stacked = tf.nest.map_structure(lambda *x: tf.stack(x), *rows)
  return _Played(observations, *stacked)


def _segments(tree, length):
  """Returns leaves [T / L * B, L, ...] of [T or more, B, ...]."""

  def cut(x):
    x = tf.transpose(x, [1, 0, *range(2, x.shape.rank)])
    parts = [x[:, t : t + length] for t in range(0, _STEPS, length)]
    return tf.concat(parts, 0)

  return tf.nest.map_structure(cut, tree)


def _firsts(tree, length):
  """Returns leaves [T / L * B, ...]: those before each segment."""
  return tf.nest.map_structure(
    lambda x: tf.concat([x[t] for t in range(0, _STEPS, length)], 0), tree
  )


def _unroll(agent, roles, observations):
  start = agent.initial_value_memory(_WORLDS, _num_agents(roles))
  return agent.unroll_values(lambda state: state, observations, start)


def _evaluate(agent, roles, played) -> base.Evaluation:
  value_memory = agent.initial_value_memory(_WORLDS, _num_agents(roles))
  if tf.nest.flatten(value_memory):  # Else there is nothing to find out.
    _, value_memory = _unroll(agent, roles, played.observations)
  length = agent.segment_length
  return agent.evaluate(
    types.Sequence(
      _segments(played.observations, length),
      _firsts(played.memory, length),
      _firsts(value_memory, length),
    )
  )


@functools.cache
def _unroll_played(agent, roles):
  return _unroll(agent, roles, _play(agent, roles).observations)


@functools.cache
def _evaluate_played(agent, roles) -> base.Evaluation:
  return _evaluate(agent, roles, _play(agent, roles))


def _flat(tree, length):
  return base.merged(_segments(tree, length))


class ConformanceTest(parameterized.TestCase, tf.test.TestCase):
  def assertNear(self, one, other):
    tf.nest.assert_same_structure(one, other)
    for x, y in zip(tf.nest.flatten(one), tf.nest.flatten(other), strict=True):
      self.assertEqual(x.shape, y.shape)
      self.assertGreater(np.std(y), 0.02)  # Else nothing is compared.
      self.assertAllClose(x, y, 1e-3, 1e-4)

  @parameterized.parameters(*_CASES)
  def test_a_segment_has_the_distributions_of_its_steps(self, name, roles):
    agent = _agent(name, roles)
    played = _play(agent, roles)
    found = _evaluate_played(agent, roles)
    length = agent.segment_length
    actions = _flat(played.action, length)
    pairs = zip(found.distributions, actions, strict=True)
    log_prob = tuple(x.log_prob(action) for x, action in pairs)
    self.assertNear(log_prob, _flat(played.log_prob, length))

  @parameterized.parameters(*_CASES)
  def test_a_segment_has_the_values_of_the_episode(self, name, roles):
    agent = _agent(name, roles)
    values, _ = _unroll_played(agent, roles)
    for role, value in zip(_ROLES[roles], values, strict=True):
      self.assertEqual(value.shape, (_STEPS + 1, _WORLDS, role.num_agents))
    found = _evaluate_played(agent, roles)
    self.assertNear(found.values, _flat(values, agent.segment_length))
    self.assertEqual(found.loss.shape, ())
    self.assertAllEqual(found.loss, 0.0)  # No constants ask for any.

  @parameterized.parameters(*_CASES)
  def test_values_of_an_episode_in_two_parts_are_the_same(self, name, roles):
    agent = _agent(name, roles)
    whole, memory = _unroll_played(agent, roles)
    observations = _play(agent, roles).observations
    rest = tf.nest.map_structure(lambda x: x[2:], observations)
    start = tf.nest.map_structure(lambda x: x[2], memory)
    found, _ = agent.unroll_values(lambda state: state, rest, start)
    self.assertNear(found, tf.nest.map_structure(lambda x: x[2:], whole))

  @parameterized.parameters(*_CASES)
  def test_agents_of_a_role_are_alike(self, name, roles):
    agent = _agent(name, roles)
    played = _play(agent, roles)

    def turned(tree, axis):
      return tf.nest.map_structure(lambda x: tf.reverse(x, [axis]), tree)

    # Agents come after the steps, or segments, of what there is one of each.
    other = _Played(*(turned(tree, 2) for tree in played))
    pairs = zip(
      _evaluate(agent, roles, other).distributions, other.action, strict=True
    )
    length = agent.segment_length
    log_prob = tuple(x.log_prob(_flat(action, length)) for x, action in pairs)
    self.assertNear(log_prob, _flat(other.log_prob, length))
    values, _ = _unroll_played(agent, roles)
    found, _ = _unroll(agent, roles, other.observations)
    self.assertNear(found, turned(values, 2))

  @parameterized.parameters(*catalog.AGENTS.names())
  def test_empty_slots_change_nothing(self, name):
    agent = _agent(name, 'entities')
    played = _play(agent, 'entities')
    [seen] = played.observations
    things, mask = seen.entities['things'], seen.masks['things']
    self.assertBetween(np.mean(mask), 0.3, 0.9)
    wider = seen._replace(
      entities=seen.entities
      | {'things': tf.concat([things, 7.0 + things], -2)},
      masks={'things': tf.concat([mask, tf.zeros_like(mask)], -1)},
    )
    other = seen._replace(
      entities=seen.entities
      | {'things': tf.where(mask[..., None], things, 7.0 - things)}
    )
    length = agent.segment_length
    [action] = _flat(played.action, length)
    expected = _evaluate_played(agent, 'entities')
    for observation in (wider, other):
      changed = played._replace(observations=(observation,))
      found = _evaluate(agent, 'entities', changed)
      self.assertNear(found.values, expected.values)
      self.assertNear(
        found.distributions[0].log_prob(action),
        expected.distributions[0].log_prob(action),
      )

  @parameterized.parameters(*_CASES)
  def test_policies_and_values_share_no_variable(self, name, roles):
    agent = _agent(name, roles)
    parts = [*agent.policies, *agent.values]
    self.assertLen(parts, 2 * len(_ROLES[roles]))
    owned = [x for part in parts for x in part.variables]
    self.assertLen({id(x) for x in owned}, len(owned))
    self.assertLen(agent.trainable_variables, len(owned))
    played = _play(agent, roles)
    with tf.GradientTape(persistent=True) as tape:
      found = _evaluate(agent, roles, played)
      actions = _flat(played.action, agent.segment_length)
      pairs = zip(found.distributions, actions, strict=True)
      losses = [
        tf.reduce_sum(x.log_prob(a)) + tf.reduce_sum(x.entropy())
        for x, a in pairs
      ]
      losses += [tf.reduce_sum(tf.sin(x)) for x in found.values]
    for loss, part in zip(losses, parts, strict=True):
      gradients = tape.gradient(loss, part.variables)
      self.assertNotIn(None, gradients)
      self.assertGreater(float(tf.linalg.global_norm(gradients)), 0.1)
      others = [
        x for other in parts if other is not part for x in other.variables
      ]
      self.assertEqual({*tape.gradient(loss, others)}, {None})

  @parameterized.parameters(*_CASES)
  def test_compiled_equals_eager(self, name, roles):
    agent = _agent(name, roles)
    played = _play(agent, roles)
    actions = _flat(played.action, agent.segment_length)

    def outputs(found):
      pairs = zip(found.distributions, actions, strict=True)
      return [x.log_prob(action) for x, action in pairs], found.values

    compiled = _compiled(lambda: outputs(_evaluate(agent, roles, played)))
    self.assertNear(compiled(), outputs(_evaluate_played(agent, roles)))

  @parameterized.parameters(*_CASES)
  def test_worlds_may_be_any_number_in_one_graph(self, name, roles):
    agent = _agent(name, roles)

    def act(observations, memory):
      found, memory = agent.act(observations, memory)
      return tuple(x.mode() for x in found), memory

    def free(tree):
      return tf.nest.map_structure(
        lambda x: tf.TensorSpec([None, None, *x.shape[2:]], x.dtype), tree
      )

    def inputs(num_worlds, seed):
      memory = agent.initial_memory(num_worlds, _num_agents(roles))
      memory = tf.nest.map_structure(lambda x: x + 0.3, memory)
      return _observations(roles, num_worlds, seed=seed), memory

    traced = tf.function(act, autograph=False)
    traced = traced.get_concrete_function(*free(inputs(2, 0)))
    for num_worlds in (1, 5):
      given = inputs(num_worlds, num_worlds)
      flat = tf.nest.flatten(given)
      found = tf.nest.flatten(traced(*flat))
      for x, y in zip(found, tf.nest.flatten(act(*given)), strict=True):
        self.assertAllClose(x, y, 1e-4, 1e-4)

  @parameterized.parameters(*catalog.AGENTS.names())
  def test_the_seed_decides(self, name):
    def variables(seed):
      cfg = catalog.AGENTS.get(name).config(hidden_size=_HIDDEN)
      made = agents.make(config.Config(agent=cfg, seed=seed), _ROLES['critic'])
      return [x.numpy() for x in made.variables]

    for one, again in zip(variables(3), variables(3), strict=True):
      self.assertAllEqual(one, again)
    pairs = zip(variables(3), variables(4), strict=True)
    differ = [not np.array_equal(*pair) for pair in pairs if pair[0].ndim == 2]
    self.assertTrue(all(differ))


if __name__ == '__main__':
  tf.test.main()
