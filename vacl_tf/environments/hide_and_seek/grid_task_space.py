# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The task space of pieces on a grid: `grid.Grid` on tensors, also in XLA."""

import numpy as np
import tensorflow as tf
import tensorflow.experimental.numpy as tnp

from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import task_space
from vacl_tf.environments.hide_and_seek import grid

_HALF_CELL = 0.49  # Below 0.5, so that rounding gives the same cell.


class GridTaskSpace(task_space.TaskSpace):
  """Pieces on a lattice; phi is in cells and need not be whole numbers."""

  def __init__(
    self,
    tasks: grid.Grid,
    num_agents: int,
    alike: tuple[tuple[int, ...], ...] = (),
  ) -> None:
    """Initialises the space.

    Args:
      tasks: the geometry.
      num_agents: agents that act in a world.
      alike: interchangeable pieces, one tuple for each kind.
    """
    self.num_entities = len(tasks.pieces)
    self.num_dims = tasks.num_dims
    self.num_agents = num_agents
    self.alike = alike
    self.entity_of_dim = np.repeat(np.arange(self.num_entities), 2)
    self._grid = tasks.using(tnp)

  def feasible(self, phi: tf.Tensor) -> tf.Tensor:
    return self._grid.feasible(phi)

  def clip(self, phi: tf.Tensor, seed: types.Seed) -> tf.Tensor:
    """Projects infeasible pieces to the nearest free cell.

    Within the cell the coordinates are random, so that tasks stay distinct.
    """
    nearest = self._grid.nearest(phi)
    rim = randomness.uniform(seed, tf.shape(phi), -_HALF_CELL, _HALF_CELL)
    has_moved = nearest != tf.floor(phi + 0.5)  # The cell of phi.
    return tf.where(has_moved, nearest + rim, phi)

  def sample_easy(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    shape = [num_tasks, self._grid.num_easy_draws]
    return self._grid.easy(randomness.uniform(seed, shape))

  def sample_uniform(self, num_tasks: int, seed: types.Seed) -> tf.Tensor:
    shape = [num_tasks, self._grid.num_uniform_draws]
    return self._grid.uniform(randomness.uniform(seed, shape))
