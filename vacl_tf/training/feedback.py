# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Feedback on the tasks that were played, for the curriculum."""

from collections.abc import Sequence

import tensorflow as tf

from vacl_tf import types
from vacl_tf.learning import ppo
from vacl_tf.training import rollout

# Fields for which values and advantages are needed.
OF_CRITIC = (
  'positive_advantage',
  'value_error',
  'initial_value',
  'mean_value',
  'max_target',
)


def of_rollout(
  fields: Sequence[str],
  trajectory: types.Trajectory,
  samples: ppo.Samples | tuple = (),
  final_task: tf.Tensor | tuple = (),
) -> types.TaskFeedback:
  """Returns the feedback of one roll-out.

  Args:
    fields: names of the fields of TaskFeedback to fill, besides the value.
    trajectory: roll-out of B worlds.
    samples: [T / L * B, L, n] from the trajectory, for fields in OF_CRITIC.
    final_task: [B, D] tasks for the field of that name.
  """
  progress = trajectory.progress
  found = {}
  if 'success' in fields:
    found['success'] = tf.cast(rollout.is_success(progress), tf.float32)
  if 'success_time' in fields:
    found['success_time'] = _first_complete(progress)
  if {'episode_return', 'max_return'} & set(fields):
    is_first = rollout.in_first_episode(trajectory.discount)
    reward = tf.where(is_first, _over_agents(trajectory.reward), 0.0)
    total = tf.reduce_sum(reward, 0)
    found |= {'episode_return': total, 'max_return': total}
  if set(OF_CRITIC) & set(fields):
    num_worlds = progress.shape[1]
    advantage = _by_world(samples.advantage, num_worlds)
    target = _by_world(samples.returns, num_worlds)
    value = target - advantage
    found |= {
      'positive_advantage': tf.reduce_mean(tf.nn.relu(advantage), [0, 2]),
      'value_error': tf.reduce_mean(tf.abs(advantage), [0, 2]),
      'initial_value': tf.reduce_mean(value[0], -1),
      'mean_value': tf.reduce_mean(value, [0, 2]),
      'max_target': tf.reduce_mean(target, [0, 2]),
    }
  found['final_task'] = final_task
  return types.TaskFeedback(
    value=rollout.task_value(progress),
    **{name: x for name, x in found.items() if name in fields},
  )


def of_played(told: types.TaskFeedback, size: tf.Tensor) -> types.TaskFeedback:
  """Returns the feedback with zeros for the tasks from `size` on."""

  def masked(x: tf.Tensor) -> tf.Tensor:
    was_played = tf.range(x.shape[0]) < size
    return tf.where(
      was_played[:, None] if x.shape.rank > 1 else was_played, x, 0.0
    )

  return tf.nest.map_structure(masked, told)


def over_rollouts(found: Sequence[types.TaskFeedback]) -> types.TaskFeedback:
  """Returns the feedback of several roll-outs of the same tasks."""
  combined = tf.nest.map_structure(lambda *x: sum(x) / len(x), *found)
  for name in ('max_return', 'max_target'):
    if not isinstance(getattr(combined, name), tuple):
      most = tf.reduce_max(tf.stack([getattr(x, name) for x in found]), 0)
      combined = combined._replace(**{name: most})
  if not isinstance(combined.success_time, tuple):
    times = tf.stack([x.success_time for x in found])
    number = tf.reduce_sum(tf.cast(times > 0.0, tf.float32), 0)
    mean = tf.math.divide_no_nan(tf.reduce_sum(times, 0), number)
    combined = combined._replace(success_time=mean)
  # The last roll-out's task: a mean of tasks would be another task.
  return combined._replace(final_task=found[-1].final_task)


def nothing(
  fields: Sequence[str], batch: types.TaskBatch
) -> types.TaskFeedback:
  """Returns the feedback of tasks that were not played."""
  zeros = tf.zeros(batch.phi.shape[:1])
  found = dict.fromkeys(('value', *fields), zeros)
  if 'final_task' in fields:
    found['final_task'] = tf.zeros_like(batch.phi)
  return types.TaskFeedback(**found)


def _first_complete(progress: tf.Tensor) -> tf.Tensor:
  """Returns the first step [B], from 1 on, with progress [T, B] 1, or 0."""
  is_complete = rollout.is_complete(progress)
  first = tf.argmax(tf.cast(is_complete, tf.int32), 0, tf.int32) + 1
  return tf.cast(tf.where(tf.reduce_any(is_complete, 0), first, 0), tf.float32)


def _over_agents(per_role: tuple[tf.Tensor, ...]) -> tf.Tensor:
  """Returns means [...] of [..., n] per role over the agents of all roles."""
  return tf.reduce_mean(tf.concat(per_role, -1), -1)


def _by_world(per_role: tuple[tf.Tensor, ...], num_worlds: int) -> tf.Tensor:
  """Returns samples [T / L * B, L, n] per role as [T, B, n] of all agents."""
  x = tf.concat(per_role, -1)
  length, agents = x.shape[1:]
  x = tf.reshape(x, [-1, num_worlds, length, agents])
  return tf.reshape(tf.transpose(x, [0, 2, 1, 3]), [-1, num_worlds, agents])
