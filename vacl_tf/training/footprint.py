# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""How much memory and time training is going to take, before it does.

TensorFlow ends in a segmentation fault, or is killed, where memory does not
suffice. What is estimated here was compared with measured peaks; see the test.
"""

from collections.abc import Iterator, Sequence

import tensorflow as tf

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.agents import base as agent_base
from vacl_tf.environments import base
from vacl_tf.training import rollout
from vacl_tf.training import run as run_lib

_COMPILER = 600e6  # Programs, and what making them takes.
_COPIES = 2.0  # Of episodes: as they were played, and as samples.
_NUMBERS = 10  # Of an agent in a step: rewards, values, advantages and so on.
_LAYERS = 16  # Of hidden_size, of a vector, kept for its gradient.
_MOMENTS = 3  # A gradient and two moments for each weight.
_SEEDS = 50  # Whose kernels the curriculum computes together.
_VECTOR_SECONDS = 1.5e-6  # Of an observed vector in an epoch.
_PLAYED = 0.2  # Of the time of an iteration.
_WORLD = 250e3  # A simulation outside TensorFlow.

_MICROBATCH = 'config.ppo.microbatch_vectors'
_NETWORKS = 'config.agent.hidden_size'
_SIMULATIONS = (
  'config.training.num_tasks or config.training.num_evaluation_tasks'
)


def estimate(
  run: run_lib.Run, envs: Sequence[base.World], cfg: config.Config
) -> dict[str, float]:
  """Returns the bytes that training takes besides what the process has.

  By what they are for: the names of the config's fields that would lower them.
  """
  found = {}
  for env in envs:
    for name, size in _of_count(run.agent, env, cfg):
      found[name] = max(size, found.get(name, 0.0))
  weights = sum(_size(x) for x in run.agent.variables)
  found[_NETWORKS] = found.get(_NETWORKS, 0.0) + _MOMENTS * weights
  if isinstance(cfg.curriculum, config.TaskExpansionConfig):
    most = max(env.task_space.num_dims for env in envs)
    found['config.curriculum.capacity'] = (
      4.0 * _SEEDS * cfg.curriculum.capacity * most
    )
  largest = max(found, key=found.get)
  found[largest] += _COMPILER
  return found


def iteration_seconds(envs: Sequence[base.World], cfg: config.Config) -> float:
  """Returns about how long an iteration takes on two cores, in seconds.

  Within a factor of four of what was measured; see the test.
  """
  vectors = max(
    env.num_vectors * env.horizon * _learned(env, cfg) for env in envs
  )
  passes = cfg.training.num_rollouts * cfg.ppo.num_epochs
  return _VECTOR_SECONDS * vectors * cfg.training.num_tasks * passes


def _learned(env: base.World, cfg: config.Config) -> float:
  """Returns which share of an iteration bounded minibatches leave to do."""
  if not cfg.ppo.max_minibatch:
    return 1.0
  num_agents = sum(rollout.num_agents(env))
  samples = cfg.training.num_tasks * env.horizon * num_agents
  most = cfg.ppo.max_minibatch * cfg.ppo.num_minibatches
  # Samples are also played and valued, whether they are learned from or not.
  return max(_PLAYED, min(most / samples, 1.0))


def _of_count(
  agent: agent_base.Agent, env: base.World, cfg: config.Config
) -> Iterator[tuple[str, float]]:
  """Yields what the worlds of one entity count take."""
  training = cfg.training
  num_agents = rollout.num_agents(env)
  memories = (
    agent.initial_memory(1, num_agents),
    agent.initial_value_memory(1, num_agents),
  )
  step = _size(_state(env), memories) + 4.0 * _NUMBERS * sum(num_agents)
  yield (
    'config.training.num_tasks or config.environment.horizon',
    _COPIES * step * training.num_tasks * env.horizon,
  )
  vectors = env.num_vectors * agent.segment_length
  rows = training.num_tasks * env.horizon // agent.segment_length
  at_once = min(
    cfg.ppo.microbatch_vectors // vectors, rows // cfg.ppo.num_minibatches
  )
  yield (
    _MICROBATCH if at_once > 1 else _NETWORKS,
    4.0 * _LAYERS * cfg.agent.hidden_size * vectors * max(at_once, 1),
  )
  if not env.is_in_graph:
    num_worlds = training.num_tasks + training.num_evaluation_tasks
    yield _SIMULATIONS, _WORLD * num_worlds


def _state(env: base.World) -> types.State:
  """Returns what is stored of one world in a step."""
  seed = randomness.root(0)
  phi = env.task_space.sample_easy(1, seed)
  if env.is_in_graph:
    return env.place(phi, seed)
  simulator = env.make_simulator(1)
  simulator.place(phi.numpy(), (0,))
  seen = simulator.observe()
  simulator.close()
  return seen


def _size(*tensors: types.State) -> int:
  """Returns the bytes of all leaves."""
  leaves = map(tf.convert_to_tensor, tf.nest.flatten(tensors))
  return sum(x.shape.num_elements() * x.dtype.size for x in leaves)
