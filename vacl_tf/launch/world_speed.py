# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The speed of worlds without training, with random actions."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base

# Number of worlds, by whether they run in a graph; largest number of steps.
_WORLDS, _STEPS = {True: 500, False: 100}, 70


def ready(result: Any) -> None:
  """Waits until a result has been computed."""
  tf.nest.map_structure(lambda x: x.numpy(), tf.nest.flatten(result))


def timed(function: Callable[[], Any], repeats: int) -> tuple[float, float]:
  """Returns the seconds of the first call, and of the fastest later one."""
  seconds = []
  for _ in range(repeats + 1):
    began = time.perf_counter()
    ready(function())
    seconds.append(time.perf_counter() - began)
  return seconds[0], min(seconds[1:])


def env_only(
  env_name: str,
  num_agents: int | None = None,
  num_worlds: int = _WORLDS[True],
  num_steps: int = _STEPS,
  repeats: int = 20,
) -> float:
  """Returns steps per second of a world with random actions.

  All observations, rewards and progress enter a checksum, so that nothing is
  compiled away; actions are drawn inside the timed region.
  """
  env = environments.load(env_name, num_agents)
  return _steps_in_graph(env, num_worlds, num_steps, repeats)


def _steps_in_graph(
  env: base.Environment, num_worlds: int, num_steps: int, repeats: int
) -> float:
  """Returns steps per second of worlds in a graph; see `env_only`."""
  phi = env.task_space.sample_uniform(num_worlds, randomness.root(0))

  @tf.function(jit_compile=True)
  def episode(seed: types.Seed) -> tf.Tensor:
    actions = [
      _random_actions(role, [num_steps, num_worlds], seed, index)
      for index, role in enumerate(env.roles)
    ]

    def step(t: tf.Tensor, state: types.State, checksum: tf.Tensor) -> tuple:
      state = env.step(state, tuple(action[t] for action in actions))
      seen = (env.observe(state), env.reward(state), env.progress(state))
      sums = [
        tf.reduce_sum(tf.cast(x, tf.float32)) for x in tf.nest.flatten(seen)
      ]
      return t + 1, state, checksum + tf.add_n(sums)

    start = (tf.constant(0), env.place(phi, seed), tf.constant(0.0))
    return tf.while_loop(lambda t, *_: t < num_steps, step, start)[2]

  _, best = timed(lambda: episode(randomness.root(1)), repeats)
  return num_worlds * num_steps / best


def _steps_on_host(
  env: base.World, num_worlds: int, num_steps: int, repeats: int
) -> float:
  """Returns steps per second of a simulator with random actions."""
  phi = env.task_space.sample_uniform(num_worlds, randomness.root(0)).numpy()
  actions = [
    _random_actions(role, [num_steps, num_worlds], randomness.root(1), index)
    for index, role in enumerate(env.roles)
  ]
  actions = [action.numpy() for action in actions]
  simulator = env.make_simulator(num_worlds)

  def episode() -> tuple[()]:
    simulator.place(phi, (1,))
    for t in range(num_steps):
      simulator.step(tuple(action[t] for action in actions))
      simulator.observe()
    return ()

  _, best = timed(episode, repeats)
  simulator.close()
  return num_worlds * num_steps / best


def _random_actions(
  role: types.Role, shape: list[int], seed: types.Seed, index: int
) -> tf.Tensor:
  """Returns actions [*shape, n, ...] of a role, all equally likely."""
  spec = role.action
  is_integer = np.issubdtype(spec.dtype, np.integer)
  drawn = randomness.uniform(
    randomness.fold(seed, index),
    [*shape, role.num_agents, *spec.shape],
    np.asarray(spec.minimum, np.float32),
    np.asarray(spec.maximum, np.float32) + np.float32(is_integer),
  )
  return tf.cast(tf.floor(drawn) if is_integer else drawn, spec.dtype)


def figures(env: base.World, repeats: int) -> dict[str, float]:
  """Returns environment steps per second, and figures of `World.speed`."""
  if found := env.speed():
    return found
  steps = _steps_in_graph if env.is_in_graph else _steps_on_host
  num_worlds, num_steps = _WORLDS[env.is_in_graph], min(_STEPS, env.horizon)
  return {
    'env_steps_per_second': round(steps(env, num_worlds, num_steps, repeats))
  }
