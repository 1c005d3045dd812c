# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Evaluates a trained policy: python -m vacl_tf.launch.evaluate --run_dir=DIR.

The policy can also play with numbers of agents that it was not trained with.
"""

import contextlib
import json
import os
import pathlib
import sys
from typing import Any, TextIO

from absl import flags

from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf.launch import command_line

# oneDNN prints a warning about integers that does not help a user.
os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')
with command_line.quiet_imports():
  import tensorflow as tf

from vacl_tf.environments import base
from vacl_tf.environments import rendering
from vacl_tf.launch import devices
from vacl_tf.launch import flag_kinds
from vacl_tf.launch import judging
from vacl_tf.launch import robustness
from vacl_tf.training import evaluation
from vacl_tf.training import files

_HORIZONS = overrides.bounds(config.EnvironmentConfig(), 'horizon')
_POLICY, _PLAY, _TOLD = 'Which policy', 'What it plays', 'What is reported'

_RUN_DIR = command_line.RUN_DIR.meaning(
  'Folder of a run, finished or in progress.', _POLICY
)
_SAVED_MODEL = command_line.Flag(
  flags.DEFINE_string,
  'saved_model',
  None,
  'Folder of an exported policy to evaluate instead of --run_dir.',
  _POLICY,
)
_RUN_GRAPH = command_line.Flag(
  flag_kinds.switch,
  'run_graph',
  False,
  'Run the program in the saved model; use this only if you trust its author.',
  _POLICY,
)
_NUM_AGENTS = command_line.Flag(
  flag_kinds.wholes,
  'num_agents',
  None,
  'Agents in each world, or several numbers like 4,8,24. Default: as many as '
  'in training.',
  _PLAY,
)
_NUM_BOXES = command_line.Flag(
  flag_kinds.whole,
  'num_boxes',
  None,
  'Boxes in each world, if the task has any. Default: as many as --num_agents '
  'if that is given, or else as in training.',
  _PLAY,
)
_NUM_TASKS = command_line.Flag(
  flag_kinds.whole,
  'num_tasks',
  500,
  'Fresh target tasks for each number of agents.',
  _PLAY,
  lower_bound=int(bounds.JUDGED_TASKS.low),
  upper_bound=int(bounds.JUDGED_TASKS.high),
)
_HORIZON = command_line.Flag(
  flag_kinds.whole,
  'horizon',
  None,
  'Steps of an episode. More steps show whether time was short. Default: as '
  'many as in training.',
  _PLAY,
  lower_bound=int(_HORIZONS.low),
  upper_bound=int(_HORIZONS.high),
)
_VIDEO = command_line.Flag(
  flags.DEFINE_string,
  'video',
  None,
  'Film of four episodes to write, FILE.gif or FILE.mp4, with the last of '
  '--num_agents.',
  _TOLD,
)
_STOCHASTIC = command_line.Flag(
  flag_kinds.switch,
  'stochastic',
  False,
  'Sample actions as in training instead of taking the most likely ones.',
  _PLAY,
)
_REPEATS = command_line.Flag(
  flag_kinds.whole,
  'repeats',
  0,
  'Report the success rate in the worst tasks and in tasks with long ways '
  'instead of means over tasks. Each task is played this many times with '
  'sampled actions, twice.',
  _TOLD,
  lower_bound=0,
  upper_bound=1000,
)
_SEED = command_line.SEED.meaning('Seed of the tasks and the actions.', _PLAY)
_JSON = command_line.JSON.meaning(
  'Print one JSON object instead of a table.', _TOLD
)


def _check_video(path: str) -> None:
  try:
    rendering.check_suffix(pathlib.Path(path))
  except ValueError as error:
    raise command_line.UsageError(f'video: {error}') from error


def _judge(
  policy: judging.Policy,
  world: config.EnvironmentConfig,
  options: judging.Options,
) -> dict[str, Any]:
  """Returns the results for one number of agents."""
  if _REPEATS.value:
    return robustness.judge(policy, world, options, _REPEATS.value)
  return judging.judge(policy, world, options)


def _print(found: list[dict[str, Any]]) -> None:
  """Prints the results for each number of agents."""
  if _REPEATS.value:
    for row in found:
      print('\n'.join(robustness.lines(row)))
  else:
    _print_means(found)
  if num_unstable := sum(row['unstable_worlds'] for row in found):
    print(f'({num_unstable} diverged simulations were reset)')


def _print_means(found: list[dict[str, Any]]) -> None:
  """Prints a line for each number of agents."""
  first = found[0]
  print(
    f'{first["env"]}, {first["policy"]} policy trained with n = '
    f'{first["trained_with"]}, {first["num_tasks"]} target tasks each'
  )
  measures = catalog.TASKS.get(first['env']).measures
  print('agents  steps  {:23}  {}'.format(*measures))
  for row in found:
    coverage = evaluation.Estimate(**row['coverage'])
    success = evaluation.Estimate(**row['success'])
    line = f'{row["counts"]:>6}  {row["horizon"]:5}  {coverage}  {success}'
    others = [
      f'{mean:.4f} after {steps}'
      for steps, mean in row['coverage_after'].items()
      if int(steps) != row['horizon']
    ]
    print('  '.join([line, *others]))
  print('(means over tasks with their 95 % interval over tasks, one policy)')


define = command_line.defines(
  *(_RUN_DIR, _SAVED_MODEL, _RUN_GRAPH, _NUM_AGENTS, _NUM_BOXES, _NUM_TASKS),
  *(
    _HORIZON,
    _SEED,
    _STOCHASTIC,
    _REPEATS,
    _JSON,
    _VIDEO,
    devices.DEVICE,
    command_line.IMPORT,
  ),
)


def _evaluate(output: TextIO) -> int:
  """Evaluates and writes the results; returns the exit code."""
  devices.use()
  if _VIDEO.value:
    _check_video(_VIDEO.value)
  options = judging.Options(
    _NUM_TASKS.value, _SEED.value, not _STOCHASTIC.value
  )
  run_dir, saved_model = (
    flag.value and command_line.folder(flag.value)
    for flag in (_RUN_DIR, _SAVED_MODEL)
  )
  with command_line.as_usage_error(ValueError):
    policy = judging.load(run_dir, saved_model, _RUN_GRAPH.value)
    trained = policy.world
    # All worlds are checked before the first one is played.
    worlds = [
      judging.make_world(
        trained,
        judging.wanted_counts(trained, number, _NUM_BOXES.value),
        _HORIZON.value,
      )
      for number in _NUM_AGENTS.value or [None]
    ]
  try:
    film = None
    if _VIDEO.value:  # First, to fail at once if the world has no pictures.
      film = judging.film(policy, worlds[-1], options, _VIDEO.value)
    found = [_judge(policy, world, options) for world in worlds]
  except base.WorldError as error:
    return command_line.fail(f'env={trained.name}: {error}')
  except (tf.errors.OpError, TypeError, ValueError) as error:
    if isinstance(error, command_line.UsageError) or not _RUN_GRAPH.value:
      raise
    return command_line.fail(
      f'{_SAVED_MODEL.value or _RUN_DIR.value}: its graph does not work in '
      f'{trained.name} ({files.first_line(error)}); leave out --run_graph, or '
      'give another policy'
    )
  if not _JSON.value:
    _print(found)
  elif len(found) == 1:
    print(json.dumps(found[0]), file=output)
  else:
    print(json.dumps({row['counts']: row for row in found}), file=output)
  if film is not None:
    print(f'video: {film}')
  return 0


def main() -> int:
  """Prints coverage, success rate and their intervals."""
  output = sys.stdout
  # Only the JSON goes to stdout, whatever a user's code prints.
  with contextlib.redirect_stdout(sys.stderr if _JSON.value else output):
    return _evaluate(output)


if __name__ == '__main__':
  command_line.start(main, define, is_printer=True)
