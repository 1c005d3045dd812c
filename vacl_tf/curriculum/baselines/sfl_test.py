# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for sfl: who is kept, and that it gets somewhere."""

import copy

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import sfl
from vacl_tf.testing import toy_learner

_NUM_TASKS = 40


def _make(**values):
  values = {
    'num_candidates': 20,
    'num_kept': 5,
    'refresh_interval': 4,
    'num_easy_tasks': 50,
    'noise': 0.4,
  } | values
  rng = np.random.default_rng(0)
  return sfl.Sfl(toy_learner.TASKS, configs.SflConfig(**values), rng)


def _probe(chooser, rng, share=0.5):
  """Probes once; each candidate succeeds in a share of its episodes."""
  tasks = chooser.probe(_NUM_TASKS, rng)
  episode = np.arange(len(tasks)) % chooser._cfg.num_episodes
  success = episode < share * chooser._cfg.num_episodes
  chooser.note_probe(tasks, {'success': success.astype(np.float32)})
  return tasks


def _is_in(tasks, others):
  return (tasks[:, None] == others[None]).all(-1).any(1)


class SflTest(tf.test.TestCase, parameterized.TestCase):
  def test_candidates_are_played_some_times_each(self):
    chooser, rng = _make(), np.random.default_rng(1)
    for index in range(4):
      self.assertEqual(chooser.state['num_candidates'], 5 * index)
      tasks = _probe(chooser, rng)
      self.assertEqual(tasks.shape, (5 * 4, 4))
      self.assertLen(np.unique(tasks, axis=0), 5)
      self.assertAllEqual(tasks[::4], tasks[3::4])
    # There are enough, so none more are asked for until some are chosen.
    self.assertEmpty(_probe(chooser, rng))
    chooser.sample(_NUM_TASKS, rng)
    self.assertEqual(chooser.state['num_candidates'], 0)
    self.assertLen(_probe(chooser, rng), 20)

  @parameterized.parameters((40, 20), (9, 8), (3, 0))
  def test_no_more_are_probed_than_allowed(self, most, expected):
    tasks = _make().probe(most, np.random.default_rng(1))
    self.assertEqual(tasks.shape, (expected, 4))

  def test_the_most_learnable_are_kept(self):
    chooser, rng = _make(), np.random.default_rng(1)
    shares = (0.0, 1.0, 0.25, 0.5)
    probed = [_probe(chooser, rng, share)[::4] for share in shares]
    chooser.sample(_NUM_TASKS, rng)
    self.assertAllClose(chooser.state['learnability'], [0.25] * 5)
    self.assertTrue(_is_in(chooser.state['kept'], probed[3]).all())

  def test_of_equally_learnable_ones_any_are_kept(self):
    chooser = _make(num_candidates=400, num_kept=200)
    chooser.state['share'][:] = np.arange(400) % 2  # Of which l is 0 alike.
    chooser.state['candidates'][:, 0] = np.arange(400)
    chooser.state['num_candidates'] = np.array(400)
    chooser.sample(_NUM_TASKS, np.random.default_rng(1))
    kept = chooser.state['kept'][:, 0]
    self.assertLen(np.unique(kept), 200)
    self.assertBetween((kept < 200).mean(), 0.35, 0.65)
    self.assertBetween((kept % 2).mean(), 0.35, 0.65)

  def test_half_of_a_batch_is_kept_tasks_in_random_order(self):
    chooser, rng = _make(knows_easy=False), np.random.default_rng(1)
    self.assertFalse(chooser.state['has_kept'])
    tasks = chooser.sample(_NUM_TASKS, rng)
    self.assertFalse(_is_in(tasks, chooser.state['candidates']).any())
    for _ in range(4):
      _probe(chooser, rng)
    tasks = chooser.sample(_NUM_TASKS, rng)
    is_kept = _is_in(tasks, chooser.state['kept'])
    self.assertEqual(is_kept.sum(), _NUM_TASKS // 2)
    self.assertBetween(is_kept[: _NUM_TASKS // 2].mean(), 0.2, 0.8)

  def test_the_generator(self):
    """A third each is of the target, easy, and an edit of a solved task."""
    chooser, rng = _make(noise_probability=1.0), np.random.default_rng(1)
    far = np.full([300, 4], 2.0, np.float32)
    chooser.update(far, {'success': np.ones(300)})  # Now all that are solved.
    tasks = chooser.sample(3000, rng)
    is_easy = np.abs(tasks).max(-1) <= 0.15
    is_edit = np.abs(tasks - 2.0).max(-1) <= 0.4
    self.assertAllClose(is_easy.mean(), 1 / 3, atol=0.04)
    self.assertAllClose(is_edit.mean(), 1 / 3, atol=0.04)
    pure = _make(knows_easy=False).sample(3000, rng)
    self.assertLess((np.abs(pure).max(-1) <= 0.15).mean(), 0.01)
    self.assertAllInRange(pure.mean(0), -0.2, 0.2)

  def test_the_latest_solved_tasks_may_be_edited(self):
    chooser = _make()
    before = chooser.state['solved'].copy()
    tasks = chooser.sample(_NUM_TASKS, np.random.default_rng(1))
    success = (np.arange(_NUM_TASKS) < 10) * 0.5
    metrics = chooser.update(tasks, {'success': success})
    self.assertAllClose(metrics['mean_success'], 0.125)
    expected = np.concatenate([before[10:], tasks[:10]])
    self.assertAllEqual(chooser.state['solved'], expected)

  @parameterized.parameters(True, False)
  def test_a_second_one_with_its_state_goes_on_as_it_does(self, knows_easy):
    first, second = _make(knows_easy=knows_easy), _make(knows_easy=knows_easy)
    shapes = {name: x.shape for name, x in second.state.items()}

    def play(chooser, seed):
      rng = np.random.default_rng(seed)
      probed = _probe(chooser, rng, 0.25 * (seed % 5))
      tasks = chooser.sample(_NUM_TASKS, rng)
      success = (np.abs(tasks).max(-1) < 1.0).astype(np.float32)
      return probed, tasks, chooser.update(tasks, {'success': success})

    for seed in range(7):
      play(first, seed)
    second.state = copy.deepcopy(first.state)
    for seed in range(7, 12):
      tf.nest.map_structure(
        self.assertAllEqual, play(first, seed), play(second, seed)
      )
    self.assertEqual({k: np.shape(x) for k, x in first.state.items()}, shapes)

  def test_it_reaches_what_uniform_tasks_do_not(self):
    chooser = _make(noise_probability=0.5)
    self.assertGreater(toy_learner.teach(chooser, num_rounds=50), 0.5)
    uniform = toy_learner.teach(toy_learner.Uniform(), num_rounds=50)
    self.assertLess(uniform, 0.3)


if __name__ == '__main__':
  tf.test.main()
