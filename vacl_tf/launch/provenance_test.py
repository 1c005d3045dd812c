# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""config.json says what was run, on what, and by which commit."""

import hashlib
import json
import pathlib
import shutil
import subprocess
import unittest
from unittest import mock

from absl.testing import absltest

from vacl_tf import config
from vacl_tf import presets
from vacl_tf.launch import provenance


@unittest.skipIf(shutil.which('git') is None, 'needs git')
class RevisionTest(absltest.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    self.file = self.folder / 'provenance.py'
    self.file.touch()
    self.enter_context(mock.patch.object(provenance, '_FILE', self.file))

  def _git(self, *arguments):
    who = ('-c', 'user.name=A', '-c', 'user.email=a@b.c')
    subprocess.run(
      ['git', *who, *arguments],
      cwd=self.folder,
      check=True,
      capture_output=True,
    )

  def _revision(self, is_resumed=False):
    path = self.folder / 'config.json'
    cfg, length = config.Config(), config.RunLength()
    provenance.write(path, cfg, length, is_resumed=is_resumed)
    return json.loads(path.read_text())['git_revision']

  def test_a_package_in_a_repository_of_somebody_else(self):
    self._git('init')
    self._git('commit', '--allow-empty', '-m', 'theirs')
    self.assertEqual(self._revision(), 'unknown')

  def test_a_checkout(self):
    self._git('init')
    self._git('add', 'provenance.py')
    self._git('commit', '-m', 'ours')
    self.assertRegex(self._revision(), '^[0-9a-f]{40}$')
    self.file.write_text('# Changed.')
    self.assertRegex(self._revision(), '^[0-9a-f]{40}-dirty$')

  def test_the_rest_of_a_run_is_marked(self):
    path = self.folder / 'config.json'
    for _ in range(2):
      self.assertEqual(self._revision(is_resumed=True), 'unknown')
    with mock.patch.object(provenance.machine, 'processor', lambda: 'other'):
      self.assertEqual(self._revision(is_resumed=True), 'unknown-resumed')
    self.assertEqual(self._revision(is_resumed=True), 'unknown-resumed')
    self.assertEqual(self._revision(), 'unknown')
    path.write_text('{')
    self.assertEqual(self._revision(is_resumed=True), 'unknown')


class DigestTest(absltest.TestCase):
  def test_a_resumed_run_keeps_those_of_its_start(self):
    folder = pathlib.Path(self.create_tempdir().full_path)
    path, mine = folder / 'config.json', folder / 'mine.py'
    imports = (str(mine), 'numpy', str(folder / 'missing.py'))
    mine.write_text('1')

    def write(is_resumed):
      cfg, length = config.Config(), config.RunLength()
      provenance.write(path, cfg, length, imports, is_resumed=is_resumed)
      return json.loads(path.read_text())

    began = write(is_resumed=False)
    self.assertEqual(began['imports'], list(imports))
    digest = hashlib.sha256(b'1').hexdigest()
    self.assertEqual(began['import_digests'], {'mine.py': digest})
    mine.write_text('2')
    for _ in range(2):
      self.assertEqual(write(is_resumed=True), began)

    cfg, length = config.Config(), config.RunLength()
    provenance.write(path, cfg, length, is_resumed=True)  # From Python.
    self.assertEqual(json.loads(path.read_text()), began)

    for old in ({}, {'import_digests': 3}, {'import_digests': {'mine.py': 3}}):
      path.write_text(json.dumps(old))
      self.assertLen(write(is_resumed=True)['import_digests'], 1)


class ConfigFileTest(absltest.TestCase):
  def test_it_says_what_was_run_on_what(self):
    path = pathlib.Path(self.create_tempdir().full_path) / 'config.json'
    provenance.write(
      path,
      presets.make(env='simple_spread', seed=4),
      config.RunLength(),
      ('my_task', 'b.py'),
    )
    found = json.loads(path.read_text())
    self.assertEqual(found['config']['seed'], 4)
    self.assertEqual(found['imports'], ['my_task', 'b.py'])
    self.assertContainsSubset(('tensorflow', 'mujoco'), found['versions'])
    self.assertGreater(found['hardware']['cores'], 0)
    self.assertIn('git_revision', found)
    self.assertEqual(found['run_length']['evaluation_interval'], 10)


if __name__ == '__main__':
  absltest.main()
