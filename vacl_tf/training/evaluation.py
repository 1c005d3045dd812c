# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Greedy evaluation, and what may be said from it."""

import math
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.training import rollout


class Estimate(NamedTuple):
  """A mean over tasks with its 95 % interval."""

  mean: float
  low: float
  high: float

  def __str__(self) -> str:
    return f'{self.mean:.4f} [{self.low:.4f}, {self.high:.4f}]'


def estimate(samples: np.ndarray) -> Estimate:
  """Returns the mean of samples [N] in [0, 1], N > 1, and its interval.

  The interval is over tasks; it says nothing about other training seeds.
  """
  mean = float(np.mean(samples))
  error = 1.96 * float(np.std(samples, ddof=1)) / math.sqrt(len(samples))
  return Estimate(mean, max(mean - error, 0.0), min(mean + error, 1.0))


def evaluate(
  act: rollout.Act,
  env: base.Environment,
  num_tasks: int,
  seed: types.Seed,
) -> tuple[tf.Tensor, tf.Tensor]:
  """Returns value [B] and success [B] on tasks of the target distribution."""
  draw, run = randomness.split(seed, 2)
  phi = env.task_space.sample_target(num_tasks, draw)
  _, progress = rollout.play(act, env, phi, run)
  return rollout.task_value(progress), rollout.is_success(progress)


def greedily(logits: rollout.Logits) -> rollout.Act:
  """Returns the policy that takes the likeliest action."""
  return lambda observations, _: tuple(
    map(rollout.greedy, logits(observations))
  )
