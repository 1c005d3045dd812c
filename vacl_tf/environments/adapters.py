# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""One world of any task as a multi-agent `dm_env.Environment`."""

from collections.abc import Iterator, Mapping
from typing import Any

import dm_env
import numpy as np
from dm_env import specs

from vacl_tf import environments
from vacl_tf.environments import base
from vacl_tf.environments import episodes

SampleTasks = episodes.SampleTasks


def dm_environment(
  name: str,
  num_agents: int | None = None,
  *,
  num_boxes: int | None = None,
  seed: int = 0,
  phi: np.ndarray | None = None,
  sample_tasks: SampleTasks | None = None,
  **constants: Any,
) -> 'DmEnv':
  """Returns one world of a task.

  Args:
    name: name of the task.
    num_agents: agents in the world; None for as many as num_boxes, if that is
      given, or else for the task's own number.
    num_boxes: boxes in the world, if the task has any; None for as many as
      num_agents, if that is given, or else for the task's own number.
    seed: seed of tasks and worlds; equal seeds give equal episodes.
    phi: [D] the task of every episode; if None, each episode draws a new task.
    sample_tasks: function that draws k tasks [k, D], given k and a seed; None
      draws target tasks.
    **constants: other constants of the task, such as its horizon.

  Raises:
    ImportError: the simulator of the world is not installed.
    ValueError: there is no such task, its constants are not possible, or phi is
      not a legal task.
  """
  world = environments.load(name, num_agents, num_boxes, **constants)
  return DmEnv(world, seed, phi=phi, sample_tasks=sample_tasks)


class DmEnv(dm_env.Environment):
  """One world, with the observations that its policies receive.

  Observations are a flat dict of arrays, `own` [n, F] and each kind of entity
  [n, m, F], with `<kind>_mask` [n, m] where a kind has one. Features that only
  the critic observes are left out. Rewards are float32 [n]. Actions with one
  choice are int32 [n], with several choices int32 [n, heads], and continuous
  ones float32 [n, dims]. With several roles, observations are called
  `<role>/<name>`, and actions and rewards are dicts by role. `progress` and
  `task` are what the other views have in their infos.

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
      seed: seed of tasks and worlds; equal seeds give equal episodes.
      phi: task [D] of every episode; None to draw a new one for each episode.
      sample_tasks: draws the tasks if phi is None. It has the signature of
        `env.task_space.sample_easy`. None for target tasks, drawn by
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
    self._phi = phi
    if phi is not None:
      self._phi = episodes.legal_tasks(env, phi, 1, 'phi')
    self._episodes = episodes.Episodes(env, 1, seed, sample_tasks)
    self._progress: float | None = None
    self._action_specs = [
      episodes.action_spec(role, role.num_agents) for role in env.roles
    ]
    bounds = {
      prefix + kind: bound
      for prefix, by_kind in zip(
        self._prefixes(), env.observation_bounds(), strict=True
      )
      for kind, bound in by_kind.items()
    }
    self._observation_spec = {
      name: _spec(name, array, bounds.get(name))
      for name, array in self._observation().items()
    }

  @property
  def simulator(self) -> base.Simulator:
    """The simulator of the world: a batch of one."""
    return self._episodes.simulator

  @property
  def state(self) -> Any:
    """The current state, for `World.pictures`; None before an episode."""
    return self._episodes.state

  @property
  def task(self) -> np.ndarray | None:
    """The task [D] of the latest episode; None before the first one."""
    phi = self._episodes.phi
    return None if phi is None else phi[0].copy()

  @property
  def progress(self) -> float | None:
    """Coverage or success, in [0, 1], after a step; None after a reset."""
    return self._progress

  def reset(
    self,
    *,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
  ) -> dm_env.TimeStep:
    """Begins an episode.

    Args:
      seed: restarts the sequence of episodes; None to continue it.
      options: {'task': phi} sets the task of this episode only.

    Raises:
      ValueError: the seed is not valid, the task is not legal, or an option is
        not supported. The episode in progress continues.
    """
    phi = episodes.strict_options(options, self._env).task
    if phi is None:
      phi = self._phi
    else:
      phi = episodes.legal_tasks(self._env, phi, 1, "options['task']")
    self._episodes.reset(seed, phi)
    self._progress = None
    return dm_env.restart(self._observation())

  def step(self, action: Any) -> dm_env.TimeStep:
    """Plays one action of every agent, or resets after a last step.

    Args:
      action: an array that fits `action_spec`; with several roles, a dict of
        such arrays by role.

    Returns:
      Observations and rewards.

    Raises:
      ValueError: the action does not fit `action_spec`.
    """
    if not self._episodes.is_playing:
      return self.reset()
    step = self._episodes.step(self._as_actions(action))
    self._progress = float(step.progress[0])
    observation = self._observation()
    reward = self._by_role([reward[0] for reward in step.reward])
    if step.is_terminated[0]:
      return dm_env.termination(reward, observation)
    if step.is_truncated[0]:
      return dm_env.truncation(reward, observation)
    return dm_env.transition(reward, observation)

  def observation_spec(self) -> dict[str, specs.Array]:
    """Returns the specs of the observed arrays by name."""
    return self._observation_spec

  def action_spec(self) -> Any:
    """Returns the spec of the actions; with several roles, a dict by role."""
    return self._by_role(self._action_specs)

  def reward_spec(self) -> Any:
    """Returns the spec of the rewards; with several roles, a dict by role."""
    return self._by_role(
      [
        specs.Array([role.num_agents], np.float32, 'reward')
        for role in self._env.roles
      ]
    )

  def close(self) -> None:
    """Releases the world's resources; a second call does nothing."""
    self._episodes.close()

  def _by_role(self, values: list[Any]) -> Any:
    """Returns the only role's value, or a dict of values by role."""
    if len(values) == 1:
      return values[0]
    names = [role.name for role in self._env.roles]
    return dict(zip(names, values, strict=True))

  def _prefixes(self) -> Iterator[str]:
    """Yields the prefix of the observation names of each role."""
    for role in self._env.roles:
      yield f'{role.name}/' if len(self._env.roles) > 1 else ''

  def _observation(self) -> dict[str, np.ndarray]:
    pairs = zip(self._prefixes(), self._episodes.observe(), strict=True)
    return {
      prefix + name: array[0]
      for prefix, observation in pairs
      for name, array in episodes.named(observation).items()
    }

  def _as_actions(self, action: Any) -> tuple[np.ndarray, ...]:
    """Returns the action of each role, [1, n, ...]."""
    roles = self._env.roles
    if len(roles) == 1:
      return (self._as_action(action, 0, 'action'),)
    names = [role.name for role in roles]
    if not isinstance(action, Mapping) or set(action) != set(names):
      raise ValueError(
        f'action={action!r} is not a dict by role; allowed keys: '
        f'{", ".join(names)}. Give an array for each.'
      )
    return tuple(
      self._as_action(action[name], index, f'action[{name!r}]')
      for index, name in enumerate(names)
    )

  def _as_action(self, action: Any, role: int, name: str) -> np.ndarray:
    """Checks and returns one role's action [1, n, ...]."""
    spec = self._action_specs[role]
    return episodes.checked_action(action, spec, name, 'action_spec()')[None]


def _spec(
  name: str, array: np.ndarray, bounds: base.Bounds | None
) -> specs.Array:
  """Returns the spec of an observed array; bounds are None if it has none."""
  if bounds is None:
    return specs.Array(array.shape, array.dtype, name)
  return specs.BoundedArray(array.shape, array.dtype, *bounds, name)
