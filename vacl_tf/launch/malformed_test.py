# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Whatever the command line, it is taken, or refused in one line."""

import collections
import pathlib
from unittest import mock

from absl.testing import absltest

from vacl_tf.launch import command_line
from vacl_tf.launch import main
from vacl_tf.launch import session
from vacl_tf.testing import commands
from vacl_tf.testing import malformed

_NUMBER = 400


class MalformedTest(absltest.TestCase):
  def test_command_lines_are_taken_or_refused_in_one_line(self):
    path = pathlib.Path(self.create_tempdir().full_path) / 'run'
    codes = collections.Counter()
    self.enter_context(mock.patch.object(session, 'train', return_value=0))
    for arguments in malformed.lines(_NUMBER):
      # In front, for what comes after a lonely -- is no flag.
      arguments = [f'--run_dir={path}', *arguments]
      ended = commands.run(
        lambda: command_line.run(main.main, main.define), *arguments
      )
      codes[ended.code] += 1
      if ended.code:
        self.assertRegex(ended.err, r'^error: [^\n]+\n$', arguments)
      else:
        self.assertEmpty(ended.err, arguments)
    self.assertSameElements(codes, (0, command_line.USAGE))
    # Both are tried.
    self.assertGreater(codes[0], _NUMBER // 40)
    self.assertGreater(codes[command_line.USAGE], _NUMBER // 2)


if __name__ == '__main__':
  absltest.main()
