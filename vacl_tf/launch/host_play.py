# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Exported policies at play in hide-and-seek: scores and pictures."""

from collections.abc import Callable
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


def progress(
  exported: saving.Exported,
  env: training_view.HideAndSeek,
  num_tasks: int,
  seed: types.Seed,
  memory_size: int,
  is_greedy: bool,
  watch: Callable[[int, task_lib.State], None] | None = None,
) -> np.ndarray:
  """Returns the progress [T, B] on fresh tasks of the target distribution.

  Args:
    exported: `act` of an exported policy.
    env: the world.
    num_tasks: how many tasks (B).
    seed: of tasks, worlds and actions.
    memory_size: numbers that an agent remembers (H).
    is_greedy: whether to take the likeliest actions.
    watch: see `host_rollout.Worlds.play`.
  """
  draw, run, choose = randomness.split(seed, 3)

  def act(
    begin: int,
    seen: task_lib.Observations,
    past: tuple[int, tf.Tensor] | None,
  ) -> tuple[np.ndarray, Any]:
    own = seen.actor.own
    step, memory = past or (0, tf.zeros([*own.shape[:2], memory_size]))
    found = exported(
      own=tf.constant(own),
      memory=memory,
      seed=randomness.fold(choose, step, begin),
      greedy=tf.constant(is_greedy),
      **{k: tf.constant(v) for k, v in seen.actor.entities.items()},
    )
    return found['action'].numpy(), (step + 1, found['memory'])

  phi = env.task_space.sample_target(num_tasks, draw).numpy()
  return host_rollout.perform(
    act, host_rollout.Worlds(env.task), phi, run, watch
  )


def frames(
  exported: saving.Exported,
  env: training_view.HideAndSeek,
  num_tasks: int,
  seed: types.Seed,
  memory_size: int,
  is_greedy: bool,
) -> list[rendering.Frame]:
  """Returns a film of fresh tasks side by side, a frame each step.

  For the arguments see `progress`.
  """
  groups: dict[int, list[task_lib.State]] = {}

  def watch(group: int, state: task_lib.State) -> None:
    groups.setdefault(group, []).append(state)

  progress(exported, env, num_tasks, seed, memory_size, is_greedy, watch)
  films = [film.shoot(env.task, states).frames for states in groups.values()]
  return [
    rendering.tile([picture for worlds in step for picture in worlds])
    for step in zip(*films, strict=True)
  ]
