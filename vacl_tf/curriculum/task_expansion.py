# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Task expansion: VACL for one entity count (Algorithm 1; sheet section 2)."""

import tensorflow as tf

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import particles
from vacl_tf.curriculum import svgd
from vacl_tf.environments import task_space


class TaskExpansion(base.Curriculum):
  """An active set to learn on, a solved set to grow from."""

  def __init__(
    self,
    space: task_space.TaskSpace,
    cfg: config.CurriculumConfig,
    num_tasks: int,
    seed: types.Seed,
    most_tasks: int | None = None,
  ) -> None:
    """Fills the active set with easy tasks.

    Args:
      space: the tasks there are.
      cfg: all constants.
      num_tasks: played in an iteration that has cfg.num_children; those of
        another number of tasks are in proportion.
      seed: of the easy tasks.
      most_tasks: that an iteration may play; None for num_tasks.
    """
    super().__init__(name='task_expansion')
    self._space = space
    self._config = cfg
    self._children_per_task = cfg.num_children / num_tasks
    self._most_children = round(
      self._children_per_task * (most_tasks or num_tasks)
    )
    self.active = particles.ParticleSet(
      cfg.capacity,
      self._most_children,
      space.num_dims,
      cfg.active_eviction,
      cfg.num_neighbours,
      name='active',
    )
    # First in, first out needs no room to choose what goes.
    room = 0 if cfg.solved_eviction == 'fifo' else cfg.capacity
    self.solved = particles.ParticleSet(
      cfg.capacity,
      room,
      space.num_dims,
      cfg.solved_eviction,
      cfg.num_neighbours,
      name='solved',
    )
    # Latest coverage of the target distribution.
    self.mastery = tf.Variable(0.0, trainable=False, name='mastery')
    easy = space.sample_easy(cfg.num_easy_tasks, seed)
    no_parent = tf.zeros([len(easy)], tf.int32)
    self._bear(easy, no_parent, no_parent == 0)

  def sample(
    self, num_tasks: int, seed: types.Seed, size: tf.Tensor | None = None
  ) -> tuple[types.TaskBatch, ...]:
    """Draws active and solved tasks 95 : 5, without replacement.

    Where active tasks run short, solved ones fill up; where both do, rows are
    repeated, and the repeats are not scored. Nor are those of the target
    distribution, which come last.
    """
    active_order, solved_order, target_seed = randomness.split(seed, 3)
    size = tf.constant(num_tasks) if size is None else size
    num_others = size - self._target_quota(size)
    num_active, num_solved = self._quotas(num_others)
    position = tf.range(num_tasks)
    is_active = position < num_active
    is_solved = ~is_active & (position < num_active + num_solved)
    # The rows left over go round the set that is not empty.
    spare = position - num_active
    from_active = is_active | (self.solved.count == 0)
    active_slot = _pick(self.active, active_order, position)
    solved_slot = _pick(self.solved, solved_order, spare)
    origin = tf.where(
      is_active,
      int(types.Origin.ACTIVE),
      tf.where(is_solved, int(types.Origin.SOLVED), int(types.Origin.FRESH)),
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
    count = tf.constant(self._space.count)
    return (types.TaskBatch(phi, count, origin, slot, size),)

  def update(
    self,
    batches: tuple[types.TaskBatch, ...],
    values: tuple[tf.Tensor, ...],
    evaluation: tf.Tensor,
    seed: types.Seed,
  ) -> types.Metrics:
    """Scores the batch, moves what is solved, expands around it."""
    cfg = self._config
    is_known = ~tf.math.is_nan(evaluation[-1])
    self.mastery.assign(tf.where(is_known, evaluation[-1], 0.0))
    choice, active_seed, solved_seed, noise = randomness.split(seed, 4)
    value = self._score(batches[0], values[0])
    newly_solved = value > cfg.solved_value  # NaN is neither above nor below.
    seeds, num_seeds = self._choose_seeds(newly_solved, choice)
    num_before = self.active.count.read_value()
    self.solved.append(self.active.rows, newly_solved)
    self.active.keep(~newly_solved & ~self._surplus(value, newly_solved))
    num_solved = tf.reduce_sum(tf.cast(newly_solved, tf.int32))
    num_dropped = num_before - num_solved - self.active.count
    self.active.evict(active_seed)
    self.solved.evict(solved_seed)
    num_children = tf.minimum(
      self._children_of(batches[0].size),
      (cfg.max_children_per_seed or self._most_children) * num_seeds,
    )
    children = svgd.propose(
      self._space,
      seeds.phi,
      num_seeds,
      self.solved.rows.phi,
      self.solved.in_use(),
      cfg,
      noise,
    )
    child = tf.range(self._most_children)
    parent = child % tf.maximum(num_seeds, 1)
    generation = tf.gather(seeds.origin, parent) + 1
    self._bear(children, generation, child < num_children)
    return {
      'training_value': base.mean_value(batches[0], values[0]),
      'active_tasks': self.active.count.read_value(),
      'solved_tasks': self.solved.count.read_value(),
      'newly_solved': num_solved,
      'dropped': num_dropped,
      'solved_spread': _spread(self.solved),
    }

  def history(self) -> dict[str, tf.Tensor]:
    """Returns the rows in use of both sets."""
    history = {}
    for name, members in (('active', self.active), ('solved', self.solved)):
      for field, rows in members.rows._asdict().items():
        history[f'{name}_{field}'] = rows[: members.count]
    return history

  def _bear(
    self, phi: tf.Tensor, generation: tf.Tensor, is_wanted: tf.Tensor
  ) -> None:
    """Adds those of the tasks phi [K, D] to the active set that are wanted."""
    num = phi.shape[0]
    unknown = tf.fill([num], float('nan'))
    rows = particles.Rows(phi, unknown, generation, tf.zeros([num], tf.int32))
    self.active.append(rows, is_wanted)

  def _children_of(self, num_tasks: tf.Tensor) -> tf.Tensor:
    """Returns how many children an iteration with so many tasks may have."""
    number = self._children_per_task * tf.cast(num_tasks, tf.float32)
    return tf.cast(tf.round(number), tf.int32)

  def _target_quota(self, num_tasks: tf.Tensor) -> tf.Tensor:
    """Returns how many tasks of a batch are of the target distribution."""
    share = self._config.target_share * self.mastery
    return tf.cast(share * tf.cast(num_tasks, tf.float32), tf.int32)

  def _quotas(self, num_tasks: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns how many active and solved tasks a batch holds; sheet 2.3."""
    share = self._config.solved_fraction * tf.cast(num_tasks, tf.float32)
    wanted = tf.cast(share + 1e-3, tf.int32)  # Above a rounded-down integer.
    num_solved = tf.minimum(self.solved.count, wanted)
    num_active = tf.minimum(self.active.count, num_tasks - num_solved)
    return num_active, tf.minimum(self.solved.count, num_tasks - num_active)

  def _score(self, batch: types.TaskBatch, value: tf.Tensor) -> tf.Tensor:
    """Notes the values of active tasks; returns them, NaN where unseen."""
    for members in (self.active, self.solved):
      members.rows.age.assign_add(tf.ones_like(members.rows.age))
    is_scored = batch.origin == int(types.Origin.ACTIVE)
    slot = tf.where(is_scored, batch.slot, self.active.size)
    seen = tf.fill([self.active.size + 1], float('nan'))
    seen = tf.tensor_scatter_nd_update(seen, slot[:, None], value)[:-1]
    known = self.active.rows.value
    known.assign(tf.where(tf.math.is_nan(seen), known, seen))
    return seen

  def _choose_seeds(
    self, newly_solved: tf.Tensor, seed: types.Seed
  ) -> tuple[particles.Rows, tf.Tensor]:
    """Returns K rows of the active set and how many of them are seeds."""
    size, num = self.active.size, self._most_children
    if self._config.seed_choice == 'random':
      score = randomness.uniform(seed, [size])
    else:
      score = tf.range(size, dtype=tf.float32) / size
    order = tf.argsort(tf.where(newly_solved, score, 2.0))[:num]
    rows = particles.Rows(*(tf.gather(row, order) for row in self.active.rows))
    num_seeds = tf.reduce_sum(tf.cast(newly_solved, tf.int32))
    return rows, tf.minimum(num_seeds, num)

  def _surplus(self, value: tf.Tensor, newly_solved: tf.Tensor) -> tf.Tensor:
    """Returns which low scorers go: only while the set is full; sheet 2.3."""
    is_low = value < self._config.dropped_value
    staying = self.active.count - tf.reduce_sum(tf.cast(newly_solved, tf.int32))
    excess = staying - self.active.capacity + 1
    return is_low & (tf.cumsum(tf.cast(is_low, tf.int32)) <= excess)


def _pick(
  members: particles.ParticleSet, seed: types.Seed, position: tf.Tensor
) -> tf.Tensor:
  """Returns rows in use, in a random order, going round if they run out."""
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
