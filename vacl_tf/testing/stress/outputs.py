# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Commands whose output nobody reads, or nobody can read."""

import functools
import os
import pathlib
import shlex
from collections.abc import Callable
from typing import Any

from vacl_tf.testing import commands
from vacl_tf.testing.stress import checks
from vacl_tf.testing.stress import compare
from vacl_tf.testing.stress import processes
from vacl_tf.testing.stress import runs

PART = 'outputs'

# Where a shell sends the output of a command.
_SENT = {
  'first line only': '| head -1',
  'no line': '| true',
  'to a full device': '> /dev/full',
  'errors to a full device': '2> /dev/full',
  'both to a full device': '> /dev/full 2>&1',
  'closed': '>&-',
  'errors closed': '2>&-',
  'both and input closed': '<&- >&- 2>&-',
}
# A command that can't print its results fails; one that writes files does not.
_READERS = {
  'vacl_tf.launch.evaluate': '--num_tasks=2 --json --run_dir',
  'vacl_tf.launch.plot': '--output={picture} --run_dirs',
}


def _shell(
  words: list[str], sent: str, work: pathlib.Path, **environment: str
) -> commands.Ended:
  line = f'set -o pipefail; {shlex.join(words)} {sent}'
  env = runs.environment(work) | environment
  return runs.Child(['bash', '-c', line], work, env=env).wait()


def _train(sent: str, name: str, work: pathlib.Path) -> str:
  path = work / name
  words = runs.command(runs.MAIN, *processes.KIND.flags(), f'--run_dir={path}')
  ended = _shell(words, sent, work)
  whole = runs.whole(processes.KIND, work)
  return processes.told(
    checks.complaint(ended, (0,)), *compare.differences(path, whole)
  )


def _named(name: str, work: pathlib.Path) -> str:
  """Tries to train in a folder whose name the locale can't write."""
  plain = {'LANG': 'C', 'LC_ALL': 'C', 'PYTHONUTF8': '0'}
  plain['PYTHONCOERCECLOCALE'] = '0'
  path = work / name
  words = runs.command(runs.MAIN, *processes.KIND.flags(), f'--run_dir={path}')
  ended = _shell(words, '', work, **plain)
  if ended.code == 2 and not path.exists():
    return checks.complaint(ended, (2,))
  whole = runs.whole(processes.KIND, work)
  return processes.told(
    checks.complaint(ended, (0,)), *compare.differences(path, whole)
  )


def _read(command: str, sent: str, work: pathlib.Path) -> str:
  path = runs.whole(processes.KIND, work)
  flags = _READERS[command].format(picture=work / f'outputs{hash(sent)}.png')
  words = runs.command(command, *flags.split())
  words[-1] += f'={path}'
  ended = _shell(words, sent, work)
  # A shell returns 141 if nobody reads a pipe. Without stderr there is no line
  # to count.
  if ended.code in (1, 120) and not ended.err:
    return '' if ended.code == 1 else 'exit code 120'
  return checks.complaint(ended, (0, 1, 141))


def play(work: pathlib.Path) -> list[checks.Check]:
  """Tries all cases."""
  runs.whole(processes.KIND, work)
  cases = []

  def add(group: str, name: str, find: Callable[..., str], *given: Any) -> None:
    find = functools.partial(find, *given, work)
    cases.append(processes.Case(group, name, find))

  for index, (name, sent) in enumerate(_SENT.items()):
    add('train', name, _train, sent, f'outputs_{index}')
  for command in _READERS:
    for name, sent in _SENT.items():
      add(command.rpartition('.')[2], name, _read, command, sent)
  add('names of folders', 'LANG=C', _named, 'Läufe ✓')
  add('names of folders', 'not UTF-8', _named, os.fsdecode(b'l\xe4ufe'))
  return processes.tried(PART, cases)
