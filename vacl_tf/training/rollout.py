# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Playing episodes: with exploration to learn from, greedily to evaluate."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tensorflow_probability as tfp

from vacl_tf import randomness
from vacl_tf import tracing
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.learning import chunks
from vacl_tf.networks import heads

VALUE_WINDOW = 5  # Last steps that a task's value is the mean progress of.

Logits = Callable[[types.Observations], tuple[tf.Tensor, ...]]
Act = Callable[[types.Observations, types.Seed], types.Actions]


def explore(logits: tf.Tensor, seed: types.Seed) -> tf.Tensor:
  """Returns random actions, int32 [...], of logits [..., A]."""
  uniform = randomness.uniform(seed, tf.shape(logits)[:-1])
  return heads.draw_actions(logits, uniform)


def greedy(logits: tf.Tensor) -> tf.Tensor:
  """Returns the likeliest actions, int32 [...], of logits [..., A]."""
  return tf.argmax(logits, -1, tf.int32)


def collect(
  logits: Logits,
  env: base.Environment,
  batch: types.TaskBatch,
  block: int,
  seed: types.Seed,
) -> types.Trajectory:
  """Returns one episode of each task of a batch, played with exploration.

  Args:
    logits: the policy.
    env: the world.
    batch: tasks, of which the first batch.size are played.
    block: worlds that are played together, a divisor of both numbers.
    seed: of places and actions.

  Returns:
    A trajectory of as many worlds as the batch has rows, zero beyond its size.
  """

  def play_block(begin: tf.Tensor) -> types.Trajectory:
    phi = tf.slice(batch.phi, [begin, 0], [block, batch.phi.shape[1]])
    return _explore(logits, env, phi, randomness.fold(seed, begin))

  return chunks.over_worlds(play_block, batch.phi.shape[0], block, batch.size)


def _explore(
  logits: Logits, env: base.Environment, phi: tf.Tensor, seed: types.Seed
) -> types.Trajectory:
  """Returns one episode of each task phi [B, D]."""
  place_seed, action_seed = randomness.split(seed, 2)
  uniform = tuple(  # All at once: a draw a step costs more than the step.
    randomness.uniform(
      randomness.fold(action_seed, index),
      [env.horizon, phi.shape[0], role.num_agents],
    )
    for index, role in enumerate(env.roles)
  )

  def step(state: types.State, numbers: tuple[tf.Tensor, ...]) -> tuple:
    scores = logits(env.observe(state))
    actions = tuple(map(heads.draw_actions, scores, numbers))
    log_probs = tuple(
      tfp.distributions.Categorical(logits=score).log_prob(action)
      for score, action in zip(scores, actions, strict=True)
    )
    after = env.step(state, actions)
    return after, actions, log_probs, env.reward(after), env.progress(after)

  first = env.place(phi, place_seed)
  states, actions, log_probs, rewards, progress = _scan(step, first, uniform)
  return types.Trajectory(
    state=tf.nest.map_structure(
      lambda x, y: tf.concat([x[None], y], 0), first, states
    ),
    action=actions,
    log_prob=log_probs,
    reward=rewards,
    bonus=tuple(tf.zeros_like(reward) for reward in rewards),
    progress=progress,
  )


def play(
  act: Act, env: base.Environment, phi: tf.Tensor, seed: types.Seed
) -> tuple[types.State, tf.Tensor]:
  """Plays tasks phi [B, D] with `act`.

  Returns:
    The states [T, B, ...] after each step, and the progress [T, B] there.
  """
  seeds = tf.stack(randomness.split(seed, env.horizon))

  def step(state: types.State, step_seed: types.Seed) -> tuple:
    after = env.step(state, act(env.observe(state), step_seed))
    return after, env.progress(after)

  return _scan(step, env.place(phi, seed), seeds)


def _scan(step: Callable[..., tuple], state: types.State, inputs: Any) -> tuple:
  """Returns what step(state, input) returns, stacked over the inputs.

  The first thing that it returns is the next state.
  """
  leaves = tf.nest.flatten(inputs)
  num_steps = leaves[0].shape[0]
  first = tf.nest.map_structure(lambda x: x[0], inputs)
  step, outputs = tracing.once(step, state, first)
  arrays = [
    tf.TensorArray(x.dtype, num_steps, element_shape=x.shape)
    for x in tf.nest.flatten(outputs)
  ]

  def body(t: tf.Tensor, state: types.State, arrays: list) -> tuple:
    now = tf.nest.map_structure(lambda x: x[t], inputs)
    found = step(state, now)
    leaves = tf.nest.flatten(found)
    written = [a.write(t, x) for a, x in zip(arrays, leaves, strict=True)]
    return t + 1, found[0], written

  _, _, arrays = tf.while_loop(
    lambda t, *_: t < num_steps, body, (tf.constant(0), state, arrays)
  )
  stacked = [array.stack() for array in arrays]
  return tf.nest.pack_sequence_as(outputs, stacked)


def task_value(progress: tf.Tensor) -> tf.Tensor:
  """Returns V of each task [B]: mean progress [T, B] over the last steps."""
  return tf.reduce_mean(progress[-VALUE_WINDOW:], 0)


def is_success(progress: tf.Tensor) -> tf.Tensor:
  """Returns bool [B]: complete in each of the last steps of [T, B]."""
  return tf.reduce_all(progress[-VALUE_WINDOW:] >= 1.0, 0)
