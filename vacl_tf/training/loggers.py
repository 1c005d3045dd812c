# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where the numbers of a run go: a CSV file, the terminal, TensorBoard."""

import csv
import math
import pathlib
import sys
import time
from collections.abc import Mapping
from typing import Protocol

import rich.live
import rich.table
import tensorflow as tf

Row = Mapping[str, float]


class Logger(Protocol):
  """Takes one row of numbers an iteration."""

  def write(self, row: Row) -> None:
    """Logs a row; NaN stands for what was not measured."""

  def close(self) -> None:
    """Frees what is held."""


class CsvLogger:
  """metrics.csv: a header, then one line an iteration."""

  def __init__(self, path: pathlib.Path) -> None:
    self._path = path
    self._file = None

  @staticmethod
  def cut(path: pathlib.Path, last_iteration: int, interval: int) -> None:
    """Drops what a run wrote after the state that it resumes from.

    Args:
      path: of metrics.csv; may be missing.
      last_iteration: of the state.
      interval: of evaluations. A last row between two of them has its coverage
        from the closing evaluation, which an unbroken run would not have made.
    """
    if not path.exists():
      return
    with path.open(newline='') as file:
      reader = csv.DictReader(file)
      # A process that was killed may have left half a line.
      rows = [row for row in reader if None not in row.values()]
    rows = [row for row in rows if int(row['iteration']) <= last_iteration]
    if rows and last_iteration % interval:
      scores = [x for x in reader.fieldnames if _is_score(x)]
      rows[-1] |= dict.fromkeys(scores, '')
    beside = path.with_name(path.name + '.new')
    with beside.open('w', newline='') as file:
      writer = csv.DictWriter(file, reader.fieldnames)
      writer.writeheader()
      writer.writerows(rows)
    beside.replace(path)

  def write(self, row: Row) -> None:
    if self._file is None:
      is_new = not self._path.exists()
      self._file = self._path.open('a', newline='')
      if is_new:
        csv.writer(self._file).writerow(row)
    csv.writer(self._file).writerow(map(_exact, row.values()))
    self._file.flush()

  def close(self) -> None:
    if self._file is not None:
      self._file.close()


class TensorBoardLogger:
  """Event files, one scalar for each column."""

  def __init__(self, directory: pathlib.Path) -> None:
    self._writer = tf.summary.create_file_writer(str(directory))

  def write(self, row: Row) -> None:
    with self._writer.as_default(step=int(row['env_steps'])):
      for name, value in row.items():
        if not math.isnan(value):
          tf.summary.scalar(name, value)

  def close(self) -> None:
    self._writer.close()


class TerminalLogger:
  """A live table, or plain lines where the output is not a terminal."""

  def __init__(self, num_env_steps: int) -> None:
    self._num_env_steps = num_env_steps
    self._coverage = math.nan
    self._last: tuple[float, float] | None = None
    self._speed = math.nan
    self._num_unstable = 0.0  # Since the program began.
    self._live: rich.live.Live | None = None
    if sys.stdout.isatty():
      self._live = rich.live.Live(refresh_per_second=4)
      self._live.start()

  def write(self, row: Row) -> None:
    is_evaluated = not math.isnan(row['coverage'])
    if is_evaluated:
      self._coverage = row['coverage']
    self._num_unstable += row.get('unstable_worlds', 0.0)
    self._measure(row['env_steps'])
    cells = self._cells(row)
    if self._live:
      table = rich.table.Table(*cells)
      table.add_row(*cells.values())
      self._live.update(table)
    elif is_evaluated or row['iteration'] == 1:
      print('  '.join(f'{k} {v}' for k, v in cells.items()), flush=True)

  def close(self) -> None:
    if self._live:
      self._live.stop()

  def _measure(self, env_steps: float) -> None:
    """Keeps a running mean of the speed."""
    now = time.monotonic()
    if self._last is not None:
      speed = (env_steps - self._last[0]) / max(now - self._last[1], 1e-9)
      weight = 1.0 if math.isnan(self._speed) else 0.1
      self._speed = weight * speed + (1.0 - weight) * (
        0.0 if math.isnan(self._speed) else self._speed
      )
    self._last = (env_steps, now)

  def _cells(self, row: Row) -> dict[str, str]:
    """Returns what to show, by heading."""
    left = (self._num_env_steps - row['env_steps']) / self._speed
    cells = {
      'iteration': f'{row["iteration"]:.0f}',
      'env steps': f'{row["env_steps"] / 1e6:.2f} M',
      'steps/s': '-' if math.isnan(left) else f'{self._speed:,.0f}',
      'time left': '-' if math.isnan(left) else _duration(left),
      'coverage': _share(self._coverage),
      'training value': _share(row.get('training_value', math.nan)),
    }
    for name in ('active_tasks', 'solved_tasks', 'newly_solved'):
      if name in row:
        cells[name.replace('_tasks', '').replace('_', ' ')] = f'{row[name]:.0f}'
    if self._num_unstable:
      cells['unstable worlds'] = f'{self._num_unstable:.0f}'
    return cells


def _is_score(name: str) -> bool:
  """Returns whether a column is of evaluations, like coverage_n4."""
  return name == 'success' or name.startswith('coverage')


def _share(value: float) -> str:
  return '-' if math.isnan(value) else f'{value:.3f}'


def _duration(seconds: float) -> str:
  minutes, seconds = divmod(int(max(seconds, 0)), 60)
  hours, minutes = divmod(minutes, 60)
  return f'{hours}:{minutes:02}:{seconds:02}'


def _exact(value: float) -> str:
  """Returns a number so that reading it gives the same float32."""
  if math.isnan(value):
    return ''
  return str(int(value)) if value == int(value) else f'{value:.9g}'
