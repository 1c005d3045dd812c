# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A curriculum for another trainer, in a process of its own.

This module needs only NumPy: TensorFlow is imported by the process that
`Curriculum` starts. docs/guides/other_learners.md has a complete program.
"""

import json
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import vacl_tf
from vacl_tf import reading
from vacl_tf.client import checks
from vacl_tf.client import process
from vacl_tf.client import wire
from vacl_tf.training import files

_NUM_EASY = 1000  # Number of tasks that a user's function is asked for.
_FORMAT = 1  # Version of the format of saved curricula.
# Most bytes of a saved curriculum. Its arrays go to the process in one message;
# the rest is for what the file format adds to them.
_MAX_SAVED = wire.MAX_BYTES + (1 << 20)
_SAVED = {
  'name': str,
  'seed': int,
  'num_tasks': int,
  'entity_size': int,
  'changes': dict,
  'asks': bool,
  'state': dict,
}

Easy = Callable[[int, np.random.Generator], np.ndarray]
Feasible = checks.Feasible
StoppedError = process.StoppedError


class Curriculum:
  """Chooses the tasks to play next, and learns from how they went.

  A round is a call of `sample`, then one of `update` with a value for each of
  its tasks. Tasks are rows of D numbers in a box. Constants of curricula that
  are lengths, such as `step_size` and `noise`, are in units of a sixth of the
  sides of the box, whatever its numbers are.

  Making a curriculum takes some seconds, in which a process starts. The process
  ends with `close`, with the `with` statement or with this process.

  Attributes:
    feedback: names of the arguments that `update` takes besides values; () for
      most curricula. docs/guides/own_curriculum.md lists them.
    num_tasks: largest number of tasks in a round.

  Args:
    name: name of a registered curriculum, such as 'vacl'.
    low: [D] smallest values of the numbers of a task.
    high: [D] largest values, above low.
    easy: [m, D] tasks that begin (almost) solved, or a function that returns m
      such tasks, given m and a random generator. Curricula that expand start
      with them. Those that become infeasible when they are rounded to 32 bits
      are left out.
    feasible: function that takes tasks [k, D] float32 and returns bool [k], or
      bool [k, D / entity_size] with an answer for each entity; None if all
      tasks in the box are feasible. It is called in this process and must give
      the same answer for the same task.
    seed: root of all randomness.
    num_tasks: largest number of tasks in a round.
    entity_size: consecutive numbers that are perturbed together, such as 2 for
      positions in a plane.
    changes: constants of the curriculum to change, like {'num_children': 200};
      docs/configuration.md lists them.
    imports: modules or .py files that register curricula of your own.
    python: interpreter that has TensorFlow, if it is not this one.

  Raises:
    ValueError: an argument is not possible; the message says what is.
    StoppedError: the process could not start.
  """

  def __init__(
    self,
    name: str,
    low: Sequence[float] | np.ndarray,
    high: Sequence[float] | np.ndarray,
    *,
    easy: Sequence[Sequence[float]] | np.ndarray | Easy | None = None,
    feasible: Feasible | None = None,
    seed: int = 0,
    num_tasks: int = 120,
    entity_size: int = 1,
    changes: Mapping[str, Any] | None = None,
    imports: Sequence[str] = (),
    python: str | os.PathLike | None = None,
  ) -> None:
    low, high = checks.check_box(low, high)
    header = {
      'name': name,
      'seed': checks.check_whole('seed', seed, 0),
      'num_tasks': checks.check_whole('num_tasks', num_tasks, 1),
      'entity_size': checks.check_divisor(entity_size, len(low)),
      'changes': checks.check_changes(changes or {}),
      'asks': feasible is not None,
    }
    arrays = {'low': low, 'high': high}
    if callable(easy):
      easy = easy(_NUM_EASY, np.random.default_rng(seed))
    if easy is not None:
      easy = checks.check_tasks('easy', easy, len(low))
      checks.check_easy(easy, low, high, feasible, entity_size)
      arrays['easy'] = easy
    self._open(header, arrays, feasible, imports, python)

  @classmethod
  def load(
    cls,
    path: str | os.PathLike,
    *,
    feasible: Feasible | None = None,
    imports: Sequence[str] = (),
    python: str | os.PathLike | None = None,
  ) -> 'Curriculum':
    """Returns a curriculum that continues where one was saved.

    Args:
      path: path that `save` was given.
      feasible: the same function as in the saved curriculum; None if it had
        none.
      imports: the same modules and files as in the saved curriculum.
      python: interpreter that has TensorFlow, if it is not this one.

    Raises:
      FileNotFoundError: there is no such file.
      ValueError: the file is not a saved curriculum, or only one of the saved
        curriculum and this call has a function feasible.
      StoppedError: the process could not start.
    """
    header, arrays = _read(pathlib.Path(path))
    if header['asks'] != (feasible is not None):
      had, remedy = (
        ('with', 'give the same one')
        if header['asks']
        else ('without', 'leave it out')
      )
      raise ValueError(f'{path} was saved {had} a function feasible; {remedy}')
    loaded = cls.__new__(cls)
    try:
      loaded._open(header, arrays, feasible, imports, python)
    except ValueError as error:
      raise ValueError(f'{path} cannot be loaded: {error}') from error
    return loaded

  def sample(self, num_tasks: int) -> np.ndarray:
    """Begins a round and returns its tasks [num_tasks, D] float32 to play.

    A round that `update` has not ended is dropped.

    Raises:
      ValueError: the number of tasks is not possible, a curriculum of your own
        returned other tasks, or what feasible returned is no such array. Errors
        that feasible raises are raised as they are.
      StoppedError: the process has ended.
    """
    number = checks.check_whole('num_tasks', num_tasks, 1)
    if number > self.num_tasks:
      raise ValueError(
        f'num_tasks={number} is above {self.num_tasks}; make the curriculum '
        'with a larger num_tasks'
      )
    reply, arrays = self._process.exchange({'do': 'sample', 'size': number})
    self._played, self._round = arrays['tasks'], reply['round']
    return self._played.copy()

  def update(
    self,
    tasks: np.ndarray,
    values: np.ndarray,
    *,
    evaluation: float | None = None,
    **feedback: np.ndarray,
  ) -> dict[str, float]:
    """Ends a round, given how its tasks went.

    Args:
      tasks: [k, D] tasks, as `sample` returned them.
      values: [k] in [0, 1]: the share of successes, or an estimate of it.
      evaluation: latest success on the target tasks, those to be solved in the
        end, in [0, 1], for curricula that use it; None if it is unknown.
      **feedback: the arguments that the attribute `feedback` names, [k] each:
        `success` in [0, 1]; `final_task` is [k, D].

    Returns:
      The curriculum's metrics.

    Raises:
      ValueError: these are not the tasks of the round, a value is not possible,
        or what feasible returned is no such array; the round goes on. Errors
        that feasible raises are raised as they are. Or Ctrl-C interrupted a
        call that ended the round or began another one.
      StoppedError: the process has ended.
    """
    played = self._check_round(tasks)
    arrays = {'value': checks.check_shares('values', values, len(played))}
    if evaluation is not None:
      checks.check_shares('evaluation', [evaluation], 1)
    arrays |= checks.check_feedback(feedback, self.feedback, played.shape)
    request = {
      'do': 'update',
      'round': self._round,  # Ctrl-C may have ended it, or begun another.
      'evaluation': None if evaluation is None else float(evaluation),
    }
    reply, _ = self._process.exchange(request, arrays)
    self._played = None
    return reply['metrics']

  def save(self, path: str | os.PathLike) -> None:
    """Writes everything that `load` needs to a file, also within a round.

    Raises:
      ValueError: the file can't be written, or would be too large; a file that
        was there stays as it was.
      StoppedError: the process has ended.
    """
    path = pathlib.Path(path)
    reply, state = self._process.exchange({'do': 'state'})
    header = {**self._header, 'state': reply['state'], 'format': _FORMAT}
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    arrays = {'header': text, **self._arrays}
    arrays |= {wire.STATE + name: x for name, x in state.items()}
    if len(arrays) > reading.MAX_ARRAYS:
      raise ValueError(
        f'{path} would have {len(arrays):,} arrays; allowed: '
        f'{reading.MAX_ARRAYS:,}: make a curriculum with fewer variables'
      )
    num_bytes = sum(x.nbytes for x in arrays.values())
    if num_bytes > wire.MAX_BYTES:
      raise ValueError(
        f'{path} would have {num_bytes:,} bytes; allowed: {wire.MAX_BYTES:,}: '
        'make the curriculum with fewer easy tasks or a smaller capacity'
      )
    try:
      with files.writing(path), files.replaced(path) as whole:
        with whole.open('wb') as file:
          np.savez(file, **arrays)
    except files.WriteError as error:
      raise ValueError(f'{error}; give another path') from error

  def close(self) -> None:
    """Ends the process."""
    self._process.close()

  def __enter__(self) -> 'Curriculum':
    return self

  def __exit__(self, *error: object) -> None:
    self.close()

  def _check_round(self, tasks: np.ndarray) -> np.ndarray:
    """Returns the tasks if they are those of the round."""
    if self._played is None:
      raise ValueError('there are no tasks to update; call sample first')
    num, num_dims = self._played.shape
    tasks = checks.check_tasks('tasks', tasks, num_dims)
    if not np.array_equal(tasks, self._played):
      raise ValueError(
        f'tasks: not the {num} tasks of the last sample; give the same tasks '
        'in the same order'
      )
    return tasks

  def _open(
    self,
    header: dict[str, Any],
    arrays: dict[str, np.ndarray],
    feasible: Feasible | None,
    imports: Sequence[str],
    python: str | os.PathLike | None,
  ) -> None:
    """Starts the process, and makes or restores the curriculum there."""
    imports = checks.check_imports(imports)  # Before the process starts.
    self.num_tasks: int = header['num_tasks']
    size = header['entity_size']
    self._header = {k: x for k, x in header.items() if k != 'state'}
    self._arrays = {
      k: x for k, x in arrays.items() if not k.startswith(wire.STATE)
    }
    self._process = process.Process(
      python,
      lambda tasks: checks.legal_entities(
        feasible, tasks, tasks.shape[1] // size
      ),
    )
    request = {
      **header,
      'do': 'make',
      'version': vacl_tf.__version__,
      'imports': imports,
      'folder': os.getcwd(),
    }
    try:
      reply, found = self._process.exchange(request, arrays)
    except BaseException:
      self._process.close()
      raise
    self.feedback = tuple(reply['feedback'])
    # The tasks of the round that `update` has not ended yet, None if none.
    self._played: np.ndarray | None = found.get('tasks')
    self._round: int | None = reply['round']


def _read(path: pathlib.Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
  """Returns the saved header and arrays; raises like `Curriculum.load`."""
  try:
    arrays = reading.read_arrays(path, _MAX_SAVED)
    header = json.loads(arrays.pop('header').tobytes())
    fine = all(isinstance(header[name], kind) for name, kind in _SAVED.items())
    fine &= header['format'] == _FORMAT
    fine &= {'low', 'high'} <= set(arrays)
  except FileNotFoundError as error:
    raise FileNotFoundError(
      f'{path} does not exist; give a file that save has written'
    ) from error
  except (
    reading.UnreadableError,
    KeyError,
    RecursionError,
    TypeError,
    ValueError,
  ) as error:
    said = str(error) if isinstance(error, reading.UnreadableError) else path
    raise ValueError(
      f'{said}: not a saved curriculum; give a file that save has written'
    ) from error
  if not fine:
    raise ValueError(
      f'{path}: not a saved curriculum of this version; give a file that save '
      'has written'
    )
  return header, arrays
