# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A gymnasium.Env as a world to train in; `gymnasium_view` is the reverse."""

from typing import TYPE_CHECKING, Any

import numpy as np

from vacl_tf.environments import base
from vacl_tf.environments import gymnasium_spaces
from vacl_tf.environments import one_world

if TYPE_CHECKING:
  import gymnasium


class GymnasiumWorld(one_world.OneWorld):
  """One agent in an environment that receives its task as a reset option.

  The environment has to understand reset(options={'task': task}), and step has
  to return info['progress'] in [0, 1]. It, or a wrapper around it, may have a
  method read_task() that returns the task of its current state. It is drawn if
  its render_mode is 'rgb_array'.
  """

  def __init__(self, env: 'gymnasium.Env') -> None:
    """Initialises the world.

    Args:
      env: the environment.

    Raises:
      base.WorldError: there is no policy for its actions.
    """
    self._env, self.wrapped = env, env.unwrapped
    self._spaces = env.action_space, env.observation_space
    self.action = gymnasium_spaces.action_spec(env.action_space, 'action_space')
    self._to_action = gymnasium_spaces.to_action(env.action_space)

  def reset(
    self, task: np.ndarray, rng: np.random.Generator
  ) -> one_world.Observation:
    env = self._env
    observation, _ = env.reset(
      seed=int(rng.integers(2**31)), options={'task': task}
    )
    for name, before in zip(
      ('action_space', 'observation_space'), self._spaces, strict=True
    ):
      now = getattr(env, name)
      if now != before:
        raise base.WorldError(
          f'{name}: {now}, but it was {before} before; it must not change'
        )
    return self._arrays(observation)

  def step(self, actions: np.ndarray) -> one_world.Step:
    action = self._to_action(actions[0])
    observation, reward, ended, cut, info = self._env.step(action)
    if 'progress' not in info:
      raise base.WorldError(
        f"info of step has the keys {sorted(info)}; expected 'progress' too, a "
        'number from 0 to 1'
      )
    return one_world.Step(
      self._arrays(observation), reward, info['progress'], ended, cut
    )

  def read_task(self) -> np.ndarray | None:
    if not self._env.has_wrapper_attr('read_task'):
      return None
    return self._env.get_wrapper_attr('read_task')()

  def render(self) -> np.ndarray | None:
    if self._env.render_mode != 'rgb_array':
      return None
    return self._env.render()

  def close(self) -> None:
    self._env.close()

  def _arrays(self, observation: Any) -> dict[str, np.ndarray]:
    return gymnasium_spaces.to_arrays(self._spaces[1], observation)
