# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for study and study_jobs, with a trainer that only pretends."""

import contextlib
import csv
import io
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import machine
from vacl_tf import studies
from vacl_tf.launch import command_line
from vacl_tf.launch import locks
from vacl_tf.launch import study
from vacl_tf.launch import study_jobs
from vacl_tf.launch import study_records
from vacl_tf.testing import commands
from vacl_tf.testing import fake_trainer

_TASK = studies.Task('room', ('--env=room',), 100, 0.1, 1.0)
_STUDY = studies.Study('small', '', (((_TASK, ('vacl_default', 'uniform')),),))
_SECONDS = 30.0  # Far above what anything here takes.

_FAKES = study_jobs.Commands(
  *((*fake_trainer.COMMAND, name) for name in ('train', 'evaluate'))
)
# A study in a process of its own, to be killed.
_PROGRAM = r"""
import sys
from vacl_tf.launch import command_line
from vacl_tf.launch import study_test

root = sys.argv.pop()
command_line.run(lambda: study_test.run_here(root))
"""


def _plan(root, seeds=(100,), **options):
  return study.Plan(
    studies.list_runs(_STUDY, seeds, **options),
    pathlib.Path(root) / 'runs' / 'small',
    1,
    _FAKES,
    poll_seconds=0.01,
  )


def run_here(root):
  """Runs the first seed of the small study."""
  return study.run_missing(_plan(root, methods=['uniform']))


class _Case(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)

  def enter_kinds(self, **kinds):
    """Says how the fakes behave, by seed: s100='hang'."""
    text = json.dumps({name[1:]: kind for name, kind in kinds.items()})
    self.enter_context(mock.patch.dict(os.environ, {fake_trainer.KINDS: text}))

  def run_plan(self, plan, shard=(1, 1)):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
      code = study.run_missing(plan, shard)
    return commands.Ended(code, out.getvalue(), err.getvalue())

  def wait_for(self, is_so):
    began = time.monotonic()
    while not is_so():
      self.assertLess(time.monotonic() - began, _SECONDS)
      time.sleep(0.01)

  def start(self):
    """Starts to run a seed in another process."""
    process = subprocess.Popen(
      [sys.executable, '-c', _PROGRAM, str(self.root)],
      stdout=subprocess.PIPE,
      stderr=subprocess.PIPE,
      text=True,
    )
    self.addCleanup(process.kill)
    return process


def _lines(path):
  return path.read_text().splitlines() if path.exists() else []


def _steps(path):
  with (path / 'metrics.csv').open() as file:
    return [int(row['env_steps']) for row in csv.DictReader(file)]


class RunTest(_Case):
  def test_makes_what_is_missing_and_nothing_twice(self):
    self.enter_kinds()
    plan = _plan(self.root, seeds=(100, 101))
    ended = self.run_plan(plan)
    self.assertEqual(ended.code, 0, ended.err)
    begun = re.findall(r'(\S+) begins', ended.out)
    self.assertEqual(begun, [run.name for run in plan.runs])
    self.assertIn('4 of 4 runs', ended.out.splitlines()[-1])
    for run in plan.runs:
      state = study_records.read(run, plan.folder)
      self.assertEqual(state.ended, study_records.BUDGET)
      self.assertEqual(state.evaluation['more'], 'kept')
      (start,) = _lines(state.path / 'starts')
      self.assertEqual(start.split()[1], '1')
      self.assertIn(' '.join(run.flags), start)
      (evaluation,) = _lines(state.path / 'evaluations')
      self.assertIn('--num_tasks=2000 --seed=1000 --json', evaluation)
      for line in (start, evaluation):  # Jobs could not share a GPU.
        self.assertIn('--device=cpu', line.split())
      self.assertEmpty(list(state.path.glob('*.new')))
    before = {p: p.stat().st_mtime_ns for p in plan.folder.rglob('seed*/*')}
    ended = self.run_plan(plan)
    self.assertEqual(ended.code, 0)
    self.assertNotIn('begins', ended.out)
    after = {p: p.stat().st_mtime_ns for p in plan.folder.rglob('seed*/*')}
    self.assertEqual(before, after)

  @parameterized.parameters(([], ' on core {}'), ([1], ''))
  def test_only_who_takes_all_cores_chooses_them(self, others, where):
    self.enter_kinds()
    core = machine.cpus()[0]
    cores = [core, *(core + x for x in others)]
    with mock.patch.object(machine, 'cpus', return_value=cores):
      ended = self.run_plan(_plan(self.root, methods=['uniform']))
    self.assertEqual(ended.code, 0, ended.err)
    self.assertIn(f'seed100 begins{where.format(core)}\n', ended.out)

  def test_a_run_at_chance_ends_there(self):
    self.enter_kinds(s100='chance')
    plan = _plan(self.root, methods=['uniform'])
    ended = self.run_plan(plan)
    self.assertEqual(ended.code, 0, ended.err)
    self.assertIn('ended at 60 env steps, at chance', ended.out)
    state = study_records.read(plan.runs[0], plan.folder)
    self.assertEqual(state.ended, study_records.CHANCE)
    self.assertLen(_lines(state.path / 'starts'), 1)
    # One that was left there is evaluated, not trained.
    (state.path / study_records.EVALUATION).unlink()
    self.assertEqual(self.run_plan(plan).code, 0)
    self.assertLen(_lines(state.path / 'starts'), 1)
    self.assertLen(_lines(state.path / 'evaluations'), 2)

  def test_a_diverged_run_is_told_and_the_study_goes_on(self):
    self.enter_kinds(s100='diverge')
    plan = _plan(self.root, seeds=(100, 101), methods=['uniform'])
    for _ in range(2):
      ended = self.run_plan(plan)
      self.assertEqual(ended.code, 0, ended.err)
    states = [study_records.read(run, plan.folder) for run in plan.runs]
    self.assertEqual([x.ended for x in states], ['diverged', 'budget'])
    self.assertLen(_lines(states[0].path / 'starts'), 1)
    self.assertEmpty(_lines(states[0].path / 'evaluations'))

  def test_a_failure_is_one_line_and_the_study_goes_on(self):
    self.enter_kinds(s100='fail')
    plan = _plan(self.root, seeds=(100, 101))
    ended = self.run_plan(plan)
    self.assertEqual(ended.code, command_line.FAILURE)
    found = re.findall(
      r'.* failed: .*code 1: error: no such flag .*', ended.out
    )
    self.assertLen(found, 2)
    self.assertIn('2 of 4 runs failed', ended.err)
    self.assertIn('2 of 4 runs, ', ended.out.splitlines()[-1])
    # Once it is mended the same command makes the rest.
    self.enter_kinds()
    self.assertEqual(self.run_plan(plan).code, 0)

  def test_three_failures_in_a_row_end_it(self):
    self.enter_kinds(s100='fail', s101='fail')
    ended = self.run_plan(_plan(self.root, seeds=(100, 101)))
    self.assertEqual(ended.code, command_line.FAILURE)
    self.assertIn('3 runs in a row failed', ended.err)
    self.assertEqual(ended.out.count('begins'), 3)
    # Flags that were wrong can be put right.
    self.enter_kinds()
    plan = _plan(self.root, seeds=(100, 101))
    task = _TASK._replace(flags=('--env=hall',))
    runs = [run._replace(task=task) for run in plan.runs]
    self.assertEqual(self.run_plan(plan._replace(runs=runs)).code, 0)

  def test_a_run_that_ends_well_later_starts_no_others(self):
    self.enter_kinds(s100='hang', s101='fail', s102='fail', s103='fail')
    plan = _plan(self.root, seeds=range(100, 106), methods=['uniform'])
    slow = plan.folder / plan.runs[0].name
    fail = study._Runner._fail

    def failed(runner, run, error):
      fail(runner, run, error)
      if run.seed == 103:
        (slow / 'go').touch()

    with mock.patch.object(study._Runner, '_fail', failed):
      ended = self.run_plan(plan._replace(jobs=2))
    self.assertEqual(ended.out.count('begins'), 4)
    self.assertIn('seed100 ended at', ended.out)
    self.assertIn('3 runs in a row failed', ended.err)

  def test_a_full_disk_fails_one_run_only(self):
    self.enter_kinds()
    plan = _plan(self.root, seeds=(100, 101), methods=['uniform'])
    # Where the evaluation of the first one would be written.
    first = plan.folder / plan.runs[0].name
    (first / (study_records.EVALUATION + '.new')).mkdir(parents=True)
    ended = self.run_plan(plan)
    self.assertEqual(ended.code, command_line.FAILURE)
    self.assertRegex(ended.out, r'seed100 failed: .*Is a directory')
    self.assertIn('seed101 ended at', ended.out)
    self.assertIn('1 of 2 runs failed', ended.err)

  def test_runs_that_another_study_makes_do_not_end_it(self):
    self.enter_kinds()
    plan = _plan(self.root, seeds=range(100, 104), methods=['uniform'])
    with contextlib.ExitStack() as held:
      for run in plan.runs[:3]:
        path = plan.folder / run.name
        path.mkdir(parents=True)
        held.enter_context(locks.hold(path / study_jobs.LOCK))
      ended = self.run_plan(plan)
    self.assertEqual(ended.code, command_line.FAILURE)
    self.assertLen(re.findall('failed: .* is in use by', ended.out), 3)
    self.assertIn('seed103 ended at', ended.out)

  def test_a_core_that_was_taken_away(self):
    self.enter_kinds()
    with mock.patch.object(machine, 'cpus', return_value=[10**4]):
      ended = self.run_plan(_plan(self.root, methods=['uniform']))
    self.assertEqual(ended.code, 0, ended.err)

  def test_a_bad_evaluation_is_none(self):
    self.enter_kinds(s100='bad evaluation')
    plan = _plan(self.root, methods=['uniform'])
    ended = self.run_plan(plan)
    self.assertEqual(ended.code, command_line.FAILURE)
    self.assertIn('evaluation ended with exit code 0', ended.out)
    self.assertFalse(
      (plan.folder / plan.runs[0].name / 'evaluation.json').exists()
    )

  def test_parts_make_all_of_it_in_one_folder(self):
    self.enter_kinds()
    plan = _plan(self.root, seeds=(100, 101, 102))
    for index in (1, 2):
      mine = studies.take_shard(plan.runs, index, 2)
      ended = self.run_plan(plan._replace(runs=mine), (index, 2))
      self.assertIn('3 of 3 runs', ended.out)
    self.assertEmpty(study.Progress(plan).missing)


class StopTest(_Case):
  def setUp(self):
    super().setUp()
    self.enter_kinds(s100='hang')
    self.path = self.root / 'runs/small/room/uniform/seed100'

  def _is_waiting(self):
    path = self.path / 'metrics.csv'
    return path.exists() and len(_lines(path)) == 3

  def _go_on(self):
    (self.path / 'go').touch()
    ended = self.run_plan(_plan(self.root, methods=['uniform']))
    self.assertEqual(ended.code, 0, ended.err)
    self.assertEqual(_steps(self.path), list(range(10, 101, 10)))
    self.assertLen(_lines(self.path / 'starts'), 2)
    self.assertLen(_lines(self.path / 'evaluations'), 1)

  def _is_alive(self, pid):
    status = pathlib.Path(f'/proc/{pid}/status')
    try:
      return 'State:\tZ' not in status.read_text()
    except OSError:
      return False

  def test_killed(self):
    if not sys.platform.startswith('linux'):
      self.skipTest('Elsewhere a trainer outlives the study, and its lock too.')
    process = self.start()
    self.wait_for(self._is_waiting)
    process.kill()
    process.communicate()
    (start,) = _lines(self.path / 'starts')
    self.wait_for(lambda: not self._is_alive(start.split()[0]))
    with (self.path / 'metrics.csv').open('a') as file:
      file.write('3,3')  # As it was killed while it wrote.
    self._go_on()

  @parameterized.parameters(signal.SIGTERM, signal.SIGINT)
  def test_asked_to_stop(self, number):
    process = self.start()
    self.wait_for(self._is_waiting)
    process.send_signal(number)
    out, err = process.communicate(timeout=_SECONDS)
    self.assertEqual(process.returncode, 128 + number, err)
    self.assertIn('the same command resumes', out)
    self.assertEmpty(err)
    self._go_on()

  def test_a_second_one_says_who_is_there(self):
    process = self.start()
    self.wait_for(self._is_waiting)
    second = self.start()
    out, err = second.communicate(timeout=_SECONDS)
    self.assertEqual(second.returncode, command_line.USAGE)
    self.assertEqual(err.count('\n'), 1, err)
    self.assertIn(f'is in use by process {process.pid} on ', err)
    self.assertEmpty(out)
    # Another part of the study may run, but not the same run.
    plan = _plan(self.root, methods=['uniform'])
    ended = self.run_plan(plan, (1, 2))
    self.assertEqual(ended.code, command_line.FAILURE)
    self.assertRegex(ended.out, f'seed100 is in use by.* {process.pid} ')
    process.terminate()
    process.communicate(timeout=_SECONDS)
    self._go_on()


class ProgressTest(_Case):
  def _write(self, plan, run, steps, seconds):
    path = plan.folder / run.name
    path.mkdir(parents=True)
    (path / 'config.json').write_text(
      '{"config": {"environment.name": "simple_spread"}}'
    )
    (path / 'metrics.csv').write_text(
      f'iteration,env_steps,wall_seconds,coverage\n1,{steps},{seconds},0.5\n'
    )

  def test_time_left(self):
    plan = _plan(self.root)._replace(jobs=1)
    # A minute each is planned.
    self.assertEqual(study.Progress(plan).seconds_left(), 120.0)
    self.assertIn('at most 0:02:00 left', str(study.Progress(plan)))
    # Half of the first took 10 s: 10 and 20 s are left.
    self._write(plan, plan.runs[0], 50, 10.0)
    self.assertEqual(study.Progress(plan).seconds_left(), 30.0)
    two = plan._replace(jobs=2)
    self.assertEqual(study.Progress(two).seconds_left(), 20.0)

  def test_more_done_never_takes_longer(self):
    left = []
    for index, steps in enumerate(range(10, 101, 10)):
      plan = _plan(self.root)
      plan = plan._replace(folder=self.root / str(index))
      self._write(plan, plan.runs[0], steps, steps)
      left.append(study.Progress(plan).seconds_left())
    for one, other in itertools.pairwise(left):
      self.assertGreater(one, other)

  def test_nobody_knows_before_a_task_of_ones_own_was_played(self):
    plan = _plan(self.root)
    task = _TASK._replace(core_minutes=0.0)
    plan = plan._replace(runs=[x._replace(task=task) for x in plan.runs])
    self.assertIn('time left not known yet', str(study.Progress(plan)))
    self._write(plan, plan.runs[0], 50, 10.0)
    self.assertIn('at most 0:00:30 left', str(study.Progress(plan)))


if __name__ == '__main__':
  absltest.main()
