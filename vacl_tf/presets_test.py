# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Presets are what the sheets say, and pass their own check."""

import itertools

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import bounds
from vacl_tf import config
from vacl_tf import presets

_ALL = tuple(itertools.product(presets.WORLDS, presets.NAMES))


class PresetsTest(parameterized.TestCase):
  def test_the_paper_preset_is_the_sheet(self):
    cfg = presets.make(preset='paper')
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
    self.assertEqual(cfg.training.num_tasks, 500)
    self.assertEqual(cfg.ppo.annealed_after, 0)

  def test_the_paper_preset_of_hard_spread(self):
    cfg = presets.make(env='hard_spread', preset='paper')
    self.assertEqual(cfg.curriculum.num_children, 300)
    self.assertEqual(cfg.curriculum.bandwidth, 1000.0)

  def test_the_paper_preset_of_push_ball(self):
    cfg = presets.make(env='push_ball', preset='paper')
    self.assertEqual(cfg.environment.horizon, 120)
    self.assertEqual(cfg.environment.num_agents, 2)
    self.assertEqual(cfg.curriculum.step_size, 0.4)
    self.assertEqual(cfg.curriculum.noise, 0.4)

  @parameterized.parameters(
    ('simple_spread', 8, 16.0), ('push_ball', 2, 2.0), ('push_ball', 4, 8.0)
  )
  def test_the_paper_preset_scales_the_gradient(self, env, num_agents, scale):
    cfg = presets.make(env=env, num_agents=num_agents, preset='paper')
    self.assertEqual(cfg.ppo.gradient_scale, scale)

  @parameterized.parameters((2, 3_000_000), (4, 15_000_000))
  def test_with_more_agents_learning_slows_down_later(self, num_agents, steps):
    cfg = presets.make(env='push_ball', num_agents=num_agents)
    self.assertEqual(cfg.ppo.annealed_after, steps)

  @parameterized.parameters((2, 2), (4, 2), (2, 4))
  def test_more_boxes_are_more_entities_too(self, num_agents, num_boxes):
    cfg = presets.make(
      env='lock_and_return', num_agents=num_agents, num_boxes=num_boxes
    )
    is_large = num_agents + num_boxes > 4
    steps = presets.run_length(cfg).num_env_steps
    self.assertEqual(
      (cfg.ppo.annealed_after, steps),
      (12e6, 40e6) if is_large else (10e6, 20e6),
    )

  @parameterized.parameters(*_ALL)
  def test_a_run_goes_on_after_its_rate_has_begun_to_fall(self, env, preset):
    for num_agents in (None, 4):
      cfg = presets.make(env=env, preset=preset, num_agents=num_agents)
      steps = presets.run_length(cfg).num_env_steps
      self.assertGreaterEqual(steps, 1.5 * cfg.ppo.annealed_after)

  @parameterized.parameters(*_ALL)
  def test_presets_pass_their_own_check(self, env, preset):
    cfg = presets.make(env=env, preset=preset)
    bounds.check(cfg)
    self.assertEqual(cfg.environment.name, env)
    self.assertEqual(cfg.preset, preset)

  @parameterized.parameters(
    ({}, (2, 2), ''),
    ({'num_agents': 4}, (4, 4), '2x2,4x2,4x4'),
    ({'num_boxes': 4}, (4, 4), '2x2,4x2,4x4'),
    ({'num_agents': 4, 'num_boxes': 2}, (4, 2), '2x2,4x2'),
    ({'num_agents': 3, 'num_boxes': 5}, (3, 5), '2x2,3x2,3x4,3x5'),
    ({'num_agents': 1}, (1, 1), ''),
    ({'entity_counts': '1x1,2x1'}, (2, 1), '1x1,2x1'),
    ({'num_agents': 4, 'curriculum': 'uniform'}, (4, 4), ''),
  )
  def test_the_path_doubles_agents_first(self, given, last, path):
    cfg = presets.make(env='lock_and_return', **given)
    world = cfg.environment
    self.assertEqual((world.num_agents, world.num_boxes), last)
    self.assertEqual(cfg.progression.entity_counts, path)
    self.assertEqual(config.entity_counts(cfg)[-1], last)

  @parameterized.parameters('simple_spread', 'ramp_use')
  def test_boxes_where_there_are_none_lead_nowhere(self, env):
    # Whoever loads the world refuses it; doubling none would never end.
    cfg = presets.make(env=env, num_boxes=1)
    self.assertEqual(cfg.progression.entity_counts, '')
    self.assertEqual(cfg.environment.num_boxes, 1)

  @parameterized.parameters(
    'simple_spread', 'push_ball', 'lock_and_return', 'ramp_use'
  )
  def test_what_is_ours_alone_is_not_in_the_paper_preset(self, env):
    ours, paper = presets.make(env=env), presets.make(env=env, preset='paper')
    frames = ours.network.frame, paper.network.frame
    self.assertEqual(frames, ('own', 'room'))
    self.assertEqual(paper.network.num_hops, 1)
    self.assertEqual(ours.ppo.recall_cost > 0.0, env == 'lock_and_return')
    self.assertEqual(paper.ppo.recall_cost, 0.0)

  def test_hide_and_seek_learns_in_chunks_of_its_horizon(self):
    for env, length in (('lock_and_return', 30), ('ramp_use', 10)):
      for preset in presets.NAMES:
        cfg = presets.make(env=env, preset=preset)
        self.assertEqual(cfg.ppo.chunk_length, length)
        self.assertEqual(cfg.environment.horizon, 60)
        self.assertEqual(cfg.ppo.entropy_cost, 0.01)
        self.assertEqual(cfg.training.num_tasks, 300)
        self.assertEqual(cfg.network.activation, 'tanh')
      self.assertEqual(cfg.training.num_rollouts, 3)
      self.assertEqual(cfg.ppo.value_decay, 0.99999)
      self.assertEqual(cfg.ppo.num_epochs, 15)
      self.assertEqual(cfg.ppo.num_minibatches, 1)
      self.assertEqual(cfg.curriculum.target_share, 0.0)

  @parameterized.parameters(
    ({'preset': 'papper'}, 'did you mean paper'),
    ({'env': 'simple_spraed'}, 'did you mean simple_spread'),
  )
  def test_an_unknown_name_is_refused_with_the_closest(self, given, message):
    with self.assertRaisesRegex(ValueError, message):
      presets.make(**given)


if __name__ == '__main__':
  absltest.main()
