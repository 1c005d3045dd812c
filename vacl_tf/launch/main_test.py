# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Bad input is refused in one line, and nothing is lost."""

import dataclasses
import importlib.metadata
import json
import pathlib
from typing import Annotated
from unittest import mock

from absl import flags
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.environments import task_spec
from vacl_tf.launch import command_line
from vacl_tf.launch import config_flags
from vacl_tf.launch import main
from vacl_tf.launch import provenance
from vacl_tf.testing import commands


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Corridor(config.EnvironmentConfig):
  wind: Annotated[float, config.Range(0.0, 9.0)] = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Steady(config.CurriculumConfig):
  pace: Annotated[float, config.Range(0.0, 1.0)] = 0.25


class BadInputTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)

  def _assert_refused(self, message: str, *arguments: str) -> None:
    if not any(x.startswith('--run_dir') for x in arguments):
      arguments += (f'--run_dir={self.folder / "run"}',)
    code, _, text = commands.run(
      lambda: command_line.run(main.main, main.define), *arguments
    )
    self.assertEqual(code, command_line.USAGE, text)
    self.assertRegex(text, message)
    self.assertEqual(text.count('\n'), 1, text)

  @parameterized.parameters(
    ('--env=simple_spred', 'did you mean simple_spread'),
    ('--preset=papr', 'did you mean paper'),
    ('--curriculum=vacle', 'did you mean vacl'),
    ('--curriculum=', "curriculum='' is unknown"),
    ('--agent=', "agent='' is unknown"),
    ('--flagfile=mine', 'there is no --flagfile; give'),
    ('--config.ppo.clp=1', 'config.ppo.clip'),
    ('--config.ppo.clip=much', 'config.ppo.clip'),
    ('--config.ppo.clip=7', 'allowed: 1e-06 to 1.0'),
    ('--config.curriculum.kernel=joined', 'did you mean joint'),
    ('--num_agents=1', 'num_agents=1 .*allowed: 2 to 100'),
    ('--num_agents=101', 'allowed: 2 to 100'),
    ('--entity_counts=8,4', 'does not grow from 8 to 4; give'),
    ('--entity_counts=4,4', 'does not grow from 4 to 4; give'),
    ('--entity_counts=4,few', "'4,few' is not a list of counts; give one"),
    ('--entity_counts=4,101', 'num_agents=101 .*allowed: 2 to 100'),
    ('--entity_counts=1,4', 'num_agents=1 .*allowed: 2 to 100'),
    ('--entity_counts=2x2,4x2', 'which counts agents; give .* like 2,4,8'),
    (
      '--num_boxes=1',
      'num_boxes=1 does not apply to simple_spread; leave it out',
    ),
    # Of other agents and tasks.
    ('--config.agent.segment_length=10', 'config.agent.segment_length'),
    ('--config.environment.reach=1', 'config.environment.reach'),
    ('--noconfig.environment.has_box', 'config.environment.has_box'),
    ('--config.environment.cover_radius=3', 'allowed: 0.0 to 2.0'),
    ('--config.environment.easy_side=-1', 'allowed: 0.0 to 5.9'),
    ('--agent=atention', 'did you mean attention'),
    ('--config.agent.name=attention', 'Did you mean: agent ?'),
    ('--config.curriculum.name=vacl', 'Did you mean: curriculum ?'),
    ('--config.environment.num_agents=4', 'Did you mean: num_agents ?'),
    ('--clip=0.1', 'Did you mean: config.ppo.clip ?'),
    ('--lr=0.1', "flag 'lr'; --help lists those of the command"),
    ('--import=not_there', 'import=not_there is not a module'),
    ('--env=nowhere', "'nowhere' is unknown; allowed"),
    ('--num_env_steps=8399', 'give at least 8400'),
    ('--evaluation_interval=0', 'evaluation_interval=0'),
    ('--stop_at_coverage=-1', 'stop_at_coverage=-1.0 .*allowed: 0.0 to 1.0'),
    ('--stop_at_coverage=2', 'stop_at_coverage=2.0 .*allowed: 0.0 to 1.0'),
    ('--stop_at_coverage=nan', 'stop_at_coverage=nan .*allowed: 0.0 to 1.0'),
    ('--entity_counts=0,4', '0,4 has a number below 1'),
    (
      '--config.progression.entity_counts=4,8',
      'config.progression.entity_counts',
    ),
    ('--seed=-3', 'seed'),
  )
  def test_a_bad_value_is_refused(self, argument, message):
    self._assert_refused(message, argument)
    self.assertFalse((self.folder / 'run' / 'config.json').exists())

  @parameterized.parameters(
    (
      ['--env=speaker_listener', '--entity_counts=2,4'],
      'num_agents=4 is not possible in speaker_listener; allowed: 2$',
    ),
    (
      ['--curriculum=uniform', '--config.curriculum.capacity=10'],
      'config.curriculum.capacity',
    ),
    (
      ['--env=ramp_use', '--config.agent.auxiliary_position_cost=0.1'],
      'auxiliary_position_cost=0.1 needs a position that only the critic',
    ),
    (
      ['--env=speaker_listener', '--config.agent.observation_frame=egocentric'],
      'agent=attention with env=speaker_listener: .*needs a transform',
    ),
    (
      ['--num_agents=16', '--entity_counts=4,8'],
      'does not end at 16, the entity count to train for; leave out one of the',
    ),
    (
      ['--env=ramp_use', '--num_boxes=1'],
      'num_boxes=1 does not apply to ramp_use; leave it out',
    ),
    (
      ['--env=ramp_use', '--num_agents=2'],
      'num_agents=2 is not possible in ramp_use; allowed: 1$',
    ),
    (
      ['--env=lock_and_return', '--num_agents=2', '--num_boxes=9'],
      'num_agents=2 with num_boxes=9 is not possible in lock_and_return; '
      'allowed: 1 to 8 of each$',
    ),
    (
      ['--num_agents=16', '--config.environment.easy_side=0.7'],
      'easy_side=0.7 is too small for 16 landmarks .*; give at least 0.84$',
    ),
    (
      ['--env=lock_and_return', '--config.environment.floor_side=6.1'],
      'floor_side=6.1 is not possible; allowed: 6.0 to 12.0 in steps of 0.2$',
    ),
    (
      ['--env=lock_and_return', '--entity_counts=2,4'],
      'does not fit lock_and_return, .* agents and boxes; .* 2x2,4x4',
    ),
    (
      ['--env=lock_and_return', '--config.environment.horizon=30'],
      'horizon=30 is not possible in lock_and_return; allowed: 60, the default',
    ),
    (
      ['--env=lock_and_return', '--config.agent.segment_length=40'],
      'segment_length=40 does not divide the horizon, 60',
    ),
    (
      ['--env=lock_and_return', '--config.environment.reward_scale=0.1'],
      'config.environment.reward_scale',
    ),
    (
      ['--env=ramp_use', '--config.agent.hidden_size=30'],
      'hidden_size=30 is not a multiple of 4, the number of attention heads',
    ),
    (
      ['--num_agents=8', '--config.training.num_tasks=35'],
      'num_tasks=35 is not a multiple of 10',
    ),
    (
      ['--num_agents=8', '--config.progression.mixing_step=0.33'],
      'mixing_step=0.33 is not a multiple of 0.1; give 0.3$',
    ),
    (
      ['--num_agents=200'],
      '^error: num_agents=200 is not possible in simple_spread; allowed: 2 to',
    ),
    (
      ['--env=lock_and_return', '--num_agents=16'],
      '^error: num_agents=16 with num_boxes=16',
    ),
    (
      ['--entity_counts=1,4'],
      '^error: entity_counts=1,4: num_agents=1 is not possible',
    ),
    (
      ['--env=lock_and_return', '--entity_counts=2x2x2,4x4x4'],
      'does not fit lock_and_return, which counts agents and boxes; give a ',
    ),
    (['--entity_counts=2x2x2,4x4x4'], 'does not fit simple_spread, .* give'),
    (
      ['--env=lock_and_return', '--entity_counts=3x0,4x0'],
      'has a number below 1',
    ),
  )
  def test_values_that_do_not_fit_together_are_refused(self, given, message):
    self._assert_refused(message, *given)
    self.assertFalse((self.folder / 'run').exists())

  @parameterized.parameters(
    (importlib.metadata.PackageNotFoundError('mujoco'), 'not installed'),
    ('3.10.0', '3.10.0'),
  )
  def test_hide_and_seek_takes_a_mujoco_that_is_new_enough(self, found, told):
    with mock.patch.object(importlib.metadata, 'version', side_effect=[found]):
      self._assert_refused(
        f'mujoco is {told}; .*needs 4.0 or newer: pip install', '--env=ramp_use'
      )
    self.assertFalse((self.folder / 'run').exists())

  def test_a_run_dir_that_is_a_file_is_refused_and_kept(self):
    path = self.folder / 'file'
    path.write_text('mine')
    self._assert_refused('not a folder', f'--run_dir={path}')
    self.assertEqual(path.read_text(), 'mine')

  def test_another_config_is_refused_with_what_differs(self):
    path = self.folder / 'run'
    path.mkdir()
    saved = path / 'config.json'
    provenance.write(
      saved, presets.make(env='simple_spread', seed=1), config.RunLength()
    )
    (path / 'metrics.csv').touch()
    before = saved.read_text()
    self._assert_refused(
      'seed: 1 -> 2; ppo.clip: 0.2 -> 0.1', '--seed=2', '--config.ppo.clip=0.1'
    )
    self.assertEqual(saved.read_text(), before)

  @parameterized.parameters(
    ('{', 'has no config.json that can be read; give another run_dir'),
    ('{}', 'has no config.json that can be read; give another run_dir'),
    (
      {'environment.name': 'simple_spread', 'ppo.trace_decay': 0.5},
      r"run/config.json: config field='ppo.trace_decay' is unknown",
    ),
    ({'environment.name': 'nowhere'}, "run/config.json: env='nowhere' is unkn"),
  )
  def test_a_config_that_is_none_is_refused(self, content, message):
    path = self.folder / 'run'
    path.mkdir()
    if not isinstance(content, str):
      content = json.dumps({'config': content})
    (path / 'config.json').write_text(content)
    self._assert_refused(message)
    self.assertEqual((path / 'config.json').read_text(), content)

  def test_checkpoints_without_a_config_are_refused(self):
    path = self.folder / 'run' / 'checkpoints'
    path.mkdir(parents=True)
    (path / 'ckpt-1.index').write_text('')
    self._assert_refused('no config.json')

  def test_a_run_whose_constants_do_not_fit_together(self):
    path = self.folder / 'run'
    path.mkdir()
    cfg = presets.make(env='simple_spread')
    cfg = overrides.replace(cfg, {'ppo.num_minibatches': 11})
    provenance.write(path / 'config.json', cfg, presets.run_length(cfg))
    self._assert_refused('num_minibatches')

  def test_checkpoints_of_which_none_is_whole_are_refused_and_kept(self):
    path = self.folder / 'run'
    (path / 'checkpoints').mkdir(parents=True)
    (path / 'checkpoints' / 'ckpt-2.index').write_text('')
    provenance.write(
      path / 'config.json',
      presets.make(env='simple_spread'),
      config.RunLength(),
    )
    self._assert_refused('no checkpoint in .* is intact')
    self.assertLen(list((path / 'checkpoints').glob('*.broken')), 1)


class FlagsTest(parameterized.TestCase):
  """Flags are those of the chosen task, agent and curriculum."""

  def _config(self, *arguments: str) -> config.Config:
    found = []

    def make() -> None:
      found.append(main.make_config())

    ended = commands.run(
      lambda: command_line.run(make, main.define), *arguments
    )
    self.assertEqual((ended.code, ended.err), (0, ''))
    return found[0]

  def test_without_flags_it_is_the_first_task(self):
    self.assertEqual(self._config(), presets.make(env=catalog.TASKS.names()[0]))

  def test_a_run_says_its_constants_and_length_itself(self):
    path = pathlib.Path(self.create_tempdir().full_path)
    cfg = overrides.replace(
      presets.make(env='push_ball', agent='recurrent_attention', seed=3),
      {'ppo.clip': 0.1},
    )
    length = config.RunLength(num_env_steps=70_000, num_checkpoints=2)
    run_dir = f'--run_dir={path}'
    self.assertEqual(self._config(run_dir), self._config())
    provenance.write(path / 'config.json', cfg, length)
    self.assertEqual(self._config(run_dir), cfg)
    self.assertEqual(self._config(run_dir, '--restart'), cfg)
    for own in ('--seed=0', '--config.ppo.clip=0.2', '--curriculum=vacl'):
      self.assertEqual(self._config(run_dir, own), self._config(own))
    found = commands.run(
      lambda: command_line.run(main.main, main.define),
      *(run_dir, '--num_env_steps=80000', '--print_config'),
    ).out
    for row in (
      'ppo.clip +0.1 +run_dir',
      'num_env_steps +80000 +command line',
      'num_checkpoints +2 +run_dir',
    ):
      self.assertRegex(found, row)

  @parameterized.parameters(*catalog.TASKS.names())
  def test_every_leaf_is_a_flag(self, env):
    cfg = presets.make(env=env)
    expected = {
      f'config.{name}'
      for name in overrides.leaves(cfg)
      if name not in config_flags.CHOOSE_PRESETS
    }
    found = set()

    def note() -> None:
      found.update(x for x in flags.FLAGS if x.startswith('config.'))

    commands.run(lambda: command_line.run(note, main.define), f'--env={env}')
    self.assertEqual(found, expected)

  @parameterized.parameters(
    (['--env=ramp_use', '--config.environment.reach=0.5'], {}),
    (['--env', 'ramp_use', '--config.environment.reach=0.5'], {}),
    (
      ['--config.environment.reach=0.5', '--noconfig.environment.has_box']
      + ['--env=ramp_use'],
      {'environment.has_box': False},
    ),
  )
  def test_constants_of_a_task_are_flags(self, arguments, more):
    cfg = overrides.replace(
      presets.make(env='ramp_use'), {'environment.reach': 0.5} | more
    )
    self.assertEqual(self._config(*arguments), cfg)

  def test_another_agent_has_its_own_flags(self):
    cfg = self._config(
      '--agent=recurrent_attention',
      '--config.agent.segment_length=7',
      '--config.training.num_tasks=100',
    )
    self.assertEqual(cfg.agent.name, 'recurrent_attention')
    self.assertEqual(cfg.agent.segment_length, 7)

  def test_a_curriculum_of_another_name_may_grow_too(self):
    cfg = self._config('--curriculum=uniform', '--entity_counts=4,8')
    self.assertEqual(cfg.curriculum, config.CurriculumConfig(name='uniform'))
    self.assertEqual(cfg.environment.num_agents, 8)

  def test_a_users_own_constants_are_flags(self):
    registered = ('TASKS', 'CURRICULA')
    for known in (getattr(catalog, kind) for kind in registered):
      self.enter_context(mock.patch.dict(known._entries))
    preset = task_spec.Preset(
      num_env_steps=(10_000, 10_000), values={'environment.wind': 1.5}
    )
    catalog.register_task(
      task_spec.TaskSpec(
        world=_Corridor(name='corridor', num_agents=2, horizon=10),
        make=lambda world: None,
        presets={'default': preset},
        least=(1,),
        most=(9,),
      )
    )
    catalog.register_curriculum(
      catalog.CurriculumSpec(
        name='steady', make=lambda setting: None, config=_Steady
      )
    )
    chosen = ('--env=corridor', '--curriculum=steady')
    cfg = self._config(*chosen, '--config.curriculum.pace=0.5')
    self.assertEqual(cfg.curriculum.pace, 0.5)
    self.assertEqual(cfg.environment.wind, 1.5)
    cfg = self._config(*chosen, '--config.environment.wind=2')
    self.assertEqual(cfg.environment.wind, 2.0)
    self.assertEqual(cfg.curriculum.pace, 0.25)


if __name__ == '__main__':
  absltest.main()
