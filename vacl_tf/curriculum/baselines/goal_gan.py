# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""GoalGAN, a baseline of the paper.

Florensa et al., "Automatic Goal Generation for Reinforcement Learning Agents",
2018, as adapted by the authors of VACL. A generator learns to make tasks like
those of medium score, the good tasks. A batch is generated tasks and some
earlier good tasks.

Differences, and the reasons: tasks are in canonical order, so that the
generator need not learn all orders of alike entities. Feasible generated tasks
replace infeasible ones. The replay is bounded, because the arrays of a
checkpoint are. In every iteration the networks learn from the latest 500
labels, with as many steps per episode as in the code of VACL's authors; 300
steps per iteration would take longer than the rest of the iteration. There is
no second, tiny noise on all tasks.
"""

from collections.abc import Mapping

import numpy as np

from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import mlp
from vacl_tf.curriculum.baselines import task_lists

# From the code of the authors of VACL.
_NUM_PRETRAINING_TASKS = 10_000
_NUM_RECENT = 500
_MINIBATCH = 64  # Labelled tasks, and as many generated ones.
_GENERATOR_UNITS = (256, 256)
_DISCRIMINATOR_UNITS = (128, 128)
_DISCRIMINATOR_SLOPE = 0.2
_LEARNING_RATE = 1e-3


class GoalGan(python_curriculum.Chooser):
  """Two networks, labels of the latest tasks, and a replay of good tasks."""

  def __init__(
    self,
    tasks: python_curriculum.Tasks,
    cfg: configs.GoalGanConfig,
    rng: np.random.Generator,
  ) -> None:
    self._tasks, self._cfg = tasks, cfg
    self.feedback = ('success',) if cfg.score == 'success' else ()
    dims = tasks.num_dims
    self._generator = mlp.Mlp((cfg.noise_dims, *_GENERATOR_UNITS, dims))
    self._discriminator = mlp.Mlp(
      (dims, *_DISCRIMINATOR_UNITS, 1), _DISCRIMINATOR_SLOPE
    )
    easy = tasks.easy(_NUM_PRETRAINING_TASKS, rng)
    everywhere = np.concatenate([easy, tasks.target(len(easy), rng)])
    middle, half_width = mlp.extent(everywhere)
    easy = tasks.canonical(easy)
    generator = self._generator.initial(rng)
    discriminator = self._discriminator.initial(rng)
    self.state = {
      'middle': middle,
      'half_width': half_width,
      'generator': generator,
      'generator_square': np.zeros_like(generator),
      'discriminator': discriminator,
      'discriminator_square': np.zeros_like(discriminator),
      'recent': easy[:_NUM_RECENT],  # The oldest task first.
      'is_good': np.ones(_NUM_RECENT, bool),
      'replay': np.zeros([cfg.capacity, dims], np.float32),  # Likewise.
      'num_replay': np.array(0),
    }
    if cfg.knows_easy:
      self._remember(easy[: cfg.num_easy_tasks])
    self._feasible_share = 0.0
    self._loss = self._train(
      easy, np.ones(len(easy), bool), cfg.pretraining_steps, rng
    )

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns generated tasks, then tasks of the replay if it has enough.

    First, the networks learn from the labels that `update` has stored: this
    needs a random generator, which `update` does not get.
    """
    state, cfg = self.state, self._cfg
    self._loss = self._train(
      state['recent'],
      state['is_good'],
      round(cfg.steps_per_task * num_tasks),
      rng,
    )
    replay = task_lists.rows_of(state, 'replay')
    num_old = num_tasks - round(cfg.new_share * num_tasks)
    old = replay[rng.permutation(len(replay))[:num_old]]
    return np.concatenate([self._generate(num_tasks - len(old), rng), old])

  def update(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> dict[str, float]:
    """Labels the tasks; good ones that are far from the replay join it."""
    score, state = told[self._cfg.score], self.state
    tasks = self._tasks.canonical(tasks)
    is_good = (score >= self._cfg.least) & (score <= self._cfg.most)
    for name, rows in (('recent', tasks), ('is_good', is_good)):
      state[name] = np.concatenate([state[name], rows])[-_NUM_RECENT:]
    self._remember(tasks[is_good])
    return {
      'good_share': float(is_good.sum()) / max(len(tasks), 1),
      'replay_tasks': float(state['num_replay']),
      'feasible_share': self._feasible_share,
      'discriminator_loss': self._loss,
    }

  def _generate(self, number: int, rng: np.random.Generator) -> np.ndarray:
    """Returns [number, D]: the feasible ones of twice as many generated tasks.

    If these are too few, target tasks fill up the batch.
    """
    state, count = self.state, 2 * number
    noise = self._cfg.goal_noise * _normal(rng, count, self._tasks.num_dims)
    scaled = self._made(_normal(rng, count, self._cfg.noise_dims))[-1] + noise
    made = self._tasks.clip(state['middle'] + state['half_width'] * scaled, rng)
    made = made[self._tasks.feasible(made).all(1)]
    self._feasible_share = len(made) / max(count, 1)
    made = self._tasks.canonical(made[:number])
    rest = number - len(made)
    if not rest:
      return made
    return np.concatenate([made, self._tasks.target(rest, rng)])

  def _made(self, noise: np.ndarray) -> list[np.ndarray]:
    """Returns the generator's layers, then its tasks [N, D] in [-1, 1]."""
    layers = self._generator.apply(self.state['generator'], noise)
    return [*layers, np.tanh(layers[-1])]

  def _train(
    self,
    tasks: np.ndarray,
    is_good: np.ndarray,
    num_steps: int,
    rng: np.random.Generator,
  ) -> float:
    """Trains both networks, with least-squares losses (Mao et al., 2017).

    The discriminator learns 1 for good tasks, and -1 for other tasks and for
    generated ones. The generator learns to make tasks that the discriminator
    takes for good. Without a good task there is nothing to imitate, and both
    networks stay as they are.

    Returns:
      The mean loss of the discriminator, 0 without any step.
    """
    if not is_good.any():
      return 0.0
    scaled = (tasks - self.state['middle']) / self.state['half_width']
    label = np.where(is_good, 1.0, -1.0).astype(np.float32)
    losses = []
    for _ in range(num_steps):
      rows = rng.integers(len(scaled), size=_MINIBATCH)
      *layers, made = self._made(_normal(rng, _MINIBATCH, self._cfg.noise_dims))
      losses.append(
        self._discriminate(
          np.concatenate([scaled[rows], made]),
          np.concatenate([label[rows], np.full(_MINIBATCH, -1.0, np.float32)]),
        )
      )
      self._please(layers, made)
    return float(np.mean(losses)) if losses else 0.0

  def _discriminate(self, tasks: np.ndarray, label: np.ndarray) -> float:
    """Takes a step of the discriminator; returns its loss before the step."""
    parameters = self.state['discriminator']
    layers = self._discriminator.apply(parameters, tasks)
    error = layers[-1] - label[:, None]
    gradient, _ = self._discriminator.gradients(
      parameters, layers, 2.0 * error / len(error)
    )
    self._step('discriminator', gradient)
    return float(np.mean(error**2))

  def _please(self, layers: list[np.ndarray], made: np.ndarray) -> None:
    """Takes a step of the generator, given its layers and its tasks."""
    parameters = self.state['discriminator']
    judged = self._discriminator.apply(parameters, made)
    error = judged[-1] - 1.0
    _, of_made = self._discriminator.gradients(
      parameters, judged, 2.0 * error / len(error)
    )
    gradient, _ = self._generator.gradients(
      self.state['generator'], layers, of_made * (1.0 - made * made)
    )
    self._step('generator', gradient)

  def _step(self, name: str, gradient: np.ndarray) -> None:
    square = f'{name}_square'
    self.state[name], self.state[square] = mlp.rms_prop(
      self.state[name], gradient, self.state[square], _LEARNING_RATE
    )

  def _remember(self, tasks: np.ndarray) -> None:
    """Adds the tasks [K, D], in canonical order, that are far from the replay.

    They are added one by one, so that none is near a task added before it.
    """
    state, least = self.state, self._cfg.least_distance
    replay = task_lists.rows_of(state, 'replay')
    is_new = _distances(tasks, replay).min(1, initial=np.inf) > least
    tasks = tasks[is_new]
    is_near = _distances(tasks, tasks) <= least
    added: list[int] = []
    for row in range(len(tasks)):
      if not is_near[row, added].any():
        added.append(row)
    task_lists.store(state, 'replay', np.concatenate([replay, tasks[added]]))


def _normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
  return rng.standard_normal(shape, np.float32)


def _distances(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
  """Returns the Euclidean distances [N, M] between [N, D] and [M, D]."""
  rows, columns = rows.astype(float), columns.astype(float)
  squares = (rows**2).sum(1)[:, None] + (columns**2).sum(1)
  return np.sqrt(np.maximum(squares - 2.0 * rows @ columns.T, 0.0))
