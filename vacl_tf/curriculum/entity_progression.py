# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Entity progression: from few entities to many (paper, section 3.2).

The number of entities is relaxed to a categorical distribution (section 2.3).
Its weight is on one entity count, or, while it moves from a smaller count to
the next larger one, on both: z on the smaller and 1 - z on the larger. Each
count has its own curriculum, of any kind.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import tracing
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import checks
from vacl_tf.environments import base as environment_base

# Weights are multiples of a tenth, and so are the parts of a batch. Batch sizes
# are inputs of compiled programs, so a new weight needs no compilation.
NUM_PARTS = config.NUM_PARTS

MakeInner = Callable[[base.Setting], base.Curriculum]


def settings(
  cfg: config.Config,
  worlds: Sequence[environment_base.World],
  seed: types.Seed,
) -> list[base.Setting]:
  """Returns the setting of the curriculum of each entity count.

  Args:
    cfg: all constants; training.num_tasks is a multiple of NUM_PARTS.
    worlds: one world per count, from few entities to many.
    seed: random seed of the curricula.
  """
  num_tasks = cfg.training.num_tasks
  spaces = [world.task_space for world in worlds]
  agents = [space.num_agents for space in spaces]
  most_parts = [
    max(NUM_PARTS, _in_agents(agents, index, NUM_PARTS - 1))
    for index in range(len(agents))
  ]
  return [
    base.Setting(
      cfg=cfg,
      space=space,
      world=world,
      num_tasks=num_tasks,
      most_tasks=num_tasks // NUM_PARTS * parts,
      seed=randomness.fold(seed, index),
    )
    for index, (space, world, parts) in enumerate(
      zip(spaces, worlds, most_parts, strict=True)
    )
  ]


class EntityProgression(base.Curriculum):
  """Moves to the next entity count when the policy masters the current one."""

  def __init__(
    self, inner_settings: Sequence[base.Setting], make_inner: MakeInner
  ) -> None:
    """Starts with all weight on the first count.

    Args:
      inner_settings: one per count, from few entities to many; see `settings`.
      make_inner: makes the curriculum of one count.
    """
    super().__init__(name='entity_progression')
    first = inner_settings[0]
    self._config = first.cfg.progression
    self._part = first.num_tasks // NUM_PARTS
    self._agents = [x.space.num_agents for x in inner_settings]
    self._rows = [x.most_tasks for x in inner_settings]
    self._num_dims = [x.space.num_dims for x in inner_settings]
    self.inner = [make_inner(x) for x in inner_settings]
    # The index of the smaller count, the weight of the larger count in tenths,
    # and the iterations since either last changed.
    self.stage = tf.Variable(0, trainable=False, name='stage')
    self.tenths = tf.Variable(0, trainable=False, name='tenths')
    self.waited = tf.Variable(0, trainable=False, name='waited')

  @property
  def source(self) -> str:
    return self.inner[0].source

  @property
  def feedback(self) -> tuple[str, ...]:
    """Feedback fields that the curriculum of any count asks for."""
    names = [name for inner in self.inner for name in inner.feedback]
    return tuple(dict.fromkeys(names))

  @property
  def is_compiled(self) -> bool:
    """Whether the curricula of all counts are compiled."""
    return all(inner.is_compiled for inner in self.inner)

  @property
  def can_probe(self) -> bool:
    """Whether the curriculum of any count can probe."""
    return any(inner.can_probe for inner in self.inner)

  def distribution(self) -> tfp.distributions.Categorical:
    """Returns the distribution over entity counts, with weights z and 1 - z."""
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
    """Returns a batch for every count, of size 0 for counts not in play."""
    self._check_num_tasks(num_tasks, size)
    return self._draw(seed)

  def probe(
    self, num_tasks: int, seed: types.Seed, size: tf.Tensor | None = None
  ) -> tuple[types.TaskBatch, ...]:
    """Returns a batch for every count, of size 0 for counts not in play.

    A count probes at most as many tasks as it would train on.
    """
    self._check_num_tasks(num_tasks, size)
    return self._draw(seed, is_probe=True)

  def quotas(self, seed: types.Seed) -> tf.Tensor:
    """Returns int32 [counts]: parts of an iteration that each count plays.

    With mixing = 'agents' the smaller count plays more worlds than its weight
    says: as many as hold the agents that its share of worlds would have if
    they were worlds of the larger count.
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
        [_in_agents(self._agents, index, part) for part in range(NUM_PARTS)]
        + [NUM_PARTS]  # The only count.
        for index in range(num)
      ]
    )
    is_smaller = tf.range(num) == self.stage
    grown = tf.gather(table, parts, axis=1, batch_dims=1)
    return tf.where(is_smaller, grown, parts)

  def update(
    self,
    batches: tuple[types.TaskBatch, ...],
    feedback: tuple[types.TaskFeedback, ...],
    evaluation: tf.Tensor,
    seed: types.Seed,
  ) -> types.Metrics:
    """Updates the counts in play; returns the metrics of the largest."""
    seeds = randomness.split(seed, len(self.inner))
    update = _if_played if self.is_compiled else _if_played_on_host
    found = [
      update(inner, batch, how, evaluation[index : index + 1], inner_seed)
      for index, (inner, batch, how, inner_seed) in enumerate(
        zip(self.inner, batches, feedback, seeds, strict=True)
      )
    ]
    if not self.is_compiled:  # Curricula that were not called have no metrics.
      names = next(filter(None, found), {})
      found = [metrics or dict.fromkeys(names, math.nan) for metrics in found]
    distribution = self.distribution()
    largest = self.stage + tf.cast(self.tenths > 0, tf.int32)
    metrics = {
      # Indexing with [largest] would compile anew for each of its values.
      name: tf.gather([metrics[name] for metrics in found], largest)
      for name in found[0]
    }
    own = {
      'num_agents': tf.gather(tf.constant(self._agents), largest),
      'mixing_weight': 1.0 - tf.cast(self.tenths, tf.float32) / NUM_PARTS,
      'mixing_entropy': distribution.entropy(),
    }
    checks.check_names(metrics, own, 'update')
    self._move_on(evaluation)
    return metrics | own

  def note_probe(
    self,
    batches: tuple[types.TaskBatch, ...],
    feedback: tuple[types.TaskFeedback, ...],
    seed: types.Seed,
  ) -> None:
    """Passes the feedback on to the counts whose tasks were played."""
    seeds = randomness.split(seed, len(self.inner))
    for inner, batch, how, inner_seed in zip(
      self.inner, batches, feedback, seeds, strict=True
    ):
      if not self.is_compiled:
        if int(batch.size):
          inner.note_probe((batch,), (how,), inner_seed)
      else:
        _note_if_played(inner, batch, how, inner_seed)

  def history(self) -> dict[str, tf.Tensor | np.ndarray]:
    """Returns the history of the largest count in play.

    If that count has no history, because it was not played yet, returns the
    history of a smaller count.
    """
    largest = int(self.stage) + (int(self.tenths) > 0)
    found = (inner.history() for inner in self.inner[largest::-1])
    return next(filter(None, found), {})

  def _check_num_tasks(self, num_tasks: int, size: tf.Tensor | None) -> None:
    """Raises ValueError unless all tasks of an iteration are asked for."""
    if num_tasks != self._part * NUM_PARTS or size is not None:
      raise ValueError(
        f'num_tasks={num_tasks}, size={size}; allowed: '
        f'{self._part * NUM_PARTS}, None'
      )

  def _draw(
    self, seed: types.Seed, is_probe: bool = False
  ) -> tuple[types.TaskBatch, ...]:
    """Returns the draws of all counts, each for its part of an iteration.

    Args:
      seed: random seed of this draw.
      is_probe: whether to draw by `probe` instead of `sample`.

    Returns:
      A batch per count, or () if no count draws any.
    """
    draw, *seeds = randomness.split(seed, 1 + len(self.inner))
    sizes = tf.unstack(self._part * self.quotas(draw))
    found = [
      checks.as_tensors(
        (inner.probe if is_probe else inner.sample)(rows, inner_seed, size),
        self.source,
        is_probe=is_probe,
      )
      if self.is_compiled or int(size)
      else ()
      for inner, rows, inner_seed, size in zip(
        self.inner, self._rows, seeds, sizes, strict=True
      )
    ]
    if not any(found):
      return ()
    return tuple(
      _bounded(batches[0], size) if batches else self._nothing(index)
      for index, (batches, size) in enumerate(zip(found, sizes, strict=True))
    )

  def _nothing(self, index: int) -> types.TaskBatch:
    """Returns a batch of size 0 for a count."""
    phi = tf.zeros([self._rows[index], self._num_dims[index]])
    return base.fresh_batch(phi, tf.constant(0))

  def _move_on(self, evaluation: tf.Tensor) -> None:
    """Moves weight to the next count, given greedy coverage [counts]."""
    cfg, last = self._config, len(self.inner) - 1
    stage, tenths = self.stage.read_value(), self.tenths.read_value()
    waited = self.waited.read_value() + 1
    next_stage = tf.minimum(stage + 1, last)
    is_mixing = tenths > 0
    # NaN, before the first evaluation, compares as False.
    is_mastered = tf.gather(evaluation, stage) >= cfg.switch_coverage
    if cfg.latest_switch:
      is_mastered |= waited >= cfg.latest_switch
    begins = (stage < last) & ~is_mixing & is_mastered
    if cfg.transition == 'direct':
      self.stage.assign(tf.where(begins, next_stage, stage))
      self.waited.assign(tf.where(begins, 0, waited))
      return
    is_due = is_mixing & (waited >= cfg.mixing_interval)
    grown = tenths + round(cfg.mixing_step * NUM_PARTS)
    tenths = tf.where(begins | is_due, grown, tenths)
    is_early = tf.gather(evaluation, next_stage) > cfg.switch_coverage
    ends = is_mixing & (is_early | (tenths >= NUM_PARTS))
    self.stage.assign(tf.where(ends, next_stage, stage))
    self.tenths.assign(tf.where(ends, 0, tenths))
    self.waited.assign(tf.where(begins | is_due | ends, 0, waited))


def _in_agents(agents: Sequence[int], index: int, parts: int) -> int:
  """Returns parts of a count with as many agents as `parts` of the next."""
  larger = agents[min(index + 1, len(agents) - 1)]
  return round(parts * larger / agents[index])


def _bounded(batch: types.TaskBatch, size: tf.Tensor) -> types.TaskBatch:
  """Returns the batch, of which no more than the count's part is played."""
  return batch._replace(size=tf.minimum(batch.size, size))


def _if_played(
  inner: base.Curriculum,
  batch: types.TaskBatch,
  feedback: types.TaskFeedback,
  evaluation: tf.Tensor,
  seed: types.Seed,
) -> types.Metrics:
  """Updates a curriculum if its tasks were played; if not, returns NaN."""

  def update() -> types.Metrics:
    metrics = checks.named(
      inner.update((batch,), (feedback,), evaluation, seed)
    )
    return {name: tf.cast(x, tf.float32) for name, x in metrics.items()}

  update, names = tracing.once(update)
  return tf.cond(
    batch.size > 0, update, lambda: dict.fromkeys(names, tf.constant(math.nan))
  )


def _if_played_on_host(
  inner: base.Curriculum,
  batch: types.TaskBatch,
  feedback: types.TaskFeedback,
  evaluation: tf.Tensor,
  seed: types.Seed,
) -> dict[str, float]:
  """Updates a curriculum if its tasks were played; if not, returns {}."""
  if not int(batch.size):
    return {}
  metrics = checks.named(inner.update((batch,), (feedback,), evaluation, seed))
  return {name: float(x) for name, x in metrics.items()}


def _note_if_played(
  inner: base.Curriculum,
  batch: types.TaskBatch,
  feedback: types.TaskFeedback,
  seed: types.Seed,
) -> None:
  """Passes feedback on to a curriculum if any of its probes was played."""

  def note() -> tf.Tensor:
    inner.note_probe((batch,), (feedback,), seed)
    return tf.constant(True)

  tf.cond(batch.size > 0, note, lambda: tf.constant(False))
