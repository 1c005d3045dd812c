# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Lock-and-Return: constants of training, and why."""

import dataclasses
from typing import TYPE_CHECKING, Annotated, ClassVar

from vacl_tf import config
from vacl_tf.environments import map_layout
from vacl_tf.environments import paper
from vacl_tf.environments import task_spec
from vacl_tf.environments.hide_and_seek import common_spec

if TYPE_CHECKING:
  from vacl_tf.environments import base

_MOST = 8  # Agents, and boxes.


@dataclasses.dataclass(frozen=True, kw_only=True)
class LockAndReturnConfig(config.EnvironmentConfig):
  """The world of Lock-and-Return.

  Attributes:
    num_boxes: boxes to lock.
    sees_birthplace: whether the policy observes where its agent started,
      instead of having to remember it.
    floor_side: side length of the square floor, in metres, in steps of 0.2; in
      Ramp-Use it is 6.
  """

  count_fields: ClassVar[tuple[str, ...]] = ('num_agents', 'num_boxes')

  num_boxes: Annotated[int, config.Range(1, 1000)] = 2
  sees_birthplace: bool = False
  floor_side: Annotated[float, config.Range(6.0, 12.0)] = 12.0


def _make(world: LockAndReturnConfig) -> 'base.World':
  return common_spec.make(
    world,
    num_agents=world.num_agents,
    num_boxes=world.num_boxes,
    sees_birthplace=world.sees_birthplace,
    floor_side=world.floor_side,
  )


def _layout(
  world: LockAndReturnConfig, counts: tuple[tuple[int, ...], ...]
) -> map_layout.MapLayout:
  return common_spec.layout(
    world.name,
    ('agent', 'box'),
    counts,
    num_agents=world.num_agents,
    num_boxes=world.num_boxes,
    floor_side=world.floor_side,
  )


SPEC = task_spec.TaskSpec(
  world=LockAndReturnConfig(
    name='lock_and_return',
    num_agents=2,
    num_boxes=2,
    horizon=common_spec.HORIZON,
  ),
  make=_make,
  least=(1, 1),
  most=(_MOST, _MOST),
  agent='recurrent_attention',
  measures=('returned', 'all returned'),
  layout=_layout,
  presets={
    'default': task_spec.Preset(
      num_env_steps=(20_000_000, 30_000_000),
      # A run that went through four agents with two boxes had a coverage of
      # 0.74 to 0.82 at 14.2 M to 14.8 M steps. A branch of it that left these
      # counts out at 11.7 M had 0.80 to 0.85 (one seed).
      grows_together=True,
      values=common_spec.DEFAULT
      | {
        'agent.segment_length': 30,
        # Without it, after 2 M steps, a policy locks all boxes of most tasks,
        # and hardly any agent that had to leave home for that finds its way
        # back. With it the value of training tasks is 0.63 at 1.3 M steps
        # instead of 0.35, as much as where birthplaces are observed (one seed
        # each).
        'agent.auxiliary_position_cost': 0.1,
        # With a constant learning rate, coverage varies between 0.55 and 0.91
        # from 5 M to 10 M steps. With a rate that falls from 10 M on, it is
        # 0.94 or more from 16 M on (one seed).
        'ppo.decay_start_steps': 10_000_000,
        'ppo.decay_power': 3.0,
      },
      above={
        2: {
          # With a constant learning rate, coverage is 0.79 from 9 M to 12 M
          # steps, and it grows as soon as the rate falls. Another run, with
          # T / t from 5 M on, had 0.78 to 0.89 from 15 M to 18.7 M.
          'ppo.decay_start_steps': 12_000_000,
          'ppo.average_share': 0.05,
          # The switch is direct because four agents have a coverage of 0.5 with
          # what two have learned. Two agents had 0.8 at 6.3 M and 7.9 M steps,
          # and still not 0.9 at 11.7 M.
          'progression.transition': 'direct',
          'progression.switch_coverage': 0.8,
        },
      },
    ),
    'paper': task_spec.Preset(
      num_env_steps=(180_000_000, 230_000_000),
      values=common_spec.PAPER
      | paper.gradient_scale(1)
      # Published: segments of 40 steps, some of which lie across two episodes.
      | {'agent.segment_length': 30},
    ),
  },
)
