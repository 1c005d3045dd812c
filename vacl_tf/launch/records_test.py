# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What config.json says of the length of a run, however it was damaged."""

import json
import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf.launch import records


class ReadLengthTest(parameterized.TestCase):
  def _read(self, length):
    folder = pathlib.Path(self.create_tempdir().full_path)
    (folder / 'config.json').write_text(json.dumps({'run_length': length}))
    return records.read_length(folder)

  def test_what_is_there(self):
    found = self._read({'num_env_steps': 7, 'checkpoint_interval': 3})
    want = config.RunLength(num_env_steps=7, checkpoint_interval=3)
    self.assertEqual(found, want)

  @parameterized.parameters(0, -1, 2.5, 'ten', None, True, [[3]])
  def test_what_can_not_be_is_the_default(self, interval):
    found = self._read(
      {'num_env_steps': 7, 'evaluation_interval': interval, 'of_old': 1}
    )
    self.assertEqual(found, config.RunLength(num_env_steps=7))

  @parameterized.parameters(None, 3, [[]])
  def test_nothing_of_it(self, length):
    self.assertEqual(self._read(length), config.RunLength(num_env_steps=1))


if __name__ == '__main__':
  absltest.main()
