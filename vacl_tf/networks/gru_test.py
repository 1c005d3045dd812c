# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The recurrent layer against its formulas, and its gradient by hand."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.networks import gru

_STEPS, _SEQUENCES, _FEATURES, _HIDDEN = 5, 7, 3, 4


def _layer(seed=0):
  """Returns a layer with weights of order one: none of its terms vanishes."""
  rng = np.random.default_rng(seed)
  layer = gru.Gru(rng, _FEATURES, _HIDDEN)
  for variable in layer.trainable_variables:
    variable.assign(rng.normal(size=variable.shape))
  return layer


def _inputs(steps=_STEPS, seed=1):
  rng = np.random.default_rng(seed)
  x = rng.normal(size=[steps, _SEQUENCES, _FEATURES])
  state = rng.normal(size=[_SEQUENCES, _HIDDEN])
  return tf.constant(x, tf.float32), tf.constant(state, tf.float32)


def _is_first(steps=_STEPS):
  """Returns bool [L, N]; some sequences begin anew, one of them at once."""
  return np.random.default_rng(5).random([steps, _SEQUENCES]) < 0.3


def _oracle(layer, x, state, is_first=None):
  """Returns the states [L, N, H] in float64, gate by gate."""
  w, b, u, c = (
    np.split(v.numpy().astype(np.float64), 3, -1)
    for v in (layer.w, layer.b, layer.u, layer.c)
  )
  state, states = state.numpy().astype(np.float64), []
  for t, now in enumerate(x.numpy().astype(np.float64)):
    if is_first is not None:
      state = np.where(is_first[t][:, None], 0.0, state)
    r = 1.0 / (1.0 + np.exp(-(now @ w[0] + b[0] + state @ u[0] + c[0])))
    z = 1.0 / (1.0 + np.exp(-(now @ w[1] + b[1] + state @ u[1] + c[1])))
    n = np.tanh(now @ w[2] + b[2] + r * (state @ u[2] + c[2]))
    state = (1.0 - z) * n + z * state
    states.append(state)
  return np.stack(states)


def _naive(layer, x, state, is_first=None):
  """Returns the states [L, N, H] for automatic differentiation."""
  states = []
  for t, now in enumerate(tf.unstack(x)):
    if is_first is not None:
      state = tf.where(is_first[t][:, None], 0.0, state)
    own = tf.split(now @ layer.w + layer.b, 3, 1)
    recalled = tf.split(state @ layer.u + layer.c, 3, 1)
    r = tf.sigmoid(own[0] + recalled[0])
    z = tf.sigmoid(own[1] + recalled[1])
    n = tf.tanh(own[2] + r * recalled[2])
    state = (1.0 - z) * n + z * state
    states.append(state)
  return tf.stack(states)


def _gradients(function, layer, x, state):
  """Returns gradients by x, state and variables of a random function."""
  weight = np.random.default_rng(2).normal(size=[*x.shape[:2], _HIDDEN])
  with tf.GradientTape() as tape:
    tape.watch([x, state])
    loss = tf.reduce_sum(
      tf.constant(weight, tf.float32) * tf.sin(3.0 * function(x, state))
    )
  by = dict(x=x, state=state, w=layer.w, b=layer.b, u=layer.u, c=layer.c)
  return tape.gradient(loss, by)


class GruTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(1, 2, _STEPS)
  def test_equals_the_formulas(self, steps):
    layer, (x, state) = _layer(), _inputs(steps)
    found = layer(x, state)
    self.assertEqual(found.shape, (steps, _SEQUENCES, _HIDDEN))
    self.assertAllClose(found, _oracle(layer, x, state), 1e-5, 1e-5)

  @parameterized.product(steps=(1, 2, _STEPS), jit=(False, True))
  def test_gradient_equals_automatic_differentiation(self, steps, jit):
    layer, (x, state) = _layer(), _inputs(steps)
    by_hand = tf.function(
      lambda x, state: _gradients(layer, layer, x, state),
      jit_compile=jit,
      autograph=False,
    )(x, state)
    plain = _gradients(lambda *a: _naive(layer, *a), layer, x, state)
    for name, expected in plain.items():
      with self.subTest(name):
        self.assertEqual(by_hand[name].shape, expected.shape)
        self.assertGreater(np.abs(expected).max(), 0.1)
        self.assertAllClose(by_hand[name], expected, 1e-4, 1e-4)

  @parameterized.product(steps=(1, _STEPS), jit=(False, True))
  def test_sequences_may_begin_anew(self, steps, jit):
    layer, (x, state) = _layer(), _inputs(steps)
    is_first = _is_first(steps)
    self.assertBetween(np.mean(is_first), 0.1, 0.5)
    found = tf.function(
      lambda x, state: layer(x, state, tf.constant(is_first)),
      jit_compile=jit,
      autograph=False,
    )
    expected = _oracle(layer, x, state, is_first)
    self.assertAllClose(found(x, state), expected, 1e-5, 1e-5)
    by_hand = tf.function(
      lambda x, state: _gradients(found, layer, x, state), autograph=False
    )(x, state)
    plain = _gradients(lambda *a: _naive(layer, *a, is_first), layer, x, state)
    self.assertAllClose(by_hand, plain, 1e-4, 1e-4)

  def test_gradient_without_a_graph(self):
    layer, (x, state) = _layer(), _inputs()
    found = _gradients(layer, layer, x, state)
    plain = _gradients(lambda *a: _naive(layer, *a), layer, x, state)
    self.assertAllClose(found, plain, 1e-4, 1e-4)

  def test_gradient_of_the_last_state_alone(self):
    layer, (x, state) = _layer(), _inputs()
    found, plain = (
      _gradients(lambda *a, f=f: f(*a)[-1:], layer, x, state)
      for f in (layer, lambda *a: _naive(layer, *a))
    )
    self.assertAllClose(found, plain, 1e-4, 1e-4)

  def test_compiled_equals_not_compiled(self):
    layer, (x, state) = _layer(), _inputs()
    compiled, traced = (
      tf.function(layer, jit_compile=jit, autograph=False)(x, state)
      for jit in (True, False)
    )
    self.assertAllClose(compiled, traced, 1e-5, 1e-5)
    self.assertAllClose(compiled, layer(x, state), 1e-5, 1e-5)

  def test_steps_at_once_equal_single_steps(self):
    layer, (x, state) = _layer(), _inputs()
    at_once = layer(x, state)
    for t in range(_STEPS):
      state = layer(x[t : t + 1], state)[-1]
      self.assertAllClose(at_once[t], state, 1e-5, 1e-5)

  def test_chunks_equal_the_whole(self):
    layer, (x, state) = _layer(), _inputs()
    first = layer(x[:2], state)
    second = layer(x[2:], first[-1])
    self.assertAllClose(
      layer(x, state), tf.concat([first, second], 0), 1e-5, 1e-5
    )

  @parameterized.parameters(1, _STEPS)
  def test_number_of_sequences_may_be_unknown(self, steps):
    layer, (x, state) = _layer(), _inputs(steps)

    @tf.function(
      input_signature=[
        tf.TensorSpec([steps, None, _FEATURES]),
        tf.TensorSpec([None, _HIDDEN]),
      ],
      autograph=False,
    )
    def gradient(x, state):
      return tf.gradients(layer(x, state), [x, state])

    @tf.function(autograph=False)
    def plain(x, state):
      return tf.gradients(_naive(layer, x, state), [x, state])

    self.assertAllClose(gradient(x, state), plain(x, state), 1e-4, 1e-4)

  def test_a_single_step_builds_no_loop(self):
    layer = _layer()

    def loops(steps):
      traced = tf.function(layer, autograph=False)
      graph = traced.get_concrete_function(*_inputs(steps)).graph
      return [op.type for op in graph.get_operations() if 'While' in op.type]

    self.assertEmpty(loops(1))
    self.assertNotEmpty(loops(2))

  def test_remembers(self):
    layer, (x, state) = _layer(), _inputs()
    plain = layer(x, state)
    other = layer(x, state + 0.1)
    self.assertGreater(np.abs(other - plain).max(1).max(1).min(), 1e-4)
    changed = layer(x + tf.one_hot(2, _STEPS)[:, None, None], state)
    self.assertAllEqual(changed[:2], plain[:2])
    for t in range(2, _STEPS):
      self.assertNotAllClose(changed[t], plain[t])

  def test_sequences_are_apart(self):
    layer, (x, state) = _layer(), _inputs()
    alone = layer(x[:, 2:3], state[2:3])
    self.assertAllClose(layer(x, state)[:, 2:3], alone, 1e-5, 1e-5)


class InitialisationTest(tf.test.TestCase):
  def test_each_gate_is_orthogonal_by_itself(self):
    layer = gru.Gru(np.random.default_rng(0), _FEATURES, _HIDDEN)
    for matrix, rows in ((layer.w, _FEATURES), (layer.u, _HIDDEN)):
      gates = np.split(matrix.numpy(), 3, 1)
      for gate in gates:
        self.assertEqual(gate.shape, (rows, _HIDDEN))
        self.assertAllClose(gate @ gate.T, np.eye(rows), atol=1e-6)
      self.assertNotAllClose(gates[0], gates[1])
      self.assertNotAllClose(gates[1], gates[2])
    self.assertAllEqual(layer.b, np.zeros(3 * _HIDDEN))
    self.assertAllEqual(layer.c, np.zeros(3 * _HIDDEN))

  def test_depends_on_the_seed_alone(self):
    def weights(seed):
      layer = gru.Gru(np.random.default_rng(seed), _FEATURES, _HIDDEN)
      self.assertLen(layer.trainable_variables, 4)
      return layer.w.numpy(), layer.u.numpy()

    for one, same, other in zip(
      weights(3), weights(3), weights(4), strict=True
    ):
      self.assertAllEqual(one, same)
      self.assertNotAllClose(one, other)


if __name__ == '__main__':
  tf.test.main()
