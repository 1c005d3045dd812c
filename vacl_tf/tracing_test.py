# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Outputs are known, and nothing was done for it."""

import tensorflow as tf

from vacl_tf import tracing


class OutputsTest(tf.test.TestCase):
  def test_structure_shapes_and_types_without_running(self):
    counter = tf.Variable(0)

    def function(x):
      counter.assign_add(1)
      return {'sum': tf.reduce_sum(x, 0), 'is_big': (x > 1.0,)}

    found = tracing.outputs(function, tf.TensorSpec([2, 3]))
    self.assertEqual(found['sum'].shape, [3])
    self.assertEqual(found['is_big'][0].dtype, tf.bool)
    self.assertEqual(counter.numpy(), 0)


if __name__ == '__main__':
  tf.test.main()
