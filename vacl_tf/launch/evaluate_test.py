# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a policy cannot be evaluated on is refused in one line."""

import json
import pathlib

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import environments
from vacl_tf import presets
from vacl_tf.launch import command_line
from vacl_tf.launch import evaluate
from vacl_tf.networks import policy_value
from vacl_tf.testing import commands
from vacl_tf.training import saving


class BadInputTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)

  def _assert_refused(self, message: str, *flags: str) -> None:
    code, out, text = commands.run(
      lambda: command_line.run(evaluate.main), *flags
    )
    self.assertEqual((code, out), (command_line.USAGE, ''), text)
    self.assertRegex(text, message)
    self.assertEqual(text.count('\n'), 1, text)

  @parameterized.parameters(
    ([], 'no config.json that can be read'),
    ({'config': None}, 'no config.json that can be read'),
    (
      {'config': {'environment.name': 'nowhere'}},
      "config.json: env='nowhere' is unknown; allowed",
    ),
    (
      {'config': {'environment.num_agents': 500}},
      'config.json: num_agents=500 is not possible in simple_spread',
    ),
    ({'config': {'environment.num_agents': '4'}}, 'config.json: '),
    (
      {'config': {'network.hidden_size': 0}},
      'config.json: config.network.hidden_size=0 is out of range; allowed: 1',
    ),
    ({'config': {}}, 'neither saved_model/ nor a whole checkpoint'),
  )
  def test_a_folder_without_a_policy(self, content, message):
    (self.folder / 'config.json').write_text(json.dumps(content))
    self._assert_refused(message, f'--run_dir={self.folder}')

  def test_a_video_that_cannot_be_written_before_anything_is_done(self):
    self._assert_refused(
      "video: path='x.avi' has the suffix '.avi'; allowed: .gif, .mp4",
      '--video=x.avi',
      '--run_dir=nowhere',
    )

  def test_numbers_that_do_not_fit_where_there_is_one_only(self):
    path = self.folder / 'policy'
    env = environments.load('speaker_listener')
    cfg = presets.make(env='speaker_listener')
    network = policy_value.PolicyValue(env.roles, cfg.network, seed=0)
    saving.export(network, env, cfg, path)
    policy = f'--saved_model={path}'
    self._assert_refused(
      '^error: num_agents=4 is not possible in speaker_listener; allowed: 2$',
      policy,
      '--num_agents=4',
    )
    for given in ('', 'four'):
      self._assert_refused(
        f'num_agents={given} is not a list of numbers; give one like 4,8,24',
        policy,
        f'--num_agents={given}',
      )


if __name__ == '__main__':
  absltest.main()
