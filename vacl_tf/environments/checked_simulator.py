# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks of worlds that users bring: shapes, types, ranges and feasible tasks.

Each fault raises a WorldError with a one-line message: the array, what is
expected and what was given, or what the world raised and where.
"""

import contextlib
import keyword
import numbers
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from dm_env import specs

from vacl_tf import randomness
from vacl_tf import reading
from vacl_tf import types
from vacl_tf.environments import base
from vacl_tf.environments import checked_graphs
from vacl_tf.environments import simulator
from vacl_tf.environments import task_space

_called = simulator.called
_NUM_WORLDS = 2
_NUM_TASKS = 50
_ATTRIBUTES = {
  'name': str,
  'horizon': numbers.Integral,
  'roles': tuple,
  'task_space': task_space.TaskSpace,
}
_Shape = Sequence[int | None]
_OF_AGENTS = ('world', 'agent', 'number')  # Axes; rewards have the first two.
_OF_ENTITIES = ('world', 'agent', 'entity', 'number')
_NAME = 'a name of letters, digits and underscores, a letter first'
_WORD = re.compile(r'(?!self$)[a-zA-Z]\w*', re.A)
_RESERVED = re.compile('own|seed|greedy|memory(_[0-9]+)?')


class _NotFiniteError(base.WorldError):
  """A number of one of the worlds is not finite."""

  def __init__(self, message: str, world: int) -> None:
    super().__init__(message)
    self.world = world


class Checked(base.Simulator):
  """A simulator whose tasks, observations and outcomes are checked."""

  def __init__(self, simulator: base.Simulator, world: base.World) -> None:
    """Wraps a simulator of a world."""
    self._simulator = simulator
    self._world = world
    self.num_worlds = simulator.num_worlds
    self._phi, self._num_steps = np.zeros([self.num_worlds, 0]), 0

  @property
  def num_unstable(self) -> int:
    return self._simulator.num_unstable

  @property
  def state(self) -> Any:
    return _called('state', lambda: self._simulator.state)

  def place(self, phi: np.ndarray, seed: Sequence[int]) -> None:
    self._phi, self._num_steps = phi, 0
    _called('place', self._simulator.place, phi, seed)

  def observe(self) -> types.Observations:
    found = _called('observe', self._simulator.observe)
    return self._checked(check_observations, found)

  def step(self, actions: tuple[np.ndarray, ...]) -> base.Outcome:
    self._num_steps += 1
    found = _called('step', self._simulator.step, actions)
    return self._checked(check_outcome, found)

  def read_task(self) -> np.ndarray:
    found = _called('read_task', self._simulator.read_task)
    return self._checked(_check_read, np.asarray(found, np.float32))

  def close(self) -> None:
    _called('close', self._simulator.close)

  def _checked(self, check: Callable, found: Any) -> Any:
    """Checks an output; of numbers that are not finite, tells step and task."""
    try:
      check(found, self._world, self.num_worlds)
    except _NotFiniteError as error:
      steps, task = self._num_steps, ', '.join(map(str, self._phi[error.world]))
      told = f'{error}, after {steps} steps of the task [{task}]'
      raise base.WorldError(told) from error
    return found


def check_world(world: base.World) -> None:
  """Raises base.WorldError if a world breaks its contract on two easy tasks."""
  if not isinstance(world, base.World):
    raise base.WorldError(
      'make: expected a base.HostWorld or a base.Environment, given '
      f'{type(world).__name__}'
    )
  _check_attributes(world)
  check_task_space(world.task_space)
  if isinstance(world, base.Environment):
    _check_environment(world)
    return
  made = _called('make_simulator', world.make_simulator, _NUM_WORLDS)
  if not isinstance(made, base.Simulator):
    raise base.WorldError(
      f'make_simulator: expected a base.Simulator, given {type(made).__name__}'
    )
  phi = world.task_space.sample_easy(_NUM_WORLDS, randomness.root(0))
  with contextlib.closing(Checked(made, world)) as checked:
    checked.place(np.asarray(phi), [0, 0])
    checked.read_task()
    checked.observe()
    checked.step(_actions(world))
    checked.observe()


def _check_environment(env: base.Environment) -> None:
  """Raises base.WorldError if an environment breaks its contract."""
  seed = randomness.root(0)
  phi = env.task_space.sample_easy(_NUM_WORLDS, seed)
  before = _called('place', env.place, phi, seed)
  _check_read(_called('read_task', env.read_task, before), env, _NUM_WORLDS)
  seen = _called('observe', env.observe, before)
  check_observations(seen, env, _NUM_WORLDS)
  actions = tuple(map(tf.constant, _actions(env)))
  after = _called('step', env.step, before, actions)
  _check_state(before, after)
  check_observations(_called('observe', env.observe, after), env, _NUM_WORLDS)
  parts = ('reward', 'progress', 'discount')
  found = (_called(name, getattr(env, name), after) for name in parts)
  check_outcome(base.Outcome(*found), env, _NUM_WORLDS)
  checked_graphs.check(env, phi, actions)


def first_observations(world: base.World) -> types.Observations:
  """Returns what agents observe at the start of two easy tasks [2, n, ...]."""
  seed = randomness.root(0)
  phi = world.task_space.sample_easy(_NUM_WORLDS, seed)
  if isinstance(world, base.Environment):
    return world.observe(world.place(phi, seed))
  with contextlib.closing(world.make_simulator(_NUM_WORLDS)) as worlds:
    worlds.place(np.asarray(phi), [0, 0])
    return tf.nest.map_structure(tf.constant, worlds.observe())


def check_task_space(space: task_space.TaskSpace) -> None:
  """Raises base.WorldError if drawn or clipped tasks are not feasible."""
  entities = np.asarray(space.entity_of_dim)
  _check_array('entity_of_dim', entities, [space.num_dims], np.integer)
  if set(entities.tolist()) != set(range(space.num_entities)):
    raise base.WorldError(
      f'entity_of_dim={entities.tolist()}; expected all of 0 to '
      f'{space.num_entities - 1}, as num_entities={space.num_entities}'
    )
  for name in ('sample_easy', 'sample_uniform', 'sample_target'):
    phi = _called(name, getattr(space, name), _NUM_TASKS, randomness.root(0))
    _check_feasible(name, phi, space)
  rng = np.random.default_rng(0)
  noise = rng.normal(size=phi.shape) * 10.0 ** rng.uniform(-2, 2, phi.shape)
  noisy = tf.constant(np.asarray(phi) + noise, tf.float32)
  clipped = _called('clip', space.clip, noisy, randomness.root(0))
  _check_feasible('clip', clipped, space)


def check_observations(
  observations: types.Observations, world: base.World, num_worlds: int
) -> None:
  """Raises base.WorldError if observations do not fit the world's roles."""
  _check_tuple('observations', observations, world)
  for role, found in zip(world.roles, observations, strict=True):
    name = f'observation of {role.name}'
    if not isinstance(found, types.Observation):
      raise base.WorldError(
        f'{name}: expected a types.Observation, given {type(found).__name__}'
      )
    leading = [num_worlds, role.num_agents]
    shape = [*leading, role.own_size]
    _check_floats(f'{name}, own', found.own, shape)
    if not isinstance(found.critic_own, tuple):
      _check_floats(f'{name}, critic_own', found.critic_own, shape)
    elif role.critic_only_position:
      raise base.WorldError(
        f'{name}, critic_own: expected an array, as the role has a '
        f'critic_only_position; given {found.critic_own}'
      )
    _check_keys(f'{name}, entities', found.entities, role.entity_sizes)
    _check_keys(f'{name}, masks', found.masks, role.mask_kinds)
    for kind, size in role.entity_sizes.items():
      where, array = f'{name}, entities[{kind!r}]', found.entities[kind]
      _check_floats(where, array, [*leading, None, size], _OF_ENTITIES)
    for kind in role.mask_kinds:
      shape = list(found.entities[kind].shape[:-1])
      mask = found.masks[kind]
      _check_array(f'{name}, masks[{kind!r}]', mask, shape, np.bool_)


def check_outcome(
  outcome: base.Outcome, world: base.World, num_worlds: int
) -> None:
  """Raises base.WorldError if an outcome of a step does not fit the world."""
  if not isinstance(outcome, base.Outcome):
    raise base.WorldError(
      f'step: expected a base.Outcome, given {type(outcome).__name__}'
    )
  _check_tuple('reward', outcome.reward, world)
  for role, reward in zip(world.roles, outcome.reward, strict=True):
    shape = [num_worlds, role.num_agents]
    _check_floats(f'reward of {role.name}', reward, shape)
  for name in ('progress', 'discount'):
    array = getattr(outcome, name)
    _check_floats(name, array, [num_worlds])
    array = np.asarray(array)
    is_wrong = (array < -base.ROUNDING) | (array > 1.0 + base.ROUNDING)
    if is_wrong.any():
      row = int(is_wrong.argmax())
      given = f'given {array[row]} in world {row}'
      raise base.WorldError(f'{name}: expected numbers from 0 to 1, {given}')


def _actions(world: base.World) -> tuple[np.ndarray, ...]:
  """Returns an action [B, n, ...] of every role."""
  return tuple(
    np.tile(
      role.action.generate_value(),
      [_NUM_WORLDS, role.num_agents] + [1] * len(role.action.shape),
    )
    for role in world.roles
  )


def _check_attributes(world: base.World) -> None:
  """Raises base.WorldError if an attribute of the world is not valid."""
  for name, kind in _ATTRIBUTES.items():
    _check_attribute(world, name, kind)
  for name in ('num_dims', 'num_entities', 'num_agents'):
    _check_attribute(world.task_space, name, numbers.Integral)
  for index, role in enumerate(world.roles):
    if not isinstance(role, types.Role):
      raise base.WorldError(
        f'roles[{index}]: expected a types.Role, given {type(role).__name__}; '
        'write a tuple of one role as (role,)'
      )
    if not isinstance(role.action, specs.BoundedArray):
      raise base.WorldError(
        f'roles[{index}].action: expected what types.discrete, '
        'types.multi_discrete or types.continuous returns, given '
        f'{reading.one_line(repr(role.action))}'
      )
  _check_names(world.roles)
  num_agents = sum(role.num_agents for role in world.roles)
  if world.task_space.num_agents != num_agents:
    raise base.WorldError(
      f'task_space.num_agents: expected {num_agents}, the agents of all roles; '
      f'given {world.task_space.num_agents}'
    )


def _check_names(roles: tuple[types.Role, ...]) -> None:
  """Raises base.WorldError if a name is not a valid argument of a policy.

  Policies have the arguments `own`, each kind, `<kind>_mask` and `memory`.
  Those of several roles, but for the last, begin with `<role>_`.
  """
  names, taken = [role.name for role in roles], set()
  for index, role in enumerate(roles):
    if not _is_name(role.name) or role.name in names[:index]:
      raise base.WorldError(
        f'roles[{index}].name: expected {_NAME}, and not the name of another '
        f'role; given {role.name!r}'
      )
    masks = [f'{kind}_mask' for kind in role.mask_kinds]
    for kind in role.entity_sizes:
      if not _is_name(kind) or kind in masks or _RESERVED.fullmatch(kind):
        raise base.WorldError(
          f'roles[{index}], entities {kind!r}: expected {_NAME}; own, seed, '
          'greedy, memory and, for a kind with a mask, <kind>_mask are other '
          'arguments of a policy'
        )
    flat = {f'{role.name}_{x}' for x in ('own', *role.entity_sizes, *masks)}
    for name in flat & taken:
      raise base.WorldError(
        f'roles[{index}] ({role.name}): a policy would have two arguments '
        f'{name}, which are <role>_<kind>; rename a role or a kind of entities'
      )
    taken |= flat


def _is_name(given: Any) -> bool:
  """Returns whether a function may have an argument of this name."""
  is_word = isinstance(given, str) and _WORD.fullmatch(given)
  return bool(is_word) and not keyword.iskeyword(given)


def _check_attribute(thing: Any, name: str, kind: type) -> None:
  found = _called(name, getattr, thing, name, None)
  if not isinstance(found, kind):
    what = 'a whole number' if kind is numbers.Integral else kind.__name__
    raise base.WorldError(
      f'{name}: expected {what}, given {type(found).__name__}'
    )


def _check_tuple(name: str, given: Any, world: base.World) -> None:
  num_roles = len(world.roles)
  is_tuple = isinstance(given, tuple)
  if not is_tuple or len(given) != num_roles:
    what = f'a tuple of {len(given)}' if is_tuple else type(given).__name__
    wanted = f'a tuple of {num_roles}, one for each role'
    raise base.WorldError(f'{name}: expected {wanted}; given {what}')


def _check_keys(name: str, given: Any, expected: Any) -> None:
  if not isinstance(given, Mapping):
    raise base.WorldError(
      f'{name}: expected a dict, given {type(given).__name__}'
    )
  if set(given) != set(expected):
    raise base.WorldError(
      f'{name}: expected the kinds {sorted(expected)}, given {sorted(given)}'
    )


def _check_floats(
  name: str, given: Any, shape: _Shape, axes: Sequence[str] = _OF_AGENTS
) -> None:
  """Raises base.WorldError for a wrong shape or numbers that are not finite."""
  _check_array(name, given, shape, np.float32)
  for index in np.argwhere(~np.isfinite(given)).tolist():
    found = np.asarray(given)[tuple(index)]
    where = ', '.join(map('{} {}'.format, axes, index))
    told = f'{name}: expected finite numbers, given {found} in {where}'
    raise _NotFiniteError(told, index[0])


def _check_array(name: str, given: Any, shape: _Shape, dtype: type) -> None:
  """Raises base.WorldError for a wrong dtype or shape; None is any size."""
  array = _called(name, np.asarray, given)
  is_right = array.ndim == len(shape) and all(
    size in (None, found)
    for size, found in zip(shape, array.shape, strict=True)
  )
  if not is_right or not np.issubdtype(array.dtype, dtype):
    sizes = ', '.join('any' if size is None else str(size) for size in shape)
    kind = dtype.__name__.rstrip('_')  # Not bool_.
    raise base.WorldError(
      f'{name}: expected {kind} of shape [{sizes}], given {array.dtype} of '
      f'shape {list(array.shape)}'
    )


def _check_read(phi: Any, world: base.World, num_worlds: int) -> None:
  shape = [num_worlds, world.task_space.num_dims]
  _check_floats('read_task', phi, shape, ('world', 'number'))


def _check_feasible(name: str, phi: Any, space: task_space.TaskSpace) -> None:
  """Raises base.WorldError if these are not _NUM_TASKS feasible tasks."""
  _check_floats(name, phi, [_NUM_TASKS, space.num_dims], ('task', 'number'))
  feasible = _called('feasible', space.feasible, tf.convert_to_tensor(phi))
  feasible = np.asarray(feasible)
  shape = [_NUM_TASKS, space.num_entities]
  _check_array('feasible', feasible, shape, np.bool_)
  if not feasible.all():
    row = int(np.argmin(feasible.all(1)))
    raise base.WorldError(
      f'{name}: expected feasible tasks, given '
      f'{np.asarray(phi)[row].tolist()}, whose entities '
      f'{np.flatnonzero(~feasible[row]).tolist()} (counted from 0) are not'
    )


def _check_state(before: types.State, after: types.State) -> None:
  """Raises base.WorldError if a step changes the structure of the state."""
  try:
    tf.nest.assert_same_structure(before, after)
  except (TypeError, ValueError) as error:
    raise base.WorldError(
      'state after step: expected the structure of the state that place '
      f'returns, given another: {str(error).splitlines()[0]}'
    ) from error
  pairs = zip(tf.nest.flatten(before), tf.nest.flatten(after), strict=True)
  for index, pair in enumerate(pairs):
    one, other = (f'{x.dtype.name} of shape {list(x.shape)}' for x in pair)
    if one != other:
      raise base.WorldError(
        f'state after step, leaf {index}: expected {one}, given {other}'
      )
