# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Task expansion against its rules, written with lists."""

from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import density_ratio
from vacl_tf.curriculum import particles
from vacl_tf.curriculum import task_expansion
from vacl_tf.testing import fakes

_ACTIVE, _SOLVED, _FRESH = map(int, task_expansion.TaskSource)
_NO_SCORE = (np.nan,)
_SEED = randomness.root(5)


def _make(num_solved=0, **changes) -> task_expansion.TaskExpansion:
  usual = {
    'capacity': 20,
    'num_easy_tasks': 12,
    'num_children': 6,
    'max_children_per_seed': 0,
    'noise': 0.4,
    'noise_probability': 1.0,
  }
  curriculum = config.TaskExpansionConfig(**(usual | changes))
  space = fakes.LineTaskSpace()
  made = task_expansion.TaskExpansion(
    base.Setting(
      cfg=config.Config(curriculum=curriculum),
      space=space,
      num_tasks=1,
      most_tasks=1,
      seed=randomness.root(0),
    )
  )
  if num_solved:
    phi = space.sample_uniform(num_solved, randomness.root(1))
    zeros = tf.zeros([num_solved], tf.int32)
    rows = particles.Rows(phi, tf.ones([num_solved]), zeros, zeros, phi)
    made.solved.append(rows, zeros == 0)
  return made


def _rows(members: particles.ParticleSet) -> particles.Rows:
  count = int(members.count)
  return particles.Rows(*(row[:count].numpy() for row in members.rows))


def _batch(curriculum, slots) -> types.TaskBatch:
  """The active rows `slots`, as `sample` would hand them out."""
  slots = tf.constant(slots, tf.int32)
  phi = tf.gather(curriculum.active.rows.phi, slots)
  ticket = task_expansion.Ticket(tf.fill(slots.shape, _ACTIVE), slots)
  return types.TaskBatch(phi, tf.constant(len(slots)), ticket)


def _update(
  curriculum, batch, values, seed=_SEED, update=None, evaluation=_NO_SCORE
):
  told = types.TaskFeedback(tf.constant(values, tf.float32))
  evaluation = tf.constant(evaluation, tf.float32)
  metrics = (update or curriculum.update)((batch,), (told,), evaluation, seed)
  return {name: float(value) for name, value in metrics.items()}


class SampleTest(parameterized.TestCase, tf.test.TestCase):
  def test_begins_with_easy_tasks_alone(self):
    made = _make()
    rows = _rows(made.active)
    easy = fakes.LineTaskSpace().sample_easy(12, randomness.root(0))
    self.assertAllEqual(rows.phi, easy)
    self.assertAllEqual(np.isnan(rows.value), np.ones(12))
    self.assertAllEqual(rows.generation, np.zeros(12))
    self.assertAllEqual(rows.age, np.zeros(12))
    self.assertEqual(int(made.solved.count), 0)

  @parameterized.parameters(
    (300, 50, 95, 5),  # The usual shares.
    (300, 0, 100, 0),
    (300, 3, 97, 3),
    (40, 200, 40, 60),  # Solved tasks fill up.
    (40, 30, 40, 30),  # Both run short: 30 repeats.
    (40, 0, 40, 0),
    (0, 30, 0, 30),
  )
  def test_shares_without_replacement(self, active, solved, want_act, want_sol):
    changes = {'capacity': 300, 'num_easy_tasks': max(active, 1)}
    made = _make(solved, **changes)
    if not active:
      made.active.keep(tf.fill([made.active.size], False))
    [batch] = made.sample(100, _SEED)
    source, slot = batch.ticket.source.numpy(), batch.ticket.slot.numpy()
    self.assertEqual(batch.phi.shape, [100, 4])
    self.assertEqual(int(batch.size), 100)
    self.assertEqual(np.sum(source == _ACTIVE), want_act)
    self.assertEqual(np.sum(source == _SOLVED), want_sol)
    self.assertEqual(np.sum(source == _FRESH), 100 - want_act - want_sol)
    members = []
    for which, rows in ((_ACTIVE, made.active), (_SOLVED, made.solved)):
      mine = slot[source == which]
      phi = _rows(rows).phi
      self.assertLen(np.unique(mine), len(mine))
      self.assertAllEqual(batch.phi[source == which], phi[mine])
      members += [tuple(row) for row in phi]
    for row in batch.phi.numpy():
      self.assertIn(tuple(row), members)

  @parameterized.parameters((np.nan, 0), (0.0, 0), (0.5, 40), (1.0, 80))
  def test_target_tasks_take_over_as_they_are_mastered(self, coverage, want):
    space = fakes.LineTaskSpace()
    target = space.sample_uniform(100, randomness.root(9)) + 5.0
    made = _make(capacity=300, num_easy_tasks=300, target_share=0.8)
    for told in (coverage, np.nan):  # A client need not tell it.
      _update(made, _batch(made, [0]), [0.0], evaluation=[told])
    with mock.patch.object(fakes.LineTaskSpace, 'sample_target') as draw:
      draw.return_value = target
      [batch] = made.sample(100, _SEED)
      [part] = made.sample(100, _SEED, tf.constant(50))
    self.assertAllEqual(batch.phi[100 - want :], target[100 - want :])
    source, slot = batch.ticket
    self.assertAllEqual(source[100 - want :], [_FRESH] * want)
    self.assertAllEqual(source[: 100 - want], [_ACTIVE] * (100 - want))
    self.assertLen(np.unique(slot[: 100 - want]), 100 - want)
    self.assertNotIn(_FRESH, part.ticket.source[: 50 - want // 2])
    self.assertAllEqual(part.phi[50 - want // 2 :], target[50 - want // 2 :])

  def test_every_task_is_equally_likely(self):
    made = _make(num_easy_tasks=20)
    times = np.zeros(20)
    for index in range(100):
      [batch] = made.sample(10, randomness.root(index))
      times[batch.ticket.slot.numpy()] += 1
    self.assertAllInRange(times, 30, 70)  # 50, and 4 deviations of 5.

  def test_seed_decides(self):
    made = _make()
    [one], [again], [other] = (
      made.sample(8, randomness.root(seed)) for seed in (0, 0, 1)
    )
    self.assertAllEqual(one.ticket.slot, again.ticket.slot)
    self.assertNotAllEqual(one.ticket.slot, other.ticket.slot)


class UpdateTest(parameterized.TestCase, tf.test.TestCase):
  def test_only_values_above_the_bound_are_solved(self):
    made = _make()
    before = _rows(made.active)
    values = [0.95, 0.951, 1.0, 0.949, 0.0]
    metrics = _update(made, _batch(made, [7, 3, 9, 0, 1]), values)
    solved, active = _rows(made.solved), _rows(made.active)
    self.assertAllEqual(solved.phi, before.phi[[3, 9]])
    self.assertAllClose(solved.value, [0.951, 1.0])
    staying = [0, 1, 2, 4, 5, 6, 7, 8, 10, 11]
    self.assertAllEqual(active.phi[:10], before.phi[staying])
    self.assertAllClose(active.value[[0, 1, 6]], [0.949, 0.0, 0.95])
    self.assertAllEqual(np.isnan(active.value[2:6]), np.ones(4))
    self.assertEqual(metrics['newly_solved'], 2)
    self.assertEqual(metrics['dropped'], 0)
    self.assertEqual(metrics['active_tasks'], 16)
    self.assertEqual(metrics['solved_tasks'], 2)
    self.assertAllClose(metrics['training_value'], np.mean(values))
    spread = np.sqrt(np.mean(np.var(solved.phi, 0)))
    self.assertAllClose(metrics['solved_spread'], spread, 1e-4)

  def test_expansion_bears_children_around_the_solved(self):
    made = _make(step_size=0.3, noise=0.2)
    made.active.rows.generation.assign(tf.range(made.active.size) + 10)
    before = _rows(made.active)
    _update(made, _batch(made, [4, 8]), [1.0, 1.0])
    active = _rows(made.active)
    self.assertLen(active.phi, 12 - 2 + 6)
    children = particles.Rows(*(row[10:] for row in active))
    self.assertAllEqual(np.isnan(children.value), np.ones(6))
    self.assertAllEqual(children.age, np.zeros(6))
    self.assertAllEqual(np.unique(children.generation), [15, 19])
    self.assertAllEqual(children.parent, before.phi[children.generation - 11])
    self.assertAllEqual(np.isnan(active.parent[:10]), np.ones([10, 4]))
    for phi, parent in zip(children.phi, children.parent, strict=True):
      step = phi - parent
      self.assertLess(np.linalg.norm(step), 0.3 + 0.2 * 2 + 1e-5)
      self.assertGreater(np.linalg.norm(step), 0.0)

  @parameterized.parameters((1, 0, 6), (1, 2, 2), (2, 2, 4), (4, 2, 6))
  def test_children_per_seed_are_bounded(self, num_seeds, most, want):
    made = _make(max_children_per_seed=most)
    made.active.rows.generation.assign(tf.range(made.active.size))
    _update(made, _batch(made, range(num_seeds)), [1.0] * num_seeds)
    children = _rows(made.active).generation[12 - num_seeds :]
    self.assertLen(children, want)
    # Every seed has its turn before one has a second child.
    self.assertLen(np.unique(children), min(num_seeds, want))

  def test_no_children_where_nothing_is_newly_solved(self):
    made = _make(num_solved=8)
    before = _rows(made.active)
    metrics = _update(made, _batch(made, range(12)), [0.9] * 12)
    self.assertAllEqual(_rows(made.active).phi, before.phi)
    self.assertEqual(metrics['active_tasks'], 12)
    self.assertEqual(metrics['solved_tasks'], 8)

  @parameterized.parameters(
    (11, []), (12, [2]), (14, [2, 4, 5]), (16, [2, 4, 5])
  )
  def test_low_scorers_go_only_while_the_set_is_full(self, count, dropped):
    made = _make(
      capacity=12, num_easy_tasks=count, active_eviction='fifo', noise=0.1
    )
    before = _rows(made.active)
    values = {2: 0.1, 4: 0.49, 5: 0.0, 6: 0.5, 7: 0.9}
    batch = _batch(made, list(values))
    metrics = _update(made, batch, list(values.values()))
    staying = [index for index in range(count) if index not in dropped][-12:]
    self.assertEqual(metrics['dropped'], len(dropped))
    self.assertAllEqual(_rows(made.active).phi, before.phi[staying])

  def test_solved_rows_make_room_before_low_scorers_go(self):
    made = _make(capacity=12, num_children=1)
    metrics = _update(made, _batch(made, [0, 1]), [1.0, 0.0])
    self.assertEqual(metrics['dropped'], 0)

  def test_only_active_rows_are_scored(self):
    made = _make(num_solved=4)
    [batch] = made.sample(30, _SEED)
    source = batch.ticket.source.numpy()
    self.assertIn(_FRESH, source)
    is_active = source == _ACTIVE
    known = _rows(made.solved).value
    metrics = _update(made, batch, np.where(is_active, 0.6, 1.0))
    self.assertEqual(metrics['newly_solved'], 0)
    self.assertAllClose(_rows(made.active).value, np.full(12, 0.6))
    self.assertAllEqual(_rows(made.solved).value, known)
    metrics = _update(made, batch, np.where(is_active, 1.0, 0.0))
    self.assertEqual(metrics['newly_solved'], 12)
    self.assertLen(np.unique(_rows(made.solved).phi, axis=0), 16)

  def test_age_counts_updates(self):
    made = _make()
    _update(made, _batch(made, [0]), [0.7])
    _update(made, _batch(made, [1, 2]), [1.0, 0.6])
    self.assertAllEqual(_rows(made.active).age, [2] * 11 + [0] * 6)
    _update(made, _batch(made, [5]), [0.8])
    self.assertAllEqual(_rows(made.active).age, [3] * 11 + [1] * 6)
    self.assertAllEqual(_rows(made.solved).age, [3])
    self.assertAllClose(_rows(made.active).value[:2], [0.7, 0.6])

  @parameterized.parameters(('first', [1, 2, 3]), ('random', None))
  def test_more_solved_than_children(self, choice, parents):
    made = _make(
      seed_choice=choice, num_children=3, num_easy_tasks=20, noise=0.0
    )
    made.active.rows.generation.assign(tf.range(made.active.size))
    values = np.full(20, 1.0)
    values[0] = 0.6
    _update(made, _batch(made, range(20)), values)
    born_to = _rows(made.active).generation[-3:] - 1
    if parents:
      self.assertAllEqual(born_to, parents)
    else:
      self.assertLen(np.unique(born_to), 3)
      self.assertNotIn(0, born_to)
      self.assertNotAllEqual(np.sort(born_to), [1, 2, 3])

  @parameterized.parameters('fifo', 'diverse', 'random')
  def test_sets_stay_within_bounds_and_counts_add_up(self, eviction):
    made = _make(
      capacity=16, active_eviction=eviction, solved_eviction=eviction
    )
    update = tf.function(made.update, autograph=False)
    rng = np.random.default_rng(0)
    has_evicted = False
    for turn in range(15):
      seed = randomness.root(turn)
      [batch] = made.sample(14, seed)
      active, solved = int(made.active.count), int(made.solved.count)
      values = rng.uniform(0.4, 1.05, 14)
      metrics = _update(made, batch, values, seed, update)
      newly = int(metrics['newly_solved'])
      left = active - newly - int(metrics['dropped'])
      has_evicted |= left > 16 and solved + newly > 16
      born = 6 if newly else 0
      self.assertEqual(metrics['active_tasks'], min(left, 16) + born)
      self.assertEqual(metrics['solved_tasks'], min(solved + newly, 16))
      self.assertEqual(int(made.active.count), metrics['active_tasks'])
      phi = _rows(made.active).phi
      self.assertTrue(np.all(fakes.LineTaskSpace().feasible(phi)))
    self.assertTrue(has_evicted)

  def test_a_full_solved_set_keeps_the_newest(self):
    made = _make(num_solved=19)
    before, phi = _rows(made.solved), _rows(made.active).phi
    _update(made, _batch(made, [2, 5, 6]), [1.0] * 3)
    want = np.concatenate([before.phi[2:], phi[[2, 5, 6]]])
    self.assertAllEqual(_rows(made.solved).phi, want)

  def test_tells_the_second_term_of_the_bound(self):
    made, rng = _make(), np.random.default_rng(0)
    value = rng.uniform(0.0, 0.9, 12).astype(np.float32)
    [batch] = made.sample(12, _SEED)
    ratio = np.arange(12, dtype=np.float32)
    with mock.patch.object(density_ratio, 'log_ratio') as estimate:
      estimate.return_value = tf.constant(ratio)
      metrics = _update(made, batch._replace(size=tf.constant(10)), value)
    want = np.mean((value * ratio)[:10])
    self.assertAllClose(metrics['bound_curriculum'], want)
    phi, target, size = estimate.call_args.args
    self.assertAllEqual(phi, batch.phi)
    self.assertEqual(target.shape, [12, 4])
    self.assertEqual(size, 10)

  def test_second_term_of_the_bound_by_distribution(self):
    made, space = _make(), fakes.LineTaskSpace()
    for low, high, draw in (
      (-0.5, 0.5, space.sample_uniform),  # q = p.
      (-30.0, -4.0, space.sample_easy),
    ):
      phi = draw(200, randomness.root(7))
      slots = tf.zeros([200], tf.int32)
      ticket = task_expansion.Ticket(tf.fill([200], _FRESH), slots)
      batch = types.TaskBatch(phi, tf.constant(200), ticket)
      full, half, nothing = (
        _update(made, batch, np.full(200, value))['bound_curriculum']
        for value in (1.0, 0.5, 0.0)
      )
      self.assertBetween(full, low, high)
      self.assertAllClose(half, full / 2.0)
      self.assertEqual(nothing, 0.0)

  def test_draws_no_targets_on_the_host(self):
    made = _make()
    with (
      mock.patch.object(fakes.LineTaskSpace, 'is_compiled', False),
      mock.patch.object(fakes.LineTaskSpace, 'sample_target') as draw,
    ):
      metrics = _update(made, _batch(made, range(12)), np.ones(12))
    draw.assert_not_called()
    self.assertNotIn('bound_curriculum', metrics)

  def test_history_holds_the_rows_in_use(self):
    made = _make(num_solved=3)
    history = made.history()
    self.assertAllEqual(history['active_phi'], _rows(made.active).phi)
    self.assertAllEqual(history['solved_age'], np.zeros(3))
    self.assertAllEqual(history['solved_parent'], _rows(made.solved).parent)
    self.assertLen(history, 10)


def _portable_uniform(seed, shape, low=0.0, high=1.0):
  """Numbers that do not depend on who computes them: XLA's Philox differs."""
  number = tf.range(tf.reduce_prod(shape)) * 747796405 + seed[0]
  for factor in (-2048144789, -1028477387):
    number = number ^ tf.bitwise.right_shift(number, 15)
    number = number * factor + seed[1]
  share = tf.cast(number & 0xFFFFFF, tf.float32) / 2.0**24
  return low + (high - low) * tf.reshape(share, shape)


class CompiledTest(tf.test.TestCase):
  def _run(self, compiled, eviction):
    made = _make(
      capacity=16, active_eviction=eviction, solved_eviction=eviction
    )
    sample = compiled(lambda seed: made.sample(14, seed))
    update = compiled(made.update)
    seen = []
    for turn in range(6):
      seed = randomness.root(turn)
      batches = sample(seed)
      values = tf.cos(9.0 * batches[0].phi[:, 0] + turn) / 2.0 + 0.7
      feedback = (types.TaskFeedback(tf.minimum(values, 1.0)),)
      metrics = update(batches, feedback, tf.constant(_NO_SCORE), seed)
      seen.append(tf.nest.map_structure(np.array, (batches, metrics)))
    history = tf.nest.map_structure(np.array, made.history())
    self.assertGreater(seen[-1][1]['solved_tasks'], 10)
    return (seen, history), (sample, update)

  def test_eager_and_compiled_agree_and_trace_once(self):
    def compiled(function):
      return tf.function(function, jit_compile=True, autograph=False)

    with mock.patch.object(randomness, 'uniform', _portable_uniform):
      eager, _ = self._run(lambda function: function, 'diverse')
      jitted, functions = self._run(compiled, 'diverse')
    tf.nest.map_structure(
      lambda x, y: self.assertAllClose(x, y, 1e-4, 1e-4), eager, jitted
    )
    for function in functions:
      self.assertEqual(function.experimental_get_tracing_count(), 1)


if __name__ == '__main__':
  tf.test.main()
