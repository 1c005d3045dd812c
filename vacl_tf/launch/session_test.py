# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A user's session: train, stop, go on, evaluate, all by command."""

import csv
import json
import pathlib
import signal
import subprocess
import sys
import time

from absl.testing import absltest
from PIL import Image

from vacl_tf.launch import command_line
from vacl_tf.launch import evaluate
from vacl_tf.testing import commands

_SMALL = (
  '--config.training.num_tasks=20',
  '--config.training.num_evaluation_tasks=20',
  '--config.environment.horizon=10',
  '--config.ppo.num_minibatches=2',
  '--config.curriculum.num_easy_tasks=20',
  '--config.curriculum.capacity=30',
  '--config.curriculum.num_children=10',
  '--config.network.hidden_size=8',
)
_SECONDS = 240  # Far above what it takes: compilation on a busy machine.


def _finish(process: subprocess.Popen) -> tuple[int, str, str]:
  out, err = process.communicate(timeout=_SECONDS)
  return process.returncode, out, err


def _start(*arguments: str) -> subprocess.Popen:
  """Starts to train in a process of its own."""
  return subprocess.Popen(
    [sys.executable, '-m', 'vacl_tf.launch.main', *arguments],
    stdout=subprocess.PIPE,
    stderr=subprocess.PIPE,
    text=True,
  )


def _in_here(*arguments: str) -> commands.Ended:
  """Evaluates in this process, which need not start anew for each time."""
  return commands.run(lambda: command_line.run(evaluate.main), *arguments)


class SessionTest(absltest.TestCase):
  def test_train_stop_resume_evaluate(self):
    path = pathlib.Path(self.create_tempdir().full_path) / 'run'
    flags = (*_SMALL, f'--run_dir={path}', '--evaluation_interval=2')
    metrics = path / 'metrics.csv'

    process = _start(*flags, '--num_env_steps=20000000')
    began = time.monotonic()
    while not metrics.exists() and time.monotonic() - began < _SECONDS:
      time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    code, out, err = _finish(process)
    self.assertEqual(code, 128 + signal.SIGTERM, err)
    self.assertIn('the same command goes on', out)

    rows = list(csv.DictReader(metrics.open()))
    done = int(rows[-1]['iteration'])
    last = str(200 * (done + 3))
    self.assertTrue((path / 'saved_model').exists())
    process = _start(*flags, f'--num_env_steps={last}')
    self.assertIn(
      f'Resuming in {path}: iteration {done}', process.stdout.readline()
    )
    self.assertFalse((path / 'saved_model').exists())
    code, out, err = _finish(process)
    self.assertEqual(code, 0, err)
    rows = list(csv.DictReader(metrics.open()))
    self.assertEqual(
      [int(row['iteration']) for row in rows], list(range(1, done + 4))
    )
    self.assertNotEmpty(rows[-1]['coverage'])
    self.assertTrue((path / 'curves.png').exists())

    # A run that was stopped may have enough steps already.
    (path / 'curves.png').unlink()
    code, out, err = _finish(_start(*flags, f'--num_env_steps={last}'))
    self.assertEqual(code, 0, err)
    self.assertIn('is finished', out)
    self.assertTrue((path / 'curves.png').exists())
    self._evaluate(path)

  def _evaluate(self, path: pathlib.Path) -> None:
    gif = path / 'policy.gif'
    policy = f'--saved_model={path / "saved_model"}'
    code, out, err = _in_here(
      policy, '--num_agents=6', '--num_tasks=8', '--json', f'--video={gif}'
    )
    self.assertEqual(code, 0, err)
    found = json.loads(out)
    self.assertEqual((found['num_agents'], found['trained_with']), (6, '4'))
    coverage = found['coverage']
    self.assertLessEqual(coverage['low'], coverage['mean'])
    with Image.open(gif) as image:
      self.assertEqual(image.n_frames, 10)
    for flags, message in (
      (['--run_dir=nowhere'], 'nowhere'),
      ([f'--saved_model={path}'], 'saved_model folder'),
      ([policy, '--num_agents=4,101'], 'num_agents=101 .*allowed: 2 to 100'),
    ):
      code, _, err = _in_here(*flags)
      self.assertEqual(code, 2, err)
      self.assertRegex(err, message)
      self.assertEqual(err.count('\n'), 1, err)


if __name__ == '__main__':
  absltest.main()
