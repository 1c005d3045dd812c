# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""A submission to the benchmark: one curriculum, by name or in a file."""

import hashlib
from typing import NamedTuple

from vacl_tf import catalog
from vacl_tf import overrides
from vacl_tf import reading
from vacl_tf.launch import command_line
from vacl_tf.launch import extensions

_MAX_BYTES = 1 << 20  # Largest size of a submitted file.


class Submission(NamedTuple):
  """A curriculum that was submitted.

  Attributes:
    name: name under which the curriculum is registered.
    file: name of the submitted file; empty for a curriculum of the library.
    content: content of the file.
  """

  name: str
  file: str = ''
  content: bytes = b''

  @property
  def sha256(self) -> str:
    """Digest of the file; empty if there is none."""
    return hashlib.sha256(self.content).hexdigest() if self.file else ''

  @property
  def copy(self) -> str:
    """Name of the file's copy; no module of the user has a name like it."""
    return f'{self.file.removesuffix(".py")}_{self.sha256[:8]}.py'


def load(given: str | None) -> Submission:
  """Imports a submission.

  Args:
    given: path of a .py file, or the name of a curriculum of the library.

  Raises:
    UsageError: there is no such curriculum, or the file can't be imported or
      does not register exactly one.
  """
  before = catalog.CURRICULA.names()
  if given is None:
    raise command_line.UsageError(
      'give --submission=FILE.py, or the name of a curriculum: '
      + ', '.join(before)
    )
  if not given.endswith('.py'):
    if given not in before:
      raise command_line.UsageError(
        overrides.unknown('submission', given, before)
        + '; a file of your own ends in .py'
      )
    return Submission(given)
  path = command_line.folder(given)
  try:
    content = reading.read_bytes(path, _MAX_BYTES)
    command_line.load_modules([given])
  except FileNotFoundError as error:
    raise command_line.UsageError(
      f'submission={given} is not a file; give the path of one'
    ) from error
  except reading.UnreadableError as error:
    raise command_line.UsageError(f'submission: {error}') from error
  except extensions.ImportFailure as error:
    told = str(error).removeprefix('import=')
    raise command_line.UsageError(f'submission={told}') from error
  new = [x for x in catalog.CURRICULA.names() if x not in before]
  if len(new) != 1:
    raise command_line.UsageError(
      f'submission={given} registers {len(new)} curricula'
      f'{": " * bool(new)}{", ".join(new)}; register exactly one, with '
      'python_curriculum.register or vacl_tf.register_curriculum'
    )
  return Submission(new[0], path.name, content)
