# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""ALP-GMM: tasks where learning makes progress.

Portelas et al., "Teacher algorithms for curriculum learning of Deep RL in
continuously parameterized environments", CoRL 2019. The absolute learning
progress of an episode is how much its value differs from that of the nearest
earlier task. A mixture of Gaussians is fitted to tasks and their progress. A
component is drawn in proportion to its mean progress, and a task from this
component.

Tasks have more dimensions here than in the source, so covariances are diagonal,
the number of components is fixed, and a fit sees 2000 episodes instead of 250.
Tasks are in canonical order. With `knows_easy`, which is not in the source, the
first tasks are easy, and so is every second random task.
"""

from collections.abc import Mapping

import numpy as np

from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import mixture
from vacl_tf.curriculum.baselines import neighbours
from vacl_tf.curriculum.baselines import task_lists


class AlpGmm(python_curriculum.Chooser):
  """Keeps the latest tasks with their progress, and fits a mixture to them."""

  def __init__(
    self,
    tasks: python_curriculum.Tasks,
    cfg: configs.AlpGmmConfig,
    rng: np.random.Generator,
  ) -> None:
    del rng
    self._tasks, self._cfg = tasks, cfg
    # In `known`, the value and the progress of each task follow the task.
    components = np.zeros([cfg.num_components, tasks.num_dims], np.float32)
    self.state = {
      'known': np.zeros([cfg.history, tasks.num_dims + 2], np.float32),
      'num_known': np.array(0),
      'num_played': np.array(0),  # Above num_known once the oldest leave.
      'mean': components,
      'deviation': components.copy(),
      'progress': np.zeros([cfg.num_components], np.float32),
      'num_updates': np.array(0),
    }

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns tasks drawn from the mixture, and random tasks."""
    cfg, state = self._cfg, self.state
    updates = int(state['num_updates'])
    if updates and updates % cfg.fit_period == 0:
      self._fit(rng)
    num_first = max(cfg.num_easy_tasks - int(state['num_played']), 0)
    num_first = min(num_first, num_tasks) if cfg.knows_easy else 0
    num_drawn = 0
    if state['progress'].any():
      num_drawn = round((1.0 - cfg.random_share) * (num_tasks - num_first))
    drawn = self._draw(num_drawn, rng)
    num_random = num_tasks - num_first - len(drawn)
    num_easy = num_first + (num_random // 2 if cfg.knows_easy else 0)
    found = [drawn, self._tasks.easy(num_easy, rng)]
    found.append(self._tasks.target(num_tasks - num_easy - len(drawn), rng))
    return rng.permutation(np.concatenate(found))

  def update(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> dict[str, float]:
    """Notes the progress of each task."""
    state, dims = self.state, self._tasks.num_dims
    known = task_lists.rows_of(state, 'known')
    tasks, value = self._tasks.canonical(tasks), told['value']
    progress = np.zeros_like(value)
    if len(known):
      [earlier] = neighbours.nearest(tasks, known[:, :dims], 1).T
      progress = np.abs(value - known[earlier, dims])
    new = np.column_stack([tasks, value, progress])
    task_lists.store(state, 'known', np.concatenate([known, new]))
    state['num_played'] = state['num_played'] + len(tasks)
    state['num_updates'] = state['num_updates'] + 1
    return {
      'learning_progress': progress.mean(),
      'best_component_progress': state['progress'].max(),
    }

  def _fit(self, rng: np.random.Generator) -> None:
    state, dims = self.state, self._tasks.num_dims
    known = task_lists.rows_of(state, 'known')[-self._cfg.fitted_tasks :]
    rows = np.delete(known, dims, 1)  # Without values.
    if len(rows) < self._cfg.num_components:
      return
    found = mixture.fit(
      rows, self._cfg.num_components, self._cfg.fit_steps, rng
    )
    state['mean'] = found.mean[:, :-1].astype(np.float32)
    state['deviation'] = np.sqrt(found.variance[:, :-1]).astype(np.float32)
    state['progress'] = found.mean[:, -1].astype(np.float32)

  def _draw(self, number: int, rng: np.random.Generator) -> np.ndarray:
    """Returns at most `number` feasible tasks drawn from the mixture."""
    if not number:
      return np.zeros([0, self._tasks.num_dims], np.float32)
    state = self.state
    progress = state['progress'].astype(np.float64)
    which = rng.choice(len(progress), number, p=progress / progress.sum())
    drawn = rng.normal(state['mean'][which], state['deviation'][which])
    drawn = self._tasks.clip(drawn, rng)
    return drawn[self._tasks.feasible(drawn).all(1)]
