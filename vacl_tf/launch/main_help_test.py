# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the training command tells of its flags and constants."""

from unittest import mock

from absl.testing import absltest

from vacl_tf import catalog
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.launch import command_line
from vacl_tf.launch import main
from vacl_tf.testing import commands


class HelpTest(absltest.TestCase):
  def test_help_lists_names_and_flags_of_the_choice(self):
    ended = commands.run(
      lambda: command_line.run(main.main, main.define),
      '--help',
      '--env=lock_and_return',
    )
    self.assertEqual((ended.code, ended.err), (0, ''))
    words = ' '.join(ended.out.split())
    for text in (
      f'One of {", ".join(catalog.TASKS.names())}. Default: simple_spread.',
      f'One of {", ".join(catalog.CURRICULA.names())}. Default: vacl.',
      '--preset=TEXT One of default, paper. Default: default.',
      'Default: recurrent_attention.',
      # Of this task's preset, not of all.
      '--config.training.num_tasks=N Worlds played in parallel (B). Allowed: 1 '
      'to 1000000. Default: 300.',
      '--num_env_steps=N Total environment steps (evaluation not counted). '
      'Allowed: 1 to 1000000000000. Default: 20000000.',
      '--[no]config.environment.sees_birthplace',
      '--config.agent.auxiliary_position_cost',
    ):
      self.assertIn(text, words)
    self.assertLessEqual(max(map(len, ended.out.splitlines())), 80)

  def test_print_config_trains_nothing(self):
    with mock.patch.object(main.session, 'train') as train:
      ended = commands.run(
        lambda: command_line.run(main.main, main.define),
        *('--print_config', '--env=lock_and_return', '--num_agents=2'),
        *('--config.ppo.clip=0.1', '--num_checkpoints=2', '--preset=paper'),
      )
    train.assert_not_called()
    self.assertEqual((ended.code, ended.err), (0, ''))
    rows = [line.split(maxsplit=2) for line in ended.out.splitlines()]
    found = {name: (value, origin) for name, value, origin in rows}
    cfg = presets.make(env='lock_and_return', num_agents=2, preset='paper')
    leaves = overrides.leaves(overrides.replace(cfg, {'ppo.clip': 0.1}))
    length = overrides.leaves(presets.run_length(cfg))
    self.assertSameElements(found, ['field', *leaves, *length])
    for name, want in (
      ('ppo.clip', ('0.1', 'command line')),
      ('preset', ('paper', 'command line')),
      ('num_checkpoints', ('2', 'command line')),
      ('environment.name', ('lock_and_return', 'command line')),
      ('environment.num_boxes', ('2', 'command line')),
      ('environment.horizon', ('60', 'task')),
      ('curriculum.name', ('vacl', 'default')),
      ('num_env_steps', (str(length['num_env_steps']), 'preset')),
    ):
      self.assertEqual(found[name], want)


if __name__ == '__main__':
  absltest.main()
