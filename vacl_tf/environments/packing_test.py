# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for packing."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.environments import packing

_LIKE = {
  'b': (tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([True, False])),
  'a': [tf.constant(7), tf.constant(5.0), tf.zeros([2, 0, 3])],
}


class PackingTest(tf.test.TestCase, parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self._packing = packing.Packing(_LIKE)
    self._vectors = self._packing.pack(_LIKE)

  def test_there_is_one_vector_for_each_type(self):
    self.assertLen({x.dtype for x in self._vectors}, len(self._vectors))
    self.assertEqual(
      [tf.TensorSpec.from_tensor(x) for x in self._vectors], self._packing.specs
    )
    self.assertEqual(sum(len(x) for x in self._vectors), 4 + 2 + 1 + 1)

  def test_what_is_packed_is_unpacked(self):
    found = self._packing.unpack(self._vectors)
    tf.nest.assert_same_structure(found, _LIKE)
    for leaf, expected in zip(
      tf.nest.flatten(found), tf.nest.flatten(_LIKE), strict=True
    ):
      self.assertEqual(leaf.dtype, expected.dtype)
      self.assertAllEqual(leaf, expected)

  def test_arrays_are_the_leaves_and_can_be_written(self):
    arrays = self._packing.arrays(self._vectors)
    for array, leaf in zip(arrays, tf.nest.flatten(_LIKE), strict=True):
      self.assertIsInstance(array, np.ndarray)
      self.assertAllEqual(array, leaf)
      array += True if array.dtype == bool else array.dtype.type(1)
    again = self._packing.arrays(self._vectors)
    for array, leaf in zip(again, tf.nest.flatten(_LIKE), strict=True):
      self.assertAllEqual(array, leaf)

  def test_other_structures_are_refused(self):
    with self.assertRaises(ValueError):
      self._packing.pack(_LIKE['a'])


if __name__ == '__main__':
  tf.test.main()
