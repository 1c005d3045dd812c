# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A run that was killed and resumed equals one that never stopped.

The run that is killed and the one that resumes it are processes of their own,
which start this file; `_train_line_world` is what all of them do.
"""

import csv
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
from absl.testing import absltest

from vacl_tf import config
from vacl_tf.testing import fakes
from vacl_tf.training import checkpoints
from vacl_tf.training import loggers
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_CHILD = 'train_line_world'  # First argument of a child process.
_LAST, _KILLED, _SAVE_INTERVAL = 32, 12, 5
_RESUMED_FROM = 10  # What was saved before the kill.
_TIMING = 'wall_seconds'
_HORIZON, _NUM_TASKS = 6, 16
_CAPACITY = 32

_CONFIG = config.Config(
  agent=config.AttentionConfig(hidden_size=16),
  ppo=config.PpoConfig(
    num_minibatches=2, learning_rate=1e-3, average_share=0.5
  ),
  curriculum=config.TaskExpansionConfig(
    capacity=_CAPACITY,
    num_easy_tasks=_CAPACITY,
    num_children=12,
    max_children_per_seed=0,
    noise=0.3,
    noise_probability=1.0,
    step_size=0.3,
  ),
  training=config.TrainingConfig(num_tasks=_NUM_TASKS, num_evaluation_tasks=8),
)


def _train_line_world(folder: pathlib.Path, last: int, kill: int = 0) -> None:
  """Trains up to iteration `last`, or kills itself after `kill`."""
  env = fakes.LineWorld(_HORIZON)
  run = run_lib.Run(_CONFIG, [env])
  checkpointer = checkpoints.Checkpointer(run, folder / 'checkpoints', 3)
  checkpointer.restore(print)
  length = config.RunLength(
    num_env_steps=last * _NUM_TASKS * _HORIZON,
    evaluation_interval=4,
    checkpoint_interval=_SAVE_INTERVAL,
  )
  metrics = folder / 'metrics.csv'
  loggers.CsvLogger.cut(
    metrics, int(run.iteration), length.evaluation_interval, print
  )
  logger = loggers.CsvLogger(metrics)

  def log(row: dict[str, float]) -> None:
    logger.write(row)
    if row['iteration'] == kill:
      os.kill(os.getpid(), signal.SIGKILL)

  loop.train(
    run,
    programs_lib.Programs(run, [env], _CONFIG, use_xla=False),
    _CONFIG,
    length,
    log=log,
    save=checkpointer.save,
    should_stop=lambda: False,
    began=time.monotonic(),
  )
  variables = {
    f'{index}:{variable.name}': variable.numpy()
    for index, variable in enumerate(run.variables)
  }
  np.savez(folder / 'final.npz', **variables)


def _train(folder: pathlib.Path, last: int, kill: int = 0) -> int:
  """Runs the child process; returns its exit code."""
  command = [sys.executable, '-m', 'vacl_tf.training.resume_test']
  return subprocess.run(
    [*command, _CHILD, str(folder), str(last), str(kill)],
    check=False,
    capture_output=True,
  ).returncode


def _metrics(folder: pathlib.Path) -> list[dict[str, str]]:
  with (folder / 'metrics.csv').open(newline='') as file:
    rows = list(csv.DictReader(file))
  for row in rows:
    del row[_TIMING]
  return rows


class ResumeTest(absltest.TestCase):
  def test_kill_and_resume_change_nothing_bit_for_bit(self):
    whole = pathlib.Path(self.create_tempdir('whole').full_path)
    broken = pathlib.Path(self.create_tempdir('broken').full_path)
    _train_line_world(whole, _LAST)
    self.assertEqual(_train(broken, _LAST, _KILLED), -signal.SIGKILL)
    self.assertLen(_metrics(broken), _KILLED)
    self.assertEqual(_train(broken, _LAST), 0)

    rows = _metrics(whole)
    saved = rows[_RESUMED_FROM - 1]
    # Else the test would not show that the sets come back.
    self.assertGreater(float(saved['solved_tasks']), 0)
    self.assertTrue(any(float(r['newly_solved']) for r in rows[:_RESUMED_FROM]))
    self.assertGreaterEqual(float(saved['active_tasks']), _CAPACITY)
    self.assertGreaterEqual(_LAST - _RESUMED_FROM, 20)
    self.assertEqual(_metrics(broken), rows)
    with np.load(whole / 'final.npz') as a, np.load(broken / 'final.npz') as b:
      self.assertEqual(a.files, b.files)
      self.assertGreater(len(a.files), 100)
      for name in a.files:
        if _TIMING not in name:
          np.testing.assert_array_equal(a[name], b[name], name)


if __name__ == '__main__':
  if sys.argv[1:2] == [_CHILD]:
    _train_line_world(pathlib.Path(sys.argv[2]), *map(int, sys.argv[3:]))
  else:
    absltest.main()
