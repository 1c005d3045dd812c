# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Records episodes of worlds outside TensorFlow, to learn from them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from vacl_tf import types
from vacl_tf.agents import base as agent_base
from vacl_tf.environments import base
from vacl_tf.training import rollout


class Arrays(NamedTuple):
  """Episodes of many worlds; arrays [T, rows, ...], see types.Trajectory."""

  observations: types.Observations  # [T + 1, rows, ...]
  memory: types.Memory  # Of the policy, before each step.
  numbers: tuple[np.ndarray, ...]  # That actions are drawn with.
  action: tuple[np.ndarray, ...]
  log_prob: tuple[np.ndarray, ...]
  reward: tuple[np.ndarray, ...]
  progress: np.ndarray
  discount: np.ndarray


class Record:
  """Arrays that are made when the first observation gives their shapes."""

  def __init__(
    self,
    env: base.World,
    agent: agent_base.Agent,
    num_rows: int,
    numbers: tuple[tf.Tensor, ...],
  ) -> None:
    self._env = env
    self._agent = agent
    self._num_rows = num_rows
    self._numbers = numbers
    self._arrays: Arrays | None = None

  @property
  def arrays(self) -> Arrays:
    """The recorded episodes."""
    return self._arrays

  def like(self, observations: types.Observations) -> Arrays:
    """Returns the arrays, made for observations [B, n, ...] like these."""
    if self._arrays is None:
      self._arrays = self._empty(observations)
    return self._arrays

  def _empty(self, observations: types.Observations) -> Arrays:
    steps, rows = self._env.horizon, self._num_rows
    roles = self._env.roles

    def zeros(shape: Sequence[int], dtype: Any = np.float32) -> np.ndarray:
      return np.zeros([steps, rows, *shape], dtype)

    memory = self._agent.initial_memory(rows, rollout.num_agents(self._env))
    numbers = tuple(zeros(x.shape[2:]) for x in self._numbers)
    for mine, drawn in zip(numbers, self._numbers, strict=True):
      mine[:, : drawn.shape[1]] = drawn
    per_agent = [
      tuple(zeros([role.num_agents]) for role in roles) for _ in '12'
    ]
    return Arrays(
      observations=tf.nest.map_structure(
        lambda x: np.zeros([steps + 1, rows, *x.shape[1:]], x.dtype),
        observations,
      ),
      memory=tf.nest.map_structure(
        lambda x: np.repeat(x.numpy()[None], steps, 0), memory
      ),
      numbers=numbers,
      action=tuple(
        zeros([role.num_agents, *role.action.shape], role.action.dtype)
        for role in roles
      ),
      log_prob=per_agent[0],
      reward=per_agent[1],
      progress=zeros([]),
      discount=zeros([]),
    )


class Recorder:
  """Acts in some of the worlds and records what happens."""

  def __init__(
    self, act: Callable, record: Record, rows: slice, window: int
  ) -> None:
    """Initialises the recorder of some rows.

    Args:
      act: see `host_rollout.Collector`.
      record: where to write.
      rows: the worlds to act in.
      window: number of rows that `act` is compiled for.
    """
    self._act = act
    self._record = record
    self._rows = rows
    self._window = slice(rows.start, rows.start + window)
    self._size = tf.constant(rows.stop - rows.start)

  def act(
    self, step: int, observations: types.Observations
  ) -> tuple[np.ndarray, ...]:
    record, rows = self._record.like(observations), self._rows
    self._write(record.observations, step, observations)
    inputs = record.observations, record.memory, record.numbers
    inputs = tf.nest.map_structure(lambda x: x[step, self._window], inputs)
    actions, log_probs, memory = tf.nest.map_structure(
      lambda x: x.numpy()[: rows.stop - rows.start],
      self._act(*inputs, self._size),
    )
    self._write(record.action, step, actions)
    self._write(record.log_prob, step, log_probs)
    if step + 1 < len(record.progress):
      self._write(record.memory, step + 1, memory)
    return actions

  def note(self, step: int, outcome: base.Outcome) -> None:
    record = self._record.arrays
    mine = record.reward, record.progress, record.discount
    self._write(mine, step, tuple(outcome))
    has_ended = np.asarray(outcome.discount) == 0.0
    if has_ended.any() and step + 1 < len(record.progress):
      for memory in tf.nest.flatten(record.memory):
        memory[step + 1, self._rows][has_ended] = memory[0, self._rows][
          has_ended
        ]

  def end(self, observations: types.Observations) -> None:
    self._write(self._record.arrays.observations, -1, observations)

  def _write(self, arrays: Any, step: int, found: Any) -> None:
    """Writes leaves [B, ...] to leaves [T, rows, ...]."""
    pairs = zip(tf.nest.flatten(arrays), tf.nest.flatten(found), strict=True)
    for array, x in pairs:
      array[step, self._rows] = x
