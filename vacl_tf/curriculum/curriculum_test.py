# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Curricula by name, and laws that every registered one obeys."""

import dataclasses
import subprocess
import sys
import types as python_types
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import overrides
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import checks
from vacl_tf.curriculum import entity_progression
from vacl_tf.curriculum import task_expansion
from vacl_tf.curriculum.baselines import specs as baseline_specs
from vacl_tf.testing import fakes

_NUM_TASKS = 20
_SEED = randomness.root(1)
# Of what curricula hold, so that it is full at once.
_SIZES = {
  'capacity': 50,
  'num_easy_tasks': 50,
  'num_children': 10,
  'num_candidates': 50,
  'history': 50,
  'window': 50,
  'pretraining_steps': 5,
}
_BASELINES = tuple(spec.name for spec in baseline_specs.ALL)
_BUILT_IN = ('vacl', 'task_expansion', 'uniform', *_BASELINES)


def _config(name, **progression):
  spec = catalog.CURRICULA.get(name)
  known = {field.name for field in dataclasses.fields(spec.config)}
  own = {key: x for key, x in _SIZES.items() if key in known}
  return config.Config(
    curriculum=spec.config(name=name, **own),
    progression=config.ProgressionConfig(**progression),
    training=config.TrainingConfig(num_tasks=_NUM_TASKS),
  )


def _world(num_agents=2):
  space = fakes.LineTaskSpace()
  space.num_agents = num_agents
  return python_types.SimpleNamespace(task_space=space)


def _make(name, *num_agents, **progression):
  worlds = [_world(num) for num in num_agents or (2,)]
  return curriculum.make(_config(name, **progression), worlds, _SEED)


def _feedback(made, batch, value=0.7):
  """What training would tell of a batch: the fields that were asked for."""
  row = tf.fill([batch.phi.shape[0]], value)
  told = dict.fromkeys(made.feedback, row)
  if 'final_task' in told:
    told['final_task'] = batch.phi
  return types.TaskFeedback(row, **told)


class _Notes(base.Curriculum):
  """Checks the feedback that it gets, and counts its probes."""

  feedback = ('positive_advantage', 'max_return')

  def __init__(self, setting):
    super().__init__(name='notes')
    self.setting = setting
    self.best = tf.Variable(0.0, trainable=False)
    self.num_probes = tf.Variable(0, trainable=False)

  def _check_feedback(self, how):
    for name, value in how._asdict().items():
      is_there = name in ('value', *self.feedback)
      if is_there == isinstance(value, tuple):
        raise ValueError(f'{name} is {value}')

  def note_probe(self, batches, feedback, seed):
    del seed
    self._check_feedback(feedback[0])
    self.num_probes.assign_add(batches[0].size)


class _OnHost(_Notes):
  """NumPy, and a ticket that is no tensor."""

  is_compiled = False

  def __init__(self, setting):
    super().__init__(setting)
    self.calls = python_types.SimpleNamespace(sizes=[], noted=[], tickets=[])

  def sample(self, num_tasks, seed, size=None):
    rng = base.generator(seed)
    size = num_tasks if size is None else int(size)
    self.calls.sizes.append(size)
    phi = rng.uniform(-1.0, 1.0, [num_tasks, self.setting.space.num_dims])
    ticket = {'rows': list(range(size)), 'note': object()}
    self.calls.tickets.append(ticket)
    return (types.TaskBatch(phi, size, ticket),)

  def update(self, batches, feedback, evaluation, seed):
    self._check_feedback(feedback[0])
    self.calls.noted.append(batches[0].ticket)
    best = np.max(np.asarray(feedback[0].max_return)[: int(batches[0].size)])
    self.best.assign(max(best, self.best.numpy()))
    return {'best': self.best.numpy(), 'coverage': np.float64(evaluation[0])}

  def probe(self, num_tasks, seed, size=None):
    size = num_tasks if size is None else int(size)
    return self.sample(num_tasks, seed, size // 2)


class _Compiled(_Notes):
  """The same in a graph, with a ticket that is a structure of tensors."""

  def sample(self, num_tasks, seed, size=None):
    phi = self.setting.space.sample_uniform(num_tasks, seed)
    rank = tf.argsort(randomness.uniform(seed, [num_tasks]))
    size = num_tasks if size is None else size
    ticket = {'rank': rank, 'twice': (2 * rank,)}
    return (types.TaskBatch(phi, tf.convert_to_tensor(size), ticket),)

  def update(self, batches, feedback, evaluation, seed):
    del seed
    self._check_feedback(feedback[0])
    ticket = batches[0].ticket
    is_same = tf.reduce_all(2 * ticket['rank'] == ticket['twice'][0])
    self.best.assign(tf.reduce_max(feedback[0].max_return))
    return {'is_same': is_same, 'coverage': evaluation[0]}

  def probe(self, num_tasks, seed, size=None):
    [batch] = self.sample(num_tasks, seed, size)
    return (batch._replace(size=batch.size // 2),)


for _kind in (_OnHost, _Compiled):
  catalog.register_curriculum(
    catalog.CurriculumSpec(name=f'test{_kind.__name__.lower()}', make=_kind)
  )
_DIFFERENT = ('vacl', 'uniform', *_BASELINES, 'test_onhost', 'test_compiled')


class RegisterTest(parameterized.TestCase, tf.test.TestCase):
  def test_the_library_has_its_own(self):
    self.assertEqual(catalog.CURRICULA.names()[: len(_BUILT_IN)], _BUILT_IN)
    grow = [x for x in _BUILT_IN if catalog.CURRICULA.get(x).grows]
    self.assertEqual(grow, ['vacl'])

  def test_a_name_is_registered_once(self):
    spec = catalog.CurriculumSpec(name='uniform', make=base.Uniform)
    with self.assertRaisesRegex(ValueError, "'uniform' is registered already"):
      catalog.register_curriculum(spec)

  def test_names_are_known_without_tensorflow(self):
    code = (
      'import sys; from vacl_tf import catalog; import vacl_tf.curriculum; '
      "print(catalog.CURRICULA.names(), 'tensorflow' in sys.modules)"
    )
    out = subprocess.check_output([sys.executable, '-c', code], text=True)
    self.assertEqual(out.strip(), f'{_BUILT_IN} False')


class MakeTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(
    ('vacl', task_expansion.TaskExpansion),
    ('task_expansion', task_expansion.TaskExpansion),
    ('uniform', base.Uniform),
    ('test_onhost', _OnHost),
    ('test_compiled', _Compiled),
  )
  def test_with_one_count_and_with_several(self, name, kind):
    self.assertIsInstance(_make(name), kind)
    made = _make(name, 2, 4, entity_counts='2,4')
    self.assertIsInstance(made, entity_progression.EntityProgression)
    self.assertLen(made.inner, 2)
    for inner in made.inner:
      self.assertIsInstance(inner, kind)
    self.assertEqual(made.is_compiled, kind.is_compiled)
    self.assertEqual(made.feedback, kind.feedback)

  def test_tested_children_are_probed(self):
    self.assertFalse(_make('vacl').can_probe)
    cfg = overrides.replace(_config('vacl'), {'curriculum.admission': 'tested'})
    for worlds in ([_world(2)], [_world(2), _world(4)]):
      self.assertTrue(curriculum.make(cfg, worlds, _SEED).can_probe)

  def test_the_setting(self):
    worlds = [_world(2), _world(4), _world(16)]
    cfg = _config('test_compiled')
    alone = curriculum.make(cfg, worlds[:1], _SEED).setting
    self.assertIs(alone.cfg, cfg)
    self.assertIs(alone.world, worlds[0])
    self.assertIs(alone.space, worlds[0].task_space)
    self.assertEqual((alone.num_tasks, alone.most_tasks), (20, 20))
    self.assertAllEqual(alone.seed, _SEED)
    made = curriculum.make(cfg, worlds, _SEED)
    for index, (inner, world, most) in enumerate(
      zip(made.inner, worlds, (36, 72, 20), strict=True)
    ):
      self.assertIs(inner.setting.world, world)
      self.assertIs(inner.setting.space, world.task_space)
      self.assertEqual(inner.setting.num_tasks, 20)
      # Nine tenths, times the agents of the next count over its own.
      self.assertEqual(inner.setting.most_tasks, most)
      self.assertAllEqual(inner.setting.seed, randomness.fold(_SEED, index))

  def test_unknown_name_is_answered_with_a_known_one(self):
    cfg = config.Config(curriculum=config.TaskExpansionConfig(name='vacll'))
    with self.assertRaisesRegex(ValueError, "'vacll' is unknown.*vacl"):
      curriculum.make(cfg, [_world()], _SEED)

  def test_constants_of_another_curriculum_are_refused(self):
    cfg = config.Config(curriculum=config.CurriculumConfig(name='vacl'))
    with self.assertRaisesRegex(ValueError, 'takes a TaskExpansionConfig, not'):
      curriculum.make(cfg, [_world()], _SEED)

  def test_unknown_feedback_is_answered_with_a_known_one(self):
    wrong = mock.patch.object(_Compiled, 'feedback', ('max_returns',))
    self.enter_context(wrong)
    for num_agents in ((2,), (2, 4)):
      with self.assertRaisesRegex(ValueError, "'max_returns'.*max_return"):
        _make('test_compiled', *num_agents)


class LawsTest(parameterized.TestCase, tf.test.TestCase):
  """Of each curriculum, alone and inside entity progression."""

  def _functions(self, made):
    """The methods as training calls them: in a graph, if they may be."""
    names = ('sample', 'update', 'probe', 'note_probe')
    functions = {name: getattr(made, name) for name in names}
    sample, probe = functions['sample'], functions['probe']
    functions['sample'] = lambda seed: sample(_NUM_TASKS, seed)
    functions['probe'] = lambda seed: probe(_NUM_TASKS, seed)
    if made.is_compiled:
      return {
        name: tf.function(function, autograph=False)
        for name, function in functions.items()
      }
    return functions

  @parameterized.product(name=_DIFFERENT, counts=((2,), (2, 4)))
  def test_iterations(self, name, counts):
    made = _make(name, *counts)
    functions = self._functions(made)
    evaluation = tf.constant([0.5] * len(counts))
    metrics_names = set()
    for index, tenths in enumerate((0, 3, 8)):
      if len(counts) > 1:
        made.tenths.assign(tenths)
      seed = randomness.root(index)
      probes = functions['probe'](seed)
      self.assertIn(len(probes), (0, len(counts)))
      if probes:
        probes = checks.as_tensors(probes, name, len(counts))
        told = tuple(_feedback(made, x) for x in probes)
        functions['note_probe'](probes, told, seed)
      sampled = functions['sample'](seed)
      batches = checks.as_tensors(sampled, name, len(counts))
      for batch in batches:
        self.assertEqual(batch.phi.shape[1], fakes.LineTaskSpace.num_dims)
        self.assertBetween(int(batch.size), 0, batch.phi.shape[0])
      was_played = [int(x.size) > 0 for x in batches]
      self.assertAllEqual(was_played, made.in_play())
      told = tuple(_feedback(made, batch) for batch in batches)
      metrics = functions['update'](batches, told, evaluation, seed)
      self.assertTrue(np.all(np.isfinite([float(x) for x in metrics.values()])))
      metrics_names.add(tuple(metrics))
    self.assertLen(metrics_names, 1)
    if made.is_compiled:
      traces = [
        function.experimental_get_tracing_count()
        for function in functions.values()
      ]
      self.assertAllInRange(traces, 0, 1)

  @parameterized.product(name=_DIFFERENT, counts=((2,), (2, 4)))
  def test_a_checkpoint_holds_the_state(self, name, counts):
    made = _make(name, *counts)
    sampled = made.sample(_NUM_TASKS, _SEED)
    batches = checks.as_tensors(sampled, name, len(counts))
    told = tuple(_feedback(made, batch, 1.0) for batch in batches)
    made.update(batches, told, tf.constant([0.5] * len(counts)), _SEED)
    path = tf.train.Checkpoint(made).write(self.get_temp_dir() + '/state')
    other = _make(name, *counts)
    tf.train.Checkpoint(other).read(path).assert_consumed()
    for old, new in zip(made.variables, other.variables, strict=True):
      self.assertAllEqual(old, new)


class HostTest(tf.test.TestCase):
  """A curriculum in plain Python."""

  def _play(self, made, seed=_SEED, score=0.7):
    sampled = made.sample(_NUM_TASKS, seed)
    batches = checks.as_tensors(sampled, 'host', len(sampled))
    told = tuple(_feedback(made, batch, score) for batch in batches)
    evaluation = tf.constant([0.5] * len(batches))
    return batches, made.update(batches, told, evaluation, seed)

  def test_tickets_come_back_as_they_went(self):
    made = _make('test_onhost')
    [batch], metrics = self._play(made)
    [ticket] = made.calls.tickets
    self.assertIs(batch.ticket['note'], ticket['note'])
    self.assertIs(made.calls.noted[0]['note'], ticket['note'])
    self.assertEqual(made.calls.noted[0], ticket)
    self.assertEqual(batch.phi.dtype, tf.float32)
    self.assertEqual(batch.size.dtype, tf.int32)
    self.assertAllClose(metrics['best'], 0.7)

  def test_seeds_decide(self):
    made = _make('test_onhost')
    one, again, other = (
      self._play(made, randomness.fold(_SEED, seed))[0][0].phi
      for seed in (0, 0, 1)
    )
    self.assertAllEqual(one, again)
    self.assertNotAllEqual(one, other)

  def test_only_counts_in_play_are_called(self):
    made = _make('test_onhost', 2, 4)
    batches, metrics = self._play(made)
    self.assertEqual([int(x.size) for x in batches], [20, 0])
    self.assertEqual(batches[1].ticket, ())
    first, second = (inner.calls for inner in made.inner)
    self.assertEqual(first.sizes, [20])
    self.assertEqual(first.noted, first.tickets)
    self.assertEqual((second.sizes, second.noted), ([], []))
    self.assertAllClose(metrics['best'], 0.7)
    self.assertEqual(int(metrics['num_agents']), 2)
    made.tenths.assign(5)
    batches, metrics = self._play(made, score=0.8)
    self.assertEqual([int(x.size) for x in batches], [20, 10])
    self.assertEqual(second.sizes, [10])
    self.assertEqual(second.noted, second.tickets)
    self.assertAllClose(metrics['best'], 0.8)
    self.assertEqual(int(metrics['num_agents']), 4)

  def test_a_count_that_was_not_drawn_has_nothing_measured(self):
    made = _make('test_onhost', 2, 4, mixing='stochastic')
    made.tenths.assign(1)
    made.quotas = lambda seed: tf.constant([10, 0])
    _, metrics = self._play(made)
    self.assertTrue(np.isnan(metrics['best']))
    self.assertTrue(np.isnan(metrics['coverage']))

  def test_history_is_that_of_the_largest_count_that_was_played(self):
    made = _make('rcg', 2, 4)
    self.assertEmpty(made.history())
    batches, _ = self._play(made)
    made.tenths.assign(1)  # The larger one begins, and was not played yet.
    size = int(batches[0].size)
    self.assertAllEqual(made.history()['active_phi'], batches[0].phi[:size])
    self.assertEmpty(made.history()['solved_phi'])
    batches, _ = self._play(made, score=1.0)
    size = int(batches[1].size)
    self.assertAllEqual(made.history()['solved_phi'], batches[1].phi[:size])
    self.assertEmpty(made.history()['active_phi'])


class UniformTest(tf.test.TestCase):
  def test_plays_the_target_distribution(self):
    made = _make('uniform')
    [batch] = made.sample(500, _SEED)
    space = fakes.LineTaskSpace()
    self.assertAllEqual(batch.phi, space.sample_target(500, _SEED))
    self.assertEqual(int(batch.size), 500)
    self.assertEqual(batch.ticket, ())
    told = (types.TaskFeedback(tf.fill([500], 0.25)),)
    metrics = made.update((batch,), told, tf.constant([0.1]), _SEED)
    self.assertAllClose(metrics['training_value'], 0.25)
    self.assertEmpty(made.history())
    self.assertEqual(made.probe(500, _SEED), ())

  def test_tasks_beyond_the_size_do_not_count(self):
    made = _make('uniform')
    [batch] = made.sample(4, _SEED, tf.constant(3))
    told = (types.TaskFeedback(tf.constant([0.5, 0.5, 0.2, 9.0])),)
    metrics = made.update((batch,), told, tf.constant([0.1]), _SEED)
    self.assertAllClose(metrics['training_value'], 0.4)


if __name__ == '__main__':
  tf.test.main()
