# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trains: python -m vacl_tf.launch.main --env=simple_spread --num_agents=4.

Started again with the same run_dir, it resumes.
"""

import json
import math
import pathlib
import shutil
import signal
from collections.abc import Callable
from typing import Any

from absl import flags

from vacl_tf import bounds
from vacl_tf import config
from vacl_tf import launch
from vacl_tf import presets
from vacl_tf.launch import command_line
from vacl_tf.launch import plot

with command_line.quiet_imports():
  import tensorflow as tf

  tf.config.list_physical_devices('GPU')  # Looking for one complains too.

from vacl_tf import curriculum
from vacl_tf import environments
from vacl_tf.environments import base
from vacl_tf.launch import provenance
from vacl_tf.training import history
from vacl_tf.training import loggers
from vacl_tf.training import loop
from vacl_tf.training import saving

_ENV = flags.DEFINE_string('env', 'simple_spread', 'Which world.')
_PRESET = flags.DEFINE_string('preset', 'default', 'default or paper.')
_NUM_AGENTS = flags.DEFINE_integer(
  'num_agents', None, "Agents to master; default: the task's own number."
)
_NUM_BOXES = flags.DEFINE_integer(
  'num_boxes', None, 'Boxes in Lock-and-Return; default: as many as agents.'
)
_ENTITY_COUNTS = flags.DEFINE_string(
  'entity_counts',
  None,
  'Numbers of entities on the way there, like 4,8,16 or 2x2,4x2,4x4.',
)
_CURRICULUM = flags.DEFINE_string(
  'curriculum', None, f'One of {", ".join(curriculum.NAMES)}.'
)


# From these, which have flags of their own, the rest of a config follows.
_CHOOSE_PRESETS = (
  'seed',
  'preset',
  'environment.name',
  'environment.num_agents',
  'environment.num_boxes',
  'curriculum.name',
  'progression.entity_counts',
)


def _define(prefix: str, node: Any, about: str) -> dict[str, flags.FlagHolder]:
  """Defines a flag of the right type for each leaf, without a value yet."""
  kinds = {
    bool: flags.DEFINE_bool,
    int: flags.DEFINE_integer,
    float: flags.DEFINE_float,
    str: flags.DEFINE_string,
  }
  return {
    name: kinds[type(value)](prefix + name, None, f'{about}: {value}.')
    for name, value in config.leaves(node).items()
    if name not in _CHOOSE_PRESETS
  }


_CONFIG = _define('config.', config.Config(), 'Unless the preset says so')
_LENGTH = _define('', config.RunLength(), 'Unless the preset says so')


def _given(holders: dict[str, flags.FlagHolder]) -> dict[str, Any]:
  return {k: x.value for k, x in holders.items() if x.value is not None}


def make_config() -> config.Config:
  """Returns the config that the flags ask for.

  Raises:
    UsageError: it is not a possible one.
  """
  try:
    cfg = presets.make(
      env=_ENV.value,
      num_agents=_NUM_AGENTS.value,
      num_boxes=_NUM_BOXES.value,
      preset=_PRESET.value,
      curriculum=_CURRICULUM.value,
      entity_counts=_ENTITY_COUNTS.value,
      seed=command_line.SEED.value,
    )
    cfg = config.replace(cfg, _given(_CONFIG))
    bounds.check(cfg)
    curriculum.check(cfg)
  except ValueError as error:
    raise command_line.UsageError(str(error)) from error
  return cfg


def make_length(cfg: config.Config) -> config.RunLength:
  """Returns the run length that the flags ask for."""
  length = config.replace(presets.run_length(cfg), _given(_LENGTH))
  steps = (
    cfg.training.num_tasks * cfg.environment.horizon * cfg.training.num_rollouts
  )
  if length.num_env_steps < steps:
    raise command_line.UsageError(
      f'num_env_steps={length.num_env_steps} is below one iteration; give at '
      f'least {steps} (num_tasks * horizon * num_rollouts)'
    )
  for name, value in config.leaves(length).items():
    low, high = (0, 1) if name == 'stop_at_coverage' else (1, math.inf)
    if not low <= value <= high:
      raise command_line.UsageError(
        f'{name}={value} is out of range; allowed: {low} '
        + ('or more' if high == math.inf else f'to {high}')
      )
  return length


def open_run_dir(cfg: config.Config) -> pathlib.Path:
  """Returns the run directory, made if need be.

  Raises:
    UsageError: it can't be used, or holds a run of another config.
  """
  count = config.spelt(config.entity_counts(cfg)[-1])
  name = f'runs/{cfg.environment.name}_n{count}_s{cfg.seed}'
  path = command_line.folder(command_line.RUN_DIR.value or name)
  try:
    path.mkdir(parents=True, exist_ok=True)
    (path / '.writable').touch()
    (path / '.writable').unlink()
  except OSError as error:
    raise command_line.UsageError(
      f'run_dir={path} is not a folder that can be written to '
      f'({error.strerror}); give another one'
    ) from error
  saved = path / 'config.json'
  if saved.exists():
    _refuse_another_config(saved, cfg)
  elif any((path / 'checkpoints').glob('ckpt-*')):
    raise command_line.UsageError(
      f'{path} has checkpoints but no config.json; give another --run_dir'
    )
  return path


def _refuse_another_config(saved: pathlib.Path, cfg: config.Config) -> None:
  try:
    values = json.loads(saved.read_text())['config']
    old = config.restore(config.Config(), values)
  except (ValueError, KeyError, TypeError) as error:
    raise command_line.UsageError(
      f'{saved} is not a config of a run ({error}); give another --run_dir'
    ) from error
  if different := config.differences(old, cfg):
    raise command_line.UsageError(
      f'{saved.parent} holds a run with another config '
      f'({"; ".join(different)}); give the same flags or another --run_dir'
    )


class _Signals:
  """Remembers that the process was asked to end."""

  def __init__(self) -> None:
    self.number = 0
    for number in (signal.SIGINT, signal.SIGTERM):
      signal.signal(number, self._note)

  def _note(self, number: int, _: Any) -> None:
    self.number = number
    # A second one ends the process at once.
    signal.signal(number, signal.SIG_DFL)


def _log_everywhere(
  outputs: list[loggers.Logger], snapshot: Callable[[int], None]
) -> Callable[[dict[str, float]], None]:
  def log(row: dict[str, float]) -> None:
    for output in outputs:
      output.write(row)
    snapshot(int(row['iteration']))

  return log


def _train(
  cfg: config.Config,
  length: config.RunLength,
  envs: tuple[base.World, ...],
  path: pathlib.Path,
) -> int:
  """Trains or resumes in a run directory; returns the exit code."""
  signals = _Signals()
  run = loop.Run(cfg, envs)
  checkpointer = saving.Checkpointer(
    run, path / 'checkpoints', length.num_checkpoints
  )
  is_resumed = checkpointer.restore(report=lambda text: print('note:', text))
  if is_resumed and loop.is_finished(run, length):
    print(f'{path} is finished: {_summary(run)}. Nothing to train.')
    _leave(run, envs[-1], cfg, path)
    return 0
  metrics = path / 'metrics.csv'
  loggers.CsvLogger.cut(metrics, int(run.iteration), length.evaluation_interval)
  provenance.write(path / 'config.json', cfg, length)
  # Who evaluates meanwhile wants the checkpoint, not the policy that stopped.
  shutil.rmtree(path / 'saved_model', ignore_errors=True)
  verb = 'Resuming' if is_resumed else 'Training'
  print(f'{verb} in {path}: {_summary(run)}', flush=True)
  outputs = [
    loggers.CsvLogger(metrics),
    loggers.TensorBoardLogger(path / 'events'),
    loggers.TerminalLogger(length.num_env_steps),
  ]

  def snapshot(iteration: int) -> None:
    if iteration % length.checkpoint_interval == 0 or iteration == 1:
      history.record(path / 'curriculum.npz', run.curriculum, iteration)

  try:
    is_done = loop.train(
      run,
      loop.Programs(run, envs, cfg),
      cfg,
      length,
      log=_log_everywhere(outputs, snapshot),
      save=checkpointer.save,
      should_stop=lambda: signals.number != 0,
      began=launch.BEGAN,
    )
  finally:
    for output in outputs:
      output.close()
  if not is_done:
    saving.export(run.network, envs[-1], cfg, path / 'saved_model')
    print(f'Stopped and saved in {path}; the same command goes on.')
    return 128 + signals.number
  print(f'Finished: {_summary(run)}')
  _leave(run, envs[-1], cfg, path)
  return 0


def _leave(
  run: loop.Run, env: base.World, cfg: config.Config, path: pathlib.Path
) -> None:
  """Writes what a finished run leaves for others, and says where it is."""
  saving.export(run.network, env, cfg, path / 'saved_model')
  history.record(path / 'curriculum.npz', run.curriculum, int(run.iteration))
  pictures = plot.plot([path], path / 'curves.png')
  print(f'  policy  {path / "saved_model"}')
  print(f'  curves  {", ".join(map(str, pictures))}')


def _summary(run: loop.Run) -> str:
  coverage = float(run.coverage[-1, -1])
  seen = '' if coverage != coverage else f', coverage {coverage:.3f}'
  return (
    f'iteration {int(run.iteration)}, {int(run.env_steps):,} env steps, '
    f'{float(run.wall_seconds):.0f} s{seen}'
  )


def main() -> int:
  """Trains as the flags say; returns the exit code."""
  cfg = make_config()
  length = make_length(cfg)
  try:
    envs = environments.load_all(cfg)
  except (ImportError, ValueError) as error:
    raise command_line.UsageError(str(error)) from error
  path = open_run_dir(cfg)
  try:
    return _train(cfg, length, envs, path)
  except saving.UnusableError as error:
    raise command_line.UsageError(str(error)) from error
  except loop.DivergedError as error:
    return command_line.fail(
      f'{error}; the last checkpoint in {path} is good: try a smaller '
      '--config.ppo.learning_rate in a new --run_dir'
    )


if __name__ == '__main__':
  command_line.run(main)
