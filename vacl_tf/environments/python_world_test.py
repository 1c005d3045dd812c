# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0

import sys
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import box_tasks
from vacl_tf.environments import checked_simulator
from vacl_tf.environments import episodes
from vacl_tf.environments import one_world
from vacl_tf.environments import python_world

_HORIZON = 4


class Walk(one_world.OneWorld):
  """Agents walk on a line and a light shows in which steps noise is high."""

  action = types.discrete(3)
  ends_at = 9.0

  def __init__(self, num_agents=2):
    self.num_agents = num_agents

  def reset(self, task, rng):
    self.position, self.rng = task.astype(np.float64), rng
    return self.observe()

  def observe(self):
    shape = [self.num_agents, self.num_agents, 1]
    position = np.broadcast_to(self.position[None, :, None], shape)
    return {
      'own': self.position[:, None],
      'noise': self.rng.random([self.num_agents, 2]),
      'agents': position,
      'agents_mask': position[..., 0] > 0.0,
    }

  def step(self, actions):
    self.position = self.position + actions - 1
    top = self.position.max()
    progress = np.clip(top / 10.0, 0.0, 1.0)
    return one_world.Step(
      self.observe(), self.position, progress, top >= self.ends_at
    )

  def read_task(self):
    return self.position

  def render(self):
    return np.full([4, 5, 3], int(self.position[0]), np.uint8)


def _tasks(num_agents=2):
  corner = np.ones([num_agents])
  return box_tasks.Box(
    -10 * corner,
    10 * corner,
    lambda num, rng: rng.uniform(5.0, 8.0, [num, num_agents]),
  )


def _world(make=Walk, num_agents=2):
  return python_world.PythonWorld(
    'walk', make, _tasks(num_agents), _HORIZON, num_agents
  )


class PythonWorldTest(tf.test.TestCase, parameterized.TestCase):
  def test_the_role_is_what_is_observed(self):
    [role] = _world().roles
    self.assertEqual((role.num_agents, role.own_size), (2, 3))
    self.assertEqual(dict(role.entity_sizes), {'agents': 1})
    self.assertEqual(role.mask_kinds, ('agents',))
    self.assertEqual(_world().num_vectors, 2 * 3)

  @parameterized.parameters(1, 2, 5)
  def test_the_contract_is_kept(self, num_agents):
    checked_simulator.check_world(_world(lambda: Walk(num_agents), num_agents))

  def test_the_batch_does_what_single_worlds_do(self):
    phi = np.array([[1.0, 2.0], [-3.0, 0.5], [4.0, -2.0]], np.float32)
    simulator = _world().make_simulator(3)
    simulator.place(phi, [5])
    actions = np.random.default_rng(0).integers(0, 3, [3, 3, 2])
    for world, task in enumerate(phi):
      simulator.place(phi, [5])
      alone = Walk()
      alone.reset(task, np.random.default_rng([5, world]))
      for step in actions:
        outcome = simulator.step((step,))
        expected = alone.step(step[world])
        [seen] = simulator.observe()
        self.assertAllClose(seen.own[world, :, :1], expected.observation['own'])
        self.assertAllClose(
          seen.own[world, :, 1:], expected.observation['noise']
        )
        self.assertAllClose(
          seen.entities['agents'][world], expected.observation['agents']
        )
        self.assertAllEqual(
          seen.masks['agents'][world], expected.observation['agents_mask']
        )
        self.assertAllClose(outcome.reward[0][world], expected.reward)
        self.assertAllClose(outcome.progress[world], expected.progress)
        self.assertAllClose(simulator.read_task()[world], alone.position)

  def test_first_worlds_do_not_depend_on_how_many_there_are(self):
    phi = np.ones([4, 2], np.float32)
    seen = []
    for num in (2, 4):
      simulator = _world().make_simulator(num)
      simulator.place(phi[:num], [1, 2])
      seen.append(simulator.observe()[0].own[:2])
    self.assertAllEqual(*seen)
    self.assertNotAllClose(seen[0][0], seen[0][1])

  def test_a_world_that_ends_begins_again_and_keeps_its_progress(self):
    simulator = _world().make_simulator(2)
    simulator.place(np.array([[8.0, 0.0], [0.0, 0.0]], np.float32), [0])
    up = np.full([2, 2], 2)
    found = [simulator.step((up,)) for _ in range(3)]
    self.assertAllEqual([x.discount[0] for x in found], [0.0, 0.0, 0.0])
    self.assertAllEqual([x.discount[1] for x in found], [1.0, 1.0, 1.0])
    self.assertAllClose([x.progress[0] for x in found], [0.9, 0.9, 0.9])
    self.assertAllClose([x.progress[1] for x in found], [0.1, 0.2, 0.3])
    self.assertAllClose(simulator.read_task()[0], [8.0, 0.0])
    down = simulator.step((np.zeros([2, 2], int),))
    self.assertAllClose(down.discount[0], 1.0)
    self.assertAllClose(down.progress[0], 0.9)  # Held.
    simulator.place(np.zeros([2, 2], np.float32), [0])
    self.assertAllClose(simulator.step((up,)).progress, [0.1, 0.1])

  def test_where_nobody_goes_on_with_it_it_stays_as_it_ended(self):
    simulator = _world().make_simulator(2)
    simulator.restarts = False
    simulator.place(np.array([[8.0, 0.0], [0.0, 0.0]], np.float32), [0])
    up = np.full([2, 2], 2)
    for step in (1, 2, 3):
      found = simulator.step((up,))
      checked_simulator.check_outcome(found, _world(), 2)
      self.assertAllEqual(found.discount, [0.0, 1.0])
      self.assertAllClose(found.progress, [0.9, 0.1 * step])
      self.assertAllClose(simulator.read_task(), [[9.0, 1.0], [step, step]])
      self.assertEqual([x[0, 0, 0] for x in simulator.state], [9, step])
    simulator.place(np.zeros([2, 2], np.float32), [0])
    self.assertAllClose(simulator.step((up,)).progress, [0.1, 0.1])

  def test_what_ends_at_the_horizon_does_not_begin_again(self):
    simulator = _world().make_simulator(2)
    simulator.place(np.array([[5.0, 0.0], [0.0, 0.0]], np.float32), [0])
    up = np.full([2, 2], 2)
    found = [simulator.step((up,)) for _ in range(_HORIZON)]
    self.assertAllEqual(found[-1].discount, [0.0, 1.0])
    self.assertAllClose(simulator.read_task()[0], [9.0, 4.0])

  @parameterized.product(
    last=(None, {}, {'own': np.full([2, 1], np.nan)}, [[0.0], []]),
    restarts=(True, False),
  )
  def test_what_ends_because_it_diverged_shows_what_was_before(
    self, last, restarts
  ):
    class Diverging(Walk):
      ends_at = _HORIZON if restarts else 2.0

      def step(self, actions):
        found = super().step(actions)
        return found._replace(observation=last) if found.has_ended else found

    simulator = _world(Diverging).make_simulator(1)
    simulator.restarts = restarts
    simulator.place(np.zeros([1, 2], np.float32), [0])
    for _ in range(_HORIZON):
      found = simulator.step((np.full([1, 2], 2),))
    self.assertAllEqual(found.discount, [0.0])
    [seen] = simulator.observe()
    self.assertAllClose(seen.own[0, :, 0], [Diverging.ends_at - 1.0] * 2)

  def test_alone_in_a_view_it_stays_as_it_ended(self):
    view = episodes.Episodes(_world())
    view.reset(phi=np.array([[8.0, 0.0]], np.float32))
    step = view.step((np.full([1, 2], 2),))
    self.assertTrue(step.is_terminated[0])
    self.assertFalse(view.is_playing)
    self.assertAllClose(view.observe()[0].own[0, :, 0], [9.0, 1.0])
    self.assertEqual(view.state[0][0, 0, 0], 9)
    view.reset(phi=np.array([[8.0, 0.0]], np.float32))
    self.assertAllClose(view.observe()[0].own[0, :, 0], [8.0, 0.0])

  def test_what_is_cut_where_it_ends_has_ended(self):
    simulator = _world(_CutWhereItEnds).make_simulator(1)
    simulator.place(np.array([[8.0, 0.0]], np.float32), [0])
    found = simulator.step((np.full([1, 2], 2),))
    self.assertAllEqual(found.discount, [0.0])

  @parameterized.parameters(
    ({'num_agents': 4, 'max_agents': 2}, 'max_agents=2 is below num_agents=4'),
    ({'num_agents': 0}, 'num_agents=0; allowed: whole numbers from 1 on'),
    ({'num_agents': '2'}, "num_agents='2'; allowed: whole"),
    ({'max_agents': 2.5}, 'max_agents=2.5; allowed: whole'),
    ({'horizon': 0}, 'horizon=0; allowed: whole'),
    ({'num_env_steps': 1e6}, 'num_env_steps=1000000.0; allowed: whole'),
    ({'make': 3}, 'make=3 is not a function of the number of agents; give'),
    ({'values': 5}, "values=5 is not a dict; give one like {'ppo.num_epochs'"),
  )
  def test_impossible_arguments_are_refused(self, changed, message):
    given = {'make': Walk, 'tasks': _tasks, 'horizon': 4} | changed
    with self.assertRaisesRegex(ValueError, f'^mine: {message}'):
      python_world.register('mine', **given)

  @parameterized.parameters((None, False), (2, False), (3, True))
  def test_constants_of_growth_are_of_tasks_that_grow(self, most, grows):
    with mock.patch.object(catalog, 'register_task') as register:
      python_world.register(
        'mine', Walk, _tasks, horizon=4, num_agents=2, max_agents=most
      )
    [spec] = register.call_args.args
    values = spec.presets['default'].values
    self.assertEqual('ppo.num_minibatches' in values, grows)

  @parameterized.parameters(1e-5, 1e6)
  def test_extreme_units_are_refused(self, width):
    with self.assertRaisesRegex(
      ValueError, r'mean width of .*allowed: 0\.001 to 100000; give the numbers'
    ):
      python_world._values(width, grows=False)

  @parameterized.parameters(0.001, 0.5, 1000.0)
  def test_the_unit_of_a_box_changes_nothing(self, unit):
    """Steps and noise are lengths; the kernel is exp(-d^2 / bandwidth)."""
    [metres, other] = (
      {
        name.removeprefix('curriculum.'): number
        for name, number in python_world._values(width, grows=False).items()
      }
      for width in (6.0, 6.0 * unit)
    )
    distance = 1.7
    for of, length in ((metres, distance), (other, distance * unit)):
      of['kernel'] = np.exp(-(length**2) / of.pop('bandwidth'))
      of['step_size'] /= length
      of['noise'] /= length
    self.assertAllClose(metres, other, 1e-9)

  def test_pictures_are_of_each_world(self):
    world = _world()
    simulator = world.make_simulator(2)
    simulator.place(np.array([[7.0, 0.0], [3.0, 0.0]], np.float32), [0])
    [[first, second]] = world.pictures([simulator.state])
    self.assertEqual((first.shape, first[0, 0, 0]), ((4, 5, 3), 7))
    self.assertEqual(second[0, 0, 0], 3)

  def test_a_world_without_pictures_says_so(self):
    with self.assertRaisesRegex(NotImplementedError, 'walk cannot be drawn'):
      _world().pictures([[None]])

  @parameterized.named_parameters(
    ('shape', 'observe', lambda self: np.zeros([2, 3]), 'keep them the same'),
    ('ragged', 'observe', lambda self: {'own': np.zeros([1, 3])}, 'expected v'),
    ('progress', 'step', lambda self, a: _step(self, 1.5), 'step 1.*given 1.5'),
    ('nan', 'step', lambda self, a: _step(self, np.nan), 'given nan'),
    ('reward', 'step', lambda self, a: _step(self, 0, np.zeros(3)), r'\[3\]'),
    ('no_step', 'step', lambda self, a: 3, 'expected a one_world.Step'),
    ('cut', 'step', lambda self, a: _cut(self), 'give horizon=1'),
    (
      'ended',
      'step',
      lambda self, a: _step(self, 0.0)._replace(has_ended=a > 0),
      'has_ended: expected True or False',
    ),
    ('exit', 'step', lambda self, a: sys.exit(3), 'failed: SystemExit: 3'),
    ('bug', 'step', lambda self, a: 1 // 0, 'ZeroDivisionError: '),
  )
  def test_a_wrong_world_is_told_in_a_line(self, name, method, message):
    simulator = _world().make_simulator(2)
    simulator.place(np.zeros([2, 2], np.float32), [0])
    with self.assertRaisesRegex(
      base.WorldError, f'world 1.*{message}'
    ) as found:
      # The first world is good.
      broken = type('Broken', (Walk,), {name: method})()
      broken.reset = Walk.reset.__get__(broken)
      broken.position, broken.rng = np.zeros([2]), np.random.default_rng(0)
      simulator._worlds[1] = broken
      simulator.step((np.ones([2, 2], int),))
    self.assertNotIn('\n', str(found.exception))

  @parameterized.named_parameters(
    (
      'info',
      lambda *_: (np.zeros([2, 3]), {}),
      'expected only the observation',
    ),
    ('nothing', lambda *_: None, '.*given own: None'),
    ('exit', lambda *_: sys.exit(3), 'failed: SystemExit: 3'),
  )
  def test_a_wrong_reset_is_told(self, reset, message):
    make = type('Broken', (Walk,), {'reset': reset})
    with self.assertRaisesRegex(
      base.WorldError, f'^world 0, reset:? {message}'
    ):
      _world(make)

  @parameterized.named_parameters(
    (
      'task',
      'read_task',
      lambda self: [1.0],
      r'expected .*\[2\], given.* \[1\]',
    ),
    ('picture', 'render', lambda self: 1 // 0, 'failed: ZeroDivisionError'),
  )
  def test_what_is_read_wrong_is_told(self, method, function, message):
    make = type('Broken', (Walk,), {method: function})
    simulator = _world(make).make_simulator(1)
    simulator.place(np.zeros([1, 2], np.float32), [0])
    with self.assertRaisesRegex(
      base.WorldError, f'^world 0, {method}:? {message}'
    ):
      _ = simulator.read_task() if method == 'read_task' else simulator.state

  def test_pictures_that_change_their_size_are_told(self):
    frames = [np.zeros([4, width, 3], np.uint8) for width in (5, 6)]
    with self.assertRaisesRegex(base.WorldError, 'render: .*of one size'):
      _world().pictures([frames[:1], frames[1:]])

  def test_what_is_no_world_is_told(self):
    with self.assertRaisesRegex(
      base.WorldError, 'given an object; a gymnasium'
    ):
      _world(object)

  def test_worlds_of_a_batch_share_nothing(self):
    walk, inner = Walk(), object()

    def wrap():
      world = Walk()
      world.wrapped = inner
      return world

    for make, kind in ((lambda: walk, 'world'), (wrap, 'environment')):
      _world(make).make_simulator(1).close()
      with self.assertRaisesRegex(
        base.WorldError, f'^make: returned the same {kind} twice'
      ):
        _world(make).make_simulator(2)

  def test_tasks_that_are_no_box_are_told(self):
    with self.assertRaisesRegex(base.WorldError, 'returns a tuple; return box'):
      python_world.register('none', Walk, lambda n: (1, 2), horizon=4)

  def test_another_number_of_agents_is_told(self):
    with self.assertRaisesRegex(base.WorldError, 'expected 3, given 2'):
      _world(num_agents=3)


class _CutWhereItEnds(Walk):
  def step(self, actions):
    return super().step(actions)._replace(is_cut=True)


def _step(world, progress, reward=0.0):
  return one_world.Step(world.observe(), reward, progress)


def _cut(world):
  return one_world.Step(world.observe(), 0.0, 0.0, is_cut=True)


if __name__ == '__main__':
  absltest.main()
