# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Each agent plays each task, and each curriculum is used once."""

import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf.testing import products
from vacl_tf.testing import unoptimized


class ProductsTest(tf.test.TestCase, parameterized.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.enterClassContext(unoptimized.programs())

  @parameterized.parameters(*products.each_once())
  def test_it_trains(self, *product):
    products.check(self, products.Product(*product))

  def test_every_curriculum_is_among_them(self):
    used = {product.curriculum for product in products.each_once()}
    self.assertEqual(used, set(catalog.CURRICULA.names()))


if __name__ == '__main__':
  tf.test.main()
