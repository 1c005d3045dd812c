# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measures what checkpoints and snapshots cost with a task's default preset.

python -m vacl_tf.testing.stress.costs TASK RUN_DIR prints their seconds, and
their share of the time of a run with the default checkpoint interval.
"""

import json
import sys
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np

from vacl_tf import config
from vacl_tf import presets
from vacl_tf.launch import command_line
from vacl_tf.launch import main as launch_main
from vacl_tf.testing import commands
from vacl_tf.training import checkpoints
from vacl_tf.training import history
from vacl_tf.training import loop

_ITERATIONS, _LEFT_OUT = 8, 3  # The first iterations compile.


def _timed(call: Callable[..., Any], seconds: list[float]) -> Callable:
  def timed(*arguments: Any, **named: Any) -> Any:
    began = time.perf_counter()
    try:
      return call(*arguments, **named)
    finally:
      seconds.append(time.perf_counter() - began)

  return timed


def main() -> int:
  """Trains for a few iterations and prints one JSON object."""
  env, run_dir = sys.argv[1:]
  cfg = presets.make(env=env)
  steps = (
    cfg.training.num_tasks * cfg.environment.horizon * cfg.training.num_rollouts
  )
  played: list[float] = []
  saved: list[float] = []
  recorded: list[float] = []
  saver = checkpoints.Checkpointer
  with (
    mock.patch.object(loop, 'iterate', _timed(loop.iterate, played)),
    mock.patch.object(saver, 'save', _timed(saver.save, saved)),
    mock.patch.object(history, 'record', _timed(history.record, recorded)),
  ):
    ended = commands.run(
      lambda: command_line.run(launch_main.main, launch_main.define),
      f'--env={env}',
      f'--run_dir={run_dir}',
      f'--num_env_steps={_ITERATIONS * steps}',
      '--checkpoint_interval=1',
    )
  if ended.code:
    print(ended.err, file=sys.stderr)
    return 1
  iteration = float(np.mean(played[_LEFT_OUT:]))
  save = float(np.mean(saved[_LEFT_OUT:]))
  record = float(np.mean(recorded[_LEFT_OUT:]))
  between = config.RunLength().checkpoint_interval * iteration
  found = {
    'iteration_seconds': iteration,
    'save_seconds': save,
    'snapshot_seconds': record,
    'share': (save + record) / (between + save + record),
  }
  print(json.dumps(found))
  return 0


if __name__ == '__main__':
  sys.exit(main())
