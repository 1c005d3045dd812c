# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Prioritised level replay (PLR), robust PLR and ACCEL.

Jiang et al., "Prioritized Level Replay", 2021; Jiang et al., "Replay-Guided
Adversarial Environment Design", 2021 (robust PLR); Parker-Holder et al.,
"Evolving Curricula with Regret-Based Environment Design", 2022 (ACCEL). A
buffer keeps the tasks from which the policy may gain most, and replays them.
New tasks, and edits of replayed tasks, enter the buffer if they score higher
than its worst task.

Differences from the sources:

* Every iteration trains. The authors flip a coin between an iteration of replay
  and one of new tasks. Here each iteration has both, in the proportion of the
  coin: with probability p of replay, (1 - p) / p new tasks per replayed task.
  Until the buffer holds enough tasks to replay, the policy trains on new tasks.
* The tasks of a batch are distinct, and a fixed share of them is chosen by
  staleness. The authors draw one task at a time from the mixture of both
  distributions; in a batch of many worlds, most rows would be the best task.
* Tasks are edited by the same noise that all curricula use.
* MaxMC compares the critic's mean value with the best mean so far of the
  critic's own targets (lambda-returns), which are discounted and bootstrapped
  like the value. The return of an episode is neither; with it, a mastered task
  would score less than one that is out of reach.
* The share of successes is a running mean that starts at 0.5, so a task that
  was played little scores high. SFL plays each task several times instead.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import configs

_FEEDBACK = {
  'pvl': ('positive_advantage',),
  'maxmc': ('max_target', 'mean_value'),
  'learnability': ('success',),
}
_RATE = 0.3  # Rate of the running mean of success.
_UNKNOWN = 0.5  # Success of a task before it is played.


class TrainingPlr(python_curriculum.Chooser):
  """Trains on all tasks that it plays: replayed, new and edited ones."""

  def __init__(
    self,
    tasks: python_curriculum.Tasks,
    cfg: configs.AccelConfig,
    rng: np.random.Generator,
  ) -> None:
    self._tasks, self._cfg = tasks, cfg
    self.feedback = _FEEDBACK[cfg.score]
    size = min(cfg.num_easy_tasks, cfg.capacity) if cfg.knows_easy else 0
    phi = np.zeros([cfg.capacity, tasks.num_dims], np.float32)
    if size:
      phi[:size] = tasks.easy(size, rng)
    shape = [cfg.capacity]
    self.state = {
      'phi': phi,
      # Infinite before the first play: these tasks come first and stay.
      'score': np.full(shape, np.inf, np.float32),
      'played': np.zeros(shape, np.int64),  # Round of the latest play (C).
      'best': np.full(shape, -np.inf, np.float32),  # Best mean target (R_max).
      'success': np.full(shape, _UNKNOWN, np.float32),
      'was_replayed': np.zeros(shape, bool),  # In the latest batch.
      'size': np.array(size),
      'round': np.array(1),
    }
    self._num_played = self._num_inserted = 0

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns replayed, new and edited tasks, in random order."""
    new = 1.0 / self._cfg.replay_probability - 1.0
    replayed = num_tasks / (1.0 + new + self._cfg.edited_share)
    num_new = round(new * replayed)
    num_edits = min(
      round(self._cfg.edited_share * replayed), num_tasks - num_new
    )
    return self._sample(num_tasks, num_new, num_edits, rng)

  def update(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> dict[str, float]:
    """Scores replayed tasks; inserts others that score above the worst task."""
    state = self.state
    slots = self._slots
    state['was_replayed'][:] = False
    state['was_replayed'][slots[slots >= 0]] = True
    self._note(tasks, told, slots)  # Clears the flags of slots it replaces.
    state['round'] = state['round'] + 1
    score = state['score'][: state['size']]
    share = self._num_inserted / max(self._num_played, 1)
    self._num_played = self._num_inserted = 0
    return {
      'buffer_tasks': int(state['size']),
      'mean_score': float(score[np.isfinite(score)].mean()),
      'replayed_share': float((slots >= 0).mean()),
      'inserted_share': share,  # Of the new and edited tasks.
    }

  def _sample(
    self, num_tasks: int, num_new: int, num_edits: int, rng: np.random.Generator
  ) -> np.ndarray:
    """Returns tasks to train on; all but the new tasks and edits are replayed.

    While the buffer holds too few tasks to replay, all tasks are new.
    """
    num_replayed = num_tasks - num_new - num_edits
    size = self.state['size']
    if size < max(self._cfg.least_filled * self._cfg.capacity, 1):
      num_replayed, num_edits = 0, 0
    replayed = self._replayed(num_replayed, rng)
    edits, of = self._edits(num_edits, rng)
    new = self._new(num_tasks - len(replayed) - len(edits), rng)
    tasks = np.concatenate([self.state['phi'][replayed], edits, new])
    slots = np.concatenate([replayed, of, np.full(len(new), -1)])
    order = rng.permutation(num_tasks)
    self._slots = slots[order]  # For `update`; -1 for tasks without a slot.
    return tasks[order]

  def _replayed(self, number: int, rng: np.random.Generator) -> np.ndarray:
    """Returns the slots of tasks to replay, by score and by staleness."""
    cfg, size = self._cfg, int(self.state['size'])
    num_stale = round(cfg.stale_share * number)
    shuffled = rng.permutation(size)  # Equal scores are in random order.
    order = np.argsort(-self.state['score'][shuffled], kind='stable')
    log_weight = np.empty([size])
    log_weight[shuffled[order]] = -np.log(1.0 + np.arange(size))
    by_score = _drawn(log_weight / cfg.temperature, number - num_stale, rng)
    waited = self.state['round'] - self.state['played'][:size]
    log_weight = np.log(np.maximum(waited, 1e-9))
    log_weight[by_score] -= 1e9  # Drawn only if nothing else is left.
    return np.concatenate([by_score, _drawn(log_weight, num_stale, rng)])

  def _new(self, number: int, rng: np.random.Generator) -> np.ndarray:
    """Returns new tasks [number, D]."""
    num_easy = rng.binomial(number, 0.5) if self._cfg.knows_easy else 0
    target = self._tasks.target(number - num_easy, rng)
    return np.concatenate([target, self._tasks.easy(num_easy, rng)])

  def _edits(
    self, number: int, rng: np.random.Generator
  ) -> tuple[np.ndarray, np.ndarray]:
    """Returns edits of tasks replayed in the latest batch, and their slots.

    An edit that changes nothing has the slot of its parent, which is then
    played again. All other edits have no slot (-1).
    """
    parents = np.flatnonzero(self.state['was_replayed'])
    parents = rng.permutation(parents)[:number]
    phi = self.state['phi'][parents]
    if not len(parents):
      return phi, parents
    edits = self._tasks.perturbed(
      phi, self._cfg.noise, rng, self._cfg.noise_probability
    )
    return edits, np.where((edits == phi).all(1), parents, -1)

  def _note(
    self,
    tasks: np.ndarray,
    told: Mapping[str, np.ndarray],
    slots: np.ndarray,
  ) -> None:
    """Scores tasks [K, D] in slots [K]; inserts those without a slot (-1)."""
    state, is_new = self.state, slots < 0
    for rows in _without_repeats(slots, np.flatnonzero(~is_new)):
      known = slots[rows]
      best, success = state['best'][known], state['success'][known]
      found = self._scored(told, rows, best, success)
      for name, values in found.items():
        state[name][known] = values
      state['played'][known] = state['round']
    number = int(is_new.sum())
    best, success = np.full(number, -np.inf), np.full(number, _UNKNOWN)
    found = self._scored(told, np.flatnonzero(is_new), best, success)
    self._insert(tasks[is_new], found)

  def _scored(
    self,
    told: Mapping[str, np.ndarray],
    rows: np.ndarray,
    best: np.ndarray,
    success: np.ndarray,
  ) -> dict[str, np.ndarray]:
    """Returns the scores [N] of some tasks, and the statistics behind them.

    Args:
      told: feedback [K] by name.
      rows: [N] rows of the tasks to score.
      best: [N] their largest mean targets so far.
      success: [N] their running means of success so far.
    """
    if self._cfg.score == 'pvl':
      return {'score': told['positive_advantage'][rows]}
    if self._cfg.score == 'maxmc':
      best = np.maximum(best, told['max_target'][rows])
      return {'best': best, 'score': best - told['mean_value'][rows]}
    success = success + _RATE * (told['success'][rows] - success)
    return {'success': success, 'score': success * (1.0 - success)}

  def _insert(self, tasks: np.ndarray, found: dict[str, np.ndarray]) -> None:
    """Inserts tasks [K, D] in free slots or in place of lower-scoring tasks."""
    state = self.state
    size, capacity = int(state['size']), len(state['score'])
    score = np.concatenate([state['score'][:size], found['score']])
    is_kept = np.zeros(len(score), bool)
    # Of equal scores the older ones stay.
    is_kept[np.argsort(-score, kind='stable')[:capacity]] = True
    rows = np.flatnonzero(is_kept[size:])
    free = np.arange(size, min(size + len(rows), capacity))
    slots = np.concatenate([free, np.flatnonzero(~is_kept[:size])])
    state['phi'][slots] = tasks[rows]
    for name, values in found.items():
      state[name][slots] = values[rows]
    state['played'][slots] = state['round']
    state['was_replayed'][slots] = False
    state['size'] = np.array(size + len(free))
    self._num_played += len(tasks)
    self._num_inserted += len(rows)


class RobustPlr(TrainingPlr):
  """Trains only on replayed tasks; other tasks are probed to score them."""

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns replayed tasks."""
    return self._sample(num_tasks, 0, 0, rng)

  def probe(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns the new tasks and edits that go with a batch of num_tasks tasks.

    If these would be more than num_tasks, there are fewer of both kinds.
    """
    new = 1.0 / self._cfg.replay_probability - 1.0
    share = new + self._cfg.edited_share
    number = min(round(share * num_tasks), num_tasks)
    num_edits = round(number * self._cfg.edited_share / share) if number else 0
    edits, slots = self._edits(num_edits, rng)
    new_tasks = self._new(number - len(edits), rng)
    self._probed = np.concatenate([slots, np.full(len(new_tasks), -1)])
    return np.concatenate([edits, new_tasks])

  def note_probe(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> None:
    """Inserts tasks that score higher than the worst task of the buffer."""
    self._note(tasks, told, self._probed)


def make(
  tasks: python_curriculum.Tasks,
  cfg: configs.AccelConfig,
  rng: np.random.Generator,
) -> TrainingPlr:
  """Returns ACCEL or PLR, robust unless cfg.train_on_new."""
  kind = TrainingPlr if cfg.train_on_new else RobustPlr
  return kind(tasks, cfg, rng)


def _without_repeats(
  slots: np.ndarray, rows: np.ndarray
) -> Iterator[np.ndarray]:
  """Yields rows in parts, in each of which no slot occurs twice.

  A batch has a task twice if it is replayed and an edit changes nothing.
  """
  while len(rows):
    _, first = np.unique(slots[rows], return_index=True)
    yield rows[first]
    rows = np.delete(rows, first)


def _drawn(
  log_weight: np.ndarray, number: int, rng: np.random.Generator
) -> np.ndarray:
  """Returns `number` different indices, drawn in proportion to weights [K].

  If there are fewer than `number` indices, they repeat.
  """
  # The indices of the largest log-weights plus Gumbel noise are such a draw.
  order = np.argsort(-(log_weight + rng.gumbel(size=len(log_weight))))
  return np.resize(order, number)
