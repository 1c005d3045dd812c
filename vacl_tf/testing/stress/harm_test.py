# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Each harm changes a file; what a command loses is seen."""

import pathlib
import shutil

import numpy as np
from absl.testing import absltest

from vacl_tf.testing.stress import damage
from vacl_tf.testing.stress import harm

_ROWS = (
  'iteration,env_steps,wall_seconds,coverage\r\n1,10,0.5,\r\n2,20,1.5,0.25\r\n'
)
_JSON = '{"horizon": 10, "num_agents": 4, "coverage": 0.5}'


class HarmTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    self.whole = self.folder / 'whole'
    (self.whole / 'checkpoints').mkdir(parents=True)
    (self.whole / 'config.json').write_text(_JSON)
    (self.whole / 'metrics.csv').write_text(_ROWS)
    (self.whole / 'checkpoints' / 'ckpt-1.index').write_bytes(bytes(range(99)))
    sets = {'1/active_phi': np.ones(3), '2/active_phi': np.ones(3)}
    np.savez(self.whole / 'curriculum.npz', **sets)

  def _copy(self):
    path = self.folder / 'copy'
    shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(self.whole, path)
    return path

  def test_every_harm_of_every_file_changes_it(self):
    before = damage.contents(self.whole)
    for name in before:
      for how in harm.harms(name):
        if how in ('a bomb', 'NaN'):  # Big; and what has no number has no NaN.
          continue
        path = self._copy()
        harm.do(how, path / name)
        with self.subTest(f'{name} {how}'):
          self.assertNotEqual(damage.contents(path).get(name), before[name])
          others = {x: y for x, y in damage.contents(path).items() if x != name}
          self.assertEqual(
            others, {x: y for x, y in before.items() if x != name}
          )

  def test_harms_of_one_kind_of_file(self):
    path = self._copy()
    harm.do('absurd numbers', path / 'config.json')
    self.assertIn('"horizon": 1000000000', (path / 'config.json').read_text())
    harm.do('a letter', path / 'metrics.csv')
    self.assertIn('\nb,20', (path / 'metrics.csv').read_text())
    self.assertNotIn('a bomb', harm.harms('metrics.csv'))

  def test_a_bomb_is_small_and_says_that_it_is_big(self):
    path = self._copy() / 'curriculum.npz'
    harm.do('a bomb', path)
    self.assertLess(path.stat().st_size, 1 << 22)
    with np.load(path, mmap_mode='r') as arrays:
      name = arrays.files[0]
      with arrays.zip.open(f'{name}.npy') as file:
        np.lib.format.read_magic(file)
        shape, _, _ = np.lib.format.read_array_header_1_0(file)
    self.assertEqual(shape, (1 << 25,))


class LostTest(HarmTest):
  def _case(self, command, file='config.json'):
    return damage.Case(self.whole, self.folder, command, file, 'cut')

  def test_a_reader_may_change_nothing(self):
    before = damage.contents(self.whole)
    path = self._copy()
    self.assertEqual(
      damage.lost(self._case('evaluate'), False, before, path), []
    )
    (path / 'config.json').write_text('{}')
    self.assertEqual(
      damage.lost(self._case('evaluate'), False, before, path), ['config.json']
    )

  def test_what_is_set_aside_is_not_lost(self):
    before = damage.contents(self.whole)
    path = self._copy()
    case = self._case('train', 'curriculum.npz')
    (path / 'curriculum.npz').rename(path / 'curriculum.npz.broken1')
    for has_trained in (False, True):
      self.assertEqual(damage.lost(case, has_trained, before, path), [])
    (path / 'curriculum.npz.broken1').unlink()
    for has_trained in (False, True):
      self.assertEqual(
        damage.lost(case, has_trained, before, path), ['curriculum.npz']
      )

  def test_rows_that_are_gone_are_counted(self):
    path = self._copy()
    lines = _ROWS.encode().splitlines()
    self.assertEqual(damage.lost_rows(lines, path), 0)
    (path / 'metrics.csv').rename(path / 'metrics.csv.broken1')
    self.assertEqual(damage.lost_rows(lines, path), 0)
    (path / 'metrics.csv.broken1').write_text(_ROWS.partition('\n')[0] + '\n')
    self.assertEqual(damage.lost_rows(lines, path), 2)

  def test_a_huge_file_is_not_read(self):
    path = self._copy()
    harm.do('huge', path / 'metrics.csv')
    before = damage.megabytes()
    self.assertEqual(damage.lost_rows([], path), 0)
    self.assertLess(damage.megabytes(), before + 500.0)


if __name__ == '__main__':
  absltest.main()
