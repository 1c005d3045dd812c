# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Plays exported policies in any world, for scores and films."""

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf import user_code
from vacl_tf.environments import base
from vacl_tf.environments import shapes
from vacl_tf.training import evaluation
from vacl_tf.training import export
from vacl_tf.training import host_rollout
from vacl_tf.training import rollout

_VECTORS_AT_ONCE = 100_000  # A thousand tasks of 100 agents fit in memory.
_WORLDS_AT_ONCE = 4000  # On the host; a MuJoCo world takes 0.2 MB.


class ExportedPlayer:
  """An exported policy that plays tasks of the target distribution.

  Attributes:
    num_unstable: how often a simulation has diverged and been reset so far.
  """

  def __init__(
    self,
    policy: export.Policy,
    env: base.World,
    is_greedy: bool,
  ) -> None:
    """Initialises the player.

    Args:
      policy: an exported policy.
      env: the world.
      is_greedy: whether to take the most likely actions.
    """
    self._policy = policy
    self._env = env
    self._is_greedy = is_greedy
    self.num_unstable = 0

  def progress(self, num_tasks: int, seed: types.Seed) -> np.ndarray:
    """Returns the progress [T, B] on fresh tasks.

    Args:
      num_tasks: number of tasks (B).
      seed: seed of tasks, worlds and actions.
    """
    if not self._env.is_in_graph:
      return self._play_on_host(num_tasks, seed)
    block = max(_VECTORS_AT_ONCE // self._env.num_vectors, 1)
    play = tf.function(
      lambda: evaluation.evaluate(
        self._choose, self._env, num_tasks, seed, block, self._first_memory
      ),
      autograph=False,
    )
    return play().numpy()

  def progress_of(self, phi: np.ndarray, seed: types.Seed) -> np.ndarray:
    """Returns the progress [T, B] on given tasks.

    Args:
      phi: [B, D] tasks; a task may occur several times.
      seed: seed of worlds and actions.
    """
    if not self._env.is_in_graph:
      run, choose = randomness.split(seed, 2)
      return self._play_given(phi, run, choose, None)
    block = max(_VECTORS_AT_ONCE // self._env.num_vectors, 1)
    block = min(block, len(phi))
    padded = np.pad(phi, [(0, -len(phi) % block), (0, 0)], 'edge')
    play = tf.function(
      lambda tasks: evaluation.play(
        self._choose, self._env, tasks, seed, block, self._first_memory
      ),
      autograph=False,
    )
    # An argument, not a constant: a graph holds at most 2 GB of constants.
    return play(tf.constant(padded)).numpy()[:, : len(phi)]

  def film(self, num_tasks: int, seed: types.Seed) -> list[list[base.Picture]]:
    """Returns pictures of fresh tasks: T + 1 lists of B pictures.

    They show the initial state and the state after each step.
    """
    env = self._env
    if env.is_in_graph:
      draw, run = randomness.split(seed, 2)
      phi = env.task_space.sample_target(num_tasks, draw)
      return _drawn('pictures', env.pictures, self._states(phi, run)[0])
    groups: dict[int, list[Any]] = {}
    self._play_on_host(num_tasks, seed, _noting(groups))
    pictures = [
      _drawn('pictures', env.pictures, states) for states in groups.values()
    ]
    return [sum(step, []) for step in zip(*pictures, strict=True)]

  def watch(
    self, phi: np.ndarray, seed: types.Seed
  ) -> tuple[np.ndarray, list[list[shapes.Scene]]]:
    """Plays given tasks.

    Args:
      phi: [B, D] tasks.
      seed: seed of worlds and actions.

    Returns:
      The progress [T, B], and for each task the scenes at its start and after
      each step.

    Raises:
      NotImplementedError: the world is not made of shapes.
    """
    env = self._env
    draw = functools.partial(_drawn, 'draw', env.draw)
    if env.is_in_graph:
      states, progress = self._states(tf.constant(phi), seed)
      steps = list(map(draw, states))
      return progress, [list(scenes) for scenes in zip(*steps, strict=True)]
    groups: dict[int, list[Any]] = {}
    run, choose = randomness.split(seed, 2)
    progress = self._play_given(phi, run, choose, _noting(groups, draw))
    worlds = [zip(*steps, strict=True) for steps in groups.values()]
    return progress, [list(scenes) for group in worlds for scenes in group]

  def _states(
    self, phi: tf.Tensor, seed: types.Seed
  ) -> tuple[list[types.State], np.ndarray]:
    """Plays tasks [B, D] in a graph.

    Returns:
      The T + 1 states, and the progress [T, B].
    """
    env = self._env
    memory = self._first_memory(phi.shape[0])
    first = env.place(phi, seed)  # As in `rollout.play`.
    states, progress = tf.function(
      lambda: rollout.play(self._choose, env, phi, seed, memory),
      autograph=False,
    )()
    later = [
      tf.nest.map_structure(lambda x, t=t: x[t], states)
      for t in range(env.horizon)
    ]
    return [first, *later], progress.numpy()

  def _first_memory(self, num_worlds: int) -> dict[str, tf.Tensor]:
    counts = [role.num_agents for role in self._env.roles]
    return self._policy.initial_state(
      tf.constant(num_worlds),
      tf.constant(counts if len(counts) > 1 else counts[0]),
    )

  def _choose(
    self,
    observations: types.Observations,
    memory: types.Memory,
    seed: types.Seed,
  ) -> tuple[types.Actions, types.Memory]:
    """Returns actions and memory of the exported policy; see `rollout.Act`."""
    roles = self._env.roles
    found = self._policy.act(
      seed=seed,
      greedy=tf.constant(self._is_greedy),
      **export.flat(roles, observations),
      **memory,
    )
    actions = (found[export.prefix(roles, role) + 'action'] for role in roles)
    return tuple(actions), {name: found[name] for name in memory}

  def _play_on_host(
    self,
    num_tasks: int,
    seed: types.Seed,
    watch: host_rollout.Watch | None = None,
  ) -> np.ndarray:
    """Returns the progress [T, B] on fresh tasks."""
    draw, run, choose = randomness.split(seed, 3)
    phi = self._env.task_space.sample_target(num_tasks, draw).numpy()
    return self._play_given(phi, run, choose, watch)

  def _play_given(
    self,
    phi: np.ndarray,
    run: types.Seed,
    choose: types.Seed,
    watch: host_rollout.Watch | None,
  ) -> np.ndarray:
    """Returns the progress [T, B]; see `host_rollout.Worlds.play`."""
    parts = []
    worlds = host_rollout.Worlds(self._env, restarts=False)
    with contextlib.closing(worlds):
      for index, begin in enumerate(range(0, len(phi), _WORLDS_AT_ONCE)):
        some, see = phi[begin : begin + _WORLDS_AT_ONCE], watch
        if index:  # The first part does not depend on later ones.
          run, choose = (randomness.fold(seed, begin) for seed in (run, choose))
          see = watch and _beyond(watch, index * host_rollout.NUM_GROUPS)
        parts.append(self._play_some(worlds, some, run, choose, see))
    self.num_unstable += int(worlds.num_unstable)
    return np.concatenate(parts, 1)

  def _play_some(
    self,
    worlds: host_rollout.Worlds,
    phi: np.ndarray,
    run: types.Seed,
    choose: types.Seed,
    watch: host_rollout.Watch | None,
  ) -> np.ndarray:
    """Returns the progress [T, B] of tasks that are played together."""

    def act(
      begin: int,
      step: int,
      observations: types.Observations,
      memory: types.Memory,
    ) -> tuple[tuple[np.ndarray, ...], types.Memory]:
      seen = tf.nest.map_structure(tf.constant, observations)
      actions, memory = self._choose(
        seen, memory, randomness.fold(choose, step, begin)
      )
      return tuple(x.numpy() for x in actions), memory

    return host_rollout.perform(
      act, worlds, phi, run, self._first_memory, watch
    )


def _drawn(where: str, draw: Callable[[Any], Any], states: Any) -> Any:
  """Calls a function that draws a world, which may be a user's.

  Raises:
    WorldError: the function raised an error that it is not meant to raise.
  """
  try:
    return draw(states)
  except (NotImplementedError, OSError, ValueError):
    raise
  except Exception as error:
    line = f'{where} failed: {user_code.told(error)}'
    raise base.WorldError(line) from error


def _beyond(watch: host_rollout.Watch, first: int) -> host_rollout.Watch:
  """Returns a `watch` that counts the groups from `first` on."""
  return lambda group, state: watch(first + group, state)


def _noting(
  groups: dict[int, list[Any]],
  see: Callable[[Any], Any] = lambda state: state,
) -> host_rollout.Watch:
  """Returns a `watch` that collects see(state) for each group."""
  return lambda group, state: groups.setdefault(group, []).append(see(state))
