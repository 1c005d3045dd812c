# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The process behind `vacl_tf.client.Curriculum`: answers its requests.

It ends when its standard input is closed, or when the process that started it
is gone.
"""

import os
import pathlib
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, NoReturn

import numpy as np

import vacl_tf
from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import reading
from vacl_tf.client import wire
from vacl_tf.launch import extensions

_PATIENCE = 1.0  # Seconds between checks for the parent process.
Arrays = dict[str, np.ndarray]
Answer = tuple[dict[str, Any], Arrays]


class _Trainer:
  """The trainer's process, which sends requests and answers questions."""

  def __init__(self, requests: BinaryIO, answers: BinaryIO) -> None:
    self._requests = requests
    self._answers = answers

  def read(self) -> Answer:
    """Returns the next message."""
    return wire.read(self._requests)

  def write(self, header: dict[str, Any], arrays: Arrays | None = None) -> None:
    """Writes a message."""
    wire.write(self._answers, header, arrays)

  def feasible(self, tasks: np.ndarray) -> np.ndarray:
    """Asks the trainer which entities of tasks are legal.

    Raises:
      ValueError: the trainer's function failed.
    """
    self.write({'ask': 'feasible'}, {'tasks': tasks})
    header, arrays = self.read()
    if 'failed' in header:
      raise ValueError(header['failed'])
    return arrays['legal']


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
  """Answers requests until there are no more.

  A request that can't be met is answered with {'error': one line}.

  Raises:
    wire.GarbledError: the bytes received are no message.
  """
  trainer = _Trainer(requests, answers)
  verbs: dict[str, Callable[[dict[str, Any], Arrays], Answer]] = {}

  def make(header: dict[str, Any], arrays: Arrays) -> Answer:
    made = _make(trainer, header, arrays)
    verbs.update(_verbs(made))
    told: dict[str, Any] = {'feedback': made.feedback, 'round': None}
    if 'state' not in header:
      return told, {}
    state = {
      name.removeprefix(wire.STATE): x
      for name, x in arrays.items()
      if name.startswith(wire.STATE)
    }
    tasks = made.restore(header['state'], state)
    told['round'] = made.open_round
    return told, {} if tasks is None else {'tasks': tasks}

  verbs['make'] = make
  while True:
    try:
      header, arrays = trainer.read()
    except wire.ClosedError:
      return
    try:
      trainer.write(*verbs[header['do']](header, arrays))
      continue
    except (wire.ClosedError, BrokenPipeError):
      return
    except (ValueError, extensions.ImportFailure) as error:
      told = ' '.join(str(error).split())
    except ImportError as error:
      told = (
        f'python={sys.executable}: {error}; give the path of an interpreter '
        'that has vacl_tf and its dependencies'
      )
    except Exception as error:  # From a user's curriculum; the state is intact.
      line = reading.one_line(f'{type(error).__name__}: {error}')
      told = f'the curriculum failed: {line}'
    trainer.write({'error': told})


def make_config(
  name: str, num_tasks: int, seed: int, changes: Mapping[str, Any]
) -> config.Config:
  """Returns the config of a curriculum without one of the library's learners.

  Args:
    name: name of the curriculum.
    num_tasks: number of tasks of the largest batch.
    seed: root of all randomness.
    changes: {name: value} of the curriculum's constants to change.

  Raises:
    ValueError: there is no such curriculum, or a constant is not possible.
  """
  spec = catalog.CURRICULA.get(name, 'give its module: imports=[...]')
  made = spec.config(name=name)
  cfg = config.Config(
    seed=seed,
    curriculum=overrides.replace(made, changes),
    ppo=config.PpoConfig(num_minibatches=1),
    training=config.TrainingConfig(num_tasks=num_tasks),
  )
  bounds.check(cfg)
  return cfg


def _make(trainer: _Trainer, header: dict[str, Any], arrays: Arrays) -> Any:
  """Returns the `curriculum_service.Service` that a request asks for."""
  if header['version'] != vacl_tf.__version__:
    raise ValueError(
      f'python: vacl_tf has version {vacl_tf.__version__} there and '
      f'{header["version"]} here; install the same version'
    )
  extensions.load(
    header['imports'], pathlib.Path(header['folder']), lambda line: None
  )
  # Errors should come before TensorFlow is imported, which takes seconds.
  cfg = make_config(
    header['name'], header['num_tasks'], header['seed'], header['changes']
  )
  from vacl_tf.launch import curriculum_service
  from vacl_tf.launch import curriculum_space

  space = curriculum_space.TrainerSpace(
    arrays['low'],
    arrays['high'],
    header['entity_size'],
    arrays.get('easy'),
    trainer.feasible if header['asks'] else None,
  )
  return curriculum_service.Service(cfg, space)


def _verbs(
  service: Any,
) -> dict[str, Callable[[dict[str, Any], Arrays], Answer]]:
  """Returns {request: function that answers it} of a service."""

  def sample(header: dict[str, Any], _: Arrays) -> Answer:
    tasks = service.sample(header['size'])
    return {'round': service.open_round}, {'tasks': tasks}

  def update(header: dict[str, Any], arrays: Arrays) -> Answer:
    if header['round'] != service.open_round:
      raise ValueError('this round has ended already; call sample')
    value = header['evaluation']
    evaluation = float('nan') if value is None else value
    return {'metrics': service.update(arrays, evaluation)}, {}

  def state(header: dict[str, Any], arrays: Arrays) -> Answer:
    del header, arrays
    counters, variables = service.state()
    return {'state': counters}, variables

  return {'sample': sample, 'update': update, 'state': state}


def _leave_with(parent: int) -> NoReturn:
  """Ends this process when `parent` is no longer its parent process.

  Standard input may stay open then: if a trainer forks, its children have
  copies of its end of the pipe, and they may outlive it.
  """
  while os.getppid() == parent:
    time.sleep(_PATIENCE)
  os._exit(0)


def main() -> None:
  """Serves the process that started this one, through its pipes."""
  threading.Thread(
    target=_leave_with, args=(os.getppid(),), daemon=True
  ).start()
  requests = os.fdopen(os.dup(0), 'rb')
  answers = os.fdopen(os.dup(1), 'wb')
  # Anything else that is printed must not end up between messages.
  nowhere = os.open(os.devnull, os.O_RDONLY)
  os.dup2(nowhere, 0)
  os.dup2(2, 1)
  try:
    serve(requests, answers)
  except BrokenPipeError:
    pass
  except wire.GarbledError as error:
    sys.exit(f'error: {error}')


if __name__ == '__main__':
  main()
