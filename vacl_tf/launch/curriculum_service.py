# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A registered curriculum for a trainer that is not the library's own."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import curriculum
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import checks
from vacl_tf.launch import curriculum_space

Arrays = dict[str, np.ndarray]


class Service:
  """Samples tasks and learns from values, in rounds.

  If `sample` or `update` fails, the state stays as it was before.

  Attributes:
    feedback: names of the feedback fields that `update` takes besides values.
  """

  def __init__(
    self, cfg: config.Config, space: curriculum_space.TrainerSpace
  ) -> None:
    """Makes the curriculum.

    Raises:
      ValueError: the curriculum needs more than tasks and feedback.
    """
    self._space = space
    self._num_tasks = cfg.training.num_tasks
    self._root = randomness.root(cfg.seed)
    self._curriculum = self._told(lambda: _make(cfg, space, self._root))
    self.feedback = self._curriculum.feedback
    self._variables = self._curriculum.variables
    self._round = 0
    self._size = 0  # Number of tasks that wait for values, or 0.
    self._batches: tuple[types.TaskBatch, ...] = ()
    self._before = self._state()  # The state before the latest `sample`.
    self._sample = self._compiled(self._sample_step)
    self._update = self._compiled(self._update_step)

  @property
  def open_round(self) -> int | None:
    """The number of the round that waits for its values, None if none does."""
    return self._round if self._size else None

  def sample(self, size: int) -> np.ndarray:
    """Begins a round; returns its tasks [size, D].

    Raises:
      base.CurriculumError: the curriculum returns other tasks than asked for.
    """
    before = self._state()
    self._batches = self._whole(lambda: self._checked(size), before)
    self._before, self._size, self._round = before, size, self._round + 1
    phi = np.asarray(self._batches[0].phi)[:size]
    return self._space.to_trainer(phi)

  def update(self, feedback: Arrays, evaluation: float) -> dict[str, float]:
    """Ends a round; returns the curriculum's metrics.

    Args:
      feedback: {name: [size] or [size, D]}, including `value`.
      evaluation: coverage of the target tasks, NaN if it is unknown.
    """
    if 'final_task' in feedback:
      final = self._space.from_trainer(feedback['final_task'])
      feedback = {**feedback, 'final_task': final}
    told = types.TaskFeedback(
      **{name: self._padded(rows) for name, rows in feedback.items()}
    )
    step, latest = tf.constant(np.int32(self._round)), tf.constant([evaluation])
    metrics = self._whole(
      lambda: self._update(self._batches, (told,), latest, step),
      self._state(),
    )
    self._size = 0
    return {name: float(x) for name, x in metrics.items()}

  def state(self) -> tuple[dict[str, int], Arrays]:
    """Returns counters and variables, as `restore` takes them."""
    if self._size:
      # `restore` draws the same batch again from the state before it.
      return {'round': self._round - 1, 'size': self._size}, self._before
    return {'round': self._round, 'size': 0}, self._state()

  def restore(
    self, counters: Mapping[str, int], arrays: Arrays
  ) -> np.ndarray | None:
    """Restores a state; returns the tasks that wait for values, if any.

    Raises:
      ValueError: the state is of another kind of curriculum.
    """
    mine = self._state()
    if {k: (x.shape, x.dtype) for k, x in arrays.items()} != {
      k: (x.shape, x.dtype) for k, x in mine.items()
    }:
      raise ValueError('its variables differ from those of this curriculum')
    self._assign(arrays)
    self._round, size = counters['round'], counters['size']
    return self.sample(size) if size else None

  def _checked(self, size: int) -> tuple[types.TaskBatch, ...]:
    """Draws a batch and checks it; one that ignores `size` gets that size."""
    # Not a Python number, since TensorFlow keeps a tensor of each for ever.
    step = tf.constant(np.int32(self._round))
    [batch] = self._sample(step, tf.constant(size))
    source, rows, given = self._curriculum.source, len(batch.phi), batch.size
    if rows != self._num_tasks or given < size:
      raise base.CurriculumError(
        f'{source}: expected {self._num_tasks} tasks and a size of {size}, '
        f'given {rows} tasks and a size of {int(given)}'
      )
    batch = batch._replace(size=tf.constant(size))
    checks.check_tasks(batch, self._space, source)
    return (batch,)

  def _sample_step(
    self, step: tf.Tensor, size: tf.Tensor
  ) -> tuple[types.TaskBatch, ...]:
    seed = randomness.fold(self._root, randomness.Stream.SAMPLE, step)
    batches = self._curriculum.sample(self._num_tasks, seed, size)
    return checks.as_tensors(batches, self._curriculum.source)

  def _update_step(
    self,
    batches: tuple[types.TaskBatch, ...],
    feedback: tuple[types.TaskFeedback, ...],
    evaluation: tf.Tensor,
    step: tf.Tensor,
  ) -> types.Metrics:
    seed = randomness.fold(self._root, randomness.Stream.UPDATE, step)
    found = self._curriculum.update(batches, feedback, evaluation, seed)
    return checks.named(found)

  def _compiled(self, function: Callable) -> Callable:
    """Returns the function as a program, if the curriculum is graph code."""
    if not self._curriculum.is_compiled:
      return function
    # XLA can't compile a call of the trainer's feasibility function.
    return tf.function(
      function, jit_compile=self._space.is_compiled, autograph=False
    )

  def _padded(self, rows: np.ndarray) -> tf.Tensor:
    missing = self._num_tasks - len(rows)
    widths = [(0, missing)] + [(0, 0)] * (rows.ndim - 1)
    return tf.constant(np.pad(rows, widths), tf.float32)

  def _state(self) -> Arrays:
    return {f'{i:03d}': x.numpy() for i, x in enumerate(self._variables)}

  def _assign(self, arrays: Arrays) -> None:
    for variable, value in zip(self._variables, arrays.values(), strict=True):
      variable.assign(value)

  def _whole(self, call: Callable[[], Any], before: Arrays) -> Any:
    """Returns the result of a call; if it fails, restores the state."""
    try:
      return self._told(call)
    except Exception:
      self._assign(before)
      raise

  def _told(self, call: Callable[[], Any]) -> Any:
    """Returns the result of a call; raises the trainer's own error if any."""
    self._space.failure = None
    try:
      return call()
    except Exception as error:
      if self._space.failure is not None:
        raise self._space.failure from error
      raise


def _make(
  cfg: config.Config, space: curriculum_space.TrainerSpace, root: types.Seed
) -> base.Curriculum:
  """Returns the curriculum.

  Raises:
    ValueError: the curriculum needs a world of the library, a policy that plays
      probes, or feedback that is not available.
  """
  name = cfg.curriculum.name
  num_tasks = cfg.training.num_tasks
  setting = base.Setting(
    cfg=cfg,
    space=space,
    num_tasks=num_tasks,
    most_tasks=num_tasks,
    seed=randomness.fold(root, randomness.Stream.CURRICULUM),
  )
  try:
    made = catalog.CURRICULA.get(name).make(setting)
  except AttributeError as error:
    if error.name is None or error.obj is not None:
      raise  # Not an attribute of `setting.world`, which is None.
    raise ValueError(
      f'curriculum={name!r} needs one of the worlds of vacl_tf ({error}); '
      'choose one that uses only tasks and values'
    ) from error
  curriculum.check_feedback(made, cfg)
  if made.can_probe:
    raise ValueError(
      f'curriculum={name!r} probes tasks without training on them, which is '
      'not possible with your own trainer; choose another one'
    )
  return made
