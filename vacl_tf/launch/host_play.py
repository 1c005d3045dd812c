# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exported policies at play in hide-and-seek: scores and pictures."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import rendering
from vacl_tf.environments.hide_and_seek import film
from vacl_tf.environments.hide_and_seek import task as task_lib
from vacl_tf.environments.hide_and_seek import training_view
from vacl_tf.training import host_rollout
from vacl_tf.training import saving


class Player:
  """An exported policy that plays a world of hide-and-seek.

  Attributes:
    num_unstable: how often the physics of a world broke down so far; see
      `host_rollout.Worlds`.
  """

  def __init__(
    self,
    exported: saving.Exported,
    env: training_view.HideAndSeek,
    memory_size: int,
    is_greedy: bool,
  ) -> None:
    """Initialises the player.

    Args:
      exported: `act` of an exported policy.
      env: the world.
      memory_size: numbers that an agent remembers (H).
      is_greedy: whether to take the likeliest actions.
    """
    self._exported = exported
    self._env = env
    self._memory_size = memory_size
    self._is_greedy = is_greedy
    self.num_unstable = 0

  def progress(
    self,
    num_tasks: int,
    seed: types.Seed,
    watch: Callable[[int, task_lib.State], None] | None = None,
  ) -> np.ndarray:
    """Returns the progress [T, B] on fresh tasks of the target distribution.

    Args:
      num_tasks: how many tasks (B).
      seed: of tasks, worlds and actions.
      watch: see `host_rollout.Worlds.play`.
    """
    draw, run, choose = randomness.split(seed, 3)

    def act(
      begin: int,
      seen: task_lib.Observations,
      past: tuple[int, tf.Tensor] | None,
    ) -> tuple[np.ndarray, Any]:
      actor = seen.actor
      shape = [*actor.own.shape[:2], self._memory_size]
      step, memory = past or (0, tf.zeros(shape))
      found = self._exported(
        own=tf.constant(actor.own),
        memory=memory,
        seed=randomness.fold(choose, step, begin),
        greedy=tf.constant(self._is_greedy),
        **{kind: tf.constant(x) for kind, x in actor.entities.items()},
      )
      return found['action'].numpy(), (step + 1, found['memory'])

    phi = self._env.task_space.sample_target(num_tasks, draw).numpy()
    worlds = host_rollout.Worlds(self._env.task)
    progress = host_rollout.perform(act, worlds, phi, run, watch)
    self.num_unstable += worlds.num_unstable
    return progress

  def frames(self, num_tasks: int, seed: types.Seed) -> list[rendering.Frame]:
    """Returns a film of fresh tasks side by side, a frame each step."""
    groups: dict[int, list[task_lib.State]] = {}

    def watch(group: int, state: task_lib.State) -> None:
      groups.setdefault(group, []).append(state)

    self.progress(num_tasks, seed, watch)
    states = [_joined(step) for step in zip(*groups.values(), strict=True)]
    shot = film.shoot(self._env.task, states)
    return [rendering.tile(pictures) for pictures in shot.frames]


def _joined(states: Sequence[task_lib.State]) -> task_lib.State:
  """Returns the state of all worlds, given those of groups at one time."""
  return states[0]._replace(
    **{
      name: np.concatenate([getattr(state, name) for state in states])
      for name in task_lib.State._fields
      if name != 'step'
    }
  )
