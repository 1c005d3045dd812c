# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for studies that users register."""

from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import studies

_SEEDS = (100, 101)
_MAZE = studies.Task('maze', ('--env=maze',), 100)


class OwnStudyTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.dict(studies.STUDIES._entries))

  def _register(self, **changes):
    given = {
      'name': 'mine',
      'tasks': [
        _MAZE,
        studies.Task('wide', ['--env=maze'], num_env_steps=200),
      ],
      'methods': {'vacl': [], 'uniform': ['--curriculum=uniform']},
    }
    studies.register(**(given | changes))

  def test_each_method_in_each_task_with_the_flags_that_were_given(self):
    self._register()
    study = studies.find('mine')
    self.assertEqual(study.baseline, 'vacl')
    runs = studies.list_runs(study, _SEEDS)
    self.assertEqual(
      [run.name for run in runs[:5]],
      [
        'maze/vacl/seed100',
        'maze/uniform/seed100',
        'wide/vacl/seed100',
        'wide/uniform/seed100',
        'maze/vacl/seed101',
      ],
    )
    self.assertLen(runs, 8)
    # Not those of the library's method of that name.
    self.assertEqual(
      runs[3].flags,
      ('--env=maze', '--num_env_steps=200', '--curriculum=uniform')
      + ('--seed=100',),
    )

  def test_iterators_are_read_once(self):
    self._register(
      tasks=iter([_MAZE._replace(flags=iter(_MAZE.flags))]),
      methods={'rcg': (x for x in ('--curriculum=rcg',))},
    )
    [run] = studies.list_runs(studies.find('mine'), [100])
    self.assertContainsSubset([*_MAZE.flags, '--curriculum=rcg'], run.flags)

  @parameterized.parameters(
    ({'name': 'main'}, "study='main' is registered already"),
    ({'name': 'my own'}, "study='my own' is not a name"),
    ({'tasks': []}, r'study mine has tasks \[\]; give one or more'),
    ({'tasks': [_MAZE, _MAZE]}, 'give one or more, with different names'),
    ({'methods': ['a']}, r"methods=\['a'\] is not a dict"),
    ({'methods': {1: ()}}, 'method 1 is not a name'),
    ({'methods': {'a': None}}, 'flags=None is not a list of flags'),
    ({'methods': {}}, r'study mine has methods \[\]'),
    ({'methods': {'a/b': ()}}, "method 'a/b' is not a name"),
    ({'methods': {'_mine': ()}}, "method '_mine' is not a name"),
    ({'tasks': [_MAZE._replace(name='..')]}, "task '..' is not a name"),
    ({'tasks': [_MAZE._replace(num_env_steps=0)]}, 'numbers from 1 to'),
    ({'tasks': [_MAZE._replace(num_env_steps=10**400)]}, 'numbers from 1 to'),
    ({'tasks': [_MAZE._replace(num_env_steps=1e6)]}, 'steps=1000000.0; allow'),
    ({'tasks': [_MAZE._replace(chance=5)]}, 'maze: chance=5; allowed: 0 to 1'),
    ({'tasks': [_MAZE._replace(chance='a')]}, "chance='a'; allowed: 0 to 1"),
    ({'tasks': [_MAZE._replace(core_minutes=-1)]}, 'minutes=-1; allowed: 0 to'),
    ({'tasks': [_MAZE._replace(core_minutes=1e308)]}, 'allowed: 0 to'),
    (
      {'methods': {'a': '--curriculum=rcg'}},
      "flags='--curriculum=rcg' is not a list of flags; give a tuple",
    ),
    ({'methods': {'a': ['rcg']}}, "'rcg' is not a flag that a study may give"),
    ({'methods': {'a': ['--seed=1']}}, "method 'a': '--seed=1' is not a flag"),
    ({'methods': {'a': ['--device=gpu:0']}}, "'--device=gpu:0' is not a flag"),
    (
      {'tasks': [_MAZE._replace(flags=('--import=maze.py',))]},
      'allowed: those of launch.main except device, import, num_env_steps',
    ),
  )
  def test_what_cannot_be_run_is_refused(self, changes, message):
    with self.assertRaisesRegex(ValueError, message):
      self._register(**changes)
    self.assertNotIn('mine', studies.STUDIES.names())


if __name__ == '__main__':
  absltest.main()
