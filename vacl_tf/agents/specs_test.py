# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What agents need of the roles that they are to play."""

import dataclasses
import subprocess
import sys

from absl.testing import absltest
from absl.testing import parameterized
from dm_env import specs

from vacl_tf import agents
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import types

_ATTENTION, _RECURRENT = config.AttentionConfig(), config.RecurrentConfig()
_PLAIN = types.Role('agent', 2, types.discrete(5), 4, {'things': 3})
_ALONE = _PLAIN._replace(name='other', entity_sizes={})
_UNPLAYABLE = specs.BoundedArray((), 'float32', -1.0, 1.0)


def _needs(cfg, *roles):
  return catalog.AGENTS.get(cfg.name).needs(roles, cfg)


class NeedsTest(parameterized.TestCase):
  @parameterized.parameters(_ATTENTION, _RECURRENT)
  def test_plain_roles_lack_nothing(self, cfg):
    self.assertEqual(_needs(cfg, _PLAIN), '')
    self.assertEqual(_needs(cfg, _ALONE, _PLAIN), '')
    masked = _PLAIN._replace(mask_kinds=('things',))
    self.assertEqual(_needs(cfg, masked), '')

  @parameterized.parameters(('num_hops', 2, 1), ('num_relations', 1, 0))
  def test_more_attention_needs_entities(self, name, given, allowed):
    cfg = dataclasses.replace(_ATTENTION, **{name: given})
    self.assertEqual(
      _needs(cfg, _ALONE),
      f'config.agent.{name}={given} needs entities to attend to, but no agent '
      f'observes any; allowed: {allowed}',
    )
    self.assertEqual(_needs(cfg, _ALONE, _PLAIN), '')
    self.assertEqual(_needs(_ATTENTION, _ALONE), '')

  def test_units_are_divided_among_the_heads(self):
    cfg = dataclasses.replace(_RECURRENT, hidden_size=30)
    self.assertIn('config.agent.hidden_size=30', _needs(cfg, _PLAIN))
    self.assertIn('is not a multiple of 4', _needs(cfg, _PLAIN))
    cfg = dataclasses.replace(_ATTENTION, hidden_size=30)
    self.assertEqual(_needs(cfg, _PLAIN), '')
    cfg = dataclasses.replace(cfg, num_relations=1)
    self.assertIn('config.agent.hidden_size=30', _needs(cfg, _PLAIN))
    cfg = dataclasses.replace(_RECURRENT, hidden_size=32)
    self.assertEqual(_needs(cfg, _PLAIN), '')

  def test_a_position_cost_needs_a_position(self):
    cfg = dataclasses.replace(_RECURRENT, auxiliary_position_cost=0.5)
    told = _needs(cfg, _PLAIN)
    self.assertIn('config.agent.auxiliary_position_cost=0.5', told)
    self.assertIn('allowed: 0', told)
    # One that the policy observes too will do: there is nothing to be learned.
    for position in ((2, 3), ()):
      role = _PLAIN._replace(critic_only_position=position)
      self.assertEqual(_needs(cfg, _ALONE, role), '')

  @parameterized.parameters(_ATTENTION, _RECURRENT)
  def test_an_egocentric_frame_needs_a_transform(self, cfg):
    cfg = dataclasses.replace(cfg, observation_frame='egocentric')
    told = _needs(cfg, _PLAIN)
    self.assertIn('config.agent.observation_frame=egocentric', told)
    self.assertIn('allowed: world', told)
    role = _PLAIN._replace(egocentric=lambda observation: (observation, None))
    self.assertEqual(_needs(cfg, role), '')

  @parameterized.parameters(_ATTENTION, _RECURRENT)
  def test_actions_need_a_distribution(self, cfg):
    told = _needs(cfg, _PLAIN._replace(action=_UNPLAYABLE))
    self.assertIn('one axis', told)
    self.assertIn('role agent', told)


class MakeTest(parameterized.TestCase):
  def test_agents_are_made_by_name(self):
    for name in catalog.AGENTS.names():
      cfg = catalog.AGENTS.get(name).config(hidden_size=8)
      made = agents.make(config.Config(agent=cfg), (_PLAIN, _ALONE))
      self.assertLen(made.policies, 2)
      self.assertLen(made.values, 2)
      self.assertEqual(made.segment_length, cfg.segment_length)

  def test_what_is_missing_is_an_error_that_names_agent_and_task(self):
    world = config.EnvironmentConfig(name='chess')
    agent = dataclasses.replace(_RECURRENT, hidden_size=30)
    cfg = config.Config(environment=world, agent=agent)
    with self.assertRaisesRegex(
      ValueError, '^agent=recurrent_attention with env=chess: config.agent.hid'
    ):
      agents.check(cfg, (_PLAIN,))
    agents.check(config.Config(environment=world), (_PLAIN,))

  def test_an_unknown_agent_is_an_error(self):
    cfg = config.Config(agent=config.AgentConfig(name='atention'))
    for function in (agents.make, agents.check):
      with self.assertRaisesRegex(ValueError, 'attention'):
        function(cfg, (_PLAIN,))

  def test_registration_imports_no_tensorflow(self):
    program = (
      'import sys; from vacl_tf import catalog; catalog.AGENTS.names(); '
      'print("tensorflow" in sys.modules)'
    )
    done = subprocess.run(
      [sys.executable, '-c', program],
      check=True,
      capture_output=True,
      text=True,
    )
    self.assertEqual(done.stdout.strip(), 'False')


if __name__ == '__main__':
  absltest.main()
