# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The commands in docs/ have flags that exist, and name runs that exist."""

import pathlib
import re
import shlex

from absl import flags
from absl.testing import absltest
from absl.testing import flagsaver

from vacl_tf.launch import benchmark
from vacl_tf.launch import benchmark_curriculum
from vacl_tf.launch import check
from vacl_tf.launch import command_line
from vacl_tf.launch import evaluate
from vacl_tf.launch import main
from vacl_tf.launch import plot
from vacl_tf.launch import report
from vacl_tf.launch import study
from vacl_tf.testing import commands

_ROOT = pathlib.Path(__file__).parents[2]
_DOCS = _ROOT / 'docs'
_COMMAND = re.compile(
  r'^python -m vacl_tf\.launch\.(\w+) (.*?)(?: #.*)?$', re.M
)
_OTHERS = {
  x.__name__.rpartition('.')[2]: x
  for x in (
    *(benchmark, benchmark_curriculum, check),
    *(evaluate, plot, report, study),
  )
}
_PLACEHOLDERS = {'SEED': '0', 'ENV': 'push_ball', 'COUNT': '4', 'TASKS': '40'}


def _commands():
  """Returns name and flags of the commands that have a line of their own."""
  pages = [
    *_DOCS.rglob('*.md'),
    _ROOT / 'README.md',
    _ROOT / 'results/README.md',
  ]
  found = set()
  for page in pages:
    text = page.read_text().replace('\\\n', ' ')  # Of several lines.
    for name, rest in _COMMAND.findall(text):
      words = [
        re.sub(
          '=([A-Z]+)$', lambda x: f'={_PLACEHOLDERS.get(x[1], x[1])}', word
        )
        for word in shlex.split(rest)
      ]
      found.add((name, *words))
  return sorted(found)


@absltest.skipUnless((_DOCS / 'paper.md').is_file(), 'docs/ is not here')
class DocsCommandsTest(absltest.TestCase):
  def test_training_commands_are_possible(self):
    trained = [words for name, *words in _commands() if name == 'main']
    self.assertGreater(len(trained), 30)
    for words in trained:
      # What readers bring, guides_test and own_world_test try.
      if any(x.startswith('--import=') for x in words):
        continue
      with self.subTest(' '.join(words)):
        ended = commands.run(
          lambda: command_line.run(main.main, main.define),
          *words,
          '--print_config',
        )
        self.assertEqual((ended.code, ended.err), (0, ''))

  def test_flags_of_other_commands_exist(self):
    others = [found for found in _commands() if found[0] != 'main']
    self.assertEqual({name for name, *_ in others}, set(_OTHERS))
    for name, *words in others:
      with self.subTest(name, words=words), flagsaver.flagsaver():
        given = [x for x in words if not x.startswith('--import=')]
        _OTHERS[name].define(given)
        flags.FLAGS(['command', *given])

  def test_runs_exist(self):
    named = {
      path
      for _, *words in _commands()
      for word in words
      if word.startswith(('--run_dir', '--run_dirs', '--saved_model'))
      for path in word.partition('=')[2].split(',')
      if path.startswith('results/')
    }
    self.assertGreater(len(named), 2)
    for path in named:
      self.assertTrue((_ROOT / path).is_dir(), path)


if __name__ == '__main__':
  absltest.main()
