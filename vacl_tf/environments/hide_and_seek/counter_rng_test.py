# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for draws."""

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments.hide_and_seek import counter_rng


class DrawsTest(parameterized.TestCase):
  def test_keys_differ_and_do_not_depend_on_their_number(self):
    keys = counter_rng.keys(3, 1000)
    self.assertEqual(keys.dtype, np.uint64)
    self.assertLen(set(keys.tolist()), 1000)
    np.testing.assert_array_equal(counter_rng.keys(3, 10), keys[:10])

  def test_keys_depend_on_every_number_of_a_seed(self):
    seeds = (0, 1, -1, [0, 1], [2, 0], [-5, 7], np.int32([-5, 8]))
    first = {int(counter_rng.keys(seed, 1)[0]) for seed in seeds}
    self.assertLen(first, len(seeds))

  def test_a_world_draws_the_same_alone_and_in_company(self):
    keys = counter_rng.keys(0, 50)
    together = counter_rng.uniform(keys, 4, 7)
    for row in (0, 13, 49):
      alone = counter_rng.uniform(keys[row : row + 1], 4, 7)
      np.testing.assert_array_equal(alone, together[row : row + 1])
    np.testing.assert_array_equal(
      counter_rng.uniform(keys, 4, 3), together[:, :3]
    )

  def test_the_generator_is_splitmix(self):
    """Against the published algorithm, one number after another."""
    mask = 2**64 - 1

    def mixed(x):
      x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & mask
      x = (x ^ (x >> 27)) * 0x94D049BB133111EB & mask
      return x ^ (x >> 31)

    golden, key, stream = 0x9E3779B97F4A7C15, 12345, 6
    state = mixed(key ^ mixed(stream + golden & mask))
    want = []
    for _ in range(5):
      state = state + golden & mask
      want.append((mixed(state) >> 11) / 2**53)
    found = counter_rng.uniform(np.array([key], np.uint64), stream, 5)
    np.testing.assert_array_equal(found, [want])

  @parameterized.parameters('worlds', 'streams', 'numbers')
  def test_numbers_are_uniform_and_independent(self, along):
    """Neighbours in any direction are as good as unrelated."""
    keys = counter_rng.keys(1, 60)
    cube = np.stack(
      [counter_rng.uniform(keys, stream, 60) for stream in range(60)]
    )
    self.assertBetween(cube.min(), 0.0, 1e-4)
    self.assertBetween(cube.max(), 1.0 - 1e-4, 1.0 - 2.0**-53)
    share, _ = np.histogram(cube, 10, (0.0, 1.0))
    np.testing.assert_allclose(share / cube.size, 0.1, atol=0.003)
    axis = ('streams', 'worlds', 'numbers').index(along)
    one, other = np.delete(cube, 0, axis), np.delete(cube, -1, axis)
    self.assertLess(abs(np.corrcoef(one.ravel(), other.ravel())[0, 1]), 0.01)


if __name__ == '__main__':
  absltest.main()
