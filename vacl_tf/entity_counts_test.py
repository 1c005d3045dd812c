# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Paths of counts are read, written, and checked."""

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import overrides


def _config(path, num_agents=4):
  return overrides.replace(
    config.Config(),
    {
      'progression.entity_counts': path,
      'environment.num_agents': num_agents,
    },
  )


class PathTest(parameterized.TestCase):
  def test_no_path_is_the_count_of_the_world(self):
    self.assertEqual(entity_counts.path(_config('')), ((4,),))

  def test_a_path_is_read_in_order(self):
    self.assertEqual(
      entity_counts.path(_config('4,8,16', 16)), ((4,), (8,), (16,))
    )

  @parameterized.parameters(
    ('8,4', 'does not grow from 8 to 4; give'),
    ('4,4', 'does not grow from 4 to 4; give'),
    ('2,3', 'does not end at 4, the entity count to train for; leave out one'),
    ('2x2,4x4', 'does not fit the world, which counts agents; .* like 2,4,8$'),
    ('0,4', '0,4 has a number below 1'),
    ('4,few', "'4,few' is not a list of counts; give one"),
    ('4,,8', 'is not a list of counts'),
  )
  def test_what_is_no_path_is_refused(self, path, message):
    with self.assertRaisesRegex(ValueError, message):
      entity_counts.path(_config(path))


class WritingTest(parameterized.TestCase):
  @parameterized.parameters(
    ((4,), '4'),
    ((4, 2), '4x2'),
    ((1, 2, 3), '1x2x3'),
  )
  def test_what_is_spelled_is_read_back(self, counts, text):
    self.assertEqual(entity_counts.spelled(counts), text)
    self.assertEqual(entity_counts.parsed(text), (counts,))

  @parameterized.parameters(
    ((4,), (4,), ''),
    ((4,), (8,), '4,8'),
    ((4,), (24,), '4,8,16,24'),
    ((4,), (2,), ''),
    ((2, 2), (4, 4), '2x2,4x2,4x4'),
    ((2, 2), (1, 4), '1x2,1x4'),
    ((2, 2), (3, 5), '2x2,3x2,3x4,3x5'),
  )
  def test_doubling_goes_kind_after_kind(self, first, last, path):
    self.assertEqual(entity_counts.doubling(first, last), path)

  @parameterized.parameters(
    ((4,), (24,), '4,8,16,24'),
    ((2, 2), (2, 2), ''),
    ((2, 2), (8, 8), '2x2,4x4,8x8'),
    ((2, 2), (4, 2), '2x2,4x2'),
    ((2, 2), (1, 4), '1x2,1x4'),
    ((2, 2), (3, 5), '2x2,3x4,3x5'),
  )
  def test_kinds_may_double_together(self, first, last, path):
    found = entity_counts.doubling(first, last, together=True)
    self.assertEqual(found, path)

  def test_messages_name_kinds_and_examples(self):
    self.assertEqual(entity_counts.kind_of('num_boxes'), 'boxes')
    self.assertEqual(entity_counts.example(2), '2x2,4x4,8x8')


if __name__ == '__main__':
  absltest.main()
