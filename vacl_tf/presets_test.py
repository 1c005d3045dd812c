# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Presets are what the publications say, and pass their own check."""

import itertools
import math

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import overrides
from vacl_tf import presets

_PRESETS = ('default', 'paper')
_ALL = tuple(itertools.product(catalog.TASKS.names(), _PRESETS))


class PresetsTest(parameterized.TestCase):
  def test_the_paper_preset_is_the_published_one(self):
    cfg = presets.make(env='simple_spread', preset='paper')
    self.assertEqual(cfg.ppo.num_epochs, 15)
    self.assertEqual(cfg.ppo.num_minibatches, 1)
    self.assertEqual(cfg.ppo.gradient_scale, 2.0)
    self.assertEqual(cfg.ppo.learning_rate, 5e-4)
    self.assertEqual(cfg.ppo.entropy_cost, 0.01)
    self.assertFalse(cfg.ppo.normalize_value)
    self.assertEqual(cfg.ppo.max_gradient_norm, 0.0)
    self.assertEqual(cfg.agent.activation, 'tanh')
    self.assertEqual(cfg.agent.attention_gain, 1.0)
    self.assertEqual(cfg.curriculum.num_children, 150)
    self.assertEqual(cfg.curriculum.solved_eviction, 'fifo')
    self.assertEqual(cfg.curriculum.step_size, 0.6)
    self.assertEqual(cfg.curriculum.noise, 0.6)
    self.assertEqual(cfg.curriculum.noise_probability, 1.0)
    self.assertEqual(cfg.curriculum.max_children_per_seed, 0)
    self.assertEqual(cfg.training.num_rollouts, 1)
    self.assertEqual(cfg.training.num_tasks, 500)
    self.assertEqual(cfg.ppo.decay_start_steps, 0)

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

  @parameterized.parameters((2, 0, 0.5), (4, 7_000_000, 0.0))
  def test_learning_slows_down_by_coverage_or_by_steps(
    self, num_agents, steps, coverage
  ):
    cfg = presets.make(env='push_ball', num_agents=num_agents)
    self.assertEqual(cfg.ppo.decay_start_steps, steps)
    self.assertEqual(cfg.ppo.decay_start_coverage, coverage)

  @parameterized.parameters((2, 2), (4, 2), (2, 4))
  def test_more_boxes_are_more_entities_too(self, num_agents, num_boxes):
    cfg = presets.make(
      env='lock_and_return', num_agents=num_agents, num_boxes=num_boxes
    )
    is_large = num_agents + num_boxes > 4
    steps = presets.run_length(cfg).num_env_steps
    self.assertEqual(
      (cfg.ppo.decay_start_steps, steps),
      (12e6, 30e6) if is_large else (10e6, 20e6),
    )

  @parameterized.parameters(*_ALL)
  def test_a_run_goes_on_after_its_rate_has_begun_to_fall(self, env, preset):
    for num_agents in (None, min(4, catalog.TASKS.get(env).most[0])):
      cfg = presets.make(env=env, preset=preset, num_agents=num_agents)
      steps = presets.run_length(cfg).num_env_steps
      self.assertGreaterEqual(steps, 1.5 * cfg.ppo.decay_start_steps)

  @parameterized.parameters(*_ALL)
  def test_presets_pass_their_own_check(self, env, preset):
    cfg = presets.make(env=env, preset=preset)
    bounds.check(cfg)
    self.assertEqual(cfg.environment.name, env)
    self.assertEqual(cfg.preset, preset)

  @parameterized.parameters(
    ({}, (2, 2), ''),
    ({'num_agents': 4}, (4, 4), '2x2,4x4'),
    ({'num_boxes': 4}, (4, 4), '2x2,4x4'),
    ({'num_agents': 4, 'preset': 'paper'}, (4, 4), '2x2,4x2,4x4'),
    ({'num_agents': 4, 'num_boxes': 2}, (4, 2), '2x2,4x2'),
    ({'num_agents': 3, 'num_boxes': 5}, (3, 5), '2x2,3x4,3x5'),
    ({'num_agents': 1}, (1, 1), ''),
    ({'path': '1x1,2x1'}, (2, 1), '1x1,2x1'),
    ({'num_agents': 4, 'curriculum': 'uniform'}, (4, 4), ''),
  )
  def test_the_path_doubles_all_kinds_or_agents_first(self, given, last, path):
    cfg = presets.make(env='lock_and_return', **given)
    world = cfg.environment
    self.assertEqual((world.num_agents, world.num_boxes), last)
    self.assertEqual(cfg.progression.entity_counts, path)
    self.assertEqual(entity_counts.path(cfg)[-1], last)

  @parameterized.parameters('simple_spread', 'ramp_use')
  def test_boxes_where_there_are_none_are_refused(self, env):
    with self.assertRaisesRegex(
      ValueError, f'num_boxes=1 does not apply to {env}; leave it out'
    ):
      presets.make(env=env, num_boxes=1)

  def test_an_empty_path_is_no_progression(self):
    cfg = presets.make(env='simple_spread', num_agents=8, path='')
    self.assertEqual(entity_counts.path(cfg), ((8,),))
    self.assertEqual(cfg.curriculum.name, 'vacl')

  @parameterized.parameters(
    'simple_spread', 'push_ball', 'lock_and_return', 'ramp_use'
  )
  def test_what_is_ours_alone_is_not_in_the_paper_preset(self, env):
    ours, paper = presets.make(env=env), presets.make(env=env, preset='paper')
    frames = ours.agent.observation_frame, paper.agent.observation_frame
    self.assertEqual(frames, ('egocentric', 'world'))
    ours, paper = ours.agent, paper.agent
    if isinstance(ours, config.AttentionConfig):
      self.assertEqual(paper.num_hops, 1)
    else:
      has_loss = ours.auxiliary_position_cost > 0.0
      self.assertEqual(has_loss, env == 'lock_and_return')
      self.assertEqual(paper.auxiliary_position_cost, 0.0)

  @parameterized.parameters(
    *(('simple_spread', n) for n in (2, 4, 8, 9, 24, 100)),
    *(('hard_spread', n) for n in (4, 8)),
    *(('push_ball', n) for n in (2, 4)),
  )
  def test_no_task_is_solved_while_a_goal_is_left(self, env, num_agents):
    cfg = presets.make(env=env, num_agents=num_agents)
    self.assertGreater(cfg.curriculum.solved_value, 1.0 - 1.0 / num_agents)

  def test_hide_and_seek_learns_in_segments_of_its_horizon(self):
    for env, length in (('lock_and_return', 30), ('ramp_use', 10)):
      for preset in _PRESETS:
        cfg = presets.make(env=env, preset=preset)
        self.assertEqual(cfg.agent.segment_length, length)
        self.assertEqual(cfg.environment.horizon, 60)
        self.assertEqual(cfg.ppo.entropy_cost, 0.01)
        self.assertEqual(cfg.training.num_tasks, 300)
        self.assertEqual(cfg.agent.activation, 'tanh')
      self.assertEqual(cfg.training.num_rollouts, 3)
      self.assertEqual(cfg.ppo.value_decay, 0.99999)
      self.assertEqual(cfg.ppo.num_epochs, 15)
      self.assertEqual(cfg.ppo.num_minibatches, 1)
      self.assertEqual(cfg.curriculum.target_share, 0.0)

  @parameterized.parameters(
    ({'env': 'push_ball', 'preset': 'papper'}, 'did you mean paper'),
    ({'env': 'simple_spraed'}, 'did you mean simple_spread'),
    ({'env': 'push_ball', 'agent': 'atention'}, 'did you mean attention'),
    ({'env': 'push_ball', 'curriculum': 'vacle'}, 'did you mean vacl'),
  )
  def test_an_unknown_name_is_refused_with_the_closest(self, given, message):
    with self.assertRaisesRegex(ValueError, message):
      presets.make(**given)


class OtherAgentOrCurriculumTest(parameterized.TestCase):
  def test_a_preset_keeps_what_another_agent_has_too(self):
    cfg = presets.make(env='simple_spread', agent='recurrent_attention')
    own = presets.make(env='simple_spread')
    self.assertEqual(cfg.agent.name, 'recurrent_attention')
    self.assertEqual(cfg.agent.observation_frame, own.agent.observation_frame)
    self.assertEqual(cfg.ppo, own.ppo)
    self.assertEqual(cfg.curriculum, own.curriculum)

  def test_a_preset_leaves_out_what_another_agent_lacks(self):
    cfg = presets.make(env='lock_and_return', agent='attention')
    self.assertEqual(cfg.agent.name, 'attention')
    self.assertEqual(cfg.agent.activation, 'tanh')
    self.assertNotIn('agent.auxiliary_position_cost', overrides.leaves(cfg))

  def test_a_preset_leaves_out_what_another_curriculum_lacks(self):
    cfg = presets.make(env='push_ball', curriculum='uniform')
    names = [x for x in overrides.leaves(cfg) if x.startswith('curriculum.')]
    self.assertEqual(names, ['curriculum.name'])
    self.assertEqual(cfg.ppo, presets.make(env='push_ball').ppo)


class RestoreTest(parameterized.TestCase):
  @parameterized.parameters(
    *itertools.product(catalog.TASKS.names(), ('vacl', 'uniform'))
  )
  def test_restore_gives_back_what_leaves_gave(self, env, curriculum):
    for preset in _PRESETS:
      cfg = presets.make(env=env, preset=preset, seed=3, curriculum=curriculum)
      self.assertEqual(presets.restore(overrides.leaves(cfg)), cfg)

  @parameterized.parameters(-1, 1.5, 2**31, math.nan, '1')
  def test_what_is_no_seed_is_refused(self, seed):
    with self.assertRaisesRegex(ValueError, '^seed=.*; (allowed|give)|range'):
      presets.make(env='push_ball', seed=seed)

  def test_a_field_that_an_older_file_lacks_takes_its_default(self):
    cfg = presets.make(env='push_ball', seed=5)
    values = overrides.leaves(cfg)
    del values['ppo.clip']
    self.assertEqual(presets.restore(values), cfg)

  @parameterized.parameters(
    ('a.field.of.the.past', 'is unknown'),
    ('ppo.trace_decay', 'is unknown'),
    ('ppo.gae_lamda', 'did you mean ppo.gae_lambda'),
    ('environment.num_boxes', 'is unknown'),
    ('agent.segment_length', 'is unknown'),
  )
  def test_a_field_that_does_not_exist_is_refused(self, name, message):
    values = overrides.leaves(presets.make(env='push_ball')) | {name: 1}
    with self.assertRaisesRegex(ValueError, f'{name}.*{message}'):
      presets.restore(values)

  @parameterized.parameters(
    ('environment.name', 'push_bal', "env='push_bal' .*did you mean push_ball"),
    ('agent.name', 'atention', "agent='atention' .*did you mean attention"),
    ('curriculum.name', 'vacle', "curriculum='vacle' .*did you mean vacl"),
  )
  def test_a_name_that_does_not_exist_is_refused(self, name, value, message):
    values = overrides.leaves(presets.make(env='push_ball')) | {name: value}
    with self.assertRaisesRegex(ValueError, message):
      presets.restore(values)


if __name__ == '__main__':
  absltest.main()
