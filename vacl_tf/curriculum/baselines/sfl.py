# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Sampling for learnability.

Rutherford et al., "No Regrets: Investigating and Improving Regret
Approximations for Curriculum Discovery", 2024. A task that the policy solves
with probability p teaches it most if p (1 - p) is large. Each candidate is
played for some episodes; a part of each batch is drawn from the most learnable
candidates.

Differences from the source: the authors play all candidates at once, every
refresh_interval updates. Here some of them are played in each iteration, so
that the first ones are judged by an earlier policy. With easy tasks, a third of
the tasks that the authors draw from their generator are easy, and a third are
edits of kept and solved tasks, since none of the generator's tasks would be
solved at first.
"""

from collections.abc import Mapping

import numpy as np

from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import configs


class Sfl(python_curriculum.Chooser):
  """Candidates that are being played, and the best of the earlier ones."""

  feedback = ('success',)

  def __init__(
    self,
    tasks: python_curriculum.Tasks,
    cfg: configs.SflConfig,
    rng: np.random.Generator,
  ) -> None:
    self._tasks, self._cfg = tasks, cfg
    num_kept = min(cfg.num_kept, cfg.num_candidates)

    def empty(rows: int) -> np.ndarray:
      return np.zeros([rows, tasks.num_dims], np.float32)

    self.state = {
      'candidates': empty(cfg.num_candidates),
      'share': np.zeros([cfg.num_candidates], np.float32),  # Of successes.
      'num_candidates': np.array(0),
      'kept': empty(num_kept),
      'learnability': np.zeros([num_kept], np.float32),
      'has_kept': np.array(False),
      # The oldest task first; easy tasks at the start of training.
      'solved': tasks.easy(cfg.num_easy_tasks, rng)
      if cfg.knows_easy
      else empty(0),
    }

  def probe(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns new candidates, each num_episodes times."""
    cfg = self._cfg
    number = min(
      -(-cfg.num_candidates // cfg.refresh_interval),
      cfg.num_candidates - self.state['num_candidates'],
      num_tasks // cfg.num_episodes,
    )
    return np.repeat(self._new(number, rng), cfg.num_episodes, 0)

  def note_probe(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> None:
    """Records how often the candidates were solved."""
    episodes, begin = self._cfg.num_episodes, int(self.state['num_candidates'])
    share = told['success'].reshape([-1, episodes]).mean(1)
    end = begin + len(share)
    self.state['candidates'][begin:end] = tasks[::episodes]
    self.state['share'][begin:end] = share
    self.state['num_candidates'] = np.array(end)
    self._note_solved(tasks[::episodes][share > 0.0])

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns kept and new tasks, in random order."""
    if self.state['num_candidates'] == self._cfg.num_candidates:
      self._refresh(rng)
    num_kept = 0
    if self.state['has_kept']:
      num_kept = round(self._cfg.kept_share * num_tasks)
    kept = self.state['kept']
    kept = kept[rng.integers(0, len(kept), num_kept)]
    tasks = np.concatenate([kept, self._new(num_tasks - num_kept, rng)])
    return rng.permutation(tasks)

  def update(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> dict[str, float]:
    """Records which tasks were solved."""
    self._note_solved(tasks[told['success'] > 0.0])
    learnability = self.state['learnability']
    return {
      'mean_success': float(told['success'].mean()),
      'learnability': float(learnability.mean()),  # When they were probed.
      'learnable_share': float((learnability > 0.0).mean()),
    }

  def _refresh(self, rng: np.random.Generator) -> None:
    """Keeps the most learnable candidates; ties are broken at random."""
    share = self.state['share']
    learnability = share * (1.0 - share)
    shuffled = rng.permutation(len(share))
    order = np.argsort(-learnability[shuffled], kind='stable')
    best = shuffled[order][: len(self.state['kept'])]
    self.state |= {
      'kept': self.state['candidates'][best],
      'learnability': learnability[best],
      'has_kept': np.array(True),
      'num_candidates': np.array(0),
    }

  def _new(self, number: int, rng: np.random.Generator) -> np.ndarray:
    """Returns new tasks [number, D]."""
    tasks, cfg = self._tasks, self._cfg
    if not cfg.knows_easy:
      return tasks.target(number, rng)
    num_easy, num_edits, num_target = rng.multinomial(number, [1 / 3] * 3)
    parents = self.state['solved']
    if self.state['has_kept']:
      parents = np.concatenate([parents, self.state['kept']])
    parents = parents[rng.integers(0, len(parents), num_edits)]
    edits = tasks.perturbed(parents, cfg.noise, rng, cfg.noise_probability)
    easy, target = tasks.easy(num_easy, rng), tasks.target(num_target, rng)
    return np.concatenate([easy, edits, target])

  def _note_solved(self, tasks: np.ndarray) -> None:
    """Adds tasks that were solved at least once; the oldest tasks leave."""
    if self._cfg.knows_easy:
      solved = self.state['solved']
      found = np.concatenate([solved, tasks])
      self.state['solved'] = found[-len(solved) :]
