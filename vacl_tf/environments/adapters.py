# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Views of a batched environment through interfaces that others know."""

from collections.abc import Callable, Mapping
from typing import Any

import dm_env
import numpy as np
import tensorflow as tf
from dm_env import specs

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base

SampleTasks = Callable[[int, types.Seed], tf.Tensor]


class DmEnv(dm_env.Environment):
  """One world of an environment, as a multi-agent `dm_env.Environment`.

  Observations are a flat dict of arrays, `own` [n, F] and each kind of entity
  [n, m, F], with `<kind>_mask` [n, m] where a kind has one. Actions are int32
  [n] and rewards float32 [n]. With several roles, observations are called
  `<role>/<name>`, and actions and rewards are dicts by role.

  The last step has discount 0 only if it ends the world; a particle world is
  merely cut off there, and keeps discount 1.
  """

  def __init__(
    self,
    env: base.Environment,
    seed: int = 0,
    *,
    phi: np.ndarray | None = None,
    sample_tasks: SampleTasks | None = None,
  ) -> None:
    """Initialises the view.

    Args:
      env: the environment to show one world of.
      seed: of the tasks; with equal seeds, episodes are equal.
      phi: [D] the task of every episode, drawn anew each time if None.
      sample_tasks: draws tasks where phi is None, called as
        `env.task_space.sample_easy` is; by default the tasks to be solved,
        `env.task_space.sample_target`.

    Raises:
      ValueError: phi is not a legal task, or both phi and sample_tasks are
        given.
    """
    if phi is not None and sample_tasks is not None:
      raise ValueError(
        'phi and sample_tasks are both given; allowed: one of them. Leave out '
        'phi to draw tasks, or sample_tasks to repeat one.'
      )
    self._env = env
    self._phi = None if phi is None else self._as_legal_task(phi)
    self._sample_tasks = sample_tasks or env.task_space.sample_target
    self._seed = randomness.root(seed)
    self._num_episodes = 0
    self._num_steps = 0
    self._state = None  # Until the first reset, and after a last step.
    # Not XLA: it takes seconds to compile, and gains one world next to nothing.
    self._advance = tf.function(self._outcome)
    task_seed, place_seed = randomness.split(self._seed, 2)
    probe = env.place(env.task_space.sample_easy(1, task_seed), place_seed)
    self._observation_spec = {
      name: specs.Array(array.shape, array.dtype, name)
      for name, array in self._named(env.observe(probe)).items()
    }

  @property
  def state(self) -> types.State | None:
    """The world's state with a leading 1, as `Environment.draw` takes it."""
    return self._state

  def reset(self) -> dm_env.TimeStep:
    seed = randomness.fold(self._seed, self._num_episodes)
    task_seed, place_seed = randomness.split(seed, 2)
    self._num_episodes += 1
    self._num_steps = 0
    phi = self._phi
    if phi is None:
      phi = self._as_legal_task(self._sample_tasks(1, task_seed)[0])
    self._state = self._env.place(tf.constant(phi[None]), place_seed)
    return dm_env.restart(self._named(self._env.observe(self._state)))

  def step(self, action: Any) -> dm_env.TimeStep:
    """Plays one action of every agent, or resets after a last step.

    Args:
      action: integers [n] below the number of actions; with several roles, a
        dict of them by role.

    Returns:
      What the agents see and get.

    Raises:
      ValueError: the action is not of that kind.
    """
    if self._state is None or self._num_steps == self._env.horizon:
      return self.reset()
    self._state, observations, rewards = self._advance(
      self._state, self._as_actions(action)
    )
    self._num_steps += 1
    observation = self._named(observations)
    reward = self._by_role([reward[0].numpy() for reward in rewards])
    if self._num_steps < self._env.horizon:
      return dm_env.transition(reward, observation)
    if self._env.is_terminal:
      return dm_env.termination(reward, observation)
    return dm_env.truncation(reward, observation)

  def observation_spec(self) -> dict[str, specs.Array]:
    return self._observation_spec

  def action_spec(self) -> Any:
    return self._by_role(
      [
        specs.BoundedArray(
          [role.num_agents], np.int32, 0, role.num_actions - 1, 'action'
        )
        for role in self._env.roles
      ]
    )

  def reward_spec(self) -> Any:
    return self._by_role(
      [
        specs.Array([role.num_agents], np.float32, 'reward')
        for role in self._env.roles
      ]
    )

  def _outcome(self, state: types.State, actions: types.Actions) -> tuple:
    after = self._env.step(state, actions)
    return after, self._env.observe(after), self._env.reward(after)

  def _by_role(self, values: list[Any]) -> Any:
    """Returns the only role's value, or a dict of values by role."""
    if len(values) == 1:
      return values[0]
    names = [role.name for role in self._env.roles]
    return dict(zip(names, values, strict=True))

  def _named(self, observations: types.Observations) -> dict[str, np.ndarray]:
    named = {}
    for role, seen in zip(self._env.roles, observations, strict=True):
      prefix = f'{role.name}/' if len(self._env.roles) > 1 else ''
      tensors = {'own': seen.own, **seen.entities}
      tensors |= {f'{kind}_mask': mask for kind, mask in seen.masks.items()}
      for name, tensor in tensors.items():
        named[prefix + name] = tensor[0].numpy()
    return named

  def _as_actions(self, action: Any) -> types.Actions:
    """Returns int32 [1, n] per role of what `step` is given."""
    roles = self._env.roles
    if len(roles) == 1:
      return (_as_role_action(action, roles[0], 'action'),)
    names = [role.name for role in roles]
    if not isinstance(action, Mapping) or set(action) != set(names):
      raise ValueError(
        f'action={action!r} is not a dict by role; allowed keys: '
        f'{", ".join(names)}. Give an array of integers for each.'
      )
    return tuple(
      _as_role_action(action[role.name], role, f'action[{role.name!r}]')
      for role in roles
    )

  def _as_legal_task(self, phi: np.ndarray | tf.Tensor) -> np.ndarray:
    """Returns phi as a float32 array, if it is a legal task."""
    space = self._env.task_space
    phi = np.asarray(phi, np.float32)
    if phi.shape != (space.num_dims,):
      raise ValueError(
        f'phi has shape {list(phi.shape)}; allowed: [{space.num_dims}], '
        f'{space.num_entities} entities of {self._env.name} one after another.'
      )
    if not np.all(np.isfinite(phi)):
      raise ValueError(f'phi={phi.tolist()}; allowed: finite numbers.')
    feasible = space.feasible(tf.constant(phi)).numpy()
    if not feasible.all():
      nearest = space.clip(tf.constant(phi), randomness.root(0)).numpy()
      raise ValueError(
        f'phi={phi.tolist()} is not a legal task of {self._env.name}: '
        f'entities {np.flatnonzero(~feasible).tolist()} (counted from 0) lie '
        f'outside their region. The nearest legal task is about '
        f'{nearest.round(3).tolist()}.'
      )
    return phi


def _as_role_action(action: Any, role: types.Role, name: str) -> tf.Tensor:
  """Returns one role's action, int32 [1, n]."""
  array = np.asarray(action)
  is_right = (
    array.shape == (role.num_agents,)
    and np.issubdtype(array.dtype, np.integer)
    and np.all((array >= 0) & (array < role.num_actions))
  )
  if not is_right:
    num, most = role.num_agents, role.num_actions - 1
    raise ValueError(
      f'{name}={array.tolist()} ({array.dtype}, shape {list(array.shape)}); '
      f'allowed: {num} integer{"s" if num > 1 else ""} from 0 to {most}, '
      'one for each agent, as action_spec() says.'
    )
  return tf.constant(array[None], tf.int32)
