# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks of users' agents on the first observations of a world.

Each fault is a ValueError of one line. It says what is expected and what was
given, or what the agent raised and where.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from vacl_tf import tracing
from vacl_tf import types
from vacl_tf import user_code
from vacl_tf.agents import base

_STEPS = 2  # Length of the episodes on which values are tried.


def check(
  make: Callable[[], base.Agent],
  roles: tuple[types.Role, ...],
  seen: types.Observations,
  segment_length: int = 1,
) -> None:
  """Raises ValueError if an agent breaks its contract; see `base.Agent`.

  Args:
    make: returns the agent.
    roles: the roles that the agent has to play.
    seen: observations of these roles, leaves [B, n, ...].
    segment_length: segment length (L) of the agent's config, which is valid.
  """
  num_worlds = len(seen[0].own)
  agent = _called('make', make)
  if not isinstance(agent, base.Agent):
    raise ValueError(
      f'make: expected a base.Agent, given {type(agent).__name__}'
    )
  if agent.segment_length != segment_length:
    raise ValueError(
      f'segment_length: expected {segment_length} as in its config, given '
      f'{agent.segment_length}; make it a field of the config class, and set '
      'self.segment_length to it'
    )
  _check_parts(agent)
  made = set(map(id, agent.variables))
  counts = [role.num_agents for role in roles]
  memory = _called('initial_memory', agent.initial_memory, num_worlds, counts)
  of_values = _called(
    'initial_value_memory', agent.initial_value_memory, num_worlds, counts
  )
  segments = _segments(seen, memory, of_values, agent.segment_length)
  _check_act(agent, roles, seen, memory)
  _check_evaluation(
    _called('evaluate', agent.evaluate, segments),
    roles,
    num_worlds * agent.segment_length,
  )
  _check_values(agent, roles, seen, of_values)
  for variable in agent.variables:
    if id(variable) not in made:
      raise ValueError(
        f'the variable {variable.name} was made by a later call and would '
        'never be trained; all of them have to be there when the agent is made'
      )
  _check_graphs(agent, roles, seen, segments)


def _segments(
  seen: types.Observations,
  memory: types.Memory,
  of_values: types.Memory,
  length: int,
) -> types.Sequence:
  """Returns a segment per world, in which all steps look the same."""
  observations = tf.nest.map_structure(
    lambda x: tf.repeat(x[:, None], length, 1), seen
  )
  is_first = ()
  if tf.nest.flatten((memory, of_values)):
    is_first = tf.zeros([len(seen[0].own), length], tf.bool)
  return types.Sequence(observations, memory, of_values, is_first)


def _check_parts(agent: base.Agent) -> None:
  """Raises ValueError if modules or their variables are missing, or shared."""
  trained = {}
  for name in ('policies', 'values'):
    parts = getattr(agent, name, None)
    if parts is None:
      raise ValueError(
        f'self.{name} is missing; set it to a list of modules when the agent '
        'is made'
      )
    if not isinstance(parts, list | tuple):
      raise ValueError(
        f'{name}: expected a list of modules, given {type(parts).__name__}'
      )
    for index, part in enumerate(parts):
      if not isinstance(part, tf.Module):
        raise ValueError(
          f'{name}[{index}]: expected a Sonnet module or another tf.Module, '
          'whose variables are tf.Variables (layers of Keras 3 have others); '
          f'given {type(part).__module__}.{type(part).__qualname__}'
        )
    trained[name] = _trainable(name, parts)
  of_values = set(map(id, trained['values']))
  for variable in trained['policies']:
    if id(variable) in of_values:
      raise ValueError(
        f'the variable {variable.name} is in self.policies and in self.values, '
        'so two optimisers would move it; put a module that they share into '
        'self.policies alone, where both losses train it'
      )


def _trainable(
  name: str, parts: Sequence[tf.Module]
) -> tuple[tf.Variable, ...]:
  """Returns the variables to train; raises ValueError if there are none."""
  try:
    found = base.trainable(parts)
  except ValueError:  # Sonnet's: a module was never called.
    found = ()
  if not found:
    raise ValueError(
      f'modules of {name} have no variables to train; all of them have to be '
      'there when the agent is made'
    )
  return found


def _check_act(
  agent: base.Agent,
  roles: tuple[types.Role, ...],
  seen: types.Observations,
  memory: types.Memory,
) -> None:
  """Checks the first step."""
  with tf.GradientTape() as tape:
    found = _called('act', agent.act, seen, memory)
  if not isinstance(found, tuple) or len(found) != 2:
    raise ValueError('act: expected (distributions, memory)')
  _check_variables(agent, tape.watched_variables())
  _check_distributions('act', found[0], roles, len(seen[0].own))
  if not _are_alike(memory, found[1]):
    raise ValueError(
      'act: the memory after a step differs from initial_memory in structure, '
      'shapes or types; keep them the same'
    )


def _check_variables(agent: base.Agent, used: Sequence[tf.Variable]) -> None:
  """Raises ValueError if `act` used variables that would not be exported."""
  exported = {id(x) for part in agent.policies for x in part.variables}
  exported |= set(map(id, agent.others))
  for variable in used:
    if id(variable) not in exported:
      raise ValueError(
        f'act uses the variable {variable.name}, which is not exported with '
        'the policy; put the module that has it into self.policies, not into '
        'self.values'
      )


def _called(where: str, function: Callable, *args: Any) -> Any:
  """Calls a method of the agent; its errors become one-line ValueErrors."""
  try:
    return function(*args)
  except (Exception, SystemExit) as error:
    raise ValueError(f'{where} failed: {user_code.told(error)}') from error


def _check_values(
  agent: base.Agent,
  roles: tuple[types.Role, ...],
  seen: types.Observations,
  memory: types.Memory,
) -> None:
  """Checks the values along episodes in which nothing changes."""
  found = _called(
    'unroll_values',
    *(agent.unroll_values, lambda state: state, _repeated(seen), memory),
  )
  if not isinstance(found, tuple) or len(found) != 2:
    raise ValueError('unroll_values: expected (values, memory)')
  _check_tuple('unroll_values, values', found[0], roles)
  for role, values in zip(roles, found[0], strict=True):
    name = f'unroll_values, values of {role.name}'
    _check_shape(name, values, [_STEPS, len(seen[0].own), role.num_agents])
  if not _are_alike(_repeated(memory), found[1]):
    raise ValueError(
      'unroll_values, memory: expected the memory before each step, like '
      'initial_value_memory in structure, shapes and types, with a leading '
      'axis of steps'
    )


def _check_graphs(
  agent: base.Agent,
  roles: tuple[types.Role, ...],
  seen: types.Observations,
  segments: types.Sequence,
) -> None:
  """Raises ValueError if methods that work eagerly fail in a graph."""
  num_worlds = len(seen[0].own)

  def act(seen: types.Observations, memory: types.Memory) -> tuple:
    found, after = agent.act(seen, memory)
    return _used(found, roles, num_worlds), after

  def evaluate(segments: types.Sequence) -> tuple:
    found = agent.evaluate(segments)
    num_rows = num_worlds * agent.segment_length
    return _used(found.distributions, roles, num_rows), found.values, found.loss

  def unroll_values(steps: types.Observations, memory: types.Memory) -> tuple:
    return agent.unroll_values(lambda state: state, steps, memory)

  for function, *args in (
    (act, seen, segments.policy_memory),
    (evaluate, segments),
    (unroll_values, _repeated(seen), segments.value_memory),
  ):
    where = f'{function.__name__} in a graph'
    _called(where, tracing.check_compiles, function, *args)


def _used(
  found: base.Distributions, roles: tuple[types.Role, ...], num_rows: int
) -> tuple:
  """Returns all that training takes from distributions."""
  numbers = tuple(
    tf.zeros([num_rows, role.num_agents, *role.action.shape]) for role in roles
  )
  others = [(x.mode(), x.entropy(), x.outputs()) for x in found]
  return base.drawn(found, numbers), others


def _repeated(tree: types.State) -> types.State:
  """Returns leaves [_STEPS, ...] of steps that are all the same."""
  return tf.nest.map_structure(lambda x: tf.repeat(x[None], _STEPS, 0), tree)


def _check_evaluation(
  found: Any, roles: tuple[types.Role, ...], num_rows: int
) -> None:
  if not isinstance(found, base.Evaluation):
    raise ValueError(
      f'evaluate: expected a base.Evaluation, given {type(found).__name__}'
    )
  _check_distributions('evaluate', found.distributions, roles, num_rows)
  _check_tuple('evaluate, values', found.values, roles)
  for role, values in zip(roles, found.values, strict=True):
    name = f'evaluate, values of {role.name}'
    _check_shape(name, values, [num_rows, role.num_agents])
  _check_shape('evaluate, loss', found.loss, [])


def _check_distributions(
  where: str, found: Any, roles: tuple[types.Role, ...], num_rows: int
) -> None:
  """Checks distributions, and actions drawn at both ends of them."""
  _check_tuple(f'{where}, distributions', found, roles)
  for role, one in zip(roles, found, strict=True):
    name = f'{where}, actions of {role.name}'
    agents = [num_rows, role.num_agents]
    for quantile in (0.0, 0.999999):
      uniform = tf.fill([*agents, *role.action.shape], quantile)
      action = _asked(name, one, 'draw', uniform)
      _check_shape(name, action, [*agents, *role.action.shape])
      is_legal = (action >= role.action.minimum) & (
        action <= role.action.maximum
      )
      if not np.all(np.isfinite(action)):
        raise ValueError(f'{name}: expected finite numbers, given NaN')
      if not np.all(is_legal):
        raise ValueError(
          f'{name}: expected {role.action.minimum} to {role.action.maximum}, '
          f'given {np.asarray(action)[~np.asarray(is_legal)].flat[0]}; '
          'distributions.num_outputs(role.action) says how many outputs a '
          'network has'
        )
      log_prob = _asked(name, one, 'log_prob', action)
      _check_shape(f'{name}: log_prob', log_prob, agents)
      if not np.all(np.isfinite(log_prob)):
        raise ValueError(f'{name}: log_prob: expected finite numbers')
    mode = _asked(name, one, 'mode')
    _check_shape(f'{name}: mode', mode, [*agents, *role.action.shape])
    kinds = [np.asarray(x).dtype for x in (action, mode)]
    if kinds[0] != kinds[1]:
      raise ValueError(
        f'{name}: draw returns {kinds[0]} and mode {kinds[1]}; return the same '
        'type'
      )
    _check_shape(f'{name}: entropy', _asked(name, one, 'entropy'), agents)
    outputs = _asked(name, one, 'outputs')
    if not isinstance(outputs, dict):
      raise ValueError(
        f'{name}: outputs: expected a dict, given {type(outputs).__name__}'
      )


def _asked(name: str, distribution: Any, method: str, *args: tf.Tensor) -> Any:
  """Calls a method of a distribution, which may be missing."""
  call = operator.methodcaller(method, *args)
  return _called(f'{name}: {method}', call, distribution)


def _check_tuple(name: str, given: Any, roles: tuple[types.Role, ...]) -> None:
  if not isinstance(given, tuple) or len(given) != len(roles):
    raise ValueError(
      f'{name}: expected a tuple of {len(roles)}, one for each role; given '
      f'{type(given).__name__}'
      + (f' of {len(given)}' if isinstance(given, tuple) else '')
    )


def _check_shape(name: str, given: Any, shape: Sequence[int]) -> None:
  found = list(np.shape(given))
  if found != list(shape):
    raise ValueError(f'{name}: expected shape {list(shape)}, given {found}')


def _are_alike(one: types.Memory, other: types.Memory) -> bool:
  """Returns whether structure, shapes and types are the same."""
  try:
    tf.nest.assert_same_structure(one, other)
  except (TypeError, ValueError):
    return False
  kinds = [
    [(np.shape(x), np.asarray(x).dtype) for x in tf.nest.flatten(memory)]
    for memory in (one, other)
  ]
  return kinds[0] == kinds[1]
