# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for trials: sound things pass, and each fault is one line."""

import dataclasses
import sys
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import types
from vacl_tf.curriculum import base as curriculum_base
from vacl_tf.curriculum import python_curriculum
from vacl_tf.environments import box_tasks
from vacl_tf.environments import one_world
from vacl_tf.environments import python_world
from vacl_tf.environments import task_spec
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
    (
      _Hidden,
      '^1 rounds after a resume updates differs from its value without',
    ),
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
      trials.of_curriculum('mine', _ENV)


class _Forgetful(fakes.LineWorld):
  def read_task(self, state):
    return 0.5 * super().read_task(state)


class _Backwards(fakes.LineWorld):
  def progress(self, state):
    return 1.0 - super().progress(state)


class _Plain(one_world.OneWorld):
  """A world in plain Python in which nothing happens."""

  action = types.discrete(3)

  def __init__(self, num_agents):
    self.num_agents = num_agents
    self.num_steps = 0

  def reset(self, task, rng):
    return np.zeros([self.num_agents, 2])

  def step(self, actions):
    self.num_steps += 1
    return one_world.Step(np.zeros([self.num_agents, 2]), 0.0, 0.5)


class _Pair(_Plain):
  def step(self, actions):
    if self.num_agents > 2:
      raise IndexError('too many')
    return super().step(actions)


class _Pictured(_Plain):
  def render(self):
    return np.zeros([48, 64, 3], np.uint8)


class _NoScreen(_Plain):
  def render(self):
    raise RuntimeError('no display')


class _Floats(_Plain):
  def render(self):
    return np.zeros([48, 64, 3])


class _Swelling(_Plain):
  def render(self):
    return np.zeros([48 + self.num_steps, 64, 3], np.uint8)


class _Leaving(_Plain):
  def step(self, actions):
    sys.exit(3)


def _box(num_agents):
  high = np.ones([num_agents, 2])
  return box_tasks.Box(
    -high, high, lambda num, rng: rng.uniform(-0.1, 0.1, [num, *high.shape])
  )


class PlainTaskTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.dict(catalog.TASKS._entries))

  def _try(self, make, **values):
    python_world.register('mine', make, _box, horizon=4, num_agents=2, **values)
    return trials.of_task('mine')

  def test_the_largest_number_of_agents_is_played(self):
    self.assertIn(
      '; no pictures; also played with num_agents=4',
      self._try(_Plain, max_agents=4),
    )
    with self.assertRaisesRegex(
      ValueError, '^num_agents=4: world 0, step 1 failed: IndexError: too many'
    ):
      catalog.TASKS._entries.pop('mine')
      self._try(_Pair, max_agents=4)

  def test_a_map_that_can_not_be_drawn_is_told(self):
    def tasks(num):
      corner = np.ones([num, 2])
      return box_tasks.Box(
        *(-corner, corner, lambda k, rng: np.zeros([k, num, 2])),
        kinds=[f'agent{index}' for index in range(num)],
      )

    python_world.register(
      'mine', _Plain, tasks, horizon=4, num_agents=2, max_agents=4
    )
    with self.assertRaisesRegex(ValueError, 'name the same kinds for all'):
      trials.of_task('mine')

  def test_a_map_that_fails_is_told(self):
    self._try(_Plain)
    entries = catalog.TASKS._entries
    entries['mine'] = dataclasses.replace(
      entries['mine'], layout=lambda world, counts: {}['no']
    )
    with self.assertRaisesRegex(ValueError, 'layout failed: KeyError'):
      trials.of_task('mine')

  def test_where_it_is_huge_a_smaller_one_is(self):
    told = self._try(_Plain, max_agents=100)
    self.assertIn('also played with num_agents=16', told)

  def test_one_number_alone(self):
    self.assertNotIn('played with', self._try(_Pair))

  def test_pictures(self):
    self.assertIn('tasks; pictures of 64 x 48', self._try(_Pictured))

  @parameterized.parameters(
    (_NoScreen, 'render failed: RuntimeError: no display'),
    (_Floats, r'render: expected uint8 of shape .*, given float64'),
    (_Swelling, r'render: expected .*\[49, 64, 3\]'),
    (_Leaving, 'step 1 failed: SystemExit: 3'),
  )
  def test_faults(self, make, message):
    with self.assertRaisesRegex(ValueError, message) as caught:
      self._try(make)
    self.assertNotIn('\n', str(caught.exception))

  @parameterized.parameters(
    ({'ppo.num_minibatches': 'four'}, "='four' is not a whole number; give"),
    ({'ppo.num_minibatches': 7}, '=7 does not divide'),
    ({'training.num_tasks': 0}, '=0 is out of range; allowed'),
  )
  def test_constants_that_training_refuses(self, values, message):
    with self.assertRaisesRegex(ValueError, message):
      self._try(_Plain, values=values)

  def test_other_presets_are_told_by_their_names(self):
    spec = catalog.TASKS.get(_ENV)
    world = dataclasses.replace(spec.world, name='mine')
    wrong = task_spec.Preset(num_env_steps=(9, 9))
    catalog.register_task(
      dataclasses.replace(
        spec, world=world, presets={**spec.presets, 'wrong': wrong}
      )
    )
    with self.assertRaisesRegex(
      ValueError, '^preset=wrong: num_env_steps=9 is below one iteration'
    ):
      trials.of_task('mine')


class _Sketched(fakes.LineWorld):
  def pictures(self, states):
    return [[np.zeros([8 + step, 8, 3], np.uint8)] for step in range(3)]


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

  def test_pictures_of_a_world_of_another_kind(self):
    with self.assertRaisesRegex(
      ValueError, r'^pictures: expected uint8 of shape \[8, 8, 3\], the same'
    ):
      self._try(_Sketched)

  def test_those_of_the_library(self):
    self.assertIn('1 x speaker, 1 x listener', trials.of_task(_ENV))

  def test_easy_tasks_that_are_not(self):
    self.assertEndsWith(self._try(_Backwards), 'easier: check sample_easy)')

  def test_what_is_read_should_be_what_was_placed(self):
    told = self._try(_Forgetful)
    self.assertRegex(told, r'\(read_task differs by up to [\d.]+ from the task')


class AgentTest(absltest.TestCase):
  def test_those_of_the_library(self):
    for name in catalog.AGENTS.names():
      self.assertRegex(
        trials.of_agent(name, _ENV), rf'^plays {_ENV} with [\d,]+ parameters$'
      )


class ToldOfTest(absltest.TestCase):
  def _told(self, function):
    try:
      function()
    except Exception as error:
      return trials.told_of(error, 'mine')
    self.fail('it did not raise')

  def test_of_the_users_code_there_is_a_place(self):
    code = "def make():\n  raise ValueError('no exit')"
    theirs = {}
    exec(compile(code, '/theirs.py', 'exec'), theirs)
    self.assertEqual(
      self._told(theirs['make']),
      ' failed: ValueError: no exit (/theirs.py, line 2)',
    )

  def test_a_check_of_ours_says_it_alone(self):
    def fails():
      raise ValueError('env=mine: there are no agents')

    self.assertEqual(self._told(fails), ': there are no agents')


if __name__ == '__main__':
  tf.test.main()
