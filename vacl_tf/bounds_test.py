# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A bad value is named, with what is allowed instead."""

import math

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import bounds
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import presets


class BoundsTest(parameterized.TestCase):
  def _assert_refused(self, message, values, **options):
    cfg = presets.make(**({'env': 'simple_spread'} | options))
    with self.assertRaisesRegex(ValueError, message) as caught:
      bounds.check(overrides.replace(cfg, values))
    self.assertNotIn('\n', str(caught.exception))

  def test_the_name_of_a_task_is_no_config(self):
    with self.assertRaisesRegex(ValueError, "cfg='spread' .* make_config"):
      bounds.check('spread')

  @parameterized.parameters(
    ({'ppo.clip': -1.0}, 'ppo.clip=-1.0 .*allowed: 1e-06 to 1.0'),
    ({'ppo.clip': math.nan}, 'ppo.clip=nan .*allowed: 1e-06 to 1.0'),
    ({'ppo.clip': '0.1'}, "ppo.clip='0.1' is not a number; give one"),
    ({'ppo.num_epochs': True}, 'ppo.num_epochs=True is not a whole number'),
    ({'ppo.num_epochs': 1.5}, 'ppo.num_epochs=1.5 is not a whole number'),
    ({'ppo.center_rewards': 1}, 'ppo.center_rewards=1 is not true or false'),
    ({'preset': None}, 'preset=None is not a string; give one'),
    ({'curriculum.capacity': 1_000_000}, 'capacity=1000000 .*: 2 to 20000$'),
    ({'curriculum.capacity': 1}, 'capacity=1 .*: 2 to 20000$'),
    ({'curriculum.kernel': 3}, 'kernel=3 is unknown; allowed'),
    ({'curriculum.kernel': 'joined'}, 'did you mean joint'),
    ({'ppo.num_minibatches': 9}, 'num_minibatches=9 does not divide'),
    ({'curriculum.num_easy_tasks': 5000}, 'above the capacity'),
    ({'seed': -1}, 'seed=-1'),
    ({'agent.hidden_size': 0}, 'hidden_size=0 .*allowed: 1 to'),
  )
  def test_a_bad_value_is_named_with_the_remedy(self, values, message):
    self._assert_refused(message, values)

  @parameterized.parameters('rcg', 'goal_gan', 'hindsight')
  def test_scores_between_which_there_are_none_are_refused(self, name):
    swapped = {'curriculum.least': 0.9, 'curriculum.most': 0.1}
    message = r'curriculum.least=0.9 is above most, 0.1: .*; give less$'
    self._assert_refused(message, swapped, curriculum=name)
    cfg = presets.make(env='simple_spread', curriculum=name)
    same = {'curriculum.least': 0.9, 'curriculum.most': 0.9}
    bounds.check(overrides.replace(cfg, same))

  def test_scores_that_admit_no_tested_task_are_refused(self):
    swapped = {'curriculum.dropped_value': 0.96}
    tested = {**swapped, 'curriculum.admission': 'tested'}
    message = 'dropped_value=0.96 is above solved_value, 0.95: .*; give less$'
    self._assert_refused(message, tested)
    cfg = presets.make(env='simple_spread')
    bounds.check(overrides.replace(cfg, swapped))  # It only drops more.

  @parameterized.parameters(
    (
      {'agent.segment_length': 4},
      'segment_length=4 does not divide .*horizon, 70; give one that does$',
    ),
    ({'agent.segment_length': 0}, 'segment_length=0 .*allowed: 1 to'),
    (
      {'agent.segment_length': 70, 'ppo.num_minibatches': 50},
      'num_minibatches=50 does not divide 120 samples .*segments of 70',
    ),
  )
  def test_segments_of_recurrent_agents_divide_the_horizon(
    self, values, message
  ):
    self._assert_refused(message, values, agent='recurrent_attention')

  @parameterized.parameters(
    ({'environment.reach': 2.0}, 'reach=2.0 .*allowed: 1e-06 to 1.0'),
    ({'environment.reward_scale': 0.0}, 'reward_scale=0.0 .*allowed: 1e-06'),
  )
  def test_constants_of_a_task_have_bounds_too(self, values, message):
    self._assert_refused(message, values, env='ramp_use')

  @parameterized.parameters(
    (
      {'training.num_tasks': 35},
      'num_tasks=35 is not a multiple of 10, .* give 30$',
    ),
    (
      {'progression.mixing_step': 0.33},
      'mixing_step=0.33 is not a multiple of 0.1; give 0.3$',
    ),
    (
      {'ppo.num_minibatches': 80},
      'does not divide 840 samples .* times 12 tasks,',
    ),
  )
  def test_counts_that_share_a_batch_divide_it(self, values, message):
    self._assert_refused(message, values, num_agents=8)

  @parameterized.parameters(
    ('2,4', 'does not fit lock_and_return, .* like 2x2,4x4,8x8'),
    ('2x2,2x4', 'does not end at 4x4'),
    ('4x2,2x4,4x4', 'does not grow from 4x2 to 2x4'),
    ('2x,4x4', 'is not a list of counts; give one like'),
    ('2,4x4', 'does not grow from 2 to 4x4'),
  )
  def test_a_path_of_counts_that_is_none_is_refused(self, path, message):
    self._assert_refused(
      message,
      {'progression.entity_counts': path},
      env='lock_and_return',
      num_agents=4,
    )

  @parameterized.parameters(
    ({'evaluation_interval': 0}, '^evaluation_interval=0 .*allowed: 1 to'),
    ({'stop_at_coverage': math.nan}, 'stop_at_coverage=nan'),
    ({'num_env_steps': 0}, 'num_env_steps=0'),
  )
  def test_leaves_of_a_run_length_are_checked_by_their_own_names(
    self, values, message
  ):
    length = overrides.replace(config.RunLength(), values)
    with self.assertRaisesRegex(ValueError, message):
      bounds.check_leaves(length)


if __name__ == '__main__':
  absltest.main()
