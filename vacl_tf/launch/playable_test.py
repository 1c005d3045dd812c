# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Agents whose policy could not be exported are refused before they train."""

import dataclasses
from unittest import mock

import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import environments
from vacl_tf.agents import attention_agent
from vacl_tf.agents import recurrent_agent
from vacl_tf.launch import library


class _FixedNumbers(attention_agent.AttentionAgent):
  """Acts in any number of worlds, but not if the number is left open."""

  def distributions(self, observations):
    return tuple(
      type(x)(tf.reshape(x.logits, x.logits.shape.as_list()))
      for x in super().distributions(observations)
    )


class _FixedMemory(recurrent_agent.RecurrentAgent):
  def initial_memory(self, num_worlds, num_agents):
    return super().initial_memory(int(num_worlds), list(map(int, num_agents)))


class PlayableTest(parameterized.TestCase):
  @parameterized.parameters(
    (_FixedNumbers, config.AttentionConfig),
    (_FixedMemory, config.RecurrentConfig),
  )
  def test_it_is_exported_once(self, make, kind):
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Config(kind):
      name: str = 'mine'

    self.enter_context(mock.patch.dict(catalog.AGENTS._entries))
    catalog.register_agent(catalog.AgentSpec(make=make, config=Config))
    cfg = library.make_config('speaker_listener', agent='mine')
    env = environments.make(cfg.environment)
    with self.assertRaisesRegex(
      ValueError, '^agent=mine: export failed: TypeError: '
    ) as caught:
      library.check_playable(cfg, env)
    self.assertNotIn('\n', str(caught.exception))


if __name__ == '__main__':
  absltest.main()
