# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Films of a policy in training: when there is one, and that it moves."""

import io
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from PIL import Image

from vacl_tf import environments
from vacl_tf import presets
from vacl_tf.launch import progress_films
from vacl_tf.training import run as run_lib


def _run(name):
  cfg = presets.make(env=name)
  env = environments.make(cfg.environment)
  return run_lib.Run(cfg, (env,)), env


class ProgressFilmsTest(parameterized.TestCase):
  def test_films_are_due_when_steps_have_doubled(self):
    films = progress_films.Films(None, None, 0)
    steps = [s for s in range(0, 9_000_001, 10_000) if films.is_due(s)]
    self.assertEqual(steps, [1_000_000, 2_000_000, 4_000_000, 8_000_000])
    # A run that goes on does not film again what it has filmed.
    resumed = progress_films.Films(None, None, 2_500_000)
    steps = [
      s for s in range(2_500_000, 5_000_001, 10_000) if resumed.is_due(s)
    ]
    self.assertEqual(steps, [4_000_000])

  @parameterized.parameters('simple_spread', 'lock_and_return')
  def test_a_film_moves_and_trains_nothing(self, name):
    run, env = _run(name)
    before = [x.numpy() for x in run.variables]
    film = progress_films.Films(run.agent, env, 0).shoot()
    with Image.open(io.BytesIO(film)) as gif:
      self.assertEqual(gif.format, 'GIF')
      self.assertBetween(gif.n_frames, 2, 38)
      first = np.asarray(gif.convert('RGB')).astype(int)
      gif.seek(gif.n_frames - 1)
      last = np.asarray(gif.convert('RGB')).astype(int)
    self.assertGreater(np.abs(first - last).max(), 50)
    self.assertLess(len(film), 300_000)
    for old, new in zip(before, run.variables, strict=True):
      np.testing.assert_array_equal(old, new.numpy())

  @parameterized.parameters(NotImplementedError, RuntimeError, OSError)
  def test_a_world_that_cannot_be_drawn_has_none(self, error):
    run, env = _run('simple_spread')
    films = progress_films.Films(run.agent, env, 0)
    with mock.patch.object(
      progress_films.players.ExportedPlayer,
      'watch',
      side_effect=error,
    ):
      self.assertIsNone(films.shoot())


if __name__ == '__main__':
  absltest.main()
