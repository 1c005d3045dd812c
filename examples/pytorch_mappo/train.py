# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch learner whose tasks VACL chooses: python train.py --seed=0.

Only `make_curriculum` and `train` deal with the curriculum.
"""

import argparse
import csv
import time

import mappo
import numpy as np
import world

from vacl_tf import client

_NUM_TASKS = 120
_EVALUATE_EVERY = 10


def easy_tasks(num_tasks: int, rng: np.random.Generator) -> np.ndarray:
  """Returns tasks whose landmarks are close together, with an agent by each."""
  found: list[np.ndarray] = []
  while len(found) < num_tasks:
    centre = rng.uniform(-2.0, 2.0, [2])
    marks = centre + rng.uniform(-0.5, 0.5, [world.NUM_AGENTS, 2])
    distances = np.linalg.norm(marks[:, None] - marks, axis=-1)
    if (distances + np.eye(world.NUM_AGENTS) > 0.3).all():
      near = rng.uniform(0.0, 0.2)  # From solved to almost solved.
      agents = marks + rng.uniform(-near, near, marks.shape)
      found.append(np.concatenate([agents, marks]).ravel())
  return np.array(found)


def make_curriculum(
  name: str, seed: int, python: str | None
) -> client.Curriculum:
  """Returns the curriculum; `python` is an interpreter with TensorFlow."""
  corner = np.full([world.TASK_SIZE], world.HALF_WIDTH)
  return client.Curriculum(
    name,
    -corner,
    corner,
    easy=easy_tasks,
    entity_size=2,
    seed=seed,
    num_tasks=_NUM_TASKS,
    python=python,
  )


def train(
  curriculum: client.Curriculum, seed: int, num_steps: int, path: str
) -> None:
  """Trains, and writes the evaluations to a CSV file."""
  learner = mappo.Mappo(_NUM_TASKS, seed)
  began, seconds = time.monotonic(), 0.0
  steps_of_round = _NUM_TASKS * world.HORIZON
  with open(path, 'w', newline='') as file:
    writer = csv.writer(file)
    writer.writerow(
      ['env_steps', 'coverage', 'training_value', 'seconds', 'curriculum_s']
    )
    for index in range(num_steps // steps_of_round + 1):
      if index % _EVALUATE_EVERY == 0:
        coverage = evaluate(learner, index)
      asked = time.monotonic()
      tasks = curriculum.sample(_NUM_TASKS)
      seconds += time.monotonic() - asked
      values = learner.play(tasks)
      if index % _EVALUATE_EVERY == 0:
        row = [coverage, values.mean(), time.monotonic() - began, seconds]
        writer.writerow([index * steps_of_round, *(f'{x:.4f}' for x in row)])
        file.flush()
      learner.learn()
      asked = time.monotonic()
      curriculum.update(tasks, values)
      seconds += time.monotonic() - asked


def evaluate(learner: mappo.Mappo, index: int) -> float:
  """Returns the coverage of the greedy policy on fresh uniform tasks."""
  rng = np.random.default_rng([index, 1])
  tasks = rng.uniform(
    -world.HALF_WIDTH, world.HALF_WIDTH, [_NUM_TASKS, world.TASK_SIZE]
  )
  return float(learner.play(tasks, is_greedy=True).mean())


def main() -> None:
  """Trains as the command line says."""
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument('--curriculum', default='vacl')
  parser.add_argument('--seed', type=int, default=0)
  parser.add_argument('--num_steps', type=int, default=504_000)
  parser.add_argument('--out', default='run.csv', help='CSV file to write.')
  parser.add_argument('--python', help='Interpreter that has TensorFlow.')
  given = parser.parse_args()
  try:
    curriculum = make_curriculum(given.curriculum, given.seed, given.python)
  except (ValueError, client.StoppedError) as error:
    parser.error(str(error))
  with curriculum:
    train(curriculum, given.seed, given.num_steps, given.out)


if __name__ == '__main__':
  main()
