# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measures speed: python -m vacl_tf.launch.benchmark [--json].

Each figure is the best of several repeats, without compilation. On a shared
machine the best repeat is the least disturbed one.
"""

import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any, TextIO

from absl import flags

from vacl_tf import bounds
from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import machine
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.launch import command_line
from vacl_tf.launch import config_flags
from vacl_tf.launch import flag_kinds
from vacl_tf.launch import run_folder

with command_line.quiet_imports():
  import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import task_spec
from vacl_tf.launch import devices
from vacl_tf.launch import library
from vacl_tf.launch import matmul_bound
from vacl_tf.launch import world_speed
from vacl_tf.learning import update
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import run as run_lib

_WHAT = 'What is measured'

_ENV = command_line.Flag(flags.DEFINE_string, 'env', None, 'Task.', _WHAT)
_COUNTS = command_line.Flag(
  flags.DEFINE_string,
  'counts',
  None,
  'Entity counts to measure, like 4,8 or 2x2,4x2. Default: those with '
  "published results, or else the task's own.",
  _WHAT,
)
_REPEATS = command_line.Flag(
  flag_kinds.whole,
  'repeats',
  5,
  'Timed calls of each part; the fastest call counts.',
  _WHAT,
  lower_bound=1,
  upper_bound=1000,
)
_STARTS = command_line.Flag(
  flag_kinds.switch,
  'starts',
  False,
  'Also measure the time from the start of the command until the first '
  'iteration is done and evaluated: first with nothing compiled before (cold), '
  'then once more (warm).',
  _WHAT,
)
_AGENT = command_line.AGENT.meaning('Agent.', _WHAT)
_JSON = command_line.JSON.meaning(
  'Print one JSON object instead of lines of text.', _WHAT
)

_define = command_line.defines(
  *(_ENV, _COUNTS, _AGENT, _REPEATS, _STARTS, _JSON),
  *(devices.DEVICE, devices.THREADS, command_line.IMPORT),
)

_SOLVED_SHARE = 0.3  # Share of solved tasks, so that the curriculum has work.
_SHOWN = ('collect', 'learn', 'curriculum', 'evaluate')
_WARM_UPDATES = 30  # They fill both sets, which makes updates slowest.
_CURRICULUM = 'task_expansion'  # The timed curriculum; the others cost less.


def define(arguments: Sequence[str]) -> None:
  """Defines the flags, with one for each constant that has no other flag.

  Args:
    arguments: arguments of the command line; their task and agent determine
      which constants there are.

  Raises:
    UsageError: there is no such task or agent.
  """
  _define(arguments)
  with command_line.as_usage_error(ValueError):
    task = _task(command_line.last(arguments, _ENV))
    agent = command_line.last(arguments, _AGENT)
    cfg = presets.make(env=task.name, agent=agent, curriculum=_CURRICULUM)
  config_flags.define(cfg)
  for flag, names, default in (
    (_ENV, catalog.TASKS.names(), _task(None).name),
    (_AGENT, catalog.AGENTS.names(), task.agent),
  ):
    about = f'One of {", ".join(names)}. Default: {default}.'
    command_line.describe(flag.name, about)


def measure(cfg: config.Config, repeats: int) -> dict[str, Any]:
  """Measures a config without entity progression; returns {name: figure}.

  Args:
    cfg: all constants.
    repeats: number of timed calls.

  Raises:
    ImportError: the simulator of the world is not installed.
    ValueError: the agent can't play the world.
  """
  [env] = library.make_worlds(cfg)
  began = time.perf_counter()
  run = run_lib.Run(cfg, [env])
  set_up = time.perf_counter() - began
  programs = programs_lib.Programs(run, [env], cfg)
  num_rollouts = cfg.training.num_rollouts
  env_steps = cfg.training.num_tasks * env.horizon
  first, best = _timed_parts(run, programs, cfg, repeats)
  # An iteration updates the curriculum once, after all its roll-outs.
  curriculum = best['curriculum'] / num_rollouts
  whole = best['collect'] + best['learn'] + curriculum
  traces = [number for number in programs.num_traces() if number]
  learned, bound_us = _learning(run, programs, repeats)
  starts = _starts(cfg) if _STARTS.value else {}
  peak = machine.peak_memory_mb()
  return {
    **world_speed.figures(env, 4 * repeats),
    'rollout_steps_per_second': round(env_steps / best['collect']),
    'training_steps_per_second': round(env_steps / whole),
    'update_us_per_agent_sample': round(1e6 * best['learn'] / learned, 3),
    'matmul_bound_us': round(bound_us, 3),
    **{f'{name}_ms': round(1e3 * best[name], 2) for name in _SHOWN},
    'curriculum_share': round(curriculum / whole, 4),
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
  changes = config_flags.given(cfg)
  found = {}
  with tempfile.TemporaryDirectory() as folder:
    for name in ('cold', 'warm'):
      command = [
        *(sys.executable, '-m', 'vacl_tf.launch.main'),
        *(f'--import={x}' for x in command_line.imports()),
        *(f'--env={world.name}', f'--agent={cfg.agent.name}'),
        *('--entity_counts=', *flags_of_counts),
        *(f'--{config_flags.PREFIX}{x}={y}' for x, y in changes.items()),
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
  """Returns {part: seconds} of first calls, and of the fastest later ones."""
  [count] = programs.counts
  seed = randomness.root(0)
  parts = {'sample': world_speed.timed(lambda: programs.sample(seed), repeats)}
  [batch] = programs.sample(seed)
  parts['collect'] = world_speed.timed(
    lambda: count.collect(batch, seed), repeats
  )
  collected = {0: update.RolloutBatch(count.collect(batch, seed), batch.size)}
  parts['learn'] = world_speed.timed(
    lambda: programs.learn(collected, seed), repeats
  )
  parts['evaluate'] = world_speed.timed(lambda: count.evaluate(seed), 1)

  def curriculum_step(step: int = 0) -> types.Metrics:
    step_seed = randomness.fold(seed, step)
    batches = programs.sample(step_seed)
    value = randomness.uniform(step_seed, [cfg.training.num_tasks])
    value = tf.where(value < _SOLVED_SHARE, 1.0, value)
    feedback = (types.TaskFeedback(value, success=value),)
    return programs.update(batches, feedback, run.coverage[:, -1], step_seed)

  first, _ = world_speed.timed(curriculum_step, 1)
  for step in range(_WARM_UPDATES):
    world_speed.ready(curriculum_step(step))
  _, best = world_speed.timed(lambda: curriculum_step(_WARM_UPDATES), repeats)
  parts['curriculum'] = (first, best)
  return tuple(
    {name: seconds[i] for name, seconds in parts.items()} for i in range(2)
  )


def _learning(
  run: run_lib.Run, programs: programs_lib.Programs, repeats: int
) -> tuple[int, float]:
  """Returns the agent-samples of an update, and a bound on the us for each.

  The bound is the time that the matrix products of policy and value take,
  forwards and backwards.
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


def _task(given: str | None) -> task_spec.TaskSpec:
  """Returns the task of this name; the first registered one for None."""
  return catalog.TASKS.get(given or catalog.TASKS.names()[0])


def make_config(
  task: task_spec.TaskSpec, counts: entity_counts.Counts
) -> config.Config:
  """Returns the config of the flags with these counts, without progression.

  Args:
    task: the task.
    counts: entity counts in the order of the task's count fields; counts that
      are left out equal the first one.

  Raises:
    ValueError: the config is not possible; the message says what is allowed.
  """
  fields = task.world.count_fields
  if len(counts) > len(fields):
    kinds = ' and '.join(map(entity_counts.kind_of, fields))
    raise ValueError(
      f'counts={entity_counts.spelled(counts)} does not fit {task.name}, which '
      f'counts {kinds}; give a list like {entity_counts.example(len(fields))}'
    )
  world = task.with_counts(**dict(zip(fields, counts, strict=False)))
  cfg = presets.make(
    env=task.name,
    agent=_AGENT.value,
    curriculum=_CURRICULUM,
    path=entity_counts.spelled(world.counts),
  )
  changes = config_flags.given(cfg) | {'progression.entity_counts': ''}
  cfg = overrides.replace(cfg, changes)
  bounds.check(cfg)
  return cfg


def _usual_counts(task: task_spec.TaskSpec) -> list[entity_counts.Counts]:
  """Returns the counts with published results, or else the task's own."""
  return [(count,) for count in sorted(task.references)] or [task.world.counts]


def _asked_counts(task: task_spec.TaskSpec) -> list[entity_counts.Counts]:
  if _COUNTS.value is None:
    return _usual_counts(task)
  try:
    return list(entity_counts.parsed(_COUNTS.value))
  except ValueError as error:
    raise ValueError(
      f'counts={_COUNTS.value} is not a list of numbers like 4,8 or 2x2,4x2'
    ) from error


def main() -> int:
  """Prints the figures of each entity count; returns the exit code."""
  output = sys.stdout
  # Only the JSON goes to stdout, whatever a user's code prints.
  with contextlib.redirect_stdout(sys.stderr if _JSON.value else output):
    return _benchmark(output)


def _benchmark(output: TextIO) -> int:
  """Writes the figures of each entity count; returns the exit code."""
  devices.bound_threads()
  devices.use()
  task = _task(_ENV.value)
  name = task.name
  try:
    # All are checked before the first is measured.
    cfgs = {
      entity_counts.spelled(counts): make_config(task, counts)
      for counts in _asked_counts(task)
    }
    found = {x: measure(cfg, _REPEATS.value) for x, cfg in cfgs.items()}
  except base.WorldError as error:
    # If the world could not be made, the message has the prefix already.
    told = str(error).removeprefix(f'env={name}: ')
    return command_line.fail(f'env={name}: {told}')
  except (ImportError, ValueError) as error:
    raise command_line.UsageError(str(error)) from error
  except subprocess.CalledProcessError:  # It has printed why.
    return command_line.fail('a run started by --starts failed, see above')
  if _JSON.value:
    print(json.dumps(found), file=output)
    return 0
  print(f'{name + ", n =":28}' + ''.join(f'{c:>14}' for c in found))
  for name in next(iter(found.values())):
    row = ''.join(f'{found[count][name]:>14,}' for count in found)
    print(f'{name:28}{row}')
  return 0


if __name__ == '__main__':
  command_line.start(main, define, is_printer=True)
