# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Evaluates a trained policy: python -m vacl_tf.launch.evaluate --run_dir=DIR.

Works for a number of agents that the policy never saw.
"""

import json
import os
import pathlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from absl import flags

from vacl_tf import bounds
from vacl_tf import config
from vacl_tf import presets
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

if TYPE_CHECKING:  # At run time inside a function: it needs MuJoCo.
  from vacl_tf.launch import host_play

_SAVED_MODEL = flags.DEFINE_string(
  'saved_model', None, 'Folder of an exported policy, instead of --run_dir.'
)
_NUM_AGENTS = flags.DEFINE_list(
  'num_agents', None, 'Agents in each world, like 4,8,24; default: as trained.'
)
_NUM_BOXES = flags.DEFINE_integer(
  'num_boxes',
  None,
  'Boxes in Lock-and-Return; default: as trained, or as many as --num_agents.',
)
_NUM_TASKS = flags.DEFINE_integer('num_tasks', 500, 'Tasks.', lower_bound=2)
_VIDEO = flags.DEFINE_string(
  'video', None, 'FILE.gif or FILE.mp4 of four episodes.'
)
_STOCHASTIC = flags.DEFINE_bool(
  'stochastic', False, 'Act as in training instead of greedily.'
)

_NUM_FILMED = 4
_VECTORS_AT_ONCE = 100_000  # Keeps a thousand tasks of 100 agents in memory.
# Keeps these tasks apart from those of training and its evaluations.
_STREAM = 1_000_003


def _from_checkpoint(
  run_dir: pathlib.Path,
) -> tuple[saving.Exported, dict[str, Any]]:
  """Returns the policy of a run that was killed before it could export."""
  try:
    values = json.loads((run_dir / 'config.json').read_text())['config']
    cfg = config.restore(config.Config(), values)
  except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
    raise command_line.UsageError(
      f'{run_dir} is not the folder of a run (no config.json that can be read)'
    ) from error
  try:
    bounds.check(cfg)
    envs = environments.load_all(cfg)
  except (ImportError, ValueError, TypeError) as error:
    raise command_line.UsageError(f'{run_dir}/config.json: {error}') from error
  run = loop.Run(cfg, envs)
  if not saving.Checkpointer(run, run_dir / 'checkpoints', 1).read_newest():
    raise command_line.UsageError(
      f'{run_dir} has neither saved_model/ nor a whole checkpoint yet'
    )
  facts = saving.facts(envs[-1], cfg)
  return saving.ExportedPolicy(run.network, envs[-1].roles).act, facts


def _load() -> tuple[saving.Exported, dict[str, Any]]:
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


def _counts(facts: dict[str, Any]) -> list[tuple[int, int | None]]:
  """Returns the numbers of agents and boxes that are wanted."""
  num_boxes = _NUM_BOXES.value
  if _NUM_AGENTS.value is None:
    if num_boxes is None:
      num_boxes = facts.get('num_boxes')  # Older policies know none.
    return [(facts['num_agents'], num_boxes)]
  try:
    counts = [(int(count), num_boxes) for count in _NUM_AGENTS.value]
  except ValueError:
    counts = []
  if not counts:
    raise command_line.UsageError(
      f'num_agents={",".join(_NUM_AGENTS.value)} is not a list of numbers; '
      'give one like 4,8,24'
    )
  return counts


def _environment(
  facts: dict[str, Any], num_agents: int, num_boxes: int | None
) -> base.World:
  """Returns the world that the policy is for, with the wanted counts."""
  if facts.get('env') not in environments.NAMES:
    raise command_line.UsageError(
      config.unknown('env', facts.get('env'), environments.NAMES)
    )
  try:
    own, trained = (
      presets.with_counts(facts['env'], count).horizon
      for count in (num_agents, facts['num_agents'])
    )
    horizon = facts['horizon'] if own == trained else own
    cfg = config.restore(config.Config(), facts['config'])
    env = environments.load(
      facts['env'], num_agents, horizon, num_boxes, cfg.hide_and_seek
    )
  except KeyError as error:
    raise command_line.UsageError(
      f'policy.json has no {error}; export the policy anew'
    ) from error
  except (ImportError, ValueError) as error:
    raise command_line.UsageError(str(error)) from error
  if saving.described(env.roles) != facts['roles']:
    raise command_line.UsageError(
      f'the policy was made for another version of {env.name}: its '
      f'observations are {facts["roles"]}'
    )
  return env


def _as_act(act: saving.Exported, env: base.Environment) -> rollout.Act:
  """Returns an exported policy as one that `rollout` can play."""
  is_greedy = tf.constant(not _STOCHASTIC.value)
  actions = [saving.prefix(env.roles, role) + 'action' for role in env.roles]

  def choose(
    observations: types.Observations, seed: types.Seed
  ) -> types.Actions:
    named = saving.flat(env.roles, observations)
    found = act(seed=seed, greedy=is_greedy, **named)
    return tuple(found[name] for name in actions)

  return choose


def _progress(
  act: saving.Exported, env: base.World, facts: dict[str, Any]
) -> tuple[np.ndarray, int]:
  """Returns progress [T, B] on fresh tasks, and how often physics failed."""
  num_tasks, seed = _NUM_TASKS.value, _seed()
  if isinstance(env, base.Environment):
    block = max(_VECTORS_AT_ONCE // env.num_vectors, 1)
    play = tf.function(
      lambda: evaluation.evaluate(
        _as_act(act, env), env, num_tasks, seed, block
      )
    )
    return play().numpy(), 0
  player = _player(act, env, facts)
  return player.progress(num_tasks, seed), player.num_unstable


def _player(
  act: saving.Exported, env: base.World, facts: dict[str, Any]
) -> 'host_play.Player':
  """Returns a policy with a memory as one that plays hide-and-seek."""
  from vacl_tf.launch import host_play

  memory_size = facts['config']['network.hidden_size']
  return host_play.Player(act, env, memory_size, not _STOCHASTIC.value)


def _judge(
  act: saving.Exported, env: base.World, facts: dict[str, Any]
) -> dict[str, Any]:
  """Returns what is found on fresh target tasks, by name."""
  judged, num_agents = env.horizon, env.task_space.count
  horizons = presets.judged_horizons(env.name, num_agents)
  longest = env
  if horizons:
    longest = environments.load(env.name, num_agents, max((judged, *horizons)))
  progress, num_unstable = _progress(act, longest, facts)
  value = {
    steps: evaluation.estimate(np.asarray(rollout.task_value(progress[:steps])))
    for steps in (judged, *horizons)
  }
  success = evaluation.estimate(
    np.asarray(rollout.is_success(progress[:judged]), np.float32)
  )
  trained = tuple(filter(None, (facts['num_agents'], facts.get('num_boxes'))))
  return {
    'env': env.name,
    'num_agents': num_agents,
    'counts': config.spelt(env.counts),
    'trained_with': config.spelt(trained),
    'num_tasks': _NUM_TASKS.value,
    'horizon': judged,
    'seed': command_line.SEED.value,
    'policy': 'stochastic' if _STOCHASTIC.value else 'greedy',
    'coverage': value[judged]._asdict(),
    'success': success._asdict(),
    'coverage_after': {
      str(steps): value[steps].mean for steps in sorted(value)
    },
    'unstable_worlds': num_unstable,
  }


def _seed() -> types.Seed:
  return randomness.fold(randomness.root(command_line.SEED.value), _STREAM)


def _check_video(path: str) -> None:
  try:
    rendering.check_suffix(pathlib.Path(path))
  except ValueError as error:
    raise command_line.UsageError(f'video: {error}') from error


def _film(
  act: saving.Exported, env: base.World, facts: dict[str, Any], path: str
) -> str:
  """Writes a video of a few tasks; returns where it is."""
  if isinstance(env, base.Environment):
    frames = _draw(_as_act(act, env), env)
  else:
    frames = _player(act, env, facts).frames(_NUM_FILMED, _seed())
  try:
    return str(rendering.write_video(frames, command_line.folder(path)))
  except (OSError, ValueError) as error:
    raise command_line.UsageError(f'video={path}: {error}') from error


def _draw(act: rollout.Act, env: base.Environment) -> list[rendering.Frame]:
  """Returns a picture of a few tasks side by side for each step."""
  draw, run = randomness.split(_seed(), 2)
  phi = env.task_space.sample_target(_NUM_FILMED, draw)
  states, _ = tf.function(lambda: rollout.play(act, env, phi, run))()
  frames = []
  for t in range(env.horizon):
    scenes = env.draw(tf.nest.map_structure(lambda x, t=t: x[t], states))
    frames.append(rendering.tile([rendering.render(x) for x in scenes]))
  return frames


# What coverage and success are, where they are not called so.
_MEASURES = {
  'lock_and_return': ('returned', 'all returned'),
  'ramp_use': ('sees the hider', 'success rate'),
}


def _print(found: list[dict[str, Any]]) -> None:
  """Prints a line for each number of agents."""
  first = found[0]
  print(
    f'{first["env"]}, {first["policy"]} policy trained with n = '
    f'{first["trained_with"]}, {first["num_tasks"]} target tasks each'
  )
  measures = _MEASURES.get(first['env'], ('coverage', 'success rate'))
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
  if num_unstable := sum(row['unstable_worlds'] for row in found):
    print(f'(physics broke down {num_unstable} times; worlds were placed anew)')


def main() -> int:
  """Prints coverage, success rate and their intervals."""
  if _VIDEO.value:
    _check_video(_VIDEO.value)
  try:
    act, facts = _load()
  except saving.UnusableError as error:
    raise command_line.UsageError(str(error)) from error
  envs = [_environment(facts, *counts) for counts in _counts(facts)]
  found = [_judge(act, env, facts) for env in envs]
  if not command_line.JSON.value:
    _print(found)
  elif len(found) == 1:
    print(json.dumps(found[0]))
  else:
    print(json.dumps({row['counts']: row for row in found}))
  if _VIDEO.value:
    path = _film(act, envs[-1], facts, _VIDEO.value)
    # Standard output is JSON's alone.
    output = sys.stderr if command_line.JSON.value else sys.stdout
    print(f'video: {path}', file=output)
  return 0


if __name__ == '__main__':
  command_line.run(main)
