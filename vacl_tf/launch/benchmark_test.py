# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rate that is quoted is one of work that was done."""

import dataclasses
import json
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized
from dm_env import specs

from vacl_tf import catalog
from vacl_tf import config
from vacl_tf import entity_counts
from vacl_tf import environments
from vacl_tf import presets
from vacl_tf import randomness
from vacl_tf import types
from vacl_tf.environments import task_spec
from vacl_tf.environments.hide_and_seek import speed
from vacl_tf.launch import benchmark
from vacl_tf.launch import command_line
from vacl_tf.testing import commands
from vacl_tf.testing import fakes


class EnvAloneTest(parameterized.TestCase):
  def test_it_counts_steps_of_all_worlds(self):
    rate = benchmark.env_only(
      'simple_spread', num_agents=3, num_worlds=4, num_steps=5, repeats=1
    )
    self.assertGreater(rate, 0)

  def test_what_mujoco_did_is_told_beside_the_rate(self):
    figures = {
      name: 2.0
      for name in ('physics_us', 'contacts', 'constraint_rows', 'holding')
    }
    figures |= {'step_us': 50.0, 'ratio': 1.25, 'locked': 0.5, 'cpu_us': 1.0}
    env = environments.load('ramp_use')
    with mock.patch.object(speed, 'measure', return_value=figures):
      found = benchmark._env_alone(env, repeats=1)
    self.assertEqual(found['env_steps_per_second'], 20_000)
    self.assertEqual((found['env_ratio'], found['env_locked']), (1.25, 0.5))
    self.assertNotIn('env_cpu_us', found)

  def test_a_world_in_a_graph_has_a_rate_alone(self):
    env = environments.load('simple_spread', num_agents=3)
    with mock.patch.object(
      benchmark, '_steps_in_graph', return_value=7.4
    ) as alone:
      found = benchmark._env_alone(env, repeats=2)
    self.assertEqual(found, {'env_steps_per_second': 7})
    alone.assert_called_once_with(env, 500, 70, 2)

  @parameterized.parameters('_steps_in_graph', '_steps_on_host')
  def test_any_world_can_be_stepped(self, name):
    steps = getattr(benchmark, name)
    self.assertGreater(steps(fakes.LineWorld(), 3, 4, repeats=1), 0)

  @parameterized.parameters(
    (types.discrete(3), np.int32, 0, 2),
    (types.multi_discrete((2, 2, 5)), np.int32, 0, 4),
    (specs.BoundedArray((2,), np.float32, -0.5, 2.0), np.float32, -0.5, 2.0),
  )
  def test_random_actions_are_those_of_the_role(self, spec, dtype, low, high):
    role = fakes.LineWorld().roles[0]._replace(action=spec)
    actions = benchmark._random_actions(role, [70, 50], randomness.root(0), 1)
    actions = actions.numpy()
    self.assertEqual(actions.shape, (70, 50, role.num_agents, *spec.shape))
    self.assertEqual(actions.dtype, dtype)
    for action in actions[0, :, 0]:
      spec.validate(action)
    self.assertAlmostEqual(actions.min(), low, delta=0.01)
    self.assertAlmostEqual(actions.max(), high, delta=0.01)

  def test_timed_tells_the_first_call_from_the_best(self):
    calls = []
    first, best = benchmark._timed(lambda: calls.append(0) or (), 3)
    self.assertLen(calls, 4)
    self.assertGreaterEqual(first, 0)
    self.assertGreaterEqual(best, 0)


class CountsTest(parameterized.TestCase):
  def _asked(self, env, counts=None):
    with mock.patch.object(benchmark, '_COUNTS', mock.Mock(value=counts)):
      return benchmark._asked_counts(env)

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
    cfg = benchmark._config(env, given)
    self.assertEqual(entity_counts.path(cfg), (counts,))
    self.assertEqual(cfg.progression.entity_counts, '')

  @parameterized.parameters(
    (['--env=simple_spred'], 'did you mean simple_spread'),
    (['--counts=four'], 'counts=four is not a list of numbers like 4,8 or 2x2'),
    (
      ['--counts=4x2'],
      'counts=4x2 is not what simple_spread counts, .* agents',
    ),
    (['--counts=101'], 'num_agents=101 .*allowed: 2 to 100'),
    (['--import=not_there'], 'import=not_there is not a module'),
  )
  def test_what_can_not_be_measured_is_one_line(self, arguments, message):
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
  def test_a_users_task_is_measured_as_json(self):
    self.enter_context(mock.patch.dict(catalog.TASKS._entries))
    catalog.register_task(_LINE)
    ended = commands.run(
      lambda: command_line.run(benchmark.main, benchmark.define),
      '--env=line',
      '--repeats=1',
      '--json',
    )
    self.assertEqual((ended.code, ended.err), (0, ''))
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
    found = benchmark.measure('line', (2,), 1)
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
