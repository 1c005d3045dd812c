# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Task vectors in cells: feasibility, projection and sampling.

A task vector phi has x and y of each piece's lower left cell, one piece after
another. Fractions are rounded to the nearest cell.

The code works with NumPy arrays and with tensors, also under XLA: `xp` is
`numpy` or `tensorflow.experimental.numpy`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

Array = Any  # An array of NumPy or a tensor, depending on `xp`.
Rectangle = tuple[int, int, int, int]  # x from, x to, y from, y to; inclusive.

# A uniform draw tries several cells for each piece. The number of tries is the
# smallest multiple of 16 for which all of them fail with at most this
# probability, even if every earlier piece is in the way.
_FAILURE = 1e-12
_TRIES = 16
_NUMBERS_PER_TRY = 3  # Which rectangle, x, y.
_PER_CELL = 1 / 64  # Breaks ties; there are fewer than 64 cells in a row.


class Piece(NamedTuple):
  """An entity that a task places.

  Attributes:
    name: for messages.
    size: side length in cells.
    legal: rectangles of allowed lower left cells; all are clear of walls.
    usual: rectangles of uniform draws; all rectangles are equally likely.
  """

  name: str
  size: int
  legal: tuple[Rectangle, ...]
  usual: tuple[Rectangle, ...]


class Grid:
  """Tasks that place pieces on a lattice without overlaps.

  Attributes:
    pieces: in the order in which they are placed; of two that overlap, the
      later one is infeasible.
    num_dims: length of a task vector (D).
    num_uniform_draws: numbers that `uniform` needs for each task.
    num_easy_draws: numbers that `easy` needs for each task.
  """

  def __init__(
    self,
    pieces: Sequence[Piece],
    easy: Callable[[Any, Array], Array] | None = None,
    num_easy_draws: int = 0,
    *,
    xp: Any = np,
  ) -> None:
    """Describes the tasks.

    Args:
      pieces: the pieces that a task places.
      easy: given xp and numbers [..., num_easy_draws] from U[0, 1), returns
        tasks [..., D] that begin (almost) solved; infeasible pieces are
        projected afterwards.
      num_easy_draws: numbers that `easy` needs for each task.
      xp: module of the arrays that methods take and return.
    """
    self.pieces = tuple(pieces)
    self.num_dims = 2 * len(self.pieces)
    self._num_tries = _enough_tries(self.pieces)
    self.num_uniform_draws = (
      len(self.pieces) * self._num_tries * _NUMBERS_PER_TRY
    )
    self.num_easy_draws = num_easy_draws
    self._easy = easy
    self._xp = xp
    self._radii = [
      _enough(self.pieces, index) for index in range(len(self.pieces))
    ]

  def using(self, xp: Any) -> 'Grid':
    """Returns the same grid for arrays of another module."""
    return Grid(self.pieces, self._easy, self.num_easy_draws, xp=xp)

  def feasible(self, phi: Array) -> Array:
    """Returns bool [..., pieces]: in its region and not on an earlier piece."""
    cells = self._cells(phi)
    is_free = [
      self._is_free(index, cell, cells[:index])
      for index, cell in enumerate(cells)
    ]
    return self._xp.stack(is_free, -1)

  def nearest(self, phi: Array) -> Array:
    """Returns the nearest legal tasks [..., D], in whole cells.

    Piece by piece, infeasible pieces are projected to the nearest free cell in
    Manhattan distance; ties go to the smallest x, then the smallest y.
    """
    return self._place(
      self._around(cell, piece, radius)
      for cell, piece, radius in zip(
        self._cells(phi), self.pieces, self._radii, strict=True
      )
    )

  def uniform(self, numbers: Array) -> Array:
    """Returns tasks [..., D] with each piece in its usual rectangles.

    Args:
      numbers: [..., num_uniform_draws] from U[0, 1).
    """
    xp, options = self._xp, []
    rank = np.arange(self._num_tries, dtype=np.float32)
    shares = xp.split(numbers, _NUMBERS_PER_TRY * len(self.pieces), -1)
    for piece in self.pieces:
      which, *place = shares[:_NUMBERS_PER_TRY]  # [..., tries] each.
      shares = shares[_NUMBERS_PER_TRY:]
      bounds = [xp.zeros_like(which) + bound for bound in piece.usual[0]]
      for option, rectangle in enumerate(piece.usual[1:], 1):
        is_later = which * len(piece.usual) >= option
        bounds = [
          xp.where(is_later, float(bound), before)
          for bound, before in zip(rectangle, bounds, strict=True)
        ]
      x = whole(xp, place[0], bounds[0], bounds[1])
      y = whole(xp, place[1], bounds[2], bounds[3])
      options.append((xp.stack([x, y], -1), rank))
    return self._place(options)

  def easy(self, numbers: Array) -> Array:
    """Returns tasks [..., D] that begin (almost) solved; GetEasy.

    Args:
      numbers: [..., num_easy_draws] from U[0, 1).
    """
    return self.nearest(self._easy(self._xp, numbers))

  def check(self, phi: np.ndarray) -> np.ndarray:
    """Returns tasks [..., D] as float32, after checking that they are legal.

    Raises:
      ValueError: a task is not legal; the message says why and names the
        nearest legal task.
    """
    phi = np.asarray(phi, np.float32)
    if phi.shape[-1:] != (self.num_dims,):
      raise ValueError(
        f'phi has shape {list(phi.shape)}; allowed: [..., {self.num_dims}], '
        f'the x and y cells of {", ".join(piece.name for piece in self.pieces)}'
      )
    if not np.all(np.isfinite(phi)):
      raise ValueError(f'phi={phi.tolist()}; allowed: finite numbers of cells')
    feasible = self.feasible(phi)
    if np.all(feasible):
      return phi
    row = tuple(np.argwhere(~feasible.all(-1))[0])
    task = phi[row]
    index = int(np.argmin(feasible[row]))
    raise ValueError(
      f'phi={task.tolist()} is not a legal task: {self._fault(task, index)}. '
      f'The nearest legal task is {self.nearest(task).tolist()}.'
    )

  def _fault(self, phi: np.ndarray, index: int) -> str:
    """Returns what is wrong with a piece of phi [D]."""
    piece, cells = self.pieces[index], self._cells(phi)
    if self._is_free(index, cells[index], []):
      for other, cell in zip(self.pieces[:index], cells, strict=False):
        if _overlaps(cells[index], piece.size, cell, other.size):
          return f'{piece.name} stands on {other.name}'
    allowed = ' or '.join(
      f'x {x0} to {x1}, y {y0} to {y1}' for x0, x1, y0, y1 in piece.legal
    )
    return f'{piece.name} is outside of its cells, {allowed}'

  def _cells(self, phi: Array) -> list[Array]:
    """Returns the cells [..., 2] of phi [..., D], by piece."""
    cells = self._xp.floor(phi + 0.5)
    return [cells[..., i : i + 2] for i in range(0, self.num_dims, 2)]

  def _is_free(self, index: int, cell: Array, placed: list[Array]) -> Array:
    """Returns bool [...]: whether a piece may stand on cell [..., 2]."""
    piece = self.pieces[index]
    x, y = cell[..., 0], cell[..., 1]
    is_legal = False
    for x0, x1, y0, y1 in piece.legal:
      is_legal |= (x >= x0) & (x <= x1) & (y >= y0) & (y <= y1)
    for other, where in zip(self.pieces, placed, strict=False):
      is_legal &= ~_overlaps(cell, piece.size, where, other.size)
    return is_legal

  def _around(
    self, cell: Array, piece: Piece, radius: int
  ) -> tuple[Array, Array]:
    """Returns cells [..., k, 2] around the nearest legal ones, and their cost.

    The cost is the Manhattan distance to cell [..., 2], with ties broken by the
    smallest x, then the smallest y.
    """
    xp, reach = self._xp, range(-radius, radius + 1)
    steps = [(x, y) for x in reach for y in reach if abs(x) + abs(y) <= radius]
    steps = np.array(steps, np.float32)
    cell = cell[..., None, :]
    found = []
    for x0, x1, y0, y1 in piece.legal:
      corners = np.array([[x0, y0], [x1, y1]], np.float32)
      found.append(xp.clip(cell, *corners) + steps)
    found = xp.concatenate(found, -2)
    distance = xp.sum(xp.abs(found - cell), -1)
    x, y = found[..., 0], found[..., 1]
    return found, distance + x * _PER_CELL + y * _PER_CELL**2

  def _place(self, options: Iterable[tuple[Array, Array]]) -> Array:
    """Places piece by piece on the cheapest free option.

    Args:
      options: for each piece, cells [..., k, 2] and their cost [..., k].

    Returns:
      Tasks [..., D].
    """
    xp, placed = self._xp, []
    for index, (cells, cost) in enumerate(options):
      others = [cell[..., None, :] for cell in placed]
      cost = xp.where(self._is_free(index, cells, others), cost, np.inf)
      rank = np.arange(cells.shape[-2])
      is_best = rank == xp.argmin(cost, -1)[..., None]
      # XLA compiles a sum faster than a gather.
      placed.append(xp.sum(xp.where(is_best[..., None], cells, 0.0), -2))
    return xp.concatenate(placed, -1)


def whole(xp: Any, share: Array, low: Array, high: Array) -> Array:
  """Maps share in [0, 1) to whole numbers low <= k <= high."""
  return low + xp.minimum(xp.floor(share * (high - low + 1)), high - low)


def _overlaps(one: Array, size: int, other: Array, other_size: int) -> Array:
  """Returns bool [...]: whether squares at cells [..., 2] share a cell."""
  x, y = other[..., 0] - one[..., 0], other[..., 1] - one[..., 1]
  return (x < size) & (-x < other_size) & (y < size) & (-y < other_size)


def _blocked(pieces: Sequence[Piece], index: int) -> int:
  """Returns how many cells earlier pieces can block for a piece."""
  size = pieces[index].size
  return sum((size + other.size - 1) ** 2 for other in pieces[:index])


def _enough_tries(pieces: Sequence[Piece]) -> int:
  """Returns enough tries that all fail with probability _FAILURE at most."""
  worst = max(
    _blocked(pieces, index) / ((x1 - x0 + 1) * (y1 - y0 + 1))
    for index, piece in enumerate(pieces)
    for x0, x1, y0, y1 in piece.usual
  )
  tries = _TRIES
  while worst**tries > _FAILURE:
    tries += _TRIES
  return tries


def _enough(pieces: Sequence[Piece], index: int) -> int:
  """Returns a radius in cells within which a piece always finds a free cell.

  At a corner of a region, (r + 1) (r + 2) / 2 cells lie within radius r. The
  radius is such that this is more than earlier pieces can block.
  """
  blocked, radius = _blocked(pieces, index), 0
  while (radius + 1) * (radius + 2) // 2 <= blocked:
    radius += 1
  return radius
