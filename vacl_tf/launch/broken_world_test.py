# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A user's world that turns out to be broken ends a run in one line."""

import pathlib
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf.environments import task_spec
from vacl_tf.launch import command_line
from vacl_tf.launch import main
from vacl_tf.testing import commands
from vacl_tf.testing import fakes


class BrokenWorldTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.dict(catalog.TASKS._entries))
    preset = task_spec.Preset(num_env_steps=(10_000, 10_000))
    catalog.register_task(
      task_spec.TaskSpec(
        world=config.EnvironmentConfig(name='elated', num_agents=2, horizon=10),
        make=lambda world: fakes.ElatedWorld(fakes.LineWorld(world.horizon)),
        presets={'default': preset},
        least=(2,),
        most=(2,),
      )
    )

  @parameterized.parameters(
    (0, command_line.USAGE),  # It is seen before anything is trained.
    (5, command_line.FAILURE),
  )
  def test_training_ends_in_one_line(self, num_sound, code):
    self.enter_context(
      mock.patch.object(fakes.ElatedWorld, 'num_sound', num_sound)
    )
    path = pathlib.Path(self.create_tempdir().full_path) / 'run'
    ended = commands.run(
      lambda: command_line.run(main.main, main.define),
      '--env=elated',
      '--curriculum=uniform',
      '--config.training.num_tasks=4',
      '--config.ppo.num_minibatches=2',
      '--config.agent.hidden_size=8',
      f'--run_dir={path}',
    )
    self.assertEqual(ended.code, code, ended.err)
    self.assertEqual(
      ended.err,
      'error: env=elated: progress: expected numbers from 0 to 1, given 1.5 in '
      'world 0\n',
    )


if __name__ == '__main__':
  absltest.main()
