# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tasks of hide-and-seek as worlds to train in.

Of the modules of hide-and-seek, only this one, `egocentric` and
`grid_task_space` need TensorFlow.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import rendering
from vacl_tf.environments import shapes
from vacl_tf.environments.hide_and_seek import egocentric
from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek import grid_task_space
from vacl_tf.environments.hide_and_seek import mechanics
from vacl_tf.environments.hide_and_seek import task as task_lib
from vacl_tf.environments.hide_and_seek.rendering import drawing
from vacl_tf.environments.hide_and_seek.rendering import film
from vacl_tf.environments.hide_and_seek.rendering import palette


class HideAndSeek(base.HostWorld):
  """A task of hide-and-seek, simulated by MuJoCo.

  Attributes:
    task: the task, in NumPy.
  """

  is_terminal = True

  def __init__(self, task: task_lib.Task, counts: tuple[int, ...]) -> None:
    """Initialises the view.

    Args:
      task: the task to play.
      counts: entity counts of the task, acting agents first.
    """
    self.task = task
    self.name = task.name
    self.horizon = task.horizon
    self._counts = counts
    sizes = {kind: len(names) for kind, names in task.features.items()}
    self.roles = (
      types.Role(
        name='agent',
        num_agents=len(task.actors),
        action=types.multi_discrete(mechanics.HEADS),
        own_size=sizes.pop('own'),
        entity_sizes=sizes,
        critic_only_position=task.critic_only_position,
        egocentric=egocentric.Egocentric(),
      ),
    )
    self.task_space = grid_task_space.GridTaskSpace(
      task.grid, len(task.actors), task.alike
    )

  @property
  def num_vectors(self) -> int:
    # Every agent observes itself and all other entities, also those that phi
    # does not place.
    return len(self.task.actors) * self.task.cast.num_entities

  @property
  def counts(self) -> tuple[int, ...]:
    return self._counts

  def make_simulator(self, num_worlds: int) -> 'MujocoSimulator':
    return MujocoSimulator(self.task, num_worlds)

  def pictures(
    self, states: Sequence[task_lib.State]
  ) -> list[list[base.Picture]]:
    return film.shoot(self.task, states).frames

  @property
  def legend(self) -> tuple[tuple[str, shapes.Colour], ...]:
    return palette.legend(self.task.cast, self.task.teams)

  def draw(self, state: task_lib.State) -> list[shapes.Scene]:
    return drawing.scenes(self.task, state)

  def sketches(self, state: task_lib.State) -> list[base.Picture]:
    """Returns drawings from above, because MuJoCo's pictures take seconds."""
    return [rendering.render(scene) for scene in self.draw(state)]

  def observation_bounds(self) -> tuple[Mapping[str, base.Bounds], ...]:
    return (
      {
        name: tuple(
          np.array([getattr(feature, end) for feature in features], np.float32)
          for end in ('low', 'high')
        )
        for name, features in self.task.features.items()
      },
    )

  def speed(self) -> dict[str, float]:
    from vacl_tf.environments.hide_and_seek import speed

    found = speed.measure(self.task)
    names = (
      'physics_us',
      'ratio',
      'contacts',
      'constraint_rows',
      'holding',
      'locked',
    )
    return {
      'env_steps_per_second': round(1e6 / found['step_us']),
      **{f'env_{name}': round(found[name], 2) for name in names},
    }


class MujocoSimulator(base.Simulator):
  """`HideAndSeekWorlds` as a simulator.

  Attributes:
    worlds: the simulated worlds.
  """

  def __init__(self, task: task_lib.Task, num_worlds: int) -> None:
    """Makes empty worlds.

    Args:
      task: the task to play.
      num_worlds: number of worlds (B).
    """
    self.num_worlds = num_worlds
    threads = 1 if num_worlds == 1 else 0  # 0: one for each CPU.
    self.worlds = environment.HideAndSeekWorlds(task, num_worlds, threads)
    self._num_steps = 0

  @property
  def num_unstable(self) -> int:
    return self.worlds.num_unstable

  @property
  def state(self) -> task_lib.State:
    return self.worlds.state

  def place(self, phi: np.ndarray, seed: Sequence[int]) -> None:
    self._num_steps = 0
    self.worlds.place(phi, seed)

  def observe(self) -> types.Observations:
    return (types.Observation(*self.worlds.observe()),)

  def step(self, actions: tuple[np.ndarray, ...]) -> base.Outcome:
    [actions] = actions
    outcome = self.worlds.step(actions)
    self._num_steps += 1
    is_last = self._num_steps == self.worlds.task.horizon
    return base.Outcome(
      (outcome.reward,),
      outcome.progress,
      np.full([self.num_worlds], 0.0 if is_last else 1.0, np.float32),
    )

  def read_task(self) -> np.ndarray:
    return self.worlds.read_task()
