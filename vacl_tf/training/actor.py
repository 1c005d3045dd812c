# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Acts in one world with a trained policy, step by step."""

import dataclasses
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import environments
from vacl_tf import randomness
from vacl_tf import reading
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import checked_simulator
from vacl_tf.environments import episodes
from vacl_tf.training import export
from vacl_tf.training import policy_files

_MASK = '_mask'


def load_actor(
  path: str | pathlib.Path, *, seed: int = 0, greedy: bool = True
) -> 'Actor':
  """Returns an exported policy that acts in one world.

  Args:
    path: a run folder that has a saved_model folder, or that folder.
    seed: seed of the actions that are drawn.
    greedy: whether to take the most likely actions instead of drawing them.

  Raises:
    ValueError: the path holds no exported policy, the policy can't be used, or
      the seed is not valid.
  """
  policy, facts = policy_files.load_policy(path)
  trained = policy_files.trained_world(pathlib.Path(path), facts)

  def make(num_agents: int) -> base.World:
    return environments.make(_with_agents(trained, num_agents))

  env = environments.make(trained)
  return Actor(policy, env, make, seed=seed, greedy=greedy)


def _with_agents(
  trained: config.EnvironmentConfig, num_agents: int
) -> config.EnvironmentConfig:
  """Returns the constants of a world with another number of agents."""
  if num_agents == trained.num_agents:
    return trained
  wanted = catalog.TASKS.get(trained.name).with_counts(num_agents=num_agents)
  counts = zip(wanted.count_fields, wanted.counts, strict=True)
  return dataclasses.replace(trained, **dict(counts))


class Actor:
  """A trained policy in one world.

  `actor(observation)` takes `timestep.observation` of `vacl_tf.dm_environment`,
  or the observations by agent of `vacl_tf.parallel_env`, for any number of
  agents. It returns what `step` of that view takes: an array of actions
  [n, ...] (with several roles, a dict of such arrays by role), or a dict of
  actions by agent. An actor may have a memory, so `reset` it before each
  episode.

  Observations by agent should be dicts, as `observations='dict'` makes them.
  Flat ones are understood if the world has as many entities as the one that the
  policy was trained in or, with another number of agents, as many of each kind
  as agents.

  Actions are drawn with the seed (seed, number of earlier calls); a reset does
  not set this number back, so that episodes differ.
  """

  def __init__(
    self,
    policy: export.Policy,
    env: base.World,
    with_agents: Callable[[int], base.World],
    *,
    seed: int = 0,
    greedy: bool = True,
  ) -> None:
    """Initialises the actor.

    Args:
      policy: an exported policy.
      env: the world in which the policy was trained.
      with_agents: returns the world with this number of agents.
      seed: seed of the actions that are drawn.
      greedy: whether to take the most likely actions instead of drawing them.

    Raises:
      ValueError: the seed is not valid.
    """
    randomness.root(seed)
    self._policy = policy
    self._task, self._roles = env.name, env.roles
    self._with_agents = with_agents
    self._seed = seed
    self._greedy = tf.constant(bool(greedy))
    self._num_steps = 0
    # By number of agents: the shapes of the parts of each role's flat vector.
    self._layouts: dict[int, list[dict[str, tf.TensorShape]]] = {}
    self._names = [
      f'{self._start(role)}{name}'
      for role in self._roles
      for name in export.specs((role,))
    ]
    self.reset()

  def reset(self) -> None:
    """Forgets the past; call it before each episode."""
    self._memory: dict[str, tf.Tensor] | None = None
    self._counts: list[int] = []

  def __call__(self, observation: Mapping[str, Any]) -> Any:
    """Returns the actions of all agents.

    Args:
      observation: what they observe, as a view returned it.

    Returns:
      Actions, as that view's `step` takes them.

    Raises:
      ValueError: it is not an observation of the policy's task, or the number
        of agents has changed without a reset.
    """
    if not isinstance(observation, Mapping):
      raise ValueError(
        f'observation is of type {type(observation).__name__}; allowed: a '
        'dict. Give timestep.observation of vacl_tf.dm_environment or the '
        'observations of vacl_tf.parallel_env.'
      )
    if not observation.keys().isdisjoint(self._names):
      actions = self._act(observation)
      if len(self._roles) == 1:
        return actions[0]
      names = [role.name for role in self._roles]
      return dict(zip(names, actions, strict=True))
    agents = self._agents(observation)
    actions = self._act(self._together(observation, agents))
    return {
      agent: action
      for names, array in zip(agents, actions, strict=True)
      for agent, action in zip(names, array, strict=True)
    }

  def _start(self, role: types.Role) -> str:
    """Returns how the dm_env view begins the names of a role's arrays."""
    return f'{role.name}/' if len(self._roles) > 1 else ''

  def _act(self, observation: Mapping[str, Any]) -> list[np.ndarray]:
    """Returns each role's actions [n, ...], given arrays of the dm_env view."""
    _check_keys('observation', observation, self._names, self._task)
    given, counts = {}, []
    for role in self._roles:
      arrays = _arrays(role, self._start(role), observation)
      counts.append(len(arrays['own']))
      start = export.prefix(self._roles, role)
      given |= {
        start + name: tf.constant(x[None]) for name, x in arrays.items()
      }
    memory = self._remembered(counts)
    found = self._policy.act(
      seed=randomness.root(self._seed, self._num_steps),
      greedy=self._greedy,
      **given,
      **memory,
    )
    self._memory = {name: found[name] for name in memory}
    self._num_steps += 1
    starts = [export.prefix(self._roles, role) for role in self._roles]
    return [found[f'{start}action'][0].numpy() for start in starts]

  def _remembered(self, counts: list[int]) -> dict[str, tf.Tensor]:
    """Returns the memory of these numbers of agents, by role."""
    if self._memory is None:
      self._counts = counts
      self._memory = self._policy.initial_state(
        tf.constant(1), tf.constant(counts if len(counts) > 1 else counts[0])
      )
    elif self._memory and counts != self._counts:
      raise ValueError(
        f'observation is of {sum(counts)} agents, the one before was of '
        f'{sum(self._counts)}; call reset() before an episode with others'
      )
    return self._memory

  def _agents(self, observation: Mapping[str, Any]) -> list[list[str]]:
    """Returns the names of the agents of each role.

    Raises:
      ValueError: these are not agents as the PettingZoo view calls them.
    """
    kinds = [str(name).rpartition('_')[0] for name in observation]
    agents = [
      [f'{role.name}_{index}' for index in range(kinds.count(role.name))]
      for role in self._roles
    ]
    if not all(agents) or set(sum(agents, [])) != observation.keys():
      raise ValueError(
        f'observation has the keys {reading.one_line(list(observation))}; '
        f'allowed in {self._task}: {", ".join(self._names)}, or agents such as '
        f'{", ".join(f"{role.name}_0" for role in self._roles)}, counted from 0'
      )
    return agents

  def _together(
    self, observation: Mapping[str, Any], agents: list[list[str]]
  ) -> dict[str, list[Any]]:
    """Returns observations by agent as the dm_env view names them."""
    found, num_agents = {}, sum(map(len, agents))
    for index, role in enumerate(self._roles):
      names = list(export.specs((role,)))
      seen = []
      for agent in agents[index]:
        place, one = f'observation[{agent!r}]', observation[agent]
        if not isinstance(one, Mapping):
          one = self._split(one, index, num_agents, place)
        _check_keys(place, one, names, self._task)
        seen.append(one)
      start = self._start(role)
      found |= {start + name: [one[name] for one in seen] for name in names}
    return found

  def _split(
    self, vector: Any, role: int, num_agents: int, place: str
  ) -> dict[str, np.ndarray]:
    """Returns the parts of a flat observation by name.

    Args:
      vector: the observation.
      role: index of the agent's role.
      num_agents: number of agents of all roles.
      place: what the vector is called in messages.
    """
    if num_agents not in self._layouts:
      env = self._with_agents(num_agents)
      self._layouts[num_agents] = [
        {name: x.shape[2:] for name, x in episodes.named(seen).items()}
        for seen in checked_simulator.first_observations(env)
      ]
    shapes = self._layouts[num_agents][role]
    ends = np.cumsum([x.num_elements() for x in shapes.values()])
    array = _array(vector)
    if array.shape != (ends[-1],):
      raise ValueError(
        f'{place} has shape {list(array.shape)}; allowed: [{ends[-1]}], as in '
        f'{self._task} with {num_agents} agents, or a dict of arrays. Make the '
        "view with observations='dict'."
      )
    parts = np.split(array, ends[:-1])
    return {
      name: part.reshape(shape)
      for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }


def _check_keys(
  place: str, given: Mapping[str, Any], names: list[str], task: str
) -> None:
  """Raises ValueError if the arrays of an observation are not those named."""
  if given.keys() != set(names):
    raise ValueError(
      f'{place} has the arrays {reading.one_line(list(given))}; allowed: '
      f'{", ".join(names)}, as views of {task} make them'
    )


def _arrays(
  role: types.Role, start: str, observation: Mapping[str, Any]
) -> dict[str, np.ndarray]:
  """Returns the arrays [n, ...] of a role by name, after checking them."""
  found: dict[str, np.ndarray] = {}
  for name, spec in export.specs((role,)).items():
    shape = spec.shape[1:]
    if spec.dtype == tf.bool:
      shape = tf.TensorShape(found[name.removesuffix(_MASK)].shape[:2])
    elif found:
      shape = tf.TensorShape([len(found['own']), *shape[1:]])
    array = _array(observation[start + name])
    if array.dtype.kind not in 'biuf' or not shape.is_compatible_with(
      array.shape
    ):
      told = ', '.join('any' if x is None else str(x) for x in shape)
      raise ValueError(
        f'observation of {start}{name} by all agents has shape '
        f'{list(array.shape)} and type {array.dtype}; allowed: [{told}] '
        'numbers, those of one world'
      )
    found[name] = array.astype(spec.dtype.as_numpy_dtype)
  return found


def _array(value: Any) -> np.ndarray:
  """Returns an array; one of type object if the value is none."""
  try:
    return np.asarray(value)
  except (TypeError, ValueError):  # Rows of different lengths.
    return np.array(None)
