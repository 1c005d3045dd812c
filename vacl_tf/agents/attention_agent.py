# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Feed-forward attention over entities, with a centralised critic."""

import numpy as np
import tensorflow as tf

from vacl_tf import config
from vacl_tf import types
from vacl_tf.agents import base
from vacl_tf.networks import distributions
from vacl_tf.networks import policy_value


class AttentionAgent(base.FeedForwardAgent):
  """The paper's networks for the particle worlds (appendix, Figure 11).

  No parameter has a shape that depends on the number of agents or entities, so
  a policy can play with any number of them. Roles share no parameters.
  """

  def __init__(
    self,
    roles: tuple[types.Role, ...],
    cfg: config.AttentionConfig,
    seed: int,
  ) -> None:
    """Creates all variables, so that nothing is created inside a graph."""
    super().__init__(name='attention_agent')
    rng = np.random.default_rng(seed)
    self._actions = [role.action for role in roles]
    self.policies = [policy_value.Policy(rng, role, cfg) for role in roles]
    self.values = [
      policy_value.Value(rng, roles, index, cfg) for index in range(len(roles))
    ]

  def distributions(
    self, observations: types.Observations
  ) -> base.Distributions:
    return tuple(
      distributions.make(action, policy(observation))
      for action, policy, observation in zip(
        self._actions, self.policies, observations, strict=True
      )
    )

  def value(self, observations: types.Observations) -> tuple[tf.Tensor, ...]:
    return tuple(value(observations) for value in self.values)
