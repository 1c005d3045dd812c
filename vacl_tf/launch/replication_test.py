# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Two processes train one run: exactly resumed, stopped and killed together."""

import contextlib
import csv
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from unittest import mock

import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import types
from vacl_tf.environments import box_tasks
from vacl_tf.environments import one_world
from vacl_tf.environments import python_world
from vacl_tf.launch import cluster as cluster_lib
from vacl_tf.launch import command_line
from vacl_tf.launch import devices
from vacl_tf.launch import main
from vacl_tf.launch import replication
from vacl_tf.testing import commands
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_SMALL = (
  '--config.training.num_tasks=20',
  '--config.training.num_evaluation_tasks=20',
  '--config.environment.horizon=10',
  '--config.ppo.num_minibatches=2',
  '--config.curriculum.num_easy_tasks=20',
  '--config.curriculum.capacity=30',
  '--config.curriculum.num_children=10',
  '--config.agent.hidden_size=8',
  '--evaluation_interval=3',
  '--checkpoint_interval=2',
  '--num_checkpoints=1000',
  '--num_replicas=2',
)
# The task that compiles soonest; evaluations are of averaged parameters.
_TASK = ('--env=speaker_listener', '--config.ppo.average_share=0.05')
_STEPS_OF_ITERATION = 200
_NUM_ROWS = 12  # Before something happens to a run.
_SECONDS = 240.0
# A world that fails in a follower, after a while.
_FAILING = f"""
import os

import numpy as np

import {box_tasks.__name__} as box_tasks
import {one_world.__name__} as one_world
import {python_world.__name__} as python_world
import {types.__name__} as types


class Failing(one_world.OneWorld):
  action = types.discrete(2)

  def __init__(self, num_agents):
    self.num_agents, self.num_steps = num_agents, 0

  def reset(self, task, rng):
    return {{'own': task}}

  def step(self, actions):
    self.num_steps += 1
    if self.num_steps > 30 and {replication._PARENT!r} in os.environ:
      raise RuntimeError('no luck')
    return one_world.Step({{'own': np.zeros([1, 2])}}, 0.0, 0.0)


def easy(num_tasks, rng):
  return rng.uniform(-1.0, 1.0, [num_tasks, 1, 2])


edge = np.ones([1, 2])
python_world.register(
  'failing',
  make=Failing,
  tasks=lambda n: box_tasks.Box(-edge, edge, easy),
  horizon=10,
  num_agents=1,
  num_env_steps=10_000,
)
"""


class FlagsTest(parameterized.TestCase):
  @parameterized.parameters(
    ('0', 'num_replicas=0 is not a number'),
    ('-1', 'num_replicas=-1 is not a number'),
    ('two', 'num_replicas=two is not a number'),
    ('3', 'num_replicas=3 does not divide .* nearest number that does is 2'),
    ('30', 'num_replicas=30 does not divide .* nearest number that does is 20'),
    ('99999', 'num_replicas=99999 does not divide .* does is 20'),
  )
  def test_impossible_numbers_are_refused(self, number, message):
    self._is_refused(message, *_SMALL, f'--num_replicas={number}')

  def test_a_cluster_must_divide_the_tasks(self):
    cluster = {
      'cluster': {'worker': [f'host{i}:1' for i in range(3)]},
      'task': {'type': 'worker', 'index': 0},
    }
    with mock.patch.dict(os.environ, {'TF_CONFIG': json.dumps(cluster)}):
      message = 'TF_CONFIG with 3 workers does not divide'
      self._is_refused(message, *_SMALL, '--num_replicas=auto')

  @parameterized.parameters((0, 8, 1), (1, 8, 1), (4, 8, 4), (4, 3, 3))
  def test_auto_takes_a_gpu_each(self, num_gpus, most, expected):
    with mock.patch.object(devices, 'num_gpus', lambda: num_gpus):
      found = replication.automatic(lambda count: count <= most)
    self.assertEqual(found, expected)

  def _is_refused(self, message: str, *arguments: str) -> None:
    run_dir = pathlib.Path(self.create_tempdir().full_path) / 'run'
    ended = commands.run(
      lambda: command_line.run(main.main, main.define),
      *arguments,
      f'--run_dir={run_dir}',
    )
    self.assertEqual(ended.code, 2, ended.err)
    self.assertRegex(ended.err, message)
    self.assertEqual(ended.err.count('\n'), 1)
    self.assertFalse(run_dir.exists())


class FollowerTest(parameterized.TestCase):
  """A follower without a chief; nothing is really trained."""

  def _end(
    self, train: Callable[..., bool], other: int = 0
  ) -> tuple[commands.Ended, int]:
    """Returns how it ends, and how often it left without waiting.

    Args:
      train: stands for the loop.
      other: the signal that the chief was sent.
    """
    group = mock.Mock(count=2, index=1, is_chief=False)
    group.gather = lambda mine: tf.concat([[[float(other)]], mine], 0)
    with (
      mock.patch.object(
        replication, 'joined', lambda *_: contextlib.nullcontext(group)
      ),
      mock.patch.object(replication, 'leave') as leave,
      mock.patch.object(run_lib, 'Run'),
      mock.patch.object(programs_lib, 'Programs'),
      mock.patch.object(loop, 'is_finished', return_value=False),
      mock.patch.object(loop, 'train', train),
    ):
      ended = commands.run(
        lambda: command_line.run(main.main, main.define), *_SMALL
      )
    return ended, leave.call_count

  @parameterized.parameters(
    (None, 0, True, 0),
    (None, signal.SIGTERM, False, 128 + signal.SIGTERM),
    (None, signal.SIGUSR1, False, 128 + signal.SIGUSR1),
    (signal.SIGTERM, 0, True, 0),
    (signal.SIGTERM, 0, False, 128 + signal.SIGTERM),
    (signal.SIGUSR1, signal.SIGUSR1, False, 128 + signal.SIGUSR1),
  )
  def test_one_that_stopped_says_so(self, number, other, is_done, code):
    def train(
      *_: object, should_stop: Callable[[], bool], **__: object
    ) -> bool:
      if number is not None:
        should_stop()  # From the first iteration on a signal is only noted.
        os.kill(os.getpid(), number)
        while not should_stop():
          time.sleep(0.01)
      return is_done

    ended, times_left = self._end(train, other)
    self.assertEqual((ended.code, times_left), (code, 0), ended.err)

  def test_one_that_failed_does_not_wait(self):
    ended, times_left = self._end(
      mock.Mock(side_effect=loop.DivergedError('it is nan'))
    )
    self.assertEqual((ended.code, times_left), (1, 1), ended.err)


class RunTest(absltest.TestCase):
  """Processes take most of the time: they are started five times in all."""

  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)

  def _start(
    self, name: str, iterations: int, *more: str, tf_config: str | None = None
  ) -> subprocess.Popen:
    num_steps = iterations * _STEPS_OF_ITERATION
    shell = dict(commands.environment())
    shell.pop('TF_CPP_MIN_LOG_LEVEL', None)  # Tests see more of TensorFlow.
    if tf_config is not None:
      shell['TF_CONFIG'] = tf_config
    return subprocess.Popen(
      [
        *(sys.executable, '-m', 'vacl_tf.launch.main', *_SMALL),
        f'--num_env_steps={num_steps}',
        f'--run_dir={self.folder / name}',
        *more,
      ],
      stdout=subprocess.PIPE,
      stderr=subprocess.PIPE,
      text=True,
      env=shell,
    )

  def _rows(self, name: str) -> list[dict[str, str]]:
    with (self.folder / name / 'metrics.csv').open() as file:
      rows = list(csv.DictReader(file))
    return [{**row, 'wall_seconds': ''} for row in rows]

  def _wait_for_rows(self, name: str, number: int) -> None:
    path = self.folder / name / 'metrics.csv'
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
      if path.exists() and path.read_text().count('\n') > number:
        return
      time.sleep(0.2)
    raise AssertionError(f'{path} has too few rows')

  def _keep_first_checkpoints(self, name: str, number: int) -> None:
    """Removes the later ones; the first is that of iteration 0."""
    for path in (self.folder / name / 'checkpoints').glob('ckpt-*'):
      if int(path.stem.removeprefix('ckpt-')) > number:
        path.unlink()

  def _follower(self, process: subprocess.Popen) -> int:
    children = pathlib.Path(f'/proc/{process.pid}/task/{process.pid}/children')
    [pid] = map(int, children.read_text().split())
    return pid

  def _end(self, process: subprocess.Popen) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=_SECONDS)
    return process.returncode, out, err

  def test_processes_that_differ_end_together(self):
    with contextlib.ExitStack() as opened:
      ports = [
        opened.enter_context(socket.create_server(('127.0.0.1', 0)))
        for _ in range(2)
      ]
      workers = tuple(f'127.0.0.1:{x.getsockname()[1]}' for x in ports)
    started = []
    for index in range(2):
      changes = ('--num_replicas=auto', f'--config.ppo.clip=0.{index + 1}')
      here = cluster_lib.Cluster('', workers, index)
      started.append(self._start('differ', 3, *changes, tf_config=here.text))
    for process in started:
      code, _, err = self._end(process)
      self.assertEqual(code, 2, err)
      self.assertIn('ppo.clip: 0.1 in replica 0 and 0.2 in replica 1', err)
      self.assertEqual(err.count('\n'), 1, err)
    self.assertFalse((self.folder / 'differ').exists())

  def test_a_follower_whose_world_fails_ends_all(self):
    path = self.folder / 'failing.py'
    path.write_text(_FAILING)
    world = (f'--import={path}', '--env=failing')
    code, _, err = self._end(self._start('failing', 10**6, *world))
    self.assertEqual(code, 1, err)
    self.assertRegex(err, 'replica 1 ended with exit code 1 .*no luck')
    self.assertNotIn('Traceback', err)

  def test_killed_stopped_and_resumed_it_is_as_if_left_in_peace(self):
    process = self._start('run', 10**6, *_TASK)
    self._wait_for_rows('run', _NUM_ROWS)
    os.kill(self._follower(process), signal.SIGKILL)
    code, _, err = self._end(process)
    self.assertEqual(code, 1, err)
    self.assertRegex(err, 'replica 1 ended with exit code -9; the same command')
    self.assertEqual(err.count('\n'), 1, err)
    # Left in peace until then. All rows but two are to be made once more.
    whole = self._rows('run')
    self._keep_first_checkpoints('run', 2)

    process = self._start('run', 10**6, *_TASK)
    self.assertIn('with 2 replicas: iteration 2,', process.stdout.readline())
    self._wait_for_rows('run', 3)
    os.kill(self._follower(process), signal.SIGTERM)
    code, out, err = self._end(process)
    self.assertEqual(code, 128 + signal.SIGTERM, err)
    self.assertIn('the same command resumes', out)
    done = len(self._rows('run'))

    code, out, err = self._end(self._start('run', done + 2, *_TASK))
    self.assertEqual(code, 0, err)
    self.assertIn(f'with 2 replicas: iteration {done},', out)
    config = json.loads((self.folder / 'run' / 'config.json').read_text())
    self.assertEqual(config['num_replicas'], 2)
    rows = self._rows('run')
    self.assertLen(rows, done + 2)
    shared = min(len(whole), done + 1)  # The last one is evaluated, too.
    self.assertEqual(rows[:shared], whole[:shared])


if __name__ == '__main__':
  absltest.main()
