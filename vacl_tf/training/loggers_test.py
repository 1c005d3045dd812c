# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What metrics.csv holds, also after a run was set back."""

import csv
import io
import locale
import math
import os
import pathlib
import resource

import numpy as np
import rich.console
import tensorflow as tf
from absl.testing import parameterized
from PIL import Image

from vacl_tf import config
from vacl_tf.training import checkpoints
from vacl_tf.training import files
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


class CsvLoggerTest(tf.test.TestCase, parameterized.TestCase):
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
    loggers.CsvLogger.cut(self.path, 3, 2, self.fail)
    self.assertEqual(
      [line.split(',')[3:6] for line in self._lines()],
      [['coverage', 'success', 'coverage_n4'], [''] * 3, ['0.2'] * 3, [''] * 3],
    )

  def test_cut_keeps_what_a_curriculum_measures(self):
    name = 'coverage_of_größe'
    self._write(_row(1) | {name: 0.5})
    # Whatever the locale of the process is.
    self.addCleanup(
      locale.setlocale, locale.LC_CTYPE, locale.setlocale(locale.LC_CTYPE)
    )
    locale.setlocale(locale.LC_CTYPE, 'C')
    loggers.CsvLogger.cut(self.path, 1, 2, self.fail)
    content = self.path.read_bytes().decode()
    [row] = csv.DictReader(content.splitlines())
    self.assertEqual((row['coverage'], row[name]), ('', '0.5'))

  def test_cut_keeps_an_evaluation_that_was_due(self):
    self._write(_row(1), _row(2, 0.25))
    before = self._lines()
    loggers.CsvLogger.cut(self.path, 2, 2, self.fail)
    self.assertEqual(self._lines(), before)

  def test_a_missing_file_is_told_where_there_were_rows(self):
    loggers.CsvLogger.cut(self.path, 0, 2, self.fail)
    notes = []
    loggers.CsvLogger.cut(self.path, 2, 2, notes.append)
    self.assertEqual(
      notes, [f'{self.path} is missing, so the rows logged so far are lost']
    )
    self.assertFalse(self.path.exists())

  @parameterized.parameters(0, 1, 3)
  def test_cut_and_written_again_it_is_the_same(self, last):
    rows = [_row(1), _row(2, 0.2), _row(3), _row(4, 0.4)]
    self._write(*rows)
    before = self._lines()
    loggers.CsvLogger.cut(self.path, last, 2, self.fail)
    self._write(*rows[last:])
    self.assertEqual(self._lines(), before)

  @parameterized.parameters(
    b'\xff\xfe\n1,2\n', b'a,b\n1,2\n', b'iteration\nx\n', b'[1, 2]\n'
  )
  def test_cut_refuses_what_it_cannot_read(self, content):
    self.path.write_bytes(content)
    with self.assertRaisesRegex(checkpoints.UnusableError, 'move it away'):
      loggers.CsvLogger.cut(self.path, 2, 2, self.fail)
    self.assertEqual(self.path.read_bytes(), content)

  @parameterized.parameters(
    ('coverage,', 'covrage,', 'no column coverage'),
    ('1,100,0.5,', '1,100,NaN,', 'column wall_seconds has an invalid number'),
    ('1,100,0.5,', '1,-100,0.5,', 'column env_steps has an invalid number'),
  )
  def test_cut_refuses_what_cannot_be_drawn(self, old, new, reason):
    self._write(_row(1), _row(2, 0.25))
    content = self.path.read_text().replace(old, new, 1)
    self.path.write_text(content)
    with self.assertRaisesRegex(checkpoints.UnusableError, reason):
      loggers.CsvLogger.cut(self.path, 2, 2, self.fail)
    self.assertEqual(self.path.read_text(), content)

  def test_a_row_under_other_names_is_refused(self):
    self._write(_row(1))
    before = self.path.read_bytes()
    with self.assertRaisesRegex(checkpoints.UnusableError, 'move it away'):
      self._write(_row(2) | {'entropy': 0.5})
    self.assertEqual(self.path.read_bytes(), before)

  def test_names_may_come_in_another_order(self):
    self._write(_row(1))
    self._write(dict(reversed(_row(2, 0.2).items())))
    rows = self._lines()
    self.path.unlink()
    self._write(_row(1), _row(2, 0.2))
    self.assertEqual(rows, self._lines())

  def test_an_empty_file_gets_its_header(self):
    self.path.touch()
    loggers.CsvLogger.cut(self.path, 2, 2, self.fail)
    self._write(_row(3))
    self.assertStartsWith(self._lines()[0], 'iteration,')

  def test_a_row_is_there_when_it_has_been_written(self):
    logger = loggers.CsvLogger(self.path)
    logger.write(_row(1))
    self.assertLen(self._lines(), 2)

  def test_a_full_disk_is_one_line(self):
    logger = loggers.CsvLogger(pathlib.Path('/dev/full'))
    with self.assertRaisesRegex(files.WriteError, r'\(No space left on device'):
      logger.write(_row(1))
    logger.close()


class TensorBoardLoggerTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    self.path = pathlib.Path(self.create_tempdir().full_path) / 'events'

  def _write(self, *iterations: int) -> None:
    logger = loggers.TensorBoardLogger(self.path, {'ppo.clip': 0.2})
    for iteration in iterations:
      logger.write(_row(iteration))
      logger.sync()
    logger.close()

  def _steps(self) -> list[int]:
    return sorted(
      event.step
      for path in self.path.iterdir()
      for event in tf.compat.v1.train.summary_iterator(str(path))
      if any(value.tag == 'loss' for value in event.summary.value)
    )

  def test_no_step_is_there_twice(self):
    self._write(1, 2, 3)
    loggers.TensorBoardLogger.cut(self.path, 200, self.fail)
    self._write(3, 4, 5)
    loggers.TensorBoardLogger.cut(self.path, 400, self.fail)
    self._write(5)
    self.assertEqual(self._steps(), [100, 200, 300, 400, 500])

  def test_rows_leave_nothing_in_memory(self):
    self._write(*range(1, 201))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    self._write(*range(201, 8201))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    self.assertLess(after - before, 4000)  # It was 25,000 KB.

  def _scalars(self) -> dict[str, list[tuple[int, float]]]:
    found = {}
    for path in self.path.iterdir():
      for event in tf.compat.v1.train.summary_iterator(str(path)):
        for value in event.summary.value:
          number = tf.make_ndarray(value.tensor).sum()
          found.setdefault(value.tag, []).append((event.step, number))
    return found

  def _has_constants(self) -> int:
    """Returns how many events have the constants, all before the first step."""
    steps = [
      step for step, _ in self._scalars()['_hparams_/session_start_info']
    ]
    self.assertEqual(set(steps), {0})
    return len(steps)

  def test_there_are_curves_of_what_varies(self):
    logger = loggers.TensorBoardLogger(self.path, {})
    for iteration, dropped in ((1, 0.0), (2, 5.0), (3, 0.0)):
      row = _row(iteration) | {'dropped': dropped}
      row['wall_seconds'] = 4.0 * iteration
      logger.write(row)
    logger.close()
    found = self._scalars()
    self.assertEqual(found['dropped'], [(200, 5.0)])
    self.assertLen(found['loss'], 3)
    # Not of the first, which compiles.
    self.assertEqual(found['steps_per_second'], [(200, 25.0), (300, 25.0)])
    for name in ('iteration', 'env_steps', 'wall_seconds'):
      self.assertNotIn(name, found)

  def test_pictures_come_back(self):
    logger = loggers.TensorBoardLogger(self.path, {})
    picture = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    logger.write_pictures({'curriculum/agent': picture}, 300)
    logger.close()
    (path,) = self.path.iterdir()
    [(step, found)] = [
      (event.step, tf.make_ndarray(value.tensor))
      for event in tf.compat.v1.train.summary_iterator(str(path))
      for value in event.summary.value
      if value.tag == 'curriculum/agent'
    ]
    self.assertEqual(step, 300)
    self.assertAllEqual(tf.io.decode_png(found[2]), picture)

  def test_a_film_comes_back(self):
    frames = [Image.new('RGB', (6, 4), colour) for colour in ('red', 'blue')]
    film = io.BytesIO()
    frames[0].save(film, 'gif', save_all=True, append_images=frames[1:])
    logger = loggers.TensorBoardLogger(self.path, {})
    logger.write_film('policy', film.getvalue(), 400)
    logger.close()
    (path,) = self.path.iterdir()
    [(step, value)] = [
      (event.step, value)
      for event in tf.compat.v1.train.summary_iterator(str(path))
      for value in event.summary.value
      if value.tag == 'policy'
    ]
    self.assertEqual(step, 400)
    self.assertEqual(value.metadata.plugin_data.plugin_name, 'images')
    self.assertEqual(
      tf.make_ndarray(value.tensor).tolist(), [b'6', b'4', film.getvalue()]
    )

  def test_constants_are_told_once_however_often_a_run_resumes(self):
    for _ in range(2):  # Nothing is saved but the state before the first row.
      self._write(1, 2)
      loggers.TensorBoardLogger.cut(self.path, 0, self.fail)
      self.assertEqual(self._has_constants(), 1)
    logger = loggers.TensorBoardLogger(self.path, {'ppo.clip': 0.2}, 100, 1.0)
    logger.write(_row(2))
    logger.close()
    self.assertEqual(self._has_constants(), 1)
    self.assertLen(self._scalars()['steps_per_second'], 1)

  def test_zeros_at_the_end_are_no_events(self):
    self._write(1, 2)
    (path,) = self.path.iterdir()
    content = path.read_bytes()
    path.write_bytes(content + bytes(1000))
    loggers.TensorBoardLogger.cut(self.path, 200, self.fail)
    self.assertEqual(path.read_bytes(), content)

  def test_half_an_event_goes(self):
    self._write(1, 2)
    (path,) = self.path.iterdir()
    size = path.stat().st_size
    with path.open('ab') as file:
      file.write(path.read_bytes()[:30])
    os.truncate(path, size + 30)
    for cut in (size + 30, size + 5, size):
      os.truncate(path, cut)
      loggers.TensorBoardLogger.cut(self.path, 10**6, self.fail)
      self.assertLessEqual(path.stat().st_size, cut)
      self.assertEqual(self._steps(), [100, 200])

  def test_something_else_in_its_place_is_set_aside(self):
    self.path.write_text('mine')
    notes = []
    loggers.TensorBoardLogger.cut(self.path, 200, notes.append)
    self.assertLen(notes, 1)
    self.assertEqual(self.path.with_name('events.broken1').read_text(), 'mine')


class TerminalLoggerTest(tf.test.TestCase):
  def test_plain_lines_tell_time_left_and_coverage(self):
    logger = loggers.TerminalLogger(config.RunLength(num_env_steps=1000))
    cells = None
    for iteration in range(1, 4):
      logger.write(_row(iteration, 0.5 if iteration == 2 else math.nan))
      cells = logger._cells(_row(iteration))
    self.assertEqual(cells['coverage'], '0.500')
    self.assertRegex(cells['time left'], r'\d:\d\d:\d\d')
    self.assertNotIn('unstable worlds', cells)

  def test_time_left_is_a_bound_where_a_run_may_end_before(self):
    logger = loggers.TerminalLogger(config.RunLength(stop_at_coverage=0.9))
    for iteration in range(1, 4):
      logger.write(_row(iteration))
    cells = logger._cells(_row(4))
    self.assertRegex(cells['time left'], r'^at most \d+:\d\d:\d\d$')

  def test_few_steps_are_told_exactly(self):
    logger = loggers.TerminalLogger(config.RunLength(num_env_steps=10**9))
    for steps, told in ((4_200, '4,200'), (1_234_567, '1.23 M')):
      cells = logger._cells(_row(1) | {'env_steps': steps})
      self.assertEqual(cells['env steps'], told)

  def test_unstable_worlds_are_summed_and_told(self):
    logger = loggers.TerminalLogger(config.RunLength(num_env_steps=1000))
    for iteration, count in enumerate((0, 2, 0, 1), 1):
      logger.write(_row(iteration) | {'unstable_worlds': float(count)})
    cells = logger._cells(_row(4))
    self.assertEqual(cells['unstable worlds'], '3')

  def test_no_width_of_a_terminal_cuts_anything(self):
    length = config.RunLength(num_env_steps=10**9, stop_at_coverage=0.9)
    logger = loggers.TerminalLogger(length)
    sets = {'active_tasks': 2000, 'solved_tasks': 2000, 'newly_solved': 120}
    worlds = {'unstable_worlds': 3.0, 'training_value': 0.25}
    cells = logger._cells(_row(100_000, 0.5) | sets | worlds)
    shapes = {}
    for width in (40, 80, 200):
      console = rich.console.Console(width=width, file=io.StringIO())
      console.print(loggers._table(cells, console))
      lines = console.file.getvalue().splitlines()
      self.assertLessEqual(max(map(len, lines)), width)
      for name, value in cells.items():
        self.assertTrue(any(name in line for line in lines), (width, name))
        self.assertTrue(any(value in line for line in lines), (width, value))
      shapes[width] = len(lines)
    self.assertEqual(shapes[40], len(cells) + 2)
    self.assertEqual(shapes[200], 5)  # Headings, a row, three rules.


if __name__ == '__main__':
  tf.test.main()
