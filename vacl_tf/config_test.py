# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Presets, overrides, and messages that help."""

import dataclasses

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import config


class ConfigTest(parameterized.TestCase):
  def test_the_paper_preset_is_the_sheet(self):
    cfg = config.make(preset='paper')
    self.assertEqual(cfg.ppo.num_epochs, 15)
    self.assertEqual(cfg.ppo.num_minibatches, 1)
    self.assertEqual(cfg.ppo.gradient_scale, 2.0)
    self.assertEqual(cfg.ppo.learning_rate, 5e-4)
    self.assertEqual(cfg.ppo.entropy_cost, 0.01)
    self.assertFalse(cfg.ppo.normalize_value)
    self.assertEqual(cfg.ppo.max_gradient_norm, 0.0)
    self.assertEqual(cfg.network.activation, 'tanh')
    self.assertEqual(cfg.network.attention_gain, 1.0)
    self.assertEqual(cfg.curriculum.num_children, 150)
    self.assertEqual(cfg.curriculum.solved_eviction, 'fifo')
    self.assertEqual(cfg.curriculum.step_size, 0.6)
    self.assertEqual(cfg.curriculum.noise, 0.6)
    self.assertEqual(cfg.curriculum.noisy_share, 1.0)
    self.assertEqual(cfg.curriculum.max_children_per_seed, 0)
    self.assertEqual(cfg.training.num_rollouts, 1)

  def test_the_paper_preset_of_hard_spread(self):
    cfg = config.make(env='hard_spread', preset='paper')
    self.assertEqual(cfg.curriculum.num_children, 300)
    self.assertEqual(cfg.curriculum.bandwidth, 1000.0)

  @parameterized.parameters('default', 'paper')
  def test_presets_pass_their_own_check(self, preset):
    config.check(config.make(preset=preset))

  def test_replace_reaches_every_leaf_and_only_it(self):
    cfg = config.Config()
    for name, value in config.leaves(cfg).items():
      other = not value if isinstance(value, bool) else value * 2
      changed = config.replace(cfg, {name: other})
      expected = [] if other == value else [f'{name}: {value} -> {other}']
      self.assertEqual(config.differences(cfg, changed), expected)

  def test_restore_gives_back_what_leaves_gave(self):
    cfg = config.make(preset='paper', seed=3, curriculum='uniform')
    self.assertEqual(config.restore(config.Config(), config.leaves(cfg)), cfg)

  def test_a_field_that_an_older_file_lacks_takes_its_default(self):
    values = config.leaves(config.make(seed=5))
    del values['ppo.clip']
    values['a.field.of.the.past'] = 1
    self.assertEqual(
      config.restore(config.Config(), values), config.make(seed=5)
    )

  @parameterized.parameters(
    ({'ppo.clop': 1.0}, 'did you mean ppo.clip'),
    ({'ppo.clip': -1.0}, 'ppo.clip=-1.0 .*allowed: 1e-06 to 1.0'),
    ({'curriculum.kernel': 'joined'}, 'did you mean joint'),
    ({'ppo.num_minibatches': 9}, 'num_minibatches=9 does not divide'),
    ({'curriculum.num_easy_tasks': 5000}, 'above the capacity'),
    ({'seed': -1}, 'seed=-1'),
  )
  def test_a_bad_value_is_named_with_the_remedy(self, values, message):
    with self.assertRaisesRegex(ValueError, message):
      config.check(config.replace(config.Config(), values))

  def test_an_unknown_preset_is_refused_with_the_closest(self):
    with self.assertRaisesRegex(ValueError, 'did you mean paper'):
      config.make(preset='papper')

  def test_every_number_has_bounds(self):
    numbers = {
      name
      for name, value in config.leaves(config.Config()).items()
      if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    free = {'environment.num_agents'}  # The environment knows its own.
    self.assertEqual(numbers - set(config._BOUNDS), free)

  def test_configs_are_frozen(self):
    with self.assertRaises(dataclasses.FrozenInstanceError):
      config.Config().seed = 1


if __name__ == '__main__':
  absltest.main()
