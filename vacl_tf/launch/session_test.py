# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A user's session: train, stop, go on, evaluate, all by command."""

import csv
import importlib
import json
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any
from unittest import mock

from absl.testing import absltest
from PIL import Image

from vacl_tf.launch import command_line
from vacl_tf.launch import evaluate
from vacl_tf.launch import main
from vacl_tf.launch import plot
from vacl_tf.testing import commands
from vacl_tf.training import loop

_SMALL = (
  '--config.training.num_tasks=20',
  '--config.training.num_evaluation_tasks=20',
  '--config.environment.horizon=10',
  '--config.ppo.num_minibatches=2',
  '--config.curriculum.num_easy_tasks=20',
  '--config.curriculum.capacity=30',
  '--config.curriculum.num_children=10',
  '--config.agent.hidden_size=8',
  '--config.agent.num_hops=1',
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
    env=commands.environment(),
  )


def _in_here(*arguments: str, command: Any = evaluate) -> commands.Ended:
  """Runs a command in this process, which need not start anew each time."""
  return commands.run(
    lambda: command_line.run(command.main, command.define), *arguments
  )


class SessionTest(absltest.TestCase):
  def test_train_stop_resume_evaluate(self):
    path = pathlib.Path(self.create_tempdir().full_path) / 'run'
    flags = (*_SMALL, f'--run_dir={path}', '--evaluation_interval=1')
    metrics = path / 'metrics.csv'

    process = _start(*flags, '--num_env_steps=20000000')
    began = time.monotonic()
    while not metrics.exists() and time.monotonic() - began < _SECONDS:
      time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    code, out, err = _finish(process)
    self.assertEqual(code, 128 + signal.SIGTERM, err)
    self.assertRegex(
      out,
      'Stopped and saved in .*: iteration [0-9]+, [0-9,]+ env steps, [0-9]+ s, '
      'coverage 0[.][0-9]{3}; the same command resumes.\n',
    )

    rows = list(csv.DictReader(metrics.open()))
    done = int(rows[-1]['iteration'])
    last = str(200 * (done + 3))
    self.assertTrue((path / 'saved_model').exists())
    # Nothing that was evaluated is lost by another interval.
    steps = f'--num_env_steps={last}'
    self._resume(path, done, *flags, steps, '--evaluation_interval=1000')
    rows = list(csv.DictReader(metrics.open()))
    self.assertEqual(
      [int(row['iteration']) for row in rows], list(range(1, done + 4))
    )
    self.assertEqual(
      [bool(row['coverage']) for row in rows],
      [*done * [True], False, False, True],
    )
    self.assertTrue((path / 'curves.png').exists())

    self._end_earlier(path, int(last) - 200, *flags)
    self._evaluate(path)
    self._end_unevaluated(path, *flags, f'--num_env_steps={last}')

  def _resume(self, path: pathlib.Path, done: int, *flags: str) -> None:
    """Goes on to the end, in another process than the one that began."""
    iterate, has_policy = loop.iterate, []

    def watched(*arguments: Any) -> dict[str, Any]:
      has_policy.append((path / 'saved_model').exists())
      return iterate(*arguments)

    with mock.patch.object(loop, 'iterate', watched):
      code, out, err = _in_here(*flags, command=main)
    self.assertEqual(code, 0, err)
    first, *_ = out.splitlines()
    self.assertIn(f'Resuming in {path}: iteration {done}', first)
    # It stays until the next one is whole.
    self.assertEqual(has_policy, [True] * 3)

  def _end_earlier(self, path: pathlib.Path, steps: int, *flags: str) -> None:
    """Ends a run at a number of steps that it has already made."""
    (path / 'curves.png').unlink()
    fewer = f'--num_env_steps={steps}'
    code, out, err = _in_here(*flags, fewer, command=main)
    self.assertEqual(code, 0, err)
    self.assertIn('is finished', out)
    found = json.loads((path / 'config.json').read_text())
    self.assertEqual(found['run_length']['num_env_steps'], steps)
    self.assertTrue((path / 'curves.png').exists())

  def _end_unevaluated(self, path: pathlib.Path, *flags: str) -> None:
    """Ends a run as if it had been stopped before its first evaluation."""
    lines = (path / 'metrics.csv').read_text().splitlines()
    column = lines[0].split(',').index('coverage')
    rows = [line.split(',') for line in lines[1:]]
    rows = [[*x[:column], '', *x[column + 1 :]] for x in rows]
    text = '\n'.join([lines[0], *map(','.join, rows), ''])
    (path / 'metrics.csv').write_text(text)
    code, out, err = _in_here(*flags, command=main)
    self.assertEqual((code, err), (0, ''))
    self.assertIn('curves  none, as nothing was evaluated', out)

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
      self.assertEqual(image.n_frames, 11)
    for flags, message in (
      (['--run_dir=nowhere'], 'nowhere'),
      ([f'--saved_model={path.parent}'], 'saved_model folder'),
      ([policy, '--num_agents=4,101'], 'num_agents=101 .*allowed: 2 to 100'),
    ):
      code, _, err = _in_here(*flags)
      self.assertEqual(code, 2, err)
      self.assertRegex(err, message)
      self.assertEqual(err.count('\n'), 1, err)


# A task and a curriculum of a user's own, in one file; what it imports.
_NEEDED = (
  'vacl_tf.catalog',
  'vacl_tf.config',
  'vacl_tf.curriculum.base',
  'vacl_tf.environments.task_spec',
  'vacl_tf.testing.fakes',
)
_MINE = '''
import dataclasses
from typing import Annotated

import vacl_tf
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf.curriculum import base
from vacl_tf.environments import task_spec
from vacl_tf.testing import fakes


@dataclasses.dataclass(frozen=True, kw_only=True)
class Walk(config.EnvironmentConfig):
  """Attributes: start: where the walk starts, in metres."""

  start: Annotated[float, config.Range(0.0, 1.0)] = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class Lazy(config.CurriculumConfig):
  """Attributes: pace: how fast it is."""

  pace: Annotated[float, config.Range(0.0, 1.0)] = 0.5


vacl_tf.register_curriculum(
  catalog.CurriculumSpec(name='lazy', make=base.Uniform, config=Lazy)
)
vacl_tf.register_task(
  task_spec.TaskSpec(
    world=Walk(name='walk', num_agents=2, horizon=10),
    make=lambda world: fakes.LineWorld(world.horizon),
    least=(2,),
    most=(2,),
    measures=('on the line', 'all on it'),
    presets={'default': task_spec.Preset(num_env_steps=(400, 400))},
  )
)
'''


class OwnTaskTest(absltest.TestCase):
  def test_train_evaluate_and_plot(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    mine = folder / 'my_walk.py'
    mine.write_text(_MINE)
    for name in _NEEDED:  # A user has them installed.
      importlib.import_module(name)
    path = folder / 'run'
    code, out, err = _finish(
      _start(
        f'--import={mine}',
        '--env=walk',
        '--curriculum=lazy',
        '--config.environment.start=0.25',
        '--config.curriculum.pace=1',
        '--config.training.num_tasks=20',
        '--config.training.num_evaluation_tasks=20',
        '--config.agent.hidden_size=8',
        f'--run_dir={path}',
      )
    )
    self.assertEqual(code, 0, err)
    self.assertIn('Finished', out)
    saved = json.loads((path / 'config.json').read_text())
    self.assertEqual(saved['imports'], [str(mine)])
    self.assertEqual(saved['config']['environment.start'], 0.25)
    self.assertEqual(saved['config']['curriculum.pace'], 1.0)

    policy = f'--run_dir={path}'
    code, _, err = _in_here(policy, '--num_tasks=4')
    self.assertEqual(code, 2)
    self.assertIn("env='walk' is unknown", err)
    code, out, err = _in_here(policy, '--num_tasks=4', f'--import={mine}')
    self.assertEqual(code, 0, err)
    self.assertIn('on the line', out)
    beside = folder / 'curves.png'
    code, out, err = _in_here(
      f'--run_dirs={path}',
      f'--output={beside}',
      f'--import={mine}',
      command=plot,
    )
    self.assertEqual(code, 0, err)
    self.assertTrue(beside.exists())


if __name__ == '__main__':
  absltest.main()
