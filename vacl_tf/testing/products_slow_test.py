# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Every task with every agent and every curriculum."""

import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.testing import products


class AllProductsTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(*products.all_products())
  def test_it_trains(self, *product):
    products.check(self, products.Product(*product))


if __name__ == '__main__':
  tf.test.main()
