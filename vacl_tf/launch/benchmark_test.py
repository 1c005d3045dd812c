# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What is measured is what was asked for."""

import dataclasses
import json
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import presets
from vacl_tf.environments import task_spec
from vacl_tf.launch import benchmark
from vacl_tf.launch import command_line
from vacl_tf.testing import commands
from vacl_tf.testing import fakes


class CountsTest(parameterized.TestCase):
  def _asked(self, env, counts=None):
    with mock.patch.object(benchmark, '_COUNTS', mock.Mock(value=counts)):
      return benchmark._asked_counts(catalog.TASKS.get(env))

  @parameterized.parameters(
    ('simple_spread', None, [(4,), (8,)]),
    ('push_ball', None, [(2,), (4,)]),
    ('lock_and_return', None, [(2, 2)]),
    ('ramp_use', None, [(1,)]),
    ('simple_spread', '4,100', [(4,), (100,)]),
    ('lock_and_return', '4x2,8', [(4, 2), (8,)]),
  )
  def test_counts(self, env, given, counts):
    self.assertEqual(self._asked(env, given), counts)

  @parameterized.parameters(
    ('simple_spread', (8,), (8,)),
    ('lock_and_return', (4, 2), (4, 2)),
    ('lock_and_return', (4,), (4, 4)),
  )
  def test_the_config_has_these_counts_and_no_progression(
    self, env, given, counts
  ):
    cfg = benchmark.make_config(catalog.TASKS.get(env), given)
    self.assertEqual(entity_counts.path(cfg), (counts,))
    self.assertEqual(cfg.progression.entity_counts, '')

  @parameterized.parameters(
    (['--env=simple_spred'], 'did you mean simple_spread'),
    (['--counts=four'], 'counts=four is not a list of numbers like 4,8 or 2x2'),
    (
      ['--counts=4x2'],
      'counts=4x2 does not fit simple_spread, which counts agents',
    ),
    (['--counts=4,101'], 'num_agents=101 .*allowed: 2 to 100'),
    (['--import=not_there'], 'import=not_there is not a module'),
    (['--agent=atention'], 'did you mean attention'),
    (['--config.ppo.clipp=0.1'], 'config.ppo.clip'),
    (['--config.training.num_tasks=0'], 'num_tasks=0 .*allowed: 1 to'),
    (['--config.ppo.num_minibatches=11'], 'num_minibatches=11 does not divide'),
  )
  @mock.patch.object(benchmark, 'measure', side_effect=AssertionError)
  def test_what_can_not_be_measured_is_one_line(self, arguments, message, _):
    ended = commands.run(
      lambda: command_line.run(benchmark.main, benchmark.define), *arguments
    )
    self.assertEqual((ended.code, ended.out), (command_line.USAGE, ''))
    self.assertRegex(ended.err, message)
    self.assertEqual(ended.err.count('\n'), 1)


_LINE = task_spec.TaskSpec(
  world=config.EnvironmentConfig(
    name='line', num_agents=2, horizon=fakes.HORIZON
  ),
  make=lambda world: fakes.LineWorld(world.horizon),
  least=(2,),
  most=(2,),
  presets={
    'default': task_spec.Preset(
      num_env_steps=(1000, 1000),
      values={
        'agent.hidden_size': 8,
        'training.num_tasks': 20,
        'training.num_evaluation_tasks': 20,
        'curriculum.capacity': 30,
        'curriculum.num_easy_tasks': 20,
        'curriculum.num_children': 10,
      },
    )
  },
)


class MeasureTest(parameterized.TestCase):
  def test_flags_reach_what_is_measured_and_timed_starts(self):
    asked = []

    def measured(cfg, repeats):
      asked.append((cfg, repeats))
      with mock.patch('subprocess.run', side_effect=OSError) as ran:
        self.assertRaises(OSError, benchmark._starts, cfg)
      return {'flags': ran.call_args.args[0]}

    with mock.patch.object(benchmark, 'measure', measured):
      ended = commands.run(
        lambda: command_line.run(benchmark.main, benchmark.define),
        *('--env=push_ball', '--counts=2,4', '--repeats=3', '--json'),
        '--agent=recurrent_attention',
        '--config.training.num_tasks=240',
        '--config.ppo.clip=0.1',
      )
    self.assertEqual((ended.code, ended.err), (0, ''))
    found = json.loads(ended.out)
    self.assertEqual(list(found), ['2', '4'])
    for count, (cfg, repeats) in zip((2, 4), asked, strict=True):
      self.assertEqual(cfg.environment.counts, (count,))
      self.assertEqual(cfg.agent.name, 'recurrent_attention')
      self.assertEqual((cfg.training.num_tasks, cfg.ppo.clip), (240, 0.1))
      self.assertEqual(repeats, 3)
      self.assertContainsSubset(
        [
          '--agent=recurrent_attention',
          '--config.training.num_tasks=240',
          '--config.ppo.clip=0.1',
          f'--num_agents={count}',
          f'--num_env_steps={240 * cfg.environment.horizon}',
        ],
        found[str(count)]['flags'],
      )

  def test_a_users_task_is_measured_as_json(self):
    self.enter_context(mock.patch.dict(catalog.TASKS._entries))

    def make(world):
      print('made')
      return _LINE.make(world)

    catalog.register_task(dataclasses.replace(_LINE, make=make))
    ended = commands.run(
      lambda: command_line.run(benchmark.main, benchmark.define),
      '--env=line',
      '--repeats=1',
      '--json',
    )
    # What a user's code prints is not in the object.
    self.assertEqual((ended.code, set(ended.err.split())), (0, {'made'}))
    found = json.loads(ended.out)
    self.assertEqual(list(found), ['2'])
    self.assertEqual(
      list(found['2']),
      [
        'env_steps_per_second',
        'rollout_steps_per_second',
        'training_steps_per_second',
        'update_us_per_agent_sample',
        'matmul_bound_us',
        'collect_ms',
        'learn_ms',
        'curriculum_ms',
        'evaluate_ms',
        'curriculum_share',
        'compile_seconds',
        'set_up_seconds',
        'retraces',
        'peak_memory_mb',
      ],
    )
    self.assertEqual(found['2']['retraces'], 0)

  @parameterized.parameters((0, 1.0), (20, 10 / 48))  # Of 48 rows, 2 agents.
  def test_an_update_is_measured_by_what_it_learns_from(self, most, share):
    self.enter_context(mock.patch.dict(catalog.TASKS._entries))
    values = _LINE.presets['default'].values | {
      'ppo.max_minibatch': most,
      'ppo.microbatch_vectors': 20,
    }
    preset = dataclasses.replace(_LINE.presets['default'], values=values)
    task = dataclasses.replace(_LINE, presets={'default': preset})
    catalog.register_task(task)
    cfg = presets.make(env='line')
    found = benchmark.measure(
      benchmark.make_config(catalog.TASKS.get('line'), (2,)), repeats=1
    )
    played = 20 * fakes.HORIZON * 2 * cfg.ppo.num_epochs
    learned = 1e3 * found['learn_ms'] / found['update_us_per_agent_sample']
    self.assertAlmostEqual(learned / played, share, places=2)

  def test_a_broken_world_is_a_failure_in_one_line(self):
    self.enter_context(mock.patch.dict(catalog.TASKS._entries))
    catalog.register_task(
      dataclasses.replace(
        _LINE, make=lambda world: fakes.ElatedWorld(_LINE.make(world))
      )
    )
    ended = commands.run(
      lambda: command_line.run(benchmark.main, benchmark.define),
      '--env=line',
      '--repeats=1',
    )
    self.assertEqual((ended.code, ended.out), (command_line.FAILURE, ''))
    self.assertRegex(
      ended.err, r'^error: env=line: progress: expected numbers .*\n$'
    )


if __name__ == '__main__':
  absltest.main()
