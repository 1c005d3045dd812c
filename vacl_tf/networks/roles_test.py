# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Networks of two roles against their definition, in plain numpy.

All weights, scales and offsets are of order 1, as in policy_value_test.
"""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import types
from vacl_tf.networks import attention
from vacl_tf.networks import policy_value

_SPEAKER = types.Role('speaker', 1, types.discrete(3), 3, {})
_LISTENER = types.Role('listener', 1, types.discrete(5), 11, {})
_PAIR = (_SPEAKER, _LISTENER)
_CLOSE = 1e-3  # Of the largest output; float32 against float64.
_FAR = 0.02


class _Networks(tf.Module):
  """The networks of all roles."""

  def __init__(self, roles, cfg):
    super().__init__()
    rng = np.random.default_rng(0)
    self.policies = [policy_value.Policy(rng, role, cfg) for role in roles]
    self.values = [
      policy_value.Value(rng, roles, index, cfg) for index in range(len(roles))
    ]

  def logits(self, observations):
    pairs = zip(self.policies, observations, strict=True)
    return tuple(policy(observation) for policy, observation in pairs)

  def value(self, observations):
    return tuple(value(observations) for value in self.values)


def _networks(roles=_PAIR, size=16):
  """Networks whose variables are all of order 1."""
  made = _Networks(roles, config.AttentionConfig(hidden_size=size))
  rng = np.random.default_rng(1)
  for variable in made.variables:
    noise = rng.normal(size=variable.shape)
    if variable.shape.rank == 2:
      variable.assign(noise * (3.0 / variable.shape[0]) ** 0.5)
    else:
      variable.assign(0.4 * noise + float('scale' in variable.name))
  return made


def _observations(roles=_PAIR, batch=7, seed=2):
  rng = np.random.default_rng(seed)

  def draw(*shape):
    return tf.constant(rng.normal(size=[batch, *shape]), tf.float32)

  return tuple(
    types.Observation(
      draw(role.num_agents, role.own_size),
      {
        kind: draw(role.num_agents, 3, size)
        for kind, size in role.entity_sizes.items()
      },
      {},
    )
    for role in roles
  )


def _with_other(observations, index):
  """Returns the observations, with another one of a role."""
  changed = list(observations)
  own = changed[index].own
  changed[index] = changed[index]._replace(own=tf.reverse(own, [0]))
  return tuple(changed)


def _block(block, x):
  y = np.maximum(x @ block.linear.w.numpy() + block.linear.b.numpy(), 0.0)
  y = (y - np.mean(y)) / np.sqrt(np.var(y) + 1e-5)
  return y * block.affine.scale.numpy() + block.affine.offset.numpy()


def _literal_value(value, own, other):
  """Returns the value of the agent that sees `own`, beside one other."""
  query = _block(value.encoder.own, own)
  keys = [query, _block(value.others[0].own, other)]
  scores = np.array([query @ value.attention.w.numpy() @ key for key in keys])
  weights = np.exp(scores - scores.max())
  weights /= weights.sum()
  head = _block(value.head, weights[0] * keys[0] + weights[1] * keys[1])
  return (head @ value.value.w.numpy() + value.value.b.numpy())[0]


class RolesTest(parameterized.TestCase, tf.test.TestCase):
  def assertNear(self, found, want):
    found, want = np.asarray(found), np.asarray(want)
    self.assertGreater(np.std(want), 0.1)  # Else nothing is compared.
    self.assertLess(np.max(np.abs(found - want)), _CLOSE * np.abs(want).max())

  def assertFar(self, found, want):
    found, want = np.asarray(found), np.asarray(want)
    self.assertGreater(np.max(np.abs(found - want)), _FAR * np.abs(want).max())

  def test_sizes_are_those_done_by_hand(self):
    made = _Networks(_PAIR, config.AttentionConfig())

    def block(size):  # Matrix, bias; scale, offset.
      return (size * 64 + 64) + 2 * 64

    # Both encoders, attention, head, value.
    value = block(3) + block(11) + 64 * 64 + block(64) + (64 + 1)
    wanted = [
      (made.policies[0], block(3) + 64 * 3 + 3, 579),
      (made.policies[1], block(11) + 64 * 5 + 5, 1221),
      (made.values[0], value, 9729),
      (made.values[1], value, 9729),
    ]
    for network, size, same in wanted:
      found = sum(x.shape.num_elements() for x in network.variables)
      self.assertEqual((found, size), (same, same), network.name)

  def test_equals_the_literal_network(self):
    networks, observations = _networks(), _observations()
    logits, values = networks.logits(observations), networks.value(observations)
    own = [seen.own.numpy()[:, 0].astype(np.float64) for seen in observations]
    for index, policy in enumerate(networks.policies):
      codes = [_block(policy.encoder.own, x) for x in own[index]]
      want = np.array(codes) @ policy.logits.w.numpy() + policy.logits.b.numpy()
      self.assertNear(logits[index][:, 0], want)
      pairs = zip(own[index], own[1 - index], strict=True)
      want = [_literal_value(networks.values[index], *pair) for pair in pairs]
      self.assertNear(values[index][:, 0], want)

  @parameterized.parameters(0, 1)
  def test_a_value_depends_on_what_the_other_sees(self, index):
    networks, observations = _networks(), _observations()
    value = networks.value(observations)[index]
    changed = networks.value(_with_other(observations, 1 - index))[index]
    self.assertFar(changed, value)
    same = _observations()  # The control: equal numbers, equal values.
    self.assertNear(networks.value(same)[index], value)
    # Without the other's encoder nothing of the other is left.
    for variable in networks.values[index].others[0].variables:
      variable.assign(tf.zeros_like(variable))
    value = networks.value(observations)[index]
    changed = networks.value(_with_other(observations, 1 - index))[index]
    self.assertNear(changed, value)

  @parameterized.parameters(0, 1)
  def test_a_policy_depends_on_what_it_sees_alone(self, index):
    networks, observations = _networks(), _observations()
    logits = networks.logits(observations)[index]
    other = networks.logits(_with_other(observations, 1 - index))[index]
    self.assertNear(other, logits)
    mine = networks.logits(_with_other(observations, index))[index]
    self.assertFar(mine, logits)

  def test_roles_share_no_variable(self):
    networks = _networks()
    parts = [*networks.policies, *networks.values]
    owned = [{id(x) for x in part.variables} for part in parts]
    self.assertLen(set.union(*owned), sum(map(len, owned)))
    self.assertLen(networks.variables, sum(map(len, owned)))
    # Nor in effect: what one policy learns, the other does not.
    observations = _observations()
    speaker, listener = networks.logits(observations)
    for variable in networks.policies[0].variables:
      variable.assign(variable + 0.5)
    found = networks.logits(observations)
    self.assertFar(found[0], speaker)
    self.assertAllEqual(found[1], listener)

  def test_every_variable_has_a_gradient(self):
    networks, observations = _networks(), _observations()
    with tf.GradientTape() as tape:
      outputs = networks.logits(observations) + networks.value(observations)
      loss = tf.add_n([tf.reduce_sum(x**2) for x in outputs])
    for gradient in tape.gradient(loss, networks.trainable_variables):
      self.assertGreater(np.max(np.abs(gradient)), 0.0)

  @parameterized.parameters(1, 5)
  def test_the_batch_is_free_inside_one_graph(self, batch):
    networks = _networks()
    signature = tuple(
      types.Observation(tf.TensorSpec([None, None, role.own_size]), {}, {})
      for role in _PAIR
    )
    function = tf.function(networks.value, autograph=False)
    function = function.get_concrete_function(signature)
    for value in function(_observations(batch=batch)):
      self.assertEqual(value.shape, (batch, 1))

  def test_roles_of_several_agents_with_entities(self):
    roles = (
      types.Role('seeker', 2, types.discrete(4), 3, {'boxes': 2}),
      types.Role('hider', 3, types.discrete(5), 6, {}),
    )
    networks, observations = _networks(roles), _observations(roles)
    self.assertIsInstance(networks.values[0].encoder, attention.Encoder)
    self.assertIsInstance(networks.values[0].others[0], attention.OwnEncoder)
    values = networks.value(observations)
    self.assertEqual([x.shape[1] for x in values], [2, 3])
    # Agents of a role are alike, to their own role and to the other.
    for index in range(2):
      turned = list(observations)
      turned[index] = tf.nest.map_structure(
        lambda x: tf.reverse(x, [1]), observations[index]
      )
      found = networks.value(tuple(turned))
      self.assertNear(found[index], tf.reverse(values[index], [1]))
      self.assertFar(found[index], values[index])
      self.assertNear(found[1 - index], values[1 - index])


if __name__ == '__main__':
  tf.test.main()
