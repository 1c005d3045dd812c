# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Evaluates a trained policy: python -m vacl_tf.launch.evaluate --run_dir=DIR.

Works for a number of agents that the policy never saw.
"""

import json
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from absl import flags

from vacl_tf import config
from vacl_tf.launch import command_line

# oneDNN complains about integers, in a line that means nothing to a user.
os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')
with command_line.quiet_imports():
  import tensorflow as tf

  tf.config.list_physical_devices('GPU')  # Looking for one complains too.

from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import rendering
from vacl_tf.training import evaluation
from vacl_tf.training import loop
from vacl_tf.training import rollout
from vacl_tf.training import saving

_SAVED_MODEL = flags.DEFINE_string(
  'saved_model', None, 'Folder of an exported policy, instead of --run_dir.'
)
_NUM_TASKS = flags.DEFINE_integer('num_tasks', 500, 'Tasks.', lower_bound=2)
_VIDEO = flags.DEFINE_string('video', None, 'FILE.gif of four episodes.')
_STOCHASTIC = flags.DEFINE_bool(
  'stochastic', False, 'Act as in training instead of greedily.'
)

_NUM_FILMED = 4
# Keeps these tasks apart from those of training and its evaluations.
_STREAM = 1_000_003


def _from_checkpoint(
  run_dir: pathlib.Path,
) -> tuple[Callable[..., dict[str, tf.Tensor]], dict[str, Any]]:
  """Returns the policy of a run that was killed before it could export."""
  try:
    values = json.loads((run_dir / 'config.json').read_text())['config']
    cfg = config.restore(config.Config(), values)
  except (OSError, ValueError, KeyError) as error:
    raise command_line.UsageError(
      f'{run_dir} is not the folder of a run (no config.json that can be read)'
    ) from error
  world = cfg.environment
  env = environments.load(world.name, world.num_agents, world.horizon)
  run = loop.Run(cfg, env)
  if not saving.Checkpointer(run, run_dir / 'checkpoints', 1).read_newest():
    raise command_line.UsageError(
      f'{run_dir} has neither saved_model/ nor a whole checkpoint yet'
    )
  facts = saving.facts(env, cfg)
  return saving.ExportedPolicy(run.network, env.roles).act, facts


def _load() -> tuple[Callable[..., dict[str, tf.Tensor]], dict[str, Any]]:
  """Returns the policy that the flags name, and what is known of it."""
  run_dir, saved_model = command_line.RUN_DIR.value, _SAVED_MODEL.value
  if (run_dir is None) == (saved_model is None):
    raise command_line.UsageError('give either --run_dir or --saved_model')
  if saved_model is not None:
    return saving.load_policy(command_line.folder(saved_model))
  folder = command_line.folder(run_dir)
  if (folder / 'saved_model').exists():
    return saving.load_policy(folder / 'saved_model')
  return _from_checkpoint(folder)


def _environment(facts: dict[str, Any]) -> base.Environment:
  """Returns the world that the policy is for, with the wanted count."""
  num_agents = command_line.NUM_AGENTS.value or facts['num_agents']
  try:
    env = environments.load(facts['env'], num_agents, facts['horizon'])
  except (KeyError, ValueError) as error:
    raise command_line.UsageError(str(error)) from error
  if saving.described(env.roles) != facts['roles']:
    raise command_line.UsageError(
      f'the policy was made for another version of {env.name}: its '
      f'observations are {facts["roles"]}'
    )
  return env


def _play(
  act: Callable[..., dict[str, tf.Tensor]],
  env: base.Environment,
  num_tasks: int,
  seed: types.Seed,
) -> tuple[types.State, np.ndarray]:
  """Returns states [T, B, ...] and progress [T, B] of fresh target tasks."""
  is_greedy = tf.constant(not _STOCHASTIC.value)
  actions = [saving.prefix(env.roles, role) + 'action' for role in env.roles]

  def choose(
    observations: types.Observations, seed: types.Seed
  ) -> types.Actions:
    named = saving.flat(env.roles, observations)
    found = act(seed=seed, greedy=is_greedy, **named)
    return tuple(found[name] for name in actions)

  draw, run = randomness.split(seed, 2)
  phi = env.task_space.sample_target(num_tasks, draw)
  play = tf.function(lambda: rollout.play(choose, env, phi, run))
  states, progress = play()
  return states, progress.numpy()


def _film(env: base.Environment, states: types.State, path: str) -> str:
  """Writes a video of the first few tasks; returns where it is."""
  scenes = []
  for t in range(env.horizon):
    few = tf.nest.map_structure(lambda x, t=t: x[t, :_NUM_FILMED], states)
    scenes.append(env.draw(few))
  frames = [
    rendering.tile([rendering.render(scene) for scene in worlds])
    for worlds in scenes
  ]
  try:
    return str(rendering.write_video(frames, command_line.folder(path)))
  except (OSError, ValueError) as error:
    raise command_line.UsageError(f'video={path}: {error}') from error


def main() -> int:
  """Prints coverage, success rate and their intervals."""
  try:
    act, facts = _load()
  except saving.UnusableError as error:
    raise command_line.UsageError(str(error)) from error
  env = _environment(facts)
  seed = randomness.fold(randomness.root(command_line.SEED.value), _STREAM)
  states, progress = _play(act, env, _NUM_TASKS.value, seed)
  coverage = evaluation.estimate(np.asarray(rollout.task_value(progress)))
  success = evaluation.estimate(
    np.asarray(rollout.is_success(progress), np.float32)
  )
  found = {
    'env': env.name,
    'num_agents': env.task_space.count,
    'trained_with': facts['num_agents'],
    'num_tasks': _NUM_TASKS.value,
    'horizon': env.horizon,
    'seed': command_line.SEED.value,
    'policy': 'stochastic' if _STOCHASTIC.value else 'greedy',
    'coverage': coverage._asdict(),
    'success': success._asdict(),
  }
  if command_line.JSON.value:
    print(json.dumps(found))
  else:
    print(
      f'{env.name}, {env.task_space.count} agents (trained with '
      f'{facts["num_agents"]}), {found["policy"]} policy, '
      f'{_NUM_TASKS.value} target tasks of {env.horizon} steps'
    )
    print(f'  coverage      {coverage}')
    print(f'  success rate  {success}')
    print('  (mean over tasks with its 95 % interval over tasks, one policy)')
  if _VIDEO.value:
    path = _film(env, states, _VIDEO.value)
    # Standard output is JSON's alone.
    output = sys.stderr if command_line.JSON.value else sys.stdout
    print(f'video: {path}', file=output)
  return 0


if __name__ == '__main__':
  command_line.run(main)
