# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A file that has changed has another digest."""

import hashlib
import json
import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.launch import import_digests


class ImportDigestsTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)

  def test_files_by_name_without_modules(self):
    mine = self.folder / 'mine.py'
    mine.write_text('1')
    imports = (str(mine), 'numpy', str(self.folder / 'missing.py'))
    then = import_digests.of_files(imports)
    self.assertEqual(then, {'mine.py': hashlib.sha256(b'1').hexdigest()})
    self.assertEmpty(import_digests.changed(then, then))
    mine.write_text('2')
    now = import_digests.of_files(imports)
    self.assertEqual(import_digests.changed(then, now), ['mine.py'])
    # Nobody knows whether a file that was not imported then has changed.
    self.assertEmpty(import_digests.changed({}, now))

  @parameterized.parameters(
    (None, {}),
    ('{', {}),
    ('[]', {}),
    ('{}', {}),
    ({'import_digests': 3}, {}),
    ({'import_digests': {'a.py': 3, 'b.py': 'ab'}}, {'b.py': 'ab'}),
  )
  def test_of_a_run(self, content, want):
    path = self.folder / 'config.json'
    if content is not None:
      text = content if isinstance(content, str) else json.dumps(content)
      path.write_text(text)
    self.assertEqual(import_digests.of_run(path), want)


if __name__ == '__main__':
  absltest.main()
