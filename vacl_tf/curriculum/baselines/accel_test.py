# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for accel: the laws of replay, and that it gets somewhere."""

import copy

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf.curriculum.baselines import accel
from vacl_tf.curriculum.baselines import configs
from vacl_tf.testing import toy_learner

_NUM_TASKS = 40


def _make(constants=configs.AccelConfig, **values):
  values = {'capacity': 60, 'num_easy_tasks': 60, 'noise': 0.4} | values
  rng = np.random.default_rng(0)
  return accel.make(toy_learner.TASKS, constants(**values), rng)


def _told(chooser, score):
  """What makes `score` the score of tasks, without edits or MaxMC."""
  return dict.fromkeys(('value', *chooser.feedback), np.asarray(score))


def _play(chooser, seed, score_of=lambda tasks: np.abs(tasks).sum(-1)):
  rng = np.random.default_rng(seed)
  probed = np.zeros([0, 4])
  if isinstance(chooser, accel.RobustPlr):
    probed = chooser.probe(_NUM_TASKS, rng)
    chooser.note_probe(probed, _told(chooser, score_of(probed)))
  tasks = chooser.sample(_NUM_TASKS, rng)
  metrics = chooser.update(tasks, _told(chooser, score_of(tasks)))
  return probed, tasks, metrics


def _is_in(tasks, others):
  return (tasks[:, None] == others[None]).all(-1).any(1)


class AccelTest(tf.test.TestCase, parameterized.TestCase):
  def test_what_is_played_beside_a_batch(self):
    """Per replayed task a quarter of a new one, and half an edit."""
    chooser = _make(temperature=100.0)
    _, first, _ = _play(chooser, 1)
    replayed = chooser.state['phi'][chooser.state['was_replayed']]
    self.assertAllEqual(np.unique(first, axis=0), np.unique(replayed, axis=0))
    probed = chooser.probe(_NUM_TASKS, np.random.default_rng(2))
    self.assertLen(probed, 10 + 20)
    edits = probed[:20]
    distance = np.abs(edits[:, None] - replayed).max(-1).min(1)
    self.assertAllLess(distance, 0.4)
    # One in some is a copy of its parent.
    is_copy = chooser._probed[:20] >= 0
    self.assertAllEqual(is_copy, distance == 0.0)
    self.assertBetween(is_copy.sum(), 1, 19)

  @parameterized.parameters(
    (configs.PlrConfig, {}, 40),
    (configs.PlrConfig, {'replay_probability': 0.8}, 10),
    (configs.PlrConfig, {'replay_probability': 1.0}, 0),
    (configs.AccelConfig, {'edited_share': 1.0}, 40),
    (configs.AccelConfig, {'replay_probability': 1.0}, 20),
  )
  def test_how_many_are_probed(self, constants, values, number):
    chooser = _make(constants, **values)
    _play(chooser, 1)
    probed = chooser.probe(_NUM_TASKS, np.random.default_rng(2))
    self.assertEqual(probed.shape, (number, 4))

  def test_new_tasks_are_of_the_target_alone_if_none_are_known_to_be_easy(self):
    sizes = {}
    for knows_easy in (True, False):
      chooser = _make(configs.PlrConfig, knows_easy=knows_easy)
      self.assertEqual(chooser.state['size'], 60 * knows_easy)
      tasks = chooser.probe(400, np.random.default_rng(1))
      sizes[knows_easy] = np.abs(tasks).max(-1)
    self.assertBetween((sizes[True] < 0.15).mean(), 0.4, 0.6)
    self.assertEqual((sizes[False] < 0.15).mean(), 0.0)

  def test_nothing_is_replayed_while_there_is_too_little(self):
    chooser = _make(knows_easy=False, capacity=200, least_filled=0.5)
    replayed = []
    for seed in range(3):
      size = int(chooser.state['size'])
      _, _, metrics = _play(chooser, seed)
      replayed.append((size + 30 >= 100, metrics['replayed_share']))
    # 0, 70 and 140 tasks, and 30 probes before each batch.
    self.assertEqual(replayed, [(False, 0.0), (True, 1.0), (True, 1.0)])

  def test_the_buffer_keeps_the_best_of_all_that_was_offered(self):
    chooser = _make(configs.PlrConfig, score='pvl')
    chooser.state['score'] = np.linspace(0.0, 1.0, 60, dtype=np.float32)
    before = copy.deepcopy(chooser.state)
    rng = np.random.default_rng(1)
    tasks, score = chooser.probe(_NUM_TASKS, rng), rng.uniform(0, 2, _NUM_TASKS)
    chooser.note_probe(tasks, _told(chooser, score))
    everything = np.concatenate([before['score'], score])
    expected = np.sort(everything)[-60:]
    self.assertAllClose(np.sort(chooser.state['score']), expected)
    # Each score is still its own task's.
    for slot in range(60):
      where = np.isclose(everything, chooser.state['score'][slot])
      all_tasks = np.concatenate([before['phi'], tasks])
      self.assertAllEqual(chooser.state['phi'][slot], all_tasks[where][0])
    inserted = _is_in(tasks, chooser.state['phi']).mean()
    chooser.sample(_NUM_TASKS, rng)
    metrics = chooser.update(tasks, _told(chooser, score))
    self.assertAllClose(metrics['inserted_share'], inserted)

  def test_who_is_as_good_as_the_worst_does_not_get_in(self):
    chooser = _make(configs.PlrConfig, score='pvl')
    chooser.state['score'][:] = 0.5
    before = chooser.state['phi'].copy()
    tasks = chooser.probe(_NUM_TASKS, np.random.default_rng(1))
    chooser.note_probe(tasks, _told(chooser, np.full(_NUM_TASKS, 0.5)))
    self.assertAllEqual(chooser.state['phi'], before)
    chooser.note_probe(tasks, _told(chooser, np.full(_NUM_TASKS, 0.6)))
    self.assertEqual(_is_in(tasks, chooser.state['phi']).sum(), _NUM_TASKS)

  def test_replay_by_rank(self):
    """A single draw follows rank^(-1 / beta), whatever the scores are."""
    chooser = _make(capacity=5, num_easy_tasks=5, temperature=0.5)
    chooser.state['score'][:] = [0.1, 70.0, 0.2, 0.0, 0.3]
    rank = np.array([4, 1, 3, 5, 2])
    expected = rank**-2.0 / (rank**-2.0).sum()
    rng, number = np.random.default_rng(1), 5_000
    drawn = [chooser._replayed(1, rng)[0] for _ in range(number)]
    found = np.bincount(drawn, minlength=5) / number
    self.assertAllClose(found, expected, atol=4.0 * 0.5 / number**0.5)

  def test_replay_by_staleness(self):
    chooser = _make(capacity=4, num_easy_tasks=4, stale_share=1.0)
    chooser.state['round'] = np.array(9)
    chooser.state['played'][:] = [8, 5, 3, 9]
    rng, number = np.random.default_rng(1), 5_000
    drawn = [chooser._replayed(1, rng)[0] for _ in range(number)]
    found = np.bincount(drawn, minlength=4) / number
    expected = np.array([1, 4, 6, 0]) / 11
    self.assertAllClose(found, expected, atol=4.0 * 0.5 / number**0.5)

  def test_no_task_comes_twice_while_there_are_others(self):
    chooser = _make()
    for number in (1, 40, 60):
      slots = chooser._replayed(number, np.random.default_rng(number))
      self.assertLen(np.unique(slots), number)
    slots = chooser._replayed(120, np.random.default_rng(1))
    self.assertLen(slots, 120)
    self.assertLen(np.unique(slots), 60)

  def test_what_was_played_is_scored_anew_and_not_stale(self):
    chooser = _make(configs.PlrConfig, score='pvl')
    chooser.state['score'][:] = 0.5
    tasks = chooser.sample(9, np.random.default_rng(1))
    chooser.update(tasks, _told(chooser, np.full(9, 0.25)))
    is_played = _is_in(chooser.state['phi'], tasks)
    self.assertEqual(is_played.sum(), 9)
    self.assertAllEqual(chooser.state['score'] == 0.25, is_played)
    self.assertAllEqual(chooser.state['played'] == 1, is_played)
    self.assertAllEqual(chooser.state['was_replayed'], is_played)

  def test_scores(self):
    for score, told, expected in (
      ('pvl', {'positive_advantage': [0.3]}, [0.3, 0.3]),
      # The largest target stays, whatever came later.
      ('maxmc', {'max_target': [2.0], 'mean_value': [0.5]}, [1.5, 1.5]),
      # 1/2, then 0.3 of the way to 1, twice.
      ('learnability', {'success': [1.0]}, [0.65 * 0.35, 0.755 * 0.245]),
    ):
      chooser = _make(configs.PlrConfig, score=score, capacity=1)
      told = {name: np.array(x) for name, x in told.items()}
      self.assertEqual(chooser.feedback, tuple(told))
      found = []
      for step in range(2):
        if step and score == 'maxmc':
          told = told | {'max_target': np.array([1.0])}
        tasks = chooser.sample(1, np.random.default_rng(1))
        chooser.update(tasks, told)
        found.append(chooser.state['score'][0])
      self.assertAllClose(found, expected, msg=score)

  def test_a_task_that_a_batch_has_twice(self):
    """It is scored by both plays, as if they had been in two batches."""
    slots = np.array([7, 7, 9])
    for value in ([1.0, 2.0, 5.0], [2.0, 1.0, 5.0]):
      chooser = _make(score='maxmc')
      told = dict.fromkeys(('max_target', 'mean_value'), np.array(value))
      chooser._note(np.zeros([3, 4]), told, slots)
      self.assertAllEqual(chooser.state['best'][[7, 9]], [2.0, 5.0])
    chooser = _make(score='learnability')
    chooser._note(np.zeros([3, 4]), {'success': np.ones(3)}, slots)
    once, twice = chooser.state['success'][[9, 7]]
    rate = (once - 0.5) / 0.5
    self.assertAllClose(twice, once + rate * (1.0 - once))

  def test_what_replaces_a_replayed_task_was_not_replayed(self):
    chooser = _make(
      train_on_new=True, temperature=100.0, noise_probability=1.0, capacity=60
    )
    rng = np.random.default_rng(1)
    chooser.state['score'][:] = 0.5
    replayed = 0
    for _ in range(5):
      tasks = chooser.sample(_NUM_TASKS, rng)
      was_there = _is_in(tasks, chooser.state['phi'])
      score = np.where(was_there, 0.1, 0.9)  # New ones drive them out.
      chooser.update(tasks, _told(chooser, score))
      marked = chooser.state['phi'][chooser.state['was_replayed']]
      self.assertTrue(_is_in(marked, tasks[was_there]).all())
      replayed += len(marked)
    self.assertGreater(replayed, 0)

  def test_training_on_all_there_is(self):
    """Shares of a batch are those of the plays of the robust form."""
    chooser = _make(train_on_new=True, temperature=100.0, noise_probability=1.0)
    self.assertNotIsInstance(chooser, accel.RobustPlr)
    _play(chooser, 1)
    _, _, metrics = _play(chooser, 2)
    # 1 : 1/4 : 1/2 of 40.
    self.assertBetween(metrics['replayed_share'], 22 / 40, 24 / 40)
    tasks = chooser.sample(_NUM_TASKS, np.random.default_rng(3))
    is_new = ~_is_in(tasks, chooser.state['phi'])
    self.assertBetween(is_new.sum(), 16, 18)

  @parameterized.parameters(True, False)
  def test_a_second_one_with_its_state_goes_on_as_it_does(self, train_on_new):
    first = _make(train_on_new=train_on_new, capacity=150)
    for seed in range(4):
      _play(first, seed)
    second = _make(train_on_new=train_on_new, capacity=150)
    shapes = {name: x.shape for name, x in second.state.items()}
    second.state = copy.deepcopy(first.state)
    for seed in range(4, 7):
      tf.nest.map_structure(
        self.assertAllEqual, _play(first, seed), _play(second, seed)
      )
    self.assertEqual({k: np.shape(x) for k, x in first.state.items()}, shapes)

  @parameterized.parameters('pvl', 'learnability')
  def test_it_reaches_what_uniform_tasks_do_not(self, score):
    chooser = _make(
      capacity=400, num_easy_tasks=250, noise_probability=0.5, score=score
    )
    self.assertGreater(toy_learner.teach(chooser, num_rounds=40), 0.6)
    uniform = toy_learner.teach(toy_learner.Uniform(), num_rounds=40)
    self.assertLess(uniform, 0.3)


if __name__ == '__main__':
  tf.test.main()
