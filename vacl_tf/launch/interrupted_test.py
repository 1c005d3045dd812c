# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Wherever a run is killed or a write fails, the same command goes on.

What a kill leaves is what lies in the folder at that moment, so a run that is
not killed is photographed before each step that it makes on the disk. Training
goes on from each picture, and must end like the run that was never killed.
Iterations only pretend to train, and the agent is small; all that is written is
real.
"""

import contextlib
import csv
import errno
import hashlib
import json
import os
import pathlib
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import absltest

from vacl_tf import agents
from vacl_tf.launch import command_line
from vacl_tf.launch import main
from vacl_tf.launch import run_folder
from vacl_tf.launch import session
from vacl_tf.testing import commands
from vacl_tf.testing import fakes
from vacl_tf.training import export
from vacl_tf.training import loggers
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import replicas

_STEPS = 1400  # Of an iteration.
_NUM_ITERATIONS = 5
_FLAGS = (
  '--config.training.num_tasks=20',
  '--config.curriculum.capacity=20',
  '--config.curriculum.num_easy_tasks=20',
  '--config.curriculum.num_children=10',
  '--config.ppo.num_minibatches=2',
  f'--num_env_steps={_STEPS * _NUM_ITERATIONS}',
  '--evaluation_interval=3',
  '--checkpoint_interval=2',
  '--num_checkpoints=2',
)
# What a process does to a disk, but for writing into an open file.
_DEEDS = ('fsync', 'mkdir', 'rename', 'replace', 'rmdir', 'truncate', 'unlink')
_SHORT = f'--num_env_steps={2 * _STEPS}'
_TIMING = 'wall_seconds'


class _Policy(tf.Module):
  """Stands for a policy that is exported, and is faster to write."""

  def __init__(self, agent: Any, roles: Any) -> None:
    super().__init__()
    del roles
    self.value = agent.variables[0]
    self.act = tf.function(
      lambda: {'value': self.value + 0.0}, autograph=False
    ).get_concrete_function()


def _iterate(run: Any, programs: Any, cfg: Any) -> dict[str, tf.Tensor]:
  """Changes what an iteration changes."""
  del programs, cfg
  run.iteration.assign_add(1)
  run.env_steps.assign_add(_STEPS)
  variable = run.agent.variables[0]
  variable.assign(0.5 * variable + tf.cast(run.iteration, tf.float32))
  value = run.curriculum.active.rows.value
  value.assign(tf.fill(value.shape, tf.cast(run.iteration, tf.float32)))
  names = ('policy_loss', 'value_loss', 'entropy', 'return_mean')
  return dict.fromkeys(names, tf.reduce_sum(variable))


def _evaluate(run: Any, programs: Any) -> dict[str, float]:
  """Notes a coverage that depends on the earlier ones."""
  del programs
  last = tf.where(tf.math.is_nan(run.coverage[0, -1]), 0, run.coverage[0, -1])
  new = 0.5 * last + 0.01 * tf.cast(run.iteration, tf.float32)
  run.coverage.assign(tf.concat([run.coverage[:, 1:], [[new]]], 1))
  return {'coverage': float(new), 'success': 0.0}


@contextlib.contextmanager
def _at_each_deed(
  act: Callable[[str], None], *more: tuple[Any, str]
) -> Iterator[None]:
  """Calls `act` before each step on the disk, and before more functions."""

  def watched(module: Any, name: str) -> Any:
    real = getattr(module, name)

    def deed(*args: Any, **kwargs: Any) -> Any:
      act(name)
      return real(*args, **kwargs)

    return mock.patch.object(module, name, deed)

  with contextlib.ExitStack() as patched:
    for name in _DEEDS:
      patched.enter_context(watched(os, name))
    patched.enter_context(watched(tf.train.Checkpoint, 'write'))
    patched.enter_context(watched(tf.saved_model, 'save'))
    for module, name in more:
      patched.enter_context(watched(module, name))
    yield


def _digest(path: pathlib.Path) -> str:
  """Returns what tells two folders apart."""
  found = hashlib.sha256()
  for file in sorted(path.rglob('*')):
    found.update(str(file.relative_to(path)).encode())
    if file.is_file():
      found.update(file.read_bytes())
  return found.hexdigest()


def _variables(path: pathlib.Path) -> dict[str, np.ndarray]:
  """Returns what the newest checkpoint holds, but for times and numbers."""
  numbers = [int(x.stem[5:]) for x in path.glob('ckpt-*.index')]
  reader = tf.train.load_checkpoint(str(path / f'ckpt-{max(numbers)}'))
  return {
    name: reader.get_tensor(name)
    for name in reader.get_variable_to_shape_map()
    if _TIMING not in name and 'save_counter' not in name and name[0] != '_'
  }


def _event_steps(path: pathlib.Path) -> list[tuple[int, str]]:
  return sorted(
    (event.step, value.tag)
    for file in path.iterdir()
    for event in tf.compat.v1.train.summary_iterator(str(file))
    for value in event.summary.value
  )


def _left(path: pathlib.Path) -> dict[str, Any]:
  """Returns all that a run left, but for what differs each time."""
  with (path / run_folder.METRICS).open(newline='') as file:
    rows = [{**row, _TIMING: ''} for row in csv.DictReader(file)]
  with np.load(path / run_folder.SNAPSHOTS) as arrays:
    snapshots = {name: arrays[name].tobytes() for name in arrays.files}
  policy = tf.saved_model.load(str(path / run_folder.POLICY))
  variables = _variables(path / run_folder.CHECKPOINTS)
  return {
    'rows': rows,
    'snapshots': snapshots,
    'policy': policy.signatures['act']()['value'].numpy().tolist(),
    'facts': json.loads((path / run_folder.POLICY / 'policy.json').read_text()),
    'variables': {name: x.tobytes() for name, x in variables.items()},
    'events': _event_steps(path / run_folder.EVENTS),
    'files': sorted(x.name for x in path.iterdir()),
    'checkpoints': sum(1 for x in (path / run_folder.CHECKPOINTS).iterdir()),
  }


_programs = mock.Mock(return_value=mock.Mock(replicas=replicas.ALONE))


class _Case(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    for module, name, fake in (
      (agents, 'make', lambda *_: fakes.IdleAgent()),
      (loop, 'iterate', _iterate),
      (loop, 'evaluate', _evaluate),
      (programs_lib, 'Programs', _programs),
      (export, 'ExportedPolicy', _Policy),
      (session.plot, 'plot', lambda runs, output, note: [output]),
    ):
      self.enter_context(mock.patch.object(module, name, fake))

  def _train(self, path: pathlib.Path, *flags: str) -> commands.Ended:
    return commands.run(
      lambda: command_line.run(main.main, main.define),
      f'--run_dir={path}',
      *_FLAGS,
      *flags,
    )

  def _whole(self, *flags: str) -> dict[str, Any]:
    """Returns what a run leaves that nothing happens to."""
    path = self.folder / 'whole'
    self.assertEqual(self._train(path, *flags).code, 0)
    return _left(path)

  def _assert_same(self, path: pathlib.Path, whole: dict[str, Any]) -> None:
    found = _left(path)
    for name, expected in whole.items():
      # All of it would be too much to print.
      self.assertTrue(found[name] == expected, f'{path}: {name}')


class KilledTest(_Case):
  def _photographed(self, path: pathlib.Path) -> list[pathlib.Path]:
    """Trains in a folder; returns what it was like at each step."""
    pictures = {}

    def photograph(name: str) -> None:
      # Copying makes folders too.
      with mock.patch.object(os, 'mkdir', mkdir):
        if path.exists() and (key := _digest(path)) not in pictures:
          picture = self.folder / f'{path.name}-{len(pictures)}-{name}'
          shutil.copytree(path, picture)
          pictures[key] = picture

    mkdir = os.mkdir
    with _at_each_deed(
      photograph,
      (loggers.TensorBoardLogger, 'write'),
      (loggers.TensorBoardLogger, 'sync'),
      (loggers.TerminalLogger, 'write'),
    ):
      self.assertEqual(self._train(path).code, 0)
    return list(pictures.values())

  def test_it_ends_as_if_it_had_not_been(self):
    path = self.folder / 'run'
    pictures = self._photographed(path)
    self.assertGreater(len(pictures), 30)
    whole = _left(path)
    self.assertLen(whole['rows'], _NUM_ITERATIONS)
    self.assertLen(whole['events'], len(set(whole['events'])))
    # One that goes on may be killed again.
    again = self._photographed(pictures[len(pictures) // 2])
    self.assertGreater(len(again), 10)
    for picture in pictures + again:
      ended = self._train(picture)
      self.assertEqual(ended.code, 0, f'{picture}: {ended.err}')
      self._assert_same(picture, whole)

  def test_a_run_that_is_finished_goes_on_without_a_trace(self):
    path = self.folder / 'run'
    steps = f'--num_env_steps={_STEPS}'
    self.assertEqual(self._train(path, steps).code, 0)
    self.assertEqual(self._train(path).code, 0)
    whole = self._whole()
    # Events of the closing evaluation stay.
    for name in ('rows', 'snapshots', 'policy', 'variables'):
      self.assertTrue(_left(path)[name] == whole[name], name)


class FailedTest(_Case):
  def test_in_the_first_iteration_another_config_may_begin_there(self):
    other = '--config.curriculum.step_size=0.5'
    whole = self._whole(other)
    path = self.folder / 'run'
    with mock.patch.object(loop, 'iterate', side_effect=RuntimeError):
      with self.assertRaises(RuntimeError):
        self._train(path)
    self.assertTrue((path / run_folder.CHECKPOINTS / 'ckpt-1.index').exists())
    ended = self._train(path, other)
    self.assertEqual(ended.code, 0, ended.err)
    self.assertIn('begins anew', ended.out)
    self._assert_same(path, whole)

  def test_a_failure_of_the_function_told_of_rows_loses_nothing(self):
    whole = self._whole()
    for number in range(1, _NUM_ITERATIONS + 1):
      path = self.folder / f'run{number}'
      told = [None] * (number - 1) + [ConnectionError('no network')]
      with mock.patch.object(main.xla_cache, 'keep', side_effect=told):
        with self.assertRaisesRegex(ConnectionError, 'no network'):
          self._train(path)
      out = self._train(path).out
      self.assertRegex(out, f'^.*: iteration {number}, ')
      self._assert_same(path, whole)


class ToldTest(_Case):
  def test_the_same_where_it_ends_and_when_it_is_looked_at_again(self):
    path = self.folder / 'run'
    before, now = (self._train(path).out for _ in range(2))
    told = 'iteration 5, 7,000 env steps, [0-9]+ s, coverage 0[.][0-9]+'
    found = re.findall(told, before + now)
    self.assertLen(found, 2)
    self.assertEqual(*found)
    with (path / run_folder.METRICS).open(newline='') as file:
      last = float([*csv.DictReader(file)][-1]['coverage'])
    self.assertEndsWith(found[0], f'{last:.3f}')

  def test_a_file_that_has_changed_since_the_run_began(self):
    path, mine = self.folder / 'run', self.folder / 'changing_world.py'
    flag = f'--import={mine}'
    told = 'note: changing_world.py differs from the file with which this run'
    mine.write_text('first = 1')
    outs = [self._train(path, flag, _SHORT).out]
    outs.append(self._train(path, flag, f'--num_env_steps={3 * _STEPS}').out)
    self.assertNotIn('note: ', ''.join(outs))
    mine.write_text('second = 2')
    for number in (4, 5):  # Each time, as long as it differs.
      steps = f'--num_env_steps={number * _STEPS}'
      self.assertIn(told, self._train(path, flag, steps).out)


class UnwritableTest(_Case):
  def _failing(self, path: pathlib.Path, number: int) -> commands.Ended | None:
    """Trains with a full disk from a step on; None if there are fewer."""
    done = []

    def fail(name: str) -> None:
      done.append(name)
      if len(done) >= number:
        raise OSError(errno.ENOSPC, 'No space left on device')

    with _at_each_deed(fail):
      ended = self._train(path, _SHORT)
    return ended if len(done) >= number else None

  def test_it_ends_in_one_line_and_goes_on_when_there_is_space(self):
    whole = self._whole(_SHORT)
    number, codes = 0, []
    while True:
      number += 1
      path = self.folder / f'run{number}'
      ended = self._failing(path, number)
      if ended is None:
        break
      codes.append(ended.code)
      if ended.code:  # Some only tidy up.
        self.assertEqual(ended.code, command_line.FAILURE, ended.err)
        self.assertEqual(ended.err.count('\n'), 1, ended.err)
        self.assertIn('(No space left on device)', ended.err)
      self.assertEqual(self._train(path, _SHORT).code, 0)
      self._assert_same(path, whole)
    self.assertGreater(sum(codes), 30)

  def test_errors_of_tensorflow_are_one_line_too(self):
    for module, name in (
      (tf.train.Checkpoint, 'write'),
      (tf.saved_model, 'save'),
      (tf.summary, 'scalar'),
    ):
      full = tf.errors.ResourceExhaustedError(None, None, 'disk is full\nthere')
      path = self.folder / name
      with mock.patch.object(module, name, side_effect=full):
        ended = self._train(path)
      self.assertEqual(ended.code, command_line.FAILURE)
      self.assertRegex(ended.err, '^error: .* cannot be written .disk is full.')
      self.assertEqual(ended.err.count('\n'), 1, ended.err)
      self.assertEqual(self._train(path).code, 0)


if __name__ == '__main__':
  absltest.main()
