# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""One world of any task as a `pettingzoo.ParallelEnv`."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from vacl_tf import environments
from vacl_tf.environments import base
from vacl_tf.environments import episodes
from vacl_tf.environments import spaces
from vacl_tf.environments import window

try:
  import pettingzoo
except ImportError:
  raise ImportError(
    'PettingZoo is not installed, which this view needs: pip install pettingzoo'
  ) from None


def parallel_env(
  name: str,
  num_agents: int | None = None,
  *,
  num_boxes: int | None = None,
  seed: int = 0,
  observations: str = spaces.FLAT,
  render_mode: str | None = None,
  **constants: Any,
) -> 'ParallelEnv':
  """Returns one world of a task.

  `pettingzoo.utils.parallel_to_aec` turns it into an AEC environment.

  Args:
    name: name of the task.
    num_agents: agents in the world; None for as many as num_boxes, if that is
      given, or else for the task's own number.
    num_boxes: boxes in the world, if the task has any; None for as many as
      num_agents, if that is given, or else for the task's own number.
    seed: seed of the episodes until a reset gives another.
    observations: 'flat' for one vector per agent, 'dict' for arrays by name.
    render_mode: mode of `render`: 'rgb_array', 'human' or None.
    **constants: other constants of the task, such as its horizon.

  Raises:
    ImportError: PettingZoo or the simulator of the world is not installed.
    ValueError: there is no such task, or its constants are not possible.
  """

  def make(num_agents: int | None) -> base.World:
    return environments.load(name, num_agents, num_boxes, **constants)

  return ParallelEnv(
    make(num_agents),
    seed,
    observations=observations,
    render_mode=render_mode,
    with_agents=make,
  )


class _Layout:
  """The agents of one world, by name.

  Attributes:
    episodes: episodes of the world.
    agents: names of the agents, by role.
    places: role and index of each agent.
    observation_spaces: observation spaces by agent.
    action_spaces: action spaces by agent.
    state_space: space of the observations of all agents together.
    is_stale: whether another layout has been reset with a new seed since the
      last reset of this one.
  """

  def __init__(self, env: base.World, seed: int, observations: str) -> None:
    self.episodes = episodes.Episodes(env, 1, seed)
    self.is_stale = False
    self.agents = [
      [f'{role.name}_{index}' for index in range(role.num_agents)]
      for role in env.roles
    ]
    self.places = {
      agent: (which, index)
      for which, agents in enumerate(self.agents)
      for index, agent in enumerate(agents)
    }
    seen, bounds = self.episodes.observe(), env.observation_bounds()
    # A separate space for each agent, as sampling changes the state of a space.
    self.observation_spaces = {
      agent: spaces.observation_space(seen[which], bounds[which], observations)
      for agent, (which, _) in self.places.items()
    }
    self.action_spaces = {
      agent: spaces.action_space(env.roles[which])
      for agent, (which, _) in self.places.items()
    }
    self.state_space = spaces.joined(
      spaces.observation_space(seen[which], bounds[which], spaces.FLAT)
      for which, _ in self.places.values()
    )
    self._specs = [
      episodes.action_spec(role, role.num_agents) for role in env.roles
    ]

  def actions(self, actions: Any) -> tuple[np.ndarray, ...]:
    """Checks and returns the actions [1, n, ...] of each role."""
    names = ', '.join(self.places)
    if not isinstance(actions, Mapping):
      raise ValueError(
        f'actions={actions!r} is not a dict by agent; allowed keys: {names}'
      )
    if actions.keys() != self.places.keys():
      missing = [agent for agent in self.places if agent not in actions]
      unknown = [agent for agent in actions if agent not in self.places]
      raise ValueError(
        f'actions lack {missing} and have the unknown agents {unknown}; give '
        f'one for each of {names}'
      )
    return tuple(
      self._of_role(which, actions)[None] for which in range(len(self.agents))
    )

  def _of_role(self, which: int, actions: Mapping[str, Any]) -> np.ndarray:
    """Checks and returns the actions [n, ...] of a role's agents."""
    agents, source = self.agents[which], 'action_space(agent)'
    together = [actions[agent] for agent in agents]
    try:
      return episodes.checked_action(
        together, self._specs[which], 'actions', source
      )
    except ValueError:  # Find the agent, to name it in the message.
      one = episodes.action_spec(self.episodes.env.roles[which])
      for agent in agents:
        name = f'actions[{agent!r}]'
        episodes.checked_action(actions[agent], one, name, source)
      raise


class ParallelEnv(pettingzoo.ParallelEnv):
  """One world; agents are called `<role>_<index>`, such as agent_0.

  All agents end together: terminated if the world ends with the last step,
  truncated if it is merely cut off at the horizon. Infos have the task after a
  reset, and the progress of the world, in [0, 1], after a step.
  """

  def __init__(
    self,
    env: base.World,
    seed: int = 0,
    *,
    observations: str = spaces.FLAT,
    render_mode: str | None = None,
    with_agents: Callable[[int], base.World] | None = None,
  ) -> None:
    """Initialises the view.

    Args:
      env: the world.
      seed: seed of the episodes until a reset gives another.
      observations: 'flat' for one vector per agent, 'dict' for arrays by name.
      render_mode: mode of `render`: 'rgb_array', 'human' or None.
      with_agents: returns the world with another number of agents, for resets
        that ask for one; None if there is no such world.

    Raises:
      ValueError: an argument is not possible.
    """
    spaces.check_modes(observations, render_mode)
    self.metadata = {
      'name': env.name,
      'is_parallelizable': True,
      **spaces.metadata(),
    }
    self.render_mode = render_mode
    self.agents: list[str] = []
    self._observations = observations
    self._with_agents = with_agents
    self._seed = seed
    self._window = window.Window(env.name)
    self._layout = _Layout(env, seed, observations)
    # By number of agents. They are kept, so that worlds stay compiled.
    self._layouts = {env.task_space.num_agents: self._layout}

  @property
  def possible_agents(self) -> list[str]:
    """The agents of the current world."""
    return list(self._layout.places)

  @property
  def unwrapped(self) -> 'ParallelEnv':
    """This view."""
    return self

  @property
  def simulator(self) -> base.Simulator:
    """The simulator of the world: a batch of one."""
    return self._layout.episodes.simulator

  @property
  def state_space(self) -> spaces.Space:
    """The space of `state`."""
    return self._layout.state_space

  def state(self) -> np.ndarray:
    """Returns the observations of all agents as one vector.

    A centralised critic may use it.
    """
    seen = self._layout.episodes.observe()
    vectors = [spaces.observed(x, spaces.FLAT)[0].ravel() for x in seen]
    return np.concatenate(vectors)

  def observation_space(self, agent: str) -> spaces.Space:
    return self._layout.observation_spaces[agent]

  def action_space(self, agent: str) -> spaces.Space:
    return self._layout.action_spaces[agent]

  def reset(
    self,
    seed: int | None = None,
    options: Mapping[str, Any] | None = None,
  ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Begins an episode.

    Args:
      seed: restarts the sequence of episodes, for every number of agents; None
        to continue it.
      options: 'task', a task vector [D] for this episode, and 'num_agents', the
        number of agents from now on. Another number changes `possible_agents`
        and the spaces. Unknown options are ignored with a warning, because
        PettingZoo's own tests pass some.

    Returns:
      Observations and infos by agent.

    Raises:
      ValueError: the seed, the task or the number of agents is not possible.
        The episode in progress continues.
    """
    wanted, wrong = episodes.read_options(options)
    if wrong:
      warnings.warn(f'{wrong}. They are ignored.', stacklevel=2)
    layout = self._of_size(wanted.num_agents)
    phi = wanted.task
    if phi is not None:
      env = layout.episodes.env
      phi = episodes.legal_tasks(env, phi, 1, "options['task']")
    is_late = seed is None and layout.is_stale
    layout.episodes.reset(self._seed if is_late else seed, phi)
    if seed is not None:
      self._seed = seed
      for other in self._layouts.values():
        other.is_stale = True
    layout.is_stale = False
    self._layout, self.agents = layout, list(layout.places)
    self._show()
    infos = {
      agent: {'task': layout.episodes.phi[0].copy()} for agent in self.agents
    }
    return self._observed(), infos

  def step(
    self, actions: Mapping[str, Any]
  ) -> tuple[
    dict[str, Any],
    dict[str, float],
    dict[str, bool],
    dict[str, bool],
    dict[str, dict[str, Any]],
  ]:
    """Plays one action of every agent.

    Args:
      actions: actions by agent.

    Returns:
      Observations, rewards, terminations, truncations and infos by agent.

    Raises:
      ValueError: no episode is in progress, an agent is missing, or an action
        is not valid. The world is not stepped then.
    """
    layout = self._layout
    layout.episodes.check_playing()
    step = layout.episodes.step(layout.actions(actions))
    self._show()
    places, agents = layout.places, self.agents
    terminated, truncated = (
      bool(step.is_terminated[0]),
      bool(step.is_truncated[0]),
    )
    progress = float(step.progress[0])
    rewards = [reward[0].tolist() for reward in step.reward]
    if terminated or truncated:
      self.agents = []
    return (
      self._observed(),
      {agent: rewards[which][i] for agent, (which, i) in places.items()},
      dict.fromkeys(agents, terminated),
      dict.fromkeys(agents, truncated),
      {agent: {'progress': progress} for agent in agents},
    )

  def render(self) -> base.Picture | None:
    """Returns a picture of the world in mode 'rgb_array', or shows it."""
    [picture] = spaces.pictures(self._layout.episodes, self.render_mode)
    if self.render_mode == 'rgb_array':
      return picture
    self._window.show(picture)
    return None

  def close(self) -> None:
    """Releases the resources of the worlds; a second call does nothing."""
    self.agents = []
    self._window.close()
    for layout in self._layouts.values():
      layout.episodes.close()

  def _show(self) -> None:
    """Updates the window in mode 'human', as PettingZoo requires."""
    if self.render_mode == 'human':
      self.render()

  def _of_size(self, num_agents: int | None) -> _Layout:
    """Returns the layout for a number of agents; None for the current one."""
    self._layout.episodes.check_open()
    if num_agents is None:
      return self._layout
    num_agents = episodes.checked_num_agents(num_agents)
    if num_agents not in self._layouts:
      if self._with_agents is None:
        raise ValueError(
          f"options['num_agents']={num_agents}; allowed: "
          f'{len(self.possible_agents)}. For other numbers pass with_agents to '
          'ParallelEnv.'
        )
      env = self._with_agents(num_agents)
      self._layouts[num_agents] = _Layout(env, self._seed, self._observations)
    return self._layouts[num_agents]

  def _observed(self) -> dict[str, Any]:
    """Returns what each agent observes."""
    by_role = [
      spaces.observed(seen, self._observations)
      for seen in self._layout.episodes.observe()
    ]
    return {
      agent: spaces.of_agent(by_role[which], 0, index)
      for agent, (which, index) in self._layout.places.items()
    }
