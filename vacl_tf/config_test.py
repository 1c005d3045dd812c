# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Overrides, bounds, and messages that help."""

import dataclasses

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import bounds
from vacl_tf import config
from vacl_tf import presets


class ConfigTest(parameterized.TestCase):
  def test_replace_reaches_every_leaf_and_only_it(self):
    cfg = config.Config()
    for name, value in config.leaves(cfg).items():
      other = not value if isinstance(value, bool) else value * 2
      changed = config.replace(cfg, {name: other})
      expected = [] if other == value else [f'{name}: {value} -> {other}']
      self.assertEqual(config.differences(cfg, changed), expected)

  def test_restore_gives_back_what_leaves_gave(self):
    cfg = presets.make(preset='paper', seed=3, curriculum='uniform')
    self.assertEqual(config.restore(config.Config(), config.leaves(cfg)), cfg)

  def test_a_field_that_an_older_file_lacks_takes_its_default(self):
    values = config.leaves(presets.make(seed=5))
    del values['ppo.clip']
    values['a.field.of.the.past'] = 1
    self.assertEqual(
      config.restore(config.Config(), values), presets.make(seed=5)
    )

  @parameterized.parameters(
    ({'ppo.clop': 1.0}, 'did you mean ppo.clip'),
    ({'ppo.clip': -1.0}, 'ppo.clip=-1.0 .*allowed: 1e-06 to 1.0'),
    ({'curriculum.kernel': 'joined'}, 'did you mean joint'),
    ({'ppo.num_minibatches': 9}, 'num_minibatches=9 does not divide'),
    ({'curriculum.num_easy_tasks': 5000}, 'above the capacity'),
    ({'seed': -1}, 'seed=-1'),
    (
      {'ppo.chunk_length': 4},
      'chunk_length=4 does not divide .*horizon, 70; give one that does$',
    ),
    ({'ppo.chunk_length': 0}, 'chunk_length=0 .*allowed: 1 to'),
    (
      {'ppo.chunk_length': 70, 'ppo.num_minibatches': 50},
      'num_minibatches=50 does not divide 120 samples .*chunks of 70',
    ),
    ({'hide_and_seek.reach': 2.0}, 'reach=2.0 .*allowed: 1e-06 to 1.0'),
    ({'hide_and_seek.reward_scale': 0.0}, 'reward_scale=0.0 .*allowed: 1e-06'),
  )
  def test_a_bad_value_is_named_with_the_remedy(self, values, message):
    with self.assertRaisesRegex(ValueError, message):
      bounds.check(config.replace(config.Config(), values))

  @parameterized.parameters(
    (
      '2,4',
      'is not what lock_and_return counts; give .* boxes like 2x2,4x2,4x4',
    ),
    ('2x2,2x4', 'does not end at 4x4'),
    ('4x2,2x4,4x4', 'does not grow from 4x2 to 2x4'),
    ('2x,4x4', 'is not a list of counts; give one like'),
    ('2,4x4', 'does not grow from 2 to 4x4'),
  )
  def test_a_path_of_counts_that_is_none_is_refused(self, path, message):
    cfg = presets.make(env='lock_and_return', num_agents=4)
    cfg = config.replace(cfg, {'progression.entity_counts': path})
    with self.assertRaisesRegex(ValueError, message):
      bounds.check(cfg)

  def test_every_number_has_bounds(self):
    numbers = {
      name
      for name, value in config.leaves(config.Config()).items()
      if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    # The environment knows its own.
    free = {'environment.num_agents', 'environment.num_boxes'}
    self.assertEqual(numbers - set(bounds._BOUNDS), free)

  def test_configs_are_frozen(self):
    with self.assertRaises(dataclasses.FrozenInstanceError):
      config.Config().seed = 1


if __name__ == '__main__':
  absltest.main()
