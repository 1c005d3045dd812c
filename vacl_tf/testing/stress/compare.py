# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Compares a run that was disturbed with one that was not."""

import csv
import json
import pathlib
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from tensorboard.backend.event_processing import event_accumulator

from vacl_tf.training import loggers

# Entries that depend on the clock, or on how often a run was saved.
_PICTURES = 'curriculum/'
_TIMING = (
  'wall_seconds',
  'save_counter',
  '_CHECKPOINTABLE_OBJECT_GRAPH',
  loggers.SPEED,
)
_NUMBERED = re.compile(r'ckpt-(\d+)')
_LEFTOVER = re.compile(r'_temp|\.new|\.broken|\.writable|\.tmp')


def differences(run: pathlib.Path, whole: pathlib.Path) -> list[str]:
  """Returns a line for each difference of two finished runs."""
  found = []
  for name, read in (
    ('checkpoint', newest_variables),
    ('metrics.csv', rows),
    ('curriculum.npz', snapshots),
    ('policy', policy),
    ('policy.json', lambda path: json.loads(_text(path))),
    ('events', scalars),
  ):
    try:
      found += [f'{name}: {x}' for x in unlike(read(run), read(whole))]
    except Exception as error:  # Whatever can't be read is a difference.
      found.append(f'{name} cannot be read: {type(error).__name__} {error}')
  found += [f'left over: {path}' for path in leftovers(run)]
  return found


def unlike(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> list[str]:
  """Returns a line for each entry that differs, compared bit by bit."""
  found = [f'{key} is missing' for key in other if key not in one]
  found += [f'{key} is too many' for key in one if key not in other]
  for key in one:
    if key in other and not _same(one[key], other[key]):
      found.append(f'{key} differs')
  return found


def _same(one: Any, other: Any) -> bool:
  if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
    alike = (one.shape, one.dtype) == (other.shape, other.dtype)
    return alike and one.tobytes() == other.tobytes()
  return one == other


def checkpoint_numbers(run: pathlib.Path) -> list[int]:
  """Returns the numbers of the checkpoints in a run, in ascending order."""
  names = [path.name for path in (run / 'checkpoints').glob('ckpt-*.index')]
  return sorted(int(_NUMBERED.match(name).group(1)) for name in names)


def newest_variables(run: pathlib.Path) -> dict[str, np.ndarray]:
  """Returns the variables in the last checkpoint, except for timing."""
  last = checkpoint_numbers(run)[-1]
  return _variables(run / 'checkpoints' / f'ckpt-{last}')


def policy(run: pathlib.Path) -> dict[str, np.ndarray]:
  """Returns the variables of the exported policy."""
  return _variables(run / 'saved_model' / 'variables' / 'variables')


def _text(run: pathlib.Path) -> str:
  return (run / 'saved_model' / 'policy.json').read_text()


def _variables(prefix: pathlib.Path) -> dict[str, np.ndarray]:
  reader = tf.train.load_checkpoint(str(prefix))
  names = reader.get_variable_to_shape_map()
  return {
    name: np.asarray(reader.get_tensor(name))
    for name in names
    if not any(part in name for part in _TIMING)
  }


def rows(run: pathlib.Path) -> dict[str, list[str]]:
  """Returns the columns of metrics.csv as text, except for timing."""
  with (run / 'metrics.csv').open(newline='') as file:
    header, *lines = csv.reader(file)
  if any(len(line) != len(header) for line in lines):
    raise ValueError('a row of another length than the header')
  columns = dict(zip(header, map(list, zip(*lines, strict=True)), strict=True))
  return {name: x for name, x in columns.items() if name not in _TIMING}


def snapshots(run: pathlib.Path) -> dict[str, np.ndarray]:
  """Returns the arrays of curriculum.npz."""
  with np.load(run / 'curriculum.npz') as arrays:
    return dict(arrays)


def scalars(run: pathlib.Path) -> dict[str, list[tuple[int, float]]]:
  """Returns {name: pairs of step and number} as TensorBoard shows them."""
  seen = event_accumulator.EventAccumulator(
    str(run / 'events'), size_guidance={event_accumulator.TENSORS: 0}
  )
  seen.Reload()
  return {
    name: [
      (event.step, float(tf.make_ndarray(event.tensor_proto)))
      for event in seen.Tensors(name)
    ]
    for name in seen.Tags()[event_accumulator.TENSORS]
    if name not in _TIMING
    and not name.startswith((loggers.CONSTANTS, _PICTURES))
  }


def leftovers(run: pathlib.Path) -> list[str]:
  """Returns the files that interrupted writes have left."""
  paths = sorted(path.relative_to(run) for path in run.rglob('*'))
  return [str(path) for path in paths if _LEFTOVER.search(path.name)]
