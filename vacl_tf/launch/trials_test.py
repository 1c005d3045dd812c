# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for trials: sound things pass, and each fault is one line."""

import dataclasses
import sys
from typing import ClassVar
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import types
from vacl_tf.environments import box_tasks
from vacl_tf.environments import one_world
from vacl_tf.environments import python_world
from vacl_tf.environments import task_spec
from vacl_tf.launch import trials
from vacl_tf.testing import fakes

_ENV = 'speaker_listener'


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


class _Beacon(_Plain):
  """Agents walk on a line to 0; all of them have to be there."""

  reach = 0.2

  def reset(self, task, rng):
    self.place = task[:, 0]
    return task

  def step(self, actions):
    self.place = self.place + 0.2 * (actions - 1)
    is_there = np.all(np.abs(self.place) < self.reach)
    seen = np.zeros([self.num_agents, 2])
    return one_world.Step(seen, 0.0, float(is_there))


class _Hopeless(_Beacon):
  reach = 0.0


def _uniform_box(num_agents):
  high = np.ones([num_agents, 2])
  return box_tasks.Box(
    -high, high, lambda num, rng: rng.uniform(-1.0, 1.0, [num, *high.shape])
  )


def _box(num_agents):
  high = np.ones([num_agents, 2])
  return box_tasks.Box(
    -high, high, lambda num, rng: rng.uniform(-0.1, 0.1, [num, *high.shape])
  )


class PlainTaskTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.dict(catalog.TASKS._entries))

  def _try(self, make, box=_box, **values):
    python_world.register('mine', make, box, horizon=4, num_agents=2, **values)
    return trials.of_task('mine')

  @parameterized.parameters(
    (_Beacon, _box, False),
    (_Beacon, _uniform_box, True),
    # Random actions never solve them, so that only the draws can tell.
    (_Hopeless, _box, False),
    (_Hopeless, _uniform_box, True),
  )
  def test_easy_tasks_that_are_like_all_others_are_noted(
    self, make, box, is_noted
  ):
    found = self._try(make, box)
    note = r'\nnote: progress reaches 0\.\d\d on easy and 0\.\d\d on target'
    if is_noted:
      self.assertRegex(found, note)
    else:
      self.assertNotIn('note', found)

  @parameterized.parameters((0.3, True), (0.35, False))
  def test_numbers_of_very_different_width_are_noted(self, width, is_noted):
    high = np.array([[1.0, 1.0], [1.0, width]])

    def box(num_agents):
      kinds = ['agent', 'wind']
      easy = _box(num_agents)._easy
      return box_tasks.Box(
        -high, high, lambda num, rng: width * easy(num, rng), kinds=kinds
      )

    found = self._try(_Beacon, box)
    note = (
      'note: numbers of a task are 2 wide in row 0 (agent), but 0.6 wide in '
      'row 1 (wind); the noise'
    )
    (self.assertIn if is_noted else self.assertNotIn)(note, found)

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

  @parameterized.parameters(
    (lambda layout: {}['no'], 'KeyError'),
    (lambda layout: layout._replace(mover='cat'), "mover='cat'; allowed: one"),
    (lambda layout: layout._replace(goal='cat'), "goal='cat'; allowed: one"),
    (lambda layout: layout._replace(sample=lambda rows: 1 / 0), 'ZeroDivision'),
  )
  def test_a_map_that_fails_is_told(self, change, message):
    self._try(_Plain)
    entries = catalog.TASKS._entries
    good = entries['mine']
    entries['mine'] = dataclasses.replace(
      good, layout=lambda *args: change(good.layout(*args))
    )
    with self.assertRaisesRegex(ValueError, f'layout failed: .*{message}'):
      trials.of_task('mine')

  def test_where_it_is_huge_a_smaller_one_is(self):
    told = self._try(_Plain, max_agents=100)
    self.assertIn('also played with num_agents=16', told)

  def test_one_number_alone(self):
    self.assertNotIn('played with', self._try(_Pair))

  def test_pictures(self):
    self.assertIn('; pictures of 64 x 48', self._try(_Pictured))

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


@dataclasses.dataclass(frozen=True)
class _Flags(config.EnvironmentConfig):
  """Constants of a world that also counts flags."""

  count_fields: ClassVar[tuple[str, ...]] = ('num_agents', 'num_flags')
  num_flags: int = 1


class _Flagged(fakes.LineWorld):
  def __init__(self, num_flags):
    super().__init__()
    self._counts = 2, num_flags

  @property
  def counts(self):
    return self._counts


class _Sketched(fakes.LineWorld):
  def pictures(self, states):
    return [[np.zeros([8 + step, 8, 3], np.uint8)] for step in range(3)]


class TaskTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.dict(catalog.TASKS._entries))

  def _try(self, make):
    spec = catalog.TASKS.get('simple_spread')
    world = dataclasses.replace(
      spec.world, name='mine', num_agents=2, horizon=fakes.HORIZON
    )
    catalog.register_task(
      dataclasses.replace(
        spec, world=world, make=lambda world: make(), least=(2,), most=(2,)
      )
    )
    return trials.of_task('mine')

  def test_a_sound_one(self):
    told = self._try(fakes.LineWorld)
    self.assertRegex(told, r'^2 x agent, 4 numbers a task, \d+ steps; with')
    self.assertNotIn('note', told)

  def test_counts_of_its_own_are_played(self):
    preset = task_spec.Preset(
      num_env_steps=(9000, 9000), values={'ppo.num_minibatches': 4}
    )
    catalog.register_task(
      task_spec.TaskSpec(
        world=_Flags(name='mine', num_agents=2, horizon=fakes.HORIZON),
        make=lambda world: _Flagged(world.num_flags),
        presets={'default': preset},
        least=(2, 1),
        most=(2, 3),
      )
    )
    self.assertIn('with num_agents=2 and num_flags=3', trials.of_task('mine'))

  def test_pictures_of_a_world_of_another_kind(self):
    with self.assertRaisesRegex(
      ValueError, r'^pictures: expected uint8 of shape \[8, 8, 3\], the same'
    ):
      self._try(_Sketched)

  @parameterized.parameters(*catalog.TASKS.names())
  def test_there_is_no_note_on_those_of_the_library(self, name):
    with mock.patch.object(trials, '_larger_counts', return_value={}):
      told = trials.of_task(name)
    self.assertRegex(told, r'^\d x .* at the end; pictures of \d+ x \d+$')

  def test_easy_tasks_that_are_not(self):
    self.assertRegex(
      self._try(_Backwards), r'\nnote: progress reaches 0\.\d\d on easy and'
    )

  def test_what_is_read_should_be_what_was_placed(self):
    told = self._try(_Forgetful)
    self.assertRegex(
      told, r'\nnote: read_task differs by up to [\d.]+ from the'
    )


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
