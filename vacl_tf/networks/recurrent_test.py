# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Networks with a memory against their definition, in plain numpy.

Whatever is compared has weights of order one: as they are initialised, logits
are all but 0 and every comparison would pass.
"""

import functools
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import recurrent

_SIZES = (4, 3, 2)  # Of the action's heads.
_SIZE = 8  # Hidden units; two for each head of the attention.
_CLOSE = 1e-3  # Of the largest output; float32 against float64.
_BATCH, _STEPS, _AGENTS = 2, 4, 3
_SLOTS = {'agents': 2, 'boxes': 4}


def _role(num_agents=_AGENTS) -> types.Role:
  entities = {'agents': 3, 'boxes': 6}
  return types.Role(
    'agent', num_agents, types.multi_discrete(_SIZES), 5, entities
  )


class _Networks(NamedTuple):
  """The networks of a role."""

  policy: recurrent.Policy
  value: recurrent.Value

  @property
  def variables(self):
    return [*self.policy.variables, *self.value.variables]


class _Past(NamedTuple):
  """What is observed in consecutive steps, and the memories before them."""

  seen: types.Observation  # Leaves [L, B, n, ...].
  policy_memory: tf.Tensor  # [B, n, H]
  value_memory: tf.Tensor  # [B, n, H]


def _make(role, cfg, seed=0):
  rng = np.random.default_rng(seed)
  policy = recurrent.Policy(rng, role, cfg, predicts_way=False)
  return _Networks(policy, recurrent.Value(rng, role, cfg))


@functools.cache  # No test changes them.
def _networks(activation='tanh') -> _Networks:
  """Returns networks whose variables are all of order one."""
  cfg = config.RecurrentConfig(hidden_size=_SIZE, activation=activation)
  made = _make(_role(), cfg)
  rng = np.random.default_rng(1)
  for variable in made.variables:
    noise = rng.normal(size=variable.shape)
    if variable.shape.rank == 2:
      # So the attention's scores differ by about 1, and no gate is saturated.
      variable.assign(noise * (2.0 / variable.shape[0]) ** 0.5)
    else:
      variable.assign(0.4 * noise + float('scale' in variable.name))
  return made


def _past(num_agents=_AGENTS, slots=None, seed=2) -> _Past:
  """Returns random numbers of order one."""
  rng = np.random.default_rng(seed)

  def draw(*shape):
    return tf.constant(rng.normal(size=shape), tf.float32)

  leading = [_STEPS, _BATCH, num_agents]
  seen = types.Observation(
    own=draw(*leading, 5),
    critic_own=draw(*leading, 5),
    entities={
      kind: draw(*leading, num, _role().entity_sizes[kind])
      for kind, num in (slots or _SLOTS).items()
    },
  )
  memories = [draw(_BATCH, num_agents, _SIZE) for _ in range(2)]
  return _Past(seen, *memories)


def _numbers(variable) -> np.ndarray:
  return variable.numpy().astype(np.float64)


def _line(layer, x):
  return x @ _numbers(layer.w) + _numbers(layer.b)


def _norm(affine, x):
  mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
  x = (x - mean) / np.sqrt(variance + 1e-5)
  return x * _numbers(affine.scale) + _numbers(affine.offset)


def _attend(attention, tokens):
  """Returns what each of the tokens [S, H] adds to itself, head by head."""
  tokens = _norm(attention.affine, tokens)
  query, key, value = (
    _line(layer, tokens)
    for layer in (attention.query, attention.key, attention.value)
  )
  found = np.zeros_like(query)
  for head in np.split(np.arange(_SIZE), 4):
    # With 64 units a head has 16, and this is a fourth.
    scores = query[:, head] @ key[:, head].T / np.sqrt(len(head))
    weights = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    found[:, head] = weights @ value[:, head]
  return _line(attention.out, found)


def _gate(x):
  return 1.0 / (1.0 + np.exp(-x))


def _remember(memory, x, state):
  """Returns the state after x, the reset gate coming after the product."""
  w, b, u, c = (
    np.split(_numbers(v), 3, -1)
    for v in (memory.w, memory.b, memory.u, memory.c)
  )
  reset = _gate(x @ w[0] + b[0] + state @ u[0] + c[0])
  keep = _gate(x @ w[1] + b[1] + state @ u[1] + c[1])
  new = np.tanh(x @ w[2] + b[2] + reset * (state @ u[2] + c[2]))
  return (1.0 - keep) * new + keep * state


def _look(core, own, entities, activation):
  """Returns what one agent makes of what it sees now, before its memory."""
  tokens = [activation(_line(core.own, own[None]))]
  for kind, seen in entities.items():
    both = np.concatenate([seen, np.tile(own, [len(seen), 1])], 1)
    tokens.append(activation(_line(core.entity[kind], both)))
  tokens = np.concatenate(tokens)
  tokens = tokens + _attend(core.attention, tokens)
  mean = np.mean(_norm(core.affine, tokens), 0)
  x = activation(_line(core.first, np.concatenate([mean, own])))
  return activation(_line(core.second, x))


def _literal(network, past, activation=np.tanh):
  """Returns logits [L, B, n, A], values [L, B, n] and memories of both."""
  policy, value = network
  seen = tf.nest.map_structure(_numbers, past.seen)
  found = []
  for core, head, looks, memory in (
    (policy.core, policy.logits, seen.own, past.policy_memory),
    (value.core, value.value, seen.critic_own, past.value_memory),
  ):
    states = np.zeros([*looks.shape[:3], _SIZE])
    for b, i in np.ndindex(*looks.shape[1:3]):
      state = _numbers(memory)[b, i]
      for t in range(_STEPS):
        things = {kind: x[t, b, i] for kind, x in seen.entities.items()}
        x = _look(core, looks[t, b, i], things, activation)
        state = _remember(core.memory, x, state)
        states[t, b, i] = state
    found.append((_line(head, states), states))
  (logits, states), (values, value_states) = found
  return logits, values[..., 0], states, value_states


def _outputs(network, past):
  """Returns logits [L, B, n, A] and values [L, B, n]."""
  hidden, _ = network.policy(past.seen, past.policy_memory)
  value, _ = network.value(past.seen, past.value_memory)
  return network.policy.outputs(hidden).numpy(), value.numpy()


def _replaced(past, **seen) -> _Past:
  return past._replace(seen=past.seen._replace(**seen))


class _Case(parameterized.TestCase, tf.test.TestCase):
  def assertNear(self, one, other):
    for x, y in zip(one, other, strict=True):
      self.assertEqual(x.shape, y.shape)
      self.assertGreater(np.std(y), 0.1)  # Else nothing is compared.
      self.assertLess(np.max(np.abs(x - y)), _CLOSE * np.max(np.abs(y)))

  def assertFar(self, one, other):
    for x, y in zip(one, other, strict=True):
      self.assertGreater(np.max(np.abs(x - y)), 0.02 * np.max(np.abs(y)))


class OracleTest(_Case):
  @parameterized.parameters(('tanh', np.tanh), ('relu', lambda x: x * (x > 0)))
  def test_equals_the_literal_network(self, name, activation):
    network, past = _networks(name), _past()
    logits, values, _, _ = _literal(network, past, activation)
    self.assertNear(_outputs(network, past), (logits, values))

  def test_memories_are_those_of_the_literal_network(self):
    network, past = _networks(), _past()
    _, _, states, value_states = _literal(network, past)
    found = (
      network.policy(past.seen, past.policy_memory)[0],
      network.value(past.seen, past.value_memory)[1],
    )
    self.assertNear([x.numpy() for x in found], [states, value_states])

  def test_sizes_are_those_done_by_hand(self):
    # Lock-and-Return: about 57k in the policy, 55k in the value.
    action = types.multi_discrete((11, 11, 11, 2, 2))
    role = types.Role('agent', 2, action, 11, {'agents': 8, 'boxes': 15})
    made = _make(role, config.RecurrentConfig(activation='tanh'))
    tokens = 3 * 64 + (11 + 19 + 26) * 64
    attention = 4 * (64 + 1) * 64 + 2 * 64
    layers = 2 * 64 + (75 + 1 + 64 + 1) * 64
    memory = 2 * 3 * (64 + 1) * 64
    core = tokens + attention + layers + memory
    for network, head in zip(made, (37, 1), strict=True):
      found = sum(x.shape.num_elements() for x in network.variables)
      self.assertEqual(found, core + (64 + 1) * head)

  def test_seed_decides_and_first_policy_is_all_but_uniform(self):
    cfg = config.RecurrentConfig(hidden_size=_SIZE)
    one, again, other = (_make(_role(), cfg, seed) for seed in (0, 0, 1))
    first = _outputs(one, _past())
    self.assertAllEqual(first[0], _outputs(again, _past())[0])
    self.assertNotAllClose(first[1], _outputs(other, _past())[1])
    self.assertLess(np.max(np.abs(first[0])), 0.1)
    self.assertGreater(np.std(first[1]), 0.1)


class TokensTest(_Case):
  @parameterized.parameters('agents', 'boxes')
  def test_entities_of_a_kind_are_alike(self, kind):
    network, past = _networks(), _past()
    expected = _outputs(network, past)
    entities = past.seen.entities
    shuffled = entities | {kind: tf.reverse(entities[kind], [3])}
    self.assertNear(
      _outputs(network, _replaced(past, entities=shuffled)), expected
    )
    # A swap of features instead of entities is another sight.
    other = entities | {kind: tf.reverse(entities[kind], [4])}
    self.assertFar(_outputs(network, _replaced(past, entities=other)), expected)

  @parameterized.parameters((1, 0, 1), (2, 1, 5), (4, 3, 2))
  def test_same_weights_serve_any_numbers(self, num_agents, others, boxes):
    network = _networks()
    past = _past(num_agents, {'agents': others, 'boxes': boxes})
    logits, values, _, _ = _literal(network, past)
    self.assertNear(_outputs(network, past), (logits, values))


class StepsTest(_Case):
  def test_steps_at_once_equal_single_ones(self):
    network, past = _networks(), _past()
    memories, logits, values = list(past[1:]), [], []
    for t in range(_STEPS):
      now = tf.nest.map_structure(lambda x, t=t: x[t : t + 1], past.seen)
      hidden, _ = network.policy(now, memories[0])
      value, after = network.value(now, memories[1])
      memories = [hidden[0], after[0]]
      logits.append(network.policy.outputs(hidden[0]))
      values.append(value[0])
    whole = _outputs(network, past)
    self.assertAllClose(whole[0], tf.stack(logits), 1e-5, 1e-5)
    self.assertAllClose(whole[1], tf.stack(values), 1e-5, 1e-5)
    # The memories are of use: without them these are other numbers.
    forgetful = _Past(past.seen, *(tf.zeros_like(x) for x in past[1:]))
    self.assertFar(_outputs(network, forgetful), whole)

  def test_later_steps_do_not_matter_and_earlier_ones_do(self):
    network, past = _networks(), _past()
    expected = _outputs(network, past)
    at = tf.reshape(tf.one_hot(2, _STEPS), [_STEPS, 1, 1, 1])
    changed = _replaced(
      past, own=past.seen.own + at, critic_own=past.seen.critic_own + at
    )
    for x, y in zip(_outputs(network, changed), expected, strict=True):
      self.assertAllClose(x[:2], y[:2], 1e-5, 1e-5)
      self.assertFar([x[2], x[3]], [y[2], y[3]])


class IsolationTest(_Case):
  def test_each_network_has_an_own_of_its_own(self):
    network, past = _networks(), _past()
    logits, values = _outputs(network, past)
    seen = past.seen
    found = _outputs(network, _replaced(past, critic_own=2.0 - seen.own))
    self.assertAllEqual(found[0], logits)
    self.assertFar([found[1]], [values])
    found = _outputs(network, _replaced(past, own=2.0 - seen.own))
    self.assertFar([found[0]], [logits])
    self.assertAllEqual(found[1], values)

  def test_each_network_has_a_memory_of_its_own(self):
    network, past = _networks(), _past()
    logits, values = _outputs(network, past)
    found = _outputs(network, past._replace(value_memory=-past.value_memory))
    self.assertAllEqual(found[0], logits)
    self.assertFar([found[1]], [values])
    found = _outputs(network, past._replace(policy_memory=-past.policy_memory))
    self.assertFar([found[0]], [logits])
    self.assertAllEqual(found[1], values)

  def test_agents_and_worlds_do_not_mix(self):
    network, past = _networks(), _past()
    expected = _outputs(network, past)
    world, agent = 1, 2
    others = _past(seed=9)

    def put(x, y, steps):
      index = np.s_[:, world, agent] if steps else np.s_[world, agent]
      x = x.numpy()
      x[index] = y.numpy()[index]
      return tf.constant(x)

    changed = _Past(
      tf.nest.map_structure(
        lambda x, y: put(x, y, True), past.seen, others.seen
      ),
      put(past.policy_memory, others.policy_memory, False),
      put(past.value_memory, others.value_memory, False),
    )
    for x, y in zip(_outputs(network, changed), expected, strict=True):
      self.assertFar([x[:, world, agent]], [y[:, world, agent]])
      x[:, world, agent] = y[:, world, agent]
      self.assertAllClose(x, y, 1e-5, 1e-5)

  def test_agents_are_alike(self):
    network, past = _networks(), _past()
    logits, values = _outputs(network, past)
    order = [2, 0, 1]
    seen = tf.nest.map_structure(
      lambda x: tf.gather(x, order, axis=2), past.seen
    )
    memories = [tf.gather(x, order, axis=1) for x in past[1:]]
    found = _outputs(network, _Past(seen, *memories))
    self.assertNear(found, (logits[:, :, order], values[:, :, order]))
    self.assertFar(found, (logits, values))

  def test_every_variable_has_a_gradient(self):
    network, past = _networks(), _past()
    with tf.GradientTape() as tape:
      hidden, _ = network.policy(past.seen, past.policy_memory)
      value, _ = network.value(past.seen, past.value_memory)
      outputs = network.policy.outputs(hidden)
      loss = tf.reduce_sum(outputs**2) + tf.reduce_sum(value**2)
    keys = [x.core.attention.key.b for x in network]
    named = dict(enumerate(network.variables))
    for index, gradient in tape.gradient(loss, named).items():
      # With the key's bias all scores of a query grow alike: nothing changes.
      if not any(named[index] is key for key in keys):
        size = float(tf.reduce_max(tf.abs(gradient)))
        self.assertGreater(size, 1e-3, named[index].name)


if __name__ == '__main__':
  tf.test.main()
