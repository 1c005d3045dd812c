# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A learner without networks, which curricula in NumPy teach in a second.

The learner solves tasks that are small enough, and solves slightly larger ones
in part. Practice with tasks that it solves in part lets it solve larger ones.
"""

import numpy as np
import tensorflow as tf

from vacl_tf import types
from vacl_tf.curriculum import python_curriculum
from vacl_tf.environments import task_space

HALF_WIDTH = 3.0
_NUM_TASKS = 40
_FIRST_RADIUS = 0.2  # Easy tasks are smaller; few other tasks are.
_STEP = 0.05


class SquareSpace(task_space.BoxTaskSpace):
  """Two interchangeable points on a square; easy tasks are in its middle."""

  alike = ((0, 1),)
  goals = ((0, 0), (1, 1))  # Only the positions of the points count.

  def __init__(self) -> None:
    corner = np.full([2, 1, 2], HALF_WIDTH)
    super().__init__(-corner, corner, num_agents=2)

  def sample_easy(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    return 0.05 * self.sample_uniform(num_tasks, seed)


TASKS = python_curriculum.Tasks(SquareSpace())


class Uniform(python_curriculum.Chooser):
  """The baseline that a curriculum has to beat."""

  def __init__(self) -> None:
    self.state = {}

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    return TASKS.target(num_tasks, rng)

  def update(
    self, tasks: np.ndarray, told: dict[str, np.ndarray]
  ) -> dict[str, float]:
    return {}


def told_of(tasks: np.ndarray, radius: float) -> dict[str, np.ndarray]:
  """Returns all feedback on tasks [K, D] for a learner of this radius."""
  size = np.abs(tasks).max(-1)
  value = np.clip(1.5 - size / radius, 0.0, 1.0)
  found = dict.fromkeys(types.TaskFeedback._fields, value)
  unsure = value * (1.0 - value)
  found |= {
    'positive_advantage': unsure,
    'value_error': unsure,
    # Large tasks take longer.
    'success_time': np.where(value > 0.5, np.ceil(20.0 * size / radius), 0.0),
    # The task that the learner happened to solve. The factor 0.9 makes it one
    # that the learner solves more often than not.
    'final_task': tasks * np.minimum(0.9 * radius / size, 1.0)[:, None],
  }
  return found


def teach(
  chooser: python_curriculum.Chooser,
  num_rounds: int = 80,
  num_tasks: int = _NUM_TASKS,
) -> float:
  """Returns the radius of the learner after some rounds; at first it is 0.2."""
  rng, radius = np.random.default_rng(0), _FIRST_RADIUS
  can_probe = type(chooser).probe is not python_curriculum.Chooser.probe
  names = ('value', *chooser.feedback)

  def told(tasks: np.ndarray) -> dict[str, np.ndarray]:
    found = told_of(tasks, radius)
    return {name: found[name].astype(np.float32) for name in names}

  for _ in range(num_rounds):
    if can_probe:
      tasks = chooser.probe(num_tasks, rng)
      if len(tasks):
        chooser.note_probe(tasks, told(tasks))
    tasks = chooser.sample(num_tasks, rng).astype(np.float32)
    chooser.update(tasks, told(tasks))
    value = told_of(tasks, radius)['value']
    radius += _STEP * np.mean((value > 0.2) & (value < 0.9))
  return radius
