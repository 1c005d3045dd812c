# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exported policies at play: scores and films, for all tasks alike."""

from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.training import evaluation
from vacl_tf.training import export
from vacl_tf.training import host_rollout
from vacl_tf.training import rollout

_VECTORS_AT_ONCE = 100_000  # Keeps a thousand tasks of 100 agents in memory.


class ExportedPlayer:
  """An exported policy that plays tasks of the target distribution.

  Attributes:
    num_unstable: how often a simulation diverged so far and was reset.
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
      is_greedy: whether to take the likeliest actions.
    """
    self._policy = policy
    self._env = env
    self._is_greedy = is_greedy
    self.num_unstable = 0

  def progress(self, num_tasks: int, seed: types.Seed) -> np.ndarray:
    """Returns the progress [T, B] on fresh tasks.

    Args:
      num_tasks: how many tasks (B).
      seed: of tasks, worlds and actions.
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

  def film(self, num_tasks: int, seed: types.Seed) -> list[list[base.Picture]]:
    """Returns pictures of fresh tasks: T + 1 lists of B pictures.

    They show the initial state and the state after each step.
    """
    env = self._env
    if env.is_in_graph:
      draw, run = randomness.split(seed, 2)
      phi = env.task_space.sample_target(num_tasks, draw)
      memory = self._first_memory(num_tasks)
      first = env.place(phi, run)  # As `rollout.play` does.
      states, _ = tf.function(
        lambda: rollout.play(self._choose, env, phi, run, memory),
        autograph=False,
      )()
      later = [
        tf.nest.map_structure(lambda x, t=t: x[t], states)
        for t in range(env.horizon)
      ]
      return env.pictures([first, *later])
    groups: dict[int, list[Any]] = {}
    self._play_on_host(
      num_tasks,
      seed,
      lambda group, state: groups.setdefault(group, []).append(state),
    )
    pictures = [env.pictures(states) for states in groups.values()]
    return [sum(step, []) for step in zip(*pictures, strict=True)]

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
    """Returns what the exported policy does; see `rollout.Act`."""
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
    """Returns the progress [T, B]; see `host_rollout.Worlds.play`."""
    draw, run, choose = randomness.split(seed, 3)

    def act(
      begin: int, observations: types.Observations, past: tuple | None
    ) -> tuple[tuple[np.ndarray, ...], tuple]:
      seen = tf.nest.map_structure(tf.constant, observations)
      first = self._first_memory(seen[0].own.shape[0])
      step, memory = past or (0, first)
      actions, memory = self._choose(
        seen, memory, randomness.fold(choose, step, begin)
      )
      return tuple(x.numpy() for x in actions), (step + 1, memory)

    phi = self._env.task_space.sample_target(num_tasks, draw).numpy()
    worlds = host_rollout.Worlds(self._env)
    progress = host_rollout.perform(act, worlds, phi, run, watch)
    self.num_unstable += worlds.num_unstable
    return progress
