# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""CURROT: tasks move from easy ones to the target as fast as success allows.

Klink et al., "Curriculum Reinforcement Learning via Constrained Optimal
Transport", ICML 2022. Particles are a sample of the tasks to train on. Now and
then, each mastered particle moves towards its place in the target distribution,
not further than a radius and not to where success is expected to be rare. Each
other particle falls back to a task that was solved.

Differences from the source: expected success is the mean over the nearest
neighbours among the latest tasks, because kernels are empty in so many
dimensions. The latest tasks also replace the buffer of failures. Distances are
between tasks in canonical order. Particles begin as easy tasks and wait until
these are mastered; this replaces the source's search for a start. A particle
stays where it is if no candidate has enough expected success. There are fewer
candidates, and some of them are near: a uniform draw from a ball of many
dimensions lies on its surface. Entities that are infeasible in a candidate stay
where they are.
"""

from collections.abc import Mapping

import numpy as np
from scipy import optimize

from vacl_tf.curriculum import python_curriculum
from vacl_tf.curriculum.baselines import configs
from vacl_tf.curriculum.baselines import neighbours
from vacl_tf.curriculum.baselines import task_lists

_NUM_NEIGHBOURS = 10
_NUM_PROJECTIONS = 100  # Rounded up to whole bases.


class Currot(python_curriculum.Chooser):
  """Particles, solved tasks, and the latest tasks with their success."""

  feedback = ('success',)

  def __init__(
    self,
    tasks: python_curriculum.Tasks,
    cfg: configs.CurrotConfig,
    rng: np.random.Generator,
  ) -> None:
    self._tasks, self._cfg = tasks, cfg
    # Root-mean-square length of the noise that other curricula use.
    share = cfg.noise_probability * tasks.num_dims / 3.0
    self._radius = cfg.noise * share**0.5
    num, dims = cfg.num_easy_tasks, tasks.num_dims
    self.state = {
      'particles': tasks.canonical(tasks.easy(num, rng)),
      'solved': np.zeros([num, dims], np.float32),
      'num_solved': np.array(0),
      # Each task is followed by its success; the oldest task comes first.
      'known': np.zeros([cfg.history, dims + 1], np.float32),
      'num_known': np.array(0),
      'num_waiting': np.array(0),  # Episodes since the latest move.
      'particle_success': np.zeros([], np.float32),
      'target_distance': np.zeros([], np.float32),
    }

  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns random particles, after moving them if it is time to."""
    if self.state['num_waiting'] >= self._cfg.period:
      self._move(rng)
      self.state['num_waiting'] = np.array(0)
    particles = self.state['particles']
    repeats = num_tasks > len(particles)
    return particles[rng.choice(len(particles), num_tasks, replace=repeats)]

  def update(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> dict[str, float]:
    """Records the success of the tasks."""
    state = self.state
    known = task_lists.rows_of(state, 'known')
    new = np.column_stack([self._tasks.canonical(tasks), told['success']])
    task_lists.store(state, 'known', np.concatenate([known, new]))
    state['num_waiting'] = state['num_waiting'] + len(tasks)
    return {
      'success_tasks': float(state['num_solved']),
      'particle_success': float(state['particle_success']),
      'target_distance': float(state['target_distance']),
    }

  def _move(self, rng: np.random.Generator) -> None:
    """Moves particles that are mastered; the others fall back."""
    state, least = self.state, self._cfg.threshold
    particles = state['particles']
    target = self._tasks.target(len(particles), rng)
    target = self._tasks.canonical(target)
    solved = self._keep_solved(target)
    is_failed = self._expected(particles) < least
    particles[is_failed] = _fallen_back(particles[is_failed], solved)
    towards = transported(particles, target, rng)
    distance = np.linalg.norm(particles - towards, axis=-1)
    state['target_distance'] = distance.mean(dtype=np.float32)
    expected = self._expected(particles)
    state['particle_success'] = expected.mean(dtype=np.float32)
    candidates = self._candidates(particles, towards, rng)
    # Candidates nearest to where a particle goes come first and mostly suffice.
    pending = np.flatnonzero(expected >= least)
    for choice in np.moveaxis(candidates, 1, 0):
      is_good = self._expected(choice[pending]) >= least
      moved = pending[is_good]
      particles[moved] = choice[moved]
      pending = pending[~is_good]
    state['particles'] = particles

  def _keep_solved(self, target: np.ndarray) -> np.ndarray:
    """Adds the tasks solved since the latest move; returns all solved tasks.

    If there are more than target tasks [N, D], keeps those near target tasks.
    """
    state = self.state
    played = task_lists.rows_of(state, 'known')[-int(state['num_waiting']) :]
    is_new = played[:, -1] >= self._cfg.threshold
    solved = np.concatenate(
      [task_lists.rows_of(state, 'solved'), played[is_new, :-1]]
    )
    if len(solved) > len(target):
      _, kept = _matched(target, solved)
      solved = solved[kept]
    task_lists.store(state, 'solved', solved)
    return solved

  def _expected(self, points: np.ndarray) -> np.ndarray:
    """Returns the success [K] to expect at points [K, D] in canonical order."""
    known = task_lists.rows_of(self.state, 'known')
    rows = neighbours.nearest(points, known[:, :-1], _NUM_NEIGHBOURS)
    return known[rows, -1].mean(-1)

  def _candidates(
    self, particles: np.ndarray, towards: np.ndarray, rng: np.random.Generator
  ) -> np.ndarray:
    """Returns feasible tasks [N, C, D] around particles, in canonical order.

    They lie in the half ball on the side of `towards`, and those nearest to it
    come first.
    """
    num, dims = particles.shape
    way = (towards - particles)[:, None]
    step = rng.standard_normal([num, self._cfg.num_candidates, dims])
    step *= np.where(np.sum(step * way, -1, keepdims=True) < 0.0, -1.0, 1.0)
    radius = np.minimum(self._radius, np.linalg.norm(way, axis=-1))
    radius = radius * rng.random(step.shape[:2])
    step *= (radius / np.linalg.norm(step, axis=-1))[..., None]
    old = np.broadcast_to(particles[:, None], step.shape).reshape([-1, dims])
    moved = (old + step.reshape([-1, dims])).astype(np.float32)
    # Infeasible entities stay; if the task is infeasible even so, all stay.
    is_legal = self._tasks.feasible(moved)[:, self._tasks.entity_of_dim]
    moved = np.where(is_legal, moved, old)
    is_legal = self._tasks.feasible(moved).all(1)
    moved = np.where(is_legal[:, None], moved, old)
    moved = self._tasks.canonical(moved).reshape(step.shape)
    distance = np.linalg.norm(moved - towards[:, None], axis=-1)
    order = np.argsort(distance, 1)[..., None]
    return np.take_along_axis(moved, order, 1)


def transported(
  points: np.ndarray, target: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
  """Returns where points [N, D] go in target [N, D], by sliced transport.

  Along each direction, the k-th point goes to the k-th point of the target.
  Directions form whole orthonormal bases, so that the points meet a target
  exactly if it is a translation or a scaling of them.

  Args:
    points: [N, D] points to move.
    target: [N, D] sample of the target distribution.
    rng: random generator for the directions.
  """
  dims = points.shape[1]
  num_bases = -(-_NUM_PROJECTIONS // dims)
  bases, _ = np.linalg.qr(rng.standard_normal([num_bases, dims, dims]))
  axes = bases.reshape([-1, dims]).T  # Rows of orthogonal matrices.
  along = points @ axes
  order = np.argsort(along, 0)
  goal = np.empty_like(along)
  np.put_along_axis(goal, order, np.sort(target @ axes, 0), 0)
  # The mean of the ways that the bases give.
  return points + (goal - along) @ axes.T / num_bases


def _fallen_back(failed: np.ndarray, solved: np.ndarray) -> np.ndarray:
  """Returns failed tasks [K, D], each replaced by a solved task near it.

  No solved task [S, D] is used twice; if S < K, some failed tasks stay.
  """
  found = failed.copy()
  row, column = _matched(failed, solved)
  found[row] = solved[column]
  return found


def _matched(
  one: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
  """Pairs points [K, D] with other ones [L, D]; no point is in two pairs.

  There are as many pairs as possible, with the least sum of squared distances.

  Returns:
    For each pair, the row in `one` and the row in `other`.
  """
  square = np.sum(one**2, 1)[:, None] + np.sum(other**2, 1)
  return optimize.linear_sum_assignment(square - 2.0 * one @ other.T)
