# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Children that are played before they enter the active set."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import particles
from vacl_tf.curriculum import tested_expansion
from vacl_tf.testing import fakes

_SEED = randomness.root(5)
_NUM_TASKS = 8


def _make(**changes) -> tested_expansion.TestedExpansion:
  usual = {
    'capacity': 40,
    'num_easy_tasks': 12,
    'num_children': 6,
    'max_children_per_seed': 0,
  }
  cfg = config.TaskExpansionConfig(admission='tested', **(usual | changes))
  return tested_expansion.TestedExpansion(
    base.Setting(
      cfg=config.Config(curriculum=cfg),
      space=fakes.LineTaskSpace(),
      num_tasks=_NUM_TASKS,
      most_tasks=_NUM_TASKS,
      seed=randomness.root(0),
    )
  )


def _expand(made, seed=_SEED):
  """Solves two tasks; their children wait."""
  [batch] = made.sample(_NUM_TASKS, seed)
  value = tf.constant([1.0] * 2 + [0.6] * (_NUM_TASKS - 2))
  told = (types.TaskFeedback(value),)
  made.update((batch,), told, tf.constant([0.5]), seed)


def _phi(members):
  return members.rows.phi[: members.count].numpy()


def _test(made, values, size=None):
  """Plays the children that wait longest; returns their tasks."""
  [probes] = made.probe(_NUM_TASKS, _SEED, size)
  value = np.zeros(_NUM_TASKS)
  value[: int(probes.size)] = values
  told = (types.TaskFeedback(tf.constant(value, tf.float32)),)
  made.note_probe((probes,), told, _SEED)
  return probes.phi[: int(probes.size)].numpy()


class TestedExpansionTest(parameterized.TestCase, tf.test.TestCase):
  def test_children_wait(self):
    made = _make()
    self.assertTrue(made.can_probe)
    [probes] = made.probe(_NUM_TASKS, _SEED)
    self.assertEqual(int(probes.size), 0)
    before = _phi(made.active)
    _expand(made)
    self.assertLen(_phi(made.waiting), 6)
    self.assertLen(_phi(made.active), 10)
    for row in _phi(made.active).tolist():
      self.assertIn(row, before.tolist())

  @parameterized.parameters(3, 6)
  def test_rows_beyond_the_size_are_legal_tasks_too(self, num_children):
    made = _make(num_children=num_children)
    _expand(made)
    [probes] = made.probe(_NUM_TASKS, _SEED)
    self.assertLen(probes.phi, _NUM_TASKS)
    self.assertEqual(int(probes.size), num_children)
    waiting = _phi(made.waiting).tolist()
    for row in probes.phi.numpy().tolist():
      self.assertIn(row, waiting)

  def test_those_of_moderate_value_are_admitted(self):
    made = _make()
    _expand(made)
    before = _phi(made.active)
    values = [0.49, 0.5, 0.7, 0.95, 0.96, 1.0]
    tested = _test(made, values)
    self.assertAllEqual(
      _phi(made.active), np.concatenate([before, tested[1:4]])
    )
    self.assertAllClose(made.active.rows.value[10:13], values[1:4])
    self.assertAllEqual(made.active.rows.age[10:13], [0, 0, 0])
    self.assertAllEqual(made.active.rows.generation[10:13], [1, 1, 1])
    self.assertFalse(np.any(np.isnan(made.active.rows.parent[10:13])))
    self.assertEqual(int(made.waiting.count), 0)
    self.assertEqual(int(made.solved.count), 2)

  def test_only_played_children_leave_the_queue(self):
    made = _make()
    _expand(made)
    waiting = _phi(made.waiting)
    tested = _test(made, [0.0] * 4, tf.constant(4))
    self.assertAllEqual(tested, waiting[:4])
    self.assertAllEqual(_phi(made.waiting), waiting[4:])

  @parameterized.parameters(3, 6, 20)
  def test_the_queue_holds_the_latest_children(self, num_children):
    made = _make(num_children=num_children)
    _expand(made)
    old = _phi(made.waiting)
    self.assertLen(old, num_children)
    _test(made, [0.0], tf.constant(1))
    _expand(made, randomness.root(6))
    self.assertLen(_phi(made.waiting), num_children)
    self.assertNotIn(old[-1].tolist(), _phi(made.waiting).tolist())

  def test_admission_evicts_what_a_full_set_can_not_hold(self):
    made = _make(capacity=12, active_eviction='fifo')
    _expand(made)  # Two of twelve are solved.
    before = _phi(made.active)
    tested = _test(made, [0.7] * 6)
    want = np.concatenate([before, tested])[-12:]
    self.assertAllEqual(_phi(made.active), want)

  def test_a_checkpoint_holds_the_queue(self):
    made, other = _make(), _make()
    _expand(made)
    path = tf.train.Checkpoint(made).write(self.get_temp_dir() + '/state')
    tf.train.Checkpoint(other).read(path).assert_consumed()
    probe, note = (
      tf.function(function, jit_compile=True, autograph=False)
      for function in (
        lambda seed: other.probe(_NUM_TASKS, seed),
        other.note_probe,
      )
    )
    [probes] = probe(_SEED)
    self.assertEqual(int(probes.size), 6)
    self.assertAllEqual(probes.phi[:6], _test(made, [0.5, 0.7, 0, 1, 0, 0.6]))
    value = tf.constant([0.5, 0.7, 0.0, 1.0, 0.0, 0.6, 0.0, 0.0])
    note((probes,), (types.TaskFeedback(value),), _SEED)
    self.assertAllEqual(_phi(made.active), _phi(other.active))
    self.assertLen(_phi(other.active), 13)

  def test_success_may_be_the_score(self):
    made = _make(score='success')
    phi = _phi(made.active)
    rows = particles.Rows(*(x[:6] for x in made.active.rows))
    made.waiting.append(rows, tf.fill([6], True))
    [probes] = made.probe(_NUM_TASKS, _SEED)
    success = tf.constant([0.5, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0, 0.0])
    told = (types.TaskFeedback(tf.zeros([8]), success=success),)
    made.note_probe((probes,), told, _SEED)
    self.assertAllEqual(_phi(made.active)[12:], phi[[0, 3]])


if __name__ == '__main__':
  tf.test.main()
