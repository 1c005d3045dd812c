# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Outputs are known, nothing was done for it, and nothing is traced twice."""

import tensorflow as tf

from vacl_tf import tracing


class OnceTest(tf.test.TestCase):
  def test_structure_shapes_and_types_without_running(self):
    counter = tf.Variable(0)
    traces = []

    def function(x):
      traces.append(x)
      counter.assign_add(1)
      return {'sum': tf.reduce_sum(x, 0), 'is_big': (x > 1.0,)}

    traced, found = tracing.once(function, tf.TensorSpec([2, 3]))
    self.assertEqual(found['sum'].shape, [3])
    self.assertEqual(found['is_big'][0].dtype, tf.bool)
    self.assertEqual(counter.numpy(), 0)

    @tf.function(autograph=False)
    def twice(x):
      return traced(x)['sum'] + traced(2.0 * x)['sum']

    self.assertAllEqual(twice(tf.ones([2, 3])), [6.0, 6.0, 6.0])
    self.assertEqual(counter.numpy(), 2)
    self.assertLen(traces, 1)


class ProgramTest(tf.test.TestCase):
  def test_it_is_compiled_where_its_caller_is_not(self):
    program = tracing.program(lambda x: 2.0 * x + 1.0)
    caller = tf.function(lambda x: program(x) - 1.0, autograph=False)
    self.assertAllEqual(caller(tf.constant([1.0, 2.0])), [2.0, 4.0])
    compiled = tf.function(caller, jit_compile=True, autograph=False)
    self.assertAllEqual(compiled(tf.constant([1.0, 2.0])), [2.0, 4.0])
    # XLA does not know how to call Python.
    python = tracing.program(
      lambda x: tf.numpy_function(lambda x: x, [x], tf.float32)
    )
    caller = tf.function(lambda x: python(x) - 1.0, autograph=False)
    with self.assertRaises(tf.errors.InvalidArgumentError):
      caller(tf.constant(1.0))

  def test_what_compiles_is_known_without_running_it(self):
    counter = tf.Variable(0)

    def function(state):
      counter.assign_add(1)
      return state['x'][0] + 1.0, ()

    state = {'x': (tf.ones([2]),), 'none': ()}
    tracing.check_compiles(function, state)
    self.assertEqual(counter.numpy(), 0)
    with self.assertRaisesRegex(ValueError, 'AsString'):
      tracing.check_compiles(lambda x: tf.strings.as_string(x), tf.ones([2]))
    with self.assertRaises(ZeroDivisionError):
      tracing.check_compiles(lambda x: x / (1 // 0), tf.ones([2]))

  def test_a_graph_is_traced_once_for_each_shape(self):
    calls = []

    def function(x, factor):
      calls.append(x.shape)
      return factor * x

    traced = tracing.graph(function)
    for size in (2, 3, 2, 3):
      for factor in (2.0, 3.0):
        found = traced(tf.ones([size]), tf.constant(factor))
        self.assertAllEqual(found, [factor] * size)
    self.assertLen(calls, 2)


if __name__ == '__main__':
  tf.test.main()
