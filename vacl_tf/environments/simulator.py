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
  """Calls a user's function and turns its errors into one-line WorldErrors.

  Raises:
    WorldError: the function raised an exception or tried to end the process.
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
  """Raises the WorldError that was raised inside a graph, if any."""
  try:
    yield
  except tf.errors.OpError as error:
    if (told := raised(error)) is None:
      raise
    raise WorldError(told) from error


# Tolerance of comparisons of progress with 0 and 1. Progress is a share or a
# mean in float32. XLA multiplies by the reciprocal of a constant, so 41 of 41
# may be 1 - 6e-8, and other means may be above 1.
ROUNDING = 1e-5


class Outcome(NamedTuple):
  """Results of one step of B worlds, as arrays."""

  reward: tuple[np.ndarray, ...]  # Per role [B, n] float32.
  # [B] in [0, 1]: coverage or success; task values average it.
  progress: np.ndarray
  discount: np.ndarray  # [B] 0 where the world ended with this step, else 1.


class Simulator(abc.ABC):
  """B worlds that begin together and are stepped together.

  If a world ends before the horizon (discount 0), the simulator itself places
  it at the start of its task again, and the world continues from there.

  Attributes:
    num_worlds: number of worlds (B).
    num_unstable: number of simulations that have diverged and been reset.
    restarts: whether a world that has ended begins again. If False, a simulator
      that supports it leaves the world in its final state, so that the end can
      be shown, and only repeats discount 0 and the final progress in later
      steps.
  """

  num_worlds: int
  num_unstable: int = 0
  restarts: bool = True

  @abc.abstractmethod
  def place(self, phi: np.ndarray, seed: Sequence[int]) -> None:
    """Begins an episode of tasks phi [B, D] in every world.

    Args:
      phi: [B, D] float32.
      seed: non-negative integers. The seed and the first rows of phi determine
        the first worlds, however many other worlds there are.
    """

  @abc.abstractmethod
  def observe(self) -> types.Observations:
    """Returns what the agents observe now, arrays [B, n, ...]."""

  @abc.abstractmethod
  def step(self, actions: tuple[np.ndarray, ...]) -> Outcome:
    """Plays one action [B, n, ...] of every agent of each role."""

  @abc.abstractmethod
  def read_task(self) -> np.ndarray:
    """Returns the tasks phi [B, D] that would place the worlds as they are."""

  @property
  def state(self) -> Any:
    """The current state, for `World.pictures`, in arrays that never change."""
    return None

  def close(self) -> None:
    """Releases the resources of the worlds."""
    return


def to_numpy(state: types.State) -> types.State:
  """Returns the state with every tensor as an array."""
  return tf.nest.map_structure(np.asarray, state)
