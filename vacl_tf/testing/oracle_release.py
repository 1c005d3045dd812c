# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The particle oracle behind the interface of the authors' release.

It has the parts of the interface that `conformance` uses, so that `conformance`
can be tested without the release.
"""

import argparse
from types import SimpleNamespace

import numpy as np

from vacl_tf.testing import particle_oracle

_Outcome = tuple[np.ndarray, float, list[bool]]  # Rewards, coverage, flags.


class MPEEnv:
  """One world of a scenario.

  Attributes:
    world: namespace with `agents`, which are all bodies, and `landmarks`.
  """

  def __init__(self, args: argparse.Namespace) -> None:
    """Makes the world of `args.scenario_name`."""
    self._name = args.scenario_name
    self._num_agents = args.num_agents
    has_balls = self._name == 'push_ball'
    num_bodies = args.num_agents * (2 if has_balls else 1)
    self.world = SimpleNamespace(
      agents=[_entity() for _ in range(num_bodies)],
      landmarks=[_entity() for _ in range(args.num_landmarks)],
    )
    self.world.agents[0].goal_b = self.world.landmarks[0]

  def step(self, actions: list[np.ndarray]) -> tuple:
    """Returns observations (empty), rewards, ends, infos and None."""
    bodies = self.world.agents
    position = np.array([body.state.p_pos for body in bodies])
    velocity = np.array([body.state.p_vel for body in bodies])
    landmark = np.array([x.state.p_pos for x in self.world.landmarks])
    play = {
      'push_ball': self._push_ball,
      'simple_speaker_listener': self._converse,
    }.get(self._name, self._spread)
    numbers = [int(np.argmax(action)) for action in actions]
    position, velocity, outcome = play(position, velocity, landmark, numbers)
    rewards, coverage, flags = outcome
    for body, x, v in zip(bodies, position, velocity, strict=True):
      body.state.p_pos, body.state.p_vel = x, v
    for place, flag in zip(self.world.landmarks, flags, strict=True):
      place.cover = int(flag)
    infos = [{'cover_rate': coverage}] * self._num_agents
    ends = [False] * self._num_agents
    return [], [[reward] for reward in rewards], ends, infos, None

  def _spread(
    self,
    position: np.ndarray,
    velocity: np.ndarray,
    landmark: np.ndarray,
    actions: list[int],
  ) -> tuple[np.ndarray, np.ndarray, _Outcome]:
    walls = ()
    if self._name == 'hard_spread':
      walls = particle_oracle.HARD_SPREAD_WALLS
    position, velocity = particle_oracle.step(
      position, velocity, actions, walls
    )
    outcome = (
      particle_oracle.reward(position, landmark),
      particle_oracle.coverage(position, landmark),
      particle_oracle.covered(position, landmark),
    )
    return position, velocity, outcome

  def _push_ball(
    self,
    position: np.ndarray,
    velocity: np.ndarray,
    landmark: np.ndarray,
    actions: list[int],
  ) -> tuple[np.ndarray, np.ndarray, _Outcome]:
    position, velocity = particle_oracle.push_ball_step(
      *np.split(position, 2), velocity, actions
    )
    agent, ball = np.split(position, 2)
    reward = particle_oracle.push_ball_reward(ball, landmark)
    outcome = (
      np.full(len(agent), reward),
      particle_oracle.push_ball_coverage(ball, landmark),
      particle_oracle.push_ball_flags(agent, ball, landmark),
    )
    return position, velocity, outcome

  def _converse(
    self,
    position: np.ndarray,
    velocity: np.ndarray,
    landmark: np.ndarray,
    actions: list[int],
  ) -> tuple[np.ndarray, np.ndarray, _Outcome]:
    is_goal = [x is self.world.agents[0].goal_b for x in self.world.landmarks]
    world = particle_oracle.converse(
      particle_oracle.Conversation(
        list(position),
        list(velocity),
        list(landmark),
        is_goal.index(True),
        [0.0, 0.0, 0.0],
      ),
      *actions,
    )
    outcome = (
      np.full(2, particle_oracle.conversation_reward(world)),
      float(particle_oracle.is_goal_reached(world)),
      [False] * len(landmark),
    )
    return np.array(world.body), np.array(world.velocity), outcome


def _entity() -> SimpleNamespace:
  return SimpleNamespace(state=SimpleNamespace(p_pos=None, p_vel=None), cover=0)
