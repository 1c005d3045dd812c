# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Where the entities of task vectors lie on the map; no TensorFlow."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Box = tuple[float, float, float, float]  # x from, x to, y from, y to; lengths.


class MapLayout(NamedTuple):
  """How to draw the tasks of a curriculum.

  Attributes:
    kinds: of entities, in the order of phi; each has as many numbers, unless
      counts says how many.
    mover: the kind that has to be at the goals.
    goal: the kind that these are; the mover's own if there is no other.
    movers: box of the movers, and of all others but goals, in the target tasks.
    goals: box of the goals there.
    unit: of phi, as a length on the map.
    length: what lengths are in.
    counts: of the kinds, those of all tasks that there may be.
    sample: returns so many target tasks [rows, D], where they do not fill the
      boxes evenly.
    walls: boxes that they fill.
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
    """Returns kind -> [rows, number, 2] on the map, of tasks phi [rows, D]."""
    num = phi.shape[1] // 2
    points = self.unit * phi.reshape(len(phi), num, 2)
    names = self.names(num)
    return {kind: points[:, names == kind] for kind in self.kinds}
