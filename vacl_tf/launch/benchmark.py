# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measures speed: python -m vacl_tf.launch.benchmark [--json].

Each figure is the best of several repeats, compilation apart: on a shared
machine the best one is the least disturbed.
"""

import json
import resource
import time
from collections.abc import Callable
from typing import Any

from absl import flags

from vacl_tf import config
from vacl_tf import presets
from vacl_tf.launch import command_line

with command_line.quiet_imports():
  import tensorflow as tf

  tf.config.list_physical_devices('GPU')  # Looking for one complains too.

from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.learning import update
from vacl_tf.training import loop

_ENV = flags.DEFINE_string('env', 'simple_spread', 'Which world.')
_COUNTS = flags.DEFINE_list(
  'counts',
  None,
  "Agent counts to measure; default: the task's own, on Simple-Spread 4,8.",
)
_REPEATS = flags.DEFINE_integer('repeats', 5, 'Timed calls.', lower_bound=1)

_SOLVED_SHARE = 0.3  # Of a batch, to keep the timed curriculum at work.
_WARM_UPDATES = 30  # Fill both sets, the curriculum's most costly state.


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


def env_only(
  env_name: str = 'simple_spread',
  num_agents: int = 4,
  num_worlds: int = 500,
  num_steps: int = 70,
  repeats: int = 20,
) -> float:
  """Returns steps per second of a particle world with random actions.

  All observations, rewards and progress enter a checksum, so that nothing is
  compiled away; actions are drawn inside the timed region.
  """
  env = environments.load(env_name, num_agents)
  phi = env.task_space.sample_uniform(num_worlds, randomness.root(0))

  @tf.function(jit_compile=True)
  def episode(seed: types.Seed) -> tf.Tensor:
    actions = [
      tf.cast(
        randomness.uniform(
          randomness.fold(seed, index),
          [num_steps, num_worlds, role.num_agents],
          0.0,
          float(role.num_actions),
        ),
        tf.int32,
      )
      for index, role in enumerate(env.roles)
    ]

    def step(t: tf.Tensor, state: types.State, checksum: tf.Tensor) -> tuple:
      state = env.step(state, tuple(action[t] for action in actions))
      seen = (env.observe(state), env.reward(state), env.progress(state))
      sums = [tf.reduce_sum(x) for x in tf.nest.flatten(seen)]
      return t + 1, state, checksum + tf.add_n(sums)

    start = (tf.constant(0), env.place(phi, seed), tf.constant(0.0))
    return tf.while_loop(lambda t, *_: t < num_steps, step, start)[2]

  _, best = _timed(lambda: episode(randomness.root(1)), repeats)
  return num_worlds * num_steps / best


def _env_alone(env: base.World, repeats: int) -> dict[str, float]:
  """Returns environment steps per second, and of MuJoCo's what went on."""
  if isinstance(env, base.Environment):
    rate = env_only(env.name, env.task_space.count, repeats=repeats)
    return {'env_steps_per_second': round(rate)}
  from vacl_tf.environments.hide_and_seek import speed  # It needs MuJoCo.

  found = speed.measure(env.task)
  told = ('physics_us', 'ratio', 'contacts', 'constraint_rows', 'holding')
  return {
    'env_steps_per_second': round(1e6 / found['step_us']),
    **{f'env_{name}': round(found[name], 2) for name in (*told, 'locked')},
  }


def measure(env_name: str, num_agents: int, repeats: int) -> dict[str, Any]:
  """Returns the figures of one agent count, by name."""
  cfg = presets.make(
    env=env_name, num_agents=num_agents, curriculum='task_expansion'
  )
  [env] = environments.load_all(cfg)
  began = time.perf_counter()
  run = loop.Run(cfg, [env])
  set_up = time.perf_counter() - began
  programs = loop.Programs(run, [env], cfg)
  [count] = programs.counts
  seed = randomness.root(0)
  env_steps = cfg.training.num_tasks * env.horizon
  sample_first, sample = _timed(lambda: programs.sample(seed), repeats)
  [batch] = programs.sample(seed)
  collect_first, collect = _timed(lambda: count.collect(batch, seed), repeats)
  lived = {0: update.Experience(count.collect(batch, seed), batch.size)}
  learn_first, learn = _timed(lambda: programs.learn(lived, seed), repeats)
  evaluate_first, evaluate = _timed(lambda: count.evaluate(seed), 1)

  def curriculum_step(step: int = 0) -> types.Metrics:
    step_seed = randomness.fold(seed, step)
    batches = programs.sample(step_seed)
    value = randomness.uniform(step_seed, [cfg.training.num_tasks])
    value = tf.where(value < _SOLVED_SHARE, 1.0, value)
    return programs.update(batches, (value,), run.coverage[:, -1], step_seed)

  update_first, _ = _timed(curriculum_step, 1)
  for step in range(_WARM_UPDATES):
    _ready(curriculum_step(step))
  _, both = _timed(lambda: curriculum_step(_WARM_UPDATES), repeats)
  parts = {
    'collect_ms': collect,
    'learn_ms': learn,
    'curriculum_ms': both,
    'evaluate_ms': evaluate,
  }
  iteration = collect + learn + both
  first = sample_first + collect_first + learn_first + evaluate_first
  steady = sample + collect + learn + evaluate + both
  traces = [number for number in programs.num_traces() if number]
  return {
    **_env_alone(env, 4 * repeats),
    'rollout_steps_per_second': round(env_steps / collect),
    'training_steps_per_second': round(env_steps / iteration),
    'update_us_per_agent_sample': round(
      1e6 * learn / env_steps / num_agents / cfg.ppo.num_epochs, 3
    ),
    **{name: round(1e3 * x, 2) for name, x in parts.items()},
    'curriculum_share': round(both / iteration, 4),
    'compile_seconds': round(first + update_first - steady, 1),
    'set_up_seconds': round(set_up, 1),
    'retraces': sum(traces) - len(traces),
    'peak_memory_mb': round(
      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ),
  }


def _usual_counts() -> list[int]:
  """Returns what the paper begins with, and on Simple-Spread ends with.

  Raises:
    UsageError: there is no such environment.
  """
  if _ENV.value not in presets.WORLDS:
    raise command_line.UsageError(
      config.unknown('env', _ENV.value, presets.WORLDS)
    )
  first = presets.WORLDS[_ENV.value].num_agents
  return [4, 8] if _ENV.value == 'simple_spread' else [first]


def main() -> None:
  """Prints the figures of each count."""
  try:
    counts = [int(count) for count in _COUNTS.value or _usual_counts()]
  except ValueError as error:
    raise command_line.UsageError(
      f'counts={",".join(_COUNTS.value)} is not a list of numbers like 4,8'
    ) from error
  found = {}
  for count in counts:
    try:
      found[str(count)] = measure(_ENV.value, count, _REPEATS.value)
    except (ImportError, ValueError) as error:
      raise command_line.UsageError(str(error)) from error
  if command_line.JSON.value:
    print(json.dumps(found))
    return
  print(f'{_ENV.value + ", n =":28}' + ''.join(f'{c:>14}' for c in found))
  for name in next(iter(found.values())):
    row = ''.join(f'{found[count][name]:>14,}' for count in found)
    print(f'{name:28}{row}')


if __name__ == '__main__':
  command_line.run(main)
