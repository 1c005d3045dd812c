# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Worlds in plain Python, one object each, as a task to train on.

See docs/guides/own_world.md.
"""

import contextlib
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import box_tasks
from vacl_tf.environments import checked_one_world
from vacl_tf.environments import checked_simulator
from vacl_tf.environments import one_world
from vacl_tf.environments import simulator
from vacl_tf.environments import task_spec

_MASK = '_mask'
# Width of tasks, that of Simple-Spread, for which the default constants of the
# curriculum are chosen.
_WIDTH = 6.0
_LEAST, _MOST = 0.001, 100_000.0  # Widths that the constants allow.
# Constants of the curriculum that scale with the width, and their exponents.
_SCALED = {'step_size': 1, 'noise': 1, 'bandwidth': 2}
# A growing run begins to mix entity counts with a tenth of the tasks: 12 of
# 120. Their samples can be divided by 4 at any horizon.
_GROWING = {'ppo.num_minibatches': 4}


def register(
  name: str,
  make: Callable[[int], one_world.OneWorld],
  tasks: Callable[[int], box_tasks.Box],
  *,
  horizon: int,
  num_agents: int = 1,
  max_agents: int | None = None,
  num_env_steps: int = 1_000_000,
  values: Mapping[str, Any] | None = None,
) -> None:
  """Registers worlds in plain Python as a task.

  The step size and the noise of the curriculum are in proportion to the mean
  width of the box, unless `values` says otherwise.

  Args:
    name: name of the task.
    make: function that returns one world, given the number of agents.
    tasks: function that returns the box of tasks, given the number of agents.
    horizon: steps of an episode (T).
    num_agents: default and smallest number of agents.
    max_agents: largest number of agents; None for num_agents.
    num_env_steps: environment steps of a run.
    values: training constants, like {'ppo.num_epochs': 5}.

  Raises:
    ValueError: the name is taken, or an argument is not possible.
  """
  most = num_agents if max_agents is None else max_agents
  steps = (num_env_steps, num_env_steps)
  _check_whole(name, horizon, num_agents, most, num_env_steps)
  _check_others(name, make, values)
  box = checked_one_world.box(tasks, num_agents)
  values = _values(box.width, most > num_agents) | (values or {})
  spec = task_spec.TaskSpec(
    world=config.EnvironmentConfig(
      name=name, num_agents=num_agents, horizon=horizon
    ),
    make=lambda world: _made(make, tasks, world),
    least=(num_agents,),
    most=(most,),
    presets={'default': task_spec.Preset(num_env_steps=steps, values=values)},
    measures=('progress', 'success rate'),
    layout=lambda world, counts: box_tasks.map_of(
      [checked_one_world.box(tasks, num) for (num,) in counts]
    ),
  )
  catalog.register_task(spec)


def _made(
  make: Callable[[int], one_world.OneWorld],
  tasks: Callable[[int], box_tasks.Box],
  world: config.EnvironmentConfig,
) -> 'PythonWorld':
  """Returns the world with these constants."""
  num = world.num_agents
  return PythonWorld(
    name=world.name,
    make=lambda: checked_one_world.call('make', make, num),
    tasks=checked_one_world.box(tasks, num),
    horizon=world.horizon,
    num_agents=num,
  )


def _check_whole(
  name: str, horizon: int, num_agents: int, max_agents: int, num_env_steps: int
) -> None:
  """Raises ValueError for a number that is not whole or not possible."""
  for argument, value in (
    ('horizon', horizon),
    ('num_agents', num_agents),
    ('max_agents', max_agents),
    ('num_env_steps', num_env_steps),
  ):
    is_whole = isinstance(value, numbers.Integral)
    if isinstance(value, bool) or not is_whole or value < 1:
      raise ValueError(
        f'{name}: {argument}={value!r}; allowed: whole numbers from 1 on'
      )
  if max_agents < num_agents:
    raise ValueError(
      f'{name}: max_agents={max_agents} is below num_agents={num_agents}; give '
      'as many or more'
    )


def _check_others(name: str, make: Any, values: Any) -> None:
  """Raises ValueError unless these are a function, and a dict or None."""
  if not callable(make):
    raise ValueError(
      f'{name}: make={make!r:.60} is not a function of the number of agents; '
      'give make=lambda n: ...'
    )
  if not isinstance(values or {}, Mapping):
    raise ValueError(
      f'{name}: values={values!r:.60} is not a dict; give one like '
      "{'ppo.num_epochs': 5}"
    )


def _values(width: float, grows: bool) -> dict[str, Any]:
  """Returns constants for a mean width of tasks, and for growing runs."""
  if not _LEAST <= width <= _MOST:
    raise simulator.WorldError(
      f'tasks: a mean width of {width:g} is out of range; allowed: {_LEAST:g} '
      f'to {_MOST:g}; give the numbers in a larger or smaller unit'
    )
  defaults = config.TaskExpansionConfig()
  scale = width / _WIDTH
  return {
    f'curriculum.{name}': scale**power * getattr(defaults, name)
    for name, power in _SCALED.items()
  } | (_GROWING if grows else {})


class PythonWorld(base.HostWorld):
  """Worlds in plain Python, as training sees them."""

  def __init__(
    self,
    name: str,
    make: Callable[[], one_world.OneWorld],
    tasks: box_tasks.Box,
    horizon: int,
    num_agents: int,
  ) -> None:
    """Begins an easy task in one world, to learn what its agents observe.

    Args:
      name: name of the task.
      make: returns one world.
      tasks: the box of tasks.
      horizon: steps of an episode (T).
      num_agents: agents that act in a world.

    Raises:
      base.WorldError: the world or its tasks break their contract.
    """
    self.name = name
    self.horizon = horizon
    self.task_space = tasks.with_agents(num_agents)
    self.task_shape = self.task_space.shape
    checked_simulator.check_task_space(self.task_space)
    self._make = make
    made = checked_one_world.world(make())
    with contextlib.closing(made) as world:
      self._look_at(world, num_agents)

  def _look_at(self, world: one_world.OneWorld, num_agents: int) -> None:
    """Begins an easy task, to learn what the agents observe."""
    if world.num_agents != num_agents:
      raise base.WorldError(
        f'num_agents: expected {num_agents}, given {world.num_agents}'
      )
    phi = np.asarray(self.task_space.sample_easy(1, randomness.root(0)))
    task = phi.reshape(self.task_shape)
    where, rng = 'world 0, reset', np.random.default_rng([0])
    first = simulator.called(where, world.reset, task, rng)
    first = checked_one_world.arrays(where, first, world.num_agents)
    self._layout = {key: array.shape for key, array in first.items()}
    self.roles = (self._role(world),)

  @property
  def layout(self) -> checked_one_world.Layout:
    """The shapes of the arrays that the agents of one world observe."""
    return self._layout

  @property
  def num_vectors(self) -> int:
    shapes = [shape for shape in self._layout.values() if len(shape) == 3]
    return self.roles[0].num_agents * (1 + sum(shape[1] for shape in shapes))

  def is_mask(self, key: str) -> bool:
    """Returns whether an observed array is the mask of a kind of entity."""
    return len(self._layout.get(key.removesuffix(_MASK), ())) == 3 and (
      key.endswith(_MASK)
    )

  def _role(self, world: one_world.OneWorld) -> types.Role:
    masks = [key for key in self._layout if self.is_mask(key)]
    vectors = [k for k, shape in self._layout.items() if len(shape) == 2]
    return types.Role(
      name='agent',
      num_agents=world.num_agents,
      action=world.action,
      own_size=sum(self._layout[k][-1] for k in vectors if k not in masks),
      entity_sizes={
        k: shape[-1] for k, shape in self._layout.items() if len(shape) == 3
      },
      mask_kinds=tuple(key.removesuffix(_MASK) for key in masks),
    )

  def make_simulator(self, num_worlds: int) -> 'PythonSimulator':
    worlds = [self._make() for _ in range(num_worlds)]
    checked_one_world.check_distinct(worlds)
    return PythonSimulator(self, worlds)

  def pictures(self, states: Sequence[Any]) -> list[list[base.Picture]]:
    frames = [frame for state in states for frame in state]
    if any(frame is None for frame in frames):
      raise NotImplementedError(
        f'{self.name} cannot be drawn; return a picture from render()'
      )
    checked_one_world.check_pictures(frames)
    return [list(state) for state in states]


class PythonSimulator(base.Simulator):
  """A batch of worlds, stepped one after another.

  If `restarts` is set, a world that ends before the horizon begins its task
  again. The reported progress stays as it was at the first end, because the
  value of a task is that of its first episode.
  """

  def __init__(
    self, world: PythonWorld, worlds: Sequence[one_world.OneWorld]
  ) -> None:
    """Initialises the simulator.

    Args:
      world: description of the worlds.
      worlds: the worlds to play, all alike.
    """
    self.num_worlds = len(worlds)
    self._world = world
    self._worlds = worlds
    self._num_steps = 0
    self._tasks = np.zeros([0])
    self._rngs: list[np.random.Generator] = []
    self._final = np.zeros([0], np.float32)  # Progress at first end, or NaN.
    self._seen = {
      key: np.zeros(
        [len(worlds), *shape], np.bool_ if world.is_mask(key) else np.float32
      )
      for key, shape in world.layout.items()
    }

  @property
  def state(self) -> list[np.ndarray | None]:
    """A picture of each world; None for a world without pictures."""
    return [
      simulator.called(f'world {index}, render', world.render)
      for index, world in enumerate(self._worlds)
    ]

  def place(self, phi: np.ndarray, seed: Sequence[int]) -> None:
    shape = self._world.task_shape
    self._tasks = phi.reshape([self.num_worlds, *shape])
    self._rngs = [
      np.random.default_rng([*seed, i]) for i in range(self.num_worlds)
    ]
    self._final = np.full([self.num_worlds], np.nan, np.float32)
    self._num_steps = 0
    for index in range(self.num_worlds):
      self._reset(index)

  def observe(self) -> types.Observations:
    arrays = {key: array.copy() for key, array in self._seen.items()}
    masks = {
      key.removesuffix(_MASK): array
      for key, array in arrays.items()
      if self._world.is_mask(key)
    }
    own = [
      array
      for key, array in arrays.items()
      if array.ndim == 3 and not self._world.is_mask(key)
    ]
    entities = {key: array for key, array in arrays.items() if array.ndim == 4}
    return (types.Observation(np.concatenate(own, -1), entities, masks),)

  def step(self, actions: tuple[np.ndarray, ...]) -> base.Outcome:
    [actions] = actions
    num_agents = actions.shape[1]
    self._num_steps += 1
    reward = np.zeros([self.num_worlds, num_agents], np.float32)
    progress = np.zeros([self.num_worlds], np.float32)
    discount = np.ones([self.num_worlds], np.float32)
    for index, world in enumerate(self._worlds):
      if not (self.restarts or np.isnan(self._final[index])):
        discount[index] = 0.0
        continue
      found = simulator.called(self._where(index), world.step, actions[index])
      self._check(index, found, num_agents)
      reward[index] = found.reward
      progress[index] = found.progress
      if found.has_ended:
        discount[index] = 0.0
        if np.isnan(self._final[index]):
          self._final[index] = found.progress
      is_last = self._num_steps == self._world.horizon  # No world restarts.
      if found.has_ended and self.restarts and not is_last:
        self._reset(index)
      # A world that ended because it diverged may not have a finite
      # observation; the previous one is kept then.
      elif not found.has_ended or checked_one_world.is_finite(
        self._where(index), found.observation
      ):
        self._write(index, found.observation)
    progress = np.where(np.isnan(self._final), progress, self._final)
    return base.Outcome((reward,), progress, discount)

  def read_task(self) -> np.ndarray:
    rows = []
    for index, placed in enumerate(self._tasks):
      where = f'world {index}, read_task'
      found = simulator.called(where, self._worlds[index].read_task)
      if found is None:
        found = placed
      elif np.size(found) != placed.size:
        raise base.WorldError(
          f'{where}: expected a task of shape {list(placed.shape)}, given '
          f'shape {list(np.shape(found))}'
        )
      rows.append(np.ravel(np.asarray(found, np.float32)))
    return np.reshape(rows, [self.num_worlds, -1])

  def close(self) -> None:
    for world in self._worlds:
      world.close()

  def _where(self, index: int) -> str:
    return f'world {index}, step {self._num_steps}'

  def _reset(self, index: int) -> None:
    world, task = self._worlds[index], self._tasks[index].copy()
    where = f'world {index}, reset'
    found = simulator.called(where, world.reset, task, self._rngs[index])
    self._write(index, found)

  def _write(self, index: int, observation: one_world.Observation) -> None:
    """Checks and stores what the agents of a world observe now."""
    where, [role] = self._where(index), self._world.roles
    arrays = checked_one_world.arrays(where, observation, role.num_agents)
    found = {key: array.shape for key, array in arrays.items()}
    if found != self._world.layout:
      now, before = map(checked_one_world.told, (found, self._world.layout))
      raise base.WorldError(
        f'{where}: observation of shapes {now}, but of shapes {before} before; '
        'keep them the same in all resets and steps'
      )
    for key, array in arrays.items():
      self._seen[key][index] = array

  def _check(self, index: int, found: one_world.Step, num_agents: int) -> None:
    """Raises base.WorldError for a step that is not valid or cut too early."""
    where = self._where(index)
    checked_one_world.check_step(where, found, num_agents)
    is_over = found.is_cut and not found.has_ended
    if is_over and self._num_steps < self._world.horizon:
      raise base.WorldError(
        f'{where}: the world stops here, but the horizon is '
        f'{self._world.horizon}; let it run as long, or give '
        f'horizon={self._num_steps}'
      )
