# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Golden runs: what differs is found, what does not is let pass."""

import pathlib
import shutil
import subprocess
from unittest import mock

import numpy as np
from absl.testing import absltest

from vacl_tf import catalog
from vacl_tf.curriculum import base
from vacl_tf.testing import commands
from vacl_tf.testing import golden

_CASE = 'speaker_listener/default/task_expansion'


def _arrays(**changes):
  found = {
    'metrics|iteration 1|loss': np.float64(0.5),
    'metrics|iteration 1|entropy': np.float64(np.nan),
    'metrics|iteration 2|loss': np.float64(0.25),
    'tensors||w#1': np.array([[1.0, 2.0]], np.float32),
    'tensors||w#2': np.array([[3.0, 4.0]], np.float32),
    'tensors||steps#1': np.int64(7),
  }
  return found | changes


class DifferencesTest(absltest.TestCase):
  def test_equal_content_under_other_names_is_the_same(self):
    old = _arrays()
    new = {
      'metrics|iteration 1|policy_loss': old['metrics|iteration 1|loss'],
      'metrics|iteration 1|bits': old['metrics|iteration 1|entropy'],
      'metrics|iteration 2|policy_loss': old['metrics|iteration 2|loss'],
      'tensors||t#1': old['tensors||steps#1'],
      'tensors||w#1': old['tensors||w#2'],
      'tensors||b#1': old['tensors||w#1'],
    }
    self.assertEmpty(golden.differences(old, old))
    self.assertEmpty(golden.differences(old, new))

  def test_a_changed_tensor_is_found_to_the_last_bit(self):
    changed = np.array([[3.0, np.nextafter(np.float32(4), 5)]], np.float32)
    new = _arrays(**{'tensors||w#2': changed})
    [line] = golden.differences(_arrays(), new)
    self.assertEqual(
      line, 'tensors: w#2 float32[1, 2] differs by up to 4.77e-07'
    )

  def test_a_changed_metric_is_found(self):
    new = _arrays(**{'metrics|iteration 1|loss': np.float64(0.75)})
    [line] = golden.differences(_arrays(), new)
    self.assertEqual(line, 'iteration 1: loss=0.5 is now loss=0.75')

  def test_a_metric_of_another_iteration_is_no_excuse(self):
    new = _arrays(**{'metrics|iteration 1|loss': np.float64(0.25)})
    self.assertLen(golden.differences(_arrays(), new), 1)

  def test_what_there_is_more_than_once_is_counted(self):
    old = _arrays(**{'tensors||w#3': np.array([[1.0, 2.0]], np.float32)})
    [line] = golden.differences(old, _arrays())
    self.assertEqual(line, 'tensors: w#3 float32[1, 2] is gone')
    [line] = golden.differences(_arrays(), old)
    self.assertEqual(line, 'tensors: w#3 float32[1, 2] is new')

  def test_shape_and_type_count(self):
    w = np.array([[3.0, 4.0]], np.float32)
    for other in (w[0], w.view(np.int32)):
      new = _arrays(**{'tensors||w#2': other})
      self.assertLen(golden.differences(_arrays(), new), 2)

  def test_of_many_only_some_are_told(self):
    old = {f'tensors||w#{i}': np.float32([i]) for i in range(9)}
    new = {f'tensors||w#{i}': np.float32([i + 0.5]) for i in range(9)}
    found = golden.differences(old, new)
    self.assertLen(found, 5)
    self.assertEqual(found[-1], 'tensors: 5 more')


class CompareTest(absltest.TestCase):
  def test_a_case_that_is_missing_here_differs(self):
    lines, num_different = golden.compare({'a': _arrays()}, {'b': _arrays()})
    self.assertEqual(
      lines, ['b: only here, nothing to compare it with', 'a: missing']
    )
    self.assertEqual(num_different, 1)

  def test_a_line_for_each_case(self):
    other = _arrays(**{'tensors||steps#1': np.int64(8)})
    lines, num_different = golden.compare(
      {'a': _arrays(), 'b': _arrays()}, {'a': _arrays(), 'b': other}
    )
    self.assertEqual(
      lines, ['a: same', 'b: tensors: steps#1=7 is now steps#1=8']
    )
    self.assertEqual(num_different, 1)


class CasesTest(absltest.TestCase):
  def test_every_task_preset_and_curriculum_is_played(self):
    found = golden.cases()
    wanted = {
      golden.Case(task, preset, curriculum)
      for task in catalog.TASKS.names()
      for preset in catalog.TASKS.get(task).presets
      for curriculum in catalog.CURRICULA.names()
    }
    self.assertGreaterEqual(len(wanted), 36)
    self.assertContainsSubset(found, wanted)
    # All but those that training refuses.
    missing = wanted - set(found)
    for task, curriculum in {(x.task, x.curriculum) for x in missing}:
      with self.assertRaises(base.UnsuitableError):
        golden.play(golden.Case(task, 'default', curriculum))

  def test_configs_are_possible_ones(self):
    for case in golden.cases():
      golden.make_config(case)  # Raises if not.

  def test_cases_are_chosen_by_parts_of_their_names(self):
    found = golden.cases('push_ball/paper,ramp_use/default/vacl')
    # All curricula with one preset, and one.
    self.assertLen(found, len(catalog.CURRICULA.names()) + 1)
    self.assertEqual(str(found[-1]), 'ramp_use/default/vacl')


class CommandTest(absltest.TestCase):
  def test_a_real_case_is_the_same_again(self):
    [case] = golden.cases(_CASE)
    first = golden.play(case)
    names = ' '.join(first)
    for part in ('speaker_policy', 'adam/m', 'square', 'phi', 'env_steps'):
      self.assertIn(part, names)
    self.assertNotIn('wall_seconds', names)
    path = pathlib.Path(self.create_tempdir()) / 'again.npz'
    golden.dump([case], False, path)
    lines, num_different = golden.compare({_CASE: first}, golden.read(path))
    self.assertEqual(lines, [f'{_CASE}: same'])
    self.assertEqual(num_different, 0)

  def test_curricula_are_told_what_they_ask_for(self):
    for name in ('plr', 'hindsight'):  # Both ask for more than values.
      case = golden.Case('simple_spread', 'default', name)
      found = golden.play(case)
      self.assertIn('metrics|made up 0|training_value', found)

  def test_what_can_not_be_done_is_told_in_a_line(self):
    for arguments in (
      ['--list', '--cases=chess'],
      ['--against=no_such_commit'],
      ['--against=HEAD', '--cases=chess'],
      [],
    ):
      ended = commands.run(golden.main, *arguments)
      self.assertEqual(ended.code, 2, arguments)
      self.assertEqual(ended.err.count('\n'), 1, ended.err)

  def test_a_commit_without_golden_runs_gets_the_first_that_there_were(self):
    if shutil.which('git') is None:
      self.skipTest('there is no git')
    root = pathlib.Path(self.create_tempdir())

    def git(*arguments):
      who = ['-c', 'user.name=a', '-c', 'user.email=a@b.c']
      command = ['git', '-C', str(root), *who, *arguments]
      done = subprocess.run(command, check=True, capture_output=True, text=True)
      return done.stdout.strip()

    def commit(path, text):
      (root / path).parent.mkdir(parents=True, exist_ok=True)
      (root / path).write_text(text)
      git('add', '.')
      git('commit', '-qm', 'x')
      return git('rev-parse', 'HEAD')

    git('init', '-q')
    path = 'vacl_tf/testing/golden.py'
    old = commit('vacl_tf/a.py', 'old')
    commit(path, 'first')
    new = commit(path, 'second')
    with mock.patch.object(golden, '_ROOT', root):
      for number, (which, text) in enumerate(
        {old: 'first', new: 'second'}.items()
      ):
        folder = root / f'tree{number}'
        folder.mkdir()
        golden.extract(which, folder)
        self.assertEqual((folder / 'vacl_tf/a.py').read_text(), 'old')
        self.assertEqual((folder / path).read_text(), text)


if __name__ == '__main__':
  absltest.main()
