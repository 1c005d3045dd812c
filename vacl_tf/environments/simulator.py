# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The contract of a simulator: a batch of worlds on the host.

Import it as `base.Simulator`, `base.Outcome` and `base.WorldError`.
"""

import abc
import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from vacl_tf import types
from vacl_tf import user_code


class WorldError(ValueError):
  """A world breaks its contract; the message is one line and says how."""


def called(where: str, function: Callable, *args: Any) -> Any:
  """Calls a user's function; what it raises becomes a line with its place.

  Raises:
    WorldError: it failed, raised one, or would end the process.
  """
  try:
    return function(*args)
  except WorldError:
    raise
  except (Exception, SystemExit) as error:
    line = raised(error) or f'{where} failed: {user_code.told(error)}'
    raise WorldError(line) from error


def raised(error: BaseException) -> str | None:
  """Returns the message of a WorldError that was raised in a graph, if any."""
  found = re.search(rf'\b{WorldError.__name__}: (.*)', str(error))
  return found.group(1) if found else None


@contextlib.contextmanager
def out_of_graphs() -> Iterator[None]:
  """Raises WorldError where one was raised in a graph."""
  try:
    yield
  except tf.errors.OpError as error:
    if (told := raised(error)) is None:
      raise
    raise WorldError(told) from error


# Progress is a share or a mean in float32. XLA multiplies by the reciprocal of
# a constant, so 41 of 41 may be 1 - 6e-8; other means may be above 1.
ROUNDING = 1e-5


class Outcome(NamedTuple):
  """What a step of B worlds has led to; arrays."""

  reward: tuple[np.ndarray, ...]  # Per role [B, n] float32.
  progress: np.ndarray  # [B] in [0, 1]: coverage or success; what V averages.
  discount: np.ndarray  # [B] 0 where the world ended with this step, else 1.


class Simulator(abc.ABC):
  """B worlds that begin together and are stepped together.

  A world that ends before the horizon (discount 0) is placed again at the
  start of its task by the simulator itself, and goes on from there.

  Attributes:
    num_worlds: how many (B).
    num_unstable: how many simulations have diverged so far and were reset.
    restarts: False where nobody goes on with a world that has ended. Then a
      simulator that can leaves it as it ended, so that this can be seen, and
      does nothing but repeat discount 0 and its progress in later steps.
  """

  num_worlds: int
  num_unstable: int = 0
  restarts: bool = True

  @abc.abstractmethod
  def place(self, phi: np.ndarray, seed: Sequence[int]) -> None:
    """Begins an episode of tasks phi [B, D] in every world.

    Args:
      phi: [B, D] float32.
      seed: non-negative integers; with the first rows of phi and the seed, the
        first worlds are determined, however many others there are.
    """

  @abc.abstractmethod
  def observe(self) -> types.Observations:
    """Returns what the agents observe now, arrays [B, n, ...]."""

  @abc.abstractmethod
  def step(self, actions: tuple[np.ndarray, ...]) -> Outcome:
    """Plays one action [B, n, ...] of every agent of each role."""

  @abc.abstractmethod
  def read_task(self) -> np.ndarray:
    """Returns the phi [B, D] that would place the worlds as they are now."""

  @property
  def state(self) -> Any:
    """What `World.pictures` needs of the present, in arrays of its own."""
    return None

  def close(self) -> None:
    """Frees what the worlds hold."""
    return


def to_numpy(state: types.State) -> types.State:
  """Returns the state with every tensor as an array."""
  return tf.nest.map_structure(np.asarray, state)
