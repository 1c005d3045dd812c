# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""AMIGo, a baseline of the paper, as a curriculum of tasks.

Campero et al., "Learning with AMIGo: Adversarially Motivated Intrinsic Goals",
2021, as adapted by the authors of VACL. A teacher sees where an episode begins
and proposes its goals. The teacher is rewarded if the goals are reached, but
not too soon.

Differences, and the reasons: a proposal moves the goals of a target task, so
the agents' reward comes from the task alone and they observe nothing new. In
the original, agents also observe, and are rewarded for, goals that are not
those of the task. Agents of the original see both kinds of goals at once; here
a share of each batch is target tasks. With `knows_easy` the teacher is
pretrained on easy tasks, as in GoalGAN, because random goals are never reached.
Unlike in the runs of VACL's authors, an episode is one decision with its own
start, and the first time of reaching the goals counts. Goals are relative to
their movers, so that a teacher that knows easy tasks proposes near goals from
other starts. The learning rate is a tenth of that of VACL's authors, with which
the first rewarded goals undo the pretraining.
"""

from collections.abc import Mapping

import numpy as np

from vacl_tf.curriculum import base
from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import mlp

# From the code of the authors of VACL, except for the number of tasks.
_UNITS = (64, 64)
_NUM_EPOCHS = 15
_CLIP = 0.2
_NUM_PRETRAINING_TASKS = 10_000
_MINIBATCH = 64
_PRETRAINING_RATE = 1e-3


class Amigo(python_curriculum.Chooser):
  """A Gaussian over goals, whose mean depends on where all entities begin."""

  feedback = ('success_time',)

  def __init__(
    self,
    tasks: python_curriculum.Tasks,
    cfg: configs.AmigoConfig,
    rng: np.random.Generator,
  ) -> None:
    """Initialises the curriculum.

    Raises:
      base.UnsuitableError: the task does not say which entities are goals.
    """
    base.check_goals(tasks.goals)
    self._tasks, self._cfg = tasks, cfg
    goals = [goal for _, goal in tasks.goals]
    self._is_goal = np.isin(tasks.entity_of_dim, goals)  # [D]
    num_goal_dims = int(self._is_goal.sum())  # G
    num_start_dims = tasks.num_dims - num_goal_dims
    self._mean = mlp.Mlp((num_start_dims, *_UNITS, num_goal_dims), is_tanh=True)
    easy = tasks.easy(_NUM_PRETRAINING_TASKS, rng)
    target = tasks.target(len(easy), rng)
    everywhere = np.concatenate([easy, target]) if cfg.knows_easy else target
    middle, half_width = mlp.extent(everywhere)
    # The last G parameters are logarithms of standard deviations.
    parameters = np.concatenate(
      [self._mean.initial(rng), np.zeros(num_goal_dims, np.float32)]
    )
    self.state = {
      'middle': middle,
      'half_width': half_width,
      'parameters': parameters,
      'moments': np.zeros([2, len(parameters)], np.float32),
      'num_steps': np.array(0),  # Steps of Adam.
      'num_easy': np.array(cfg.num_easy_tasks if cfg.knows_easy else 0),
      'num_goals': np.array(0),  # Proposed and played.
    }
    if cfg.knows_easy:
      self._pretrain(tasks.canonical(easy), rng)
    # Of the latest batch: which tasks have proposed goals, and these [B, G].
    self._is_proposed = np.zeros([0], bool)
    self._proposed = np.zeros([0, num_goal_dims], np.float32)
    self._feasible_share = 0.0

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns easy tasks at first, then target and proposed tasks, mixed."""
    num_easy = min(num_tasks, int(self.state['num_easy']))
    rows = self._tasks.target(num_tasks - num_easy, rng)
    rows = self._tasks.canonical(rows)
    is_proposed = rng.permutation(len(rows)) >= round(
      self._cfg.target_share * len(rows)
    )
    rows, goals, is_feasible = self._propose(rows, is_proposed, rng)
    self._is_proposed = np.append(np.zeros(num_easy, bool), is_feasible)
    self._proposed = np.append(
      np.zeros([num_easy, goals.shape[1]], np.float32), goals, 0
    )
    return np.concatenate([self._tasks.easy(num_easy, rng), rows])

  def update(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> dict[str, float]:
    """Rewards the teacher for the goals that were played, and trains it."""
    cfg, state = self._cfg, self.state
    state['num_easy'] = np.maximum(state['num_easy'] - len(tasks), 0)
    is_proposed = self._is_proposed
    time = told['success_time'][is_proposed]
    difficulty = self._difficulty()
    is_good = (time > 0.0) & (time >= difficulty)
    reward = np.where(is_good, cfg.reward, -cfg.penalty)
    if len(reward):
      start = self._scaled(tasks[is_proposed])[:, ~self._is_goal]
      self._learn(start, self._proposed[is_proposed], reward)
    state['num_goals'] = state['num_goals'] + len(reward)
    return {
      'teacher_reward': reward.mean() if len(reward) else 0.0,
      'reached_share': (time > 0.0).mean() if len(reward) else 0.0,
      'difficulty': difficulty,
      'feasible_share': self._feasible_share,
    }

  def _difficulty(self) -> int:
    """Returns t*, the number of steps that rewarded goals take at least.

    In the original code it rises after ten batches in a row with a reward above
    a threshold, which is so low that all batches are above it.
    """
    cfg = self._cfg
    rises = int(self.state['num_goals']) // cfg.goals_per_rise
    return min(cfg.first_difficulty + rises, cfg.most_difficulty)

  def _scaled(self, tasks: np.ndarray) -> np.ndarray:
    return (tasks - self.state['middle']) / self.state['half_width']

  def _origin(self, tasks: np.ndarray) -> np.ndarray:
    """Returns [K, G]: for the goals of each task, where their movers are.

    For a goal that is its own mover, it is the middle of the map.
    """
    start = np.where(self._is_goal, self.state['middle'], tasks)
    return self._tasks.hindsight(start, start)[:, self._is_goal]

  def _propose(
    self, tasks: np.ndarray, is_proposed: np.ndarray, rng: np.random.Generator
  ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns tasks [K, D], some with proposed goals if these are feasible.

    Args:
      tasks: [K, D].
      is_proposed: bool [K], tasks for which the teacher proposes goals.
      rng: random generator.

    Returns:
      The tasks; the goals [K, G] that the teacher chose, scaled, relative to
      their movers and before they are moved into the legal region; and bool
      [K]: which tasks have these goals.
    """
    state, is_goal = self.state, self._is_goal
    mean, log_std = self._gaussian(self._scaled(tasks)[:, ~is_goal])
    noise = rng.standard_normal(mean[-1].shape, np.float32)
    goals = mean[-1] + np.exp(log_std) * noise
    made = tasks.copy()
    made[:, is_goal] = (
      self._origin(tasks) + state['half_width'][is_goal] * goals
    )
    made = self._tasks.clip(made, rng)
    is_feasible = is_proposed & self._tasks.feasible(made).all(1)
    self._feasible_share = is_feasible.sum() / max(is_proposed.sum(), 1)
    return np.where(is_feasible[:, None], made, tasks), goals, is_feasible

  def _gaussian(self, start: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Returns the layers of the mean [K, G], and log standard deviations [G].

    Args:
      start: [K, D - G] scaled coordinates of the entities that are no goals.
    """
    size, parameters = self._mean.num_parameters, self.state['parameters']
    return self._mean.apply(parameters[:size], start), parameters[size:]

  def _pretrain(self, tasks: np.ndarray, rng: np.random.Generator) -> None:
    """Fits the Gaussian to tasks [N, D], by maximum likelihood."""
    size, parameters = self._mean.num_parameters, self.state['parameters']
    start = self._scaled(tasks)[:, ~self._is_goal]
    goals = tasks[:, self._is_goal] - self._origin(tasks)
    goals /= self.state['half_width'][self._is_goal]
    network, moments = parameters[:size], np.zeros([2, size], np.float32)
    for step in range(self._cfg.pretraining_steps):
      rows = rng.integers(len(tasks), size=_MINIBATCH)
      layers = self._mean.apply(network, start[rows])
      error = (layers[-1] - goals[rows]) / _MINIBATCH
      gradient, _ = self._mean.gradients(network, layers, error)
      network, moments = mlp.adam(
        network, gradient, moments, step, _PRETRAINING_RATE
      )
    error = self._mean.apply(network, start)[-1] - goals
    log_std = 0.5 * np.log(np.mean(error**2, 0) + 1e-12)
    self.state['parameters'] = np.concatenate([network, log_std])

  def _learn(
    self, start: np.ndarray, goals: np.ndarray, reward: np.ndarray
  ) -> None:
    """Takes steps of PPO, as for a bandit: an episode is one decision.

    The baseline is the mean reward of the batch.

    Args:
      start: [K, D - G] scaled coordinates of the entities that are no goals.
      goals: [K, G] scaled proposals, relative to their movers.
      reward: [K] rewards of the teacher.
    """
    state, cfg = self.state, self._cfg
    advantage = (reward - reward.mean()) / (reward.std() + 1e-5)
    old = None
    for _ in range(_NUM_EPOCHS):
      layers, log_std = self._gaussian(start)
      std = np.exp(log_std)
      error = (goals - layers[-1]) / std
      log_prob = -(0.5 * error**2 + log_std).sum(1)
      old = log_prob if old is None else old
      ratio = np.exp(log_prob - old)
      is_clipped = np.where(
        advantage > 0.0, ratio > 1.0 + _CLIP, ratio < 1.0 - _CLIP
      )
      # The loss's gradient with respect to log_prob.
      weight = np.where(is_clipped, 0.0, -ratio * advantage) / len(reward)
      weight = weight[:, None].astype(np.float32)
      size = self._mean.num_parameters
      of_mean, _ = self._mean.gradients(
        state['parameters'][:size], layers, weight * error / std
      )
      of_log_std = (weight * (error**2 - 1.0)).sum(0) - cfg.entropy
      state['parameters'], state['moments'] = mlp.adam(
        state['parameters'],
        np.concatenate([of_mean, of_log_std]),
        state['moments'],
        int(state['num_steps']),
        cfg.learning_rate,
      )
      state['num_steps'] = state['num_steps'] + 1
