# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A trainer with NumPy alone, and a real process that it starts."""

import contextlib
import os
import pathlib
import shlex
import signal
import subprocess
import sys
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import client
from vacl_tf import reading
from vacl_tf.client import wire

_LOW, _HIGH = [-1.0, -1.0], [1.0, 3.0]
_OPTIONS = {
  'num_tasks': 6,
  'changes': {'capacity': 24, 'num_easy_tasks': 12, 'num_children': 8},
}


def _feasible(tasks):
  return tasks[:, 0] + tasks[:, 1] < 2.0


def _easy(num, rng):
  return rng.uniform(-0.1, 0.1, [num, 2])


def _values(tasks):
  return np.where(tasks[:, 0] > 0, 1.0, 0.5)


def _play(curriculum, rounds):
  played = []
  for _ in range(rounds):
    tasks = curriculum.sample(5)
    played += [tasks, curriculum.update(tasks, _values(tasks))]
  return played


class CurriculumTest(parameterized.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    cls._open = client.Curriculum(
      'vacl', _LOW, _HIGH, easy=_easy, feasible=_feasible, **_OPTIONS
    )

  @classmethod
  def tearDownClass(cls):
    cls._open.close()
    super().tearDownClass()

  def setUp(self):
    super().setUp()
    self._folder = pathlib.Path(self.create_tempdir().full_path)

  def assert_refused(self, message, call, *arguments, **options):
    with self.assertRaisesWithLiteralMatch(ValueError, message):
      call(*arguments, **options)

  def test_the_package_offers_it_without_an_import_of_its_own(self):
    program = 'import vacl_tf; print(vacl_tf.client.Curriculum.__name__)'
    path = os.pathsep.join(x for x in sys.path if x)
    found = subprocess.run(
      [sys.executable, '-c', program],
      stdout=subprocess.PIPE,
      env={**os.environ, 'PYTHONPATH': path},
      check=True,
    )
    self.assertEqual(found.stdout, b'Curriculum\n')

  def test_it_expands_where_tasks_are_feasible(self):
    *_, metrics = _play(self._open, 20)
    tasks = self._open.sample(6)
    self.assertEqual((tasks.shape, tasks.dtype), ((6, 2), np.float32))
    self.assertTrue(np.all(_feasible(tasks)))
    self.assertTrue(np.all((tasks >= _LOW) & (tasks <= _HIGH)))
    self.assertGreater(np.abs(tasks).max(), 0.2)
    self.assertGreater(metrics['solved_tasks'], 0.0)

  def test_a_saved_one_goes_on_exactly(self):
    _play(self._open, 2)
    waiting = self._open.sample(4)
    self._open.save(self._folder / 'c.npz')
    expected = [self._open.update(waiting, [1.0, 0.0, 1.0, 0.5])]
    expected += _play(self._open, 3)
    with client.Curriculum.load(
      str(self._folder / 'c.npz'), feasible=_feasible
    ) as other:
      found = [other.update(waiting, [1.0, 0.0, 1.0, 0.5]), *_play(other, 3)]
    for mine, theirs in zip(found, expected, strict=True):
      np.testing.assert_array_equal(mine, theirs)
    self.assertEqual(os.listdir(self._folder), ['c.npz'])

  def test_a_large_one_is_lost_and_loaded_by_another_interpreter(self):
    """These laws share processes, each of which loads TensorFlow."""
    path = self._folder / 'c.npz'
    easy = np.zeros([17 << 20, 1], np.float32)
    with client.Curriculum('uniform', [-1], [1], easy=easy) as large:
      large.save(path)
      expected = large.sample(120)
      self.assertEqual(expected.shape, (120, 1))
      os.kill(large._process._popen.pid, signal.SIGKILL)
      with self.assertRaisesRegex(client.StoppedError, r'\(signal 9\); load'):
        large.sample(3)
    self.assertGreater(path.stat().st_size, 1 << 26)
    python = self._python_without_vacl_tf()
    self.enter_context(contextlib.chdir(self._folder))
    with client.Curriculum.load(path, python=python) as other:
      np.testing.assert_array_equal(other.sample(120), expected)

  def test_one_that_could_not_be_loaded_is_not_saved(self):
    with mock.patch.object(wire, 'MAX_BYTES', 8000):  # Below its easy tasks.
      with self.assertRaisesRegex(
        ValueError, 'c.npz would have .* bytes; allowed: 8,000: make the'
      ):
        self._open.save(self._folder / 'c.npz')
    with mock.patch.object(reading, 'MAX_ARRAYS', 3):
      with self.assertRaisesRegex(
        ValueError, 'c.npz would have .* arrays; allowed: 3: make a'
      ):
        self._open.save(self._folder / 'c.npz')
    self.assertEmpty(os.listdir(self._folder))

  def test_it_needs_numpy_alone(self):
    program = (
      'import sys, time\n'
      'before, began = set(sys.modules), time.process_time()\n'
      'from vacl_tf import client\n'
      'seconds = time.process_time() - began\n'
      "found = {x.split('.')[0] for x in set(sys.modules) - before}\n"
      'print(seconds, *sorted(found - set(sys.stdlib_module_names)))\n'
    )
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}
    printed = subprocess.run(
      [sys.executable, '-c', program],
      env=environment,
      stdout=subprocess.PIPE,
      check=True,
      text=True,
    ).stdout
    seconds, *modules = printed.split()
    own_of_numpy = [x for x in modules if 'cython' in x]
    self.assertCountEqual(modules, ['numpy', 'vacl_tf', *own_of_numpy])
    self.assertLess(float(seconds), 0.5)

  def test_mistakes_leave_the_round_as_it_was(self):
    tasks = self._open.sample(4)
    update, good = self._open.update, _values(tasks)
    order = 'give the same tasks in the same order'
    self.assert_refused(
      f'tasks: not the 4 tasks of the last sample; {order}',
      *(update, tasks[::-1], good),
    )
    self.assert_refused(
      'values: expected numbers [4], given [3]', update, tasks, good[1:]
    )
    self.assert_refused(
      'evaluation: expected numbers from 0 to 1, given 2',
      *(update, tasks, good),
      evaluation=2,
    )
    self.assert_refused(
      'success: this curriculum takes only values; leave it out',
      *(update, tasks, good),
      success=good,
    )
    tasks_of_user = tasks.copy()
    tasks[:] = 0.0
    update(tasks_of_user.astype(np.float64), good, evaluation=0.5)
    self.assert_refused(
      'there are no tasks to update; call sample first', update, tasks, good
    )

  def test_after_ctrl_c_no_round_ends_twice(self):
    exchange = self._open._process.exchange

    def interrupted(*arguments):
      exchange(*arguments)
      raise KeyboardInterrupt

    ended = 'this round has ended already; call sample'
    tasks = self._open.sample(4)
    for call in (
      lambda: self._open.update(tasks, _values(tasks)),
      lambda: self._open.sample(3),
    ):
      with mock.patch.object(self._open._process, 'exchange', interrupted):
        with self.assertRaises(KeyboardInterrupt):
          call()
      self.assert_refused(ended, self._open.update, tasks, _values(tasks))
    _play(self._open, 1)

  def test_samples_that_are_not_possible(self):
    self.assert_refused(
      'num_tasks=7 is above 6; make the curriculum with a larger num_tasks',
      *(self._open.sample, 7),
    )
    self.assert_refused(
      'num_tasks=0; allowed: whole numbers, 1 or more', self._open.sample, 0
    )

  def _python_without_vacl_tf(self):
    ours = pathlib.Path(client.__file__).parents[2].resolve()
    others = [x for x in sys.path if x and pathlib.Path(x).resolve() != ours]
    python = self._folder / 'python'
    # -S: vacl_tf may be installed by a .pth file.
    python.write_text(
      '#!/bin/sh\n'
      f'export PYTHONPATH={shlex.quote(os.pathsep.join(others))}\n'
      f'exec {shlex.quote(sys.executable)} -S "$@"\n'
    )
    python.chmod(0o700)
    return python

  @parameterized.named_parameters(
    (
      'name',
      {'name': 'vakl'},
      "curriculum='vakl' is unknown; did you mean vacl?",
    ),
    (
      'entity_size',
      {'entity_size': 3},
      'entity_size=3 does not divide the 2 numbers of a task; give a divisor',
    ),
    (
      'constant',
      {'changes': {'nois': 1}},
      "config field='nois' is unknown; allowed: name",
    ),
    (
      'easy',
      {'easy': [[0, 0], [0.5, 2]], 'feasible': _feasible},
      'easy: 1 of 2 tasks are infeasible, the first is [0.5, 2.0]; leave them '
      'out',
    ),
    ('seed', {'seed': -1}, 'seed=-1; allowed: whole numbers, 0 or more'),
  )
  def test_what_can_not_be_made(self, changed, message):
    arguments = {'name': 'uniform', 'low': _LOW, 'high': _HIGH, **changed}
    self.assert_refused(message, client.Curriculum, **arguments)

  def test_files_that_are_no_curricula(self):
    path = self._folder / 'c.npz'
    with self.assertRaisesRegex(
      FileNotFoundError, 'c.npz does not exist; give'
    ):
      client.Curriculum.load(path)
    path.write_text('Hello!')
    for _ in range(2):
      with self.assertRaisesRegex(ValueError, r'c.npz.*: not a saved curric.*'):
        client.Curriculum.load(path)
      np.savez(path, phi=np.zeros(3))
    self._open.save(path)
    with self.assertRaisesRegex(ValueError, 'with a function feasible; give'):
      client.Curriculum.load(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with self.assertRaisesRegex(ValueError, 'not a saved curriculum'):
      client.Curriculum.load(path, feasible=_feasible)
    with self.assertRaisesRegex(ValueError, 'cannot be written .*; give'):
      self._open.save(self._folder / 'none' / 'c.npz')


if __name__ == '__main__':
  absltest.main()
