# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Compiled programs are kept, and checked; nothing changes by it."""

import csv
import os
import pathlib
import resource
import subprocess
import sys
import time
from unittest import mock

import tensorflow as tf
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import machine
from vacl_tf.launch import command_line
from vacl_tf.launch import main
from vacl_tf.launch import xla_cache
from vacl_tf.testing import commands

_STEPS = 100  # Of an iteration.
_FLAGS = (
  '--env=speaker_listener',  # It compiles soonest,
  '--curriculum=uniform',  # as does this.
  '--config.training.num_tasks=10',
  '--config.training.num_evaluation_tasks=10',
  '--config.environment.horizon=10',
  '--config.ppo.num_minibatches=1',
  '--config.agent.hidden_size=8',
  f'--num_env_steps={3 * _STEPS}',
  '--evaluation_interval=2',
)
_SECONDS = 240.0


class KeepTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path) / 'xla'
    self.notes = []
    self.enter_context(mock.patch.dict(os.environ))
    os.environ.pop('TF_XLA_FLAGS', None)
    self.enter_context(mock.patch.object(xla_cache, '_cache', None))
    self.enter_context(
      mock.patch.object(command_line, 'is_own_process', lambda: True)
    )
    self._give(str(self.root))

  def _give(self, folder: str | None) -> None:
    self.enter_context(mock.patch.object(xla_cache.FOLDER, 'default', folder))

  def _use(self) -> pathlib.Path | None:
    """Returns the folder that TensorFlow is given, as if in a new process."""
    os.environ.pop('TF_XLA_FLAGS', None)
    xla_cache._cache = None
    xla_cache.use(self.notes.append)
    for flag in os.environ.get('TF_XLA_FLAGS', '').split():
      name, _, value = flag.partition('=')
      if name == '--tf_xla_persistent_cache_directory':
        return pathlib.Path(value)
    return None

  def _keep(self, **contents: str) -> None:
    """Keeps what a process compiles."""
    own = self._use()
    for name, content in contents.items():
      (own / f'{name}.pb').write_text(content)
    xla_cache.keep()

  def _found(self) -> dict[str, str]:
    return {path.stem: path.read_text() for path in self._use().iterdir()}

  def _kept(self) -> list[pathlib.Path]:
    return sorted(self.root.glob('[!v]*/*.pb.*'))

  def test_what_one_process_compiles_the_next_one_has(self):
    self._keep(a='A', b='B')
    self.assertEqual(self._found(), {'a': 'A', 'b': 'B'})
    self._keep(c='C')
    self.assertEqual(self._found(), {'a': 'A', 'b': 'B', 'c': 'C'})
    self.assertEmpty(self.notes)

  def test_unfinished_entries_are_not_kept(self):
    own = self._use()
    (own / 'a.pb.tmp').write_text('half')
    xla_cache.keep()
    self.assertEmpty(self._kept())

  @parameterized.parameters('', 'a', 'AAAAAAAAAAAB', 'AAAAAAAAAAAAA')
  def test_a_damaged_entry_is_dropped(self, content):
    self._keep(a='A' * 12, b='B')
    self._kept()[0].write_text(content)
    self.assertEqual(self._found(), {'b': 'B'})
    self.assertLen(self._kept(), 1)
    self._keep(a='A' * 12)
    self.assertEqual(self._found(), {'a': 'A' * 12, 'b': 'B'})

  def test_a_link_or_folder_is_no_entry(self):
    self._keep(a='A')
    (kept,) = self._kept()
    other = self.root.parent / 'other'
    kept.rename(other)
    kept.symlink_to(other)
    kept.with_name('b.pb.0').mkdir()
    self.assertEmpty(self._found())

  def test_processes_do_not_share_their_folders(self):
    first, second = self._use(), self._use()
    self.assertNotEqual(first, second)
    (first / 'a.pb').write_text('A')
    self.assertEmpty(list(second.iterdir()))

  def test_two_that_compile_the_same_keep_it_once(self):
    own, cache = self._use(), xla_cache._cache
    (own / 'a.pb').write_text('A')
    self._keep(a='A')
    xla_cache._cache = cache
    xla_cache.keep()
    self.assertLen(self._kept(), 1)

  def test_of_two_results_of_the_same_program_one_is_used(self):
    """What the compiler makes may differ from process to process."""
    own, cache = self._use(), xla_cache._cache
    (own / 'a.pb').write_text('A')
    self._keep(a='another A', b='B')
    xla_cache._cache = cache
    xla_cache.keep()
    self.assertLen(self._kept(), 3)
    found = self._found()
    self.assertEqual(found.pop('b'), 'B')
    self.assertIn(found['a'], ('A', 'another A'))
    self.assertEmpty(self.notes)

  def test_it_is_private(self):
    self._keep(a='A')
    for path in (self.root, self._kept()[0].parent, self._use()):
      self.assertEqual(path.stat().st_mode & 0o777, 0o700)

  def test_those_not_used_for_longest_go_first(self):
    self._keep(a='A' * 40, b='B' * 40)
    old = time.time() - 1000.0
    os.utime(self._kept()[1], (old, old))
    with mock.patch.object(xla_cache, '_MOST_BYTES', 100):
      own = self.root / 'vacl_tf-open-x'
      xla_cache._cache = xla_cache._Cache(own, self._shelf())
      own.mkdir()
      (own / 'c.pb').write_text('C' * 40)
      xla_cache.keep()
    self.assertEqual([x.name[0] for x in self._kept()], ['a', 'c'])

  def _shelf(self) -> pathlib.Path:
    return self._kept()[0].parent

  def test_the_folder_of_a_process_that_was_killed_goes(self):
    left, open_ = self._use(), self._use()
    old = time.time() - 1e6
    os.utime(left, (old, old))
    self._use()
    self.assertFalse(left.exists())
    self.assertTrue(open_.exists())

  def test_what_else_is_in_the_folder_is_left_alone(self):
    mine = self.root / 'open-loop'
    mine.mkdir(parents=True)
    (self.root / 'notes.txt').write_text('mine')
    old = time.time() - 1e6
    with mock.patch.object(xla_cache, '_MOST_BYTES', 50):
      self._keep(a='A' * 40)
      (mine / 'weights.pb.x').write_text('W' * 60)
      for path in (mine / 'weights.pb.x', mine):
        os.utime(path, (old, old))
      self._keep(b='B' * 40)
    self.assertTrue((mine / 'weights.pb.x').exists())
    self.assertTrue((self.root / 'notes.txt').exists())
    self.assertEqual([x.name[0] for x in self._shelf().iterdir()], ['b'])

  @parameterized.parameters(
    'XLA_FLAGS', 'TF_XLA_FLAGS', 'TF_NUM_INTRAOP_THREADS'
  )
  def test_other_flags_of_the_compiler_are_another_shelf(self, name):
    with mock.patch.dict(os.environ, {name: '--some_flag=1'}):
      other = xla_cache._key()
    self.assertNotEqual(other, xla_cache._key())

  def test_another_number_of_cpus_is_another_shelf(self):
    with mock.patch.object(machine, 'cpus', lambda: range(99)):
      other = xla_cache._key()
    self.assertNotEqual(other, xla_cache._key())

  def test_a_folder_that_others_can_write_to_is_not_used(self):
    self.root.mkdir()
    self.root.chmod(0o777)
    self.assertIsNone(self._use())
    (note,) = self.notes
    self.assertIn(f'chmod 700 {self.root}', note)

  def test_a_folder_of_another_user_is_not_used(self):
    with mock.patch.object(os, 'getuid', lambda: 12345):
      self.assertIsNone(self._use())
    (note,) = self.notes
    self.assertIn('another user; give another --xla_cache', note)

  def test_a_file_in_its_place_is_said(self):
    self.root.write_text('')
    self.assertIsNone(self._use())
    self.assertRegex(self.notes[0], r'cannot be used \(File exists\)')

  def test_a_disk_that_is_full_is_said(self):
    with mock.patch.object(xla_cache, '_LEAST_FREE', 1 << 60):
      self.assertIsNone(self._use())
    self.assertIn('MB are free', self.notes[0])

  def test_a_quota_that_is_used_up_is_said(self):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, before)
    self.assertIsNone(self._use())
    self.assertIn('cannot be used (File too large)', self.notes[0])

  def test_what_cannot_be_kept_later_is_told(self):
    own = self._use()
    for reason in ('No space left on device', 'Disk quota exceeded'):
      message = f'{own}/jit_f.pb; {reason} [Op:__inference_f_1]\n\t more'
      full = tf.errors.ResourceExhaustedError(None, None, message)
      told = xla_cache.failure(full)
      self.assertIn(f'cannot be kept in {self.root} ({reason})', told)
    other = tf.errors.ResourceExhaustedError(None, None, 'out of memory')
    self.assertIsNone(xla_cache.failure(other))

  def test_a_blank_is_said(self):
    self._give(str(self.root / 'a b'))
    self.assertIsNone(self._use())
    self.assertIn('blank', self.notes[0])

  def test_it_can_be_done_without(self):
    self._give('')
    self.assertIsNone(self._use())
    self.assertFalse(self.root.exists())
    xla_cache.keep()

  def test_a_process_that_does_other_things_too_goes_without(self):
    with mock.patch.object(command_line, 'is_own_process', lambda: False):
      self.assertIsNone(self._use())

  def test_a_folder_of_the_users_own_is_left_alone(self):
    flag = '--tf_xla_persistent_cache_directory=/mine'
    os.environ['TF_XLA_FLAGS'] = flag
    xla_cache.use(self.notes.append)
    self.assertEqual(os.environ['TF_XLA_FLAGS'], flag)

  def test_default_folder(self):
    os.environ['XDG_CACHE_HOME'] = str(self.root)
    self._give(None)
    own = self._use()
    self.assertEqual(own.parent, self.root / 'vacl_tf' / 'xla')


class CopyTest(KeepTest):
  """The same where the file system has no hard links."""

  def setUp(self):
    super().setUp()
    self.enter_context(
      mock.patch.object(os, 'link', side_effect=PermissionError)
    )


class TrainTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.path = pathlib.Path(self.create_tempdir().full_path)

  def _rows(self, name: str, *flags: str) -> list[dict[str, str]]:
    """Returns the rows of a new run, without those of time."""
    command = [sys.executable, '-m', 'vacl_tf.launch.main', *_FLAGS]
    environment = {
      **os.environ,
      'PYTHONPATH': os.pathsep.join(filter(None, sys.path)),
      'TF_XLA_FLAGS': '',
    }
    ended = subprocess.run(
      [*command, f'--run_dir={self.path / name}', *flags],
      env=environment,
      capture_output=True,
      text=True,
      timeout=_SECONDS,
      check=False,
    )
    self.assertEqual(ended.returncode, 0, ended.stderr)
    return self._read(name)

  def _read(self, name: str) -> list[dict[str, str]]:
    with (self.path / name / 'metrics.csv').open(newline='') as file:
      rows = list(csv.DictReader(file))
    for row in rows:
      del row['wall_seconds']
    return rows

  def test_runs_are_the_same_with_kept_with_damaged_and_without(self):
    cache = self.path / 'cache'
    flag = f'--xla_cache={cache}'
    cold = self._rows('cold', flag)
    kept = sorted(cache.glob('*/*.pb.*'))
    self.assertGreater(len(kept), 2)
    data = bytearray(kept[0].read_bytes())
    data[len(data) // 2] ^= 0x40
    kept[0].write_bytes(data)
    for path in kept:
      os.utime(path, (0, 0))
    self.assertEqual(self._rows('warm', flag), cold)
    # All were used, and the damaged one was made again.
    again = sorted(cache.glob('*/*.pb.*'))
    self.assertEqual([x.stem for x in again], [x.stem for x in kept])
    self.assertContainsSubset(kept[1:], again)
    self.assertNotIn(kept[0], again)
    self.assertTrue(all(path.stat().st_mtime for path in again))
    self.assertEmpty(list(cache.glob('vacl_tf-open-*')))
    # This process does other things too, so it goes without.
    ended = commands.run(
      lambda: command_line.run(main.main, main.define),
      *_FLAGS,
      f'--run_dir={self.path / "without"}',
    )
    self.assertEqual(ended.code, 0, ended.err)
    self.assertEqual(self._read('without'), cold)


if __name__ == '__main__':
  absltest.main()
