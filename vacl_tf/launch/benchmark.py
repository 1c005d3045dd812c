# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measures speed: python -m vacl_tf.launch.benchmark [--json].

Each figure is the best of several repeats, compilation apart: on a shared
machine the best one is the least disturbed.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from absl import flags

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import machine
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.launch import command_line
from vacl_tf.launch import flag_kinds
from vacl_tf.launch import run_folder

with command_line.quiet_imports():
  import tensorflow as tf

from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.launch import devices
from vacl_tf.launch import matmul_bound
from vacl_tf.learning import update
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_WHAT = 'What is measured'

_ENV = command_line.Flag(flags.DEFINE_string, 'env', None, 'Task.', _WHAT)
_COUNTS = command_line.Flag(
  flags.DEFINE_string,
  'counts',
  None,
  'Numbers of entities to measure, like 4,8 or 2x2,4x2. Default: those with '
  "published results, or else the task's own.",
  _WHAT,
)
_REPEATS = command_line.Flag(
  flag_kinds.whole,
  'repeats',
  5,
  'Timed calls of each part; the fastest one counts.',
  _WHAT,
  lower_bound=1,
  upper_bound=1000,
)
_STARTS = command_line.Flag(
  flag_kinds.switch,
  'starts',
  False,
  'Also measure the time from the command until the first iteration is done '
  'and evaluated, with nothing compiled before (cold) and again (warm).',
  _WHAT,
)
_JSON = command_line.JSON.meaning(
  'Print one JSON object instead of lines.', _WHAT
)

_define = command_line.defines(
  *(_ENV, _COUNTS, _REPEATS, _STARTS, _JSON),
  *(devices.DEVICE, devices.THREADS, command_line.IMPORT),
)

_SOLVED_SHARE = 0.3  # Of a batch, to keep the timed curriculum at work.
_SHOWN = ('collect', 'learn', 'curriculum', 'evaluate')
_WARM_UPDATES = 30  # Fill both sets, the curriculum's most costly state.
_CURRICULUM = 'task_expansion'  # What is timed; other curricula cost less.
# Of the environment alone; worlds by whether they are in a graph.
_WORLDS, _STEPS = {True: 500, False: 100}, 70


def _ready(result: Any) -> None:
  """Waits until a result is there."""
  tf.nest.map_structure(lambda x: x.numpy(), tf.nest.flatten(result))


def _timed(function: Callable[[], Any], repeats: int) -> tuple[float, float]:
  """Returns the seconds of the first call, and the best of the others."""
  seconds = []
  for _ in range(repeats + 1):
    began = time.perf_counter()
    _ready(function())
    seconds.append(time.perf_counter() - began)
  return seconds[0], min(seconds[1:])


def define(arguments: Sequence[str]) -> None:
  """Defines the flags."""
  _define(arguments)
  names = catalog.TASKS.names()
  about = f'One of {", ".join(names)}. Default: {names[0]}.'
  command_line.describe(_ENV.name, about)


def env_only(
  env_name: str,
  num_agents: int | None = None,
  num_worlds: int = _WORLDS[True],
  num_steps: int = _STEPS,
  repeats: int = 20,
) -> float:
  """Returns steps per second of a world with random actions.

  All observations, rewards and progress enter a checksum, so that nothing is
  compiled away; actions are drawn inside the timed region.
  """
  env = environments.load(env_name, num_agents)
  return _steps_in_graph(env, num_worlds, num_steps, repeats)


def _steps_in_graph(
  env: base.Environment, num_worlds: int, num_steps: int, repeats: int
) -> float:
  """Returns steps per second of worlds in a graph; see `env_only`."""
  phi = env.task_space.sample_uniform(num_worlds, randomness.root(0))

  @tf.function(jit_compile=True)
  def episode(seed: types.Seed) -> tf.Tensor:
    actions = [
      _random_actions(role, [num_steps, num_worlds], seed, index)
      for index, role in enumerate(env.roles)
    ]

    def step(t: tf.Tensor, state: types.State, checksum: tf.Tensor) -> tuple:
      state = env.step(state, tuple(action[t] for action in actions))
      seen = (env.observe(state), env.reward(state), env.progress(state))
      sums = [
        tf.reduce_sum(tf.cast(x, tf.float32)) for x in tf.nest.flatten(seen)
      ]
      return t + 1, state, checksum + tf.add_n(sums)

    start = (tf.constant(0), env.place(phi, seed), tf.constant(0.0))
    return tf.while_loop(lambda t, *_: t < num_steps, step, start)[2]

  _, best = _timed(lambda: episode(randomness.root(1)), repeats)
  return num_worlds * num_steps / best


def _steps_on_host(
  env: base.World, num_worlds: int, num_steps: int, repeats: int
) -> float:
  """Returns steps per second of a simulator with random actions."""
  phi = env.task_space.sample_uniform(num_worlds, randomness.root(0)).numpy()
  actions = [
    _random_actions(role, [num_steps, num_worlds], randomness.root(1), index)
    for index, role in enumerate(env.roles)
  ]
  actions = [action.numpy() for action in actions]
  simulator = env.make_simulator(num_worlds)

  def episode() -> tuple[()]:
    simulator.place(phi, (1,))
    for t in range(num_steps):
      simulator.step(tuple(action[t] for action in actions))
      simulator.observe()
    return ()

  _, best = _timed(episode, repeats)
  simulator.close()
  return num_worlds * num_steps / best


def _random_actions(
  role: types.Role, shape: list[int], seed: types.Seed, index: int
) -> tf.Tensor:
  """Returns actions [*shape, n, ...] of a role, all equally likely."""
  spec = role.action
  is_integer = np.issubdtype(spec.dtype, np.integer)
  drawn = randomness.uniform(
    randomness.fold(seed, index),
    [*shape, role.num_agents, *spec.shape],
    np.asarray(spec.minimum, np.float32),
    np.asarray(spec.maximum, np.float32) + np.float32(is_integer),
  )
  return tf.cast(tf.floor(drawn) if is_integer else drawn, spec.dtype)


def _env_alone(env: base.World, repeats: int) -> dict[str, float]:
  """Returns environment steps per second, and what a simulation adds."""
  if found := env.speed():
    return found
  steps = _steps_in_graph if env.is_in_graph else _steps_on_host
  num_worlds, num_steps = _WORLDS[env.is_in_graph], min(_STEPS, env.horizon)
  return {
    'env_steps_per_second': round(steps(env, num_worlds, num_steps, repeats))
  }


def measure(
  env_name: str, counts: entity_counts.Counts, repeats: int
) -> dict[str, Any]:
  """Returns the figures with these numbers of entities, by name.

  Args:
    env_name: of the task.
    counts: in the order of the task's count fields; those that are left out
      are as the first.
    repeats: timed calls.

  Raises:
    ImportError: what simulates the world is not installed.
    ValueError: there is no such task, or not with these counts.
  """
  cfg = _config(env_name, counts)
  [env] = environments.load_all(cfg)
  began = time.perf_counter()
  run = run_lib.Run(cfg, [env])
  set_up = time.perf_counter() - began
  programs = programs_lib.Programs(run, [env], cfg)
  env_steps = cfg.training.num_tasks * env.horizon
  first, best = _timed_parts(run, programs, cfg, repeats)
  both = best['curriculum']
  iteration = best['collect'] + best['learn'] + both
  traces = [number for number in programs.num_traces() if number]
  learned, bound_us = _learning(run, programs, repeats)
  starts = _starts(cfg) if _STARTS.value else {}
  peak = machine.peak_memory_mb()
  return {
    **_env_alone(env, 4 * repeats),
    'rollout_steps_per_second': round(env_steps / best['collect']),
    'training_steps_per_second': round(env_steps / iteration),
    'update_us_per_agent_sample': round(1e6 * best['learn'] / learned, 3),
    'matmul_bound_us': round(bound_us, 3),
    **{f'{name}_ms': round(1e3 * best[name], 2) for name in _SHOWN},
    'curriculum_share': round(both / iteration, 4),
    'compile_seconds': round(sum(first.values()) - sum(best.values()), 1),
    'set_up_seconds': round(set_up, 1),
    **starts,
    'retraces': sum(traces) - len(traces),
    **({} if peak is None else {'peak_memory_mb': peak}),
  }


def _starts(cfg: config.Config) -> dict[str, float]:
  """Returns the seconds until the first iteration is done, cold and warm."""
  world = cfg.environment
  steps = cfg.training.num_tasks * world.horizon * cfg.training.num_rollouts
  flags_of_counts = [
    f'--{name}={count}'
    for name, count in zip(world.count_fields, world.counts, strict=True)
  ]
  found = {}
  with tempfile.TemporaryDirectory() as folder:
    for name in ('cold', 'warm'):
      command = [
        *(sys.executable, '-m', 'vacl_tf.launch.main'),
        *(f'--import={x}' for x in command_line.imports()),
        *(f'--env={world.name}', '--entity_counts=', *flags_of_counts),
        *(f'--num_env_steps={steps}', f'--xla_cache={folder}/xla'),
        *(f'--device={devices.DEVICE.value}', f'--threads={machine.threads()}'),
        *('--num_replicas=1', f'--run_dir={folder}/{name}'),
      ]
      began = time.time()
      subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
      path = pathlib.Path(folder, name, run_folder.METRICS)
      found[f'{name}_start_seconds'] = round(path.stat().st_mtime - began, 1)
  return found


def _timed_parts(
  run: run_lib.Run,
  programs: programs_lib.Programs,
  cfg: config.Config,
  repeats: int,
) -> tuple[dict[str, float], dict[str, float]]:
  """Returns the seconds of first calls and the best ones, by part."""
  [count] = programs.counts
  seed = randomness.root(0)
  parts = {'sample': _timed(lambda: programs.sample(seed), repeats)}
  [batch] = programs.sample(seed)
  parts['collect'] = _timed(lambda: count.collect(batch, seed), repeats)
  collected = {0: update.RolloutBatch(count.collect(batch, seed), batch.size)}
  parts['learn'] = _timed(lambda: programs.learn(collected, seed), repeats)
  parts['evaluate'] = _timed(lambda: count.evaluate(seed), 1)

  def curriculum_step(step: int = 0) -> types.Metrics:
    step_seed = randomness.fold(seed, step)
    batches = programs.sample(step_seed)
    value = randomness.uniform(step_seed, [cfg.training.num_tasks])
    value = tf.where(value < _SOLVED_SHARE, 1.0, value)
    feedback = (types.TaskFeedback(value),)
    return programs.update(batches, feedback, run.coverage[:, -1], step_seed)

  first, _ = _timed(curriculum_step, 1)
  for step in range(_WARM_UPDATES):
    _ready(curriculum_step(step))
  _, best = _timed(lambda: curriculum_step(_WARM_UPDATES), repeats)
  parts['curriculum'] = (first, best)
  return tuple(
    {name: seconds[i] for name, seconds in parts.items()} for i in range(2)
  )


def _learning(
  run: run_lib.Run, programs: programs_lib.Programs, repeats: int
) -> tuple[int, float]:
  """Returns how many agent-samples an update takes, and the least us of one.

  What its matrix products of policy and value, forwards and backwards, take.
  """
  [count], seed = programs.counts, randomness.root(0)
  learn = programs.learn.counts[0]
  [batch] = programs.sample(seed)
  played = update.RolloutBatch(count.collect(batch, seed), batch.size)
  samples, sums = learn.prepare(played)
  scale, _ = programs.learn.combine(sums)
  order = learn.order(played, seed)
  flops = matmul_bound.flops(
    *(learn.gradient, samples, order, tf.constant(0), scale),
    loop_steps=run.agent.segment_length,
  )
  num_agents = sum(role.num_agents for role in count.env.roles)
  of_row = run.agent.segment_length * num_agents
  flops /= learn.rows_per_microbatch * of_row
  bound_us = 1e6 * flops / matmul_bound.flops_per_second(repeats)
  return int(order.number) * of_row * run.learner.config.num_epochs, bound_us


def _config(env_name: str, counts: entity_counts.Counts) -> config.Config:
  """Returns the default preset with these counts, without progression."""
  task = catalog.TASKS.get(env_name)
  fields = task.world.count_fields
  if len(counts) > len(fields):
    kinds = ' and '.join(map(entity_counts.kind_of, fields))
    raise ValueError(
      f'counts={entity_counts.spelled(counts)} is not what {env_name} counts, '
      f'which is {kinds}; give a list like {entity_counts.example(len(fields))}'
    )
  world = task.with_counts(**dict(zip(fields, counts, strict=False)))
  cfg = presets.make(
    env=env_name,
    path=entity_counts.spelled(world.counts),
    curriculum=_CURRICULUM,
  )
  return overrides.replace(cfg, {'progression.entity_counts': ''})


def _usual_counts(env_name: str) -> list[entity_counts.Counts]:
  """Returns the counts with published results, or else the task's own."""
  task = catalog.TASKS.get(env_name)
  return [(count,) for count in sorted(task.references)] or [task.world.counts]


def _asked_counts(env_name: str) -> list[entity_counts.Counts]:
  if _COUNTS.value is None:
    return _usual_counts(env_name)
  try:
    return list(entity_counts.parsed(_COUNTS.value))
  except ValueError as error:
    raise ValueError(
      f'counts={_COUNTS.value} is not a list of numbers like 4,8 or 2x2,4x2'
    ) from error


def main() -> int:
  """Prints the figures of each count."""
  devices.bound_threads()
  devices.use()
  name = _ENV.value or catalog.TASKS.names()[0]
  try:
    found = {
      entity_counts.spelled(counts): measure(name, counts, _REPEATS.value)
      for counts in _asked_counts(name)
    }
  except base.WorldError as error:
    told = str(error).removeprefix(f'env={name}: ')  # As when it is made.
    return command_line.fail(f'env={name}: {told}')
  except (ImportError, ValueError) as error:
    raise command_line.UsageError(str(error)) from error
  except subprocess.CalledProcessError:  # It has said why.
    return command_line.fail('a start that --starts times has failed')
  if _JSON.value:
    print(json.dumps(found))
    return 0
  print(f'{name + ", n =":28}' + ''.join(f'{c:>14}' for c in found))
  for name in next(iter(found.values())):
    row = ''.join(f'{found[count][name]:>14,}' for count in found)
    print(f'{name:28}{row}')
  return 0


if __name__ == '__main__':
  command_line.start(main, define, is_printer=True)
