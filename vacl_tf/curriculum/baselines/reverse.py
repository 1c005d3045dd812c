# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reverse curriculum generation, the paper's strongest baseline.

Florensa et al., "Reverse Curriculum Generation for Reinforcement Learning",
2017, as the authors of VACL ran it. A batch is children of the tasks of the
latest batch that went neither badly nor well, and some earlier ones of that
sort. docs/reproduction.md says how their version differs from the original.
"""

from collections.abc import Mapping

import numpy as np

from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import configs


class Reverse(python_curriculum.Chooser):
  """A pool of tasks that were good once, and the seeds of the latest batch."""

  def __init__(
    self,
    tasks: python_curriculum.Tasks,
    cfg: configs.ReverseConfig,
    rng: np.random.Generator,
  ) -> None:
    self._tasks, self._cfg = tasks, cfg
    self.feedback = ('success',) if cfg.score == 'success' else ()
    empty = np.zeros([cfg.capacity, tasks.num_dims], np.float32)
    num_easy = min(cfg.num_easy_tasks, cfg.capacity)
    pool = empty.copy()
    pool[:num_easy] = tasks.easy(num_easy, rng)
    self.state = {
      'pool': pool,  # The oldest task first.
      'num_pool': np.array(num_easy),
      'seeds': empty,
      'num_seeds': np.array(0),
    }

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns children of the seeds, and tasks of the pool.

    Without any seed all tasks are of the pool. Tasks are not drawn twice while
    there are others.
    """
    pool = self.state['pool'][: self.state['num_pool']]
    seeds = self.state['seeds'][: self.state['num_seeds']]
    num_new = round(self._cfg.new_share * num_tasks) if len(seeds) else 0
    old = pool[_choice(len(pool), num_tasks - num_new, rng)]
    if not num_new:
      return old
    parents = seeds[_choice(len(seeds), num_new, rng)]
    return np.concatenate(
      [self._tasks.perturbed(parents, self._cfg.half_width, rng), old]
    )

  def update(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> dict[str, float]:
    """Makes seeds of the tasks with a good score, and adds them to the pool."""
    score = told[self._cfg.score]
    is_good = (score >= self._cfg.least) & (score <= self._cfg.most)
    good = tasks[is_good][: self._cfg.capacity]
    pool = self.state['pool'][: self.state['num_pool']]
    pool = np.concatenate([pool, good])[-self._cfg.capacity :]
    self._write('pool', pool)
    self._write('seeds', good)
    return {'pool_tasks': len(pool), 'seed_tasks': len(good)}

  def _write(self, name: str, rows: np.ndarray) -> None:
    self.state[name][: len(rows)] = rows
    self.state[f'num_{name}'] = np.array(len(rows))


def _choice(size: int, number: int, rng: np.random.Generator) -> np.ndarray:
  """Returns numbers below size, each as often as any other, give or take one.

  So the children of seeds come in whole passes over them, in random order.
  """
  passes = -(-number // size)
  order = [rng.permutation(size) for _ in range(passes)]
  return np.concatenate([*order, np.zeros([0], np.int64)])[:number].astype(int)
