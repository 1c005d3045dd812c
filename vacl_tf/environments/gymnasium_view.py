# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tasks of one agent as `gymnasium.Env`, and many worlds as a `VectorEnv`."""

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from vacl_tf import environments
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import episodes
from vacl_tf.environments import spaces
from vacl_tf.environments import window

try:
  import gymnasium
except ImportError:
  raise ImportError(
    'Gymnasium is not installed, which this view needs: pip install gymnasium'
  ) from None

_Info = dict[str, Any]


def gym_env(
  name: str,
  num_agents: int | None = None,
  *,
  num_boxes: int | None = None,
  seed: int = 0,
  observations: str = spaces.FLAT,
  render_mode: str | None = None,
  **constants: Any,
) -> 'GymEnv':
  """Returns one world of a task with one agent.

  Args:
    name: name of the task.
    num_agents: 1, or None if that is the task's own number.
    num_boxes: boxes in the world, if the task has any; None for as many as
      num_agents, if that is given, or else for the task's own number.
    seed: seed of the episodes until a reset gives another.
    observations: 'flat' for one vector, 'dict' for arrays by name.
    render_mode: mode of `render`: 'rgb_array', 'human' or None.
    **constants: other constants of the task, such as its horizon.

  Raises:
    ImportError: Gymnasium or the simulator of the world is not installed.
    ValueError: there is no such task, it has more than one agent, or its
      constants are not possible.
  """
  env = environments.load(name, num_agents, num_boxes, **constants)
  return GymEnv(env, seed, observations=observations, render_mode=render_mode)


def vector_env(
  name: str,
  num_agents: int | None = None,
  *,
  num_worlds: int,
  num_boxes: int | None = None,
  seed: int = 0,
  observations: str = spaces.FLAT,
  render_mode: str | None = None,
  **constants: Any,
) -> 'VectorEnv':
  """Returns a batch of worlds in which each agent is an environment.

  Args:
    name: name of the task.
    num_agents: agents in each world; None for as many as num_boxes, if that is
      given, or else for the task's own number.
    num_worlds: number of worlds (B); `num_envs` is B times the number of
      agents.
    num_boxes: boxes in each world, if the task has any; None for as many as
      num_agents, if that is given, or else for the task's own number.
    seed: seed of the episodes until a reset gives another.
    observations: 'flat' for one vector per agent, 'dict' for arrays by name.
    render_mode: mode of `render`: 'rgb_array' or None.
    **constants: other constants of the task, such as its horizon.

  Raises:
    ImportError: Gymnasium or the simulator of the worlds is not installed.
    ValueError: there is no such task, its constants are not possible, or its
      agents differ in what they observe or do.
  """
  env = environments.load(name, num_agents, num_boxes, **constants)
  return VectorEnv(
    env, num_worlds, seed, observations=observations, render_mode=render_mode
  )


class GymEnv(gymnasium.Env):
  """One world of one agent.

  Infos have the task after a reset, and the progress of the world, in [0, 1],
  after a step.
  """

  def __init__(
    self,
    env: base.World,
    seed: int = 0,
    *,
    observations: str = spaces.FLAT,
    render_mode: str | None = None,
  ) -> None:
    """Initialises the view.

    Args:
      env: the world.
      seed: seed of the episodes until a reset gives another.
      observations: 'flat' for one vector, 'dict' for arrays by name.
      render_mode: mode of `render`: 'rgb_array', 'human' or None.

    Raises:
      ValueError: an argument is not possible.
    """
    spaces.check_modes(observations, render_mode)
    num_agents = sum(role.num_agents for role in env.roles)
    if num_agents != 1:
      raise ValueError(
        f'{env.name} has {num_agents} agents; allowed in a gymnasium.Env: 1. '
        'Use vacl_tf.parallel_env, or vacl_tf.vector_env, where each agent is '
        'an environment.'
      )
    self.metadata = spaces.metadata()
    self.render_mode = render_mode
    self._observations = observations
    self._episodes = episodes.Episodes(env, 1, seed)
    self._window = window.Window(env.name)
    self._spec = episodes.action_spec(env.roles[0])
    self.action_space = spaces.action_space(env.roles[0])
    self.observation_space = spaces.observation_space(
      self._episodes.observe()[0], env.observation_bounds()[0], observations
    )

  @property
  def simulator(self) -> base.Simulator:
    """The simulator of the world: a batch of one."""
    return self._episodes.simulator

  def reset(
    self,
    *,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
  ) -> tuple[Any, _Info]:
    """Begins an episode.

    Args:
      seed: restarts the sequence of episodes; None to continue it.
      options: {'task': phi} sets the task [D] of this episode only.

    Raises:
      ValueError: the seed is not valid, the task is not legal, or an option is
        not supported. The episode in progress continues.
    """
    _begin(self._episodes, seed, options)
    super().reset(seed=None if seed is None else int(seed))
    self._show()
    return self._observed(), {'task': self._episodes.phi[0].copy()}

  def step(self, action: Any) -> tuple[Any, float, bool, bool, _Info]:
    """Plays one action.

    Returns:
      Observation, reward, whether the world ended, whether it was only cut off
      at the horizon, and info.

    Raises:
      ValueError: no episode is in progress, or the action is not valid. The
        world is not stepped then.
    """
    self._episodes.check_playing()
    array = episodes.checked_action(
      action, self._spec, 'action', 'action_space'
    )
    step = self._episodes.step((array[None, None],))
    self._show()
    return (
      self._observed(),
      float(step.reward[0][0, 0]),
      bool(step.is_terminated[0]),
      bool(step.is_truncated[0]),
      {'progress': float(step.progress[0])},
    )

  def render(self) -> base.Picture | None:
    """Returns a picture of the world in mode 'rgb_array', or shows it."""
    [picture] = spaces.pictures(self._episodes, self.render_mode)
    if self.render_mode == 'rgb_array':
      return picture
    self._window.show(picture)
    return None

  def close(self) -> None:
    """Releases the world's resources; a second call does nothing."""
    self._window.close()
    self._episodes.close()

  def _show(self) -> None:
    """Updates the window in mode 'human', as Gymnasium requires."""
    if self.render_mode == 'human':
      self.render()

  def _observed(self) -> Any:
    arrays = spaces.observed(self._episodes.observe()[0], self._observations)
    return spaces.of_agent(arrays, 0, 0)


class VectorEnv(gymnasium.vector.VectorEnv):
  """B worlds of n alike agents; each agent is one of B n environments.

  The agents of a world come one after another. All worlds begin together. At
  the horizon all of them begin new episodes in the same step: its observations
  are those of the new episodes, and infos have `final_obs` and `final_info`. If
  one of several worlds ends earlier, it continues from the start of its task,
  without `final_obs`. A single world that ends earlier begins a new episode, as
  at the horizon.
  """

  def __init__(
    self,
    env: base.World,
    num_worlds: int,
    seed: int = 0,
    *,
    observations: str = spaces.FLAT,
    render_mode: str | None = None,
  ) -> None:
    """Initialises the view.

    Args:
      env: the world.
      num_worlds: number of worlds (B).
      seed: seed of the episodes until a reset gives another.
      observations: 'flat' for one vector per agent, 'dict' for arrays by name.
      render_mode: mode of `render`: 'rgb_array' or None.

    Raises:
      ValueError: an argument is not possible.
    """
    spaces.check_modes(observations, render_mode, ('rgb_array',))
    if len(env.roles) > 1:
      names = ', '.join(role.name for role in env.roles)
      raise ValueError(
        f'{env.name} has agents of several roles: {names}; allowed in a '
        'VectorEnv: agents of one role. Use vacl_tf.parallel_env.'
      )
    if not isinstance(num_worlds, numbers.Integral) or num_worlds < 1:
      raise ValueError(f'num_worlds={num_worlds!r}; allowed: 1 or more')
    [role] = env.roles
    self.metadata = spaces.metadata(('rgb_array',)) | {
      'autoreset_mode': gymnasium.vector.AutoresetMode.SAME_STEP
    }
    self.render_mode = render_mode
    self.num_worlds = int(num_worlds)
    self.num_envs = self.num_worlds * role.num_agents
    self._role: types.Role = role
    self._observations = observations
    self._episodes = episodes.Episodes(env, self.num_worlds, seed)
    self._spec = episodes.action_spec(role, self.num_envs)
    self.single_action_space = spaces.action_space(role)
    self.single_observation_space = spaces.observation_space(
      self._episodes.observe()[0], env.observation_bounds()[0], observations
    )
    batch_space = gymnasium.vector.utils.batch_space
    self.action_space = batch_space(self.single_action_space, self.num_envs)
    self.observation_space = batch_space(
      self.single_observation_space, self.num_envs
    )

  @property
  def simulator(self) -> base.Simulator:
    """The simulator of the worlds."""
    return self._episodes.simulator

  def reset(
    self,
    *,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
  ) -> tuple[Any, _Info]:
    """Begins an episode in every world.

    Args:
      seed: restarts the sequence of episodes; None to continue it.
      options: {'task': phi} sets the tasks [B, D], or one task [D] for all
        worlds, of this episode only.

    Raises:
      ValueError: the seed is not valid, a task is not legal, or an option is
        not supported. The episode in progress continues.
    """
    _begin(self._episodes, seed, options)
    super().reset(seed=None if seed is None else int(seed))
    return self._observed(), self._task_info()

  def step(
    self, actions: Any
  ) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, _Info]:
    """Plays one action of every agent.

    Args:
      actions: [B n, ...].

    Returns:
      Observations, rewards [B n], whether worlds ended [B n], whether they were
      only cut off [B n], and infos.

    Raises:
      ValueError: no episode is in progress, or the actions are not valid. The
        worlds are not stepped then.
    """
    self._episodes.check_playing()
    array = episodes.checked_action(
      actions, self._spec, 'actions', 'action_space'
    )
    shape = [self.num_worlds, self._role.num_agents, *array.shape[1:]]
    step = self._episodes.step((array.reshape(shape),))
    info = self._info('progress', step.progress)
    if not self._episodes.is_playing:
      final = self._observed()
      is_final = np.ones([self.num_envs], bool)
      self._episodes.reset()
      info = {
        'final_obs': self._one_by_one(final),
        '_final_obs': is_final,
        'final_info': info,
        '_final_info': is_final.copy(),
        **self._task_info(),
      }
    return (
      self._observed(),
      step.reward[0].ravel().astype(np.float64),
      self._of_agents(step.is_terminated),
      self._of_agents(step.is_truncated),
      info,
    )

  def render(self) -> tuple[base.Picture, ...]:
    """Returns a picture of each world."""
    return tuple(spaces.pictures(self._episodes, self.render_mode))

  def close_extras(self, **kwargs: Any) -> None:
    """Releases the resources of the worlds."""
    self._episodes.close()

  def _observed(self) -> Any:
    """Returns what the agents observe, arrays [B n, ...]."""
    arrays = spaces.observed(self._episodes.observe()[0], self._observations)
    if isinstance(arrays, dict):
      return {name: _merged(array) for name, array in arrays.items()}
    return _merged(arrays)

  def _one_by_one(self, observations: Any) -> np.ndarray:
    """Returns [B n] objects, the observation of each agent."""
    found = np.empty([self.num_envs], object)
    for index in range(self.num_envs):
      found[index] = spaces.of_agent(observations, index)
    return found

  def _of_agents(self, values: np.ndarray) -> np.ndarray:
    """Returns the values [B, ...] of worlds for each agent, [B n, ...]."""
    return np.repeat(values, self._role.num_agents, 0)

  def _info(self, name: str, values: np.ndarray) -> _Info:
    """Returns values [B, ...] of worlds as infos of a VectorEnv."""
    there = np.ones([self.num_envs], bool)
    return {name: self._of_agents(values), f'_{name}': there}

  def _task_info(self) -> _Info:
    return self._info('task', self._episodes.phi)


def _begin(worlds: episodes.Episodes, seed: int | None, options: Any) -> None:
  """Resets worlds with the seed and the options from the user."""
  phi = episodes.strict_options(options, worlds.env).task
  if phi is not None:
    phi = episodes.legal_tasks(
      worlds.env, phi, worlds.num_worlds, "options['task']"
    )
  worlds.reset(seed, phi)


def _merged(array: np.ndarray) -> np.ndarray:
  """Returns an array [B, n, ...] as [B n, ...]."""
  return array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])
