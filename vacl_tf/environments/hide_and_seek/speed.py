# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of an environment step relative to its physics."""

import time
from collections.abc import Callable

import mujoco
import numpy as np
from mujoco import batch

from vacl_tf.environments.hide_and_seek import arena
from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.environments.hide_and_seek import task as task_lib


def measure(
  task: task_lib.Task,
  num_worlds: int = 300,
  threads: int = 0,
  num_steps: int = 40,
  seed: int = 0,
) -> dict[str, float]:
  """Times whole environment steps and, separately, only their physics.

  Each step is played twice: as a whole (rules, visibility, physics,
  observations, reward), and in a second batch of simulations as physics only,
  with the same controls and constraints. Both must end in the same state, bit
  for bit. Motors are random, and all agents always lock and pull.

  Args:
    task: the task; half of the task vectors are easy, half uniform.
    num_worlds: number of worlds (B).
    threads: see `environment.HideAndSeekWorlds`.
    num_steps: measured steps, after half as many for warming up.
    seed: seed of tasks and actions.

  Returns:
    Microseconds per world of a whole step and of only its physics (wall time,
    and CPU time summed over threads), their ratios, contacts and constraint
    rows per world, and the shares of agents that hold an object and of objects
    that are locked.

  Raises:
    RuntimeError: the separate physics ended in another state.
  """
  rng = np.random.default_rng(seed)
  easy = task.sample_easy(num_worlds // 2, rng)
  uniform = task.sample_uniform(num_worlds - len(easy), rng)
  worlds, bare = (
    environment.HideAndSeekWorlds(task, num_worlds, threads) for _ in range(2)
  )
  for each in (worlds, bare):
    each.place(np.concatenate([easy, uniform]), seed)
  contacts, rows = worlds.physics.bind('ncon'), worlds.physics.bind('nefc')
  seconds, events = [], []
  for step in range(-num_steps // 2, num_steps):
    actions = _random_actions(task, num_worlds, rng)
    times = _step_both(worlds, bare.physics, actions)
    if step >= 0:
      seconds.append(times)
      events.append([contacts.mean(), rows.mean(), *_busy(worlds.state)])
  mean_us = 1e6 * np.mean(seconds, 0) / num_worlds
  return _figures(mean_us, np.mean(events, 0))


def _figures(mean_us: np.ndarray, events: np.ndarray) -> dict[str, float]:
  """Returns the results of `measure` from mean times [4] and events [4]."""
  wall, cpu, bare_wall, bare_cpu = mean_us.tolist()
  names = ('contacts', 'constraint_rows', 'holding', 'locked')
  return {
    'step_us': wall,
    'step_cpu_us': cpu,
    'physics_us': bare_wall,
    'physics_cpu_us': bare_cpu,
    'ratio': wall / bare_wall,
    'cpu_ratio': cpu / bare_cpu,
    **dict(zip(names, events.tolist(), strict=True)),
  }


def _busy(state: task_lib.State) -> tuple[float, float]:
  """Returns the shares of holding agents and of locked objects."""
  return np.mean(state.held != mechanics.NOTHING), state.is_locked.mean()


def _random_actions(
  task: task_lib.Task, num_worlds: int, rng: np.random.Generator
) -> np.ndarray:
  """Returns actions [B, n, 5] with random motors that lock and pull."""
  shape = [num_worlds, len(task.actors)]
  actions = [rng.integers(0, choices, shape) for choices in mechanics.HEADS]
  actions[mechanics.LOCK][:] = actions[mechanics.PULL][:] = 1
  return np.stack(actions, -1)


def _step_both(
  worlds: environment.HideAndSeekWorlds,
  bare: batch.Batch,
  actions: np.ndarray,
) -> tuple[float, ...]:
  """Returns wall and CPU seconds of a whole step, then of its physics."""
  physics = worlds.physics

  def play() -> None:
    worlds.step(actions)
    worlds.observe()

  num_unstable = worlds.num_unstable
  whole = _timed(play)
  # The step has set these fields, and they keep their values until the next.
  for name in ('ctrl', 'eq_active'):
    bare.bind(name)[:] = physics.bind(name)
  for name in ('eq_data', 'jnt_limited', 'jnt_range'):
    bare.expand(name)[:] = physics.expand(name)
  alone = _timed(lambda: bare.step(nstep=arena.NUM_SUBSTEPS))
  differs = np.flatnonzero((bare.state != physics.state).any(1))
  if differs.size and worlds.num_unstable == num_unstable:
    raise RuntimeError('the same physics ended in another state')
  # Worlds that diverged were reset.
  bare.reset(differs, stage=mujoco.mjtStage.mjSTAGE_NONE.value)
  bare.state[differs] = physics.state[differs]
  return *whole, *alone


def _timed(function: Callable[[], None]) -> tuple[float, float]:
  wall, cpu = time.perf_counter(), time.process_time()
  function()
  return time.perf_counter() - wall, time.process_time() - cpu
