# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Training and evaluation as calls: twice in a process, resumed, refused."""

import contextlib
import csv
import functools
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

import vacl_tf
from vacl_tf import environments
from vacl_tf.launch import command_line
from vacl_tf.launch import library
from vacl_tf.testing import tiny
from vacl_tf.training import loop
from vacl_tf.training import programs as programs_lib
from vacl_tf.training import replicas


def _config(num_agents=2, **more):
  more |= {'curriculum': 'uniform', 'changes': {'agent.num_hops': 1}}
  return tiny.shrunk(vacl_tf.make_config('simple_spread', num_agents, **more))


class ConfigTest(parameterized.TestCase):
  def test_it_is_what_was_asked_for(self):
    cfg = vacl_tf.make_config(
      'push_ball', 4, entity_counts='2,4', seed=3, changes={'ppo.clip': 0.1}
    )
    self.assertEqual(cfg.environment.name, 'push_ball')
    self.assertEqual(cfg.environment.num_agents, 4)
    self.assertEqual((cfg.seed, cfg.ppo.clip), (3, 0.1))

  @parameterized.parameters(
    ({'env': 'simple_sprea'}, 'did you mean simple_spread'),
    ({'env': 'simple_spread', 'num_agents': 0}, 'num_agents'),
    ({'env': 'simple_spread', 'changes': {'ppo.clipp': 1}}, 'clip'),
    ({'env': 'simple_spread', 'changes': {'ppo.clip': -1.0}}, 'clip'),
    ({'env': 'simple_spread', 'curriculum': 'vakl'}, 'did you mean vacl'),
    ({'env': 'simple_spread', 'num_agents': True}, 'num_agents=True is not a'),
    (
      {'env': 'simple_spread', 'changes': {'curriculum.name': 'uniform'}},
      '^changes: .* depend on curriculum.name; give '
      "curriculum='uniform' instead$",
    ),
    (
      {'env': 'simple_spread', 'changes': {'preset': 'paper'}},
      "give preset='paper' instead",
    ),
    (
      {'env': 'simple_spread', 'entity_counts': 4},
      "^entity_counts=4 is not a list of counts; give one like '4,8,16'",
    ),
    (
      {'env': 'simple_spread', 'entity_counts': [2.5, 4]},
      "^entity_counts='2.5,4' is not a list of counts",
    ),
    (
      {'env': 'simple_spread', 'changes': {'ppo.num_epochs': 2.5}},
      'ppo.num_epochs=2.5 is not a whole number',
    ),
  )
  def test_what_is_not_possible_is_refused(self, arguments, message):
    with self.assertRaisesRegex(ValueError, message):
      vacl_tf.make_config(**arguments)

  def test_paths_may_be_numbers_and_steps_whole_floats(self):
    cfg = vacl_tf.make_config('simple_spread', entity_counts='2,4')
    given = vacl_tf.make_config('simple_spread', entity_counts=(2, np.int64(4)))
    self.assertEqual(given, cfg)
    pairs = vacl_tf.make_config(
      'lock_and_return', entity_counts=[(2, 2), [4, 2]]
    )
    self.assertEqual(pairs.progression.entity_counts, '2x2,4x2')
    length = library.make_length(cfg, {'num_env_steps': 1e6})
    self.assertEqual(repr(length.num_env_steps), '1000000')

  def test_the_package_offers_them_all(self):
    for name in ('evaluate', 'load_policy', 'make_config', 'train'):
      self.assertIs(getattr(vacl_tf, name), getattr(library, name))
      self.assertIn(name, dir(vacl_tf))

  def test_what_can_not_be_imported_is_not_listed(self):
    find = importlib.util.find_spec

    def found(name):
      return None if name == 'gymnasium' else find(name)

    self.assertIn('gym_env', dir(vacl_tf))
    with mock.patch.object(importlib.util, 'find_spec', found):
      self.assertContainsSubset({'train', 'parallel_env'}, dir(vacl_tf))
      self.assertNoCommonElements({'gym_env', 'vector_env'}, dir(vacl_tf))

  def test_names_that_do_not_exist(self):
    with self.assertRaisesRegex(AttributeError, 'trane'):
      vacl_tf.trane  # noqa: B018

  @parameterized.parameters(
    ({'env': 'simple_spread', 'num_agents': 8}, 'simple_spread_n8_s0'),
    (
      {'env': 'lock_and_return', 'num_agents': 2, 'num_boxes': 2, 'seed': 3},
      'lock_and_return_n2x2_s3',
    ),
    (
      {'env': 'push_ball', 'preset': 'paper', 'curriculum': 'uniform'},
      'push_ball_n2_paper_uniform_s0',
    ),
    (
      {'env': 'ramp_use', 'agent': 'attention', 'curriculum': 'vacl'},
      'ramp_use_n1_attention_s0',
    ),
  )
  def test_runs_of_another_kind_have_another_folder(self, given, name):
    cfg = library.make_config(given.pop('env'), **given)
    self.assertEqual(library.default_run_dir(cfg), f'runs/{name}')


class TrainTest(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.folder = pathlib.Path(self.create_tempdir().full_path)
    self.cfg = _config()
    self.steps = self.cfg.training.num_tasks * self.cfg.environment.horizon

  def _train(self, name: str, iterations: int, cfg=None, **more):
    return vacl_tf.train(
      cfg or self.cfg,
      self.folder / name,
      num_env_steps=iterations * self.steps,
      **{'evaluation_interval': 2} | more,
    )

  @contextlib.contextmanager
  def _pretended(self, killed_after=-1):
    """Lets iterations take no time; only policies and curves stay empty."""

    def iterate(run, *_):
      if int(run.iteration) == killed_after:
        raise RuntimeError  # As good as a kill before the next checkpoint.
      time.sleep(0.001)
      run.iteration.assign_add(1)
      run.env_steps.assign_add(self.steps)
      return dict.fromkeys(loop._WATCHED, 0.5)

    def evaluate(run, _):
      return dict.fromkeys(run.score_names, 0.5)

    def export(*arguments):
      (arguments[-1] / 'saved_model').mkdir(exist_ok=True)

    made = mock.Mock(replicas=replicas.ALONE)
    with (
      mock.patch.object(loop, 'iterate', iterate),
      mock.patch.object(loop, 'evaluate', evaluate),
      mock.patch.object(library.session, '_export', export),
      mock.patch.object(library.session.plot, 'plot', return_value=[]),
      mock.patch.object(programs_lib, 'Programs', return_value=made) as found,
    ):
      yield found

  def _file(self, name: str) -> list[dict[str, float]]:
    with (self.folder / name / 'metrics.csv').open(newline='') as file:
      return [
        {k: float(x) for k, x in row.items() if x and k != 'wall_seconds'}
        for row in csv.DictReader(file)
      ]

  def test_trained_resumed_and_evaluated_in_one_process(self):
    seen = []
    uncompiled = functools.partial(programs_lib.Programs, use_xla=False)
    with mock.patch.object(programs_lib, 'Programs', uncompiled):  # Is sooner.
      first = self._train('run', 1)
    self.assertLess(first.rows[0]['wall_seconds'], 600.0)  # Of this call.
    rest = self._train('run', 3, on_row=seen.append)
    self.assertEqual(rest.rows, seen)
    self.assertEqual([row['iteration'] for row in seen], [2, 3])
    self.assertBetween(rest.coverage, 0.0, 1.0)
    again = self._train('run', 3)
    self.assertEqual((again.rows, again.coverage), ([], rest.coverage))
    self.assertLen(self._file('run'), 3)
    gif = self.folder / 'film.gif'
    found = vacl_tf.evaluate(rest.run_dir, num_agents=3, num_tasks=4, video=gif)
    self.assertEqual((found['num_agents'], found['num_tasks']), (3, 4))
    self.assertEqual(found['video'], str(gif))
    self.assertStartsWith(gif.read_bytes(), b'GIF8')
    self.assertBetween(found['coverage']['mean'], 0.0, 1.0)
    policy, facts = vacl_tf.load_policy(rest.run_dir / 'saved_model')
    self.assertTrue(policy)
    self.assertEqual(facts['iteration'], 3)

  def test_a_folder_of_another_run(self):
    with self._pretended():
      self._train('run', 2)
      with self.assertRaisesRegex(command_line.UsageError, 'another config'):
        self._train('run', 2, _config(seed=1))
      anew = self._train('run', 1, _config(seed=1), restart=True)
    self.assertLen(anew.rows, 1)
    self.assertLen(self._file('run.old1'), 2)

  def test_a_failure_of_on_row_is_passed_on_and_loses_nothing(self):
    def fail(row):
      if row['iteration'] == 3:
        raise ConnectionError

    with self._pretended():
      with self.assertRaises(ConnectionError):
        self._train('run', 5, on_row=fail)
      rest = self._train('run', 5).rows
    self.assertEqual([row['iteration'] for row in rest], [4, 5])
    self.assertLen(self._file('run'), 5)

  def test_what_it_returns_is_shown_in_one_line(self):
    trained = library.Trained(self.folder, [{'env_steps': 2800.0}])
    start = f"<Trained: run_dir='{self.folder}', 1 new rows, 2,800 env steps"
    self.assertEqual(repr(trained), f'{start}>')
    (self.folder / 'metrics.csv').write_text(
      'iteration,env_steps,wall_seconds,coverage\n1,1400,1,0.25\n2,2800,2,\n'
    )
    self.assertEqual(repr(trained), f'{start}, coverage 0.250>')

  def test_worlds_of_ones_own(self):
    worlds = environments.load_all(self.cfg)
    with self._pretended() as programs:
      self._train('mine', 1, envs=worlds)
    self.assertIs(programs.call_args.args[1][0], worlds[0])
    programs.return_value.close.assert_called_once()

  def test_worlds_that_are_not_those_of_the_config(self):
    (world,) = environments.load_all(self.cfg)
    for given in (
      [],
      [world, world],
      world.name,
      environments.load('simple_spread', 3),
      environments.load(
        'simple_spread', world.counts[0], horizon=world.horizon + 1
      ),
    ):
      with self.assertRaisesRegex(ValueError, '^envs: expected .*, given '):
        self._train('none', 1, envs=given)
    self.assertFalse((self.folder / 'none').exists())

  def test_where_it_is_does_not_depend_on_where_its_user_goes(self):
    self.enter_context(mock.patch.dict(os.environ, HOME=str(self.folder)))
    self.enter_context(contextlib.chdir(self.folder))
    with self._pretended():
      for given in ('here', '~/here'):
        trained = vacl_tf.train(self.cfg, given, num_env_steps=2 * self.steps)
        self.assertEqual(trained.run_dir, pathlib.Path.cwd() / 'here')

  def test_ctrl_c_saves_and_the_same_call_goes_on(self):
    def interrupt(row):
      if row['iteration'] == 1:
        for _ in range(3):  # Once is enough, and more often does no harm.
          os.kill(os.getpid(), signal.SIGINT)
          time.sleep(0.05)

    with self._pretended():
      with self.assertRaises(KeyboardInterrupt):
        self._train('cut', 1000, on_row=interrupt)
      number = len(self._file('cut'))
      self.assertBetween(number, 1, 999)
      rest = self._train('cut', number + 1).rows
    self.assertEqual([row['iteration'] for row in rest], [number + 1])
    self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

  def test_a_signal_at_the_end_is_for_the_caller(self):
    def ask(number):
      return lambda row: os.kill(os.getpid(), number)

    with self._pretended():
      with self.assertRaises(KeyboardInterrupt):
        self._train('first', 1, on_row=ask(signal.SIGINT))
      with self.assertRaises(SystemExit) as caught:
        self._train('other', 1, on_row=ask(signal.SIGTERM))
    self.assertEqual(caught.exception.code, 128 + signal.SIGTERM)
    for name in ('first', 'other'):
      self.assertTrue((self.folder / name / 'saved_model').is_dir())

  def test_what_is_later_than_the_state_goes_where_there_is_nothing_to_do(self):
    with self._pretended(killed_after=7):
      with self.assertRaises(RuntimeError):
        self._train('run', 9, checkpoint_interval=4)
      self.assertLen(self._file('run'), 7)
      # By this length it was finished at the last checkpoint.
      found = self._train('run', 3)
    self.assertEmpty(found.rows)
    self.assertLen(self._file('run'), 4)

  def test_an_evaluation_stays_after_the_interval_was_changed(self):
    with self._pretended(killed_after=5):
      for interval in (2, 3):
        with self.assertRaises(RuntimeError):
          self._train(
            'run', 6, evaluation_interval=interval, checkpoint_interval=4
          )
    with self._pretended():
      self._train('run', 6, evaluation_interval=3, checkpoint_interval=4)
    rows = [x['iteration'] for x in self._file('run') if 'coverage' in x]
    self.assertEqual(rows, [2, 4, 6])

  def test_numbers_of_numpy(self):
    steps = np.int64(self.steps)
    with self._pretended():
      cfg = _config(np.int64(2), seed=np.int64(3))
      trained = vacl_tf.train(cfg, self.folder / 'np', num_env_steps=steps)
    self.assertLen(trained.rows, 1)

  def test_a_folder_that_it_can_not_go_on_in(self):
    with self._pretended():
      self._train('run', 1)
      (self.folder / 'run/metrics.csv').write_text('a,b\n1,2\n')
      with self.assertRaisesRegex(ValueError, 'move it away'):
        self._train('run', 2)

  def test_in_a_thread(self):
    found = []
    thread = threading.Thread(
      target=lambda: found.append(self._train('thread', 1))
    )
    with self._pretended():
      thread.start()
      thread.join()
    self.assertLen(found[0].rows, 1)

  @parameterized.parameters(
    ({'num_env_steps': 1}, 'below one iteration'),
    ({'num_env_steps': '1000'}, "^num_env_steps='1000' is not a whole number;"),
    ({'num_env_steps': None}, '^num_env_steps=None is not a whole number;'),
    ({'stop_at_coverage': 2.0}, 'stop_at_coverage'),
    ({'stop_at': 0.5}, 'stop_at'),
  )
  def test_lengths_that_are_not_possible(self, length, message):
    with self.assertRaisesRegex(ValueError, message):
      vacl_tf.train(self.cfg, self.folder / 'none', **length)
    self.assertFalse((self.folder / 'none').exists())


class EvaluateTest(parameterized.TestCase):
  def test_what_is_not_there(self):
    folder = self.create_tempdir().full_path
    for given, message in (
      ({}, 'give either a run_dir or a saved_model'),
      ({'run_dir': ''}, 'give either'),
      ({'run_dir': folder, 'saved_model': folder}, 'give either'),
      ({'run_dir': folder}, 'config.json'),
      ({'saved_model': folder}, 'saved_model folder'),
    ):
      with self.assertRaisesRegex(command_line.UsageError, message):
        vacl_tf.evaluate(**given)

  @parameterized.parameters(
    ({'num_tasks': 0}, 'num_tasks=0 is out of range; allowed: 2 to 100000'),
    ({'num_tasks': 1}, 'num_tasks=1 is out of range; allowed: 2 to 100000'),
    ({'num_tasks': '9'}, "num_tasks='9' is not a whole number; give one"),
    ({'horizon': 0}, 'horizon=0 is out of range; allowed: 1 to 10000'),
    ({'seed': -1}, 'seed=-1 is out of range; allowed: 0 to 2147483647'),
    (
      {'video': 'film.avi'},
      "path='film.avi' has the suffix '.avi'; allowed: .gif, .mp4",
    ),
  )
  def test_numbers_that_are_not_possible(self, given, message):
    # Told before the policy is looked for: there is none.
    with self.assertRaisesWithLiteralMatch(ValueError, message):
      vacl_tf.evaluate('none', **given)


class ImportTest(absltest.TestCase):
  def test_the_package_alone_imports_no_tensorflow(self):
    code = (
      'import sys, vacl_tf; dir(vacl_tf);'
      'print("tensorflow" in sys.modules, "train" in dir(vacl_tf))'
    )
    ended = subprocess.run(
      [sys.executable, '-c', code],
      env={**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))},
      capture_output=True,
      text=True,
      check=True,
    )
    self.assertEqual(ended.stdout, 'False True\n')


if __name__ == '__main__':
  absltest.main()
