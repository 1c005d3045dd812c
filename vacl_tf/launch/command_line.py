# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What the commands share: flags, folders and one-line errors."""

import contextlib
import os
import pathlib
import sys
from collections.abc import Callable, Iterator

from absl import flags

RUN_DIR = flags.DEFINE_string('run_dir', None, 'Folder of the run.')
SEED = flags.DEFINE_integer('seed', 0, 'Root of all randomness.', lower_bound=0)
JSON = flags.DEFINE_bool('json', False, 'Print one JSON object.')

USAGE, FAILURE = 2, 1  # Exit codes.


class UsageError(Exception):
  """The user can mend it; the message is one line and says how."""


def run(main: Callable[[], int | None]) -> None:
  """Parses the flags, calls main and exits with its code.

  Errors that a user can cause end in one line on stderr and exit code 2.
  """
  if '--help' in sys.argv:
    print(_help(sys.modules[main.__module__].__doc__ or ''))
    sys.exit(0)
  try:
    rest = flags.FLAGS(sys.argv)[1:]
    if rest:
      raise UsageError(f'{rest[0]!r} is not a flag; flags begin with --')
    code = main() or 0
  except (UsageError, flags.Error) as error:
    _complain(str(error))
    code = USAGE
  sys.stdout.flush()
  sys.exit(code)


def fail(message: str) -> int:
  """Prints why a command failed while it ran; returns the exit code."""
  _complain(message)
  return FAILURE


def _help(about: str) -> str:
  """Returns what a command is about, and its flags without absl's own."""
  modules = sorted(
    module
    for module in flags.FLAGS.flags_by_module_dict()
    if module == sys.argv[0] or module.startswith('vacl_tf.')
  )
  # Each begins with the module's name, which is no help to a user.
  listed = [flags.FLAGS.module_help(module) for module in modules]
  parts = [text.strip().partition('\n')[2] for text in listed]
  return '\n'.join([about.strip(), '', *parts])


def _complain(message: str) -> None:
  print('error: ' + ' '.join(message.split()), file=sys.stderr)


def folder(path: str) -> pathlib.Path:
  """Returns a path given by the user, relative to where the user stands."""
  return pathlib.Path(os.environ.get('BUILD_WORKING_DIRECTORY', '.')) / path


@contextlib.contextmanager
def quiet_imports() -> Iterator[None]:
  """Hides what C++ code writes to stderr while it is being imported.

  Some of TensorFlow's greetings come before its log level is looked at.
  """
  sys.stderr.flush()
  real = os.dup(2)
  with open(os.devnull, 'w') as nowhere:
    os.dup2(nowhere.fileno(), 2)
  try:
    yield
  finally:
    os.dup2(real, 2)
    os.close(real)
