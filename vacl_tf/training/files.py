# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Atomic writes: an interrupted write leaves no incomplete file in place."""

import contextlib
import itertools
import json
import os
import pathlib
import re
from collections.abc import Iterator
from typing import Any

NEW = '.new'  # Suffix of files and folders that are not complete yet.
# TensorFlow takes a path with one of these for a glob pattern.
_NOT_IN_NAMES = '[\\'
_GRAPH_NODE = re.compile(r'{{.*?}} ?')  # A place in a graph; no help to a user.


class WriteError(Exception):
  """A file can't be written; the message is one line and says why."""


@contextlib.contextmanager
def writing(path: pathlib.Path, *more: type[Exception]) -> Iterator[None]:
  """Turns errors of the enclosed block into a WriteError of one line.

  Args:
    path: the file or folder that is written.
    *more: exceptions that the writer may raise besides OSError.

  Raises:
    WriteError: the path can't be written.
  """
  try:
    yield
  except (OSError, *more) as error:
    reason = getattr(error, 'strerror', None) or first_line(error)
    raise WriteError(f'{path} cannot be written ({reason})') from error


@contextlib.contextmanager
def replaced(path: pathlib.Path) -> Iterator[pathlib.Path]:
  """Yields a path to write to; the file there then replaces the old one.

  Raises:
    OSError: it can't be written; the old file is unchanged.
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
  """Writes a text file completely or not at all.

  Raises:
    WriteError: it can't be written; the old file is unchanged.
  """
  with writing(path), replaced(path) as beside:
    beside.write_text(text, encoding='utf-8')


def write_json(path: pathlib.Path, content: Any) -> None:
  """Writes a JSON file completely or not at all.

  Raises:
    WriteError: it can't be written; the old file is unchanged.
  """
  write_text(path, json.dumps(content, indent=2) + '\n')


def sync(path: pathlib.Path) -> None:
  """Waits until a file, or the entries of a folder, are on the disk."""
  descriptor = os.open(path, os.O_RDONLY)
  try:
    os.fsync(descriptor)
  finally:
    os.close(descriptor)


def set_aside(path: pathlib.Path, ending: str) -> pathlib.Path:
  """Renames a file or folder to an unused name; returns the new path.

  Raises:
    WriteError: it can't be renamed.
  """
  names = (f'{path.name}{ending}{number}' for number in itertools.count(1))
  beside = map(path.with_name, names)
  with writing(path):
    free = next(x for x in beside if not os.path.lexists(x))
    return path.rename(free)


def unreadable(path: pathlib.Path) -> str:
  """Returns what TensorFlow can't read in a path, '' if there is nothing."""
  name = os.fspath(path)
  found = [x for x in _NOT_IN_NAMES if x in name]
  try:
    name.encode()
  except UnicodeEncodeError:
    found.append('bytes that are not UTF-8')
  return ' and '.join(found)


def first_line(error: Exception) -> str:
  """Returns the first line of an error's message, shortened."""
  text = _GRAPH_NODE.sub('', str(error)).strip() or repr(error)
  return text.splitlines()[0][:200]
