# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The map of a page has the tasks of the snapshots, where they are."""

import base64
import pathlib

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf.environments import map_layout
from vacl_tf.launch import records
from vacl_tf.launch import report_sets

_ROOM = (-3.0, 3.0, -1.0, 1.0)
_LAYOUT = map_layout.MapLayout(
  ('agent', 'landmark'), 'agent', 'landmark', _ROOM, _ROOM, unit=0.5
)
_RUN = records.Record(
  path=pathlib.Path(),
  cfg=config.Config(),
  columns={
    'iteration': np.array([1.0, 11.0]),
    'env_steps': np.array([100.0, 1100.0]),
  },
  length=config.RunLength(),
)
_NOTHING = report_sets.Filmed({}, np.zeros([0, 8]), {})


def _snapshot(rows, num_agents, **more):
  rng = np.random.default_rng(rows)
  phi = rng.uniform(-2, 2, [rows, 4 * num_agents]).astype(np.float32)
  return {'active_phi': phi, 'solved_phi': phi[:1]} | more


def _points(packed, text):
  found = np.frombuffer(base64.b64decode(text), '<i2')
  return found.reshape(packed['rows'], sum(packed['counts']), 2)


def _places(found, packed):
  """Returns the points of a packed set on the map."""
  points = found['unit'] * _points(packed, packed['points'])
  return points + [found['box'][0], found['box'][2]]


class BuildTest(parameterized.TestCase):
  def _build(self, filmed=_NOTHING, **snapshots):
    snapshots = {int(key[1:]): value for key, value in snapshots.items()}
    return report_sets.build(_LAYOUT, snapshots, _RUN, filmed)

  def test_places_are_those_of_the_tasks_whatever_their_counts(self):
    snapshots = {1: _snapshot(7, 2), 6: _snapshot(4, 3)}
    found = self._build(_1=snapshots[1], _6=snapshots[6])
    self.assertEqual([x['iteration'] for x in found['snapshots']], [1, 6])
    self.assertEqual([x['steps'] for x in found['snapshots']], [100, 600])
    for part, number in zip(found['snapshots'], (2, 3), strict=True):
      packed = part['sets']['active']
      self.assertEqual(packed['counts'], [number, number])
      phi = snapshots[part['iteration']]['active_phi']
      wanted = 0.5 * phi.reshape(len(phi), 2 * number, 2)
      points = _places(found, packed)
      np.testing.assert_allclose(points, wanted, atol=found['unit'])
      self.assertLess(found['unit'], 1e-3)

  def test_the_map_may_be_anywhere(self):
    room = (2e3, 2e3 + 4, -9.0, -7.0)
    layout = _LAYOUT._replace(movers=room, goals=room, unit=1.0)
    phi = np.array([[2001.0, -8.5, 2003.5, -7.25]])
    snapshot = {'active_phi': phi, 'solved_phi': phi}
    found = report_sets.build(layout, {1: snapshot}, _RUN, _NOTHING)
    packed = found['snapshots'][0]['sets']['active']
    np.testing.assert_allclose(
      _places(found, packed), phi.reshape(1, 2, 2), atol=found['unit']
    )

  def test_kinds_have_the_colours_of_the_films(self):
    told = {'_1': _snapshot(3, 2)}
    self.assertEqual(
      self._build(**told)['legend'],
      [('agent', '#4271c4'), ('landmark', '#969696')],
    )
    legend = (('landmark', (66, 113, 196)), ('wall', (1, 2, 255)))
    found = self._build(_NOTHING._replace(legend=legend), **told)['legend']
    self.assertEqual(
      found,
      [('landmark', '#4271c4'), ('wall', '#0102ff'), ('agent', '#969696')],
    )

  def test_an_empty_set_is_one(self):
    empty = _snapshot(0, 2, solved_phi=np.zeros([0, 8], np.float32))
    packed = self._build(_1=empty)['snapshots'][0]['sets']['solved']
    self.assertEqual((packed['rows'], packed['points']), (0, ''))

  def test_values_and_what_is_not_known(self):
    value = np.array([0.0, 0.5, 1.0, np.nan, 7.0])
    snapshot = _snapshot(5, 2, active_value=value, active_age=np.arange(5))
    packed = self._build(_1=snapshot)['snapshots'][0]['sets']['active']
    values = list(base64.b64decode(packed['values']))
    self.assertEqual(values, [0, 127, 254, 255, 254])
    self.assertEqual(packed['ages'], [0, 1, 2, 3, 4])
    self.assertNotIn('generations', packed)
    self.assertNotIn('parents', packed)

  def test_arrays_of_another_length_are_left_out(self):
    parents = {'active_parent': np.ones(5), 'active_parent_row': np.arange(5)}
    snapshot = _snapshot(5, 2, active_value=np.ones(4), **parents)
    packed = self._build(_1=snapshot)['snapshots'][0]['sets']['active']
    self.assertNotIn('values', packed)
    self.assertNotIn('parents', packed)
    snapshot = _snapshot(5, 2, active_parent_row=np.array(3))
    packed = self._build(_1=snapshot)['snapshots'][0]['sets']['active']
    self.assertNotIn('parents', packed)

  def test_parents_lie_where_they_were(self):
    snapshot = _snapshot(9, 2)
    parents = snapshot['active_phi'][[4, 3, 2, 1]]
    parents[1] = np.nan  # Of an easy task.
    snapshot['active_parent'] = parents
    snapshot['active_parent_row'] = np.array([0, 2, 6, 9])  # There is no 9.
    packed = self._build(_1=snapshot)['snapshots'][0]['sets']['active']
    self.assertEqual(packed['parent_rows'], {0: 0, 6: 1})
    points = _points(packed, packed['points'])
    found = _points(packed | {'rows': 2}, packed['parents'])
    np.testing.assert_array_equal(found, points[[4, 2]])
    chosen = report_sets.by_size({1: snapshot}, 3)[8]
    self.assertEqual(chosen[:2], [(1, 'active', 0), (1, 'active', 6)])

  def test_films_are_those_of_the_rows(self):
    films = {(1, 'active'): {3: 0, 4: 1}}
    filmed = report_sets.Filmed(films, np.zeros([2, 8]), {1: 2})
    found = self._build(filmed, _1=_snapshot(5, 2))
    sets = found['snapshots'][0]['sets']
    self.assertEqual(sets['active']['films'], {3: 0, 4: 1})
    self.assertEqual(sets['solved']['films'], {})
    self.assertEqual(found['target']['films'], {1: 2})

  def test_the_tasks_to_film_are_of_all_sets_and_times(self):
    snapshots = {1: _snapshot(5, 2), 2: _snapshot(9, 2), 3: _snapshot(9, 3)}
    found = report_sets.by_size(snapshots, 3)
    self.assertEqual(
      found,
      {
        8: [
          *((1, 'active', row) for row in (0, 2, 4)),
          (1, 'solved', 0),
          *((2, 'active', row) for row in (0, 4, 8)),
          (2, 'solved', 0),
        ],
        12: [*((3, 'active', row) for row in (0, 4, 8)), (3, 'solved', 0)],
      },
    )

  @parameterized.product(num_rows=(1, 2, 7, 500), most=(1, 3, 7, 600))
  def test_rows_are_spread(self, num_rows, most):
    rows = report_sets.chosen_rows(num_rows, most)
    self.assertLen(rows, min(num_rows, most))
    self.assertEqual(rows, sorted(set(rows)))
    self.assertBetween(rows[-1], 0, num_rows - 1)
    if len(rows) > 2:
      self.assertLessEqual(np.ptp(np.diff(rows)), 1)


if __name__ == '__main__':
  absltest.main()
