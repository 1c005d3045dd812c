# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Films are of the tasks that they are said to be of, the worst ones first."""

import base64
import functools
import pathlib
from unittest import mock

import numpy as np
from absl.testing import absltest

from vacl_tf import environments
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf.environments import base
from vacl_tf.launch import judging
from vacl_tf.launch import report_films

_RESULTS = pathlib.Path(__file__).parents[2] / 'results'
_RUN = _RESULTS / 'push_ball_n4' / 'seed0'  # Grown from two agents.
_OPTIONS = judging.Options(30, 0, True)
_CFG = presets.make(env='push_ball', num_agents=4)


@functools.cache
def _policy():
  return judging.load(None, _RUN / 'saved_model', False)


@functools.cache
def _snapshots():
  """Returns tasks of two agents, then of four; others have too many numbers."""
  found = {}
  for iteration, number in ((1, 2), (5, 4)):
    env = environments.load('push_ball', num_agents=number)
    phi = env.task_space.sample_target(9, randomness.root(iteration)).numpy()
    found[iteration] = {'active_phi': phi, 'solved_phi': phi[:0]}
  odd = np.zeros([2, 100], np.float32)
  found[9] = {'active_phi': odd, 'solved_phi': odd[:0]}
  return found


def _show(note=lambda text: None):
  return report_films.show(_policy(), _CFG, _snapshots(), _OPTIONS, note)


@absltest.skipUnless(_RESULTS.is_dir(), 'results/ is not here')
class FilmsTest(absltest.TestCase):
  def test_the_worst_come_first_and_have_their_values(self):
    shown = _show()
    values = [failure.value for failure in shown.failures]
    self.assertLen(values, report_films.NUM_FAILURES)
    self.assertEqual(values, sorted(shown.values.tolist())[: len(values)])
    for value, index in shown.failures:
      film = shown.films['items'][index]
      progress = list(base64.b64decode(film['progress']))
      self.assertLen(progress, _CFG.environment.horizon)
      self.assertAlmostEqual(np.mean(progress[-5:]) / 255, value, delta=3e-3)

  def test_films_begin_where_the_tasks_of_the_sets_do(self):
    notes = []
    shown = _show(notes.append)
    self.assertIn('tasks with 100 numbers are not played', ' '.join(notes))
    self.assertEqual(set(shown.filmed.sets), {(1, 'active'), (5, 'active')})
    for (iteration, name), films in shown.filmed.sets.items():
      self.assertLen(films, 9)
      for row, index in films.items():
        film = shown.films['items'][index]
        stage = shown.films['shared']['stages'][film['stage']]
        unit = stage['half_width'] / shown.films['shared']['levels']
        moving = np.frombuffer(base64.b64decode(film['moving']), '<i2')
        first = moving.reshape(film['times'], -1, 2)[0]
        places = np.concatenate([first, np.reshape(film['still'], [-1, 2])])
        wanted = _snapshots()[iteration][f'{name}_phi'][row].reshape(-1, 2)
        far = abs(wanted[:, None] - unit * places).max(-1).min(1)
        self.assertLess(far.max(), unit)

  def test_there_is_an_end_to_the_bytes(self):
    notes = []
    with mock.patch.object(report_films, '_MOST_BYTES', 20_000):
      shown = _show(notes.append)
    self.assertIn('films are large', ' '.join(notes))
    self.assertBetween(len(shown.films['items']), 1, 20)
    self.assertLen(shown.failures, len(shown.films['items']))

  def test_worlds_without_shapes_have_no_films(self):
    notes = []
    env = type(environments.load('push_ball', num_agents=4))
    with mock.patch.object(env, 'draw', base.World.draw):
      self.assertIsNone(_show(notes.append))
    self.assertIn('no films: push_ball is not drawn from shapes', notes)

  def test_other_numbers_of_agents(self):
    notes, options = [], judging.Options(4, 0, True)
    found = report_films.judge(_policy(), [2, 1000], options, notes.append)
    self.assertEqual([row['counts'] for row in found], ['2'])
    self.assertLen(notes, 1)
    self.assertIn('1000', notes[0])
    found = report_films.judge(_policy(), [], options, notes.append)
    self.assertEqual([row['counts'] for row in found][0], '4')

  def test_no_policy(self):
    notes = []
    folder = pathlib.Path(self.create_tempdir().full_path)
    self.assertIsNone(report_films.load(folder, notes.append))
    self.assertLen(notes, 1)


if __name__ == '__main__':
  absltest.main()
