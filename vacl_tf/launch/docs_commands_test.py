# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""The commands in docs/ have flags that exist, and name runs that exist."""

import pathlib
import re
import shlex

from absl.testing import absltest

from vacl_tf.launch import command_line
from vacl_tf.launch import main
from vacl_tf.testing import commands

_ROOT = pathlib.Path(__file__).parents[2]
_DOCS = _ROOT / 'docs'
_COMMAND = re.compile(
  r'^python -m vacl_tf\.launch\.(\w+) (.*?)(?: #.*)?$', re.M
)
_PLACEHOLDERS = {'SEED': '0', 'ENV': 'push_ball', 'COUNT': '4', 'TASKS': '40'}


def _commands():
  """Returns name and flags of the commands that have a line of their own."""
  pages = [
    *_DOCS.glob('*.md'),
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
    trained = [flags for name, *flags in _commands() if name == 'main']
    self.assertGreater(len(trained), 30)
    for flags in trained:
      # What readers bring, guides_test and own_world_test try.
      if any(x.startswith('--import=') for x in flags):
        continue
      with self.subTest(' '.join(flags)):
        ended = commands.run(
          lambda: command_line.run(main.main, main.define),
          *flags,
          '--print_config',
        )
        self.assertEqual((ended.code, ended.err), (0, ''))

  def test_runs_exist(self):
    named = {
      path
      for _, *flags in _commands()
      for flag in flags
      if flag.startswith(('--run_dir', '--run_dirs', '--saved_model'))
      for path in flag.partition('=')[2].split(',')
      if path.startswith('results/')
    }
    self.assertGreater(len(named), 2)
    for path in named:
      self.assertTrue((_ROOT / path).is_dir(), path)


if __name__ == '__main__':
  absltest.main()
