# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Plays episodes of worlds that are simulated outside TensorFlow.

Worlds form two groups that take turns: while one group is simulated, the policy
acts in the other. With a GPU neither simulator nor policy waits for the other.
Results do not depend on which one is faster.
"""

from collections.abc import Callable, Sequence
from concurrent import futures
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.agents import base as agent_base
from vacl_tf.environments import base
from vacl_tf.environments import checked_simulator
from vacl_tf.environments import simulator
from vacl_tf.learning import microbatch
from vacl_tf.training import recording
from vacl_tf.training import rollout

NUM_GROUPS = 2

Watch = Callable[[int, Any], None]


class Actor(Protocol):
  """Acts for one group of worlds."""

  def act(
    self, step: int, observations: types.Observations
  ) -> tuple[np.ndarray, ...]:
    """Returns the actions [B, n, ...] per role at a step, counted from 0."""

  def note(self, step: int, outcome: base.Outcome) -> None:
    """Receives the outcome of the actions of a step."""

  def end(self, observations: types.Observations) -> None:
    """Receives the observations after the last step."""


class Worlds:
  """Simulated worlds, created in the number that a call needs.

  Attributes:
    env: the world that is played.
    num_unstable: how often a simulation has diverged and been reset so far.
  """

  def __init__(self, env: base.World, restarts: bool = True) -> None:
    """Initialises the worlds.

    Args:
      env: the world to play.
      restarts: False to play one episode only, see `Simulator.restarts`.
    """
    self.env = env
    self.num_unstable = 0
    self._restarts = restarts
    self._groups: list[base.Simulator] = []

  def play(
    self,
    phi: np.ndarray,
    seed: types.Seed,
    make_actor: Callable[[int, int], Actor],
    watch: Watch | None = None,
  ) -> None:
    """Plays an episode of each task.

    Args:
      phi: [B, D] tasks.
      seed: seed of the worlds' own randomness.
      make_actor: returns the actor of a group, given the index of its first
        world and of the one after its last.
      watch: called with the index of each group, from 0, and its
        `Simulator.state`, before each step and after the last one.
    """
    num_groups = min(NUM_GROUPS, len(phi))
    bounds = np.linspace(0, len(phi), num_groups + 1).astype(int).tolist()
    sizes = np.diff(bounds).tolist()
    if [group.num_worlds for group in self._groups] != sizes:
      self.close()
      self._groups = [self._simulator(size) for size in sizes]
    before = sum(group.num_unstable for group in self._groups)
    key = seed.numpy().view(np.uint32).tolist()
    actors = []
    for group, begin in zip(self._groups, bounds[:-1], strict=True):
      end = begin + group.num_worlds
      group.place(phi[begin:end], [*key, begin])
      actors.append(make_actor(begin, end))
    _take_turns(self._groups, actors, self.env.horizon, watch)
    after = sum(group.num_unstable for group in self._groups)
    self.num_unstable += after - before

  def close(self) -> None:
    """Frees the worlds' resources; new worlds are made when needed."""
    groups, self._groups = self._groups, []
    for group in groups:
      group.close()

  def read_tasks(self) -> np.ndarray:
    """Returns the tasks [B, D] that would place the worlds as they are now."""
    return np.concatenate([group.read_task() for group in self._groups])

  def _simulator(self, size: int) -> base.Simulator:
    make = self.env.make_simulator
    made = simulator.called('make_simulator', make, size)
    made.restarts = self._restarts
    return checked_simulator.Checked(made, self.env)


def _take_turns(
  groups: Sequence[base.Simulator],
  actors: Sequence[Actor],
  num_steps: int,
  watch: Watch | None,
) -> None:
  """Plays whole episodes; one group acts while another one is simulated."""
  moving: list[futures.Future | None] = [None] * len(groups)

  def arrive(index: int, step: int) -> None:
    """Waits for a group's last step and passes on its outcome and state."""
    if step:
      actors[index].note(step - 1, moving[index].result())
    if watch is not None:
      # In the thread of the steps, because worlds may share a renderer.
      state = engine.submit(lambda: groups[index].state).result()
      watch(index, state)

  with futures.ThreadPoolExecutor(max_workers=1) as engine:
    for step in range(num_steps):
      for index, group in enumerate(groups):
        arrive(index, step)
        actions = actors[index].act(step, group.observe())
        moving[index] = engine.submit(group.step, actions)
    for index, group in enumerate(groups):
      arrive(index, num_steps)
      actors[index].end(group.observe())


class Collector:
  """Plays episodes with exploration, to learn from.

  Attributes:
    worlds: the worlds that are played.
  """

  def __init__(
    self,
    agent: agent_base.Agent,
    env: base.World,
    block: int,
    compiled: Callable[[Callable], Callable],
  ) -> None:
    """Initialises the collector of one entity count.

    Args:
      agent: the agent whose policy acts.
      env: the world.
      block: number of worlds that the policy acts in together; results do not
        depend on it.
      compiled: compiles a function.
    """
    self.worlds = Worlds(env)
    self._agent = agent
    self._env = env
    self._block = block
    self._act = compiled(self._play_step)
    self._draw = compiled(self._draw_numbers)

  def collect(
    self, batch: types.TaskBatch, seed: types.Seed
  ) -> types.Trajectory:
    """Returns one episode of each of the first batch.size tasks, then zeros.

    Args:
      batch: tasks [B, D].
      seed: seed of placements and actions.

    Returns:
      A trajectory whose states are observations.
    """
    num_rows, size = batch.phi.shape[0], int(batch.size)
    most = -(-num_rows // NUM_GROUPS)  # In one group.
    window = -(-most // self._block) * self._block
    place_seed, action_seed = randomness.split(seed, 2)
    numbers = self._draw(batch.phi, action_seed)
    # Some extra rows, so that the window of each group lies within the record.
    record = recording.Record(
      self._env, self._agent, num_rows + window, numbers
    )

    def make_actor(begin: int, end: int) -> Actor:
      return recording.Recorder(self._act, record, slice(begin, end), window)

    # A replica without probes still plays one world, to find the shapes.
    phi = batch.phi.numpy()[: max(size, 1)]
    self.worlds.play(phi, place_seed, make_actor)
    whole = tf.nest.map_structure(
      lambda x: tf.convert_to_tensor(x[:, :num_rows]), record.arrays
    )
    return types.Trajectory(
      state=whole.observations,
      memory=whole.memory,
      action=whole.action,
      log_prob=whole.log_prob,
      reward=whole.reward,
      progress=rollout.of_first_episode(whole.progress, whole.discount),
      discount=rollout.with_end(whole.discount, self._env.is_terminal),
    )

  def _draw_numbers(
    self, phi: tf.Tensor, seed: types.Seed
  ) -> tuple[tf.Tensor, ...]:
    """Returns numbers [T, B, n, ...] to draw actions with, for phi [B, D]."""
    more = range(1, len(self._env.roles))
    seeds = [seed, *(randomness.fold(seed, index) for index in more)]
    return rollout.action_numbers(self._env, phi.shape[0], seeds)

  def _play_step(
    self,
    observations: types.Observations,
    memory: types.Memory,
    numbers: tuple[tf.Tensor, ...],
    size: tf.Tensor,
  ) -> tuple[tuple, tuple, types.Memory]:
    """Returns actions, their log-probabilities and memories; all [rows, ...].

    Args:
      observations: leaves [rows, n, ...].
      memory: leaves [rows, ...].
      numbers: [rows, n, ...] per role, to draw actions with.
      size: [] int32 number of rows that are needed.
    """
    block = self._block
    inputs = tf.nest.map_structure(
      lambda x: x[None], (observations, memory, numbers)
    )

    def of_block(begin: tf.Tensor) -> tuple:
      mine = microbatch.worlds(inputs, begin, block)
      seen, before, uniform = tf.nest.map_structure(lambda x: x[0], mine)
      distributions, after = self._agent.act(seen, before)
      found = (*agent_base.drawn(distributions, uniform), after)
      return tf.nest.map_structure(lambda x: x[None], found)

    num_rows = numbers[0].shape[0]
    found = microbatch.over_worlds(of_block, num_rows, block, size)
    return tf.nest.map_structure(lambda x: x[0], found)


# Maps the first world of a group, the step, the observations and the memory to
# actions per role [B, n, ...] and the next memory.
Act = Callable[
  [int, int, types.Observations, types.Memory],
  tuple[tuple[np.ndarray, ...], types.Memory],
]


class _Performer:
  """Acts in a group of worlds and records progress and discounts."""

  def __init__(
    self,
    act: Act,
    begin: int,
    told: tuple[np.ndarray, np.ndarray],
    memory: types.Memory,
  ) -> None:
    self._act = act
    self._begin = begin
    self._progress, self._discount = told
    self._first = self._memory = memory

  def act(
    self, step: int, observations: types.Observations
  ) -> tuple[np.ndarray, ...]:
    actions, self._memory = self._act(
      self._begin, step, observations, self._memory
    )
    return actions

  def note(self, step: int, outcome: base.Outcome) -> None:
    self._progress[step] = outcome.progress
    self._discount[step] = outcome.discount
    if np.any(outcome.discount == 0.0):
      self._memory = rollout.remembered(
        self._memory, self._first, outcome.discount
      )

  def end(self, observations: types.Observations) -> None:
    del observations


def perform(
  act: Act,
  worlds: Worlds,
  phi: np.ndarray,
  seed: types.Seed,
  initial_memory: Callable[[int], types.Memory] = lambda num_worlds: (),
  watch: Watch | None = None,
) -> np.ndarray:
  """Plays an episode of each task phi [B, D].

  Args:
    act: the policy.
    worlds: the worlds to play.
    phi: tasks.
    seed: seed of the worlds' own randomness.
    initial_memory: returns the policy's initial memory for a number of worlds.
    watch: see `Worlds.play`.

  Returns:
    The progress [T, B] after each step, see `rollout.of_first_episode`.
  """
  told = np.zeros([2, worlds.env.horizon, len(phi)], np.float32)
  worlds.play(
    phi,
    seed,
    lambda begin, end: _Performer(
      act, begin, told[:, :, begin:end], initial_memory(end - begin)
    ),
    watch,
  )
  return rollout.of_first_episode(*told).numpy()
