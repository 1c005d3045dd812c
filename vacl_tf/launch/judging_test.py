# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0

import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.launch import command_line
from vacl_tf.launch import judging


class LoadTest(absltest.TestCase):
  def test_a_name_too_long_is_one_line(self):
    message = 'File name too long.; give the run_dir of another run$'
    with self.assertRaisesRegex(command_line.UsageError, message):
      judging.load(pathlib.Path('x' * 300), None, run_graph=False)


class WorldTest(parameterized.TestCase):
  """The world of an evaluation is that of training, but for the counts."""

  def _worlds(self, cfg, num_agents=None, num_boxes=None):
    trained = cfg.environment
    return [
      judging.make_world(
        trained, judging.wanted_counts(trained, number, num_boxes)
      )
      for number in num_agents or [None]
    ]

  @parameterized.parameters(
    ('lock_and_return', {}, [(2, 2)]),
    ('lock_and_return', {'num_agents': [3, 4]}, [(3, 3), (4, 4)]),
    ('lock_and_return', {'num_boxes': 3}, [(2, 3)]),
    ('lock_and_return', {'num_agents': [3], 'num_boxes': 1}, [(3, 1)]),
    ('simple_spread', {'num_agents': [2, 8]}, [(2,), (8,)]),
  )
  def test_counts(self, env, given, counts):
    worlds = self._worlds(presets.make(env=env), **given)
    self.assertEqual([world.counts for world in worlds], counts)

  def test_constants_of_training_stay(self):
    cfg = overrides.replace(
      presets.make(env='lock_and_return', num_agents=3),
      {'environment.sees_birthplace': True},
    )
    [same] = self._worlds(cfg)
    self.assertEqual(same, cfg.environment)
    [other] = self._worlds(cfg, [4])
    self.assertTrue(other.sees_birthplace)

  def test_a_radius_holds_for_any_number_of_agents(self):
    cfg = overrides.replace(
      presets.make(env='simple_spread'), {'environment.cover_radius': 0.2}
    )
    radii = [x.cover_radius for x in self._worlds(cfg, [4, 50])]
    self.assertEqual(radii, [0.2, 0.2])

  def test_a_horizon_stays(self):
    cfg = presets.make(env='simple_spread')
    cfg = overrides.replace(cfg, {'environment.horizon': 90})
    horizons = [x.horizon for x in self._worlds(cfg, [4, 8, 24])]
    self.assertEqual(horizons, [90, 90, 90])

  def test_a_horizon_that_is_given_is_taken(self):
    trained = presets.make(env='simple_spread').environment
    horizons = [
      judging.make_world(trained, {'num_agents': number}, 140).horizon
      for number in (4, 24)
    ]
    self.assertEqual(horizons, [140, 140])


if __name__ == '__main__':
  absltest.main()
