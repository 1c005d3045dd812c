# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worlds and an agent for tests."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from dm_env import specs

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import shapes
from vacl_tf.environments import task_space

NUM_AGENTS = 2
HALF_WIDTH = 1.5  # Metres; the line is 3 long.
MOVES = (0.0, -0.5, 0.5)  # Metres, by action: stay, left, right.
COVER_DISTANCE = 0.26  # Just over half a move: agents can cover every place.
# A task's value averages over the last five steps; the seven before them are
# enough to cross the line. With a horizon of 4, only tasks that start almost
# solved could ever count as solved.
HORIZON = 12
SIGHT = 1.0  # Metres; how far agents in a MaskedWorld see.
_NUM_CELLS = 13  # Cells of half a metre, for offsets from -3 to 3 metres.
REWARD_ALL_COVERED = 0.4  # Shared, each step, as in Simple-Spread.
# At one end, so that no walk near easy tasks leads to where other tasks are.
_EASY_LANDMARKS = (-1.4, -0.8)  # Metres.
_EASY_OFFSET = 0.1  # Metres from an agent to its landmark in an easy task.
_RIM = 0.01  # Clipped positions land this close to an end.


class LineTaskSpace(task_space.TaskSpace):
  """phi = positions of the two agents, then of the two landmarks."""

  num_entities = 2 * NUM_AGENTS
  num_dims = 2 * NUM_AGENTS
  num_agents = NUM_AGENTS
  entity_of_dim = np.arange(2 * NUM_AGENTS)
  goals = ((0, 2), (1, 3))

  def feasible(self, phi: tf.Tensor) -> tf.Tensor:
    _check_width('phi', phi, self.num_dims)
    return tf.abs(phi) <= HALF_WIDTH

  def clip(self, phi: tf.Tensor, seed: types.Seed) -> tf.Tensor:
    _check_width('phi', phi, self.num_dims)
    inside = HALF_WIDTH - randomness.uniform(seed, tf.shape(phi), 0.0, _RIM)
    return tf.where(tf.abs(phi) > HALF_WIDTH, tf.sign(phi) * inside, phi)

  def sample_easy(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    """Returns tasks with landmarks at the left end and an agent on each."""
    where, offset = randomness.split(seed, 2)
    shape = [num_tasks, NUM_AGENTS]
    landmark = randomness.uniform(where, shape, *_EASY_LANDMARKS)
    jitter = randomness.uniform(offset, shape, -_EASY_OFFSET, _EASY_OFFSET)
    return tf.concat([landmark + jitter, landmark], 1)

  def sample_uniform(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    shape = [num_tasks, self.num_dims]
    return randomness.uniform(seed, shape, -HALF_WIDTH, HALF_WIDTH)


class LineState(NamedTuple):
  """Positions in metres."""

  position: tf.Tensor  # [B, 2]
  landmark: tf.Tensor  # [B, 2]


class LineWorld(base.Environment):
  """Two agents on a line cover two landmarks; a small Simple-Spread.

  There are no contacts and no inertia. The reward is sparse: agents get it only
  while both landmarks are covered. Agents observe each offset as one of a few
  cells, so that what they learn on short distances does not carry over to long
  ones: these need a curriculum that leads there.
  """

  name = 'line_world'
  is_terminal = False

  def __init__(self, horizon: int = HORIZON) -> None:
    self.horizon = horizon
    self.task_space = LineTaskSpace()
    self.roles = (
      types.Role(
        name='agent',
        num_agents=NUM_AGENTS,
        action=types.discrete(len(MOVES)),
        own_size=1,
        entity_sizes={'agents': _NUM_CELLS, 'landmarks': 1 + _NUM_CELLS},
      ),
    )

  def place(self, phi: tf.Tensor, seed: types.Seed) -> LineState:
    del seed  # The task fixes the whole state.
    _check_width('phi', phi, self.task_space.num_dims)
    return LineState(phi[:, :NUM_AGENTS], phi[:, NUM_AGENTS:])

  def read_task(self, state: LineState) -> tf.Tensor:
    return tf.concat([state.position, state.landmark], 1)

  def step(self, state: LineState, action: types.Actions) -> LineState:
    if len(action) != len(self.roles) or action[0].dtype != tf.int32:
      raise ValueError(
        f'action={action!r} is not one int32 tensor for each role'
      )
    _check_width('action', action[0], NUM_AGENTS)
    moved = state.position + tf.gather(tf.constant(MOVES), action[0])
    return state._replace(
      position=tf.clip_by_value(moved, -HALF_WIDTH, HALF_WIDTH)
    )

  def observe(self, state: LineState) -> types.Observations:
    towards = state.landmark[:, None] - state.position[:, :, None]  # [B, n, m]
    flag = tf.cast(_is_covered(state), tf.float32)[:, None, :, None]
    flag = tf.broadcast_to(flag, [*towards.shape, 1])
    partner = tf.reverse(state.position, [1]) - state.position
    seen = {
      'agents': _cell(partner)[:, :, None],
      'landmarks': tf.concat([flag, _cell(towards)], -1),
    }
    return (types.Observation(state.position[:, :, None], seen),)

  def reward(self, state: LineState) -> tuple[tf.Tensor, ...]:
    all_covered = tf.reduce_all(_is_covered(state), 1, keepdims=True)
    shared = REWARD_ALL_COVERED * tf.cast(all_covered, tf.float32)
    return (tf.tile(shared, [1, NUM_AGENTS]),)

  def progress(self, state: LineState) -> tf.Tensor:
    return tf.reduce_mean(tf.cast(_is_covered(state), tf.float32), 1)

  def draw(self, state: LineState) -> list[shapes.Scene]:
    state = base.to_numpy(state)
    scenes = []
    for agents, landmarks in zip(state.position, state.landmark, strict=True):
      discs = [shapes.Disc((x, 0.0), 0.05, (150, 150, 150)) for x in landmarks]
      discs += [shapes.Disc((x, 0.0), 0.1, (66, 113, 196)) for x in agents]
      scenes.append(shapes.Scene(discs, HALF_WIDTH + 0.5, 'line'))
    return scenes


class DriftingWorld(LineWorld):
  """A line world whose agents choose how far to go, up to a metre."""

  name = 'drifting_world'

  def __init__(self, horizon: int = HORIZON) -> None:
    super().__init__(horizon)
    (role,) = self.roles
    action = specs.BoundedArray([1], np.float32, [-1.0], [1.0], 'action')
    self.roles = (role._replace(action=action),)

  def step(self, state: LineState, action: types.Actions) -> LineState:
    moved = state.position + action[0][..., 0]
    return state._replace(
      position=tf.clip_by_value(moved, -HALF_WIDTH, HALF_WIDTH)
    )


class EndingState(NamedTuple):
  """State of a line world that starts again."""

  line: LineState
  phi: tf.Tensor  # [B, D], the task that it starts from.
  num_steps: tf.Tensor  # [B] float32, since the last start.


class EndingWorld(LineWorld):
  """A line world that ends and starts again after every third step."""

  name = 'ending_world'

  def place(self, phi: tf.Tensor, seed: types.Seed) -> EndingState:
    return EndingState(
      super().place(phi, seed), phi, tf.zeros(tf.shape(phi)[:1])
    )

  def read_task(self, state: EndingState) -> tf.Tensor:
    return super().read_task(state.line)

  def step(self, state: EndingState, action: types.Actions) -> EndingState:
    line, num_steps = super().step(state.line, action), state.num_steps + 1.0
    is_over = num_steps == 3.0
    start = super().place(state.phi, None)
    line = tf.nest.map_structure(
      lambda x, y: tf.where(is_over[:, None], x, y), start, line
    )
    return EndingState(line, state.phi, tf.where(is_over, 0.0, num_steps))

  def observe(self, state: EndingState) -> types.Observations:
    return super().observe(state.line)

  def reward(self, state: EndingState) -> tuple[tf.Tensor, ...]:
    return super().reward(state.line)

  def progress(self, state: EndingState) -> tf.Tensor:
    return super().progress(state.line)

  def discount(self, state: EndingState) -> tf.Tensor:
    return tf.cast(state.num_steps > 0.0, tf.float32)


class MaskedWorld(LineWorld):
  """A line world whose agents see only landmarks within SIGHT.

  The slots of other landmarks are empty and hold meaningless numbers.
  """

  name = 'masked_world'

  def __init__(self, horizon: int = HORIZON) -> None:
    super().__init__(horizon)
    (role,) = self.roles
    self.roles = (role._replace(mask_kinds=('landmarks',)),)

  def observe(self, state: LineState) -> types.Observations:
    (seen,) = super().observe(state)
    distance = tf.abs(state.landmark[:, None] - state.position[:, :, None])
    mask = distance <= SIGHT
    landmarks = tf.where(mask[..., None], seen.entities['landmarks'], -7.0)
    entities = {**seen.entities, 'landmarks': landmarks}
    return (seen._replace(entities=entities, masks={'landmarks': mask}),)


class HostedWorld(base.HostWorld):
  """An in-graph world, played as if it were simulated outside TensorFlow."""

  def __init__(self, env: base.Environment) -> None:
    self.env = env
    self.name = f'hosted_{env.name}'
    self.roles = env.roles
    self.horizon = env.horizon
    self.is_terminal = env.is_terminal
    self.task_space = env.task_space

  def make_simulator(self, num_worlds: int) -> base.Simulator:
    return self.env.make_simulator(num_worlds)

  def draw(self, state: Any) -> list[shapes.Scene]:
    return self.env.draw(state)

  def pictures(self, states: Sequence[Any]) -> list[list[base.Picture]]:
    return self.env.pictures(states)


class ElatedWorld(HostedWorld):
  """A faulty world: it reports more progress than is possible.

  Attributes:
    num_sound: number of correct steps of each simulator before the first fault.
  """

  num_sound = 0

  def make_simulator(self, num_worlds: int) -> base.Simulator:
    made = super().make_simulator(num_worlds)
    step, steps = made.step, itertools.count()

    def elated_step(actions: tuple[np.ndarray, ...]) -> base.Outcome:
      progress = np.full([num_worlds], 1.5, np.float32)
      outcome = step(actions)
      if next(steps) < self.num_sound:
        return outcome
      return outcome._replace(progress=progress)

    made.step = elated_step
    return made


class IdleAgent(tf.Module):
  """An agent that never acts, for runs that pretend to train.

  It has one variable for policies and one for values. More variables would make
  every checkpoint slower.
  """

  segment_length = 1
  others = ()

  def __init__(self) -> None:
    super().__init__(name='agent')
    self.policies, self.values = [_Weights()], [_Weights()]

  def initial_memory(self, num_worlds: Any, num_agents: Any) -> tuple[()]:
    del num_worlds, num_agents
    return ()

  initial_value_memory = initial_memory


class _Weights(tf.Module):
  """Stands in for a network."""

  def __init__(self) -> None:
    super().__init__()
    self.value = tf.Variable([0.5, -0.25])


def _check_width(name: str, tensor: tf.Tensor, width: int) -> None:
  if tensor.shape[-1] != width:
    raise ValueError(
      f'{name} has shape {tensor.shape}; allowed: [..., {width}]'
    )


def _cell(distance: tf.Tensor) -> tf.Tensor:
  """Returns [..., _NUM_CELLS]: 1 in the cell of an offset, 0 elsewhere."""
  cell = tf.cast(tf.round(2.0 * distance), tf.int32) + _NUM_CELLS // 2
  return tf.one_hot(cell, _NUM_CELLS)


def _is_covered(state: LineState) -> tf.Tensor:
  """Returns bool [B, 2]: whether an agent is near each landmark."""
  distance = tf.abs(state.landmark[:, None] - state.position[:, :, None])
  return tf.reduce_any(distance <= COVER_DISTANCE, 1)
