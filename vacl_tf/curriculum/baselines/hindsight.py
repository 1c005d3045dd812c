# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Hindsight tasks: the start of an episode, with goals where it ended.

After Andrychowicz et al., "Hindsight Experience Replay", 2017. The authors
relabel transitions, which on-policy learning can't do; here the relabelled task
is played anew. By construction it can be solved, and it lies where the policy
gets to, which noise on tasks does not take into account.

Half of a batch is hindsight tasks: those made from the latest batch, and
earlier ones of medium value. The rest are target tasks; with `knows_easy` every
second task of the rest is an easy task instead.
"""

from collections.abc import Mapping

import numpy as np

from vacl_tf.curriculum import base
from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import task_lists

# Origins of the tasks of a batch that are not from `kept`.
_NEW = -1
_OTHER = -2


class Hindsight(python_curriculum.Chooser):
  """Keeps new hindsight tasks, and earlier ones to play again."""

  feedback = ('final_task',)

  def __init__(
    self,
    tasks: python_curriculum.Tasks,
    cfg: configs.HindsightConfig,
    rng: np.random.Generator,
  ) -> None:
    """Initialises the curriculum.

    Raises:
      base.UnsuitableError: the task does not say which entities are goals.
    """
    del rng
    base.check_goals(tasks.goals)
    self._tasks, self._cfg = tasks, cfg
    movers = [mover for mover, _ in tasks.goals]
    self._is_of_mover = np.isin(tasks.entity_of_dim, movers)  # [D]
    # [B] for the latest batch: a task's row in `kept`, or _NEW or _OTHER.
    self._origin = np.zeros([0], np.int64)
    empty = np.zeros([cfg.capacity, tasks.num_dims], np.float32)
    self.state = {
      'new': empty,
      'num_new': np.array(0),
      'kept': empty.copy(),  # The oldest task first.
      'num_kept': np.array(0),
    }

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns hindsight tasks, half of them new, and other tasks."""
    kept = task_lists.rows_of(self.state, 'kept')
    new = task_lists.rows_of(self.state, 'new')
    wanted = round(self._cfg.share * num_tasks)
    again = rng.permutation(len(kept))[: wanted // 2]
    fresh = rng.permutation(len(new))[: wanted - len(again)]
    num_others = num_tasks - len(again) - len(fresh)
    num_easy = num_others // 2 if self._cfg.knows_easy else 0
    rows = np.concatenate(
      [
        kept[again],
        new[fresh],
        self._tasks.easy(num_easy, rng),
        self._tasks.target(num_others - num_easy, rng),
      ]
    )
    counts = [len(fresh), num_others]
    origin = np.concatenate([again, np.repeat([_NEW, _OTHER], counts)])
    order = rng.permutation(num_tasks)
    self._origin = origin[order]
    return rows[order]

  def update(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> dict[str, float]:
    """Makes hindsight tasks of unsolved ones; keeps tasks to play again."""
    cfg, state, value = self._cfg, self.state, told['value']
    origin = self._origin
    is_made = origin != _OTHER
    is_good = is_made & (value >= cfg.least) & (value <= cfg.most)
    kept = task_lists.rows_of(state, 'kept')
    left = np.delete(kept, origin[origin >= 0], 0)  # Those not played now.
    task_lists.store(state, 'kept', np.concatenate([left, tasks[is_good]]))
    # Left out: a solved task, which is its own hindsight task, and an episode
    # in which no mover moved, whose hindsight task is solved from the start.
    final = told['final_task']
    has_moved = (tasks != final)[:, self._is_of_mover].any(1)
    new = self._tasks.hindsight(tasks, final)[has_moved & (value <= cfg.most)]
    new = new[self._tasks.feasible(new).all(1)]
    task_lists.store(state, 'new', new)
    return {
      'hindsight_value': value[is_made].mean() if is_made.any() else 0.0,
      'new_tasks': len(new),
      'kept_tasks': float(state['num_kept']),
    }
