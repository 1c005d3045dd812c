# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Evaluation of policies, with confidence intervals."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.learning import microbatch
from vacl_tf.training import rollout

_Z = 1.96  # Half-width of a normal's 95 % interval, in standard deviations.


class Estimate(NamedTuple):
  """A mean over tasks with its 95 % interval."""

  mean: float
  low: float
  high: float

  def __str__(self) -> str:
    return f'{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]'


def estimate(samples: np.ndarray) -> Estimate:
  """Returns the mean of samples [N] in [0, 1], N > 1, and its interval.

  The interval accounts for the choice of tasks; it says nothing about other
  training seeds. If all samples are 0 or 1, it is Wilson's interval, which has
  a width even if all samples are equal.
  """
  num, mean = len(samples), float(np.mean(samples))
  centre, variance = mean, float(np.var(samples, ddof=1)) / num
  if np.isin(samples, (0.0, 1.0)).all():
    shrink = 1.0 + _Z * _Z / num
    centre = (mean + _Z * _Z / (2 * num)) / shrink
    variance = mean * (1.0 - mean) / num + (_Z / (2 * num)) ** 2
    variance /= shrink * shrink
  error = _Z * math.sqrt(variance)
  return Estimate(mean, max(centre - error, 0.0), min(centre + error, 1.0))


def evaluate(
  act: rollout.Act,
  env: base.Environment,
  num_tasks: int,
  seed: types.Seed,
  block: int | None = None,
  initial_memory: Callable[[int], types.Memory] = lambda num_worlds: (),
  phi: tf.Tensor | None = None,
) -> tf.Tensor:
  """Plays tasks of the target distribution.

  Args:
    act: the policy.
    env: the world.
    num_tasks: number of tasks (B).
    seed: seed of the tasks, their placement and the actions.
    block: number of worlds played together; None for all.
    initial_memory: returns the policy's initial memory for a number of worlds.
    phi: the tasks, if they have been drawn already; see `targets`.

  Returns:
    The progress [T, B] after each step, see `rollout.of_first_episode`.
  """
  _, run = randomness.split(seed, 2)
  block = min(block or num_tasks, num_tasks)
  if phi is None:
    phi = targets(env, num_tasks, seed, block)
  return play(act, env, phi, run, block, initial_memory)[:, :num_tasks]


def targets(
  env: base.Environment, num_tasks: int, seed: types.Seed, block: int
) -> tf.Tensor:
  """Returns the tasks [K, D] that `evaluate` plays, in full blocks."""
  draw, _ = randomness.split(seed, 2)
  block = min(block, num_tasks)
  return env.task_space.sample_target(-(-num_tasks // block) * block, draw)


def play(
  act: rollout.Act,
  env: base.Environment,
  phi: tf.Tensor,
  seed: types.Seed,
  block: int,
  initial_memory: Callable[[int], types.Memory] = lambda num_worlds: (),
) -> tf.Tensor:
  """Returns the progress [T, B] on tasks phi [B, D]; block divides B.

  The other arguments are those of `evaluate`.
  """

  def play_block(begin: tf.Tensor) -> tf.Tensor:
    mine = tf.slice(phi, [begin, 0], [block, phi.shape[1]])
    own_seed = randomness.fold(seed, begin)
    return rollout.play(act, env, mine, own_seed, initial_memory(block))[1]

  num_tasks = phi.shape[0]
  return microbatch.over_worlds(play_block, num_tasks, block, num_tasks)
