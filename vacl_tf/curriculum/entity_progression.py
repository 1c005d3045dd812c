# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Entity progression: from few entities to many (algorithm sheet, section 3).

The number of entities is relaxed to a categorical distribution over counts.
Its weight z lies on one count, or on two neighbours while it moves from the
smaller to the larger one. Each count has a curriculum of its own.
"""

from collections.abc import Callable, Sequence

import tensorflow as tf
import tensorflow_probability as tfp

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import tracing
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.environments import task_space

# Weights are multiples of a tenth, and so are the parts of a batch. Numbers of
# worlds are data of compiled programs, so a growing weight compiles nothing.
NUM_PARTS = config.NUM_PARTS

# A curriculum of tasks with one count, which may play so many of them.
MakeInner = Callable[[task_space.TaskSpace, int, types.Seed], base.Curriculum]


class EntityProgression(base.Curriculum):
  """Moves on when the policy masters the present count."""

  def __init__(
    self,
    spaces: Sequence[task_space.TaskSpace],
    make_inner: MakeInner,
    cfg: config.ProgressionConfig,
    num_tasks: int,
    seed: types.Seed,
  ) -> None:
    """Starts with the first count alone.

    Args:
      spaces: tasks of each count, from few entities to many.
      make_inner: makes the curriculum of one count.
      cfg: when and how to move on.
      num_tasks: of an iteration with a single count, a multiple of NUM_PARTS.
      seed: of the curricula.
    """
    super().__init__(name='entity_progression')
    self._config = cfg
    self._part = num_tasks // NUM_PARTS
    self._agents = [space.count for space in spaces]
    self._rows = [
      self._part * max(NUM_PARTS, self._in_agents(index, NUM_PARTS - 1))
      for index in range(len(spaces))
    ]
    self.inner = [
      make_inner(space, rows, randomness.fold(seed, index))
      for index, (space, rows) in enumerate(
        zip(spaces, self._rows, strict=True)
      )
    ]
    # The smaller count with any weight, the larger one's tenths, and the
    # iterations since these last grew.
    self.stage = tf.Variable(0, trainable=False, name='stage')
    self.tenths = tf.Variable(0, trainable=False, name='tenths')
    self.waited = tf.Variable(0, trainable=False, name='waited')

  def distribution(self) -> tfp.distributions.Categorical:
    """Returns the distribution over counts, with weights z and 1 - z."""
    num = len(self.inner)
    larger = tf.cast(self.tenths, tf.float32) / NUM_PARTS
    probs = (1.0 - larger) * tf.one_hot(self.stage, num)
    probs += larger * tf.one_hot(self.stage + 1, num)
    return tfp.distributions.Categorical(probs=probs)

  def in_play(self) -> tf.Tensor:
    return self.distribution().probs_parameter() > 0.0

  def sample(
    self, num_tasks: int, seed: types.Seed, size: tf.Tensor | None = None
  ) -> tuple[types.TaskBatch, ...]:
    """Returns a batch for every count; those not in play have size 0."""
    if num_tasks != self._part * NUM_PARTS or size is not None:
      raise ValueError(
        f'num_tasks={num_tasks} of size {size}; allowed: all of '
        f'{self._part * NUM_PARTS}'
      )
    draw, *seeds = randomness.split(seed, 1 + len(self.inner))
    sizes = tf.unstack(self._part * self.quotas(draw))
    batches = [
      inner.sample(rows, inner_seed, size)
      for inner, rows, inner_seed, size in zip(
        self.inner, self._rows, seeds, sizes, strict=True
      )
    ]
    return tuple(batch for (batch,) in batches)

  def quotas(self, seed: types.Seed) -> tf.Tensor:
    """Returns the parts of each count in an iteration, int32 [counts].

    The smaller count's share is multiplied so that as many agents live
    through an iteration as with the larger count alone (mixing = 'agents').
    """
    distribution, num = self.distribution(), len(self.inner)
    if self._config.mixing == 'stochastic':
      drawn = distribution.sample(NUM_PARTS, seed=seed)
      return tf.reduce_sum(tf.one_hot(drawn, num, dtype=tf.int32), 0)
    share = distribution.probs_parameter() * NUM_PARTS
    parts = tf.cast(tf.round(share), tf.int32)
    if self._config.mixing == 'paper':
      return parts
    table = tf.constant(
      [
        [self._in_agents(index, part) for part in range(NUM_PARTS)]
        + [NUM_PARTS]  # Alone.
        for index in range(num)
      ]
    )
    is_smaller = tf.range(num) == self.stage
    grown = tf.gather(table, parts, axis=1, batch_dims=1)
    return tf.where(is_smaller, grown, parts)

  def update(
    self,
    batches: tuple[types.TaskBatch, ...],
    values: tuple[tf.Tensor, ...],
    evaluation: tf.Tensor,
    seed: types.Seed,
  ) -> types.Metrics:
    """Updates the counts in play; their metrics are the largest one's."""
    seeds = randomness.split(seed, len(self.inner))
    found = [
      _if_played(inner, batch, value, evaluation[index : index + 1], inner_seed)
      for index, (inner, batch, value, inner_seed) in enumerate(
        zip(self.inner, batches, values, seeds, strict=True)
      )
    ]
    distribution = self.distribution()
    largest = self.stage + tf.cast(self.tenths > 0, tf.int32)
    metrics = {
      # Not [largest], which would compile anew for each of its values.
      name: tf.gather([metrics[name] for metrics in found], largest)
      for name in found[0]
    }
    metrics |= {
      'num_agents': tf.gather(tf.constant(self._agents), largest),
      'mixing_weight': 1.0 - tf.cast(self.tenths, tf.float32) / NUM_PARTS,
      'mixing_entropy': distribution.entropy(),
    }
    self._move_on(evaluation)
    return metrics

  def history(self) -> dict[str, tf.Tensor]:
    """Returns the history of the largest count in play."""
    return self.inner[int(self.stage) + (int(self.tenths) > 0)].history()

  def _in_agents(self, index: int, parts: int) -> int:
    """Returns parts of a count with the agents of as many of the next one."""
    larger = self._agents[min(index + 1, len(self._agents) - 1)]
    return round(parts * larger / self._agents[index])

  def _move_on(self, evaluation: tf.Tensor) -> None:
    """Moves weight to the next count, given greedy coverage [counts]."""
    cfg, last = self._config, len(self.inner) - 1
    stage, tenths = self.stage.read_value(), self.tenths.read_value()
    waited = self.waited.read_value() + 1
    next_stage = tf.minimum(stage + 1, last)
    is_mixing = tenths > 0
    # NaN, where nothing was evaluated yet, is never above anything.
    is_mastered = tf.gather(evaluation, stage) >= cfg.switch_coverage
    begins = (stage < last) & ~is_mixing & is_mastered
    if cfg.transition == 'direct':
      self.stage.assign(tf.where(begins, next_stage, stage))
      return
    is_due = is_mixing & (waited >= cfg.mixing_interval)
    grown = tenths + round(cfg.mixing_step * NUM_PARTS)
    tenths = tf.where(begins | is_due, grown, tenths)
    is_early = tf.gather(evaluation, next_stage) > cfg.switch_coverage
    ends = is_mixing & (is_early | (tenths >= NUM_PARTS))
    self.stage.assign(tf.where(ends, next_stage, stage))
    self.tenths.assign(tf.where(ends, 0, tenths))
    self.waited.assign(tf.where(begins | is_due, 0, waited))


def _if_played(
  inner: base.Curriculum,
  batch: types.TaskBatch,
  value: tf.Tensor,
  evaluation: tf.Tensor,
  seed: types.Seed,
) -> types.Metrics:
  """Updates a curriculum if any of its tasks was played; else metrics are 0."""

  def update() -> types.Metrics:
    metrics = inner.update((batch,), (value,), evaluation, seed)
    return {name: tf.cast(x, tf.float32) for name, x in metrics.items()}

  update, names = tracing.once(update)
  return tf.cond(
    batch.size > 0, update, lambda: {name: tf.constant(0.0) for name in names}
  )
