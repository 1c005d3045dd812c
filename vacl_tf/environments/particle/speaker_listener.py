# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Speaker-Listener: one agent knows the goal, the other can move there.

Paper, appendix on additional results; docs/reproduction.md has the details.
The speaker observes which of three landmarks is the goal, cannot move, and
sends one of three symbols. The listener receives it and moves. Nothing
collides.
"""

import functools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import shapes
from vacl_tf.environments import task_space
from vacl_tf.environments.particle import physics
from vacl_tf.environments.particle import scenario

NUM_LANDMARKS = 3
NUM_SYMBOLS = 3
BODY_RADIUS = 0.075
LANDMARK_RADIUS = 0.04
# Square metres: the released code compares a squared distance with the sum of
# the radii, so that the goal is reached at 0.339 metres.
REACH_SQUARED = BODY_RADIUS + LANDMARK_RADIUS
REWARD_REACHED = 0.1  # To both agents, in each step; includes a scale of 0.1.
# Colours of the landmarks in pictures. The speaker observes the goal's colour.
COLOURS = np.array(
  [[0.65, 0.15, 0.15], [0.15, 0.65, 0.15], [0.15, 0.15, 0.65]], np.float32
)
_HALF_WIDTH = 1.0  # Half the side of the room, metres.
_EASY_SIDE = 0.6  # Side of the square of easy landmarks, metres.
_NUM_BODIES = 2
_ORANGE, _BLUE = (230, 140, 40), (90, 150, 220)  # Distinct from landmarks.


class SpeakerListenerState(NamedTuple):
  """Positions and velocities in metres and metres per second."""

  speaker: tf.Tensor  # [B, 2]
  listener: tf.Tensor  # [B, 2]
  velocity: tf.Tensor  # [B, 2] of the listener.
  landmark: tf.Tensor  # [B, 3, 2]
  goal: tf.Tensor  # int32 [B], index of a landmark.
  message: tf.Tensor  # [B, 3] one-hot; zeros before the first message.


class SpeakerListenerTaskSpace(task_space.BoxTaskSpace):
  """phi = speaker, listener, landmarks: 10 numbers, without the goal."""

  def __init__(self, easy_side: float) -> None:
    high = np.full([_NUM_BODIES + NUM_LANDMARKS, 1, 2], _HALF_WIDTH)
    super().__init__(-high, high, _NUM_BODIES)
    self._easy_half_width = easy_side / 2

  def sample_easy(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    """Places both agents beside landmarks that lie close together; GetEasy."""
    where, order, offset = randomness.split(seed, 3)
    landmark = randomness.uniform(
      where,
      [num_tasks, NUM_LANDMARKS, 2],
      -self._easy_half_width,
      self._easy_half_width,
    )
    bodies = scenario.beside(landmark, _NUM_BODIES, order=order, offset=offset)
    both = tf.concat([bodies, landmark], 1)
    return tf.reshape(both, [num_tasks, self.num_dims])


class SpeakerListener(base.Environment):
  """Both agents are rewarded while the listener is at the goal."""

  def __init__(
    self, name: str, horizon: int, *, easy_side: float = 0.0
  ) -> None:
    """Initialises the world.

    Args:
      name: name of the task in `environments.load`.
      horizon: steps of an episode.
      easy_side: side of the square of easy landmarks, metres; 0 stands for the
        task's own.
    """
    self.name = name
    self.horizon = horizon
    self.roles = (
      types.Role(
        name='speaker',
        num_agents=1,
        action=types.discrete(NUM_SYMBOLS),
        own_size=COLOURS.shape[1],
        entity_sizes={},
      ),
      types.Role(
        name='listener',
        num_agents=1,
        action=types.discrete(scenario.NUM_MOVES),
        own_size=2 + 2 * NUM_LANDMARKS + NUM_SYMBOLS,
        entity_sizes={},
      ),
    )
    self.task_space = SpeakerListenerTaskSpace(easy_side or _EASY_SIDE)

  def place(self, phi: tf.Tensor, seed: types.Seed) -> SpeakerListenerState:
    """Returns the initial state, with a newly drawn goal."""
    points = tf.reshape(phi, [-1, _NUM_BODIES + NUM_LANDMARKS, 2])
    batch = tf.shape(points)[:1]
    goal = randomness.uniform(seed, batch, 0.0, float(NUM_LANDMARKS))
    return SpeakerListenerState(
      speaker=points[:, 0],
      listener=points[:, 1],
      velocity=tf.zeros_like(points[:, 1]),
      landmark=points[:, 2:],
      goal=tf.cast(goal, tf.int32),
      message=tf.zeros(tf.concat([batch, [NUM_SYMBOLS]], 0)),
    )

  def read_task(self, state: SpeakerListenerState) -> tf.Tensor:
    bodies = tf.stack([state.speaker, state.listener], 1)
    points = tf.concat([bodies, state.landmark], 1)
    return tf.reshape(points, [-1, self.task_space.num_dims])

  def step(
    self, state: SpeakerListenerState, action: types.Actions
  ) -> SpeakerListenerState:
    symbol, move = action
    force = physics.action_forces(tf.transpose(move))[:, 0]  # [2, B]
    listener, velocity = physics.integrate(
      state.listener, state.velocity, tf.transpose(force)
    )
    return state._replace(
      listener=listener,
      velocity=velocity,
      message=tf.one_hot(symbol[:, 0], NUM_SYMBOLS),
    )

  def observe(self, state: SpeakerListenerState) -> types.Observations:
    colour = tf.gather(tf.constant(COLOURS), state.goal)
    towards = state.landmark - state.listener[:, None]
    towards = tf.reshape(towards, [-1, 2 * NUM_LANDMARKS])
    heard = tf.concat([state.velocity, towards, state.message], -1)
    return tuple(types.Observation(own[:, None], {}) for own in (colour, heard))

  def reward(self, state: SpeakerListenerState) -> tuple[tf.Tensor, ...]:
    shared = REWARD_REACHED * self.progress(state)[:, None]
    return shared, shared

  def progress(self, state: SpeakerListenerState) -> tf.Tensor:
    """1 while the listener is at the goal, else 0."""
    return tf.cast(_is_reached(state), tf.float32)

  @property
  def legend(self) -> tuple[tuple[str, shapes.Colour], ...]:
    return (('speaker', _ORANGE), ('listener', _BLUE))

  def observation_bounds(self) -> tuple[Mapping[str, base.Bounds], ...]:
    speed, way = physics.largest_motion(physics.ACTION_FORCE, self.horizon)
    towards = 2 * _HALF_WIDTH + way
    largest = [speed] * 2 + [towards] * 2 * NUM_LANDMARKS
    low, high = scenario.bounds(*largest, *[1.0] * NUM_SYMBOLS)
    low[-NUM_SYMBOLS:] = 0.0  # The message is one-hot.
    colour = np.zeros([3], np.float32), np.ones([3], np.float32)
    return {'own': colour}, {'own': (low, high)}

  def draw(self, state: SpeakerListenerState) -> list[shapes.Scene]:
    reached = np.asarray(_is_reached(state))
    state = base.to_numpy(state)
    colours = [tuple(np.rint(255 * x).astype(int).tolist()) for x in COLOURS]
    scenes = []
    for world, is_reached in enumerate(reached):
      goal, message = state.goal[world], state.message[world]
      landmarks = state.landmark[world]
      ring = shapes.Disc(
        landmarks[goal], REACH_SQUARED**0.5, colours[goal], is_filled=False
      )
      discs = [ring]
      discs += [
        shapes.Disc(centre, LANDMARK_RADIUS, colour)
        for centre, colour in zip(landmarks, colours, strict=True)
      ]
      discs.append(shapes.Disc(state.speaker[world], BODY_RADIUS, _ORANGE))
      discs.append(shapes.Disc(state.listener[world], BODY_RADIUS, _BLUE))
      said = f'message {message.argmax()}' if message.any() else 'no message'
      caption = f'goal {"reached" if is_reached else "not reached"}, {said}'
      scenes.append(shapes.Scene(discs, _HALF_WIDTH + 0.3, caption))
    return scenes


def _is_reached(state: SpeakerListenerState) -> tf.Tensor:
  """Returns bool [B]: whether the listener is at the goal."""
  landmark = scenario.worlds_last(state.landmark)
  towards = landmark - tf.transpose(state.listener)[:, None]  # [2, m, B]
  near = physics.square_length(towards) < REACH_SQUARED
  # Tests all landmarks, because gathering the goal's would be slow.
  at_goal = near & (tf.range(NUM_LANDMARKS)[:, None] == state.goal)
  return functools.reduce(tf.logical_or, tf.unstack(at_goal))
