# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Task expansion for one entity count (paper, section 3.1 and Algorithm 1).

docs/reproduction.md, "Task expansion", lists what is done here where the paper
leaves something open or the released code differs from it.
"""

import enum
from typing import NamedTuple

import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import density_ratio
from vacl_tf.curriculum import particles
from vacl_tf.curriculum import svgd
from vacl_tf.environments import task_space


class TaskSource(enum.IntEnum):
  """Where the task in a row of a batch came from."""

  ACTIVE = 0
  SOLVED = 1
  UNSCORED = 2  # It gets no score: a target task, a repeated row or padding.


class Ticket(NamedTuple):
  """For each task of a batch, the set and the row that it came from."""

  source: tf.Tensor  # [B] int32 TaskSource.
  slot: tf.Tensor  # [B] int32 row in that set.


class TaskExpansion(base.Curriculum):
  """An active set of tasks to learn, and a solved set to expand from.

  Attributes:
    active: the active set, Q_act.
    solved: the solved set, Q_sol.
    mastery: latest coverage on the target tasks, 0 before the first evaluation.
  """

  def __init__(self, setting: base.Setting) -> None:
    """Fills the active set with easy tasks, GetEasy(n).

    Args:
      setting: cfg.curriculum is a TaskExpansionConfig. An iteration of
        num_tasks tasks adds at most cfg.curriculum.num_children children; with
        another number of tasks, this limit changes in proportion.
    """
    super().__init__(name='task_expansion')
    cfg, space = setting.cfg.curriculum, setting.space
    self._space = space
    self._config = cfg
    if cfg.score == 'success':
      self.feedback = ('success',)
    self._children_per_task = cfg.num_children / setting.num_tasks
    self._most_children = round(self._children_per_task * setting.most_tasks)
    self.active = particles.ParticleSet(
      cfg.capacity,
      self._most_children,
      space.num_dims,
      cfg.active_eviction,
      cfg.num_neighbours,
      name='active',
    )
    # With 'fifo', a new row replaces the oldest at once and needs no room.
    room = 0 if cfg.solved_eviction == 'fifo' else cfg.capacity
    self.solved = particles.ParticleSet(
      cfg.capacity,
      room,
      space.num_dims,
      cfg.solved_eviction,
      cfg.num_neighbours,
      name='solved',
    )
    self.mastery = tf.Variable(0.0, trainable=False, name='mastery')
    easy = space.sample_easy(cfg.num_easy_tasks, setting.seed)
    no_parent = tf.fill(easy.shape, float('nan'))
    first = tf.zeros([len(easy)], tf.int32)
    self.active.append(_new_rows(easy, no_parent, first), first == 0)

  def sample(
    self, num_tasks: int, seed: types.Seed, size: tf.Tensor | None = None
  ) -> tuple[types.TaskBatch, ...]:
    """Draws active and solved tasks, by default 95 : 5, without replacement.

    Solved tasks replace missing active ones. If both sets together are too
    small, tasks repeat, and the repeats are not scored. Target tasks come last
    and are not scored either.
    """
    active_order, solved_order, target_seed = randomness.split(seed, 3)
    size = tf.constant(num_tasks) if size is None else size
    num_others = size - self._target_quota(size)
    num_active, num_solved = self._quotas(num_others)
    position = tf.range(num_tasks)
    is_active = position < num_active
    is_solved = ~is_active & (position < num_active + num_solved)
    # The remaining rows repeat tasks of the solved set, or of the active set
    # while no task is solved.
    spare = position - num_active
    from_active = is_active | (self.solved.count == 0)
    active_slot = _pick(self.active, active_order, position)
    solved_slot = _pick(self.solved, solved_order, spare)
    source = tf.where(
      is_active,
      int(TaskSource.ACTIVE),
      tf.where(is_solved, int(TaskSource.SOLVED), int(TaskSource.UNSCORED)),
    )
    phi = tf.where(
      from_active[:, None],
      tf.gather(self.active.rows.phi, active_slot),
      tf.gather(self.solved.rows.phi, solved_slot),
    )
    if self._config.target_share:
      target = self._space.sample_target(num_tasks, target_seed)
      phi = tf.where((position < num_others)[:, None], phi, target)
    slot = tf.where(from_active, active_slot, solved_slot)
    return (types.TaskBatch(phi, size, Ticket(source, slot)),)

  def update(
    self,
    batches: tuple[types.TaskBatch, ...],
    feedback: tuple[types.TaskFeedback, ...],
    evaluation: tf.Tensor,
    seed: types.Seed,
  ) -> types.Metrics:
    """Scores the batch, moves solved tasks, adds children (Algorithm 1)."""
    cfg = self._config
    is_known = ~tf.math.is_nan(evaluation[-1])
    self.mastery.assign(tf.where(is_known, evaluation[-1], self.mastery))
    choice_seed, active_seed, solved_seed, child_seed, target_seed = (
      randomness.split(seed, 5)
    )
    scores = self._scores_of(feedback[0])
    value = self._record(batches[0], scores)
    newly_solved = value > cfg.solved_value  # NaN compares as False.
    is_staying = ~newly_solved & ~self._surplus(value, newly_solved)
    candidates = self._candidates(newly_solved, is_staying)
    seeds, num_seeds = self._choose_seeds(candidates, choice_seed)
    num_before = self.active.count.read_value()
    self.solved.append(self.active.rows, newly_solved)
    self.active.keep(is_staying)
    num_solved = tf.reduce_sum(tf.cast(newly_solved, tf.int32))
    num_dropped = num_before - num_solved - self.active.count
    self.active.evict(active_seed)
    self.solved.evict(solved_seed)
    num_children = self._num_children(batches[0].size, num_seeds)
    children = svgd.propose(
      self._space, seeds.phi, num_seeds, *self._repelling(), cfg, child_seed
    )
    child = tf.range(self._most_children)
    parent = child % tf.maximum(num_seeds, 1)
    generation = tf.gather(seeds.generation, parent) + 1
    parent = tf.gather(seeds.phi, parent)
    rows = _new_rows(children, parent, generation)
    self._add_children(rows, child < num_children)
    return {
      'training_value': base.mean_value(batches[0], feedback[0].value),
      'active_tasks': self.active.count.read_value(),
      'solved_tasks': self.solved.count.read_value(),
      'newly_solved': num_solved,
      'dropped': num_dropped,
      'solved_spread': _spread(self.solved),
      'solved_kept': self._solved_kept(batches[0], scores),
      **self._bound(batches[0], feedback[0].value, target_seed),
    }

  def history(self) -> dict[str, tf.Tensor]:
    """Returns the rows in use of both sets."""
    history = {}
    for name, members in (('active', self.active), ('solved', self.solved)):
      for field, rows in members.rows._asdict().items():
        history[f'{name}_{field}'] = rows[: members.count]
    return history

  def _add_children(self, rows: particles.Rows, is_wanted: tf.Tensor) -> None:
    """Adds those of K children that are wanted to the active set."""
    self.active.append(rows, is_wanted)

  def _num_children(
    self, num_tasks: tf.Tensor, num_seeds: tf.Tensor
  ) -> tf.Tensor:
    """Returns the number of children of num_seeds seeds in a batch."""
    most = self._children_per_task * tf.cast(num_tasks, tf.float32)
    each = self._config.max_children_per_seed or self._most_children
    return tf.minimum(tf.cast(tf.round(most), tf.int32), each * num_seeds)

  def _target_quota(self, num_tasks: tf.Tensor) -> tf.Tensor:
    """Returns how many tasks of a batch are target tasks."""
    share = self._config.target_share * self.mastery
    return tf.cast(share * tf.cast(num_tasks, tf.float32), tf.int32)

  def _quotas(self, num_tasks: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns how many active and solved tasks a batch holds.

    See the paper, appendix, "The Ratio of Active and Solved Tasks".
    """
    num = tf.cast(num_tasks, tf.float32)
    if self._config.batch_shares == 'proportional':
      num_members = tf.maximum(self.active.count + self.solved.count, 1)
      share = tf.cast(self.solved.count / num_members, tf.float32)
      wanted = tf.cast(tf.round(share * num), tf.int32)
    else:
      share = self._config.solved_fraction * num
      wanted = tf.cast(share + 1e-3, tf.int32)  # Against rounding errors.
    num_solved = tf.minimum(self.solved.count, wanted)
    num_active = tf.minimum(self.active.count, num_tasks - num_solved)
    return num_active, tf.minimum(self.solved.count, num_tasks - num_active)

  def _scores_of(self, feedback: types.TaskFeedback) -> tf.Tensor:
    """Returns [B] scores, to compare with solved_value and dropped_value."""
    is_success = self._config.score == 'success'
    return feedback.success if is_success else feedback.value

  def _record(self, batch: types.TaskBatch, scores: tf.Tensor) -> tf.Tensor:
    """Stores the scores of a batch's active tasks; all tasks get older.

    Args:
      batch: batch, as it was sampled.
      scores: [B] scores of its tasks.

    Returns:
      The same scores by row of the active set, NaN for tasks not in the batch.
    """
    for members in (self.active, self.solved):
      members.rows.age.assign_add(tf.ones_like(members.rows.age))
    is_scored = batch.ticket.source == int(TaskSource.ACTIVE)
    slot = tf.where(is_scored, batch.ticket.slot, self.active.size)
    seen = tf.fill([self.active.size + 1], float('nan'))
    seen = tf.tensor_scatter_nd_update(seen, slot[:, None], scores)[:-1]
    known = self.active.rows.value
    known.assign(tf.where(tf.math.is_nan(seen), known, seen))
    return seen

  def _candidates(
    self, newly_solved: tf.Tensor, is_staying: tf.Tensor
  ) -> tf.Tensor:
    """Returns which rows of the active set may be seeds.

    Args:
      newly_solved: bool, by row of the active set: tasks that are now solved.
      is_staying: likewise, tasks that are neither solved nor dropped.
    """
    if self._config.seed_source == 'solved':
      return newly_solved
    is_staying &= self.active.in_use()
    if self._config.seed_source == 'active':  # NaN compares as False.
      is_staying &= self.active.rows.value >= self._config.dropped_value
    return is_staying

  def _repelling(self) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns tasks [C, D], and the weight [C] by which each repels seeds."""
    solved, active = self.solved, self.active
    if self._config.weighting == 'none':
      return solved.rows.phi, tf.cast(solved.in_use(), tf.float32)
    phi = tf.concat([active.rows.phi, solved.rows.phi], 0)
    value = tf.concat([active.rows.value, solved.rows.value], 0)
    is_known = tf.concat([active.in_use(), solved.in_use()], 0)
    is_known &= ~tf.math.is_nan(value)
    return phi, tf.where(is_known, value, 0.0)

  def _solved_kept(self, batch: types.TaskBatch, score: tf.Tensor) -> tf.Tensor:
    """Returns the share of a batch's solved tasks that are still solved.

    Without any solved task in the batch it is 1, since none was lost.
    """
    is_replayed = batch.ticket.source == int(TaskSource.SOLVED)
    is_kept = is_replayed & (score > self._config.solved_value)
    num, num_kept = (
      tf.reduce_sum(tf.cast(x, tf.float32)) for x in (is_replayed, is_kept)
    )
    return tf.where(num > 0.0, num_kept / tf.maximum(num, 1.0), 1.0)

  def _bound(
    self, batch: types.TaskBatch, value: tf.Tensor, seed: types.Seed
  ) -> types.Metrics:
    """Returns L2, the second term of the bound (paper, section 3).

    The first term is the mean value. If target tasks come from code on the
    host, there is no metric: a draw may take long or fail, and would serve
    nothing else.
    """
    if not self._space.is_compiled:
      return {}
    batch, value = density_ratio.thinned(batch, value)
    target = self._space.sample_target(batch.phi.shape[0], seed)
    log_ratio = density_ratio.log_ratio(
      *(task_space.canonical(self._space, x) for x in (batch.phi, target)),
      batch.size,
    )
    return {'bound_curriculum': base.mean_value(batch, value * log_ratio)}

  def _choose_seeds(
    self, candidates: tf.Tensor, seed: types.Seed
  ) -> tuple[particles.Rows, tf.Tensor]:
    """Returns K rows of the active set, seeds first, and the number of seeds.

    Args:
      candidates: bool, by row of the active set: tasks that may be seeds.
      seed: random seed of the choice.
    """
    size, num = self.active.size, self._most_children
    if self._config.seed_choice == 'random':
      score = randomness.uniform(seed, [size])
    else:
      score = tf.range(size, dtype=tf.float32) / size
    order = tf.argsort(tf.where(candidates, score, 2.0))[:num]
    rows = particles.Rows(*(tf.gather(row, order) for row in self.active.rows))
    num_seeds = tf.reduce_sum(tf.cast(candidates, tf.int32))
    return rows, tf.minimum(num_seeds, num)

  def _surplus(self, value: tf.Tensor, newly_solved: tf.Tensor) -> tf.Tensor:
    """Returns which tasks of low value leave, so that the set is not full."""
    is_low = value < self._config.dropped_value
    staying = self.active.count - tf.reduce_sum(tf.cast(newly_solved, tf.int32))
    excess = staying - self.active.capacity + 1
    return is_low & (tf.cumsum(tf.cast(is_low, tf.int32)) <= excess)


def _new_rows(
  phi: tf.Tensor, parent: tf.Tensor, generation: tf.Tensor
) -> particles.Rows:
  """Returns rows of tasks phi [K, D] that were not played yet."""
  num = phi.shape[0]
  return particles.Rows(
    phi=phi,
    value=tf.fill([num], float('nan')),
    generation=generation,
    age=tf.zeros([num], tf.int32),
    parent=parent,
  )


def _pick(
  members: particles.ParticleSet, seed: types.Seed, position: tf.Tensor
) -> tf.Tensor:
  """Returns the rows in use at the given positions of a random order.

  Positions beyond the number of rows in use start again at the first.
  """
  score = randomness.uniform(seed, [members.size])
  order = tf.argsort(tf.where(members.in_use(), score, 2.0))
  return tf.gather(order, position % tf.maximum(members.count, 1))


def _spread(members: particles.ParticleSet) -> tf.Tensor:
  """Returns the root mean square distance of a coordinate from its mean."""
  weight = tf.cast(members.in_use(), tf.float32)[:, None]
  total = tf.maximum(tf.reduce_sum(weight), 1.0)
  mean = tf.reduce_sum(weight * members.rows.phi, 0) / total
  square = tf.reduce_sum(weight * (members.rows.phi - mean) ** 2, 0) / total
  return tf.sqrt(tf.reduce_mean(square))
