# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What crosses package borders, and the one legend of shape letters.

  T  time steps of an episode        m  entity slots of one kind
  B  tasks (one world each)          F  features
  n  agents of one role              A  actions
  D  numbers of a task vector        H  hidden units
  L  steps of a segment              S  tokens: an agent and what it observes
  C  capacity of a particle set      K  children proposed in an update
  N  segments, or rows in general

A role is a group of alike agents that share networks. Whatever belongs to
agents (observations, actions, rewards, values) is a tuple over roles, of
length 1 where all agents are alike.
"""

import collections.abc
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import tensorflow as tf
from dm_env import specs

Seed = tf.Tensor  # [2] int32; see `randomness`.
State = Any  # An environment's own NamedTuple of tensors with leading B.
Memory = Any  # An agent's own structure of tensors with leading B; () if none.
Ticket = Any  # A curriculum's own structure of tensors; () if it needs none.
Actions = tuple[tf.Tensor, ...]  # Per role, [B, n, ...] as Role.action says.
Metrics = dict[str, tf.Tensor]  # Scalars by name.


class TaskBatch(NamedTuple):
  """Tasks of one entity count, to be played in parallel."""

  phi: tf.Tensor  # [B, D] float32 task vectors.
  size: tf.Tensor  # [] int32 rows to play, from the first on; more are padding.
  # What the curriculum wants to know of these tasks when they come back.
  ticket: Ticket = ()


class TaskFeedback(NamedTuple):
  """How the policy did on the tasks of a batch, means over its roll-outs.

  Curricula name the fields that they use; what none asks for is left out and
  is (). Rows that were not played are 0.
  """

  value: tf.Tensor  # [B] in [0, 1]: mean progress over the last five steps.
  # [B] share of roll-outs with progress 1 in each of the last five steps.
  success: Any = ()
  # [B] undiscounted, of the first episode, mean over agents.
  episode_return: Any = ()
  positive_advantage: Any = ()  # [B] mean over steps and agents of max(A, 0).
  value_error: Any = ()  # [B] mean over steps and agents of |A|.
  initial_value: Any = ()  # [B] the critic's at the first state, over agents.
  mean_value: Any = ()  # [B] the critic's along the episode, over agents.
  max_return: Any = ()  # [B] largest episode_return of the roll-outs.
  # [B] what the critic learns (the lambda-return) along the episode, mean over
  # agents; the largest of the roll-outs. Comparable with mean_value.
  max_target: Any = ()
  # [B, D] the task that the last state amounts to; of the latest episode, where
  # a world ended early.
  final_task: Any = ()
  # [B] first step, from 1 on, after which progress is 1; mean over roll-outs
  # that have one, 0 where none has.
  success_time: Any = ()


class EgocentricTransform(Protocol):
  """How the agents of a role may look at their world, from where they are."""

  def role(self, role: 'Role') -> 'Role':
    """Returns the role with the sizes of what they observe then."""

  def __call__(
    self, observation: 'Observation'
  ) -> 'tuple[Observation, Callable[[tf.Tensor], tf.Tensor] | None]':
    """Returns the observation [..., n, F], and what restores the policy.

    That takes the policy's outputs [..., n, A] back to the world's axes; None
    where there is nothing to restore.
    """


class Role(NamedTuple):
  """A group of alike agents: what they observe and what they can do."""

  name: str
  num_agents: int
  # Of one agent: int32 of shape () for a choice, of shape [heads] for several
  # at once, float32 for bounded continuous actions.
  action: specs.BoundedArray
  own_size: int  # Features of the agent's own state.
  entity_sizes: Mapping[str, int]  # Features of each kind of observed entity.
  mask_kinds: tuple[str, ...] = ()  # Kinds of which some slots may be empty.
  # Two own features that only the critic observes, x and y of a position.
  # Empty where the policy observes them too, None where there are none.
  critic_only_position: tuple[int, ...] | None = None
  egocentric: EgocentricTransform | None = None


class Observation(NamedTuple):
  """What the agents of one role observe."""

  own: tf.Tensor  # [B, n, F] as the policy observes it.
  entities: Mapping[str, tf.Tensor]  # kind -> [B, n, m, F]
  masks: Mapping[str, tf.Tensor] = {}  # kind -> bool [B, n, m], True = present.
  critic_own: Any = ()  # [B, n, F] as the critic does; () if alike.

  def of_critic(self) -> 'Observation':
    """Returns what the critic observes."""
    if isinstance(self.critic_own, tuple):
      return self
    return self._replace(own=self.critic_own)


Observations = tuple[Observation, ...]


class Sequence(NamedTuple):
  """Segments of consecutive steps, and the memories before their first one."""

  observations: Observations  # Leaves [N, L, n, ...].
  policy_memory: Memory  # Leaves [N, ...].
  value_memory: Memory  # Leaves [N, ...].
  # bool [N, L], where a world has begun anew, so that what agents remember has
  # to be the initial memory; () if there is no memory.
  is_first: Any = ()


class Trajectory(NamedTuple):
  """Episodes of equal length, begun together."""

  state: State  # Leaves [T + 1, B, ...], the last one after step T.
  memory: Memory  # Leaves [T, B, ...], of the policy before each step.
  action: Actions  # [T, B, n, ...]
  log_prob: tuple[tf.Tensor, ...]  # [T, B, n] under the acting policy.
  reward: tuple[tf.Tensor, ...]  # [T, B, n]
  # [T, B] in [0, 1], after each step of a world's first episode.
  progress: tf.Tensor
  discount: tf.Tensor  # [T, B] 0 where the world ends with a step, else 1.


def discrete(num_actions: int) -> specs.BoundedArray:
  """Returns the spec of an agent's action that is one of so many choices."""
  return specs.BoundedArray((), 'int32', 0, num_actions - 1, 'action')


def multi_discrete(sizes: tuple[int, ...]) -> specs.BoundedArray:
  """Returns the spec of an action of several choices at once, by head."""
  most = [size - 1 for size in sizes]
  return specs.BoundedArray((len(sizes),), 'int32', 0, most, 'action')


def continuous(
  low: collections.abc.Sequence[float], high: collections.abc.Sequence[float]
) -> specs.BoundedArray:
  """Returns the spec of an action that is a vector between finite bounds."""
  return specs.BoundedArray((len(low),), 'float32', low, high, 'action')
