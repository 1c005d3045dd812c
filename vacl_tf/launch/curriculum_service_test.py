# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A served curriculum is the library's own, and its rounds are whole."""

from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import builtin  # noqa: F401  Registers what has names.
from vacl_tf import catalog
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import task_expansion
from vacl_tf.launch import curriculum_server
from vacl_tf.launch import curriculum_service
from vacl_tf.launch import curriculum_space

_LOW, _HIGH = np.full([4], -1.0), np.full([4], 3.0)
_CHANGES = {'capacity': 48, 'num_easy_tasks': 24, 'num_children': 16}
_NUM_TASKS = 8


def _easy():
  rng = np.random.default_rng(0)
  return rng.uniform(-0.2, 0.2, [30, 4]).astype(np.float32)


def _legal(tasks):
  return (np.abs(tasks).reshape([-1, 2, 2]) < 2.5).all(-1)


def _service(name='vacl', oracle=None, seed=5, changes=_CHANGES):
  space = curriculum_space.TrainerSpace(_LOW, _HIGH, 2, _easy(), oracle)
  cfg = curriculum_server.make_config(
    name, _NUM_TASKS, seed, changes if name == 'vacl' else {}
  )
  return curriculum_service.Service(cfg, space)


def _value(tasks):
  """Half of the tasks, whatever their order, are solved."""
  return {'value': np.where(tasks[:, 0] > 0, 1.0, 0.6)}


def _play(service, rounds, sizes=(8, 5)):
  """Returns the tasks and metrics of some rounds."""
  played = []
  for index in range(rounds):
    tasks = service.sample(sizes[index % len(sizes)])
    played += [tasks, service.update(_value(tasks), float('nan'))]
  return played


class _Scorer(base.Curriculum):
  """Plays again what scored most, and keeps what it was told."""

  feedback = ('success', 'final_task')
  is_compiled = False

  def __init__(self, setting):
    super().__init__(name='scorer')
    self._space = setting.space
    self.told = tf.Variable(tf.zeros([setting.num_tasks]), trainable=False)

  def sample(self, num_tasks, seed, size=None):
    return (
      base.fresh_batch(self._space.sample_uniform(num_tasks, seed), size),
    )

  def update(self, batches, feedback, evaluation, seed):
    self.told.assign(feedback[0].success)
    return {'evaluation': evaluation[0], 'x': feedback[0].final_task[0, 0]}


class _Prober(_Scorer):
  def probe(self, num_tasks, seed, size=None):
    return self.sample(num_tasks, seed, size)


class ServiceTest(tf.test.TestCase, parameterized.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls.service = _service()
    cls.asking = _service(oracle=_legal)
    cls.before = {x: x.state() for x in (cls.service, cls.asking)}

  def setUp(self):
    super().setUp()
    for service, state in self.before.items():
      service.restore(*state)

  def test_it_is_the_librarys_own(self):
    space = curriculum_space.TrainerSpace(_LOW, _HIGH, 2, _easy(), None)
    cfg = curriculum_server.make_config('vacl', _NUM_TASKS, 5, _CHANGES)
    root = randomness.root(5)
    own = task_expansion.TaskExpansion(
      base.Setting(
        cfg=cfg,
        space=space,
        num_tasks=_NUM_TASKS,
        most_tasks=_NUM_TASKS,
        seed=randomness.fold(root, randomness.Stream.CURRICULUM),
      )
    )
    # XLA draws other random numbers than TensorFlow alone.
    sample, update = (
      tf.function(x, jit_compile=True, autograph=False)
      for x in (own.sample, own.update)
    )
    for index, size in enumerate((8, 5, 8, 8)):
      seeds = [
        randomness.fold(root, stream, index + later)
        for later, stream in enumerate(
          (randomness.Stream.SAMPLE, randomness.Stream.UPDATE)
        )
      ]
      [batch] = sample(_NUM_TASKS, seeds[0], tf.constant(size))
      tasks = self.service.sample(size)
      self.assertAllEqual(tasks, space.to_trainer(batch.phi.numpy()[:size]))
      value = np.zeros([_NUM_TASKS], np.float32)
      value[:size] = _value(tasks)['value']
      nowhere = tf.constant([float('nan')])
      told = types.TaskFeedback(tf.constant(value))
      update((batch,), (told,), nowhere, seeds[1])
      metrics = self.service.update(_value(tasks), float('nan'))
    self.assertGreater(metrics['solved_tasks'], 0)
    for mine, theirs in zip(
      self.service.state()[1].values(), own.variables, strict=True
    ):
      self.assertAllClose(mine, theirs, atol=1e-5)

  def test_tasks_are_in_the_box_and_feasible(self):
    for tasks in _play(self.asking, 6)[::2]:
      self.assertTrue(np.all(_legal(tasks)))
      self.assertTrue(np.all((tasks >= _LOW) & (tasks <= _HIGH)))
    for tasks in _play(self.service, 6)[::2]:
      self.assertTrue(np.all((tasks >= _LOW) & (tasks <= _HIGH)))

  @parameterized.parameters(False, True)
  def test_it_goes_on_exactly(self, is_asked):
    service = self.asking if is_asked else self.service
    other = _service(oracle=_legal if is_asked else None)
    # The other one is new at first; then it has rounds of its own to forget.
    for in_round in (is_asked, not is_asked):
      _play(service, 3)
      waiting = service.sample(6) if in_round else None
      counters, arrays = service.state()
      rest = service.update(_value(waiting), 0.5) if in_round else {}
      expected = _play(service, 3)
      self.assertAllEqual(other.restore(counters, arrays), waiting)
      if in_round:
        self.assertEqual(other.update(_value(waiting), 0.5), rest)
      for mine, theirs in zip(_play(other, 3), expected, strict=True):
        self.assertAllEqual(mine, theirs)

  def test_a_round_may_be_dropped(self):
    first = self.service.sample(8)
    second = self.service.sample(8)
    self.assertNotAllEqual(first, second)
    self.service.update(_value(second), float('nan'))

  def test_a_round_that_fails_can_be_ended_again(self):
    service = self.asking
    _play(service, 2)
    tasks = service.sample(8)
    before = service.state()
    space, error = service._space, KeyError('mine')
    with mock.patch.object(space, '_oracle', side_effect=error):
      space._asked = space._asked[:0]  # So that it has to ask.
      with self.assertRaises(KeyError) as raised:
        service.update(_value(tasks), float('nan'))
    self.assertIs(raised.exception, error)
    after = service.state()
    self.assertEqual(before[0], after[0])
    for mine, theirs in zip(before[1].values(), after[1].values(), strict=True):
      self.assertAllEqual(mine, theirs)
    service.update(_value(tasks), float('nan'))

  def test_nothing_is_compiled_for_another_size(self):
    _play(self.service, 6, sizes=(8, 5, 1))
    for program in (self.service._sample, self.service._update):
      self.assertEqual(program.experimental_get_tracing_count(), 1)

  def test_other_variables_are_refused(self):
    counters, arrays = self.service.state()
    with self.assertRaisesRegex(ValueError, 'its variables differ from'):
      self.service.restore(counters, {**arrays, '000': np.zeros([3])})

  def test_uniform(self):
    tasks, metrics = _play(_service('uniform'), 1)
    self.assertEqual(tasks.shape, (8, 4))
    expected = np.mean(_value(tasks)['value'])
    self.assertAllClose(metrics['training_value'], expected)

  @parameterized.named_parameters(
    ('name', {'name': 'vakl'}, 'did you mean vacl?'),
    ('changes', {'changes': {'nois': 1.0}}, 'did you mean noise'),
    ('range', {'changes': {'noise': -1.0}}, 'noise=-1.0 is out of range'),
  )
  def test_what_does_not_exist(self, changed, message):
    with self.assertRaisesRegex(ValueError, message):
      _service(**changed)


class RegisteredTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.dict(catalog.CURRICULA._entries))

  def _register(self, make):
    catalog.register_curriculum(
      catalog.CurriculumSpec(name='of_a_user', make=make)
    )
    return _service('of_a_user')

  def test_more_feedback_is_passed_on(self):
    service = self._register(_Scorer)
    self.assertEqual(service.feedback, ('success', 'final_task'))
    tasks = service.sample(3)
    told = {'success': np.array([1.0, 0.5, 0.0]), 'final_task': tasks + 0.5}
    found = service.update({'value': np.zeros([3]), **told}, 0.25)
    self.assertEqual(found['evaluation'], 0.25)
    expected = service._space.from_trainer(tasks + 0.5)[0, 0]
    self.assertAllClose(found['x'], expected)
    self.assertAllEqual(service.state()[1]['000'], [1.0, 0.5] + [0.0] * 6)

  def test_one_that_needs_a_world_is_refused(self):
    with self.assertRaisesRegex(ValueError, 'needs one of the worlds of vacl'):
      self._register(lambda setting: setting.world.roles)

  def test_one_that_probes_is_refused(self):
    with self.assertRaisesRegex(ValueError, "'of_a_user' probes tasks"):
      self._register(_Prober)

  def test_feedback_that_there_is_not_is_refused(self):
    with (
      mock.patch.object(_Scorer, 'feedback', ('sucess',)),
      self.assertRaisesRegex(ValueError, 'did you mean success'),
    ):
      self._register(_Scorer)


if __name__ == '__main__':
  tf.test.main()
