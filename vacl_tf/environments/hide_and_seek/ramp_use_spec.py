# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Ramp-Use: constants of training, and why."""

import dataclasses
from typing import TYPE_CHECKING, Annotated

from vacl_tf import config
from vacl_tf.environments import map_layout
from vacl_tf.environments import paper
from vacl_tf.environments import task_spec
from vacl_tf.environments.hide_and_seek import common_spec

if TYPE_CHECKING:
  from vacl_tf.environments import base


@dataclasses.dataclass(frozen=True, kw_only=True)
class RampUseConfig(config.EnvironmentConfig):
  """The world of Ramp-Use.

  Attributes:
    has_box: whether there is a box in the room.
    reward_scale: reward of a step in which the hider is seen, and cost of any
      other step. Paper: 1; released code: 0.1.
    reach: distance within which an object can be grabbed or locked, in metres.
  """

  has_box: bool = True
  reward_scale: Annotated[float, config.Range(1e-6, config.MANY)] = 1.0
  reach: Annotated[float, config.Range(1e-6, 1.0)] = 0.25


def _make(world: RampUseConfig) -> 'base.World':
  return common_spec.make(
    world,
    has_box=world.has_box,
    reward_scale=world.reward_scale,
    reach=world.reach,
  )


def _layout(
  world: RampUseConfig, counts: tuple[tuple[int, ...], ...]
) -> map_layout.MapLayout:
  del counts  # One seeker and one ramp, always.
  return common_spec.layout(world.name, ('seeker', 'ramp'))


SPEC = task_spec.TaskSpec(
  world=RampUseConfig(
    name='ramp_use', num_agents=1, horizon=common_spec.HORIZON
  ),
  make=_make,
  least=(1,),
  most=(1,),
  agent='recurrent_attention',
  measures=('sees the hider', 'success rate'),
  layout=_layout,
  presets={
    'default': task_spec.Preset(
      num_env_steps=(12_000_000, 12_000_000),
      values=common_spec.DEFAULT
      | {
        'agent.segment_length': 10,
        # At first one step in 50 000 is rewarded. Without these two constants,
        # critic noise alone drives the policy into a corner before it has
        # learned from any reward. With them tasks are solved after 0.3 M steps
        # (one seed each).
        'ppo.center_rewards': True,
        'ppo.advantage_std_floor': 0.1,
        # In trials with other decays, coverage reached 0.99 at 8 M steps when
        # the rate was 0.14 of its initial value, and at 7 M when it was 0.44.
        # So the rate need not fall before (one seed).
        'ppo.decay_start_steps': 6_000_000,
        'ppo.decay_power': 3.0,
      },
    ),
    'paper': task_spec.Preset(
      num_env_steps=(25_000_000, 25_000_000),
      values=common_spec.PAPER
      | paper.gradient_scale(2)
      | {'agent.segment_length': 10},
    ),
  },
)
