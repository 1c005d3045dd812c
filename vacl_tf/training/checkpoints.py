# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that survive interrupted saves and damaged files."""

import pathlib
import re
import shutil
import tempfile
from collections.abc import Callable

import tensorflow as tf

from vacl_tf.training import files

# What TensorFlow raises for files that are cut short or damaged.
_BROKEN = (tf.errors.OpError, IndexError, ValueError)
# An intact checkpoint has an index, which is the last of its files to be
# created and the first to be removed.
_FILE = re.compile(r'ckpt-(\d+)\.(?:index|data-\d+-of-\d+)')
_INDEX = re.compile(r'ckpt-(\d+)\.index')
_NUMBER = re.compile(r'ckpt-(\d+)\..*')
_UNFINISHED = re.compile(r'new|ckpt-\d+_temp.*')
# Variables that earlier versions did not save; a run can resume without them.
_LATER = re.compile(r'/(active|solved)/rows/parent/|^run/decay_start/')
_CHUNK = 1 << 24  # Bytes.
_NEW = 'new'  # Folder of a checkpoint that has no number yet.
_OF_MANAGER = 'checkpoint'  # A list of checkpoints that earlier versions kept.


class UnusableError(ValueError):
  """A saved file can't be used; the message says what to do."""


class Checkpointer:
  """Saves a run and restores the newest intact checkpoint.

  Checkpoints are tried from the newest to the oldest. A broken one is renamed
  to *.broken, and its number is never used again. tf.train.CheckpointManager is
  not used, because it removes files by glob pattern, and the name of a folder
  may contain the characters of such a pattern.
  """

  def __init__(
    self, run: tf.Module, directory: pathlib.Path, max_to_keep: int
  ) -> None:
    self._run = run
    self._checkpoint = tf.train.Checkpoint(run=run)
    self._directory = directory
    self._max_to_keep = max_to_keep

  def restore(self, report: Callable[[str], None]) -> bool:
    """Restores the newest intact checkpoint, from which training continues.

    Files that an interrupted save left behind are removed.

    Args:
      report: called with a message for each broken checkpoint, which is set
        aside, and for removed files.

    Returns:
      Whether a checkpoint was restored; False only if the directory holds no
      checkpoint at all.

    Raises:
      UnusableError: there are checkpoint files, but none is intact, or the
        newest intact one does not fit this run.
      WriteError: the directory can't be written to.
    """

    def set_aside(number: int, reason: str) -> None:
      with files.writing(self._directory):
        for path in self._files(_FILE):
          if _number(path) == number:
            path.rename(path.with_name(path.name + '.broken'))
      report(
        f'{self._directory}/ckpt-{number} is broken and set aside ({reason})'
      )

    is_restored = self.read_newest(set_aside)
    if not is_restored and (
      self._files(_INDEX) or any(self._directory.glob('ckpt-*.broken'))
    ):
      raise UnusableError(
        f'no checkpoint in {self._directory} is intact; to train from scratch, '
        'give another run_dir, or --restart (in Python, restart=True), which '
        'sets the run aside'
      )
    with files.writing(self._directory):
      self._clear(report)
      self._remove_old()  # An interrupted save may not have done it.
    return is_restored

  def read_newest(
    self, on_broken: Callable[[int, str], None] = lambda number, reason: None
  ) -> bool:
    """Reads the newest intact checkpoint; returns whether there was one.

    Raises:
      UnusableError: it does not fit this run.
    """
    for number in sorted(map(_number, self._files(_INDEX)), reverse=True):
      try:
        path = str(self._directory / f'ckpt-{number}')
        # A new object each time: the old one would try again after a failure.
        self._checkpoint = tf.train.Checkpoint(run=self._run)
        self._checkpoint.restore(path).assert_existing_objects_matched()
        return True
      except AssertionError as error:  # Intact, but with other variables.
        if self._lacks_later_alone(path):
          return True
        raise _of_another(path, error) from error
      except _BROKEN as error:
        self._check_readable(number)
        if self._has_other_shapes(path):
          raise _of_another(path, error) from error
        on_broken(number, files.first_line(error))
    return False

  def _check_readable(self, number: int) -> None:
    """Raises UnusableError if the system refuses to read a checkpoint."""
    for path in self._files(_FILE):
      if _number(path) != number:
        continue
      try:
        with path.open('rb') as file:
          while file.read(_CHUNK):
            pass
      except (FileNotFoundError, IsADirectoryError):
        pass  # The checkpoint is damaged, which the caller reports.
      except OSError as error:
        raise UnusableError(
          f'{path} cannot be read ({error.strerror}); it is unchanged, and '
          'the same command resumes from it when it can be read'
        ) from error

  def _has_other_shapes(self, path: str) -> bool:
    """Returns whether a readable checkpoint has a variable of another shape.

    Raises:
      WriteError: a temporary checkpoint to compare with can't be written.
    """
    try:
      wanted, saved = self._shapes(path)
    except _BROKEN:
      return False
    both = wanted.keys() & saved.keys()
    return any(wanted[name] != saved[name] for name in both)

  def _lacks_later_alone(self, path: str) -> bool:
    """Returns whether a checkpoint lacks only what older versions lacked.

    Raises:
      WriteError: a temporary checkpoint to compare with can't be written.
    """
    wanted, saved = self._shapes(path)
    return all(map(_LATER.search, wanted.keys() - saved.keys()))

  def _shapes(self, path: str) -> list[dict[str, list[int]]]:
    """Returns shapes by variable name: this run's and a checkpoint's."""
    with tempfile.TemporaryDirectory() as folder:
      beside = pathlib.Path(folder) / 'ckpt'
      with files.writing(beside, tf.errors.OpError):
        self._checkpoint.write(str(beside))
      return [
        tf.train.load_checkpoint(str(x)).get_variable_to_shape_map()
        for x in (beside, path)
      ]

  def save(self) -> None:
    """Writes the next checkpoint, then removes the oldest ones.

    Raises:
      WriteError: it can't be written; the earlier ones are unchanged.
    """
    number = 1 + max(map(_number, self._files(_NUMBER)), default=0)
    # TensorFlow's own save counter, which is part of the format.
    self._checkpoint.save_counter.assign(number)
    path = self._directory / f'ckpt-{number}'
    with files.writing(path, tf.errors.OpError):
      self._directory.mkdir(parents=True, exist_ok=True)
      beside = self._directory / _NEW
      try:
        _remove(beside)
        self._checkpoint.write(str(beside / 'ckpt'))
        written = sorted(beside.iterdir())  # The index comes last.
        for part in written:
          files.sync(part)
        for part in written:
          part.rename(path.with_name(path.name + part.suffix))
        files.sync(self._directory)
      finally:
        _remove(beside)
      self._remove_old()

  def _remove_old(self) -> None:
    """Removes the oldest checkpoints by their exact names."""
    numbers = sorted(map(_number, self._files(_INDEX)))
    old = set(numbers[: -self._max_to_keep])
    for path in sorted(self._files(_FILE), reverse=True):  # The index first.
      # A folder with such a name is not part of a checkpoint.
      if _number(path) in old and not path.is_dir():
        path.unlink()

  def _clear(self, report: Callable[[str], None]) -> None:
    """Removes the files of checkpoints that were never completed."""
    whole = set(map(_number, self._files(_INDEX)))
    torn = [x for x in self._files(_FILE) if _number(x) not in whole]
    torn += self._files(_UNFINISHED)
    for path in torn:
      _remove(path)
    if torn:
      names = ', '.join(sorted(path.name for path in torn))
      report(
        f'{self._directory}: removed what an interrupted save left ({names})'
      )
    (self._directory / _OF_MANAGER).unlink(missing_ok=True)

  def _files(self, pattern: re.Pattern[str]) -> list[pathlib.Path]:
    """Returns the files of the directory whose names match."""
    if not self._directory.is_dir():
      return []
    paths = self._directory.iterdir()
    return [path for path in paths if pattern.fullmatch(path.name)]


def _of_another(path: str, error: Exception) -> UnusableError:
  return UnusableError(
    f'{path} was saved with another agent, curriculum or version of the '
    f'library ({files.first_line(error)}); use another run_dir'
  )


def _number(path: pathlib.Path) -> int:
  return int(_NUMBER.match(path.name).group(1))


def _remove(path: pathlib.Path) -> None:
  """Removes a file or folder, if it is there."""
  if path.is_dir() and not path.is_symlink():
    shutil.rmtree(path, ignore_errors=True)
  else:
    path.unlink(missing_ok=True)
