# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Speaker-Listener: constants of training, and why."""

import dataclasses
import math
from typing import TYPE_CHECKING, Annotated

from vacl_tf import config
from vacl_tf.environments import map_layout
from vacl_tf.environments import paper
from vacl_tf.environments import task_spec

if TYPE_CHECKING:
  from vacl_tf.environments import base

_SMALL = (-1.0, 1.0, -1.0, 1.0)
_NUM_LANDMARKS = 3


@dataclasses.dataclass(frozen=True, kw_only=True)
class SpeakerListenerConfig(config.EnvironmentConfig):
  """The world of Speaker-Listener.

  Attributes:
    easy_side: side length of the square in which easy landmarks lie, in metres.
      0 stands for 0.6.
  """

  easy_side: Annotated[float, config.Range(0.0, 1.9)] = 0.0


def _make(world: SpeakerListenerConfig) -> 'base.World':
  from vacl_tf.environments.particle import speaker_listener

  return speaker_listener.SpeakerListener(
    world.name, world.horizon, easy_side=world.easy_side
  )


SPEC = task_spec.TaskSpec(
  world=SpeakerListenerConfig(
    name='speaker_listener', num_agents=2, horizon=70
  ),
  make=_make,
  least=(2,),
  most=(2,),
  layout=lambda world, counts: map_layout.MapLayout(
    ('speaker', 'listener', *_NUM_LANDMARKS * ['landmark']),
    'listener',
    'landmark',
    _SMALL,
    _SMALL,
  ),
  presets={
    'default': task_spec.Preset(
      num_env_steps=(10_000_000, 10_000_000),
      values={
        # Tasks have few numbers and networks are small, so updates make more
        # steps on less data.
        'training.num_tasks': 250,
        'ppo.num_minibatches': 14,
        # With 0.02 and half the minibatches, a coverage of 0.98 came later (one
        # seed).
        'ppo.entropy_cost': 0.01,
        # With the default noise, coverage stays at 0.4, perhaps because a
        # success may be luck, one goal in three, and still has distant
        # children. With a noise of 0.2 some runs stay where two goals share a
        # symbol (docs/reproduction.md).
        'curriculum.step_size': 0.2,
        'curriculum.noise': 0.1,
        'curriculum.noise_probability': 1.0,
      },
    ),
    'paper': task_spec.Preset(
      num_env_steps=(35_000_000, 35_000_000),
      values=paper.PUBLISHED
      | paper.gradient_scale(1)
      # All of these are from older branches of the authors' code.
      | {
        'training.num_tasks': 100,
        'training.num_rollouts': 3,
        'training.num_evaluation_tasks': 100,
        'curriculum.num_easy_tasks': 1000,
        'curriculum.num_children': 30,
        'curriculum.step_size': 0.05,
        'curriculum.noise': 0.05,
      },
    ),
  },
  references={
    2: (
      (5, 0.211, math.nan),
      (10, 0.571, math.nan),
      (20, 0.925, math.nan),
      (35, 0.975, math.nan),
    ),
  },
)
