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
  """B worlds of an environment, stepped one graph call at a time.

  XLA is not used: compiling takes seconds, and a few worlds gain little.
  """

  def __init__(self, env: Environment, num_worlds: int) -> None:
    """Makes empty worlds; `place` begins episodes.

    Args:
      env: the environment.
      num_worlds: how many (B).
    """
    self.num_worlds = num_worlds
    self._env = env
    self._advance = tf.function(self._outcome, autograph=False)
    self._state: types.State = None  # Until there are tasks.
    self._num_steps = 0

  @property
  def state(self) -> types.State:
    """What `Environment.draw` takes; None before the first episode."""
    return self._state

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
    self._state = self._env.place(phi, _as_seed(seed))
    self._num_steps = 0
    self._observations = self._env.observe(self._state)

  def observe(self) -> types.Observations:
    self._check_begun('observe')
    return simulator.to_numpy(self._observations)

  def step(self, actions: tuple[np.ndarray, ...]) -> simulator.Outcome:
    self._check_begun('step')
    tensors = tuple(
      tf.constant(action, role.action.dtype)
      for role, action in zip(self._env.roles, actions, strict=True)
    )
    after, observations, outcome = self._advance(self._state, tensors)
    self._state, self._observations = after, observations
    outcome = simulator.to_numpy(outcome)
    self._num_steps += 1
    if self._env.is_terminal and self._num_steps == self._env.horizon:
      return outcome._replace(discount=np.zeros_like(outcome.discount))
    return outcome

  def read_task(self) -> np.ndarray:
    self._check_begun('read_task')
    return self._env.read_task(self._state).numpy()

  def _outcome(
    self, state: types.State, actions: types.Actions
  ) -> tuple[types.State, types.Observations, simulator.Outcome]:
    """Returns the next state, its observations and the outcome, tensors."""
    after = self._env.step(state, actions)
    outcome = simulator.Outcome(
      self._env.reward(after),
      self._env.progress(after),
      self._env.discount(after),
    )
    return after, self._env.observe(after), outcome

  def _check_begun(self, method: str) -> None:
    if self._state is None:
      raise ValueError(
        f'{method} before place; give the worlds their tasks first'
      )


def _as_seed(seed: Sequence[int]) -> types.Seed:
  """Returns a seed [2]: the first two integers, with the others folded in."""
  numbers = np.array([int(number) % 2**32 for number in seed], np.uint32)
  numbers = np.pad(numbers, (0, max(0, 2 - len(numbers)))).view(np.int32)
  return randomness.fold(tf.constant(numbers[:2]), *numbers[2:].tolist())
