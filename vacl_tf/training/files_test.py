# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A file is the old one or the new one, and never part of either."""

import errno
import locale
import os
import pathlib
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.training import files


class FilesTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    self.path = self.folder / 'a file'

  @parameterized.parameters('fsync', 'replace')
  def test_what_fails_leaves_the_old_one_and_nothing_else(self, deed):
    files.write_text(self.path, 'old')
    full = OSError(errno.ENOSPC, 'No space left on device')
    with mock.patch.object(os, deed, side_effect=full):
      with self.assertRaisesRegex(
        files.WriteError, r'a file cannot be written \(No space left on device'
      ):
        files.write_text(self.path, 'new')
    self.assertEqual(list(self.folder.iterdir()), [self.path])
    self.assertEqual(self.path.read_text(), 'old')

  def test_it_is_on_the_disk_before_it_takes_the_place_of_the_old_one(self):
    deeds = []
    with (
      mock.patch.object(os, 'fsync', lambda _: deeds.append('fsync')),
      mock.patch.object(os, 'replace', lambda *_: deeds.append('replace')),
    ):
      files.write_text(self.path, 'new')
    self.assertEqual(deeds, ['fsync', 'replace', 'fsync'])

  def test_text_is_utf_8_whatever_the_locale_is(self):
    self.addCleanup(
      locale.setlocale, locale.LC_CTYPE, locale.setlocale(locale.LC_CTYPE)
    )
    locale.setlocale(locale.LC_CTYPE, 'C')
    files.write_text(self.path, 'größer')
    self.assertEqual(self.path.read_bytes().decode(), 'größer')

  def test_errors_of_other_kinds_are_named_by_their_first_line(self):
    with self.assertRaisesRegex(files.WriteError, r'\(it is full\)$'):
      with files.writing(self.path, ValueError):
        raise ValueError('{{node x}} it is full\nand more')
    with self.assertRaises(KeyError):
      with files.writing(self.path, ValueError):
        raise KeyError

  def test_nothing_is_set_aside_over_something_else(self):
    for name in ('a file.old1', 'a file.old2'):
      (self.folder / name).symlink_to('nowhere')
    self.path.write_text('mine')
    self.assertEqual(files.set_aside(self.path, '.old').name, 'a file.old3')
    self.assertEqual((self.folder / 'a file.old3').read_text(), 'mine')


if __name__ == '__main__':
  absltest.main()
