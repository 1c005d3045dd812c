# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for grid, by the geometry of both tasks.

The oracle is a picture of the floor that is filled cell by cell.
"""

import itertools

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments import hide_and_seek
from vacl_tf.environments.hide_and_seek import grid


def _lock_and_return(num_agents=2, num_boxes=2):
  return hide_and_seek.load(
    'lock_and_return', num_agents=num_agents, num_boxes=num_boxes
  )


_TASKS = (
  ('2x2', _lock_and_return),
  ('4x2', lambda: _lock_and_return(4, 2)),
  ('4x4', lambda: _lock_and_return(4, 4)),
  ('8x8', lambda: _lock_and_return(8, 8)),
  ('ramp_use', lambda: hide_and_seek.load('ramp_use')),
)
# Legal regions by kind; x and y, inclusive. See docs/reproduction.md.
_REGIONS = {
  'agent': [(30, 57, 1, 27)],
  'box': [(1, 56, 1, 56)],
  'seeker': [(1, 13, 1, 13), (1, 13, 15, 27), (15, 27, 15, 27)],
  'ramp': [(1, 11, 1, 11), (12, 12, 1, 11), (1, 11, 15, 26), (15, 26, 15, 26)],
}
# Regions of draws, each rectangle with the same chance.
_DRAWS = {
  'agent': [(30, 56, 1, 26)],
  'box': [(1, 55, 1, 55)],
  'seeker': [(1, 11, 1, 11), (1, 11, 15, 26), (15, 26, 16, 26)],
  'ramp': [(1, 10, 1, 10), (1, 10, 15, 25), (15, 25, 16, 25)],
}
_SIZES = {'agent': 2, 'seeker': 2, 'box': 3, 'ramp': 3}


def _kind(piece):
  return piece.name.split()[0]


def _walls(task):
  """Returns the cells that walls stand on."""
  last = task.arena.num_cells - 1
  everywhere = itertools.product(range(last + 1), repeat=2)
  is_ramp_use = task.name == 'ramp_use'
  return {
    (x, y)
    for x, y in everywhere
    if x in (0, last)
    or y in (0, last)
    or (is_ramp_use and x == 15 and y <= 15)
    or (is_ramp_use and y == 15 and x >= 15)
  }


def _footprint(x, y, size):
  return {(x + i, y + j) for i in range(size) for j in range(size)}


def _inside(x, y, rectangles):
  return [x0 <= x <= x1 and y0 <= y <= y1 for x0, x1, y0, y1 in rectangles]


def _feasible(task, phi):
  """Returns a list of bool for one task, the slow way."""
  floor = set(itertools.product(range(task.arena.num_cells), repeat=2))
  free, answers = floor - _walls(task), []
  cells = [int(np.floor(number + 0.5)) for number in phi]
  for piece, x, y in zip(
    task.grid.pieces, cells[::2], cells[1::2], strict=True
  ):
    kind = _kind(piece)
    footprint = _footprint(x, y, _SIZES[kind])
    is_inside = any(_inside(x, y, _REGIONS[kind]))
    answers.append(is_inside and footprint <= free)
    free -= footprint
  return answers


def _nearest(task, phi):
  """Returns the cells of one task after the repair, by trying all cells."""
  taken, cells = _walls(task), []
  wanted = np.floor(np.asarray(phi) + 0.5).reshape(-1, 2)
  for piece, where in zip(task.grid.pieces, wanted, strict=True):
    kind, best = _kind(piece), None
    for x, y in itertools.product(range(task.arena.num_cells), repeat=2):
      is_free = not _footprint(x, y, _SIZES[kind]) & taken
      if is_free and any(_inside(x, y, _REGIONS[kind])):
        distance = abs(x - where[0]) + abs(y - where[1])
        best = min(best or (np.inf,), (distance, x, y))
    cells += best[1:]
    taken |= _footprint(*best[1:], _SIZES[kind])
  return cells


def _crowded(task, num, seed=0):
  """Returns tasks [num, D] with many overlaps, in and about the regions."""
  rng = np.random.default_rng(seed)
  side, pieces = task.arena.num_cells, len(task.grid.pieces)
  middle = rng.uniform(0, side, [num, 1, 2])
  phi = middle + rng.uniform(-4, 4, [num, pieces, 2])
  stray = rng.uniform(-9, side + 9, phi.shape)
  phi = np.where(rng.random([num, pieces, 1]) < 0.3, stray, phi)
  return phi.reshape(num, -1).astype(np.float32)


@parameterized.named_parameters(*_TASKS)
class GridTest(parameterized.TestCase):
  def test_feasible_agrees_with_the_picture(self, make):
    task = make()
    phi = np.concatenate(
      [_crowded(task, 120), task.sample_uniform(8, np.random.default_rng(1))]
    )
    want = np.array([_feasible(task, row) for row in phi])
    np.testing.assert_array_equal(task.grid.feasible(phi), want)
    self.assertTrue(np.all(want.any(0) & ~want.all(0)))  # Both cases occur.
    folded = phi.reshape(8, 16, -1)
    np.testing.assert_array_equal(
      task.grid.feasible(folded), want.reshape(8, 16, -1)
    )

  def test_nearest_agrees_with_trying_all_cells(self, make):
    task = make()
    num = 40 // len(task.grid.pieces)
    phi = task.grid.nearest(_crowded(task, num))  # Inside, then pushed about.
    phi += np.random.default_rng(2).uniform(-3, 3, phi.shape)
    found = task.grid.nearest(phi.astype(np.float32))
    np.testing.assert_array_equal(found, [_nearest(task, row) for row in phi])

  def test_nearest_is_feasible_and_leaves_alone_what_is(self, make):
    task, rng = make(), np.random.default_rng(1)
    # By chance hardly any crowded task is feasible, so some that are follow.
    right = task.sample_uniform(20, rng)
    right += rng.uniform(-0.49, 0.49, right.shape).astype(np.float32)
    crowded = np.concatenate([_crowded(task, 150), right])
    self.assertTrue(np.all(task.grid.feasible(right)))
    for phi in (crowded, np.zeros([1, task.grid.num_dims])):
      nearest = task.grid.nearest(phi)
      self.assertEqual(nearest.shape, phi.shape)
      self.assertTrue(np.all(task.grid.feasible(nearest)))
      np.testing.assert_array_equal(task.grid.nearest(nearest), nearest)
      np.testing.assert_array_equal(task.grid.nearest(nearest + 0.4), nearest)
      cells = np.floor(phi + 0.5)
      is_right = task.grid.feasible(phi).all(1)
      np.testing.assert_array_equal(nearest[is_right], cells[is_right])

  def test_uniform_draws_are_feasible_and_in_their_regions(self, make):
    task = make()
    phi = task.sample_uniform(2000, np.random.default_rng(0))
    self.assertEqual(phi.dtype, np.float32)
    np.testing.assert_array_equal(phi, np.floor(phi))
    self.assertTrue(np.all(task.grid.feasible(phi)))
    for index, piece in enumerate(task.grid.pieces):
      rectangles = _DRAWS[_kind(piece)]
      cells = phi[:, 2 * index : 2 * index + 2]
      inside = np.array([_inside(x, y, rectangles) for x, y in cells])
      np.testing.assert_array_equal(inside.sum(1), 1)
      # Three deviations are 0.032.
      np.testing.assert_allclose(
        inside.mean(0), 1 / len(rectangles), atol=0.035
      )
      for which, (x0, x1, y0, y1) in enumerate(rectangles):
        drawn = cells[inside[:, which]]
        np.testing.assert_array_equal(drawn.min(0), [x0, y0])
        np.testing.assert_array_equal(drawn.max(0), [x1, y1])
        spread = drawn.std(0) / [x1 - x0 + 1, y1 - y0 + 1]
        np.testing.assert_allclose(spread, 12**-0.5, rtol=0.07)

  def test_easy_draws_are_feasible_whole_and_various(self, make):
    task = make()
    phi = task.sample_easy(200, np.random.default_rng(0))
    np.testing.assert_array_equal(phi, np.floor(phi))
    self.assertTrue(np.all(task.grid.feasible(phi)))
    self.assertGreater(len(np.unique(phi, axis=0)), 30)

  def test_draws_depend_on_their_numbers_alone(self, make):
    task = make()
    for sample in (task.sample_easy, task.sample_uniform):
      one, again, other = (
        sample(20, np.random.default_rng(seed)) for seed in (1, 1, 2)
      )
      np.testing.assert_array_equal(one, again)
      self.assertTrue(np.any(one != other))


class LegalTest(parameterized.TestCase):
  @parameterized.named_parameters(*_TASKS)
  def test_no_legal_cell_is_on_a_wall_or_off_the_floor(self, make):
    task = make()
    walls, side = _walls(task), range(task.arena.num_cells)
    for piece in task.grid.pieces:
      self.assertEqual(piece.size, _SIZES[_kind(piece)])
      for rectangle in (*piece.legal, *piece.usual):
        x0, x1, y0, y1 = rectangle
        for x, y in itertools.product(range(x0, x1 + 1), range(y0, y1 + 1)):
          footprint = _footprint(x, y, piece.size)
          self.assertFalse(footprint & walls)
          self.assertTrue({i for cell in footprint for i in cell} <= set(side))

  def test_a_joint_fault_is_the_later_ones(self):
    task = _lock_and_return()
    phi = np.array([40, 10, 41, 11, 40, 9, 20, 20])
    np.testing.assert_array_equal(
      task.grid.feasible(phi), [True, False, False, True]
    )

  def test_the_nearest_is_the_first_of_a_scan(self):
    """Of places equally far the one with the least x, then y."""
    task = _lock_and_return()
    phi = np.float32([40, 10, 40, 10, 20, 20, 1, 1])
    np.testing.assert_array_equal(
      task.grid.nearest(phi), [40, 10, 38, 10, 20, 20, 1, 1]
    )

  def test_not_a_number_is_infeasible(self):
    task = hide_and_seek.load('ramp_use')
    found = task.grid.feasible(np.float32([3, np.nan, 8, 8]))
    np.testing.assert_array_equal(found, [False, True])


class EasyTest(parameterized.TestCase):
  @parameterized.parameters((2, 2), (4, 4), (4, 2), (2, 4))
  def test_agents_stand_by_their_boxes(self, num_agents, num_boxes):
    task = _lock_and_return(num_agents, num_boxes)
    phi = task.sample_easy(300, np.random.default_rng(0)).reshape(300, -1, 2)
    agents, boxes = phi[:, :num_agents] + 1, phi[:, num_agents:] + 1.5
    away = np.abs(agents[:, :, None] - boxes[:, None]).sum(-1)  # In cells.
    # Squares of 2 and 3 cells that touch are 2.5 to 5 apart; a few more where
    # several are in each other's way.
    self.assertLess(np.quantile(away.min(2), 0.9), 5.1)
    self.assertLess(away.min(2).max(), 11)
    if num_agents <= num_boxes:  # One box each.
      orders = itertools.permutations(range(num_boxes), num_agents)
      rows = np.arange(num_agents)
      together = np.min([away[:, rows, list(o)].max(1) for o in orders], 0)
      self.assertLess(np.quantile(together, 0.9), 6.1)

  def test_every_way_to_choose_a_box_occurs(self):
    """Agents that outnumber boxes draw theirs with replacement."""
    task = _lock_and_return(4, 2)
    phi = task.sample_easy(400, np.random.default_rng(0)).reshape(400, -1, 2)
    away = np.abs(phi[:, :4, None] - phi[:, None, 4:]).sum(-1)
    far_apart = np.abs(phi[:, 4] - phi[:, 5]).sum(-1) > 15
    chosen = away.argmin(-1)[far_apart]
    share = [np.mean(chosen.sum(1) == k) for k in range(5)]
    np.testing.assert_allclose(share, np.array([1, 4, 6, 4, 1]) / 16, atol=0.08)

  def test_ramps_and_seekers_of_easy_tasks_have_their_places(self):
    task = hide_and_seek.load('ramp_use')
    found = {
      tuple(map(int, row))
      for row in task.sample_easy(3000, np.random.default_rng(0))
    }
    ramps = [(x, 16) for x in range(18, 26)] + [(12, y) for y in range(1, 11)]
    want = {(x - 3, y, x, y) for x, y in ramps}
    want |= {(x, y + 3, x, y) for x, y in ramps}
    self.assertSetEqual(found, want)


class CheckTest(parameterized.TestCase):
  @parameterized.parameters(
    ([40, 10, 50, 10, 20, 20], r'phi has shape \[6\]; allowed: \[\.\.\., 8\]'),
    ([40, 10, 50, 10, 20, 20, 40, np.nan], r'phi=\[40.0, .*nan\]; allowed: f'),
    (
      [40, 10, 41, 10, 20, 20, 50, 50],
      r'phi=\[40.0, .*agent 1 stands on agent 0\. The nearest legal task is '
      r'\[40.0, 10.0, 42.0, 10.0, 20.0, 20.0, 50.0, 50.0\]',
    ),
    (
      [40, 10, 50, 10, 20, 20, 70, 50],
      r'box 1 is outside of its cells, x 1 to 56, y 1 to 56\. The nearest '
      r'legal task is \[40.0, 10.0, 50.0, 10.0, 20.0, 20.0, 56.0, 50.0\]',
    ),
  )
  def test_what_is_wrong_is_said_in_a_line(self, phi, message):
    with self.assertRaisesRegex(ValueError, message) as caught:
      _lock_and_return().grid.check(phi)
    self.assertNotIn('\n', str(caught.exception))

  def test_a_row_among_many_is_found(self):
    task = hide_and_seek.load('ramp_use')
    phi = task.sample_easy(20, np.random.default_rng(0))
    np.testing.assert_array_equal(task.grid.check(phi), phi)
    phi[13] = 20, 5, 3, 3  # In the hider's room.
    with self.assertRaisesRegex(ValueError, r'phi=\[20.0, 5.0, .* seeker is'):
      task.grid.check(phi)


class WholeTest(absltest.TestCase):
  def test_all_numbers_of_a_range_have_the_same_chance(self):
    shares = np.linspace(0, 1, 7000, endpoint=False, dtype=np.float32)
    found, counts = np.unique(grid.whole(np, shares, -3, 3), return_counts=True)
    np.testing.assert_array_equal(found, np.arange(-3, 4))
    np.testing.assert_allclose(counts, 1000, atol=1)

  def test_the_largest_share_stays_in_the_range(self):
    share = np.nextafter(np.float32(1), np.float32(0))
    self.assertEqual(grid.whole(np, share, np.float32(0), np.float32(56)), 56)


if __name__ == '__main__':
  absltest.main()
