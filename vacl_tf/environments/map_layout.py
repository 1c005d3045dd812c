# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where the entities of task vectors lie on a map; no TensorFlow."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Box = tuple[float, float, float, float]  # x from, x to, y from, y to; lengths.


class MapLayout(NamedTuple):
  """How to draw the tasks of a curriculum.

  Attributes:
    kinds: kinds of entities, in the order of phi. Each kind has the same number
      of entities, unless counts says otherwise.
    mover: the kind that has to reach the goals.
    goal: the kind of the goals; equal to mover if there is only one kind.
    movers: box of all entities except goals in the target tasks.
    goals: box of the goals in the target tasks.
    unit: length on the map of one unit of phi.
    length: name of the unit of lengths on the map.
    counts: numbers of entities of each kind, a tuple for each entity count.
    sample: given a number of rows, returns target tasks [rows, D]; None if
      target tasks are uniform over the boxes.
    walls: boxes of the walls.
  """

  kinds: tuple[str, ...]
  mover: str
  goal: str
  movers: Box
  goals: Box
  unit: float = 1.0
  length: str = 'metres'
  counts: tuple[tuple[int, ...], ...] = ()
  sample: Callable[[int], np.ndarray] | None = None
  walls: tuple[Box, ...] = ()

  def names(self, num: int) -> np.ndarray:
    """Returns the kind of each of the `num` entities of a task."""
    even = num // len(self.kinds)
    [count] = [x for x in self.counts if sum(x) == num] or [even]
    return np.repeat(self.kinds, count)

  def points(self, phi: np.ndarray) -> dict[str, np.ndarray]:
    """Returns the points [rows, number, 2] of tasks phi [rows, D] by kind."""
    num = phi.shape[1] // 2
    points = self.unit * phi.reshape(len(phi), num, 2)
    names = self.names(num)
    return {kind: points[:, names == kind] for kind in self.kinds}
