# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Requests are answered one by one, also those that can't be met."""

import io
import pathlib
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

import vacl_tf
from vacl_tf import builtin  # noqa: F401  Registers what has names.
from vacl_tf.client import wire
from vacl_tf.launch import curriculum_server

_MAKE = {
  'do': 'make',
  'version': vacl_tf.__version__,
  'name': 'uniform',
  'seed': 0,
  'num_tasks': 4,
  'entity_size': 1,
  'changes': {},
  'asks': False,
  'imports': [],
  'folder': '.',
}
_BOX = {'low': np.zeros([2]), 'high': np.array([1.0, 10.0])}


def _served(*requests):
  """Returns the answers to requests, which are all sent at once."""
  sent, answers = io.BytesIO(), io.BytesIO()
  for header, arrays in requests:
    wire.write(sent, header, arrays)
  sent.seek(0)
  curriculum_server.serve(sent, answers)
  answers.seek(0)
  found = []
  while answers.tell() < len(answers.getvalue()):
    found.append(wire.read(answers))
  return found


class ServerTest(parameterized.TestCase):
  def test_a_round(self):
    value = {'value': np.array([0.0, 0.5, 1.0])}
    made, sampled, updated, state = _served(
      (_MAKE, _BOX),
      ({'do': 'sample', 'size': 3}, {}),
      ({'do': 'update', 'round': 1, 'evaluation': None}, value),
      ({'do': 'state'}, {}),
    )
    self.assertEqual(made, ({'feedback': [], 'round': None}, {}))
    self.assertEqual(sampled[0], {'round': 1})
    tasks = sampled[1]['tasks']
    self.assertEqual(tasks.shape, (3, 2))
    self.assertBetween(tasks[:, 1].max(), 1.0, 10.0)
    self.assertEqual(updated[0], {'metrics': {'training_value': 0.5}})
    self.assertEqual(state[0]['state'], {'round': 1, 'size': 0})

  def test_it_goes_on_from_a_state(self):
    sample = ({'do': 'sample', 'size': 3}, {})
    *_, third = _served((_MAKE, _BOX), sample, sample, sample)
    state = {'state': {'round': 2, 'size': 3}}
    [made] = _served(({**_MAKE, **state}, _BOX))
    np.testing.assert_array_equal(made[1]['tasks'], third[1]['tasks'])
    self.assertEqual(made[0]['round'], third[0]['round'])

  def test_a_round_ends_once(self):
    value = {'value': np.array([0.0, 0.5, 1.0])}
    update = ({'do': 'update', 'round': 1, 'evaluation': None}, value)
    sample = ({'do': 'sample', 'size': 3}, {})
    # As after Ctrl-C, where the answers were lost.
    _, _, _, again, _, late = _served(
      (_MAKE, _BOX), sample, update, update, sample, update
    )
    for refused in (again, late):
      self.assertEqual(
        refused[0], {'error': 'this round has ended already; call sample'}
      )

  @parameterized.named_parameters(
    ('unknown', {'name': 'unform'}, 'did you mean uniform?'),
    ('not imported', {'name': 'mine'}, r'your own, give its module: imports='),
    (
      'version',
      {'version': '0'},
      'python: vacl_tf has version .* there and 0 here',
    ),
    ('module', {'imports': ['no_such_module']}, 'import=no_such_module'),
    ('changes', {'changes': {'noise': 1}}, "'noise' is unknown"),
    ('request', {'do': 'bake'}, "KeyError: 'bake'"),
  )
  def test_what_can_not_be_met_is_a_line(self, changed, message):
    refused, made = _served(({**_MAKE, **changed}, _BOX), (_MAKE, _BOX))
    self.assertRegex(refused[0]['error'], message)
    self.assertNotIn('\n', refused[0]['error'])
    self.assertEqual(made[0]['feedback'], [])

  def test_an_answer_that_is_too_large_ends_nothing(self):
    requests = (
      ({**_MAKE, 'num_tasks': 100}, _BOX),
      ({'do': 'sample', 'size': 100}, {}),
      ({'do': 'sample', 'size': 3}, {}),
    )
    with mock.patch.object(wire, 'MAX_BYTES', 100):
      _, refused, sampled = _served(*requests)
    self.assertRegex(
      refused[0]['error'], '^a message of 800 bytes .*; allowed: 100$'
    )
    self.assertEqual(sampled[1]['tasks'].shape, (3, 2))

  def test_it_asks_back(self):
    asked, sampled = _served(
      ({**_MAKE, 'asks': True}, _BOX),
      ({'do': 'sample', 'size': 3}, {}),
      ({}, {'legal': np.full([4, 2], True)}),
    )[1:]
    self.assertEqual(asked[0], {'ask': 'feasible'})
    self.assertEqual(asked[1]['tasks'].shape, (4, 2))
    self.assertEqual(sampled[1]['tasks'].shape, (3, 2))
    *_, failed = _served(
      ({**_MAKE, 'asks': True}, _BOX),
      ({'do': 'sample', 'size': 3}, {}),
      ({'failed': 'OwnError'}, {}),
    )
    self.assertEqual(failed[0], {'error': 'OwnError'})

  def test_modules_of_users(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    (folder / 'two_to_import.py').write_text('raise KeyError(1)\n')
    [refused] = _served(
      ({**_MAKE, 'imports': ['two_to_import.py'], 'folder': str(folder)}, _BOX)
    )
    self.assertRegex(refused[0]['error'], 'two_to_import.py failed: KeyError')

  def test_garble_ends_it(self):
    with self.assertRaises(wire.GarbledError):
      curriculum_server.serve(io.BytesIO(b'x' * 99), io.BytesIO())


if __name__ == '__main__':
  absltest.main()
