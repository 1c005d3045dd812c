# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What metrics.csv holds, also after a run was set back."""

import math
import pathlib

import numpy as np
import tensorflow as tf

from vacl_tf.training import loggers


def _row(iteration: int, coverage: float = math.nan) -> dict[str, float]:
  return {
    'iteration': iteration,
    'env_steps': 100 * iteration,
    'wall_seconds': 0.5 * iteration,
    'coverage': coverage,
    'success': coverage,
    'coverage_n4': coverage,
    'loss': float(np.float32(1 / 3)),
  }


class CsvLoggerTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    folder = pathlib.Path(self.create_tempdir().full_path)
    self.path = folder / 'metrics.csv'

  def _write(self, *rows: dict[str, float]) -> None:
    logger = loggers.CsvLogger(self.path)
    for row in rows:
      logger.write(row)
    logger.close()

  def _lines(self) -> list[str]:
    return self.path.read_text().splitlines()

  def test_a_header_once_and_an_empty_cell_for_nan(self):
    self._write(_row(1))
    self._write(_row(2, 0.25))
    self.assertEqual(
      self._lines(),
      [
        'iteration,env_steps,wall_seconds,coverage,success,coverage_n4,loss',
        '1,100,0.5,,,,0.333333343',
        '2,200,1,0.25,0.25,0.25,0.333333343',
      ],
    )

  def test_numbers_survive_as_float32(self):
    self._write(_row(1))
    value = np.float32(self._lines()[1].split(',')[-1])
    self.assertEqual(value, np.float32(1 / 3))

  def test_cut_drops_later_rows_half_lines_and_a_closing_evaluation(self):
    self._write(_row(1), _row(2, 0.2), _row(3, 0.3), _row(4, 0.4))
    with self.path.open('a') as file:
      file.write('5,500,2.5')
    loggers.CsvLogger.cut(self.path, 3, interval=2)
    self.assertEqual(
      [line.split(',')[3:6] for line in self._lines()],
      [['coverage', 'success', 'coverage_n4'], [''] * 3, ['0.2'] * 3, [''] * 3],
    )

  def test_cut_keeps_an_evaluation_that_was_due(self):
    self._write(_row(1), _row(2, 0.25))
    before = self._lines()
    loggers.CsvLogger.cut(self.path, 2, interval=2)
    self.assertEqual(self._lines(), before)

  def test_cut_without_a_file_does_nothing(self):
    loggers.CsvLogger.cut(self.path, 2, interval=2)
    self.assertFalse(self.path.exists())


class TerminalLoggerTest(tf.test.TestCase):
  def test_plain_lines_tell_time_left_and_coverage(self):
    logger = loggers.TerminalLogger(num_env_steps=1000)
    cells = None
    for iteration in range(1, 4):
      logger.write(_row(iteration, 0.5 if iteration == 2 else math.nan))
      cells = logger._cells(_row(iteration))
    self.assertEqual(cells['coverage'], '0.500')
    self.assertRegex(cells['time left'], r'\d:\d\d:\d\d')
    self.assertNotIn('unstable worlds', cells)

  def test_unstable_worlds_are_summed_and_told(self):
    logger = loggers.TerminalLogger(num_env_steps=1000)
    for iteration, count in enumerate((0, 2, 0, 1), 1):
      logger.write(_row(iteration) | {'unstable_worlds': float(count)})
    cells = logger._cells(_row(4))
    self.assertEqual(cells['unstable worlds'], '3')


if __name__ == '__main__':
  tf.test.main()
