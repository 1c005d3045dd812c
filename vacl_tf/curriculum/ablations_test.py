# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Task expansion as ablations change it."""

from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import particles
from vacl_tf.curriculum import svgd
from vacl_tf.curriculum import task_expansion
from vacl_tf.testing import fakes

_SEED = randomness.root(5)
_SPACE = fakes.LineTaskSpace()


def _make(num_solved=0, **changes) -> task_expansion.TaskExpansion:
  """Begins with 12 easy tasks; a batch has 6 children at most."""
  usual = {
    'capacity': 300,
    'num_easy_tasks': 12,
    'num_children': 6,
    'max_children_per_seed': 0,
  }
  made = task_expansion.TaskExpansion(
    base.Setting(
      cfg=config.Config(
        curriculum=config.TaskExpansionConfig(**(usual | changes))
      ),
      space=_SPACE,
      num_tasks=1,
      most_tasks=1,
      seed=randomness.root(0),
    )
  )
  # Who is whose child is told by the generation.
  made.active.rows.generation.assign(tf.range(made.active.size))
  if num_solved:
    phi = _SPACE.sample_uniform(num_solved, randomness.root(1))
    zeros = tf.zeros([num_solved], tf.int32)
    value = tf.linspace(0.96, 1.0, num_solved)
    rows = particles.Rows(phi, value, zeros, zeros, phi)
    made.solved.append(rows, zeros == 0)
  return made


def _update(made, batch, seed=_SEED, **told):
  told = {name: tf.constant(x, tf.float32) for name, x in told.items()}
  feedback = types.TaskFeedback(**told)
  metrics = made.update((batch,), (feedback,), tf.constant([0.5]), seed)
  return {name: float(x) for name, x in metrics.items()}


def _play(made, values, seed=_SEED):
  """Plays active tasks, {row: value}; returns the children's parents."""
  slots = tf.constant(list(values), tf.int32)
  phi = tf.gather(made.active.rows.phi, slots)
  source = tf.fill(slots.shape, int(task_expansion.TaskSource.ACTIVE))
  ticket = task_expansion.Ticket(source, slots)
  batch = types.TaskBatch(phi, tf.constant(len(values)), ticket)
  before = int(made.active.count)
  metrics = _update(made, batch, seed, value=list(values.values()))
  staying = before - int(metrics['newly_solved'] + metrics['dropped'])
  count = int(made.active.count)
  return made.active.rows.generation[staying:count].numpy() - 1


class SeedSourceTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(
    ('solved', {3}),
    ('active', {1, 2}),
    ('any', {0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11}),
  )
  def test_who_may_be_a_parent(self, source, allowed):
    parents = set()
    for index in range(20):
      made = _make(seed_source=source)
      # Solved, at sigma_max, at sigma_min, and below.
      values = {3: 1.0, 1: 0.95, 2: 0.5, 0: 0.49}
      born_to = _play(made, values, randomness.root(index))
      self.assertLen(born_to, 6)
      parents |= set(born_to.tolist())
    self.assertEqual(parents, allowed)

  @parameterized.parameters(('solved', 0), ('active', 0), ('any', 6))
  def test_children_where_nothing_is_known(self, source, want):
    self.assertLen(_play(_make(seed_source=source), {0: 0.0}), want)

  @parameterized.parameters(('solved', 0), ('active', 2), ('any', 6))
  def test_active_tasks_bear_children_in_every_update(self, source, want):
    made = _make(seed_source=source, max_children_per_seed=1)
    _play(made, {1: 0.7, 2: 0.6})
    made.active.keep(tf.range(made.active.size) < 12)  # Without children.
    self.assertLen(_play(made, {0: 0.0}), want)

  def test_dropped_tasks_have_no_children(self):
    full = {'capacity': 12, 'active_eviction': 'fifo'}
    for index in range(10):
      made = _make(seed_source='any', num_children=11, **full)
      parents = _play(made, {4: 0.0}, randomness.root(index))
      self.assertCountEqual(parents, {*range(12)} - {4})


class ScoreTest(tf.test.TestCase):
  def _solved(self, **told):
    made = _make(score='success')
    [batch] = made.sample(2, _SEED)
    metrics = _update(made, batch, **told)
    return metrics['newly_solved'], metrics['training_value']

  def test_success_takes_the_place_of_the_value(self):
    self.assertEqual(_make().feedback, ())
    self.assertEqual(_make(score='success').feedback, ('success',))
    for values in ([1.0, 1.0], [0.0, 0.0]):
      found = self._solved(value=values, success=[1.0, 0.5])
      self.assertEqual(found, (1, values[0]))


class BatchSharesTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(
    (300, 100, 25), (300, 300, 50), (12, 300, 96), (300, 0, 0), (300, 1, 0)
  )
  def test_are_those_of_the_sets(self, num_active, num_solved, want):
    made = _make(
      num_solved, batch_shares='proportional', num_easy_tasks=num_active
    )
    [batch] = made.sample(100, _SEED)
    sources = task_expansion.TaskSource
    is_solved = batch.ticket.source == int(sources.SOLVED)
    self.assertEqual(np.sum(is_solved), want)
    self.assertNotIn(int(sources.UNSCORED), batch.ticket.source)
    [part] = made.sample(100, _SEED, tf.constant(20))
    is_solved = part.ticket.source[:20] == int(sources.SOLVED)
    self.assertEqual(np.sum(is_solved), round(want / 5))


class WeightingTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters('none', 'value')
  def test_who_repels(self, weighting):
    made = _make(num_solved=4, weighting=weighting, num_children=2)
    before = made.active.rows.phi[:12].numpy()
    solved = made.solved.rows.phi[:4].numpy()
    with mock.patch.object(svgd, 'propose', wraps=svgd.propose) as propose:
      _play(made, {3: 1.0, 1: 0.6, 7: 0.25, 5: 0.0})
    particles_, weight = (x.numpy() for x in propose.call_args.args[3:5])
    found = {
      tuple(phi): x for phi, x in zip(particles_, weight, strict=True) if x
    }
    # What just became solved repels too; tasks without a value do not.
    want = dict(zip(map(tuple, solved), np.linspace(0.96, 1.0, 4), strict=True))
    want[tuple(before[3])] = 1.0
    if weighting == 'none':
      want = dict.fromkeys(want, 1.0)
    else:
      want |= {tuple(before[1]): 0.6, tuple(before[7]): 0.25}
    self.assertEqual({*found}, {*want})
    for phi, x in want.items():
      self.assertAllClose(found[phi], x, 1e-4)


class SolvedKeptTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(([1.0] * 5, 1.0), ([0.95, 0.96, 0, 0.5, 1], 0.4))
  def test_is_the_share_that_is_solved_still(self, values, want):
    made = _make(num_solved=20, num_easy_tasks=300, capacity=300)
    [batch] = made.sample(100, _SEED)
    is_solved = batch.ticket.source == int(task_expansion.TaskSource.SOLVED)
    self.assertEqual(np.sum(is_solved), 5)
    value = np.zeros(100)
    value[is_solved] = values
    metrics = _update(made, batch, value=value)
    self.assertAllClose(metrics['solved_kept'], want)

  def test_is_one_where_none_is_played(self):
    made = _make()
    [batch] = made.sample(30, _SEED)  # More than there are: some repeat.
    metrics = _update(made, batch, value=[0.0] * 30)
    self.assertEqual(metrics['solved_kept'], 1.0)


if __name__ == '__main__':
  tf.test.main()
