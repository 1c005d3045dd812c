# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A damaged run goes on without what can be made anew, or is one line."""

import os
import pathlib
import shutil
import tempfile
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import agents
from vacl_tf.launch import command_line
from vacl_tf.launch import main
from vacl_tf.launch import session
from vacl_tf.testing import commands
from vacl_tf.testing import fakes
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib

_FLAGS = (
  '--config.training.num_tasks=20',
  '--config.curriculum.capacity=20',
  '--config.curriculum.num_easy_tasks=20',
  '--config.curriculum.num_children=10',
  '--config.ppo.num_minibatches=2',
  '--num_env_steps=1000000',
  '--evaluation_interval=1',
  '--checkpoint_interval=1',
)
_NUM_ITERATIONS, _STEPS = 3, 1400


def _train(run, programs, cfg, length, log, save, should_stop, began):
  """Pretends to train for a few iterations; all that is written is real."""
  del programs, cfg, length, should_stop, began
  while int(run.iteration) < _NUM_ITERATIONS:
    run.iteration.assign_add(1)
    run.env_steps.assign_add(_STEPS)
    row = {'iteration': run.iteration, 'env_steps': run.env_steps}
    row |= {'wall_seconds': 1.0, 'coverage': 0.5, 'success': 0.5}
    row |= {'active_tasks': 9, 'solved_tasks': 0, 'newly_solved': 0}
    log({name: float(x) for name, x in row.items()} | {'solved_spread': 0.5})
  save()
  return True


def _folder(path):
  path.unlink()
  path.mkdir()


def _pipe(path):
  path.unlink()
  os.mkfifo(path)


def _content(change):
  return lambda path: path.write_bytes(change(path.read_bytes()))


def _file(path):
  shutil.rmtree(path)
  path.touch()


def _foreign(path):
  np.savez_compressed(path, phi=np.ones(3))


def _identity(path):
  found = path.lstat()
  return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns


_ANY = {
  'cut': _content(lambda x: x[: len(x) // 2]),
  'nonsense': _content(lambda x: b'\xff\x00\x1b[2J'),
  'folder': _folder,
  'pipe': _pipe,
  'large': lambda path: os.truncate(path, 1 << 40),
}
_LETTER = _content(lambda x: x.replace(b'2800', b'28o0'))
_LONG = _content(lambda x: x.replace(b'2800', b'2' * 150_000))
_RENAMED = _content(lambda x: x.replace(b'iteration', b'number'))


class ResumedDamageTest(parameterized.TestCase):
  @classmethod
  def setUpClass(cls):
    super().setUpClass()
    folder = cls.enterClassContext(tempfile.TemporaryDirectory())
    cls.root = pathlib.Path(folder)
    ended = cls._run(cls.root / 'whole')
    if ended.code:
      raise AssertionError(ended.err)

  def setUp(self):
    super().setUp()
    self.path = self.root / 'run'
    shutil.rmtree(self.path, ignore_errors=True)
    shutil.copytree(self.root / 'whole', self.path)

  @classmethod
  def _run(cls, path):
    with (
      mock.patch.object(agents, 'make', lambda *_: fakes.IdleAgent()),
      mock.patch.object(loop, 'train', _train),
      mock.patch.object(programs_lib, 'Programs'),
      mock.patch.object(session, '_export'),
    ):
      return commands.run(
        lambda: command_line.run(main.main, main.define),
        f'--run_dir={path}',
        *_FLAGS,
      )

  @parameterized.parameters(
    ('config.json', _ANY['nonsense']),
    ('config.json', _ANY['pipe']),
    ('metrics.csv', _ANY['nonsense']),
    ('metrics.csv', _ANY['folder']),
    ('metrics.csv', _ANY['pipe']),
    ('metrics.csv', _ANY['large']),
    ('metrics.csv', _LETTER),
    ('metrics.csv', _LONG),
    ('metrics.csv', _RENAMED),
  )
  def test_what_cannot_be_made_anew_is_one_line(self, name, damage):
    damage(self.path / name)
    before = _identity(self.path / name)
    ended = self._run(self.path)
    self.assertEqual((ended.code, ended.out), (command_line.USAGE, ''))
    self.assertRegex(ended.err, f'^error: .*{name}.*; .*\n$')
    self.assertEqual(ended.err.count('\n'), 1)
    self.assertTrue(ended.err[:-1].isprintable())
    self.assertEqual(_identity(self.path / name), before)

  @parameterized.parameters(
    *(('curriculum.npz', x) for x in _ANY.values()),
    ('curriculum.npz', _foreign),
    ('curves.png', _ANY['folder']),
    ('curves.png', _ANY['nonsense']),
    ('curves_curriculum.png', _ANY['folder']),
    ('events', _file),
  )
  def test_what_can_be_made_anew_is_and_the_run_goes_on(self, name, damage):
    damage(self.path / name)
    ended = self._run(self.path)
    self.assertEqual((ended.code, ended.err), (0, ''), ended.err)
    self.assertIn('Resuming in', ended.out)
    if name != 'curves.png' or damage is _folder:
      self.assertRegex(ended.out, f'note: .*{name} .*renamed to {name}.broken1')
      self.assertTrue(os.path.lexists(self.path / f'{name}.broken1'))
    again = self._run(self.path)  # The mended run is as good as new.
    self.assertEqual(again.code, 0, again.err)
    self.assertNotIn('note:', again.out)
    if name.endswith('.png'):
      self.assertStartsWith((self.path / name).read_bytes(), b'\x89PNG')


if __name__ == '__main__':
  absltest.main()
