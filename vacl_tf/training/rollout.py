# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Plays episodes of worlds in a graph, for learning and evaluation."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import tracing
from vacl_tf import types
from vacl_tf.agents import base as agent_base
from vacl_tf.environments import base
from vacl_tf.learning import microbatch

VALUE_WINDOW = 5  # Last steps, whose mean progress is a task's value.

# Maps observations, memory and a seed to actions and the next memory.
Act = Callable[
  [types.Observations, types.Memory, types.Seed],
  tuple[types.Actions, types.Memory],
]


def greedy(agent: agent_base.Agent) -> Act:
  """Returns the policy that takes the most likely actions."""

  def act(
    observations: types.Observations, memory: types.Memory, seed: types.Seed
  ) -> tuple[types.Actions, types.Memory]:
    del seed
    distributions, memory = agent.act(observations, memory)
    return tuple(x.mode() for x in distributions), memory

  return act


def num_agents(env: base.World) -> tuple[int, ...]:
  """Returns the number of agents of each role."""
  return tuple(role.num_agents for role in env.roles)


def action_numbers(
  env: base.World, num_worlds: int, seeds: list[types.Seed]
) -> tuple[tf.Tensor, ...]:
  """Returns uniform numbers [T, B, n, ...] to draw each role's actions with.

  They are drawn at once: a draw per step would cost more than the step.
  """
  return tuple(
    randomness.uniform(
      seed, [env.horizon, num_worlds, role.num_agents, *role.action.shape]
    )
    for role, seed in zip(env.roles, seeds, strict=True)
  )


def collect(
  agent: agent_base.Agent,
  env: base.Environment,
  batch: types.TaskBatch,
  block: int,
  seed: types.Seed,
) -> types.Trajectory:
  """Returns one episode of each task of a batch, played with exploration.

  Args:
    agent: the agent whose policy acts.
    env: the world.
    batch: tasks, of which the first batch.size are played.
    block: number of worlds played together; divides the number of rows.
    seed: seed of placements and actions.

  Returns:
    A trajectory with one world per row of the batch. Worlds from batch.size on
    have no meaning.
  """

  def play_block(begin: tf.Tensor) -> types.Trajectory:
    phi = tf.slice(batch.phi, [begin, 0], [block, batch.phi.shape[1]])
    return _explore(agent, env, phi, randomness.fold(seed, begin))

  num_rows = batch.phi.shape[0]
  return microbatch.over_worlds(play_block, num_rows, block, batch.size)


def _explore(
  agent: agent_base.Agent,
  env: base.Environment,
  phi: tf.Tensor,
  seed: types.Seed,
) -> types.Trajectory:
  """Returns one episode of each task phi [B, D]."""
  place_seed, action_seed = randomness.split(seed, 2)
  seeds = [randomness.fold(action_seed, i) for i in range(len(env.roles))]
  uniform = action_numbers(env, phi.shape[0], seeds)
  first_memory = agent.initial_memory(phi.shape[0], num_agents(env))
  first = env.place(phi, place_seed), first_memory

  def step(carried: tuple, numbers: tuple[tf.Tensor, ...]) -> tuple:
    state, memory = carried
    distributions, memory = agent.act(env.observe(state), memory)
    actions, log_probs = agent_base.drawn(distributions, numbers)
    after = env.step(state, actions)
    reward, progress = env.reward(after), env.progress(after)
    discount = env.discount(after)
    if _may_end(env):
      memory = remembered(memory, first_memory, discount)
    return (after, memory), actions, log_probs, reward, progress, discount

  carried, actions, log_probs, rewards, progress, discount = _scan(
    step, first, uniform
  )
  if _may_end(env):
    progress = of_first_episode(progress, discount)
  states, memories = tf.nest.map_structure(
    lambda x, y: tf.concat([x[None], y], 0), first, carried
  )
  return types.Trajectory(
    state=states,
    memory=tf.nest.map_structure(lambda x: x[:-1], memories),
    action=actions,
    log_prob=log_probs,
    reward=rewards,
    progress=progress,
    discount=with_end(discount, env.is_terminal),
  )


def _may_end(env: base.Environment) -> bool:
  """Returns whether worlds may end before the horizon."""
  return type(env).discount is not base.Environment.discount


def remembered(
  memory: types.Memory, first: types.Memory, discount: tf.Tensor
) -> types.Memory:
  """Returns memories [B, ...], set to `first` where discount [B] is 0."""

  def of_leaf(now: tf.Tensor, start: tf.Tensor) -> tf.Tensor:
    has_ended = tf.reshape(discount == 0.0, [-1] + [1] * (now.shape.rank - 1))
    return tf.where(has_ended, start, now)

  return tf.nest.map_structure(of_leaf, memory, first)


def with_end(discount: tf.Tensor, is_terminal: bool) -> tf.Tensor:
  """Returns discounts [T, B], 0 in the last step if it ends the world."""
  if not is_terminal:
    return discount
  return tf.concat([discount[:-1], tf.zeros_like(discount[:1])], 0)


def play(
  act: Act,
  env: base.Environment,
  phi: tf.Tensor,
  seed: types.Seed,
  memory: types.Memory = (),
) -> tuple[types.State, tf.Tensor]:
  """Plays tasks phi [B, D] with `act`, whose initial memory is `memory`.

  Returns:
    The states [T, B, ...] after each step, and the progress [T, B] there, see
    `of_first_episode`.
  """
  # Not the seeds that `place` gets if it splits its own.
  acting_seed = randomness.fold(seed, -1)
  seeds = tf.stack(randomness.split(acting_seed, env.horizon))

  def step(carried: tuple, step_seed: types.Seed) -> tuple:
    state, before = carried
    actions, found = act(env.observe(state), before, step_seed)
    after = env.step(state, actions)
    if not _may_end(env):
      return (after, found), env.progress(after)
    discount = env.discount(after)
    found = remembered(found, memory, discount)
    return (after, found), env.progress(after), discount

  (states, _), progress, *discount = _scan(
    step, (env.place(phi, seed), memory), seeds
  )
  return states, of_first_episode(progress, *discount) if discount else progress


def _scan(step: Callable[..., tuple], state: types.State, inputs: Any) -> tuple:
  """Returns the results of step(state, input), stacked over the inputs.

  The first result of each step is the next state.
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


def of_first_episode(progress: tf.Tensor, discount: tf.Tensor) -> tf.Tensor:
  """Returns progress [T, B] that stays constant once a world has ended.

  Later steps belong to another episode of the task, which is not evaluated.

  Args:
    progress: [T, B].
    discount: [T, B], 0 where a world ended.
  """
  is_first = in_first_episode(discount)
  last = tf.reduce_sum(tf.cast(is_first, tf.int32), 0) - 1  # [B]
  held = tf.gather(tf.transpose(progress), last, axis=1, batch_dims=1)
  return tf.where(is_first, progress, held)


def in_first_episode(discount: tf.Tensor) -> tf.Tensor:
  """Returns bool [T, B]: steps up to and including the first end of a world."""
  goes_on = tf.cast(discount > 0.0, tf.int32)
  return tf.math.cumprod(goes_on, 0, exclusive=True) > 0


def task_value(progress: tf.Tensor) -> tf.Tensor:
  """Returns V of each task [B]: mean progress [T, B] over the last steps."""
  return tf.reduce_mean(progress[-VALUE_WINDOW:], 0)


def is_success(progress: tf.Tensor) -> tf.Tensor:
  """Returns bool [B]: progress [T, B] is 1 in each of the last steps."""
  return tf.reduce_all(is_complete(progress[-VALUE_WINDOW:]), 0)


def is_complete(progress: tf.Tensor) -> tf.Tensor:
  """Returns where progress is 1, up to rounding."""
  return progress >= 1.0 - base.ROUNDING
