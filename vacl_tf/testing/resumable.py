# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A process that trains LineWorld, to be killed and started again.

python -m vacl_tf.testing.resumable DIR LAST [KILL] trains up to iteration
LAST, saving every fifth; with KILL it kills itself, as by kill -9, right after
that iteration. At its end it writes every variable to DIR/final.npz.
"""

import os
import pathlib
import signal
import sys
import time

import numpy as np

from vacl_tf import config
from vacl_tf.testing import fakes
from vacl_tf.training import loggers
from vacl_tf.training import loop
from vacl_tf.training import saving

HORIZON = 6
SAVE_INTERVAL = 5
_TASKS = 16

CONFIG = config.Config(
  network=config.NetworkConfig(hidden_size=16),
  ppo=config.PpoConfig(num_minibatches=2, learning_rate=1e-3),
  curriculum=config.CurriculumConfig(
    capacity=32, num_easy_tasks=32, num_children=12, noise=0.3, step_size=0.3
  ),
  training=config.TrainingConfig(num_tasks=_TASKS, num_evaluation_tasks=8),
)


def main(folder: pathlib.Path, last: int, kill: int) -> None:
  """Trains, or goes on training, in a folder."""
  env = fakes.LineWorld(HORIZON)
  run = loop.Run(CONFIG, env)
  checkpointer = saving.Checkpointer(run, folder / 'checkpoints', 3)
  checkpointer.restore(print)
  length = config.RunLength(
    num_env_steps=last * _TASKS * HORIZON,
    evaluation_interval=4,
    checkpoint_interval=SAVE_INTERVAL,
  )
  metrics = folder / 'metrics.csv'
  loggers.CsvLogger.cut(
    metrics, int(run.iteration), length.evaluation_interval
  )
  logger = loggers.CsvLogger(metrics)

  def log(row: dict[str, float]) -> None:
    logger.write(row)
    if row['iteration'] == kill:
      os.kill(os.getpid(), signal.SIGKILL)

  loop.train(
    run,
    loop.Programs(run, env, CONFIG, use_xla=False),
    CONFIG,
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


if __name__ == '__main__':
  main(
    pathlib.Path(sys.argv[1]),
    int(sys.argv[2]),
    int(sys.argv[3]) if len(sys.argv) > 3 else 0,
  )
