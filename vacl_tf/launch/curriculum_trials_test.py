# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for curriculum_trials: each fault of a curriculum is one line."""

from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import types
from vacl_tf.curriculum import base as curriculum_base
from vacl_tf.curriculum import python_curriculum
from vacl_tf.launch import curriculum_trials
from vacl_tf.testing import fakes

_ENV = 'speaker_listener'


class _Shuffled(python_curriculum.Chooser):
  """Plays the tasks that it keeps, and one new one each time."""

  def __init__(self, tasks, cfg, rng):
    self.tasks = tasks
    self.state = {'phi': tasks.easy(8, rng)}
    self.rng = rng

  def sample(self, num_tasks, rng):
    self.state['phi'][rng.integers(8)] = self.tasks.target(1, rng)[0]
    return self.state['phi'][rng.integers(8, size=num_tasks)]

  def update(self, tasks, told):
    return {'kept': len(tasks)}


class _OwnGenerator(_Shuffled):
  def sample(self, num_tasks, rng):
    return super().sample(num_tasks, self.rng)


class _Anchors(_Shuffled):
  """Draws something from the generator that it is given when it is made."""

  def __init__(self, tasks, cfg, rng):
    super().__init__(tasks, cfg, rng)
    self.anchors = tasks.target(8, rng)

  def sample(self, num_tasks, rng):
    return self.anchors[rng.integers(8, size=num_tasks)]


class _Hidden(_Shuffled):
  num_updates = 0

  def update(self, tasks, told):
    self.num_updates += 1
    return {'updates': self.num_updates}


class _Pacing(_Shuffled):
  """Goes on to harder tasks while the policy is good."""

  pace = 0.0

  def sample(self, num_tasks, rng):
    is_hard = rng.random(num_tasks) < self.pace
    tasks = self.tasks.easy(num_tasks, rng), self.tasks.target(num_tasks, rng)
    return np.where(is_hard[:, None], *reversed(tasks))

  def update(self, tasks, told):
    if told['value'].mean() > 0.6:
      self.pace = min(self.pace + 0.1, 1.0)
    return {}


class _Doubled(_Shuffled):
  def update(self, tasks, told):
    return {'kl': 0.1}


class _Covering(_Shuffled):
  def update(self, tasks, told):
    return {'coverage': 0.1}


class _Infeasible(_Shuffled):
  def sample(self, num_tasks, rng):
    return super().sample(num_tasks, rng) + 100.0


class _Prober(_Shuffled):
  feedback = ('final_task', 'success')

  def probe(self, num_tasks, rng):
    return self.tasks.target(num_tasks // 2, rng)

  def note_probe(self, tasks, told):
    self.state['phi'][0] = tasks[np.argmax(told['success'])]


class _Short(curriculum_base.Uniform):
  """Of TensorFlow; chooses fewer tasks than it was asked for."""

  def sample(self, num_tasks, seed, size=None):
    return super().sample(num_tasks - 1, seed, size)


class _Infinite(curriculum_base.Uniform):
  def update(self, batches, feedback, evaluation, seed):
    del batches, feedback, evaluation, seed
    return {'ratio': tf.constant(np.inf)}


class CurriculumTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.dict(catalog.CURRICULA._entries))

  def _try(self, chooser):
    python_curriculum.register('mine', chooser)
    return curriculum_trials.of_curriculum('mine', _ENV)

  def test_a_sound_one(self):
    self.assertRegex(
      self._try(_Shuffled),
      '^30 rounds of 250 tasks of speaker_listener, .* ms each; all feasible; '
      'resumes exactly; metrics: kept$',
    )

  @parameterized.parameters(_Prober, _Anchors)
  def test_other_sound_ones(self, chooser):
    self.assertIn('resumes exactly', self._try(chooser))

  @parameterized.parameters('uniform', 'rcg')
  def test_those_of_the_library(self, name):
    self.assertIn(
      'resumes exactly', curriculum_trials.of_curriculum(name, _ENV)
    )

  @parameterized.parameters(
    (_OwnGenerator, '^1 rounds after a resume it chooses other tasks than'),
    (
      _Hidden,
      '^1 rounds after a resume updates differs from its value without',
    ),
    (_Pacing, '^1 rounds after a resume it chooses other tasks than without'),
    (_Doubled, '^update: kl is the name of a metric of training itself; give'),
    (_Covering, '^update: coverage is the name of a metric of training'),
    (_Infeasible, 'sample .*expected feasible tasks'),
  )
  def test_faults(self, chooser, message):
    with self.assertRaisesRegex(curriculum_base.CurriculumError, message):
      self._try(chooser)

  @parameterized.parameters(
    (_Short, 'expected 250 tasks and a size of 250, given 249 tasks and'),
    (_Infinite, '^update: expected a number or NaN for ratio, given inf$'),
  )
  def test_faults_of_one_in_tensorflow(self, make, message):
    spec = catalog.CurriculumSpec(name='mine', make=make)
    catalog.register_curriculum(spec)
    with self.assertRaisesRegex(curriculum_base.CurriculumError, message):
      curriculum_trials.of_curriculum('mine', _ENV)


class FeedbackTest(absltest.TestCase):
  def _told(self, index, size=300):
    batch = types.TaskBatch(tf.zeros([300, 4]), tf.constant(size))
    world, fields = fakes.LineWorld(), types.TaskFeedback._fields[1:]
    told = curriculum_trials._feedback(fields, batch, world, index)
    return types.TaskFeedback(*map(np.asarray, told))

  def test_the_policy_becomes_good_and_bad_before_and_after_the_resume(self):
    value = [
      self._told(index).value.mean()
      for index in range(curriculum_trials._ROUNDS)
    ]
    resumed = curriculum_trials._RESUMED_AFTER
    for part in (value[: resumed + 1], value[resumed + 1 :]):
      self.assertLess(min(part), 0.25)
      self.assertGreater(max(part), 0.9)
    evaluated = [curriculum_trials._evaluation(x) for x in range(len(value))]
    self.assertTrue(np.isnan(evaluated[:3]).all())
    np.testing.assert_allclose(evaluated[3:], value[3:], atol=0.1)

  def test_fields_fit_each_other(self):
    for index in (0, 4, 7):
      told = self._told(index)
      np.testing.assert_array_equal(told.success, told.value)
      np.testing.assert_array_less(0.0, told.mean_value + 1e-6)
      is_solved = told.value > 0.0
      np.testing.assert_array_equal(told.max_return, is_solved)
      np.testing.assert_array_equal(told.success_time > 0.0, is_solved)
      self.assertLessEqual(told.success_time.max(), fakes.HORIZON - 4)
      gain = 2.0 * told.positive_advantage - told.value_error
      np.testing.assert_allclose(gain, told.value - told.mean_value, atol=1e-6)
      always = told.final_task[told.value == 1.0]
      np.testing.assert_array_less(np.abs(always[:, :2] - always[:, 2:]), 0.11)

  def test_tasks_that_are_not_played_are_told_as_in_training(self):
    for array in self._told(7, size=200):
      self.assertTrue(array[:200].any())
      self.assertFalse(array[200:].any())


if __name__ == '__main__':
  absltest.main()
