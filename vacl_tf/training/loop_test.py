# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The loop learns a small world, and each part of it is needed.

`test_it_learns_what_only_the_curriculum_leads_to` is to fail if the advantage's
sign is flipped (coverage 0.09 in a trial of the same parts), if no children are
born (spread 0.17) or if all values are 0 (spread 0).
"""

import dataclasses
import functools
import math
import time
from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import overrides
from vacl_tf.curriculum import base
from vacl_tf.environments import base as worlds
from vacl_tf.testing import fakes
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import replicas
from vacl_tf.training import run as run_lib

_NUM_ITERATIONS = 30
_CONFIG = config.Config(
  agent=config.AttentionConfig(hidden_size=32),
  ppo=config.PpoConfig(
    learning_rate=5e-3,
    entropy_cost=0.003,
    discount=0.9,
    num_minibatches=8,
    microbatch_vectors=40_000,
  ),
  curriculum=config.TaskExpansionConfig(
    capacity=256,
    num_easy_tasks=64,
    num_children=100,
    max_children_per_seed=0,
    step_size=0.5,
    noise=0.5,
    noise_probability=1.0,
  ),
  training=config.TrainingConfig(num_tasks=200),
)
_SHORT = dataclasses.replace(
  _CONFIG, training=config.TrainingConfig(num_tasks=8)
)


def _programs(run, env, cfg):
  """Returns programs that do not learn, which would take most of the time."""
  programs = programs_lib.Programs(run, [env], cfg, use_xla=False)
  programs.learn = lambda collected, seed: (
    dict.fromkeys(loop._WATCHED, tf.constant(0.5)),
    dict.fromkeys(collected, ()),
  )
  return programs


@functools.cache
def _made(cfg):
  """Returns a run, its programs, traced once for all tests, and its values."""
  env = fakes.LineWorld()
  run = run_lib.Run(cfg, [env])
  return run, _programs(run, env, cfg), [x.numpy() for x in run.variables]


def _begun(cfg):
  """Returns a run as it begins, and its programs; tests do not change these."""
  run, programs, values = _made(cfg)
  for variable, value in zip(run.variables, values, strict=True):
    variable.assign(value)
  return run, programs


class LoopTest(tf.test.TestCase):
  def test_it_learns_what_only_the_curriculum_leads_to(self):
    env = fakes.LineWorld()
    run = run_lib.Run(_CONFIG, [env])
    programs = programs_lib.Programs(run, [env], _CONFIG, use_xla=False)
    before = loop.evaluate(run, programs)['coverage']
    for _ in range(_NUM_ITERATIONS):
      metrics = loop.iterate(run, programs, _CONFIG)
    after = loop.evaluate(run, programs)['coverage']
    # Seeds reached 0.69 to 0.82; without children it stays below 0.6.
    self.assertLess(before, 0.4)
    self.assertGreater(after, 0.65)
    # Easy tasks spread 0.17 m about their mean, uniform ones 0.87 m.
    self.assertGreater(metrics['solved_spread'], 0.6)
    self.assertEqual(int(run.iteration), _NUM_ITERATIONS)
    self.assertEqual(int(run.env_steps), _NUM_ITERATIONS * 200 * fakes.HORIZON)
    self.assertEqual(set(programs.num_traces()), {1})

  def test_each_rollout_and_iteration_has_its_own_random_numbers(self):
    cfg = overrides.replace(_SHORT, {'training.num_rollouts': 2})
    run, programs = _begun(_SHORT)
    with (
      mock.patch.object(
        programs.counts[0], 'collect', wraps=programs.counts[0].collect
      ) as collect,
      mock.patch.object(programs, 'learn', wraps=programs.learn) as learn,
    ):
      for _ in range(2):
        loop.iterate(run, programs, cfg)
    for calls in (collect.call_args_list, learn.call_args_list):
      self.assertLen({tuple(x.args[-1].numpy()) for x in calls}, 4)


class CheckTest(tf.test.TestCase):
  def setUp(self):
    super().setUp()
    self.begun, self.programs = _begun(_SHORT)

  def _iterate(self, cfg=_SHORT, **changed):
    """Runs an iteration in which some programs are others."""
    with mock.patch.multiple(self.programs, **changed):
      loop.iterate(self.begun, self.programs, cfg)

  def test_infeasible_tasks_end_a_run_if_asked(self):
    checking = overrides.replace(_SHORT, {'training.checks_tasks': True})
    sample = self.programs.sample

    def far(seed):
      [batch] = sample(seed)
      return (batch._replace(phi=batch.phi + 9.0),)

    loop.iterate(self.begun, self.programs, checking)
    self._iterate(sample=far)
    message = r'sample \(task_expansion.py, line \d+\): expected feasible'
    with self.assertRaisesRegex(base.CurriculumError, message):
      self._iterate(checking, sample=far)
    self.assertEqual(int(self.begun.iteration), 2)

  def test_tasks_that_no_world_can_begin_with_end_each_run(self):
    [batch] = self.programs.sample(self.begun.seed(0))
    for phi, message in (
      (batch.phi[:, :3], r'expected tasks of shape \[B, 4\], given \[8, 3\]$'),
      (batch.phi * math.nan, 'expected finite numbers, given .* in row 0$'),
    ):
      wrong = batch._replace(phi=phi)
      with self.assertRaisesRegex(base.CurriculumError, message):
        self._iterate(sample=lambda _, wrong=wrong: (wrong,))
    self.assertEqual(int(self.begun.env_steps), 0)

  def test_as_many_tasks_as_were_asked_for(self):
    [batch] = self.programs.sample(self.begun.seed(0))
    double = tf.concat([batch.phi, batch.phi], 0)
    for phi, size in ((batch.phi[:4], 4), (batch.phi, 4), (double, 16)):
      wrong = batch._replace(phi=phi, size=tf.constant(size))
      with self.assertRaisesRegex(
        base.CurriculumError,
        f'expected 8 tasks and a size of 8, given {len(phi)} tasks and a size '
        f'of {size}$',
      ):
        self._iterate(sample=lambda _, wrong=wrong: (wrong,))
    self.assertEqual(int(self.begun.env_steps), 0)

  def test_what_a_curriculum_measures_is_finite(self):
    update = self.programs.update
    for number, given in ((np.inf, 'inf'), ([1.0, 2.0], r'\[1.0, 2.0\]')):

      def wrong(*args, number=number):
        return {**update(*args), 'ratio': tf.constant(number)}

      message = f'^update: expected a number or NaN for ratio, given {given}$'
      with self.assertRaisesRegex(base.CurriculumError, message):
        self._iterate(update=wrong)
    # Where the policy is lost its numbers may be, too.
    lost = dict.fromkeys(loop._WATCHED, tf.constant(np.nan))
    found = loop.together(lost, {'ratio': tf.constant(np.inf)}, self.begun)
    with self.assertRaisesRegex(loop.DivergedError, 'policy_loss is nan'):
      loop._checked(found, 3)

  def test_a_curriculum_measures_under_names_of_its_own(self):
    for name in ('success', 'coverage', 'entropy', 'env_steps', 'wall_seconds'):
      with self.assertRaisesRegex(
        base.CurriculumError,
        f'update: {name} is the name of a metric of training',
      ):
        self._iterate(update=lambda *_, name=name: {name: tf.constant(0.5)})

  def test_what_a_curriculum_of_a_user_raises_becomes_a_line(self):
    env = fakes.LineWorld()
    mine = config.CurriculumConfig(name='mine')
    cfg = dataclasses.replace(_SHORT, curriculum=mine)
    chooser = base.Uniform(
      base.Setting(
        cfg=cfg, space=env.task_space, num_tasks=8, most_tasks=8, seed=(0, 0)
      )
    )
    for name, error in (
      ('update', KeyError('none')),
      ('sample', worlds.WorldError('what feasible is told')),
    ):
      with (
        mock.patch.object(self.begun, 'curriculum', chooser),
        mock.patch.object(chooser, name, side_effect=error),
      ):
        programs = _programs(self.begun, env, cfg)
        with self.assertRaises(Exception) as raised:
          loop.iterate(self.begun, programs, cfg)
      if name == 'sample':  # Whose fault it is not.
        self.assertIs(raised.exception, error)
      else:
        self.assertIsInstance(raised.exception, base.CurriculumError)
        self.assertStartsWith(
          str(raised.exception), "update failed: KeyError: 'none'"
        )


class TrainTest(parameterized.TestCase, tf.test.TestCase):
  """What `train` does around an iteration, with iterations that do nothing."""

  def setUp(self):
    super().setUp()
    self.rows, self.saved = [], []
    self.run, _ = _begun(_CONFIG)
    self.coverage = 0.5
    self.metrics = {}
    self.enter_context(mock.patch.object(loop, 'iterate', self._iterate))
    self.enter_context(mock.patch.object(loop, 'evaluate', self._evaluate))

  def _iterate(self, run, programs, cfg):
    del programs, cfg
    run.iteration.assign_add(1)
    run.env_steps.assign_add(100)
    return {
      'policy_loss': tf.constant(1.0),
      'value_loss': tf.constant(1.0),
      'entropy': tf.constant(1.0),
      'return_mean': tf.constant(1.0),
    } | self.metrics

  def _evaluate_as(self, run, coverage):
    run.coverage.assign(tf.roll(run.coverage, -1, 1))
    run.coverage[0, -1].assign(coverage)

  def _evaluate(self, run, programs):
    del programs
    self._evaluate_as(run, self.coverage)
    return {'coverage': self.coverage, 'success': 0.0}

  def _train(self, should_stop=lambda: False, **length) -> bool:
    return loop.train(
      self.run,
      mock.Mock(replicas=replicas.ALONE),
      _CONFIG,
      config.RunLength(**length),
      log=self.rows.append,
      save=lambda: self.saved.append(int(self.run.iteration)),
      should_stop=should_stop,
      began=time.monotonic(),
    )

  def test_it_ends_at_the_number_of_steps_and_evaluates_there(self):
    is_done = self._train(
      num_env_steps=700, evaluation_interval=3, checkpoint_interval=5
    )
    self.assertTrue(is_done)
    self.assertEqual(self.saved, [5, 7])
    evaluated = [
      row['iteration'] for row in self.rows if not math.isnan(row['coverage'])
    ]
    self.assertEqual(evaluated, [3, 6, 7])
    # The closing evaluation is not in what was saved: resume stays exact.
    self.assertEqual(self.rows[-1]['env_steps'], 700)

  def test_it_stops_at_a_coverage_that_three_evaluations_reach(self):
    self.coverage = 0.95
    self._train(
      num_env_steps=10_000, stop_at_coverage=0.9, evaluation_interval=2
    )
    self.assertEqual(int(self.run.iteration), 6)
    self.assertTrue(
      loop.is_finished(self.run, config.RunLength(stop_at_coverage=0.9))
    )
    self.assertFalse(loop.is_finished(self.run, config.RunLength()))

  def test_the_rate_falls_from_when_coverage_is_reached(self):
    level = overrides.replace(_CONFIG, {'ppo.decay_start_coverage': 0.9})
    run = run_lib.Run(level, [fakes.LineWorld()])
    found = []
    for steps, coverage in enumerate([0.5, 0.9, 0.9, 0.8, 1.0, 1.0, 0.1]):
      run.env_steps.assign(100 * steps)
      self._evaluate_as(run, coverage)
      run.note_decay_start()
      found.append(int(run.decay_start))
    # The mean of three is 0.87 at 300, and 0.9 at 400; it stays known.
    self.assertEqual(found, [0, 0, 0, 0, 400, 400, 400])

  def test_without_a_coverage_it_is_never_noted(self):
    self.run.coverage.assign(tf.ones_like(self.run.coverage))
    self.run.env_steps.assign(100)
    self.run.note_decay_start()
    self.assertEqual(int(self.run.decay_start), 0)

  def test_asked_to_stop_it_saves_and_says_that_it_is_not_done(self):
    is_done = self._train(should_stop=lambda: len(self.rows) >= 3)
    self.assertFalse(is_done)
    self.assertEqual(self.saved, [4])

  @parameterized.parameters('policy_loss', 'value_gradient_norm')
  def test_what_is_not_finite_is_named_and_not_saved(self, name):
    self.metrics = {name: tf.constant(math.nan)}
    with self.assertRaisesRegex(loop.DivergedError, f'{name} is nan'):
      self._train(checkpoint_interval=1)
    self.assertEmpty(self.saved)

  def test_rewards_that_are_not_finite_are_the_fault_of_the_world(self):
    for mean in (math.nan, math.inf):
      self.metrics = {
        'policy_loss': tf.constant(math.nan),
        'reward_mean': tf.constant(mean),
      }
      with self.assertRaisesRegex(
        worlds.WorldError, f'^reward: .* mean of {mean} at iter'
      ):
        self._train(checkpoint_interval=1)
    self.assertEmpty(self.saved)

  def test_wall_seconds_add_up_over_resumes(self):
    self.run.wall_seconds.assign(1000.0)
    self._train(num_env_steps=100)
    self.assertGreaterEqual(self.rows[-1]['wall_seconds'], 1000.0)
    self.assertLess(self.rows[-1]['wall_seconds'], 1100.0)


if __name__ == '__main__':
  tf.test.main()
