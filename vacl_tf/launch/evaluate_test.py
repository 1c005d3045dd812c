# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Policies are played as they were trained; what can't be is one line."""

import gc
import json
import pathlib
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import agents
from vacl_tf import config
from vacl_tf import environments
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf.launch import command_line
from vacl_tf.launch import evaluate
from vacl_tf.launch import judging
from vacl_tf.launch import provenance
from vacl_tf.testing import commands
from vacl_tf.testing import fakes
from vacl_tf.testing import tiny
from vacl_tf.training import checkpoints
from vacl_tf.training import export
from vacl_tf.training import players
from vacl_tf.training import run as run_lib

_SPREAD = {'environment.name': 'simple_spread'}


class BadInputTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)

  def _assert_refused(self, message: str, *flags: str) -> None:
    code, out, text = commands.run(
      lambda: command_line.run(evaluate.main, evaluate.define), *flags
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
      {'config': {'environment.name': 'nowhere'}, 'imports': ['mine.py']},
      '; the run was started with --import=mine.py$',
    ),
    (
      {'config': _SPREAD | {'ppo.trace_decay': 0.5}},
      "config.json: config field='ppo.trace_decay' is unknown",
    ),
    (
      {'config': _SPREAD | {'environment.num_agents': 500}},
      'config.json: num_agents=500 is not possible in simple_spread',
    ),
    ({'config': _SPREAD | {'environment.num_agents': '4'}}, 'config.json: '),
    (
      {'config': _SPREAD | {'agent.hidden_size': 0}},
      'config.json: config.agent.hidden_size=0 is out of range; allowed: 1',
    ),
    ({'config': _SPREAD}, 'neither saved_model/ nor an intact checkpoint'),
  )
  def test_a_folder_without_a_policy(self, content, message):
    (self.folder / 'config.json').write_text(json.dumps(content))
    self._assert_refused(message, f'--run_dir={self.folder}')

  @parameterized.parameters(
    ({'ppo.trace_decay': 0.5}, "field='ppo.trace_decay' is unknown"),
    ({'agent.num_heads': 2}, "field='agent.num_heads' is unknown"),
    ({'environment.name': 'push_bal'}, 'did you mean push_ball'),
    ({'agent.name': 'atention'}, 'did you mean attention'),
  )
  def test_a_policy_whose_config_names_what_does_not_exist(
    self, values, message
  ):
    path = _export(self.folder / 'policy')
    known = path / 'policy.json'
    content = json.loads(known.read_text())
    content['config'] |= values
    known.write_text(json.dumps(content))
    self._assert_refused(
      f'policy/policy.json: .*{message}', f'--saved_model={path}'
    )

  def test_a_world_that_is_broken(self):
    path = _export(self.folder / 'policy')
    make = environments.make
    with mock.patch.object(
      environments, 'make', lambda world: fakes.ElatedWorld(make(world))
    ):
      ended = commands.run(
        lambda: command_line.run(evaluate.main, evaluate.define),
        f'--saved_model={path}',
        '--num_tasks=4',
      )
    self.assertEqual((ended.code, ended.out), (command_line.FAILURE, ''))
    self.assertEqual(
      ended.err,
      'error: env=speaker_listener: progress: expected numbers from 0 to 1, '
      'given 1.5 in world 0\n',
    )

  def test_what_a_users_code_prints_is_not_in_the_object(self):
    module = self.folder / 'noisy.py'
    module.write_text('print("loaded")\n')
    path = _export(self.folder / 'policy')
    make = environments.make

    def noisy(world):
      print('made')
      return make(world)

    with mock.patch.object(environments, 'make', noisy):
      ended = commands.run(
        lambda: command_line.run(evaluate.main, evaluate.define),
        f'--import={module}',
        f'--saved_model={path}',
        '--num_tasks=4',
        '--json',
      )
    self.assertEqual(json.loads(ended.out)['num_tasks'], 4)
    self.assertIn('loaded\n', ended.err)
    self.assertIn('made\n', ended.err)

  @parameterized.parameters('config', 'roles')
  def test_a_policy_that_lacks_a_fact(self, name):
    path = _export(self.folder / 'policy')
    known = path / 'policy.json'
    content = json.loads(known.read_text())
    del content[name]
    known.write_text(json.dumps(content))
    self._assert_refused(
      f"policy.json has no '{name}'; export the policy again",
      f'--saved_model={path}',
    )

  def test_a_graph_is_run_only_where_the_user_says_so(self):
    path = _export(self.folder / 'policy')
    known = path / 'policy.json'
    content = json.loads(known.read_text())
    content['config']['agent.name'] = 'mine'
    known.write_text(json.dumps(content))
    flags = (f'--saved_model={path}', '--num_tasks=4')
    self._assert_refused(
      "agent='mine' is unknown; .* if you trust its author, give run_graph",
      *flags,
    )
    self.assertIn('speaker_listener', _evaluate(*flags, '--run_graph'))

  def test_a_graph_that_cannot_play(self):
    path = _export(self.folder / 'policy')
    other = environments.load('simple_spread')
    cfg = presets.make(env='simple_spread')
    agent = agents.make(cfg, other.roles)
    known = (path / 'policy.json').read_text()
    export.export(agent, other, cfg, path)
    (path / 'policy.json').write_text(known)
    ended = commands.run(
      lambda: command_line.run(evaluate.main, evaluate.define),
      f'--saved_model={path}',
      '--num_tasks=4',
      '--run_graph',
    )
    self.assertEqual((ended.code, ended.out), (command_line.FAILURE, ''))
    self.assertRegex(ended.err, '^error: .*its graph does not work in .*\n$')
    self.assertEqual(ended.err.count('\n'), 1)

  def test_a_policy_of_other_observations(self):
    path = _export(self.folder / 'policy')
    known = path / 'policy.json'
    content = json.loads(known.read_text())
    content['roles'][0]['own_size'] += 1
    known.write_text(json.dumps(content))
    self._assert_refused(
      'was made for another version of speaker_listener',
      f'--saved_model={path}',
    )

  def test_a_video_that_cannot_be_written_before_anything_is_done(self):
    self._assert_refused(
      "video: path='x.avi' has the suffix '.avi'; allowed: .gif, .mp4",
      '--video=x.avi',
      '--run_dir=nowhere',
    )

  def test_numbers_that_do_not_fit_where_there_is_one_only(self):
    policy = f'--saved_model={_export(self.folder / "policy")}'
    self._assert_refused(
      '^error: num_agents=4 is not possible in speaker_listener; allowed: 2$',
      policy,
      '--num_agents=4',
    )
    self._assert_refused(
      'num_boxes=1 does not apply to speaker_listener; leave it out',
      policy,
      '--num_boxes=1',
    )
    for given in ('', 'four'):
      self._assert_refused(
        f'num_agents={given}: not a list of numbers; give one like 4,8,24$',
        policy,
        f'--num_agents={given}',
      )


class CheckpointTest(absltest.TestCase):
  """A run that was killed is evaluated from its checkpoint."""

  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    self.cfg = tiny.shrunk(presets.make(env='simple_spread'))
    length = config.RunLength()
    provenance.write(self.folder / 'config.json', self.cfg, length)
    self.envs = environments.load_all(self.cfg)
    self.run_saved = run_lib.Run(self.cfg, self.envs)
    # As it is initialised, a policy is all but uniform everywhere.
    for part in self.run_saved.judged.policies:
      for variable in part.variables:
        variable.assign(3.0 * variable)
    self.saved = checkpoints.Checkpointer(
      self.run_saved, self.folder / 'checkpoints', 1
    )
    self.saved.restore(report=print)
    self.saved.save()

  def test_it_scores_as_the_exported_policy(self):
    flags = ('--num_tasks=4', '--json', '--num_agents=2,3')
    found = _evaluate(f'--run_dir={self.folder}', *flags)
    self._export()
    self.assertEqual(found, _evaluate(f'--run_dir={self.folder}', *flags))
    self.assertEqual(list(json.loads(found)), ['2', '3'])

  def _export(self) -> pathlib.Path:
    path = self.folder / 'saved_model'
    export.export(self.run_saved.judged, self.envs[-1], self.cfg, path)
    return path

  def test_a_run_that_went_on_is_ahead_of_the_policy_that_it_left(self):
    known = self._export() / 'policy.json'
    run = f'--run_dir={self.folder}'
    facts = json.loads(known.read_text())
    known.write_text(json.dumps(facts | {'iteration': 3}))
    load = mock.patch.object(
      judging.policy_files, 'load_policy', side_effect=ValueError('exported')
    )
    for iteration in (2, 3):  # That of the newest checkpoint.
      self.run_saved.iteration.assign(iteration)
      self.saved.save()
      with load:
        ended = commands.run(
          lambda: command_line.run(evaluate.main, evaluate.define), run
        )
      self.assertEqual(ended.err, 'error: exported\n')
    self.run_saved.iteration.assign(4)
    self.saved.save()
    (self.folder / 'checkpoints' / 'ckpt-9.index').write_text('no checkpoint')
    with load:
      _evaluate(run, '--num_tasks=2')
    ended = commands.run(
      lambda: command_line.run(evaluate.main, evaluate.define),
      run,
      '--run_graph',
    )
    self.assertEqual(ended.code, command_line.USAGE)
    self.assertRegex(ended.err, '^error: .*leave out run_graph\n$')

  def test_its_variables_live_as_long_as_it_does(self):
    policy = judging.load(self.folder, None, run_graph=False)
    gc.collect()
    player = players.ExportedPlayer(
      policy.acting, self.envs[-1], is_greedy=True
    )
    progress = player.progress(2, randomness.root(0))
    self.assertEqual(progress.shape, (self.cfg.environment.horizon, 2))


def _evaluate(*flags: str) -> str:
  """Returns what an evaluation prints."""
  ended = commands.run(
    lambda: command_line.run(evaluate.main, evaluate.define), *flags
  )
  if ended.code:
    raise AssertionError(ended.err)
  return ended.out


def _export(path: pathlib.Path) -> pathlib.Path:
  """Exports an untrained policy; returns where it is."""
  env = environments.load('speaker_listener')
  cfg = presets.make(env='speaker_listener')
  export.export(agents.make(cfg, env.roles), env, cfg, path)
  return path


if __name__ == '__main__':
  absltest.main()
