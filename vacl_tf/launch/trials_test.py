# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for trials: sound things pass, and each fault is one line."""

import dataclasses
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf.curriculum import base as curriculum_base
from vacl_tf.curriculum import python_curriculum
from vacl_tf.launch import trials
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


class _Infeasible(_Shuffled):
  def sample(self, num_tasks, rng):
    return super().sample(num_tasks, rng) + 100.0


class _Prober(_Shuffled):
  feedback = ('final_task', 'success')

  def probe(self, num_tasks, rng):
    return self.tasks.target(num_tasks // 2, rng)

  def note_probe(self, tasks, told):
    self.state['phi'][0] = tasks[np.argmax(told['success'])]


class CurriculumTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.dict(catalog.CURRICULA._entries))

  def _try(self, chooser):
    python_curriculum.register('mine', chooser)
    return trials.of_curriculum('mine', _ENV)

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
    self.assertIn('resumes exactly', trials.of_curriculum(name, _ENV))

  @parameterized.parameters(
    (_OwnGenerator, '^1 rounds after a resume it chooses other tasks than'),
    (_Hidden, '^1 rounds after a resume updates is another than without one'),
    (_Infeasible, 'sample .*expected feasible tasks'),
  )
  def test_faults(self, chooser, message):
    with self.assertRaisesRegex(curriculum_base.CurriculumError, message):
      self._try(chooser)


class _Forgetful(fakes.LineWorld):
  def read_task(self, state):
    return 0.5 * super().read_task(state)


class _Backwards(fakes.LineWorld):
  def progress(self, state):
    return 1.0 - super().progress(state)


class TaskTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.dict(catalog.TASKS._entries))

  def _try(self, make):
    spec = catalog.TASKS.get('simple_spread')
    world = dataclasses.replace(spec.world, name='mine')
    catalog.register_task(
      dataclasses.replace(spec, world=world, make=lambda world: make())
    )
    return trials.of_task('mine')

  def test_a_sound_one(self):
    told = self._try(fakes.LineWorld)
    self.assertRegex(told, r'^2 x agent, 4 numbers a task, \d+ steps; with')
    self.assertNotIn('sample_easy', told)

  def test_those_of_the_library(self):
    self.assertIn('1 x speaker, 1 x listener', trials.of_task(_ENV))

  def test_easy_tasks_that_are_not(self):
    self.assertEndsWith(self._try(_Backwards), 'easier: check sample_easy)')

  def test_what_is_read_should_be_what_was_placed(self):
    told = self._try(_Forgetful)
    self.assertRegex(told, r'\(read_task is up to [\d.]+ away from the task')


class AgentTest(absltest.TestCase):
  def test_those_of_the_library(self):
    for name in catalog.AGENTS.names():
      self.assertRegex(
        trials.of_agent(name, _ENV), rf'^plays {_ENV} with [\d,]+ parameters$'
      )


if __name__ == '__main__':
  tf.test.main()
