# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Processes that train one run together.

All draw the same tasks; each plays and learns from a share of them. Gradients
and moments are summed and feedback is gathered, so that every replica holds the
same variables after each step and makes the same update of the curriculum.
(Variables that a user's agent changes while it acts are an exception.)
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import types

Tree = Any  # A structure of tensors.
Collective = Callable[[tf.Tensor], tf.Tensor]

_MOST_BYTES = 1 << 16  # Of all facts that replicas have to agree on.
_LONG = 200  # Characters of one such fact.


class LostError(Exception):
  """Another replica can't be reached any more."""


class Replicas:
  """A single process.

  Attributes:
    count: number of processes.
    index: index of this process. Process 0 is the chief, which logs and saves.
  """

  count = 1
  index = 0

  @property
  def is_chief(self) -> bool:
    """Whether this is the process that logs and saves."""
    return self.index == 0

  def share(self, batch: types.TaskBatch) -> types.TaskBatch:
    """Returns the tasks that this replica plays, without the ticket."""
    return batch._replace(ticket=())

  def sum(self, tree: Tree) -> Tree:
    """Returns the sum over all replicas, leaf by leaf, as float32."""
    return tree

  def gather(self, tree: Tree) -> Tree:
    """Returns leaves [B, ...] of all tasks, given those of this replica."""
    return tree

  def any(self, is_so: bool) -> bool:
    """Returns whether `is_so` is true on any replica."""
    return is_so

  def copy_from_chief(self, variables: Sequence[tf.Variable]) -> None:
    """Sets variables to the chief's values."""
    del variables

  def differences(self, facts: Mapping[str, Any]) -> str:
    """Returns a text about facts that differ between replicas; '' if none do.

    Args:
      facts: facts by name that have to be the same on all replicas.
    """
    del facts
    return ''


ALONE = Replicas()


class Group(Replicas):
  """Several processes, each with an equal share of every batch."""

  def __init__(
    self, count: int, index: int, add: Collective, concatenate: Collective
  ) -> None:
    """Initialises the view of one process.

    Args:
      count: number of processes.
      index: index of this process.
      add: returns the sum over all processes of a float32 tensor [N].
      concatenate: returns the float32 tensors [M, K] of all processes, one
        below the other in the order of their indices.
    """
    self.count = count
    self.index = index
    self._add = add
    self._concatenate = concatenate

  def share(self, batch: types.TaskBatch) -> types.TaskBatch:
    # Only the first `size` rows count: every count-th one is an equal share.
    # The number of probes is arbitrary: some replicas may play one more.
    size = (batch.size - self.index + self.count - 1) // self.count
    return types.TaskBatch(phi=batch.phi[self.index :: self.count], size=size)

  def sum(self, tree: Tree) -> Tree:
    # One operation for all leaves: each one costs about a millisecond.
    leaves = [tf.cast(x, tf.float32) for x in tf.nest.flatten(tree)]
    flat = self._add(tf.concat([tf.reshape(x, [-1]) for x in leaves], 0))
    parts = tf.split(flat, [x.shape.num_elements() for x in leaves])
    parts = [
      tf.reshape(part, x.shape) for part, x in zip(parts, leaves, strict=True)
    ]
    return tf.nest.pack_sequence_as(tree, parts)

  def gather(self, tree: Tree) -> Tree:
    leaves = [tf.cast(x, tf.float32) for x in tf.nest.flatten(tree)]
    rows = leaves[0].shape[0]
    wide = [tf.reshape(x, [rows, -1]) for x in leaves]
    found = self._concatenate(tf.concat(wide, 1))
    # Row i of replica r is task i * count + r, see `share`.
    found = tf.transpose(tf.reshape(found, [self.count, rows, -1]), [1, 0, 2])
    found = tf.reshape(found, [self.count * rows, -1])
    parts = tf.split(found, [x.shape[1] for x in wide], 1)
    parts = [
      tf.reshape(part, [-1, *x.shape[1:]])
      for part, x in zip(parts, leaves, strict=True)
    ]
    return tf.nest.pack_sequence_as(tree, parts)

  def any(self, is_so: bool) -> bool:
    return bool(self._add(tf.constant([float(is_so)]))[0] > 0.0)

  def copy_from_chief(self, variables: Sequence[tf.Variable]) -> None:
    # As bytes, so that variables of any type are copied exactly.
    mine = [np.asarray(x).tobytes() for x in variables]
    flat = np.frombuffer(b''.join(mine), np.uint8).astype(np.float32)
    found = self._concatenate(tf.constant(flat[:, None])).numpy()
    chief = found[: flat.size].astype(np.uint8).tobytes()
    for variable, own in zip(variables, mine, strict=True):
      value, chief = chief[: len(own)], chief[len(own) :]
      dtype = variable.dtype.as_numpy_dtype
      variable.assign(np.frombuffer(value, dtype).reshape(variable.shape))

  def differences(self, facts: Mapping[str, Any]) -> str:
    rows = (f'{name}={str(fact)[:_LONG]}' for name, fact in facts.items())
    mine = '\n'.join(rows).encode()[:_MOST_BYTES].ljust(_MOST_BYTES)
    row = np.frombuffer(mine, np.uint8).astype(np.float32)[None]
    found = self._concatenate(tf.constant(row)).numpy().astype(np.uint8)
    told = []
    for content in found:
      lines = content.tobytes().decode(errors='replace').rstrip().split('\n')
      told.append(dict(x.partition('=')[::2] for x in lines))
    return ', '.join(
      f'{name}: {told[0].get(name)} in replica 0 and {others.get(name)} in '
      f'replica {index}'
      for index, others in enumerate(told)
      for name in sorted({*told[0], *others})
      if told[0].get(name) != others.get(name)
    )


def distributed(strategy: tf.distribute.MultiWorkerMirroredStrategy) -> Group:
  """Returns the processes of a strategy, each with one device.

  Collective operations are not compiled by XLA, so they stay outside the
  compiled programs. Each process has plain variables of its own.
  """

  def collective(function: Collective, rank: int) -> Collective:
    # Without the identity, the strategy looks for a variable to reduce into.
    in_graph = tf.function(
      lambda x: strategy.run(lambda: function(tf.identity(x))),
      autograph=False,
      input_signature=[tf.TensorSpec([None] * rank)],
    )

    def run(x: tf.Tensor) -> tf.Tensor:
      try:
        return in_graph(x)
      except tf.errors.OpError as error:
        raise LostError('another replica can no longer be reached') from error

    return run

  def add(x: tf.Tensor) -> tf.Tensor:
    context = tf.distribute.get_replica_context()
    return context.all_reduce(tf.distribute.ReduceOp.SUM, x)

  def concatenate(x: tf.Tensor) -> tf.Tensor:
    return tf.distribute.get_replica_context().all_gather(x, axis=0)

  return Group(
    strategy.num_replicas_in_sync,
    strategy.cluster_resolver.task_id or 0,
    collective(add, 1),
    collective(concatenate, 2),
  )
