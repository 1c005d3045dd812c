# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a run may ask of its curriculum: legal tasks, none of the target."""

import types
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import randomness
from vacl_tf.curriculum import base
from vacl_tf.curriculum import checks
from vacl_tf.environments import task_space
from vacl_tf.testing import fakes

_SEED = randomness.root(1)
_BATCH = base.fresh_batch(tf.zeros([5, 4]), tf.constant(5))


class _Space(fakes.LineTaskSpace):
  def sample_target(self, num_tasks, seed):
    return tf.zeros([num_tasks, self.num_dims])


def _make(name, num_counts=1, **training):
  cfg = config.Config(
    curriculum=catalog.CURRICULA.get(name).config(name=name),
    training=config.TrainingConfig(num_tasks=20, **training),
  )
  worlds = [types.SimpleNamespace(task_space=_Space())] * num_counts
  return curriculum.make(cfg, worlds, _SEED)


class CheckTasksTest(parameterized.TestCase, tf.test.TestCase):
  def _check(self, phi, size=None):
    batch = base.fresh_batch(tf.constant(phi, tf.float32), size)
    checks.check_tasks(batch, fakes.LineTaskSpace(), 'sample (a.py, line 3)')

  def test_good_ones(self):
    self._check(np.zeros([5, 4]))
    self._check(np.zeros([0, 4]))

  @parameterized.parameters(
    ((3, 2), np.nan, 'expected finite numbers, given .* in row 3$'),
    ((3, 2), np.inf, 'expected finite numbers, given .* in row 3$'),
    ((1, 2), 1.6, r'feasible tasks, given \[0.0, 0.0, 1.6.* row 1, .*entity 2'),
  )
  def test_the_first_bad_row_is_told(self, where, number, message):
    phi = np.zeros([5, 4])
    phi[where] = number
    phi[4, 0] = 9.0
    with self.assertRaisesRegex(base.CurriculumError, message) as caught:
      self._check(phi)
    self.assertStartsWith(str(caught.exception), 'sample (a.py, line 3): ')
    self.assertNotIn('\n', str(caught.exception))
    # What is not played is not looked at.
    self._check(phi, tf.constant(where[0]))

  @parameterized.parameters(([5, 3],), ([5],), ([5, 4, 1],))
  def test_shapes(self, shape):
    message = r'expected tasks of shape \[B, 4\], given'
    with self.assertRaisesRegex(base.CurriculumError, message):
      self._check(np.zeros(shape))


class CheckSizeTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.product(rows=(0, 4, 5, 6), size=(-1, 0, 4, 5, 6))
  def test_all_that_were_asked_for(self, rows, size):
    batch = base.fresh_batch(tf.zeros([rows, 4]), tf.constant(size))
    for is_probe, least in ((False, 5), (True, 0)):
      if rows == 5 and least <= size <= 5:
        checks.check_size(batch, 5, 'sample', is_probe)
        continue
      message = f'expected 5 tasks .*, given {rows} tasks and a size of {size}$'
      with self.assertRaisesRegex(base.CurriculumError, f'^sample: {message}'):
        checks.check_size(batch, 5, 'sample', is_probe)


class KindsTest(parameterized.TestCase):
  @parameterized.parameters(
    (5, 'a tuple of types.TaskBatch, one per entity count, given 5'),
    ([_BATCH], r'a tuple of .*, given \[TaskBatch\('),
    ((_BATCH, 5), r'a tuple of .*, given \(TaskBatch\(.*, 5\)'),
    (_BATCH, r'a tuple of .*, given TaskBatch\('),
    ((_BATCH._replace(phi=0.0),), r'tasks of shape \[B, D\], given a scalar'),
    ((_BATCH, _BATCH), '1 TaskBatch, one per entity count, given 2'),
    ((), '1 TaskBatch, one per entity count, given 0'),
  )
  def test_of_tasks(self, given, message):
    with self.assertRaisesRegex(
      base.CurriculumError, f'^sample: expected {message}'
    ):
      checks.as_tensors(given, 'sample')

  def test_probes_may_be_none(self):
    self.assertEqual(checks.as_tensors((), 'probe', 2, is_probe=True), ())
    with self.assertRaisesRegex(base.CurriculumError, 'expected 2 .* given 1'):
      checks.as_tensors((_BATCH,), 'probe', 2, is_probe=True)

  @parameterized.parameters(np.float64, np.float32, np.int64)
  def test_other_numbers_are_cast(self, kind):
    given = np.arange(20).reshape(5, 4).astype(kind)
    for phi, size in (
      (given, 3),
      (tf.constant(given), tf.constant(3, 'int64')),
    ):
      [found] = checks.as_tensors((base.fresh_batch(phi, size),), 'sample')
      self.assertEqual(
        (found.phi.dtype, found.size.dtype), ('float32', 'int32')
      )
      np.testing.assert_array_equal(found.phi, given)
      self.assertEqual(int(found.size), 3)

  @parameterized.parameters((5,), (None,), ([('a', 1.0)],))
  def test_of_metrics(self, given):
    message = '^update: expected a dictionary of numbers by name, given '
    with self.assertRaisesRegex(base.CurriculumError, message):
      checks.named(given)

  def test_of_a_curriculum_that_grows(self):
    made = _make('uniform', 2)
    batches = made.sample(20, _SEED)
    feedback = (types.SimpleNamespace(value=tf.ones([20])),) * 2
    with mock.patch.object(base.Uniform, 'sample', lambda *_: 5):
      with self.assertRaisesRegex(base.CurriculumError, 'TaskBatch.*given 5$'):
        made.sample(20, _SEED)
    with mock.patch.object(base.Uniform, 'update', lambda *_: 5):
      with self.assertRaisesRegex(base.CurriculumError, 'by name, given 5; '):
        made.update(batches, feedback, tf.zeros([2]), _SEED)


class TargetTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(1, 2)
  def test_it_is_kept_from_a_curriculum_if_asked(self, num_counts):
    for gives_target in (True, False):
      made = _make('uniform', num_counts, gives_target=gives_target)
      batch, *_ = made.sample(20, _SEED)
      self.assertEqual(bool(np.any(batch.phi)), not gives_target)

  def test_the_world_does_not_give_it_either(self):
    world = fakes.LineWorld()
    cfg = config.Config(training=config.TrainingConfig(gives_target=False))
    for worlds in ([world], [world, fakes.LineWorld()]):
      for setting in curriculum._settings(cfg, worlds, _SEED):
        self.assertIs(setting.world.task_space, setting.space)
        self.assertIsInstance(setting.space, task_space.WithoutTarget)
    self.assertIsInstance(world.task_space, fakes.LineTaskSpace)

  def test_a_world_that_cannot_keep_it_back_is_refused(self):
    class Fixed:
      task_space = property(lambda self: _Space())

    cfg = config.Config(training=config.TrainingConfig(gives_target=False))
    with self.assertRaisesRegex(
      base.UnsuitableError, '^training.gives_target=false .* which Fixed does'
    ) as caught:
      curriculum.make(cfg, [Fixed()], _SEED)
    self.assertNotIn('\n', str(caught.exception))


class SourceTest(tf.test.TestCase):
  def test_it_is_where_tasks_come_from(self):
    line = base.Uniform.sample.__code__.co_firstlineno
    for num_counts in (1, 2):
      made = _make('uniform', num_counts)
      self.assertEqual(made.source, f'sample (base.py, line {line})')
    with mock.patch.object(base.Uniform, 'sample', np.sum):
      self.assertEqual(_make('uniform').source, 'sum')


if __name__ == '__main__':
  tf.test.main()
