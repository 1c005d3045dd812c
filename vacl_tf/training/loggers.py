# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Loggers of the numbers of a run: a CSV file, the terminal, TensorBoard."""

import contextlib
import csv
import io
import math
import os
import pathlib
import re
import struct
import sys
import time
from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
import rich.console
import rich.live
import rich.measure
import rich.table
import tensorflow as tf
from tensorboard.plugins.hparams import summary_v2 as hparams
from tensorboard.plugins.image import metadata as image_metadata

from vacl_tf import config
from vacl_tf import reading
from vacl_tf.training import checkpoints
from vacl_tf.training import files

Row = Mapping[str, float]

_ANY_WIDTH = 1000  # Columns; more than any of our tables needs.
_FEW = 100_000  # Steps; from here on they are shown in millions.
_RARE = ('dropped', 'unstable_worlds')
SPEED = 'steps_per_second'
CONSTANTS = '_hparams_'  # Part of the name of the event that holds them.
_EVENTS = 'tfevents'  # Part of the names of TensorBoard's files.
# Columns of evaluations. A curriculum may have a coverage_of_easy of its own.
_SCORE = re.compile(r'success|coverage(_n\d+(x\d+)*)?')
_HEAD_BYTES, _TAIL_BYTES = 12, 4  # Bytes around each event in such a file.


class Logger(Protocol):
  """Logs one row of numbers per iteration."""

  def write(self, row: Row) -> None:
    """Logs a row; NaN stands for what was not measured."""

  def sync(self) -> None:
    """Waits until no row can be lost any more."""

  def close(self) -> None:
    """Frees resources."""


class CsvLogger:
  """metrics.csv: a header, then one line per iteration."""

  def __init__(self, path: pathlib.Path) -> None:
    self._path = path
    self._file = None
    self._names: list[str] = []  # Columns of the file, once it is open.

  @staticmethod
  def cut(
    path: pathlib.Path,
    last_iteration: int,
    interval: int,
    report: Callable[[str], None],
  ) -> None:
    """Removes rows later than the checkpoint that a run resumes from.

    Args:
      path: path of metrics.csv, which may be missing.
      last_iteration: iteration of the checkpoint.
      interval: iterations between evaluations. If the last row is between two
        of them, its scores are removed: they come from the closing evaluation,
        which an uninterrupted run would not have made.
      report: called with a message if the file is missing.

    Raises:
      UnusableError: the file is not one that a run writes.
      WriteError: the file can't be written; it is unchanged.
    """
    try:
      table = reading.read_table(path)  # Checks the whole file.
      names = list(table)
      if names:
        reading.check_metrics(table)
      rows = list(csv.DictReader(reading.read_lines(path)))
      rows = [row for row in rows if int(row['iteration']) <= last_iteration]
    except FileNotFoundError:
      if last_iteration:
        report(f'{path} is missing, so the rows logged so far are lost')
      return
    except (reading.UnreadableError, ValueError, KeyError) as error:
      raise checkpoints.UnusableError(
        f'{path} is not a table of a run ({reading.one_line(error)}); move it '
        'away to continue without the rows so far'
      ) from error
    if rows and last_iteration % interval:
      scores = [x for x in names if _SCORE.fullmatch(x)]
      rows[-1] |= dict.fromkeys(scores, '')
    with files.writing(path), files.replaced(path) as beside:
      with beside.open('w', newline='', encoding='utf-8') as file:
        writer = csv.DictWriter(file, names)
        if names:
          writer.writeheader()
        writer.writerows(rows)

  def write(self, row: Row) -> None:
    with files.writing(self._path):
      if self._file is None:
        # Without a buffer, so that closing the file writes nothing.
        self._file = self._path.open('ab', buffering=0)
        self._names = self._columns(row) if self._file.tell() else list(row)
      text = io.StringIO(newline='')
      writer = csv.writer(text)
      if not self._file.tell():
        writer.writerow(self._names)
      writer.writerow(_exact(row[name]) for name in self._names)
      left = text.getvalue().encode()
      while left:
        left = left[self._file.write(left) :]

  def _columns(self, row: Row) -> list[str]:
    """Returns the columns of the file.

    Their order may be another one than in the row, because users name the
    metrics of their curricula in any order.

    Raises:
      UnusableError: the file has other columns than the row.
    """
    names = list(reading.read_table(self._path))
    if set(names) != row.keys():
      raise checkpoints.UnusableError(
        f'{self._path} has other columns than this run; move it away to '
        'continue without the rows so far'
      )
    return names

  def sync(self) -> None:
    if self._file is not None:
      with files.writing(self._path):
        os.fsync(self._file.fileno())

  def close(self) -> None:
    if self._file is not None:
      self._file.close()


class TensorBoardLogger:
  """Event files: the constants, and scalars that are worth plotting.

  Steps, iterations and time only rise, so the speed is logged instead of them.
  Counts of rare events are left out while they are 0.
  """

  def __init__(
    self,
    directory: pathlib.Path,
    constants: Mapping[str, bool | int | float | str],
    env_steps: int = 0,
    wall_seconds: float = 0.0,
  ) -> None:
    """Opens an event file.

    Args:
      directory: folder of event files.
      constants: the run's constants, by name.
      env_steps: environment steps that the run has made so far.
      wall_seconds: seconds that these steps took.
    """
    self._directory = directory
    self._last = env_steps, wall_seconds
    # Constants are written once: at the start, unless they are there already.
    has_constants = env_steps > 0 or _has_constants(directory)
    with self._writing():
      self._writer = tf.summary.create_file_writer(str(directory))
      if not has_constants:
        with self._writer.as_default(0):
          hparams.hparams(dict(constants))

  @staticmethod
  def cut(
    directory: pathlib.Path, env_steps: int, report: Callable[[str], None]
  ) -> None:
    """Removes events later than the checkpoint that a run resumes from.

    Args:
      directory: folder of event files, which may be missing.
      env_steps: environment steps of the checkpoint.
      report: called with a message if the path is not a folder; it is then set
        aside.

    Raises:
      WriteError: a file can't be written.
    """
    if directory.exists() and not directory.is_dir():
      beside = files.set_aside(directory, '.broken')
      report(f'{directory} is not a folder; it was renamed to {beside.name}')
    if not directory.is_dir():
      return
    with files.writing(directory):
      for path in directory.iterdir():
        if _EVENTS in path.name and path.is_file():
          size = _events_until(path, env_steps)
          if size < path.stat().st_size:
            os.truncate(path, size)

  def write(self, row: Row) -> None:
    shown = {
      name: value
      for name, value in row.items()
      if not (math.isnan(value) or name in reading.COUNTED)
      and (value or name not in _RARE)
    }
    now = row['env_steps'], row['wall_seconds']
    if self._last[0]:  # Not in the first iteration, which compiles.
      steps, seconds = (x - y for x, y in zip(now, self._last, strict=True))
      shown[SPEED] = steps / max(seconds, 1e-9)
    self._last = now
    # TensorFlow caches a tensor for each Python number and never frees it.
    step = np.int64(row['env_steps'])
    with self._writing(), self._writer.as_default(step):
      for name, value in shown.items():
        tf.summary.scalar(name, np.float32(value))

  def write_pictures(
    self, pictures: Mapping[str, np.ndarray], env_steps: int
  ) -> None:
    """Logs pictures by name, uint8 [height, width, 3]."""
    with self._writing(), self._writer.as_default(np.int64(env_steps)):
      for name, picture in pictures.items():
        tf.summary.image(name, picture[None])

  def write_film(self, name: str, film: bytes, env_steps: int) -> None:
    """Logs a GIF, which TensorBoard's page of images plays."""
    width, height = struct.unpack('<HH', film[6:10])
    with self._writing(), self._writer.as_default(np.int64(env_steps)):
      tf.summary.write(
        name,
        tf.constant([str(width).encode(), str(height).encode(), film]),
        metadata=image_metadata.create_summary_metadata(
          display_name=None, description=''
        ),
      )

  def sync(self) -> None:
    with self._writing():
      self._writer.flush()

  def close(self) -> None:
    with self._writing():
      self._writer.close()

  def _writing(self) -> contextlib.AbstractContextManager[None]:
    return files.writing(self._directory, tf.errors.OpError)


def _has_constants(directory: pathlib.Path) -> bool:
  """Returns whether the event files in a folder hold the constants."""
  if not directory.is_dir():
    return False
  found = [x for x in directory.iterdir() if _EVENTS in x.name and x.is_file()]
  with files.writing(directory):
    return any(CONSTANTS.encode() in path.read_bytes() for path in found)


def _events_until(path: pathlib.Path, last_step: int) -> int:
  """Returns how many leading bytes hold complete events up to a step.

  An event is a record: 8 bytes for its length, 4 for a checksum of the length,
  the event itself, and 4 for its checksum. Events are ordered by step.
  """
  end, size = 0, path.stat().st_size
  with path.open('rb') as file:
    while len(head := file.read(_HEAD_BYTES)) == _HEAD_BYTES:
      length = int.from_bytes(head[:8], 'little')
      after = end + _HEAD_BYTES + length + _TAIL_BYTES
      if not length or after > size:  # No event is empty.
        break
      try:
        event = tf.compat.v1.Event.FromString(file.read(length))
      except Exception:  # Protobuf's, which is not a dependency of ours.
        break
      if event.step > last_step:
        break
      file.seek(after)
      end = after
  return end


class TerminalLogger:
  """A live table, or plain lines if the output is not a terminal."""

  def __init__(self, length: config.RunLength) -> None:
    self._num_env_steps = length.num_env_steps
    self._bound = 'at most ' if length.stop_at_coverage else ''
    self._coverage = math.nan
    self._last: tuple[float, float] | None = None
    self._speed = math.nan
    self._num_unstable = 0.0  # Since the program started.
    self._live: rich.live.Live | None = None

  def write(self, row: Row) -> None:
    is_evaluated = not math.isnan(row['coverage'])
    if is_evaluated:
      self._coverage = row['coverage']
    self._num_unstable += row.get('unstable_worlds', 0.0)
    self._measure(row['env_steps'])
    cells = self._cells(row)
    # Not started before there is something to show: it hides the cursor.
    if self._live is None and sys.stdout.isatty():
      self._live = rich.live.Live(refresh_per_second=4)
      self._live.start()
    if self._live:
      self._live.update(_table(cells, self._live.console))
    elif is_evaluated or row['iteration'] == 1:
      print('  '.join(f'{k} {v}' for k, v in cells.items()), flush=True)

  def sync(self) -> None:
    pass

  def close(self) -> None:
    if self._live:
      self._live.stop()

  def _measure(self, env_steps: float) -> None:
    """Updates the running mean of the speed."""
    now = time.monotonic()
    if self._last is not None:
      speed = (env_steps - self._last[0]) / max(now - self._last[1], 1e-9)
      weight = 1.0 if math.isnan(self._speed) else 0.1
      self._speed = weight * speed + (1.0 - weight) * (
        0.0 if math.isnan(self._speed) else self._speed
      )
    self._last = (env_steps, now)

  def _cells(self, row: Row) -> dict[str, str]:
    """Returns the texts to show, by heading."""
    left = (self._num_env_steps - row['env_steps']) / self._speed
    cells = {
      'iteration': f'{row["iteration"]:.0f}',
      'env steps': _steps(row['env_steps']),
      'steps/s': '-' if math.isnan(left) else f'{self._speed:,.0f}',
      'time left': '-' if math.isnan(left) else self._bound + _duration(left),
      'coverage': _share(self._coverage),
      'training value': _share(row.get('training_value', math.nan)),
    }
    for name in ('active_tasks', 'solved_tasks', 'newly_solved'):
      if name in row:
        cells[name.replace('_tasks', '').replace('_', ' ')] = f'{row[name]:.0f}'
    if self._num_unstable:
      cells['unstable worlds'] = f'{self._num_unstable:.0f}'
    return cells


def _table(
  cells: Mapping[str, str], console: rich.console.Console
) -> rich.table.Table:
  """Returns one row below its headings, or one line per cell if too wide."""
  table = rich.table.Table(*cells)
  table.add_row(*cells.values())
  needed = rich.measure.measure_renderables(
    console, console.options.update(max_width=_ANY_WIDTH), [table]
  )
  if needed.maximum > console.width:
    table = rich.table.Table(show_header=False)
    for cell in cells.items():
      table.add_row(*cell)
  return table


def _share(value: float) -> str:
  return '-' if math.isnan(value) else f'{value:.3f}'


def _steps(number: float) -> str:
  return f'{number:,.0f}' if number < _FEW else f'{number / 1e6:.2f} M'


def _duration(seconds: float) -> str:
  minutes, seconds = divmod(int(max(seconds, 0)), 60)
  hours, minutes = divmod(minutes, 60)
  return f'{hours}:{minutes:02}:{seconds:02}'


def _exact(value: float) -> str:
  """Returns a number as text that reads back as the same float32."""
  if math.isnan(value):
    return ''
  return str(int(value)) if value == int(value) else f'{value:.9g}'
