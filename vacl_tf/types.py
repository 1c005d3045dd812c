# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What crosses package borders, and the one legend of shape letters.

  T  time steps of an episode        m  entity slots of one kind
  B  tasks (one world each)          F  features
  n  agents of one role              A  actions
  D  numbers of a task vector        H  hidden units
  L  steps that gradients go back    S  what an agent sees, itself included
  C  capacity of a particle set      K  children proposed in an update

A role is a group of alike agents that share networks. Whatever belongs to
agents (observations, actions, rewards, logits, values) is a tuple over roles,
of length 1 where all agents are alike.
"""

import enum
from collections.abc import Mapping
from typing import Any, NamedTuple

import tensorflow as tf

Seed = tf.Tensor  # [2] int32; see `randomness`.
State = Any  # An environment's own NamedTuple of tensors with leading B.
Actions = tuple[tf.Tensor, ...]  # Per role, int32 [B, n] or [B, n, heads].
Metrics = dict[str, tf.Tensor]  # Scalars by name.


class Origin(enum.IntEnum):
  """Where a row of a TaskBatch came from, hence who wants its value back."""

  ACTIVE = 0
  SOLVED = 1
  FRESH = 2  # Drawn for this batch, or a repeat of a row: nothing to update.


class TaskBatch(NamedTuple):
  """Tasks of one entity count, to be played side by side."""

  phi: tf.Tensor  # [B, D] float32 task vectors.
  count: tf.Tensor  # [] int32 number of agents that these tasks are for.
  origin: tf.Tensor  # [B] int32 Origin.
  slot: tf.Tensor  # [B] int32 row in the set that it came from.
  size: tf.Tensor  # [] int32 rows to play, from the first on; more are padding.


class Role(NamedTuple):
  """A group of alike agents: what they see and what they can do."""

  name: str
  num_agents: int
  num_actions: int | tuple[int, ...]  # Choices, or those of several heads.
  own_size: int  # Features of the agent's own state.
  entity_sizes: Mapping[str, int]  # Features of each kind of seen entity.
  # Two own features that the value alone sees, x and y of a place; or none.
  unseen_place: tuple[int, ...] = ()
  # Whether its world is an open square about the origin, its own features are
  # velocity and place, and its moves to stay and along +x, -x, +y and -y.
  is_in_square: bool = False


class Observation(NamedTuple):
  """What the agents of one role see."""

  own: tf.Tensor  # [B, n, F]
  entities: Mapping[str, tf.Tensor]  # kind -> [B, n, m, F]
  masks: Mapping[str, tf.Tensor]  # kind -> bool [B, n, m], True = present.


Observations = tuple[Observation, ...]


class Seen(NamedTuple):
  """What acting and judging are based on, where there is a memory."""

  own: tf.Tensor  # [..., n, F] as the policy sees it.
  own_of_value: tf.Tensor  # [..., n, F]
  entities: Mapping[str, tf.Tensor]  # kind -> [..., n, m, F]


class Remembered(NamedTuple):
  """Consecutive steps, and the memories before the first of them."""

  seen: Seen  # [B, L, ...]
  policy_memory: tf.Tensor  # [B, n, H]
  value_memory: tf.Tensor  # [B, n, H]


class Trajectory(NamedTuple):
  """Whole episodes of equal length, begun together."""

  # Leaves [T + 1, B, ...], the last one after step T. With a memory what was
  # seen and the memories before each step, [T, B, ...].
  state: State
  action: Actions  # [T, B, n], with a last axis if there are several heads.
  log_prob: tuple[tf.Tensor, ...]  # [T, B, n] under the acting policy.
  reward: tuple[tf.Tensor, ...]  # [T, B, n] of the task.
  bonus: tuple[tf.Tensor, ...]  # [T, B, n] intrinsic; zeros so far.
  progress: tf.Tensor  # [T, B] in [0, 1], after each step.
