# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measures `vacl_tf.client`: python -m vacl_tf.launch.client_speed.

Prints the milliseconds of a round of 120 tasks of the size of Simple-Spread's,
pipe included, once the sets of the curriculum are full: without and with a
feasibility function and, for comparison, for the same update in this process,
not compiled.
"""

import functools
import json
import time
from collections.abc import Callable

import numpy as np

from vacl_tf import client
from vacl_tf.launch import command_line
from vacl_tf.launch import curriculum_server

_NUM_TASKS = 120
_NUM_DIMS = 16  # Positions of four agents and four landmarks.
_CORNER = np.ones([_NUM_DIMS])
_WARM_ROUNDS = 80  # They fill both sets of task expansion.
_SOLVED_SHARE = 0.3  # Share of solved tasks, as in `benchmark`.
_REACH = 1.8  # Largest squared distance from the origin: cuts off the corners.
_SEED = 0

# Plays a round with these values; returns the seconds of sample and update.
Round = Callable[[np.ndarray], tuple[float, float]]


def measure(
  rounds: int, warm_rounds: int = _WARM_ROUNDS
) -> dict[str, dict[str, float]]:
  """Returns milliseconds by curriculum: medians, and the fastest update.

  Args:
    rounds: number of timed rounds of each curriculum.
    warm_rounds: number of rounds before those.
  """
  make = functools.partial(
    client.Curriculum,
    *('vacl', -_CORNER, _CORNER),
    easy=_easy,
    entity_size=2,
    num_tasks=_NUM_TASKS,
    seed=_SEED,
  )
  with make() as box, make(feasible=_feasible) as asking:
    kinds = {
      'box': _of_client(box),
      'feasible': _of_client(asking),
      'eager': _eager(),
    }
    rng = np.random.default_rng(_SEED)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in kinds}
    for _ in range(warm_rounds + rounds):
      values = (rng.uniform(size=_NUM_TASKS) < _SOLVED_SHARE).astype(np.float32)
      # They take turns, so that other load on the machine slows all of them.
      for name, play in kinds.items():
        times[name].append(play(values))
  return {name: _summary(found[warm_rounds:]) for name, found in times.items()}


def _summary(times: list[tuple[float, float]]) -> dict[str, float]:
  sample, update = 1000.0 * np.median(times, 0)
  least = 1000.0 * np.min(times, 0)[1]
  found = {'sample_ms': sample, 'update_ms': update, 'least_update_ms': least}
  return {name: round(float(x), 2) for name, x in found.items()}


def _easy(num_tasks: int, rng: np.random.Generator) -> np.ndarray:
  return rng.uniform(-0.1, 0.1, [num_tasks, _NUM_DIMS])


def _feasible(tasks: np.ndarray) -> np.ndarray:
  points = tasks.reshape([len(tasks), -1, 2])
  return (points**2).sum(-1) < _REACH


def _of_client(curriculum: client.Curriculum) -> Round:
  def play(values: np.ndarray) -> tuple[float, float]:
    began = time.perf_counter()
    tasks = curriculum.sample(_NUM_TASKS)
    sampled = time.perf_counter()
    curriculum.update(tasks, values)
    return sampled - began, time.perf_counter() - sampled

  return play


def _eager() -> Round:
  """Returns a round of the same curriculum in this process, not compiled."""
  import tensorflow as tf

  from vacl_tf import randomness
  from vacl_tf import types
  from vacl_tf.curriculum import base
  from vacl_tf.curriculum import task_expansion
  from vacl_tf.launch import curriculum_space

  easy = _easy(1000, np.random.default_rng(_SEED)).astype(np.float32)
  curriculum = task_expansion.TaskExpansion(
    base.Setting(
      cfg=curriculum_server.make_config('vacl', _NUM_TASKS, _SEED, {}),
      space=curriculum_space.TrainerSpace(-_CORNER, _CORNER, 2, easy, None),
      num_tasks=_NUM_TASKS,
      most_tasks=_NUM_TASKS,
      seed=randomness.root(_SEED),
    )
  )
  steps = iter(range(10**9))

  def play(values: np.ndarray) -> tuple[float, float]:
    seed = randomness.root(next(steps))
    began = time.perf_counter()
    batches = curriculum.sample(_NUM_TASKS, seed)
    sampled = time.perf_counter()
    told = types.TaskFeedback(tf.constant(values))
    metrics = curriculum.update(
      batches, (told,), tf.constant([float('nan')]), seed
    )
    metrics['solved_spread'].numpy()
    return sampled - began, time.perf_counter() - sampled

  return play


def main() -> None:
  """Prints the figures as JSON."""
  print(json.dumps(measure(rounds=100), indent=2))


if __name__ == '__main__':
  command_line.start(main, is_printer=True)
