# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Reverse curriculum generation, the paper's strongest baseline.

Florensa et al., "Reverse Curriculum Generation for Reinforcement Learning",
2017, as the authors of VACL ran it. A batch is children of those tasks of the
latest batch that have a medium score, and some earlier tasks of this kind.
These settings bring it closer to the original: success as the score,
`pool_distance` and `falls_back`. The original makes children by random actions;
here they are made by noise that keeps tasks feasible.
"""

from collections.abc import Mapping

import numpy as np
from scipy import spatial

from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import task_lists

_WIDE = 10.0  # Factor on the noise if no task was hard enough.


class Reverse(python_curriculum.Chooser):
  """A pool of earlier seeds, and the seeds of the latest batch."""

  def __init__(
    self,
    tasks: python_curriculum.Tasks,
    cfg: configs.ReverseConfig,
    rng: np.random.Generator,
  ) -> None:
    self._tasks, self._cfg = tasks, cfg
    self.feedback = ('success',) if cfg.score == 'success' else ()
    empty = np.zeros([cfg.capacity, tasks.num_dims], np.float32)
    self.state = {
      'pool': empty,  # The oldest task first.
      'num_pool': np.array(0),
      'seeds': empty,
      'num_seeds': np.array(0),
      'noise': np.array(cfg.noise),  # For the next children.
    }
    num_easy = min(cfg.num_easy_tasks, cfg.capacity)
    task_lists.store(self.state, 'pool', tasks.easy(num_easy, rng))

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns children of the seeds, and tasks of the pool.

    Without any seed, all tasks are from the pool. No task is drawn twice while
    there are others left.
    """
    pool = task_lists.rows_of(self.state, 'pool')
    seeds = task_lists.rows_of(self.state, 'seeds')
    num_new = round(self._cfg.new_share * num_tasks) if len(seeds) else 0
    old = pool[_choice(len(pool), num_tasks - num_new, rng)]
    if not num_new:
      return old
    parents = seeds[_choice(len(seeds), num_new, rng)]
    children = self._tasks.perturbed(
      parents, float(self.state['noise']), rng, self._cfg.noise_probability
    )
    return np.concatenate([children, old])

  def update(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> dict[str, float]:
    """Makes seeds of the tasks with a good score, and adds them to the pool."""
    cfg, state, score = self._cfg, self.state, told[self._cfg.score]
    is_good = (score >= cfg.least) & (score <= cfg.most)
    seeds, noise = tasks[is_good], cfg.noise
    pool = task_lists.rows_of(state, 'pool')
    added = self._far(seeds, pool)
    task_lists.store(state, 'pool', np.concatenate([pool, added]))
    pool = task_lists.rows_of(state, 'pool')  # Without those that left.
    if cfg.falls_back and not len(seeds):
      if np.mean(score < cfg.least) > 0.5:
        seeds = pool
      else:
        seeds, noise = tasks, _WIDE * noise
    task_lists.store(state, 'seeds', seeds[: cfg.capacity])
    state['noise'] = np.array(noise)
    return {'pool_tasks': len(pool), 'seed_tasks': is_good.sum()}

  def _far(self, tasks: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """Returns the tasks that are far from the pool and from each other."""
    least = self._cfg.pool_distance
    if not least or not len(tasks):
      return tasks
    ours, theirs = map(self._tasks.canonical, (tasks, pool))
    is_far = (spatial.distance.cdist(ours, theirs) > least).all(1)
    apart = spatial.distance.cdist(ours, ours) > least
    for row in np.flatnonzero(is_far):
      is_far[row] = apart[row, :row][is_far[:row]].all()
    return tasks[is_far]


def _choice(size: int, number: int, rng: np.random.Generator) -> np.ndarray:
  """Returns `number` indices below size, in passes of random order.

  Each pass visits all indices, but the last may be cut short, so that any index
  occurs as often as any other, or once more or less.
  """
  passes = -(-number // size)
  order = [rng.permutation(size) for _ in range(passes)]
  return np.concatenate([*order, np.zeros([0], np.int64)])[:number].astype(int)
