# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Task expansion that plays children before it admits them to the active set.

This is the paper's evaluation of new tasks (section on ablations, "w. eval").
In the paper, children take a part of the training batch. Here they are probes:
their steps count, but the policy does not train on them, so that batches are
those of plain task expansion.
"""

import tensorflow as tf

from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import particles
from vacl_tf.curriculum import task_expansion


class TestedExpansion(task_expansion.TaskExpansion):
  """Children wait for a test; the sets hold no child that was not played.

  Attributes:
    waiting: the latest children that have not been tested yet.
  """

  def __init__(self, setting: base.Setting) -> None:
    super().__init__(setting)
    cfg = setting.cfg.curriculum
    self.waiting = particles.ParticleSet(
      self._most_children,
      0,
      setting.space.num_dims,
      'fifo',
      cfg.num_neighbours,
      name='waiting',
    )

  def probe(
    self, num_tasks: int, seed: types.Seed, size: tf.Tensor | None = None
  ) -> tuple[types.TaskBatch, ...]:
    """Returns the children that have waited longest."""
    del seed
    # Worlds may also play rows beyond the size, so these are legal tasks too.
    index = tf.range(num_tasks) % tf.maximum(self.waiting.count, 1)
    phi = tf.gather(self.waiting.rows.phi, index)
    most = tf.constant(num_tasks) if size is None else size
    return (base.fresh_batch(phi, tf.minimum(self.waiting.count, most)),)

  def note_probe(
    self,
    batches: tuple[types.TaskBatch, ...],
    feedback: tuple[types.TaskFeedback, ...],
    seed: types.Seed,
  ) -> None:
    """Admits tested children that are neither too hard nor solved.

    All other tested children are dropped.
    """
    cfg, size = self._config, batches[0].size
    score = self._scores_of(feedback[0])[: self.waiting.size]
    score = tf.pad(score, [[0, self.waiting.size - score.shape[0]]])
    is_tested = tf.range(self.waiting.size) < size
    is_active = (score >= cfg.dropped_value) & (score <= cfg.solved_value)
    rows = particles.Rows(*(x.read_value() for x in self.waiting.rows))
    self.active.append(rows._replace(value=score), is_tested & is_active)
    self.active.evict(seed)
    self.waiting.keep(~is_tested)

  def _add_children(self, rows: particles.Rows, is_wanted: tf.Tensor) -> None:
    self.waiting.append(rows, is_wanted)
