# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Portions add up to the whole."""

from collections.abc import Iterator

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.learning import microbatch
from vacl_tf.testing import compilations

_MODULE = 'vacl_tf.learning.microbatch_test'
_SIZES = (2, 6, 0, 4)


def _fill() -> Iterator[None]:
  run = tf.function(
    lambda size: microbatch.over_worlds(
      lambda begin: tf.fill([1, 2], begin), 6, 2, size
    ),
    jit_compile=True,
  )
  for size in _SIZES:
    run(tf.constant(size))
    yield


class MicrobatchTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(
    (12, 100, 12),
    (12, 12, 12),
    (12, 5, 4),
    (7, 6, 1),
    (2500, 250, 250),
    (2500, 249, 125),
    (12, 0, 1),
  )
  def test_largest_divisor_within_the_bound(self, rows, at_most, found):
    self.assertEqual(microbatch.largest_divisor(rows, at_most), found)

  @parameterized.product(
    block=(1, 2, 3, 6), num_blocks=(0, 1, 6), is_compiled=(False, True)
  )
  def test_over_worlds_is_the_function_of_the_first_worlds(
    self, block, num_blocks, is_compiled
  ):
    size = min(num_blocks * block, 6)
    x = np.arange(48, dtype=np.float32).reshape([4, 6, 2])
    y = np.arange(6, dtype=np.int32)[None]

    def function(begin):
      a, b = microbatch.worlds((tf.constant(x), tf.constant(y)), begin, block)
      return {'a': 2.0 * a[1:], 'b': b + 1}

    def run(size):
      return microbatch.over_worlds(function, 6, block, size)

    if is_compiled:
      run = tf.function(run, jit_compile=True)
    found = run(tf.constant(size))
    counts = np.arange(6) < (6 if block == 6 else size)
    self.assertAllEqual(found['a'], 2.0 * x[1:] * counts[:, None])
    self.assertAllEqual(found['b'], (y + 1) * counts)

  def test_a_size_compiles_nothing_new(self):
    counts = compilations.count(_MODULE)
    self.assertLen(counts, len(_SIZES))
    self.assertGreater(counts[0], 0)
    self.assertEqual(set(counts), {counts[0]})


if __name__ == '__main__':
  compilations.if_child(_fill)
  tf.test.main()
