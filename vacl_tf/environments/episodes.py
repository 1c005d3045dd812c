# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Episodes of worlds that are stepped from outside, shared by all views.

The views of dm_env, PettingZoo and Gymnasium differ in how they name and pack
actions and results. This module handles seeds, tasks, the horizon and checks.
"""

import numbers
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from dm_env import specs

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import simulator

SampleTasks = Callable[[int, types.Seed], tf.Tensor]
_MOST_SHOWN = 20  # Largest number of array elements in a message.
_MOST_LETTERS = 60  # Largest length of any other value in a message.


class Step(NamedTuple):
  """Results of one step of B worlds, as arrays."""

  reward: tuple[np.ndarray, ...]  # Per role [B, n] float32.
  progress: np.ndarray  # [B] in [0, 1]: coverage or success.
  is_terminated: np.ndarray  # bool [B], whether the world ended.
  is_truncated: np.ndarray  # bool [B], whether it was only cut off.


class Options(NamedTuple):
  """Arguments of `reset` besides the seed."""

  task: Any = None  # Task vectors [D] or [B, D]; None to draw them.
  num_agents: int | None = None  # None for as many as before.


class Episodes:
  """B worlds that begin together and share a horizon.

  Attributes:
    env: the world.
    num_worlds: number of worlds (B).
    simulator: simulator of the worlds.
    phi: [B, D] tasks of the current episode; None before the first one.
    is_playing: whether an episode is in progress.
  """

  def __init__(
    self,
    env: base.World,
    num_worlds: int = 1,
    seed: int = 0,
    sample_tasks: SampleTasks | None = None,
  ) -> None:
    """Initialises the worlds; `reset` begins episodes.

    Args:
      env: the world.
      num_worlds: number of worlds (B).
      seed: seed of tasks and worlds; equal seeds give equal episodes.
      sample_tasks: draws tasks, with the signature of
        `env.task_space.sample_easy`; None for target tasks.
    """
    self.env = env
    self.num_worlds = num_worlds
    self.phi: np.ndarray | None = None
    self.is_playing = False
    self._is_closed = False
    self._sample_tasks = sample_tasks or env.task_space.sample_target
    self._source = 'sample_tasks' if sample_tasks else 'sample_target'
    self._seeds = tf.function(_seeds, autograph=False)
    # A user's sampler may be any Python code, even with state: do not trace it.
    self._draw = self._drawn
    if sample_tasks is None:
      self._draw = tf.function(self._drawn, autograph=False)
    self._seed = randomness.root(seed)
    self._num_episodes = 0
    self._num_steps = 0
    self.simulator = env.make_simulator(num_worlds)
    self.simulator.restarts = num_worlds > 1
    # Begin any tasks, so that views can read the shapes of observations.
    task_seed, place_seed = randomness.split(self._seed, 2)
    easy = env.task_space.sample_easy(num_worlds, task_seed)
    self._place(easy.numpy(), place_seed)

  @property
  def state(self) -> Any:
    """The current state, for `World.pictures`; None before an episode."""
    return self.simulator.state if self._num_episodes else None

  def reset(self, seed: int | None = None, phi: Any = None) -> None:
    """Begins an episode in every world.

    Args:
      seed: restarts the sequence of episodes; None to continue it.
      phi: [B, D] tasks, as returned by `legal_tasks`; None to draw them.

    Raises:
      ValueError: the seed is not valid, a drawn task is not legal, or drawing
        tasks failed. The episode in progress continues.
    """
    self.check_open()
    root = self._seed if seed is None else randomness.root(seed)
    index = self._num_episodes if seed is None else 0
    # np.int32: TensorFlow never frees the tensor that it caches per Python int.
    task_seed, place_seed = self._seeds(root, tf.constant(np.int32(index)))
    if phi is None:
      phi = self._legal_drawn(task_seed)
    self._place(phi, place_seed)
    self.phi = phi
    self._seed, self._num_episodes = root, index + 1
    self._num_steps = 0
    self.is_playing = True

  def step(self, actions: tuple[np.ndarray, ...]) -> Step:
    """Plays a checked action [B, n, ...] of every agent of each role.

    The episode is over at the horizon. A single world that ends earlier also
    ends the episode; one of several worlds continues from the start of its
    task.

    Raises:
      ValueError: no episode is in progress.
    """
    self.check_playing()
    outcome = self.simulator.step(actions)
    self._num_steps += 1
    is_last = self._num_steps == self.env.horizon
    is_terminated = outcome.discount == 0.0
    if is_last and self.env.is_terminal:
      is_terminated = np.ones_like(is_terminated)
    is_truncated = ~is_terminated if is_last else np.zeros_like(is_terminated)
    if is_last or (self.num_worlds == 1 and is_terminated[0]):
      self.is_playing = False
    return Step(outcome.reward, outcome.progress, is_terminated, is_truncated)

  def observe(self) -> types.Observations:
    """Returns what the agents observe now, arrays [B, n, ...]."""
    return self.simulator.observe()

  def sketches(self) -> list[base.Picture]:
    """Returns a picture of each world."""
    if not self._num_episodes:
      raise ValueError('render was called before reset; call reset() first')
    return self.env.sketches(self.state)

  def check_open(self) -> None:
    """Raises ValueError after `close`."""
    if self._is_closed:
      raise ValueError('the view is closed; make a new one')

  def check_playing(self) -> None:
    """Raises ValueError if no episode is in progress."""
    self.check_open()
    if not self.is_playing:
      when = (
        'after the end of an episode' if self._num_steps else 'before reset'
      )
      raise ValueError(f'step was called {when}; call reset() first')

  def close(self) -> None:
    """Releases the resources of the worlds; a second call does nothing."""
    if not self._is_closed:
      self._is_closed, self.is_playing = True, False
      self.simulator.close()

  def _drawn(self, seed: types.Seed) -> tf.Tensor:
    """Returns tasks [B, D] for an episode."""
    return self._sample_tasks(self.num_worlds, seed)

  def _legal_drawn(self, seed: types.Seed) -> np.ndarray:
    """Returns tasks [B, D] for an episode, after checking that they are legal.

    Raises:
      ValueError: a task is not legal, or drawing tasks failed.
    """
    drawn = simulator.called(self._source, lambda: np.asarray(self._draw(seed)))
    shapes = [(self.num_worlds, *shape) for shape in _shapes(self.env)]
    if drawn.shape not in shapes:
      raise ValueError(
        f'{self._source} returned tasks of shape {list(drawn.shape)} for '
        f'num_tasks={self.num_worlds}; allowed: {_told(shapes)}'
      )
    return legal_tasks(self.env, drawn, self.num_worlds, self._source)

  def _place(self, phi: np.ndarray, seed: types.Seed) -> None:
    self.simulator.place(phi, seed.numpy().view(np.uint32).tolist())


def _seeds(root: types.Seed, index: tf.Tensor) -> tuple[types.Seed, types.Seed]:
  """Returns the seeds to draw the tasks of an episode, and to place them."""
  return tuple(randomness.split(randomness.fold(root, index), 2))


def read_options(options: Any) -> tuple[Options, str]:
  """Reads the options of a reset.

  Args:
    options: a dict or None.

  Returns:
    The options, and a message about unknown keys, '' if there are none.

  Raises:
    ValueError: options is not a dict.
  """
  allowed = f'allowed keys: {", ".join(Options._fields)}'
  if options is None:
    return Options(), ''
  if not isinstance(options, Mapping):
    raise ValueError(f'options={options!r} is not a dict; {allowed}')
  known = {key: options[key] for key in Options._fields if key in options}
  unknown = [key for key in options if key not in Options._fields]
  wrong = f'options has the unknown keys {unknown}; {allowed}'
  return Options(**known), wrong if unknown else ''


def strict_options(options: Any, env: base.World) -> Options:
  """Returns the options of a reset that keeps the number of agents.

  Raises:
    ValueError: there are unknown options, or another number of agents.
  """
  found, wrong = read_options(options)
  if wrong:
    raise ValueError(wrong)
  num_agents = env.task_space.num_agents
  if found.num_agents not in (None, num_agents):
    raise ValueError(
      f"options['num_agents']={found.num_agents!r}; allowed: {num_agents}, as "
      'the sizes of observations are fixed here. Make another view, or use a '
      'PettingZoo view, which can change the number.'
    )
  return found


def legal_tasks(
  env: base.World, phi: Any, num_worlds: int, name: str
) -> np.ndarray:
  """Returns tasks [B, D] as float32, after checking that they are legal.

  Args:
    env: the world.
    phi: [D] for all worlds, or [B, D]. If all entities have as many numbers,
      [entities, size] may stand for [D].
    num_worlds: number of worlds (B).
    name: name of phi in messages.

  Raises:
    ValueError: a task is not legal; the message names the nearest legal task.
  """
  space = env.task_space
  try:
    array = np.array(phi, np.float32)
  except (TypeError, ValueError):
    raise ValueError(
      f'{name}={_short(phi)} is not an array of numbers; allowed: shape '
      f'[{space.num_dims}]'
    ) from None
  shapes = [
    (*leading, *shape)
    for shape in _shapes(env)
    for leading in ((), (num_worlds,))
  ]
  if array.shape not in shapes:
    raise ValueError(
      f'{name} has shape {list(array.shape)}; allowed: {_told(shapes)}, '
      f'{space.num_entities} entities of {env.name} one after another'
    )
  rows = array.reshape([-1, space.num_dims])
  array = np.array(np.broadcast_to(rows, [num_worlds, space.num_dims]))
  for row in np.flatnonzero(~np.isfinite(array).all(1)):
    raise ValueError(f'{name}={array[row].tolist()}; allowed: finite numbers')
  feasible = np.asarray(space.feasible(tf.constant(array)))
  for row in np.flatnonzero(~feasible.all(1)):
    seed = randomness.root(0)
    nearest = np.asarray(space.clip(tf.constant(array[row]), seed))
    raise ValueError(
      f'{name}={array[row].tolist()} is not a legal task of {env.name}: '
      f'entities {np.flatnonzero(~feasible[row]).tolist()} (counted from 0) '
      'lie outside their region, or overlap others. The nearest legal task is '
      'about '
      f'{nearest.round(3).tolist()}.'
    )
  return array


def _shapes(env: base.World) -> list[tuple[int, ...]]:
  """Returns the shapes of a task: [D], and [entities, size] if it has rows.

  B of them never have the shape of another task.
  """
  space = env.task_space
  size = space.num_dims // space.num_entities
  rows = np.repeat(np.arange(space.num_entities), size)
  are_rows = size > 1 and np.array_equal(rows, space.entity_of_dim)
  return [(space.num_dims,)] + are_rows * [(space.num_entities, size)]


def _told(shapes: Sequence[tuple[int, ...]]) -> str:
  return ' or '.join(str(list(shape)) for shape in shapes)


def checked_action(
  action: Any, spec: specs.BoundedArray, name: str, source: str
) -> np.ndarray:
  """Returns an action as an array, after checking it.

  Args:
    action: the action from the user.
    spec: spec that the action has to fit.
    name: name of the action in messages.
    source: where users find the spec, for messages.

  Raises:
    ValueError: type, shape or range do not fit the spec.
  """
  try:
    array = np.asarray(action)
  except ValueError:  # Rows of different lengths.
    array = np.array(None)
  is_discrete = np.issubdtype(spec.dtype, np.integer)
  kinds = (np.integer,) if is_discrete else (np.integer, np.floating)
  if array.shape == spec.shape and any(
    np.issubdtype(array.dtype, kind) for kind in kinds
  ):
    # Bounds are float32, and 0.7 is above the float32 that is nearest to it.
    # Integers are compared before a cast could wrap them.
    found = array if is_discrete else array.astype(spec.dtype)
    if np.all((found >= spec.minimum) & (found <= spec.maximum)):
      return found.astype(spec.dtype)
  what = 'integer' if is_discrete else 'number'
  if len(spec.shape) == 1 and not spec.minimum.shape:
    allowed = f'{spec.shape[0]} {what}{"s" if spec.shape[0] > 1 else ""}'
  else:
    allowed = f'{what}s of shape {list(spec.shape)}' if spec.shape else what
  shown = array.tolist() if array.dtype != object else _short(action)
  if array.size > _MOST_SHOWN:
    shown = '...'
  raise ValueError(
    f'{name}={shown} ({array.dtype}, shape {list(array.shape)}); '
    f'allowed: {allowed} from {spec.minimum.tolist()} to '
    f'{spec.maximum.tolist()}, as {source} says.'
  )


def named(observation: types.Observation) -> dict[str, np.ndarray]:
  """Returns the arrays of an observation by name: own, KIND, KIND_mask."""
  masks = {f'{kind}_mask': mask for kind, mask in observation.masks.items()}
  return {'own': observation.own, **observation.entities, **masks}


def action_spec(role: types.Role, *leading: int) -> specs.BoundedArray:
  """Returns the spec of actions [*leading, ...] of a role's agents."""
  one = role.action
  shape = (*leading, *one.shape)
  return specs.BoundedArray(
    shape, one.dtype, one.minimum, one.maximum, one.name
  )


def checked_num_agents(num_agents: Any) -> int:
  """Returns a number of agents, after checking that it is whole."""
  if isinstance(num_agents, bool) or not isinstance(
    num_agents, numbers.Integral
  ):
    raise ValueError(
      f"options['num_agents']={num_agents!r}; allowed: a whole number"
    )
  return int(num_agents)


def _short(value: Any) -> str:
  """Returns one short line that shows a value."""
  return textwrap.shorten(repr(value), _MOST_LETTERS, placeholder=' ...')
