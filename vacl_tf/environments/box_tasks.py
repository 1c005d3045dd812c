# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The task space of a user's world: a box, and functions in NumPy."""

import copy
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import map_layout
from vacl_tf.environments import simulator
from vacl_tf.environments import task_space

# Given a number K and a generator, returns K tasks [K, *shape of the box].
Draw = Callable[[int, np.random.Generator], np.ndarray]
# Given tasks [K, *shape of the box], all in the box, returns bool [K], or
# [K, entities].
Feasible = Callable[[np.ndarray], np.ndarray]

_KIND = 'point'  # Kind of entities without names.
_EDGE = 0.003  # Rim that clipped numbers land in / width of the box.
_NUM_KNOWN = 1000  # Feasible tasks that `clip` can move infeasible tasks to.
_MOST_ROUNDS = 1000  # Of rejection sampling, for each of two batch sizes.


class Box(task_space.TaskSpace):
  """Tasks in a box: each number has its own bounds.

  The user's functions see tasks in the shape of the bounds. They run on the
  host, so XLA does not compile curricula on such a space.
  """

  is_compiled = False
  num_agents = 1

  def __init__(
    self,
    low: np.ndarray,
    high: np.ndarray,
    easy: Draw,
    feasible: Feasible | None = None,
    kinds: Sequence[str] | None = None,
    target: Draw | None = None,
  ) -> None:
    """Initialises the space.

    Args:
      low: [entities, size] or [entities], the smallest value of each number.
      high: the largest value of each number, in the same shape.
      easy: draws tasks that begin (almost) solved.
      feasible: says which tasks of the box are feasible, or which of their
        entities are; None if all are.
      kinds: name of the kind of each entity, for pictures; None for one kind.
      target: draws target tasks, on which policies are evaluated; None for
        uniform draws from all feasible tasks.

    Raises:
      simulator.WorldError: low and high are not valid bounds, feasible tasks
        are too rare, drawn tasks are not feasible, or kinds are not valid.
    """
    self._low, self._high = (np.asarray(x, np.float32) for x in (low, high))
    _check_bounds(self._low, self._high)
    self._easy, self._target = easy, target
    self._is_possible = feasible
    self.num_entities = len(self._low)
    self.num_dims = self._low.size
    self.kinds = _checked_kinds(kinds, self.num_entities)
    size = self.num_dims // self.num_entities
    self.entity_of_dim = np.repeat(np.arange(self.num_entities), size)
    self._known = self._draw_uniform(_NUM_KNOWN, np.random.default_rng(0))
    self._draw_easy(_NUM_KNOWN, np.random.default_rng(0))
    if target is not None:
      self._draw_target(_NUM_KNOWN, np.random.default_rng(0))

  @property
  def shape(self) -> tuple[int, ...]:
    """The shape of a task, as the user's functions see it."""
    return self._low.shape

  @property
  def sides(self) -> np.ndarray:
    """The bounds of a task, [*shape, 2]: low and high."""
    return np.stack([self._low, self._high], -1)

  @property
  def width(self) -> float:
    """The mean width of the box."""
    return float(np.mean(self._high - self._low))

  def with_agents(self, num_agents: int) -> 'Box':
    """Returns the same space for worlds with `num_agents` acting agents."""
    space = copy.copy(self)
    space.num_agents = num_agents
    return space

  def feasible(self, phi: tf.Tensor) -> tf.Tensor:
    shape = [*phi.shape[:-1], self.num_entities]
    return _on_host(self._judge, [phi], tf.bool, shape)

  def clip(self, phi: tf.Tensor, seed: types.Seed) -> tf.Tensor:
    """Moves numbers that lie outside the box to its rim.

    Entities that are still infeasible get the numbers of the nearest one of
    the same entity in a sample of feasible tasks. If the task as a whole is
    still infeasible, the nearest task of that sample replaces it.
    """
    return _on_host(self._clip, [phi, seed], tf.float32, phi.shape)

  def sample_easy(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    return self._sample(self._draw_easy, num_tasks, seed)

  def sample_uniform(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    return self._sample(self._draw_uniform, num_tasks, seed)

  def sample_target(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    return self._sample(self._draw_target, num_tasks, seed)

  def _sample(
    self, draw: Callable, num_tasks: int, seed: types.Seed
  ) -> tf.Tensor:
    shape = [num_tasks, self.num_dims]
    return _on_host(
      lambda key: draw(num_tasks, _generator(key)), [seed], tf.float32, shape
    )

  def _draw_easy(self, num_tasks: int, rng: np.random.Generator) -> np.ndarray:
    """Returns easy tasks [num_tasks, D]."""
    return self._drawn('easy', self._easy, num_tasks, rng)

  def _draw_target(
    self, num_tasks: int, rng: np.random.Generator
  ) -> np.ndarray:
    """Returns target tasks [num_tasks, D]."""
    if self._target is None:
      return self._draw_uniform(num_tasks, rng)
    return self._drawn('target', self._target, num_tasks, rng)

  def _drawn(
    self, name: str, draw: Draw, num_tasks: int, rng: np.random.Generator
  ) -> np.ndarray:
    """Draws and checks tasks [num_tasks, D] with a user's function."""
    drawn = simulator.called(name, draw, num_tasks, rng)
    drawn = np.asarray(drawn, np.float32)
    if drawn.shape != (num_tasks, *self.shape):
      raise simulator.WorldError(
        f'{name}: expected tasks of shape {[num_tasks, *self.shape]}, given '
        f'{list(drawn.shape)}'
      )
    feasible = self._judge(drawn).all(1)
    if not feasible.all():
      row = int(np.argmin(feasible))
      raise simulator.WorldError(
        f'{name}: expected feasible tasks, given {drawn[row].tolist()} (row '
        f'{row} of {num_tasks}), which is outside of the box or refused by '
        'feasible'
      )
    return drawn.reshape([num_tasks, self.num_dims])

  def _draw_uniform(
    self, num_tasks: int, rng: np.random.Generator
  ) -> np.ndarray:
    """Returns feasible tasks [num_tasks, D]."""

    def draw(size: int) -> np.ndarray:
      # Rounding to float32 may put the sum slightly above `high`.
      drawn = rng.random([size, *self.shape], np.float32)
      drawn = self._low + (self._high - self._low) * drawn
      return np.minimum(drawn, self._high).reshape([size, self.num_dims])

    return draw_feasible(num_tasks, draw, self._judge)

  def _judge(self, phi: np.ndarray) -> np.ndarray:
    """Returns bool [..., entities] of tasks [..., D]."""
    leading = phi.shape[:-1] if phi.shape[-1:] == (self.num_dims,) else [-1]
    tasks = phi.reshape([-1, *self.shape])
    inside = (tasks >= self._low) & (tasks <= self._high)
    size = self.num_dims // self.num_entities
    legal = inside.reshape([len(tasks), self.num_entities, size]).all(2)
    if self._is_possible is not None and len(tasks):
      # The user's function need not handle tasks outside the box, which are not
      # legal anyway.
      legal &= self._asked(np.clip(tasks, self._low, self._high))
    return legal.reshape([*leading, self.num_entities])

  def _asked(self, tasks: np.ndarray) -> np.ndarray:
    """Calls the user's function with tasks [K, *shape] in the box.

    Returns:
      bool [K, entities], or [K, 1] if it judges whole tasks.
    """
    num = len(tasks)
    told = np.asarray(simulator.called('feasible', self._is_possible, tasks))
    shapes = ((num,), (num, self.num_entities))
    if told.dtype != np.bool_ or told.shape not in shapes:
      raise simulator.WorldError(
        f'feasible: expected bool of shape {[num]} or '
        f'{[num, self.num_entities]}, given {told.dtype} of shape '
        f'{list(told.shape)}'
      )
    return told.reshape([num, -1])

  def _clip(self, phi: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Returns feasible tasks [..., D] near phi."""
    tasks = phi.reshape([-1, *self.shape])
    width = self._high - self._low
    rim = _generator(key).uniform(0.0, _EDGE, tasks.shape) * width
    tasks = np.where(tasks < self._low, self._low + rim, tasks)
    tasks = np.where(tasks > self._high, self._high - rim, tasks)
    given = tasks.astype(np.float32).reshape([len(tasks), self.num_dims])
    scale = width.reshape([-1])
    rows = moved_to_known(
      given, self._known, self._judge, self.entity_of_dim, scale
    )
    return rows.reshape(phi.shape)


def draw_feasible(
  num_tasks: int,
  draw: Callable[[int], np.ndarray],
  judge: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
  """Returns feasible tasks [num_tasks, D], by rejection sampling.

  Args:
    num_tasks: number of tasks.
    draw: returns K tasks [K, D] anywhere in the box, given K.
    judge: returns bool [K, entities], which entities of tasks are feasible.

  Raises:
    simulator.WorldError: feasible tasks are too rare.
  """
  found, missing = [], num_tasks
  # Small batches are fast, but _MOST_ROUNDS draws of a single task may all be
  # infeasible. Larger batches follow then.
  sizes = [num_tasks, max(num_tasks, _NUM_KNOWN)]
  for size in np.repeat(sizes, _MOST_ROUNDS).tolist():
    drawn = draw(size)
    found.append(drawn[judge(drawn).all(1)])
    missing -= len(found[-1])
    if missing <= 0:
      return np.concatenate(found)[:num_tasks]
  num_drawn = _MOST_ROUNDS * sum(sizes)
  raise simulator.WorldError(
    f'feasible: only {num_tasks - missing} of {num_drawn} tasks anywhere in '
    'the box are feasible; give a smaller box around the feasible ones'
  )


def moved_to_known(
  given: np.ndarray,
  known: np.ndarray,
  judge: Callable[[np.ndarray], np.ndarray],
  entity_of_dim: np.ndarray,
  scale: np.ndarray,
) -> np.ndarray:
  """Returns tasks [K, D], of which infeasible ones are moved to known ones.

  Infeasible entities get the numbers of the nearest one of the same entity. If
  the task as a whole is still infeasible, the nearest task replaces it.

  Args:
    given: tasks [K, D].
    known: feasible tasks [M, D].
    judge: returns bool [K, entities], which entities of tasks are feasible.
    entity_of_dim: [D], the entity that each number belongs to.
    scale: [D], the unit of each number.
  """
  rows, is_legal = given.copy(), judge(given)
  if is_legal.all():
    return rows
  for entity, is_fine in enumerate(is_legal.T):
    dims = entity_of_dim == entity
    moved, points = given[~is_fine][:, dims], known[:, dims]
    rows[np.ix_(~is_fine, dims)] = points[_nearest(moved, points, scale[dims])]
  is_wrong = ~judge(rows).all(1)
  rows[is_wrong] = known[_nearest(given[is_wrong], known, scale)]
  return rows


def _nearest(
  points: np.ndarray, others: np.ndarray, scale: np.ndarray
) -> np.ndarray:
  """Returns the indices of the nearest of others [M, S] to points [K, S].

  Args:
    points: the points.
    others: the points to choose from.
    scale: [S], the unit of each number.
  """
  scale = scale.astype(np.float64)  # A difference of large numbers follows.
  points, others = points / scale, others / scale
  return np.argmin(np.sum(others**2, 1) - 2.0 * points @ others.T, 1)


def map_of(boxes: Sequence[Box]) -> map_layout.MapLayout | None:
  """Returns a map of entities of two numbers each; None for other sizes.

  Args:
    boxes: boxes of one task with increasing numbers of agents.

  Raises:
    simulator.WorldError: the boxes have different kinds of entities.
  """
  if any(box.shape[1:] != (2,) for box in boxes):
    return None
  last = boxes[-1]
  names = list(dict.fromkeys(last.kinds))
  for box in boxes:
    if set(box.kinds) != set(names):
      raise simulator.WorldError(
        f'Box: kinds {sorted(set(box.kinds))} with {box.num_entities} '
        f'entities, but {sorted(names)} with {last.num_entities}; name the '
        'same kinds for all numbers of agents'
      )
  stages = {box.num_entities: box.kinds for box in boxes}
  # `kinds` below is the concatenation of the names of all stages. Each row of
  # counts selects the names of its own stage only.
  counts = tuple(
    tuple(int(num == own) for num in stages for _ in range(num))
    for own in stages
  )
  is_goal = np.array(last.kinds) == names[-1]
  is_mover = ~is_goal if len(names) > 1 else is_goal
  return map_layout.MapLayout(
    kinds=tuple(kind for kinds in stages.values() for kind in kinds),
    mover=names[0],
    goal=names[-1],
    movers=_around(last.sides[is_mover]),
    goals=_around(last.sides[is_goal]),
    length='units',
    counts=counts,
    sample=lambda num: np.asarray(last.sample_target(num, randomness.root(0))),
  )


def _around(sides: np.ndarray) -> map_layout.Box:
  """Returns the bounding box of boxes [entities, 2, 2] of points."""
  low, high = sides[..., 0].min(0).tolist(), sides[..., 1].max(0).tolist()
  return low[0], high[0], low[1], high[1]


def _checked_kinds(
  given: Sequence[str] | None, num_entities: int
) -> tuple[str, ...]:
  """Checks and returns the kind of each entity."""
  if given is None:
    return num_entities * (_KIND,)
  names = () if isinstance(given, str) else tuple(given)
  if len(names) != num_entities or not all(isinstance(x, str) for x in names):
    raise simulator.WorldError(
      f'Box: kinds={given!r}; expected {num_entities} names, one for '
      'each entity, that is, for each row of low'
    )
  return names


def _check_bounds(low: np.ndarray, high: np.ndarray) -> None:
  is_box = low.shape == high.shape and low.ndim in (1, 2) and low.size
  if not is_box or not np.all(np.isfinite(high - low) & (low < high)):
    raise simulator.WorldError(
      f'Box: low={low.tolist()} and high={high.tolist()} are not valid '
      'bounds; give finite numbers of the same shape, [entities] or [entities, '
      'size], each low below its high'
    )


def _generator(key: np.ndarray) -> np.random.Generator:
  return np.random.default_rng(key.view(np.uint32).tolist())


def _on_host(
  function: Callable[..., np.ndarray],
  inputs: Sequence[tf.Tensor],
  dtype: tf.DType,
  shape: Sequence[int | None],
) -> tf.Tensor:
  """Calls a function of arrays on the host, eagerly or from a graph."""
  if tf.executing_eagerly():
    arrays = [np.asarray(x) for x in inputs]
    return tf.constant(function(*arrays), dtype)
  found = tf.numpy_function(function, inputs, dtype, stateful=False)
  return tf.ensure_shape(found, shape)
