# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that never lose a run."""

import json
import pathlib
import re
from collections.abc import Callable
from typing import Any

import tensorflow as tf

# What TensorFlow raises for files that are cut short or damaged.
_BROKEN = (tf.errors.OpError, IndexError, ValueError)
_NUMBER = re.compile(r'ckpt-(\d+)\.')
_GRAPH_NODE = re.compile(r'{{.*?}} ?')  # Where in a graph; no help to a user.


class UnusableError(Exception):
  """A saved file can't be read; the message says the remedy."""


class Checkpointer:
  """Saves a run and brings the newest whole checkpoint back.

  tf.train.CheckpointManager alone starts afresh in silence when its
  `checkpoint` file is missing and fails on a truncated checkpoint. Here files
  are tried from the newest on, a broken one is set aside as *.broken, and its
  number is never used again.
  """

  def __init__(
    self, run: tf.Module, directory: pathlib.Path, max_to_keep: int
  ) -> None:
    self._run = run
    self._checkpoint = tf.train.Checkpoint(run=run)
    self._directory = directory
    self._max_to_keep = max_to_keep
    self._manager: tf.train.CheckpointManager | None = None

  def restore(self, report: Callable[[str], None]) -> bool:
    """Restores the newest checkpoint that is whole, to train on from it.

    Args:
      report: is told of each broken one, which is set aside.

    Returns:
      Whether there was one; False only if the directory holds none at all.

    Raises:
      UnusableError: there are checkpoint files, but none is whole, or the
        newest one is of another object than this run.
    """

    def set_aside(number: int, reason: str) -> None:
      for path in self._directory.glob(f'ckpt-{number}.*'):
        path.rename(f'{path}.broken')
      report(
        f'{self._directory}/ckpt-{number} is broken and set aside ({reason})'
      )

    is_restored = self.read_newest(set_aside)
    if not is_restored and any(self._directory.glob('ckpt-*')):
      raise UnusableError(
        f'no checkpoint in {self._directory} is whole; to start anew, use '
        'another --run_dir or remove this one'
      )
    self._start_manager()
    return is_restored

  def read_newest(
    self, on_broken: Callable[[int, str], None] = lambda number, reason: None
  ) -> bool:
    """Reads the newest checkpoint that is whole; returns if there was one.

    Raises:
      UnusableError: it is of another object than this run.
    """
    for number in sorted(self._numbers('.index'), reverse=True):
      try:
        path = str(self._directory / f'ckpt-{number}')
        # Anew each time: one that failed to restore tries again later on.
        self._checkpoint = tf.train.Checkpoint(run=self._run)
        self._checkpoint.restore(path).assert_existing_objects_matched()
        return True
      except AssertionError as error:  # Whole, but of other variables.
        raise UnusableError(
          f'{path} was saved with another agent, curriculum or version of the '
          f'library ({first_line(error)}); use another --run_dir'
        ) from error
      except _BROKEN as error:
        on_broken(number, first_line(error))
    return False

  def save(self) -> str:
    """Writes the next checkpoint, then removes the oldest ones."""
    return self._manager.save(1 + max(self._numbers(), default=0))

  def _numbers(self, suffix: str = '') -> set[int]:
    """Returns the numbers of checkpoint files whose names end in suffix."""
    names = [path.name for path in self._directory.glob(f'ckpt-*{suffix}')]
    return {int(found.group(1)) for found in map(_NUMBER.match, names) if found}

  def _start_manager(self) -> None:
    """Makes the manager know the files there are, whatever it wrote last."""
    self._directory.mkdir(parents=True, exist_ok=True)
    names = [f'ckpt-{number}' for number in sorted(self._numbers('.index'))]
    if names:
      # The file that a manager looks at, in the format of its text proto.
      lines = [f'model_checkpoint_path: "{names[-1]}"']
      for name in names:
        # Without a time above 0 the manager would never remove it.
        lines += [f'all_model_checkpoint_paths: "{name}"']
        lines += ['all_model_checkpoint_timestamps: 1.0']
      write_text(self._directory / 'checkpoint', '\n'.join(lines) + '\n')
    self._manager = tf.train.CheckpointManager(
      self._checkpoint, str(self._directory), self._max_to_keep
    )


def first_line(error: Exception) -> str:
  """Returns what an error says, short enough for one line."""
  text = _GRAPH_NODE.sub('', str(error)).strip() or repr(error)
  return text.splitlines()[0][:200]


def write_text(path: pathlib.Path, text: str) -> None:
  """Writes a file whole or not at all."""
  beside = path.with_name(path.name + '.new')
  beside.write_text(text)
  beside.replace(path)


def write_json(path: pathlib.Path, content: Any) -> None:
  """Writes a JSON file whole or not at all."""
  write_text(path, json.dumps(content, indent=2) + '\n')
