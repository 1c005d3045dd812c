# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Files that are whole or not there at all, whatever cuts a write short."""

import contextlib
import itertools
import json
import os
import pathlib
import re
from collections.abc import Iterator
from typing import Any

NEW = '.new'  # Ends the name of what is not whole yet.
_GRAPH_NODE = re.compile(r'{{.*?}} ?')  # Where in a graph; no help to a user.


class WriteError(Exception):
  """A file can't be written; the message is one line and says why."""


@contextlib.contextmanager
def writing(path: pathlib.Path, *more: type[Exception]) -> Iterator[None]:
  """Turns what goes wrong meanwhile into one line.

  Args:
    path: what is written.
    *more: what the writer raises besides OSError.

  Raises:
    WriteError: it can't be written.
  """
  try:
    yield
  except (OSError, *more) as error:
    reason = getattr(error, 'strerror', None) or first_line(error)
    raise WriteError(f'{path} cannot be written ({reason})') from error


@contextlib.contextmanager
def replaced(path: pathlib.Path) -> Iterator[pathlib.Path]:
  """Yields where to write a file that then takes the place of the old one.

  Raises:
    OSError: it can't be written; the old one is as before.
  """
  beside = path.with_name(path.name + NEW)
  try:
    yield beside
    sync(beside)
    beside.replace(path)
    sync(path.parent)
  except Exception:
    with contextlib.suppress(OSError):
      beside.unlink(missing_ok=True)
    raise


def write_text(path: pathlib.Path, text: str) -> None:
  """Writes a file whole or not at all.

  Raises:
    WriteError: it can't be written; the old one is as before.
  """
  with writing(path), replaced(path) as beside:
    beside.write_text(text)


def write_json(path: pathlib.Path, content: Any) -> None:
  """Writes a JSON file whole or not at all.

  Raises:
    WriteError: it can't be written; the old one is as before.
  """
  write_text(path, json.dumps(content, indent=2) + '\n')


def sync(path: pathlib.Path) -> None:
  """Waits until a file, or the names in a folder, are on the disk."""
  descriptor = os.open(path, os.O_RDONLY)
  try:
    os.fsync(descriptor)
  finally:
    os.close(descriptor)


def set_aside(path: pathlib.Path, ending: str) -> pathlib.Path:
  """Renames a file or folder to a name that is free; returns it.

  Raises:
    WriteError: it can't be renamed.
  """
  names = (f'{path.name}{ending}{number}' for number in itertools.count(1))
  beside = map(path.with_name, names)
  with writing(path):
    free = next(x for x in beside if not os.path.lexists(x))
    return path.rename(free)


def first_line(error: Exception) -> str:
  """Returns what an error says, short enough for one line."""
  text = _GRAPH_NODE.sub('', str(error)).strip() or repr(error)
  return text.splitlines()[0][:200]
