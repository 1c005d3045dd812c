# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Curricula in NumPy; see docs/guides/own_curriculum.md."""

import abc
import functools
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import reading
from vacl_tf import types
from vacl_tf.curriculum import base
from vacl_tf.curriculum import checks
from vacl_tf.curriculum import python_tasks

Tasks = python_tasks.Tasks
_SOLVED_VALUE = 0.95  # Above it a task is solved, as in task expansion.
_MOST_BYTES = 8  # Of a number; TensorFlow has no longer ones.


class Chooser(abc.ABC):
  """Base class of curricula in NumPy: it chooses the tasks to play.

  A chooser is made from Tasks, the constants that it was registered with, and a
  random generator.

  Attributes:
    feedback: names of the fields of `types.TaskFeedback` that `update` receives
      besides `value`.
    state: arrays by name, whose shapes must stay the same. Checkpoints contain
      them. Apart from these, only what `sample` leaves for `update` is kept.
  """

  feedback: tuple[str, ...] = ()
  state: dict[str, np.ndarray]

  @abc.abstractmethod
  def sample(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns tasks [num_tasks, D] to train on."""

  @abc.abstractmethod
  def update(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> Mapping[str, float]:
    """Learns from how the policy did.

    Args:
      tasks: [K, D] tasks of `sample`, all of which were played.
      told: feedback [K] or [K, D] by name, with `value` in [0, 1].

    Returns:
      Metrics; their names are the same in every call.
    """

  def probe(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns tasks [K, D] to play without training on them, before `sample`.

    Their steps count as environment steps. A chooser that does not override
    this method is never asked for probes.

    Args:
      num_tasks: largest K; K may also be 0.
      rng: random generator.
    """
    raise NotImplementedError

  def note_probe(
    self, tasks: np.ndarray, told: Mapping[str, np.ndarray]
  ) -> None:
    """Learns from how the policy did on the tasks of `probe`.

    Args:
      tasks: [K, D] probes that were played.
      told: feedback, as in `update`.
    """
    raise NotImplementedError


Make = Callable[[Tasks, Any, np.random.Generator], Chooser]


def register(
  name: str,
  make: Make,
  constants: type[config.CurriculumConfig] = config.CurriculumConfig,
) -> None:
  """Registers a curriculum by its name.

  Args:
    name: name of the curriculum.
    make: function that returns a `Chooser` of the tasks of one entity count.
    constants: dataclass whose fields become flags.

  Raises:
    ValueError: the name is taken, `make` is not a function, or a constant can't
      be saved.
  """
  if not callable(make):
    raise ValueError(
      f'{name}: make={make!r:.60} is not a function; give one that returns a '
      'python_curriculum.Chooser, like the class of yours'
    )
  catalog.register_curriculum(
    catalog.CurriculumSpec(
      name=name,
      make=functools.partial(PythonCurriculum, name, make),
      config=constants,
    )
  )


class PythonCurriculum(base.Curriculum):
  """A chooser as a curriculum, with the state of the chooser in variables."""

  is_compiled = False

  def __init__(
    self,
    name: str,
    make: Make,
    setting: base.Setting,
    are_trusted: bool = False,
  ) -> None:
    """Makes a chooser.

    Args:
      name: name of the curriculum.
      make: returns the chooser.
      setting: the tasks and the constants.
      are_trusted: whether the tasks it draws are known to be feasible.

    Raises:
      base.CurriculumError: `make` failed or did not return a chooser.
    """
    super().__init__(name=name)
    rng = base.generator(setting.seed)
    self._num_dims = setting.space.num_dims
    tasks, constants = Tasks(setting.space), setting.cfg.curriculum
    chooser = checks.called(name, lambda: make(tasks, constants, rng))
    _check_chooser(chooser)  # Before tf.Module can wrap it.
    self._space = setting.space
    self._are_legal = None if are_trusted else python_tasks.judge(setting.space)
    self._chooser = chooser
    self.feedback = tuple(self._chooser.feedback)
    self._state = {
      key: tf.Variable(array, trainable=False, name=key)
      for key, array in self._chooser.state.items()
    }
    self._metrics: tuple[str, ...] | None = None  # Names, once known.
    # The latest batch, only for pictures.
    self._tasks = np.zeros([0, self._num_dims], np.float32)
    self._value = np.zeros([0], np.float32)

  @property
  def source(self) -> str:
    return base.source_of(type(self._chooser).sample)

  @property
  def can_probe(self) -> bool:
    return type(self._chooser).probe is not Chooser.probe

  def sample(
    self, num_tasks: int, seed: types.Seed, size: tf.Tensor | None = None
  ) -> tuple[types.TaskBatch, ...]:
    size = num_tasks if size is None else int(size)
    return (self._draw(self._chooser.sample, num_tasks, size, size, seed),)

  def probe(
    self, num_tasks: int, seed: types.Seed, size: tf.Tensor | None = None
  ) -> tuple[types.TaskBatch, ...]:
    if not self.can_probe:
      return ()
    most = num_tasks if size is None else int(size)
    return (self._draw(self._chooser.probe, num_tasks, 0, most, seed),)

  def _draw(
    self,
    method: Callable[[int, np.random.Generator], np.ndarray],
    num_rows: int,
    least: int,
    most: int,
    seed: types.Seed,
  ) -> types.TaskBatch:
    """Returns num_rows rows with K tasks of the chooser, least <= K <= most.

    Raises:
      base.CurriculumError: the method failed or returned something else.
    """
    tasks = self._called(
      lambda: np.asarray(method(most, base.generator(seed)), np.float32)
    )
    source = base.source_of(method)
    number = len(tasks) if tasks.ndim else 0
    if tasks.shape != (number, self._num_dims) or not least <= number <= most:
      fewer = ', or fewer rows' if least < most else ''
      raise base.CurriculumError(
        f'{source}: expected tasks of shape {[most, self._num_dims]}{fewer}, '
        f'given {list(tasks.shape)}'
      )
    batch = _padded(tasks, num_rows)
    is_good = np.isfinite(tasks).all()
    if is_good and self._are_legal:
      is_good = self._are_legal(batch.phi)[:number].all()
    if not is_good:
      checks.check_tasks(batch, self._space, source)
    return batch

  def note_probe(
    self,
    batches: tuple[types.TaskBatch, ...],
    feedback: tuple[types.TaskFeedback, ...],
    seed: types.Seed,
  ) -> None:
    del seed
    tasks, told = self._arrays(batches, feedback)
    self._called(lambda: self._chooser.note_probe(tasks, told))

  def update(
    self,
    batches: tuple[types.TaskBatch, ...],
    feedback: tuple[types.TaskFeedback, ...],
    evaluation: tf.Tensor,
    seed: types.Seed,
  ) -> types.Metrics:
    del evaluation, seed
    tasks, told = self._arrays(batches, feedback)
    self._tasks, self._value = tasks, told['value']
    found = self._called(lambda: self._chooser.update(tasks, told))
    source = base.source_of(self._chooser.update)
    found = checks.named(found, source)
    self._metrics = tuple(found) if self._metrics is None else self._metrics
    own = {'training_value': base.mean_value(batches[0], feedback[0].value)}
    checks.check_names(found, own, source)
    return own | checks.check_metrics(found, self._metrics, source)

  def history(self) -> dict[str, np.ndarray]:
    """Returns the latest batch, split into unsolved and solved tasks.

    Names are those of task expansion's sets: `active_phi` [K, D] and
    `active_value` [K] for unsolved tasks, `solved_phi` and `solved_value` for
    solved ones. The result is empty before the first update.
    """
    if not len(self._value):
      return {}
    is_solved = self._value > _SOLVED_VALUE
    return {
      f'{name}_{key}': array[rows]
      for name, rows in (('active', ~is_solved), ('solved', is_solved))
      for key, array in (('phi', self._tasks), ('value', self._value))
    }

  def _arrays(
    self,
    batches: tuple[types.TaskBatch, ...],
    feedback: tuple[types.TaskFeedback, ...],
  ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Returns the tasks that were played, and their feedback by name."""
    [batch], [told] = batches, feedback
    size = int(batch.size)
    return np.asarray(batch.phi)[:size], {
      field: np.asarray(getattr(told, field))[:size]
      for field in ('value', *self.feedback)
    }

  def _called(self, function: Callable[[], Any]) -> Any:
    """Calls a method of the chooser, whose state is kept in the variables.

    Raises:
      base.CurriculumError: the method failed, or the state has other arrays
        than at first, or fractions in an array of whole numbers.
    """
    chooser = self._chooser
    # Scalars become arrays too, so that they can be changed in place.
    chooser.state = {
      key: np.asarray(x.numpy()) for key, x in self._state.items()
    }
    found = checks.called(type(chooser).__name__, function)
    for key, variable in self._state.items():
      array = np.asarray(chooser.state.get(key, ()))
      if array.shape != variable.shape:
        raise base.CurriculumError(
          f'state[{key!r}]: expected shape {variable.shape.as_list()}, as in '
          f'the initial state, given {list(array.shape)}'
        )
      _check_kept(key, array, variable.dtype.as_numpy_dtype)
      variable.assign(array)
    if extra := set(chooser.state) - set(self._state):
      raise base.CurriculumError(
        f'state: {sorted(extra)} were not in the initial state; set all arrays '
        'when the chooser is made'
      )
    return found


def _check_kept(key: str, array: np.ndarray, dtype: type) -> None:
  """Raises base.CurriculumError if conversion to dtype changes an array."""
  if np.issubdtype(dtype, np.floating):
    return
  is_lost = array.astype(dtype) != array
  if is_lost.any():
    raise base.CurriculumError(
      f'state[{key!r}]: expected {np.dtype(dtype)}, as in the initial state, '
      f'given {array[is_lost].flat[0]}; start with floats to keep fractions'
    )


def _padded(tasks: np.ndarray, num_tasks: int) -> types.TaskBatch:
  """Returns num_tasks rows, of which only the K tasks [K, D] are played."""
  # Worlds may also play rows beyond the size, so these are legal tasks too.
  rows = np.resize(tasks, [num_tasks, tasks.shape[1]])
  return base.fresh_batch(tf.constant(rows), tf.constant(len(tasks)))


def _are_numbers(value: Any) -> bool:
  try:
    dtype = np.asarray(value).dtype
    return dtype.kind in 'biuf' and dtype.itemsize <= _MOST_BYTES
  except ValueError:  # Rows of different lengths.
    return False


def _check_chooser(chooser: Any) -> None:
  """Raises base.CurriculumError unless this is a whole chooser."""
  if not isinstance(chooser, Chooser):
    raise base.CurriculumError(
      'expected a python_curriculum.Chooser, given a '
      f'{type(chooser).__name__}; derive it from that class'
    )
  name, feedback = type(chooser).__name__, chooser.feedback
  if isinstance(feedback, str) or not isinstance(feedback, Collection):
    raise base.CurriculumError(
      f'{name}.feedback: expected a tuple of names, given {feedback!r}; for '
      "one name write ('success',)"
    )
  state = getattr(chooser, 'state', None)
  if not isinstance(state, dict):
    raise base.CurriculumError(
      f'{name}.state: expected a dict of arrays, given '
      f'{type(state).__name__}; set self.state in __init__, to {{}} if there '
      'is nothing to keep'
    )
  for key, value in state.items():
    if not isinstance(key, str):
      raise base.CurriculumError(
        f'{name}.state: expected names of arrays, given {key!r}; use a string'
      )
    if not _are_numbers(value):
      raise base.CurriculumError(
        f'{name}.state[{key!r}]: expected an array of numbers of up to 64 '
        f'bits, given {reading.one_line(repr(value))}'
      )
