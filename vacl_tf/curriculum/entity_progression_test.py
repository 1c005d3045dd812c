# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The schedule of z by hand, quotas by the distribution, sets kept apart."""

import dataclasses
from unittest import mock

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import entity_progression
from vacl_tf.curriculum import task_expansion
from vacl_tf.testing import compilations
from vacl_tf.testing import fakes

_MODULE = 'vacl_tf.curriculum.entity_progression_test'
_SEED = randomness.root(1)
_NUM_TASKS = 20  # Two in each tenth.
_TENTHS = entity_progression.NUM_PARTS
_CONFIG = config.Config(
  curriculum=config.TaskExpansionConfig(
    capacity=40, num_easy_tasks=30, num_children=10
  ),
  progression=config.ProgressionConfig(mixing_interval=2),
  training=config.TrainingConfig(num_tasks=_NUM_TASKS),
)
_NAN = float('nan')


def _world(num_agents):
  """The line, with its tasks said to be for another number of agents."""
  world = fakes.LineWorld()
  world.task_space.num_agents = num_agents
  return world


def _make(counts=(4, 8), make_inner=base.Uniform, **changes):
  progression = dataclasses.replace(_CONFIG.progression, **changes)
  cfg = dataclasses.replace(_CONFIG, progression=progression)
  worlds = [_world(count) for count in counts]
  return entity_progression.EntityProgression(
    entity_progression.settings(cfg, worlds, _SEED), make_inner
  )


def _told(batches, value):
  """Returns feedback that all tasks have a value."""
  return tuple(
    types.TaskFeedback(tf.fill(batch.phi.shape[:1], value)) for batch in batches
  )


def _grow():
  """Makes updates in which the larger count has more and more weight."""
  made = _make(make_inner=task_expansion.TaskExpansion)
  sample, update = (
    tf.function(function, jit_compile=True, autograph=False)
    for function in (lambda seed: made.sample(_NUM_TASKS, seed), made.update)
  )
  for tenths in (0, 1, 5):
    made.tenths.assign(tenths)
    batches = sample(_SEED)
    update(batches, _told(batches, 1.0), tf.constant([0.5, 0.5]), _SEED)
    yield


def _play(made, evaluation, value=0.7, seed=_SEED):
  """Makes an iteration in which all tasks have a value; returns metrics."""
  batches = made.sample(_NUM_TASKS, seed)
  told = _told(batches, value)
  return batches, made.update(batches, told, tf.constant(evaluation), seed)


def _sizes(made):
  return [int(batch.size) for batch in made.sample(_NUM_TASKS, _SEED)]


class _All(base.Uniform):
  """Fills all rows, however many are asked for."""

  def sample(self, num_tasks, seed, size=None):
    del size
    return super().sample(num_tasks, seed)

  probe = sample


class ScheduleTest(parameterized.TestCase, tf.test.TestCase):
  def _weights(self, made, evaluations):
    """Returns the weight of each count before each iteration."""
    weights = []
    for evaluation in evaluations:
      weights.append(made.distribution().probs_parameter().numpy())
      _play(made, evaluation)
    return np.round(weights, 3)

  def test_waits_for_the_present_count(self):
    made = _make()
    weights = self._weights(made, [[_NAN, _NAN], [0.89, 0.99], [0.5, 0.5]])
    self.assertAllClose(weights, [[1, 0]] * 3)
    self.assertAllEqual(made.in_play(), [True, False])

  def test_moves_a_tenth_each_interval_until_the_larger_is_alone(self):
    made = _make()
    weights = self._weights(made, [[0.9, 0.2]] * 22)
    larger = [0.0, *np.repeat(np.arange(1, 10) / 10, 2), 1.0, 1.0, 1.0]
    self.assertAllClose(weights[:, 1], larger)
    self.assertAllClose(weights.sum(1), np.ones(22))

  def test_ends_early_where_the_larger_is_mastered(self):
    made = _make(counts=(4, 8, 16))
    path = [[0.95, 0.9, 0.1]] * 2 + [[0.95, 0.91, 0.1]] * 3
    weights = self._weights(made, path)
    self.assertAllClose(
      weights,
      [[1, 0, 0], [0.9, 0.1, 0], [0.9, 0.1, 0], [0, 1, 0], [0, 0.9, 0.1]],
    )

  def test_direct_transfer_never_mixes(self):
    made = _make(counts=(2, 4, 8), transition='direct')
    weights = self._weights(made, [[0.95, _NAN, 0.1], [0.95, 0.95, 0.1]] * 2)
    self.assertAllClose(weights, np.eye(3)[[0, 1, 2, 2]])

  def test_the_latest_switch_needs_no_coverage(self):
    made = _make((2, 4, 8), transition='direct', latest_switch=3)
    weights = self._weights(made, [[0.1, 0.1, 0.1]] * 9)
    self.assertAllClose(weights, np.eye(3)[[0, 0, 0, 1, 1, 1, 2, 2, 2]])

  def test_the_latest_switch_counts_from_the_end_of_mixing(self):
    made = _make((2, 4, 8), latest_switch=3)
    path = [[0.1, 0.1, 0.1]] * 3 + [[0.1, 0.95, 0.1]] + [[0.1, 0.1, 0.1]] * 4
    larger = [[1, 0, 0]] * 3 + [[0.9, 0.1, 0]] + [[0, 1, 0]] * 3
    self.assertAllClose(self._weights(made, path), [*larger, [0, 0.9, 0.1]])

  def test_the_step_is_a_setting(self):
    made = _make(mixing_step=0.5, mixing_interval=1)
    weights = self._weights(made, [[0.95, 0.5]] * 4)
    self.assertAllClose(weights[:, 1], [0.0, 0.5, 1.0, 1.0])


class QuotasTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(
    ('agents', (4, 8), 1, [36, 2]),  # Twice the share of half the agents.
    ('agents', (4, 8), 9, [4, 18]),
    ('agents', (4, 4), 3, [14, 6]),  # As many agents: a plain split.
    ('agents', (4, 6), 4, [18, 8]),
    ('paper', (4, 8), 1, [18, 2]),
  )
  def test_of_a_mixture(self, mixing, counts, tenths, sizes):
    made = _make(counts, mixing=mixing)
    made.tenths.assign(tenths)
    self.assertAllEqual(_sizes(made), sizes)

  @parameterized.parameters('agents', 'paper', 'stochastic')
  def test_of_one_count_alone(self, mixing):
    made = _make((2, 4, 8), mixing=mixing)
    for stage in range(3):
      made.stage.assign(stage)
      self.assertAllEqual(_sizes(made), 20 * np.eye(3)[stage])

  @parameterized.parameters(
    ('paper', [4, 10, 6]),
    ('agents', [8, 10, 6]),  # Twice the share of the smallest count.
  )
  def test_follow_from_the_distribution(self, mixing, sizes):
    made = _make((2, 4, 8), mixing=mixing)
    made.distribution = lambda: tfp.distributions.Categorical(
      probs=[0.2, 0.5, 0.3]
    )
    self.assertAllEqual(_sizes(made), sizes)

  def test_stochastic_ones_are_draws_from_it(self):
    made = _make(mixing='stochastic')
    made.tenths.assign(3)
    parts = np.stack(
      [made.quotas(randomness.root(seed)) for seed in range(200)]
    )
    self.assertAllEqual(parts.sum(1), np.full(200, _TENTHS))
    self.assertAllClose(parts[:, 1].mean(), 3.0, atol=0.4)
    # Of a binomial distribution.
    self.assertAllClose(parts[:, 1].std(), 2.1**0.5, atol=0.3)

  @parameterized.parameters('sample', 'probe')
  def test_no_more_is_played_than_the_part_of_a_count(self, kind):
    for tenths in (0, 3):
      made, usual = _make(make_inner=_All), _make()
      for each in (made, usual):
        each.tenths.assign(tenths)
      found = getattr(made, kind)(_NUM_TASKS, _SEED)
      want = usual.sample(_NUM_TASKS, _SEED)
      for one, other in zip(found, want, strict=True):
        self.assertEqual(int(one.size), int(other.size))

  def test_another_number_of_tasks_is_refused(self):
    with self.assertRaisesRegex(
      ValueError, 'num_tasks=30, size=.*allowed: 20, None'
    ):
      _make().sample(30, _SEED)


class UpdateTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.parameters(base.Uniform, task_expansion.TaskExpansion)
  def test_a_count_that_was_not_drawn_has_nothing_measured(self, kind):
    made = _make(make_inner=kind, mixing='stochastic')
    play = tf.function(_play, autograph=False)
    drawn = set()
    for step in range(20):
      made.tenths.assign(1)
      batches, metrics = play(made, (0.5, 0.5), seed=randomness.root(step))
      was_drawn = int(batches[1].size) > 0
      self.assertEqual(np.isnan(metrics['training_value']), not was_drawn)
      drawn.add(was_drawn)
    self.assertLen(drawn, 2)

  def test_only_counts_in_play_change(self):
    made = _make(make_inner=task_expansion.TaskExpansion)
    before = [x.numpy() for x in made.inner[1].variables]
    _, metrics = _play(made, [0.5, 0.5], value=1.0)
    for old, new in zip(before, made.inner[1].variables, strict=True):
      self.assertAllEqual(old, new)
    self.assertGreater(int(made.inner[0].solved.count), 0)
    self.assertEqual(int(metrics['newly_solved']), 20)
    self.assertEqual(int(metrics['num_agents']), 4)
    self.assertAllClose(metrics['mixing_weight'], 1.0)
    self.assertAllClose(metrics['mixing_entropy'], 0.0)

  def test_both_counts_of_a_mixture_learn_apart(self):
    made = _make(make_inner=task_expansion.TaskExpansion)
    made.tenths.assign(5)
    batches, metrics = _play(made, [0.6, 0.3], value=1.0)
    self.assertAllClose([float(x.mastery) for x in made.inner], [0.6, 0.3])
    self.assertEqual([int(batch.size) for batch in batches], [20, 10])
    solved = [int(inner.solved.count) for inner in made.inner]
    self.assertEqual(solved, [20, 10])
    self.assertEqual(int(metrics['num_agents']), 8)
    self.assertEqual(int(metrics['newly_solved']), 10)
    self.assertAllClose(metrics['mixing_entropy'], np.log(2.0))

  def test_children_are_in_proportion_to_tasks(self):
    made = _make(make_inner=task_expansion.TaskExpansion)
    made.tenths.assign(8)
    before = [int(inner.active.count) for inner in made.inner]
    batches, _ = _play(made, [0.5, 0.5], value=1.0)
    for inner, batch, old in zip(made.inner, batches, before, strict=True):
      solved = int(inner.solved.count)
      children = int(inner.active.count) - (old - solved)
      self.assertEqual(children, int(batch.size) // 2)

  def test_padding_is_not_scored(self):
    made = _make(make_inner=task_expansion.TaskExpansion)
    made.tenths.assign(8)
    batches = made.sample(_NUM_TASKS, _SEED)
    for batch in batches:
      rest = batch.ticket.source[int(batch.size) :]
      unscored = task_expansion.TaskSource.UNSCORED
      self.assertAllEqual(rest, np.full(len(rest), unscored))

  def test_compiled_once_for_all_weights(self):
    counts = compilations.count(_MODULE)
    self.assertLen(counts, 3)
    self.assertEqual(set(counts), {counts[0]})

  def test_a_curriculum_measures_under_names_of_its_own(self):
    made = _make()
    measured = {'num_agents': tf.constant(3.0)}
    with (
      mock.patch.object(base.Uniform, 'update', lambda *_: measured),
      self.assertRaisesRegex(base.CurriculumError, 'num_agents is the name of'),
    ):
      _play(made, [0.6, 0.3])

  def test_history_is_that_of_the_largest_count(self):
    made = _make(make_inner=task_expansion.TaskExpansion)
    self.assertLen(made.history()['active_phi'], 30)
    made.inner[1].active.count.assign(7)
    made.tenths.assign(1)
    self.assertLen(made.history()['active_phi'], 7)


class _Prober(base.Uniform):
  """Probes half of its share, and counts what comes back."""

  def __init__(self, setting):
    super().__init__(setting)
    self.noted = tf.Variable(0, trainable=False)
    self.total = tf.Variable(0.0, trainable=False)

  def probe(self, num_tasks, seed, size=None):
    [batch] = self.sample(num_tasks, seed, size)
    ticket = tf.range(num_tasks)
    return (batch._replace(size=batch.size // 2, ticket=ticket),)

  def note_probe(self, batches, feedback, seed):
    del seed
    [batch], [how] = batches, feedback
    was_played = batch.ticket < batch.size
    self.noted.assign_add(batch.size)
    self.total.assign_add(tf.reduce_sum(tf.where(was_played, how.value, 0.0)))


class _HostProber(_Prober):
  is_compiled = False

  def probe(self, num_tasks, seed, size=None):
    if not int(size):
      raise ValueError('this count is not in play')
    return super().probe(num_tasks, seed, size)


class ProbeTest(parameterized.TestCase, tf.test.TestCase):
  @parameterized.product(
    kind=(_Prober, _HostProber), case=((0, [10, 0]), (5, [10, 5]))
  )
  def test_counts_in_play_probe(self, kind, case):
    tenths, sizes = case
    made = _make(make_inner=kind)
    made.tenths.assign(tenths)
    probe, note = lambda seed: made.probe(_NUM_TASKS, seed), made.note_probe
    if made.is_compiled:
      probe, note = (
        tf.function(function, jit_compile=True, autograph=False)
        for function in (probe, note)
      )
    batches = probe(_SEED)
    self.assertEqual([int(batch.size) for batch in batches], sizes)
    # As many rows as in `sample`, so that one program plays both.
    shapes = [batch.phi.shape for batch in made.sample(_NUM_TASKS, _SEED)]
    self.assertEqual([batch.phi.shape for batch in batches], shapes)
    note(batches, _told(batches, 0.5), _SEED)
    self.assertAllEqual([int(inner.noted) for inner in made.inner], sizes)
    totals = [float(inner.total) for inner in made.inner]
    self.assertAllClose(totals, np.multiply(sizes, 0.5))

  def test_no_batches_where_nobody_probes(self):
    made = _make(make_inner=task_expansion.TaskExpansion)
    self.assertEqual(made.probe(_NUM_TASKS, _SEED), ())

  def test_another_number_of_tasks_is_refused(self):
    with self.assertRaisesRegex(
      ValueError, 'num_tasks=30, size=.*allowed: 20, None'
    ):
      _make(make_inner=_Prober).probe(30, _SEED)


if __name__ == '__main__':
  compilations.if_child(_grow)
  tf.test.main()
