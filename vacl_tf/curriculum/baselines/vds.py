# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Value disagreement sampling (VDS).

Zhang et al., "Automatic Curriculum Learning through Value Disagreement", 2020.
Tasks are drawn in proportion to how much an ensemble disagrees about their
values: it agrees on tasks that are mastered and on tasks that are out of reach.

Differences, and the reasons: the source learns action-value functions
off-policy from a replay of states. Here each member is a small perceptron that
maps the task vector, in canonical order, to the value reported by training,
without any state. It learns only from the latest tasks, because older values
are those of another policy, and only from its own half of them, so that members
differ.
"""

from collections.abc import Mapping

import numpy as np

from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import mlp

_UNITS = (64, 64)
_MINIBATCH = 200  # Each member learns from its half of these.


class Vds(python_curriculum.Chooser):
  """An ensemble of value predictors, and the latest tasks."""

  def __init__(
    self,
    tasks: python_curriculum.Tasks,
    cfg: configs.VdsConfig,
    rng: np.random.Generator,
  ) -> None:
    self._tasks, self._cfg = tasks, cfg
    dims, members = tasks.num_dims, cfg.num_members
    self._mlp = mlp.Mlp((dims, *_UNITS, 1))
    target = tasks.canonical(tasks.target(cfg.num_candidates, rng))
    parameters = self._mlp.initial(rng, members)
    self.state = {
      'middle': target.mean(0),
      'spread': np.maximum(target.std(0), 1e-6),
      'parameters': parameters,
      'moments': np.zeros([2, *parameters.shape], np.float32),
      'num_steps': np.array(0),
      'window': np.zeros([cfg.window, dims], np.float32),  # Ring buffer.
      'values': np.zeros(cfg.window, np.float32),
      'num_seen': np.array(0),
      # Which member learns from which row of the window.
      'is_own': rng.permuted(
        np.tile(np.arange(cfg.window) % 2 == 0, (members, 1)), axis=1
      ),
    }
    if cfg.knows_easy:
      self.state['easy'] = tasks.easy(cfg.num_easy_tasks, rng)
    self._chosen = {}

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns candidates, drawn in proportion to the members' disagreement.

    First, the members learn from the values that `update` has stored: this
    needs a random generator, which `update` does not get.
    """
    for _ in range(self._cfg.num_epochs):
      self._learn(rng)
    candidates, is_target = self._candidates(rng)
    disagreement = self._predictions(candidates).std(0) + 1e-9
    weights = disagreement.astype(float)
    rows = rng.choice(len(candidates), num_tasks, p=weights / weights.sum())
    self._chosen = {
      'disagreement': float(disagreement.mean()),
      'disagreement_of_chosen': float(disagreement[rows].mean()),
      'target_share': float(is_target[rows].mean()),
    }
    return candidates[rows]

  def update(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> dict[str, float]:
    """Keeps the tasks and their values; measures the error of predictions."""
    state, size, value = self.state, self._cfg.window, told['value']
    error = self._predictions(tasks).mean(0) - value
    places = (int(state['num_seen']) + np.arange(len(tasks))) % size
    state['window'][places] = tasks
    state['values'][places] = value
    state['num_seen'] = state['num_seen'] + len(tasks)
    squares = (error**2).sum() / max(len(tasks), 1)
    return {**self._chosen, 'prediction_error': float(np.sqrt(squares))}

  def _candidates(
    self, rng: np.random.Generator
  ) -> tuple[np.ndarray, np.ndarray]:
    """Returns tasks [N, D], and bool [N]: which are target tasks."""
    cfg, number = self._cfg, self._cfg.num_candidates
    if not cfg.knows_easy:
      return self._tasks.target(number, rng), np.ones(number, bool)
    part, easy = number // 3, self.state['easy']
    played = self.state['window'][: self.state['num_seen']]
    parents = rng.choice(played if len(played) else easy, part)
    edits = self._tasks.perturbed(
      parents, cfg.noise, rng, cfg.noise_probability
    )
    target = self._tasks.target(number - 2 * part, rng)
    found = np.concatenate([target, rng.choice(easy, part), edits])
    return found, np.arange(number) < len(target)

  def _predictions(self, tasks: np.ndarray) -> np.ndarray:
    """Returns the predicted values [members, N] of tasks [N, D]."""
    inputs = self._inputs(tasks)
    return self._mlp.apply(self.state['parameters'], inputs)[-1][..., 0]

  def _inputs(self, tasks: np.ndarray) -> np.ndarray:
    canonical = self._tasks.canonical(tasks)
    return (canonical - self.state['middle']) / self.state['spread']

  def _learn(self, rng: np.random.Generator) -> None:
    """Makes a pass over the window, with the mean squared error and Adam."""
    state = self.state
    number = min(int(state['num_seen']), self._cfg.window)
    inputs, order = self._inputs(state['window']), rng.permutation(number)
    for begin in range(0, number, _MINIBATCH):
      rows = order[begin : begin + _MINIBATCH]
      is_own = state['is_own'][:, rows].astype(np.float32)
      layers = self._mlp.apply(state['parameters'], inputs[rows])
      error = is_own * (layers[-1][..., 0] - state['values'][rows])
      of_output = 2.0 * error / np.maximum(is_own.sum(1, keepdims=True), 1.0)
      gradient, _ = self._mlp.gradients(
        state['parameters'], layers, of_output[..., None]
      )
      state['parameters'], state['moments'] = mlp.adam(
        state['parameters'],
        gradient,
        state['moments'],
        int(state['num_steps']),
        self._cfg.learning_rate,
      )
      state['num_steps'] = state['num_steps'] + 1
