# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""One world of hide-and-seek as a multi-agent `dm_env.Environment`."""

from collections.abc import Callable

import dm_env
import numpy as np
from dm_env import specs

from vacl_tf.environments.hide_and_seek import draws
from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.environments.hide_and_seek import task as task_lib

SampleTasks = Callable[[int, np.random.Generator], np.ndarray]


class DmEnv(dm_env.Environment):
  """One world, seen by those who act in it.

  Observations are a flat dict of float32 arrays, `own` [n, F] and each kind of
  entity [n, m, F]; `task.features` names and bounds the features. They are the
  actor's: in Lock-and-Return the own birthplace is 0, unless the task says
  otherwise. Actions are int32 [n, 5], see `mechanics.HEADS`; rewards are
  float32 [n]. The last step ends the world and has discount 0.
  """

  def __init__(
    self,
    task: task_lib.Task,
    seed: int = 0,
    *,
    phi: np.ndarray | None = None,
    sample_tasks: SampleTasks | None = None,
  ) -> None:
    """Makes the world.

    Args:
      task: what is played.
      seed: of tasks and worlds; with equal seeds, episodes are equal.
      phi: [D] the task of every episode, in cells; None to draw each anew.
      sample_tasks: draws tasks where phi is None, called as `task.sample_easy`
        is; by default `task.sample_uniform`.

    Raises:
      ValueError: phi is not a legal task, or both phi and sample_tasks are
        given.
    """
    if phi is not None and sample_tasks is not None:
      raise ValueError(
        'phi and sample_tasks are both given; allowed: one of them. Leave out '
        'phi to draw tasks, or sample_tasks to repeat one.'
      )
    self._task = task
    self._phi = phi if phi is None else self._as_legal_task(phi)
    self._sample_tasks = sample_tasks or task.sample_uniform
    self._seed = seed
    self._num_episodes = 0
    self._num_steps = task.horizon  # Until the first reset.
    self._worlds = environment.HideAndSeekWorlds(task, 1, threads=1)
    self._worlds.place(task.sample_easy(1, np.random.default_rng(0)), 0)
    shape = [len(task.actors), len(mechanics.HEADS)]
    most = np.array(mechanics.HEADS) - 1
    self._action_spec = specs.BoundedArray(shape, np.int32, 0, most, 'action')
    self._observation_spec = {
      name: specs.BoundedArray(
        array.shape,
        array.dtype,
        [feature.low for feature in task.features[name]],
        [feature.high for feature in task.features[name]],
        name,
      )
      for name, array in self._observation().items()
    }

  @property
  def worlds(self) -> environment.HideAndSeekWorlds:
    """The batch of one world that this shows."""
    return self._worlds

  def reset(self) -> dm_env.TimeStep:
    seed = draws.keys([self._seed, self._num_episodes], 2)
    self._num_episodes += 1
    self._num_steps = 0
    phi = self._phi
    if phi is None:
      [phi] = self._sample_tasks(1, np.random.default_rng(seed[0]))
      phi = self._as_legal_task(phi)
    self._worlds.place(phi[None], seed[1:])
    return dm_env.restart(self._observation())

  def step(self, action: np.ndarray) -> dm_env.TimeStep:
    """Plays one action of every agent, or resets after a last step.

    Args:
      action: integers [n, 5], choices of the five heads.

    Returns:
      What the agents see and get.

    Raises:
      ValueError: the action is not of that kind.
    """
    if self._num_steps == self._task.horizon:
      return self.reset()
    outcome = self._worlds.step(self._as_legal_action(action)[None])
    self._num_steps += 1
    is_last = self._num_steps == self._task.horizon
    end = dm_env.termination if is_last else dm_env.transition
    return end(outcome.reward[0], self._observation())

  def observation_spec(self) -> dict[str, specs.BoundedArray]:
    """Returns shapes and the bounds of the features."""
    return self._observation_spec

  def action_spec(self) -> specs.BoundedArray:
    return self._action_spec

  def reward_spec(self) -> specs.Array:
    return specs.Array([len(self._task.actors)], np.float32, 'reward')

  def _observation(self) -> dict[str, np.ndarray]:
    seen = self._worlds.observe().actor
    arrays = {'own': seen.own, **seen.entities}
    return {name: array[0] for name, array in arrays.items()}

  def _as_legal_action(self, action: np.ndarray) -> np.ndarray:
    """Returns an action [n, 5] as an array, if it is one."""
    array, spec = np.asarray(action), self._action_spec
    is_integer = np.issubdtype(array.dtype, np.integer)
    is_there = array.shape == spec.shape and is_integer
    if not is_there or np.any((array < 0) | (array > spec.maximum)):
      raise ValueError(
        f'action={array.tolist()} ({array.dtype}, shape {list(array.shape)}); '
        f'allowed: integers of shape {list(spec.shape)}, for each agent from 0 '
        f'to {[choices - 1 for choices in mechanics.HEADS]}, as action_spec() '
        'says.'
      )
    return array

  def _as_legal_task(self, phi: np.ndarray) -> np.ndarray:
    """Returns phi as a float32 array, if it is one legal task."""
    phi = self._task.grid.check(phi)
    if phi.ndim != 1:
      raise ValueError(
        f'phi has shape {list(phi.shape)}; allowed: '
        f'[{self._task.grid.num_dims}], one task'
      )
    return phi
