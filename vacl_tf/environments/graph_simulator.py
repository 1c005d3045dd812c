# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Runs an in-graph environment as a simulator, for callers on the host."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import packing
from vacl_tf.environments import simulator
from vacl_tf.environments import task_space

# XLA is not used with more entities, as it gains nothing. With XLA, one world
# of Simple-Spread with 24, 50 and 100 agents takes 0.5, 1 and 3.6 times as long
# as without, and compiles in 2 to 10 s.
_MOST_ENTITIES = 64


class Environment(Protocol):
  """The part of `base.Environment` that `GraphSimulator` uses."""

  roles: tuple[types.Role, ...]
  horizon: int
  is_terminal: bool
  task_space: task_space.TaskSpace
  place: Callable[[tf.Tensor, types.Seed], types.State]
  step: Callable[[types.State, types.Actions], types.State]
  observe: Callable[[types.State], types.Observations]
  reward: Callable[[types.State], tuple[tf.Tensor, ...]]
  progress: Callable[[types.State], tf.Tensor]
  discount: Callable[[types.State], tf.Tensor]
  read_task: Callable[[types.State], tf.Tensor]


class GraphSimulator(simulator.Simulator):
  """B worlds of an environment, stepped one compiled call at a time.

  The arithmetic of a step takes microseconds, so most of the time goes to the
  operations, tensors and Python objects around it. XLA therefore compiles the
  step to a few kernels, and `packing` turns state and observations into a few
  vectors.
  """

  def __init__(self, env: Environment, num_worlds: int) -> None:
    """Makes empty worlds; `place` begins episodes.

    Args:
      env: the environment.
      num_worlds: number of worlds (B).
    """
    self.num_worlds = num_worlds
    self._env = env
    # A concrete function: otherwise many simulators cause retracing warnings.
    self._begin = tf.function(
      self._placed, autograph=False
    ).get_concrete_function(
      tf.TensorSpec([num_worlds, env.task_space.num_dims]),
      tf.TensorSpec([2], tf.int32),
    )
    state, self._observed = self._begin.structured_outputs
    self._state_packing = packing.Packing(state)
    self._observation_packing = packing.Packing(self._observed)
    self._advance: Callable[..., list[tf.Tensor]] | None = None
    self._packed_state: list[tf.Tensor] = []  # Empty until there are tasks.
    self._packed_observations: list[tf.Tensor] = []
    self._state: types.State = None  # Unpacked on demand.
    self._num_steps = 0

  @property
  def state(self) -> types.State:
    """The state, for `Environment.draw`; None before the first episode."""
    if self._state is None and self._packed_state:
      self._state = self._state_packing.unpack(self._packed_state)
    return self._state

  def place(self, phi: np.ndarray, seed: Sequence[int]) -> None:
    """Begins an episode of tasks phi [B, D] in every world.

    Args:
      phi: [B, D] float32.
      seed: integers, from which `_as_seed` makes the seed [2] of
        `Environment.place`.
    """
    phi = tf.constant(phi, tf.float32)
    expected = [self.num_worlds, self._env.task_space.num_dims]
    if phi.shape != expected:
      raise ValueError(
        f'phi has shape {list(phi.shape)}; allowed: {expected}, a task for '
        'each world'
      )
    self._state, observations = self._begin(phi, _as_seed(seed))
    self._packed_state = self._state_packing.pack(self._state)
    self._packed_observations = self._observation_packing.pack(observations)
    self._num_steps = 0

  def observe(self) -> types.Observations:
    self._check_begun('observe')
    arrays = self._observation_packing.arrays(self._packed_observations)
    leaves = iter(arrays)
    return tuple(_like(observation, leaves) for observation in self._observed)

  def step(self, actions: tuple[np.ndarray, ...]) -> simulator.Outcome:
    self._check_begun('step')
    tensors = [
      tf.constant(action, role.action.dtype)
      for role, action in zip(self._env.roles, actions, strict=True)
    ]
    if self._advance is None:
      self._advance = self._compile()
    vectors = iter(self._advance(*self._packed_state, *tensors))
    self._state = None
    self._packed_state = [next(vectors) for _ in self._packed_state]
    self._packed_observations = [
      next(vectors) for _ in self._packed_observations
    ]
    *reward, progress, discount = self._outcome_packing.arrays([*vectors])
    self._num_steps += 1
    if self._env.is_terminal and self._num_steps == self._env.horizon:
      discount = np.zeros_like(discount)
    return simulator.Outcome(tuple(reward), progress, discount)

  def read_task(self) -> np.ndarray:
    self._check_begun('read_task')
    return self._env.read_task(self.state).numpy()

  def _placed(
    self, phi: tf.Tensor, seed: types.Seed
  ) -> tuple[types.State, types.Observations]:
    """Returns the first state of tasks and its observations, tensors."""
    state = self._env.place(phi, seed)
    return state, self._env.observe(state)

  def _compile(self) -> Callable[..., list[tf.Tensor]]:
    """Returns the compiled step, a function of packed state and actions.

    The function returns the packed state, observations and outcome.
    """
    env = self._env
    like = [tf.TensorSpec([self.num_worlds])] * 2  # Progress and discount.
    for role in reversed(env.roles):
      like.insert(0, tf.TensorSpec([self.num_worlds, role.num_agents]))
    self._outcome_packing = packing.Packing(like)
    num_vectors = len(self._packed_state)

    def advance(*arguments: tf.Tensor) -> list[tf.Tensor]:
      state = self._state_packing.unpack(arguments[:num_vectors])
      after = env.step(state, arguments[num_vectors:])
      outcome = [*env.reward(after), env.progress(after), env.discount(after)]
      return [
        *self._state_packing.pack(after),
        *self._observation_packing.pack(env.observe(after)),
        *self._outcome_packing.pack(outcome),
      ]

    arguments = list(self._state_packing.specs)
    for role in env.roles:
      shape = [self.num_worlds, role.num_agents, *role.action.shape]
      arguments.append(tf.TensorSpec(shape, role.action.dtype))
    is_small = env.task_space.num_entities <= _MOST_ENTITIES
    function = tf.function(
      advance, autograph=False, jit_compile=is_small or None
    )
    return function.get_concrete_function(*arguments)

  def _check_begun(self, method: str) -> None:
    if not self._packed_state:
      raise ValueError(f'{method} was called before place; call place first')


def _like(
  observation: types.Observation, leaves: Iterator[np.ndarray]
) -> types.Observation:
  """Returns an observation of the same kinds from leaves, as `tf.nest` would.

  `tf.nest` takes 30 us, mostly to find out the structure of an observation.
  """
  own = next(leaves)
  kinds = observation.entities
  found = {kind: next(leaves) for kind in sorted(kinds)}
  masks = {kind: next(leaves) for kind in sorted(observation.masks)}
  has_more = not isinstance(observation.critic_own, tuple)
  return types.Observation(
    own,
    {kind: found[kind] for kind in kinds},
    {kind: masks[kind] for kind in observation.masks},
    next(leaves) if has_more else (),
  )


def _as_seed(seed: Sequence[int]) -> types.Seed:
  """Returns a seed [2]: the first two integers, with the others folded in."""
  numbers = np.array([int(number) % 2**32 for number in seed], np.uint32)
  numbers = np.pad(numbers, (0, max(0, 2 - len(numbers)))).view(np.int32)
  return randomness.fold(tf.constant(numbers[:2]), *numbers[2:].tolist())
