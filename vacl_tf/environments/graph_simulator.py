# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""An in-graph environment as a simulator, for whatever runs on the host."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import simulator
from vacl_tf.environments import task_space


class Environment(Protocol):
  """What is used of a `base.Environment`, which makes these simulators."""

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

  The arithmetic of a step takes microseconds, so what counts is the number of
  operations and of Python objects around them. XLA makes a few kernels of the
  step, and the compiled function takes and returns flat lists of tensors, which
  TensorFlow checks in a third of the time.
  """

  def __init__(self, env: Environment, num_worlds: int) -> None:
    """Makes empty worlds; `place` begins episodes.

    Args:
      env: the environment.
      num_worlds: how many (B).
    """
    self.num_worlds = num_worlds
    self._env = env
    self._begin = tf.function(self._placed, autograph=False)
    self._advance: Callable[..., list[tf.Tensor]] | None = None
    self._state: list[tf.Tensor] = []  # Leaves; none until there are tasks.
    self._observations: list[tf.Tensor] = []  # Leaves.
    self._packed: types.State = None  # The state, once it was asked for.
    self._num_steps = 0

  @property
  def state(self) -> types.State:
    """What `Environment.draw` takes; None before the first episode."""
    if self._packed is None and self._state:
      self._packed = tf.nest.pack_sequence_as(self._state_like, self._state)
    return self._packed

  def place(self, phi: np.ndarray, seed: Sequence[int]) -> None:
    """Begins an episode of tasks phi [B, D] in every world.

    Args:
      phi: [B, D] float32.
      seed: integers; two of them are the seed that `Environment.place` gets.
    """
    phi = tf.constant(phi, tf.float32)
    expected = [self.num_worlds, self._env.task_space.num_dims]
    if phi.shape != expected:
      raise ValueError(
        f'phi has shape {list(phi.shape)}; allowed: {expected}, a task for '
        'each world'
      )
    state, observations = self._begin(phi, _as_seed(seed))
    if self._advance is None:
      self._advance = self._compile(state, observations)
    self._state, self._packed = tf.nest.flatten(state), state
    self._observations = tf.nest.flatten(observations)
    self._num_steps = 0

  def observe(self) -> types.Observations:
    self._check_begun('observe')
    arrays = [tensor.numpy() for tensor in self._observations]
    return tf.nest.pack_sequence_as(self._observations_like, arrays)

  def step(self, actions: tuple[np.ndarray, ...]) -> simulator.Outcome:
    self._check_begun('step')
    tensors = [
      tf.constant(action, role.action.dtype)
      for role, action in zip(self._env.roles, actions, strict=True)
    ]
    leaves = self._advance(*self._state, *tensors)
    first, last = len(self._state), -2 - len(tensors)
    self._state, self._observations = leaves[:first], leaves[first:last]
    self._packed = None
    *reward, progress, discount = (leaf.numpy() for leaf in leaves[last:])
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

  def _compile(
    self, state: types.State, observations: types.Observations
  ) -> Callable[..., list[tf.Tensor]]:
    """Returns the compiled step: leaves of state and actions in, leaves out.

    These are the state, the observations, the reward of each role, progress
    and discount.
    """
    self._state_like, self._observations_like = state, observations
    num_leaves = len(tf.nest.flatten(state))

    def advance(*leaves: tf.Tensor) -> list[tf.Tensor]:
      env = self._env
      before = tf.nest.pack_sequence_as(state, leaves[:num_leaves])
      after = env.step(before, leaves[num_leaves:])
      outcome = (env.reward(after), env.progress(after), env.discount(after))
      return tf.nest.flatten((after, env.observe(after), outcome))

    arguments = [
      tf.TensorSpec(x.shape, x.dtype) for x in tf.nest.flatten(state)
    ]
    for role in self._env.roles:
      shape = [self.num_worlds, role.num_agents, *role.action.shape]
      arguments.append(tf.TensorSpec(shape, role.action.dtype))
    function = tf.function(advance, autograph=False, jit_compile=True)
    return function.get_concrete_function(*arguments)

  def _check_begun(self, method: str) -> None:
    if not self._state:
      raise ValueError(
        f'{method} before place; give the worlds their tasks first'
      )


def _as_seed(seed: Sequence[int]) -> types.Seed:
  """Returns a seed [2]: the first two integers, with the others folded in."""
  numbers = np.array([int(number) % 2**32 for number in seed], np.uint32)
  numbers = np.pad(numbers, (0, max(0, 2 - len(numbers)))).view(np.int32)
  return randomness.fold(tf.constant(numbers[:2]), *numbers[2:].tolist())
