# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What an environment step costs beside the physics in it."""

import time
from collections.abc import Callable

import numpy as np

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
  """Plays the middle of an episode, each step's physics twice, and compares.

  Every step is played whole (rules, sight, physics, observations, reward), and
  then its physics alone from the same state, constraints and controls, which
  must end in the same state bit for bit. Motors are random, and everybody
  always wants to lock and to pull.

  Args:
    task: what to play, from tasks that are half easy, half uniform.
    num_worlds: side by side (B).
    threads: of the physics; see `environment.HideAndSeekWorlds`.
    num_steps: measured, after half as many to get going.
    seed: of tasks and actions.

  Returns:
    Microseconds of one world's step as a whole and of its physics alone (wall
    time and, with the threads added up, CPU time), their ratios, and what went
    on: contacts and constraint rows of a world, the shares of agents that hold
    something and of objects that are locked.

  Raises:
    RuntimeError: the physics alone ended somewhere else.
  """
  rng = np.random.default_rng(seed)
  easy = task.sample_easy(num_worlds // 2, rng)
  uniform = task.sample_uniform(num_worlds - len(easy), rng)
  worlds = environment.HideAndSeekWorlds(task, num_worlds, threads)
  contacts, rows = worlds.physics.bind('ncon'), worlds.physics.bind('nefc')
  worlds.place(np.concatenate([easy, uniform]), seed)
  seconds, events = [], []
  for step in range(-num_steps // 2, num_steps):
    times = _step_twice(worlds, _random_actions(task, num_worlds, rng))
    if step >= 0:
      seconds.append(times)
      state = worlds.state
      is_held = state.held != mechanics.NOTHING
      shares = is_held.mean(), state.is_locked.mean()
      events.append([contacts.mean(), rows.mean(), *shares])
  mean_us = 1e6 * np.mean(seconds, 0) / num_worlds
  wall, cpu, bare_wall, bare_cpu = mean_us.tolist()
  names = ('contacts', 'constraint_rows', 'holding', 'locked')
  return {
    'step_us': wall,
    'step_cpu_us': cpu,
    'physics_us': bare_wall,
    'physics_cpu_us': bare_cpu,
    'ratio': wall / bare_wall,
    'cpu_ratio': cpu / bare_cpu,
    **dict(zip(names, np.mean(events, 0).tolist(), strict=True)),
  }


def _random_actions(
  task: task_lib.Task, num_worlds: int, rng: np.random.Generator
) -> np.ndarray:
  """Returns actions [B, n, 5] with random motors that lock and pull."""
  shape = [num_worlds, len(task.actors)]
  actions = [rng.integers(0, choices, shape) for choices in mechanics.HEADS]
  actions[mechanics.LOCK][:] = actions[mechanics.PULL][:] = 1
  return np.stack(actions, -1)


def _step_twice(
  worlds: environment.HideAndSeekWorlds, actions: np.ndarray
) -> tuple[float, ...]:
  """Returns wall and CPU seconds of a whole step, then of its physics."""
  physics = worlds.physics
  moving = ('time', 'qpos', 'qvel', 'qacc_warmstart')
  before = {name: physics.bind(name).copy() for name in moving}

  def play() -> None:
    worlds.step(actions)
    worlds.observe()

  num_unstable = worlds.num_unstable
  whole = _timed(play)
  after = physics.state.copy()
  # Controls, welds and limits are still what this step has set.
  for name, value in before.items():
    physics.bind(name)[:] = value
  bare = _timed(lambda: physics.step(nstep=arena.NUM_SUBSTEPS))
  if worlds.num_unstable > num_unstable:
    physics.state[:] = after  # Some have been placed again.
  elif not np.array_equal(physics.state, after):
    raise RuntimeError('the same physics from the same state ended elsewhere')
  return *whole, *bare


def _timed(function: Callable[[], None]) -> tuple[float, float]:
  wall, cpu = time.perf_counter(), time.process_time()
  function()
  return time.perf_counter() - wall, time.process_time() - cpu
