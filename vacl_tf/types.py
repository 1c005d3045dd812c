# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Types shared by several packages, and the legend of shape letters.

  T  time steps of an episode        m  entity slots of one kind
  B  tasks (one world each)          F  features
  n  agents of one role              A  actions
  D  numbers of a task vector        H  hidden units
  L  steps of a segment              S  tokens: an agent and what it observes
  C  capacity of a particle set      K  children proposed in an update
  N  segments, or rows in general

A role is a group of agents of the same kind that share networks. Everything
that belongs to agents (observations, actions, rewards, values) is a tuple over
roles, of length 1 if all agents are of the same kind.
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
  size: tf.Tensor  # [] int32 number of rows to play; later rows are padding.
  # What the curriculum needs with the feedback on these tasks; passed through.
  ticket: Ticket = ()


class TaskFeedback(NamedTuple):
  """How the policy did on the tasks of a batch, means over its roll-outs.

  Curricula name the fields that they use; all other fields are (). Rows that
  were not played are 0.
  """

  value: tf.Tensor  # [B] in [0, 1]: mean progress over the last five steps.
  # [B] share of roll-outs with progress 1 in each of the last five steps.
  success: Any = ()
  # [B] undiscounted return of the first episode, mean over agents.
  episode_return: Any = ()
  positive_advantage: Any = ()  # [B] mean over steps and agents of max(A, 0).
  value_error: Any = ()  # [B] mean over steps and agents of |A|.
  # [B] prediction of the critic at the first state, mean over agents.
  initial_value: Any = ()
  # [B] prediction of the critic, mean over steps and agents.
  mean_value: Any = ()
  max_return: Any = ()  # [B] largest episode_return of the roll-outs.
  # [B] target of the critic (the lambda-return), mean over steps and agents;
  # the largest of the roll-outs. Comparable with mean_value.
  max_target: Any = ()
  # [B, D] the task that the last state amounts to; if a world ended early, the
  # last state of its latest episode.
  final_task: Any = ()
  # [B] first step, from 1 on, after which progress is 1; mean over roll-outs
  # that have such a step, 0 if none has.
  success_time: Any = ()


class EgocentricTransform(Protocol):
  """Transforms observations of a role to its agents' own frames."""

  def role(self, role: 'Role') -> 'Role':
    """Returns the role with the sizes of the transformed observations."""

  def __call__(
    self, observation: 'Observation'
  ) -> 'tuple[Observation, Callable[[tf.Tensor], tf.Tensor] | None]':
    """Returns the observation [..., n, F], and a function or None.

    The function takes the policy's outputs [..., n, A] back to the world's
    axes. It is None if there is nothing to restore.
    """


class Role(NamedTuple):
  """A group of agents of the same kind: their observations and actions."""

  name: str
  num_agents: int
  # Action of one agent: int32 of shape () for one choice, of shape [heads] for
  # several choices at once; float32 for bounded continuous actions.
  action: specs.BoundedArray
  own_size: int  # Features of the agent's own state.
  entity_sizes: Mapping[str, int]  # Features of each kind of observed entity.
  mask_kinds: tuple[str, ...] = ()  # Kinds that may have empty slots.
  # Indices of two own features that only the critic observes, x and y of a
  # position. Empty if the policy observes them too, None if there are none.
  critic_only_position: tuple[int, ...] | None = None
  egocentric: EgocentricTransform | None = None


class Observation(NamedTuple):
  """What the agents of one role observe."""

  own: tf.Tensor  # [B, n, F] as the policy observes it.
  entities: Mapping[str, tf.Tensor]  # kind -> [B, n, m, F]
  masks: Mapping[str, tf.Tensor] = {}  # kind -> bool [B, n, m], True = present.
  critic_own: Any = ()  # [B, n, F] as the critic does; () if equal.

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
  # bool [N, L], True where a world has begun a new episode, so that the memory
  # has to be the initial one; () if there is no memory.
  is_first: Any = ()


class Trajectory(NamedTuple):
  """Episodes of equal length that began together."""

  state: State  # Leaves [T + 1, B, ...], the last one after step T.
  memory: Memory  # Leaves [T, B, ...], of the policy before each step.
  action: Actions  # [T, B, n, ...]
  log_prob: tuple[tf.Tensor, ...]  # [T, B, n] under the acting policy.
  reward: tuple[tf.Tensor, ...]  # [T, B, n]
  # [T, B] in [0, 1], after each step of a world's first episode.
  progress: tf.Tensor
  discount: tf.Tensor  # [T, B] 0 where the world ends with a step, else 1.


def discrete(num_actions: int) -> specs.BoundedArray:
  """Returns the spec of an action that is one of `num_actions` choices."""
  return specs.BoundedArray((), 'int32', 0, num_actions - 1, 'action')


def multi_discrete(sizes: tuple[int, ...]) -> specs.BoundedArray:
  """Returns the spec of an action with one choice for each head."""
  most = [size - 1 for size in sizes]
  return specs.BoundedArray((len(sizes),), 'int32', 0, most, 'action')


def continuous(
  low: collections.abc.Sequence[float], high: collections.abc.Sequence[float]
) -> specs.BoundedArray:
  """Returns the spec of an action that is a vector between finite bounds."""
  return specs.BoundedArray((len(low),), 'float32', low, high, 'action')
