# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for python_curriculum: what a user's chooser is given and gives."""

import dataclasses
import sys
from typing import Annotated
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import checks
from vacl_tf.curriculum import python_curriculum
from vacl_tf.testing import fakes

_NUM_TASKS = 6


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Constants(config.CurriculumConfig):
  rows: Annotated[int, config.Range(1, 100)] = 3


class _Chooser(python_curriculum.Chooser):
  feedback = ('success',)

  def __init__(self, tasks, cfg, rng):
    self.tasks = tasks
    self.state = {
      'phi': tasks.easy(cfg.rows, rng),
      'seen': np.zeros([], np.int64),
    }
    self.told = []

  def sample(self, num_tasks, rng):
    row = rng.integers(0, len(self.state['phi']), num_tasks)
    return self.state['phi'][row]

  def update(self, tasks, told):
    self.told.append((tasks, told))
    self.state['seen'] = self.state['seen'] + len(tasks)
    self.state['phi'][0] = tasks[0]
    return {'mean_success': told['success'].mean()}


class _Wordy(_Chooser):
  def __init__(self, tasks, cfg, rng):
    super().__init__(tasks, cfg, rng)
    self.state['word'] = 'left'


class _Ragged(_Chooser):
  def __init__(self, tasks, cfg, rng):
    super().__init__(tasks, cfg, rng)
    self.state['rows'] = [[1.0], [1.0, 2.0]]


class _Stateless(_Chooser):
  def __init__(self, tasks, cfg, rng):
    del tasks, cfg, rng


class _Prober(_Chooser):
  num_probes = 3

  def probe(self, num_tasks, rng):
    self.most = num_tasks
    self.probed = self.tasks.target(self.num_probes, rng)
    return self.probed

  def note_probe(self, tasks, told):
    self.told.append((tasks, told))
    self.state['seen'] = self.state['seen'] + 100


def _feedback(num_tasks):
  share = np.linspace(0.0, 1.0, num_tasks, dtype=np.float32)
  return types.TaskFeedback(
    value=tf.constant(share), success=tf.constant(share[::-1])
  )


class _TestCase(tf.test.TestCase, parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.dict(catalog.CURRICULA._entries))
    self.space = fakes.LineWorld(10).task_space

  def _make(self, chooser=_Chooser, are_trusted=False):
    made = []

    def make(*args):
      made.append(chooser(*args))
      return made[-1]

    python_curriculum.register('mine', make, _Constants)
    setting = base.Setting(
      cfg=config.Config(curriculum=_Constants(name='mine')),
      space=self.space,
      num_tasks=_NUM_TASKS,
      most_tasks=_NUM_TASKS,
      seed=randomness.root(0),
    )
    curriculum = catalog.CURRICULA.get('mine').make
    return curriculum(setting, are_trusted=are_trusted), made[0]


class PythonCurriculumTest(_TestCase):
  def _update(self, curriculum, batch):
    return curriculum.update(
      (batch,),
      (_feedback(_NUM_TASKS),),
      tf.constant([np.nan]),
      randomness.root(2),
    )

  def test_a_round(self):
    curriculum, chooser = self._make()
    self.assertEqual(curriculum.feedback, ('success',))
    self.assertFalse(curriculum.is_compiled)
    [batch] = curriculum.sample(_NUM_TASKS, randomness.root(1), tf.constant(4))
    self.assertEqual(batch.phi.shape, (_NUM_TASKS, self.space.num_dims))
    metrics = self._update(curriculum, batch)
    [(tasks, told)] = chooser.told
    # Rows that were not played are not told of.
    self.assertAllEqual(tasks, batch.phi[:4])
    self.assertAllClose(told['value'], np.linspace(0.0, 1.0, _NUM_TASKS)[:4])
    self.assertAllClose(metrics['mean_success'], np.mean([1.0, 0.8, 0.6, 0.4]))
    self.assertAllClose(metrics['training_value'], 0.3)

  def test_history_is_the_latest_batch_apart_by_how_it_went(self):
    curriculum, _ = self._make()
    self.assertEmpty(curriculum.history())
    value = np.array([0.95, 0.96, 0.0, 1.0, 0.5, 0.0], np.float32)
    for size in (6, 5):  # Of the earlier batch nothing is left.
      seed = randomness.root(size)
      [batch] = curriculum.sample(_NUM_TASKS, seed, tf.constant(size))
      told = types.TaskFeedback(value=tf.constant(value), success=value)
      curriculum.update((batch,), (told,), tf.constant([np.nan]), seed)
    history = curriculum.history()
    self.assertEqual(
      set(history),
      {'active_phi', 'active_value', 'solved_phi', 'solved_value'},
    )
    for name, rows in (('active', [0, 2, 4]), ('solved', [1, 3])):
      self.assertAllEqual(history[f'{name}_phi'], batch.phi.numpy()[rows])
      self.assertAllEqual(history[f'{name}_value'], value[rows])

  def test_the_state_is_all_that_a_checkpoint_holds(self):
    """One that gets another's variables goes on as the other does."""
    first, _ = self._make()
    catalog.CURRICULA._entries.pop('mine')
    second, _ = self._make()
    for step in range(3):
      [batch] = first.sample(_NUM_TASKS, randomness.root(step))
      self._update(first, batch)
    self.assertLen(first.variables, 2)
    for mine, other in zip(second.variables, first.variables, strict=True):
      mine.assign(other)
    seed = randomness.root(9)
    self.assertAllEqual(
      second.sample(_NUM_TASKS, seed)[0].phi,
      first.sample(_NUM_TASKS, seed)[0].phi,
    )
    self.assertIn(3 * _NUM_TASKS, [x.numpy().max() for x in second.variables])

  def test_what_is_infeasible_later_is_found_and_told_as_checks_do(self):
    curriculum, chooser = self._make()
    [batch] = curriculum.sample(_NUM_TASKS, randomness.root(0))
    phi = batch.phi.numpy()
    phi[4, -1] = 99.0
    chooser.sample = lambda num_tasks, rng: phi[:num_tasks]
    curriculum.sample(_NUM_TASKS, randomness.root(1), tf.constant(4))
    told = []
    for check in (
      lambda: curriculum.sample(_NUM_TASKS, randomness.root(2)),
      lambda: checks.check_tasks(
        batch._replace(phi=phi), self.space, base.source_of(chooser.sample)
      ),
    ):
      with self.assertRaises(base.CurriculumError) as caught:
        check()
      told.append(str(caught.exception))
    self.assertEqual(*told)
    self.assertIn('in row 4', told[0])

  def test_those_that_are_trusted_are_not_looked_at(self):
    far = np.full([_NUM_TASKS, self.space.num_dims], 99.0)
    curriculum, chooser = self._make(are_trusted=True)
    chooser.sample = lambda num_tasks, rng: far
    [batch] = curriculum.sample(_NUM_TASKS, randomness.root(0))
    self.assertAllEqual(batch.phi, far)

  def test_a_number_of_the_state_can_be_changed_in_place(self):
    def sample(self, num_tasks, rng):
      self.state['seen'][...] += num_tasks
      return self.tasks.target(num_tasks, rng)

    curriculum, chooser = self._make(
      type('_Fine', (_Chooser,), {'sample': sample})
    )
    for step in range(1, 3):
      curriculum.sample(_NUM_TASKS, randomness.root(step))
      self.assertEqual(chooser.state['seen'], step * _NUM_TASKS)

  def test_draws_depend_on_the_seed_alone(self):
    curriculum, _ = self._make()
    drawn = [
      curriculum.sample(_NUM_TASKS, randomness.root(x))[0].phi
      for x in (1, 2, 1)
    ]
    self.assertAllEqual(drawn[0], drawn[2])
    self.assertNotAllEqual(drawn[0], drawn[1])

  @parameterized.parameters(
    (
      lambda self, num, rng: np.zeros([num, 1, 1]),
      r'\(python_curriculum_test.py, line \d+\): expected tasks of shape',
    ),
    (
      lambda self, num, rng: np.full([num, self.tasks.num_dims], np.nan),
      'finite numbers, given',
    ),
    (
      lambda self, num, rng: np.full([num, self.tasks.num_dims], 99.0),
      r'^<lambda> \(python_curriculum_test.py, line \d+\): expected feasible '
      r'tasks, given \[99.0, .* in row 0, whose entity 0 is outside of',
    ),
    (
      lambda self, num, rng: [num * ['left']],
      '_Broken failed: ValueError: could not convert',
    ),
    (
      lambda self, num, rng: self.state.pop('seen') or self.state['phi'][:1],
      "state\\['seen'\\]: expected shape",
    ),
    (
      lambda self, num, rng: self.state.update(seen=np.array(0.5)) or 1,
      "state\\['seen'\\]: expected int64, .* given 0.5; start with floats",
    ),
    (
      lambda self, num, rng: self.state.update(more=np.ones(3)) or 1,
      "state: \\['more'\\] were not in the initial state",
    ),
  )
  def test_what_breaks_the_contract_is_one_line(self, sample, message):
    curriculum, _ = self._make(type('_Broken', (_Chooser,), {'sample': sample}))
    with self.assertRaisesRegex(base.CurriculumError, message) as caught:
      curriculum.sample(_NUM_TASKS, randomness.root(0))
    self.assertNotIn('\n', str(caught.exception))

  @parameterized.parameters(
    (lambda tasks, cfg, rng: 1 / 0, 'mine failed: ZeroDivisionError: '),
    (lambda tasks, cfg, rng: sys.exit(3), 'mine failed: SystemExit: 3'),
    (lambda tasks, cfg, rng: {}, 'expected a .*Chooser, given a dict; derive'),
    (lambda tasks, cfg: None, 'mine failed: TypeError: .*takes 2 positional'),
    (_Stateless, 'Stateless.state: expected a dict of arrays, given NoneType'),
    (_Ragged, r"_Ragged.state\['rows'\]: expected an array of numbers"),
    (_Wordy, r"_Wordy.state\['word'\]: expected an array .*, given 'left'"),
  )
  def test_what_is_no_chooser_is_one_line(self, make, message):
    with self.assertRaisesRegex(base.CurriculumError, message) as caught:
      self._make(make)
    self.assertNotIn('\n', str(caught.exception))

  def test_what_makes_no_chooser_is_refused(self):
    with self.assertRaisesRegex(
      ValueError, '^mine: make=3 is not a function; give one that returns a'
    ):
      python_curriculum.register('mine', 3)

  @parameterized.parameters(
    ([{'best': 0.5}, {'worst': 0.5}], r"\['best'\], given \['worst'\]"),
    ([{'best': -np.inf}], 'a number or NaN for best, given -inf'),
    ([{'best': 1e39}], 'a number or NaN for best, given 1e\\+39'),
    ([{'best': np.zeros(2)}], 'a number or NaN for best, given array'),
    ([{'best': 'good'}], "a number or NaN for best, given 'good'"),
    (
      [None],
      r'^update \(python_curriculum_test.py, line \d+\): expected a '
      'dictionary of numbers by name, given None; end with `return {}`',
    ),
    ([0.5], 'expected a dictionary of numbers by name, given 0.5; end'),
    ([{'training_value': 0.5}], 'training_value is the name of a metric of'),
    ([], '_Broken failed: IndexError: pop from empty list'),
  )
  def test_what_update_returns_is_checked(self, returned, message):
    def update(self, tasks, told):
      return returned.pop(0)

    curriculum, _ = self._make(type('_Broken', (_Chooser,), {'update': update}))
    with self.assertRaisesRegex(base.CurriculumError, message) as caught:
      for _ in range(2):
        [batch] = curriculum.sample(_NUM_TASKS, randomness.root(0))
        self._update(curriculum, batch)
    self.assertNotIn('\n', str(caught.exception))

  def test_the_order_of_what_update_returns_does_not_matter(self):
    returned = [{'a': 1.0, 'b': np.nan}, {'b': 2.0, 'a': 3}]

    def update(self, tasks, told):
      return returned.pop(0)

    curriculum, _ = self._make(type('_Fine', (_Chooser,), {'update': update}))
    for a in (1.0, 3.0):
      [batch] = curriculum.sample(_NUM_TASKS, randomness.root(0))
      found = self._update(curriculum, batch)
      self.assertEqual(list(found), ['training_value', 'a', 'b'])
      self.assertEqual(found['a'], a)


class ProbeTest(_TestCase):
  def _note(self, curriculum, batch):
    curriculum.note_probe(
      (batch,), (_feedback(_NUM_TASKS),), randomness.root(2)
    )

  @parameterized.parameters(0, 1, 3, 4)
  def test_a_round_of_probes(self, number):
    kind = type('_Some', (_Prober,), {'num_probes': number})
    curriculum, chooser = self._make(kind)
    self.assertTrue(curriculum.can_probe)
    size = tf.constant(4)
    [batch] = curriculum.probe(_NUM_TASKS, randomness.root(1), size)
    self.assertEqual(chooser.most, 4)
    # As many rows as there may be, so that one program plays any number.
    self.assertEqual(batch.phi.shape, (_NUM_TASKS, self.space.num_dims))
    self.assertEqual(batch.phi.dtype, tf.float32)
    self.assertEqual((int(batch.size), batch.size.dtype), (number, tf.int32))
    self.assertAllEqual(batch.phi[:number], chooser.probed)
    if number:
      self.assertTrue(self.space.feasible(batch.phi).numpy().all())
    self._note(curriculum, batch)
    [(tasks, told)] = chooser.told
    self.assertAllEqual(tasks, chooser.probed)
    expected = np.linspace(0.0, 1.0, _NUM_TASKS)
    self.assertAllClose(told['value'], expected[:number])
    self.assertAllClose(told['success'], expected[::-1][:number])
    self.assertEqual(set(told), {'value', 'success'})

  def test_without_a_size_all_rows_may_be_probed(self):
    curriculum, chooser = self._make(_Prober)
    [batch] = curriculum.probe(_NUM_TASKS, randomness.root(1))
    self.assertEqual((chooser.most, int(batch.size)), (_NUM_TASKS, 3))

  def test_what_a_probe_tells_is_kept(self):
    curriculum, _ = self._make(_Prober)
    [batch] = curriculum.probe(_NUM_TASKS, randomness.root(1))
    self._note(curriculum, batch)
    self.assertIn(100, [x.numpy().max() for x in curriculum.variables])

  def test_draws_depend_on_the_seed_alone_in_probes_too(self):
    curriculum, _ = self._make(_Prober)
    drawn = [
      curriculum.probe(_NUM_TASKS, randomness.root(x))[0].phi for x in (1, 2, 1)
    ]
    self.assertAllEqual(drawn[0], drawn[2])
    self.assertNotAllEqual(drawn[0], drawn[1])

  def test_who_has_no_probe_is_never_asked(self):
    curriculum, _ = self._make()
    self.assertFalse(curriculum.can_probe)
    self.assertEqual(curriculum.probe(_NUM_TASKS, randomness.root(1)), ())

  @parameterized.parameters(
    (lambda self, num, rng: self.tasks.target(num + 1, rng), 'or fewer rows'),
    (lambda self, num, rng: np.zeros([num, 1, 1]), 'expected tasks of'),
    (lambda self, num, rng: np.zeros([num]), 'expected tasks of'),
    (lambda self, num, rng: np.float32(1.0), 'expected tasks of'),
    (
      lambda self, num, rng: np.full([1, self.tasks.num_dims], np.inf),
      'expected finite numbers, given',
    ),
    (
      lambda self, num, rng: np.full([1, self.tasks.num_dims], 99.0),
      'expected feasible tasks, given',
    ),
    (
      lambda self, num, rng: self.state.pop('seen') or self.state['phi'][:1],
      "state\\['seen'\\]: expected shape",
    ),
  )
  def test_a_probe_that_breaks_the_contract_is_one_line(self, probe, message):
    curriculum, _ = self._make(type('_Broken', (_Prober,), {'probe': probe}))
    with self.assertRaisesRegex(base.CurriculumError, message) as caught:
      curriculum.probe(_NUM_TASKS, randomness.root(0))
    self.assertNotIn('\n', str(caught.exception))


if __name__ == '__main__':
  tf.test.main()
