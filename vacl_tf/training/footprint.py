# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Estimates of the memory and time of training, before it starts.

If memory runs out, TensorFlow ends with a segmentation fault or is killed. The
estimates were compared with measured peaks; see the test.
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

_COMPILER = 600e6  # Bytes of the programs and of compiling them.
_COPIES = 2.0  # Copies of episodes: as trajectories and as samples.
_NUMBERS = 10  # Per agent and step: rewards, values, advantages and so on.
_LAYERS = 16  # Activations [hidden_size] per vector, kept for the gradient.
_MOMENTS = 3  # Per weight: a gradient and two moments.
_SEEDS = 50  # Seeds whose kernels the curriculum computes together.
_VECTOR_SECONDS = 1.5e-6  # Seconds per observed vector and epoch.
_PLAYED = 0.2  # Share of an iteration's time that is not spent on learning.
_WORLD = 250e3  # Bytes of a simulation outside TensorFlow.

_MICROBATCH = 'config.ppo.microbatch_vectors'
_NETWORKS = 'config.agent.hidden_size'
_SIMULATIONS = (
  'config.training.num_tasks or config.training.num_evaluation_tasks'
)


def estimate(
  run: run_lib.Run, envs: Sequence[base.World], cfg: config.Config
) -> dict[str, float]:
  """Returns the bytes that training takes beyond those already in use.

  Each key names the config fields that would lower its bytes.
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
  """Returns roughly the seconds that an iteration takes on two cores.

  The estimate is within a factor of four of measured times; see the test.
  """
  vectors = max(
    env.num_vectors * env.horizon * _learned(env, cfg) for env in envs
  )
  passes = cfg.training.num_rollouts * cfg.ppo.num_epochs
  return _VECTOR_SECONDS * vectors * cfg.training.num_tasks * passes


def _learned(env: base.World, cfg: config.Config) -> float:
  """Returns the share of the work that remains with max_minibatch."""
  if not cfg.ppo.max_minibatch:
    return 1.0
  num_agents = sum(rollout.num_agents(env))
  samples = cfg.training.num_tasks * env.horizon * num_agents
  most = cfg.ppo.max_minibatch * cfg.ppo.num_minibatches
  # All samples are played and given values, also those not learned from.
  return max(_PLAYED, min(most / samples, 1.0))


def _of_count(
  agent: agent_base.Agent, env: base.World, cfg: config.Config
) -> Iterator[tuple[str, float]]:
  """Yields config fields and bytes for the worlds of one entity count."""
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
  """Returns what is stored per world and step."""
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
