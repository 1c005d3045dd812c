# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tells whether a world or the policy was the first that was not finite."""

from typing import Any

import tensorflow as tf

from vacl_tf import types
from vacl_tf.environments import base


def in_observations(
  env: base.World, trajectory: types.Trajectory, num_worlds: int
) -> str:
  """Returns where a roll-out's observations were not finite.

  Args:
    env: the world.
    trajectory: one episode of each task.
    num_worlds: number of its worlds that count.

  Returns:
    The first number and its place, in words; '' if there is none, or if the
    policy was not finite before.
  """
  acted = (trajectory.log_prob, trajectory.action)
  num_steps = trajectory.progress.shape[0]
  for step in range(num_steps + 1):
    seen = env.observe(_at(step, trajectory.state, num_worlds))
    for role, observation in zip(env.roles, seen, strict=True):
      numbers = {'own': observation.own, **observation.entities}
      if not isinstance(observation.critic_own, tuple):
        numbers['critic_own'] = observation.critic_own
      for name, x in numbers.items():
        if wrong := _wrong(x):
          return f'{wrong[0]} in {name} of role {role.name} after {step} steps'
    if step < num_steps:
      if any(map(_wrong, tf.nest.flatten(_at(step, acted, num_worlds)))):
        return ''
  return ''


def _at(step: int, tree: Any, num_worlds: int) -> Any:
  return tf.nest.map_structure(lambda x: x[step, :num_worlds], tree)


def _wrong(x: tf.Tensor) -> list[float]:
  """Returns the numbers that are not finite."""
  if not x.dtype.is_floating:
    return []
  return x[~tf.math.is_finite(x)].numpy().tolist()
