# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Networks against their definition (paper, Figure 11), in plain numpy.

All weights, scales and offsets are of order 1: as they are initialised,
logits are all but 0 and every comparison would pass.
"""

import itertools
from typing import NamedTuple

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import policy_value

_ACTIVATIONS = {'relu': lambda x: np.maximum(x, 0.0), 'tanh': np.tanh}
_CLOSE = 1e-3  # Of the largest output; float32 against float64.


def _role(num_agents) -> types.Role:
  sizes = {'agents': 2, 'landmarks': 3}
  return types.Role('agent', num_agents, types.discrete(5), 4, sizes)


class _Networks(NamedTuple):
  """The networks of a role."""

  policy: policy_value.Policy
  value: policy_value.Value

  @property
  def variables(self):
    return [*self.policy.variables, *self.value.variables]


def _make(num_agents, cfg, seed=0):
  rng, role = np.random.default_rng(seed), _role(num_agents)
  return _Networks(
    policy_value.Policy(rng, role, cfg),
    policy_value.Value(rng, (role,), 0, cfg),
  )


def _networks(num_agents=3, activation='relu', num_hops=1, num_relations=0):
  """Networks whose variables are all of order 1."""
  cfg = config.AttentionConfig(
    hidden_size=16,
    activation=activation,
    num_hops=num_hops,
    num_relations=num_relations,
  )
  made = _make(num_agents, cfg)
  rng = np.random.default_rng(3)
  for variable in made.variables:
    noise = rng.normal(size=variable.shape)
    if variable.shape.rank == 2:
      variable.assign(noise * (3.0 / variable.shape[0]) ** 0.5)
    else:
      variable.assign(0.4 * noise + float('scale' in variable.name))
  return made


def _observation(num_agents, masks=None, seed=2) -> types.Observation:
  rng = np.random.default_rng(seed)

  def draw(*shape):
    return tf.constant(rng.normal(size=[2, num_agents, *shape]), tf.float32)

  entities = {'agents': draw(num_agents - 1, 2)}
  entities['landmarks'] = draw(num_agents, 3)
  return types.Observation(draw(4), entities, masks or {})


def _line(layer, x):
  return x @ layer.w.numpy().astype(np.float64) + layer.b.numpy()


def _norm(x):
  return (x - np.mean(x)) / np.sqrt(np.var(x) + 1e-5)


def _scale(affine, x):
  return x * affine.scale.numpy() + affine.offset.numpy()


def _block(block, x, activation):
  """Linear, activation, layer normalisation with its scale and offset."""
  y = _ACTIVATIONS[activation](_line(block.linear, x))
  return _scale(block.affine, _norm(y))


def _attend(query, weights, keys):
  scores = np.array([query @ weights.numpy() @ key for key in keys])
  scores = np.exp(scores - np.max(scores))
  scores /= np.sum(scores)
  return sum(s * key for s, key in zip(scores, keys, strict=True))


def _relate(relation, mine, entities, activation):
  """Returns scaled entities; those given are normalised, with an affine."""
  scaled = {
    kind: [_scale(affine, x) for x in seen]
    for kind, (seen, affine) in entities.items()
  }
  tokens = np.array([mine, *itertools.chain(*scaled.values())])
  keys, values = _line(relation.key, tokens), _line(relation.value, tokens)
  num_heads = config.NUM_HEADS
  related = {}
  for kind, (seen, _) in entities.items():
    found = []
    for x, token in zip(seen, scaled[kind], strict=True):
      heads = [
        _attend_to(q, k, v)
        for q, k, v in zip(
          np.split(_line(relation.query, token), num_heads),
          np.split(keys, num_heads, 1),
          np.split(values, num_heads, 1),
          strict=True,
        )
      ]
      looked = _line(relation.out, np.concatenate(heads))
      found.append(_norm(x + _ACTIVATIONS[activation](looked)))
    related[kind] = found, relation.affine
  return related


def _attend_to(query, keys, values):
  scores = np.exp(keys @ query / np.sqrt(len(query)))
  return scores @ values / np.sum(scores)


def _encode(encoder, own, entities, activation):
  """Returns the code of what one agent observes."""
  e = _block(encoder.own, own, activation)
  query, mine = e, _block(encoder.self_block, e, activation)
  found = {}
  for kind, seen in entities.items():
    block = encoder.entity[kind]
    lines = [_ACTIVATIONS[activation](_line(block.linear, x)) for x in seen]
    found[kind] = [_norm(x) for x in lines], block.affine
  for relation in encoder.relations:
    found = _relate(relation, mine, found, activation)
  for hop in encoder.hops:
    parts = [mine]
    for kind, (seen, affine) in found.items():
      keys = [_scale(affine, x) for x in seen]
      parts.append(_attend(query, hop.attention[kind].w, keys))
    mixed = _block(hop.mix, np.concatenate(parts), activation)
    query = mine = _block(hop.out, mixed, activation)
  return mine


def _literal(networks, observation, activation):
  """Returns logits [B, n, A] and values [B, n]."""
  policy, value = networks
  logits, values = [], []
  for b, team in enumerate(observation.own.numpy().astype(np.float64)):
    seen = [
      {kind: x.numpy()[b, i] for kind, x in observation.entities.items()}
      for i in range(len(team))
    ]
    agents = list(zip(team, seen, strict=True))
    codes = [_encode(policy.encoder, *agent, activation) for agent in agents]
    logits.append([_line(policy.logits, code) for code in codes])
    codes = [_encode(value.encoder, *agent, activation) for agent in agents]
    mixed = [_attend(code, value.attention.w, codes) for code in codes]
    heads = [_block(value.head, x, activation) for x in mixed]
    values.append([_line(value.value, head)[0] for head in heads])
  return np.array(logits), np.array(values)


def _outputs(networks, observation):
  logits = networks.policy(observation)
  return logits.numpy(), networks.value((observation,)).numpy()


class PolicyValueTest(parameterized.TestCase, tf.test.TestCase):
  def assertNear(self, one, other):
    for x, y in zip(one, other, strict=True):
      self.assertGreater(np.std(y), 0.1)  # Else nothing is compared.
      self.assertLess(np.max(np.abs(x - y)), _CLOSE * np.max(np.abs(y)))

  def assertFar(self, one, other):
    for x, y in zip(one, other, strict=True):
      self.assertGreater(np.max(np.abs(x - y)), 0.02 * np.max(np.abs(y)))

  def test_sizes_are_those_of_the_released_code(self):
    made = _make(4, config.AttentionConfig())
    for network, size in zip(made, (30725, 38849), strict=True):
      found = sum(x.shape.num_elements() for x in network.variables)
      self.assertEqual(found, size)

  @parameterized.parameters(
    *itertools.product((2, 4, 7), ('relu', 'tanh'), (1,), (0,)),
    (4, 'relu', 2, 0),
    (4, 'tanh', 3, 0),
    (4, 'relu', 2, 1),
    (2, 'tanh', 1, 2),
  )
  def test_equals_the_literal_network(self, num_agents, activation, *layers):
    networks = _networks(num_agents, activation, *layers)
    observation = _observation(num_agents)
    self.assertNear(
      _outputs(networks, observation),
      _literal(networks, observation, activation),
    )

  def test_same_parameters_serve_any_number_of_agents(self):
    networks = _networks(4)
    for num_agents in range(2, 10):
      logits, value = _outputs(networks, _observation(num_agents))
      self.assertEqual(logits.shape, (2, num_agents, 5))
      self.assertEqual(value.shape, (2, num_agents))
      self.assertAllInRange(logits, -100.0, 100.0)

  @parameterized.parameters(2, 4, 7)
  def test_agents_are_alike(self, num_agents):
    networks, observation = _networks(), _observation(num_agents)
    order = np.random.default_rng(3).permutation(num_agents)
    order = np.roll(np.arange(num_agents), 1) if num_agents < 3 else order
    shuffled = tf.nest.map_structure(
      lambda x: tf.gather(x, order, axis=1), observation
    )
    logits, value = _outputs(networks, observation)
    found = _outputs(networks, shuffled)
    self.assertNear(found, (logits[:, order], value[:, order]))
    self.assertFar(found, (logits, value))

  @parameterized.product(
    num_agents=(4, 7), kind=('agents', 'landmarks'), num_relations=(0, 1)
  )
  def test_entities_are_alike(self, num_agents, kind, num_relations):
    networks = _networks(num_relations=num_relations)
    observation = _observation(num_agents)
    seen = observation.entities[kind]
    expected = _outputs(networks, observation)
    shuffled = observation.entities | {kind: tf.reverse(seen, [2])}
    found = _outputs(networks, observation._replace(entities=shuffled))
    self.assertNear(found, expected)
    # A swap of features instead of entities is another observation.
    other = observation.entities | {kind: tf.reverse(seen, [3])}
    found = _outputs(networks, observation._replace(entities=other))
    self.assertFar(found, expected)

  @parameterized.product(kind=('agents', 'landmarks'), num_relations=(0, 2))
  def test_absent_entities_do_not_count(self, kind, num_relations):
    networks = _networks(num_relations=num_relations)
    observation = _observation(4)
    expected = _outputs(networks, observation)
    seen = observation.entities[kind]
    num = seen.shape[2]
    padding = tf.fill([2, 4, 3, seen.shape[3]], 7.0)
    padded = observation._replace(
      entities=observation.entities | {kind: tf.concat([seen, padding], 2)}
    )
    is_present = tf.range(num + 3) < num
    masks = {kind: tf.broadcast_to(is_present, [2, 4, num + 3])}
    self.assertNear(_outputs(networks, padded._replace(masks=masks)), expected)
    self.assertFar(_outputs(networks, padded), expected)

  @parameterized.product(kind=('agents', 'landmarks'), num_relations=(0, 1))
  def test_each_world_and_agent_has_a_mask_of_its_own(
    self, kind, num_relations
  ):
    networks = _networks(num_relations=num_relations)
    observation = _observation(4)
    seen = observation.entities[kind]
    is_present = np.random.default_rng(5).integers(0, 2, seen.shape[:3])
    is_present[..., 0] = 1
    masks = {kind: tf.constant(is_present, tf.bool)}
    logits, _ = _outputs(networks, observation._replace(masks=masks))
    for b, i in np.ndindex(*is_present.shape[:2]):
      alone = tf.nest.map_structure(
        lambda x, b=b, i=i: x[b : b + 1, i : i + 1], observation
      )
      left = tf.gather(
        alone.entities[kind], np.flatnonzero(is_present[b, i]), axis=2
      )
      alone = alone._replace(entities=alone.entities | {kind: left})
      found = networks.policy(alone)[0, 0]
      self.assertNear([found.numpy()], [logits[b, i]])

  def test_a_critic_may_observe_more_than_the_policy(self):
    networks, observation = _networks(), _observation(3)
    logits, value = _outputs(networks, observation)
    other = 2.0 - observation.own
    changed = _outputs(networks, observation._replace(critic_own=other))
    self.assertAllEqual(changed[0], logits)
    expected = _outputs(networks, observation._replace(own=other))
    self.assertAllEqual(changed[1], expected[1])
    self.assertFar([changed[1]], [value])

  @parameterized.parameters(0, 2)
  def test_every_variable_has_a_gradient(self, num_relations):
    networks = _networks(num_relations=num_relations)
    observation = _observation(3)
    with tf.GradientTape() as tape:
      logits = networks.policy(observation)
      value = networks.value((observation,))
      loss = tf.reduce_sum(logits**2) + tf.reduce_sum(value**2)
    named = dict(enumerate(networks.variables))
    for index, gradient in tape.gradient(loss, named).items():
      # With the key's bias all scores of a query grow alike: nothing changes.
      if 'key/b' not in named[index].name:
        size = float(tf.reduce_max(tf.abs(gradient)))
        self.assertGreater(size, 1e-3, named[index].name)

  def test_seed_decides_and_first_policy_is_all_but_uniform(self):
    cfg = config.AttentionConfig(hidden_size=16)
    one, again, other = (_make(3, cfg, seed) for seed in (0, 0, 1))
    observation = _observation(3)
    first = _outputs(one, observation)
    self.assertAllEqual(first[0], _outputs(again, observation)[0])
    self.assertNotAllClose(first[1], _outputs(other, observation)[1])
    self.assertLess(np.max(np.abs(first[0])), 0.1)


if __name__ == '__main__':
  tf.test.main()
