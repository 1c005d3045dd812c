# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""One world of any task as a multi-agent `dm_env.Environment`."""

from collections.abc import Callable, Iterator, Mapping
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
  """One world, with the observations that its policies get.

  Observations are a flat dict of arrays, `own` [n, F] and each kind of entity
  [n, m, F], with `<kind>_mask` [n, m] where a kind has one. Features that only
  the critic observes are left out. Rewards are float32 [n]. Actions of one
  choice are int32 [n], of several choices int32 [n, heads], and continuous ones
  float32 [n, dims]. With several roles, observations are called
  `<role>/<name>`, and actions and rewards are dicts by role.

  The last step is a termination, with discount 0, only if the world ends
  there; a world that is merely cut off at the horizon keeps discount 1. A world
  that ends earlier ends the episode.
  """

  def __init__(
    self,
    env: base.World,
    seed: int = 0,
    *,
    phi: np.ndarray | None = None,
    sample_tasks: SampleTasks | None = None,
  ) -> None:
    """Initialises the view.

    Args:
      env: the world.
      seed: of tasks and worlds; with equal seeds, episodes are equal.
      phi: [D] the task of every episode, drawn anew each time if None.
      sample_tasks: draws tasks where phi is None, called as
        `env.task_space.sample_easy` is; by default tasks of the target
        distribution, `env.task_space.sample_target`.

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
    self._phi = None if phi is None else _as_legal_task(env, phi)
    self._sample_tasks = sample_tasks or env.task_space.sample_target
    self._seed = randomness.root(seed)
    self._num_episodes = 0
    self._num_steps = 0
    self._is_playing = False  # Until the first reset, and after a last step.
    self._simulator = env.make_simulator(1)
    task_seed, place_seed = randomness.split(self._seed, 2)
    self._place(env.task_space.sample_easy(1, task_seed)[0], place_seed)
    bounds = [
      (name, bound)
      for prefix, by_kind in zip(
        self._prefixes(), env.observation_bounds(), strict=True
      )
      for name, bound in ((prefix + kind, x) for kind, x in by_kind.items())
    ]
    self._observation_spec = {
      name: _spec(name, array, dict(bounds).get(name))
      for name, array in self._observation().items()
    }

  @property
  def simulator(self) -> base.Simulator:
    """The batch of one world that this shows."""
    return self._simulator

  @property
  def state(self) -> Any:
    """What `World.pictures` needs of the present; None before an episode."""
    return self._simulator.state if self._num_episodes else None

  def reset(self) -> dm_env.TimeStep:
    seed = randomness.fold(self._seed, self._num_episodes)
    task_seed, place_seed = randomness.split(seed, 2)
    self._num_episodes += 1
    phi = self._phi
    if phi is None:
      phi = _as_legal_task(self._env, self._sample_tasks(1, task_seed)[0])
    self._place(phi, place_seed)
    self._num_steps = 0
    self._is_playing = True
    return dm_env.restart(self._observation())

  def step(self, action: Any) -> dm_env.TimeStep:
    """Plays one action of every agent, or resets after a last step.

    Args:
      action: an array as `action_spec` says; with several roles, a dict of
        them by role.

    Returns:
      Observations and rewards.

    Raises:
      ValueError: the action is not of that kind.
    """
    if not self._is_playing:
      return self.reset()
    outcome = self._simulator.step(self._as_actions(action))
    self._num_steps += 1
    observation = self._observation()
    reward = self._by_role([reward[0] for reward in outcome.reward])
    if outcome.discount[0] == 0.0:
      self._is_playing = False
      return dm_env.termination(reward, observation)
    if self._num_steps < self._env.horizon:
      return dm_env.transition(reward, observation)
    self._is_playing = False
    return dm_env.truncation(reward, observation)

  def observation_spec(self) -> dict[str, specs.Array]:
    return self._observation_spec

  def action_spec(self) -> Any:
    return self._by_role([_action_spec(role) for role in self._env.roles])

  def reward_spec(self) -> Any:
    return self._by_role(
      [
        specs.Array([role.num_agents], np.float32, 'reward')
        for role in self._env.roles
      ]
    )

  def close(self) -> None:
    self._simulator.close()

  def _place(self, phi: np.ndarray | tf.Tensor, seed: types.Seed) -> None:
    numbers = seed.numpy().view(np.uint32).tolist()
    self._simulator.place(np.asarray(phi)[None], numbers)

  def _by_role(self, values: list[Any]) -> Any:
    """Returns the only role's value, or a dict of values by role."""
    if len(values) == 1:
      return values[0]
    names = [role.name for role in self._env.roles]
    return dict(zip(names, values, strict=True))

  def _prefixes(self) -> Iterator[str]:
    """Yields what begins the names of each role's observations."""
    for role in self._env.roles:
      yield f'{role.name}/' if len(self._env.roles) > 1 else ''

  def _observation(self) -> dict[str, np.ndarray]:
    named = {}
    pairs = zip(self._prefixes(), self._simulator.observe(), strict=True)
    for prefix, observation in pairs:
      arrays = {'own': observation.own, **observation.entities}
      masks = observation.masks.items()
      arrays |= {f'{kind}_mask': mask for kind, mask in masks}
      for name, array in arrays.items():
        named[prefix + name] = array[0]
    return named

  def _as_actions(self, action: Any) -> tuple[np.ndarray, ...]:
    """Returns the action of each role, [1, n, ...]."""
    roles = self._env.roles
    if len(roles) == 1:
      return (_as_role_action(action, roles[0], 'action'),)
    names = [role.name for role in roles]
    if not isinstance(action, Mapping) or set(action) != set(names):
      raise ValueError(
        f'action={action!r} is not a dict by role; allowed keys: '
        f'{", ".join(names)}. Give an array for each.'
      )
    return tuple(
      _as_role_action(action[role.name], role, f'action[{role.name!r}]')
      for role in roles
    )


def _spec(
  name: str, array: np.ndarray, bounds: base.Bounds | None
) -> specs.Array:
  """Returns the spec of an observed array, given its bounds if it has any."""
  if bounds is None:
    return specs.Array(array.shape, array.dtype, name)
  return specs.BoundedArray(array.shape, array.dtype, *bounds, name)


def _action_spec(role: types.Role) -> specs.BoundedArray:
  """Returns the spec of the actions [n, ...] of a role's agents."""
  one = role.action
  shape = (role.num_agents, *one.shape)
  return specs.BoundedArray(
    shape, one.dtype, one.minimum, one.maximum, one.name
  )


def _as_role_action(action: Any, role: types.Role, name: str) -> np.ndarray:
  """Returns one role's action [1, n, ...], if it is one."""
  array, spec = np.asarray(action), _action_spec(role)
  is_discrete = np.issubdtype(spec.dtype, np.integer)
  kinds = (np.integer,) if is_discrete else (np.integer, np.floating)
  if (
    array.shape == spec.shape
    and any(np.issubdtype(array.dtype, kind) for kind in kinds)
    and np.all((array >= spec.minimum) & (array <= spec.maximum))
  ):
    return array[None].astype(spec.dtype)
  what = 'integer' if is_discrete else 'number'
  if role.action.shape:
    allowed = f'{what}s of shape {list(spec.shape)}'
  else:
    allowed = f'{role.num_agents} {what}{"s" if role.num_agents > 1 else ""}'
  raise ValueError(
    f'{name}={array.tolist()} ({array.dtype}, shape {list(array.shape)}); '
    f'allowed: {allowed} from {spec.minimum.tolist()} to '
    f'{spec.maximum.tolist()}, one for each agent, as action_spec() says.'
  )


def _as_legal_task(env: base.World, phi: np.ndarray | tf.Tensor) -> np.ndarray:
  """Returns phi as a float32 array, if it is a legal task."""
  space = env.task_space
  phi = np.asarray(phi, np.float32)
  if phi.shape != (space.num_dims,):
    raise ValueError(
      f'phi has shape {list(phi.shape)}; allowed: [{space.num_dims}], '
      f'{space.num_entities} entities of {env.name} one after another.'
    )
  if not np.all(np.isfinite(phi)):
    raise ValueError(f'phi={phi.tolist()}; allowed: finite numbers.')
  feasible = np.asarray(space.feasible(tf.constant(phi)))
  if not feasible.all():
    nearest = np.asarray(space.clip(tf.constant(phi), randomness.root(0)))
    raise ValueError(
      f'phi={phi.tolist()} is not a legal task of {env.name}: entities '
      f'{np.flatnonzero(~feasible).tolist()} (counted from 0) lie outside '
      'their region, or on others. The nearest legal task is about '
      f'{nearest.round(3).tolist()}.'
    )
  return phi
