# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Particle sets against a Python list of rows."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import randomness
from vacl_tf.curriculum import particles

_DIMS = 3


def _slow_novelty(phi: np.ndarray, neighbours: int) -> list[float]:
  """The novelty in float64, with loops."""
  found = []
  for index, row in enumerate(phi):
    others = [
      sum((a - b) ** 2 for a, b in zip(row, other, strict=True)) ** 0.5
      for k, other in enumerate(phi)
      if k != index
    ]
    if len(others) >= neighbours:
      found.append(sum(sorted(others)[:neighbours]) / neighbours)
    else:
      found.append(sum(others) / len(phi))
  return found


def _random_rows(rng: np.random.Generator, num: int) -> particles.Rows:
  return particles.Rows(
    phi=tf.constant(rng.uniform(-3.0, 3.0, [num, _DIMS]), tf.float32),
    value=tf.constant(rng.uniform(size=[num]), tf.float32),
    generation=tf.constant(rng.integers(0, 9, [num]), tf.int32),
    age=tf.constant(rng.integers(0, 9, [num]), tf.int32),
    parent=tf.constant(rng.uniform(-3.0, 3.0, [num, _DIMS]), tf.float32),
  )


def _as_list(rows: particles.Rows) -> list[tuple]:
  return [
    (tuple(phi), *numbers, tuple(parent))
    for phi, *numbers, parent in zip(
      *(row.numpy().tolist() for row in rows), strict=True
    )
  ]


class NoveltyTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(0, 1, 2, 5, 6, 7, 12)
  def test_equals_loops_and_empty_rows_are_infinite(self, count):
    rng = np.random.default_rng(count)
    phi = rng.uniform(-3.0, 3.0, [12, _DIMS])
    found = particles.novelty(
      tf.constant(phi, tf.float32), tf.constant(count), 5
    )
    self.assertAllClose(found[:count], _slow_novelty(phi[:count], 5), 1e-4)
    self.assertAllEqual(found[count:], np.full([12 - count], np.inf))

  @parameterized.parameters(95, 96, 210)  # Blocks have 96 rows.
  def test_equals_sorted_distances_over_several_blocks(self, size):
    rng = np.random.default_rng(size)
    phi = rng.uniform(-3.0, 3.0, [size, _DIMS])
    phi[50:60] = phi[3]  # The nearest others of some are all alike.
    distance = np.linalg.norm(phi[:, None] - phi, axis=-1)
    distance[np.eye(size, dtype=bool)] = np.inf
    distance[:, size - 7 :] = np.inf
    expected = np.sort(distance, 1)[: size - 7, :5].mean(1)
    novelty = tf.function(particles.novelty, jit_compile=True)
    found = novelty(tf.constant(phi, tf.float32), tf.constant(size - 7), 5)
    # Of float32 squares near 20 a distance of 0 may be left with 3e-3.
    self.assertAllClose(found[: size - 7], expected, 1e-4, 5e-3)
    self.assertAllEqual(found[size - 7 :], np.full([7], np.inf))

  def test_fewer_than_six_share_the_sum_by_the_size_of_the_set(self):
    phi = tf.constant([[0.0], [1.0], [3.0], [99.0]])
    found = particles.novelty(phi, tf.constant(3), 5)
    self.assertAllClose(found, [4.0 / 3, 1.0, 5.0 / 3, np.inf])

  def test_six_average_over_five_neighbours(self):
    phi = tf.constant([[0.0], [1.0], [2.0], [3.0], [4.0], [10.0]])
    found = particles.novelty(phi, tf.constant(6), 5)
    self.assertAllClose(found[0], (1.0 + 2.0 + 3.0 + 4.0 + 10.0) / 5)

  def test_twins_are_each_others_neighbours(self):
    phi = tf.constant([[1.0, 2.0]] * 2 + [[5.0, 5.0]] * 7)
    found = particles.novelty(phi, tf.constant(9), 5)
    self.assertAllClose(found, [4 * 5.0 / 5] * 2 + [0.0] * 7, atol=2e-3)


class ParticleSetTest(parameterized.TestCase, tf.test.TestCase):
  def _make(self, eviction, capacity=10, room=6):
    return particles.ParticleSet(capacity, room, _DIMS, eviction, 5, 'set')

  def _check(self, members, model):
    self.assertEqual(int(members.count), len(model))
    rows = particles.Rows(*(row[: len(model)] for row in members.rows))
    self.assertEqual(_as_list(rows), model)

  def _survivors(self, eviction, model, members, seed):
    """What the set should hold after `evict`, from the list alone."""
    surplus = len(model) - members.capacity
    if surplus <= 0:
      return model
    if eviction == 'fifo':
      return model[surplus:]
    if eviction == 'random':
      score = randomness.uniform(seed, [members.size])[: len(model)].numpy()
    else:
      score = _slow_novelty(np.array([row[0] for row in model]), 5)
    dropped = sorted(range(len(model)), key=lambda index: score[index])
    dropped = set(dropped[:surplus])
    return [row for index, row in enumerate(model) if index not in dropped]

  @parameterized.parameters('fifo', 'random', 'diverse')
  def test_equals_a_list_over_random_sequences(self, eviction):
    rng = np.random.default_rng(0)
    members, model = self._make(eviction), []
    has_evicted = has_overflown = False
    for turn in range(40):
      rows = _random_rows(rng, 5)
      mask = rng.uniform(size=5) < 0.7
      members.append(rows, tf.constant(mask))
      new = _as_list(rows)
      model += [row for row, wanted in zip(new, mask, strict=True) if wanted]
      has_overflown |= len(model) > members.size
      model = model[-members.size :]
      self._check(members, model)
      if turn % 3 == 1:
        mask = rng.uniform(size=members.size) < 0.7
        members.keep(tf.constant(mask))
        model = [row for row, kept in zip(model, mask, strict=False) if kept]
        self._check(members, model)
      if turn % 4 == 3:
        seed = randomness.root(turn)
        has_evicted |= len(model) > members.capacity
        model = self._survivors(eviction, model, members, seed)
        members.evict(seed)
        self._check(members, model)
    self.assertTrue(has_evicted and has_overflown)

  @parameterized.parameters('fifo', 'random', 'diverse')
  def test_eviction_leaves_a_set_at_capacity_alone(self, eviction):
    members = self._make(eviction, capacity=4)
    rows = _random_rows(np.random.default_rng(1), 4)
    members.append(rows, tf.fill([4], True))
    members.evict(randomness.root(0))
    self._check(members, _as_list(rows))

  def test_diverse_eviction_drops_the_crowd(self):
    members = self._make('diverse', capacity=8, room=8)
    far = tf.constant([[0.0, 0.0, 9.0], [0.0, 9.0, 0.0], [9.0, 0.0, 0.0]])
    crowd = 0.01 * tf.random.stateless_uniform([9, 3], [0, 0])
    phi = tf.concat([crowd, far], 0)
    rows = _random_rows(np.random.default_rng(2), 12)._replace(phi=phi)
    members.append(rows, tf.fill([12], True))
    members.evict(randomness.root(0))
    self.assertEqual(int(members.count), 8)
    self.assertAllEqual(members.rows.phi[5:8], far)

  def test_random_eviction_depends_on_the_seed(self):
    left = []
    for seed in (0, 1):
      members = self._make('random')
      rows = _random_rows(np.random.default_rng(3), 16)
      members.append(rows, tf.fill([16], True))
      members.evict(randomness.root(seed))
      left.append(members.rows.phi[:10].numpy())
    self.assertNotAllEqual(*left)

  def test_append_more_than_all_there_is_room_for_keeps_the_newest(self):
    members = self._make('fifo', capacity=3, room=0)
    rng = np.random.default_rng(4)
    members.append(_random_rows(rng, 2), tf.fill([2], True))
    rows = _random_rows(rng, 3)
    members.append(rows, tf.fill([3], True))
    self._check(members, _as_list(rows))

  def test_of_more_than_there_is_room_for_the_newest_stay(self):
    members = self._make('fifo', capacity=3, room=0)
    rng = np.random.default_rng(4)
    members.append(_random_rows(rng, 2), tf.fill([2], True))
    rows = _random_rows(rng, 7)
    mask = [True, True, False, True, True, False, True]
    members.append(rows, tf.constant(mask))
    self._check(members, [_as_list(rows)[i] for i in (3, 4, 6)])

  def test_nothing_wanted_changes_nothing(self):
    members = self._make('fifo')
    rng = np.random.default_rng(5)
    first = _random_rows(rng, 4)
    members.append(first, tf.fill([4], True))
    members.append(_random_rows(rng, 4), tf.fill([4], False))
    self._check(members, _as_list(first))
    self.assertAllEqual(members.in_use(), np.arange(16) < 4)


if __name__ == '__main__':
  tf.test.main()
