# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What config.json says, however it was damaged."""

import json
import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf.launch import command_line
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


class ReadConfigTest(absltest.TestCase):
  def test_a_folder_beside_the_right_one_is_told_from_it(self):
    runs = pathlib.Path(self.create_tempdir().full_path)
    policy = runs / 'seed1' / 'saved_model'
    policy.mkdir(parents=True)
    for path in (runs / 'seed1' / 'config.json', policy / 'policy.json'):
      path.write_text('{}')
    (runs / 'none').mkdir()
    for path, message in (
      (runs, 'so give one of them, like .*/seed1 '),
      (policy, 'is an exported policy, not a run; give it to evaluate'),
      (runs / 'none', 'give the run_dir of a run as launch.main made it'),
    ):
      with self.assertRaisesRegex(command_line.UsageError, message):
        records.read_config(path)
    with self.assertRaisesRegex(command_line.UsageError, 'like .*/seed1$'):
      records.read_metrics(runs / 'metrics.csv')


if __name__ == '__main__':
  absltest.main()
