# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for benchmark_curriculum, with a trainer that only pretends."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf import benchmark_protocol as protocol
from vacl_tf import catalog
from vacl_tf.launch import benchmark_curriculum
from vacl_tf.launch import benchmark_rows
from vacl_tf.launch import command_line
from vacl_tf.launch import extensions
from vacl_tf.launch import study
from vacl_tf.testing import commands
from vacl_tf.testing import fake_trainer

_FILE = """
from vacl_tf import catalog
from vacl_tf import config

catalog.register_curriculum(
  catalog.CurriculumSpec(name={name!r}, make=lambda setting: None)
)
"""
_SEED = protocol.SEEDS[0]
_NEXT = protocol.VERSION + 1


class _Case(parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.root = pathlib.Path(self.create_tempdir().full_path)
    self.output = self.root / 'out'
    self.enter_context(mock.patch.dict(catalog.CURRICULA._entries))
    self.enter_context(mock.patch.object(sys, 'path', list(sys.path)))
    self.enter_kinds()
    # The fakes play 10 steps an iteration.
    small = tuple(
      task._replace(num_env_steps=100, chance=0.0)
      for task in protocol.SMOKE_TASKS
    )
    self.enter_context(mock.patch.object(protocol, 'SMOKE_TASKS', small))
    real, self.plans = study.run_missing, []

    def run_fakes(plan, shard=(1, 1)):
      self.plans.append(plan)
      fakes = [
        (*fake_trainer.COMMAND, name, *found[3:])
        for name, found in (
          ('train', plan.commands.train),
          ('evaluate', plan.commands.evaluate),
        )
      ]
      commands_ = plan.commands.__class__(*fakes)
      return real(plan._replace(commands=commands_, poll_seconds=0.01), shard)

    self.enter_context(mock.patch.object(study, 'run_missing', run_fakes))

  def enter_kinds(self, **kinds):
    """Says how the fakes behave, by seed: s100='hang'."""
    text = json.dumps({name[1:]: kind for name, kind in kinds.items()})
    self.enter_context(mock.patch.dict(os.environ, {fake_trainer.KINDS: text}))

  def run_command(self, *arguments, output=True):
    if output:
      arguments = (f'--output={self.output}', *arguments)
    return commands.run(
      lambda: command_line.run(
        benchmark_curriculum.main, benchmark_curriculum.define
      ),
      *arguments,
    )

  def write(self, name, text=None):
    """Writes a submission that registers a curriculum of its name."""
    path = self.root / f'{name}.py'
    path.write_text(_FILE.format(name=name) if text is None else text)
    self.addCleanup(sys.modules.pop, name, None)
    return path

  def import_again(self, path):
    """Forgets a file, as if this were another process."""
    sys.modules.pop(path.stem, None)
    catalog.CURRICULA._entries.pop(path.stem, None)

  def rows(self):
    return benchmark_rows.read_all([self.output / 'rows'])

  def assert_one_line(self, ended, code, message):
    self.assertEqual(ended.code, code, ended.err)
    self.assertRegex(ended.err, message)
    self.assertEqual(ended.err.count('\n'), 1, ended.err)


class SubmitTest(_Case):
  def test_a_file(self):
    path = self.write('first_of_mine')
    ended = self.run_command('--smoke', f'--submission={path}')
    self.assertEqual(ended.code, 0, ended.err)
    rows = self.rows()
    names = [task.name for task in protocol.SMOKE_TASKS]
    self.assertCountEqual([row.task for row in rows], names)
    for row in rows:
      self.assertEqual((row.submission, row.seed), ('first_of_mine', _SEED))
      self.assertTrue(row.is_smoke)
      self.assertEqual((row.coverage, row.success), (0.5, 0.5))
      self.assertEqual(row.env_steps, 100)
      self.assertLen(row.digest, 64)
      self.assertLen(row.sha256, 64)
      run = self.output / 'runs' / row.task / f'seed{_SEED}'
      start = (run / 'starts').read_text()
      self.assertIn('--curriculum=first_of_mine', start)
      self.assertIn('--config.training.checks_tasks=true', start)
      # The copy is what is trained with, and evaluated.
      copy = self.output / f'first_of_mine_{row.sha256[:8]}.py'
      self.assertEqual(copy.read_text(), path.read_text())
      for file in ('starts', 'evaluations'):
        self.assertIn(f'--import={copy} ', (run / file).read_text())
    table = (self.output / 'table.md').read_text()
    self.assertIn('| first_of_mine | 1 | 0.500 |', table)
    self.assertIn(f'Wrote {self.output}/table.md with 2 rows', ended.out)

  def test_the_copy_can_be_imported_beside_the_file(self):
    path = self.write('fourth_of_mine')
    self.run_command('--smoke', f'--submission={path}')
    self.import_again(path)
    sys.path.insert(0, str(self.root))  # As of who stands there.
    [copy] = self.output.glob('*.py')
    self.addCleanup(sys.modules.pop, copy.stem, None)
    extensions.load([str(copy)], self.root, self.fail)
    self.assertIn('fourth_of_mine', catalog.CURRICULA.names())

  def test_a_curriculum_of_the_library_and_nothing_twice(self):
    self.assertEqual(self.run_command('--smoke', '--submission=rcg').code, 0)
    [row, _] = self.rows()
    self.assertEqual((row.submission, row.sha256), ('rcg', ''))
    # A row that was damaged is written again, and no run is made again.
    path = self.output / 'rows' / row.file_name
    whole = path.read_text()
    path.write_text(whole[:100])
    ended = self.run_command('--smoke', '--submission=rcg')
    self.assertEqual(ended.code, 0, ended.err)
    self.assertNotIn('begins', ended.out)
    self.assertEqual(path.read_text(), whole)

  def test_what_failed_is_told_and_made_later(self):
    self.enter_kinds(s100='fail')
    ended = self.run_command('--smoke', '--submission=rcg')
    self.assert_one_line(ended, command_line.FAILURE, '2 of 2 runs failed')
    self.assertIn(
      'failed: training ended with exit code 1: error: no such', ended.out
    )
    self.assertEmpty(self.rows())
    self.enter_kinds()
    ended = self.run_command('--smoke', '--submission=rcg')
    self.assertEqual(ended.code, 0, ended.err)
    self.assertLen(self.rows(), 2)

  def test_a_diverged_run_scores_nothing(self):
    self.enter_kinds(s100='diverge')
    ended = self.run_command('--smoke', '--submission=rcg')
    self.assertEqual(ended.code, 0, ended.err)
    for row in self.rows():
      self.assertEqual((row.ended, row.success, row.area), ('diverged', 0, 0))

  def test_a_full_submission_has_all_runs(self):
    with mock.patch.object(study, 'run_missing', lambda plan, shard: 0):
      self.assertEqual(self.run_command('--submission=uniform').code, 0)
    self.assertEmpty(self.plans)
    runs = protocol.list_runs('uniform', is_smoke=False)
    self.assertLen(runs, 40)
    # Every task has been seen before any has its second seed.
    self.assertLen({run.task.name for run in runs[:8]}, 8)

  def test_some_of_the_runs(self):
    first, second = (task.name for task in protocol.SMOKE_TASKS)
    ended = self.run_command('--smoke', '--submission=rcg', f'--tasks={second}')
    self.assertEqual(ended.code, 0, ended.err)
    self.assertEqual([row.task for row in self.rows()], [second])
    # Another machine makes the rest, and rows of both are reported.
    for shard in ('1/2', '2/2'):
      ended = self.run_command(
        '--smoke', '--submission=rcg', f'--shard={shard}'
      )
      self.assertEqual(ended.code, 0, ended.err)
    self.assertCountEqual([row.task for row in self.rows()], [first, second])
    self.assertIn('with 2 rows', ended.out)

  def test_a_mended_file_begins_anew_where_nothing_was_trained(self):
    path = self.write('fifth_of_mine')
    self.enter_kinds(s100='fail')
    self.run_command('--smoke', f'--submission={path}')
    self.import_again(path)
    path.write_text(path.read_text() + '\n# Mended.\n')
    self.enter_kinds()
    ended = self.run_command('--smoke', f'--submission={path}')
    self.assertEqual(ended.code, 0, ended.err)
    self.assertIn('had begun to train; all start again', ended.out)
    self.assertLen(self.rows(), 2)

  def test_damaged_runs_are_told_and_made_anew(self):
    self.run_command('--smoke', '--submission=rcg')
    row, other = self.rows()
    run = self.output / 'runs' / row.task / f'seed{_SEED}'
    (run / 'metrics.csv').write_text('iteration,coverage\nbroken\n')
    (self.output / 'rows' / row.file_name).unlink()
    ended = self.run_command('--smoke', '--submission=rcg')
    self.assert_one_line(ended, command_line.FAILURE, '1 runs are damaged')
    self.assertRegex(
      ended.out, f'seed{_SEED} is damaged and left out: .*; remove {run} and'
    )
    self.assertEqual([x.task for x in self.rows()], [other.task])
    shutil.rmtree(run)
    ended = self.run_command('--smoke', '--submission=rcg')
    self.assertEqual(ended.code, 0, ended.err)
    self.assertLen(self.rows(), 2)


class RefusedTest(_Case):
  @parameterized.parameters(
    ([], 'give --submission=FILE.py, or the name of a curriculum: vacl'),
    (['--submission=unifrom'], 'did you mean uniform.* ends in .py'),
    (['--submission=none.py'], 'submission=none.py is not a file'),
    (['--submission=rcg', '--jobs=0'], 'jobs=0 is out of range'),
    (['--submission=rcg', '--tasks=spread4'], 'did you mean .*spread_4'),
    (['--submission=rcg', '--seeds=105'], 'seed=105 is.*: 100, 101, 102, 103'),
    (['--submission=rcg', '--seeds=a'], "seeds='a' is not a list of seeds"),
    (['--submission=rcg', '--shard=5/4'], "shard='5/4' does not exist"),
    ([f'--verify={__file__}'], 'py cannot be read .it is not JSON'),
    (['--verify=', '--submission=rcg'], 'is a folder, not a file'),
    (['--verify=', '--smoke'], 'its row; leave out --smoke'),
    (['--report'], 'has no rows'),
    (['--report', '--output=' + 'x' * 300], 'too long.; give another --output'),
    (['--report', '--shard=1/2'], 'covers all rows; leave out --shard'),
    (['--report', '--seeds=100'], 'covers all rows; leave out --seeds'),
    (['--verify=a.json', '--tasks=spread_4'], 'its row; leave out --tasks'),
    (['--verify=a.json', '--smoke'], 'its row; leave out --smoke'),
    (['--verify=a.json', '--report'], 'its row; leave out --report'),
    (['--verify=none.json'], 'none.json is not a file; give one that'),
    (['--submission=rcg', '--output=/proc/none'], 'give another --output'),
    (['--submision=rcg'], "Unknown command line flag 'submision'"),
  )
  def test_one_line(self, arguments, message):
    ended = self.run_command(*arguments)
    self.assert_one_line(ended, command_line.USAGE, message)
    self.assertFalse(self.output.exists())

  @parameterized.parameters(('a,b', 'mine'), ('a', 'mine,too'))
  def test_commas_in_paths(self, folder, name):
    folder = self.root / folder
    path = self.write(name, _FILE.format(name='mine'))
    ended = self.run_command(
      f'--submission={path}', f'--output={folder}', output=False
    )
    self.assert_one_line(ended, command_line.USAGE, 'has a comma in its path')
    self.assertFalse(folder.exists())

  @parameterized.parameters(
    ('half', 'import numpy as np\ndef sample(', r'SyntaxError: .*was never'),
    ('raising', '\n1 / 0', 'ZeroDivisionError: .*raising.py, line 2'),
    ('empty', '', 'registers 0 curricula; register exactly one'),
    (
      'two',
      _FILE.format(name='one') + _FILE.format(name='other'),
      'registers 2 curricula: one, other; register exactly one',
    ),
  )
  def test_files_that_are_none(self, name, text, message):
    path = self.write(f'submission_{name}', text)
    ended = self.run_command(f'--submission={path}')
    self.assert_one_line(ended, command_line.USAGE, f'submission=.*{message}')
    self.assertFalse(self.output.exists())

  def test_folders_of_something_else(self):
    path = self.write('second_of_mine')
    self.run_command('--smoke', f'--submission={path}')
    before = {x: x.read_bytes() for x in self.output.rglob('*.json')}
    for change, arguments, message in (
      (None, ['--submission=rcg', '--smoke'], 'submission second_of_mine'),
      (None, [f'--submission={path}'], 'kind smoke instead of full'),
      (path, [f'--submission={path}', '--smoke'], 'sha256 .* instead of'),
    ):
      self.import_again(path)
      if change:
        change.write_text(change.read_text() + '\n# Another one.\n')
      ended = self.run_command(*arguments)
      self.assert_one_line(
        ended, command_line.USAGE, f'out belongs to.*{message}'
      )
    self.import_again(path)
    with mock.patch.object(protocol, 'VERSION', _NEXT):
      ended = self.run_command('--smoke', f'--submission={path}')
    self.assert_one_line(
      ended,
      command_line.USAGE,
      f'benchmark {_NEXT - 1} instead of {_NEXT}.*another --output',
    )
    after = {x: x.read_bytes() for x in self.output.rglob('*.json')}
    self.assertEqual(before, after)

  def test_a_folder_of_the_users_own(self):
    self.output.mkdir()
    (self.output / 'thesis.txt').touch()
    ended = self.run_command('--submission=rcg')
    self.assert_one_line(ended, command_line.USAGE, 'it is not a submission')
    (self.output / 'thesis.txt').unlink()
    (self.output / 'benchmark.json').write_text('{"benchm')
    ended = self.run_command('--submission=rcg')
    self.assert_one_line(ended, command_line.USAGE, 'is not JSON')

  def test_a_row_of_another_version_is_not_reported(self):
    self.run_command('--smoke', '--submission=rcg')
    with mock.patch.object(protocol, 'VERSION', _NEXT):
      ended = self.run_command('--report')
    self.assert_one_line(
      ended, command_line.USAGE, f'is of version {_NEXT - 1} of'
    )
    self.assertEqual(self.run_command('--report').code, 0)


class VerifyTest(_Case):
  def setUp(self):
    super().setUp()
    self.path = self.write('third_of_mine')
    self.run_command('--smoke', f'--submission={self.path}')
    self.import_again(self.path)
    self.row = self.output / 'rows' / self.rows()[0].file_name

  def _verify(self, *arguments):
    again = self.root / 'again'
    return self.run_command(
      f'--verify={self.row}', f'--output={again}', *arguments, output=False
    )

  def test_the_same(self):
    ended = self._verify(f'--submission={self.path}')
    self.assertEqual(ended.code, 0, ended.err)
    self.assertIn('the same to the last digit', ended.out)
    self.assertNotIn('before', ended.out)
    [run] = self.plans[-1].runs
    self.assertEqual(run.name, f'{self.rows()[0].task}/seed{_SEED}')
    self.import_again(self.path)
    ended = self._verify(f'--submission={self.path}')
    self.assertIn(f'{run.name} was already trained here with commit', ended.out)

  @parameterized.parameters(
    (
      {'digest': '0'},
      'the curve differs, with the same commit on the same kind',
    ),
    ({'digest': '0', 'processor': 'x', 'area': 0.4}, 'not within 0.02'),
  )
  def test_another_result(self, changes, message):
    content = json.loads(self.row.read_text()) | changes
    self.row.write_text(json.dumps(content))
    ended = self._verify(f'--submission={self.path}')
    self.assert_one_line(ended, command_line.FAILURE, message)

  def test_another_file_or_folder(self):
    ended = self._verify('--submission=rcg')
    self.assert_one_line(
      ended, command_line.USAGE, 'the row was made with third_of_'
    )
    self.assert_one_line(
      self._verify(), command_line.USAGE, 'give --submission'
    )
    # A run is not compared with itself.
    ended = self.run_command(
      f'--verify={self.row}', f'--submission={self.path}'
    )
    self.assert_one_line(
      ended, command_line.USAGE, 'kind smoke instead of verify-smoke'
    )


class StartTest(absltest.TestCase):
  def test_starts_fast(self):
    code = (
      'import sys; from vacl_tf.launch import benchmark_curriculum; '
      'print({"tensorflow", "matplotlib"} & set(sys.modules))'
    )
    done = subprocess.run(
      [sys.executable, '-c', code], capture_output=True, text=True, check=True
    )
    self.assertEqual(done.stdout, 'set()\n')


if __name__ == '__main__':
  absltest.main()
