# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Digests of users' files, which tell whether a file has changed."""

import contextlib
import hashlib
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

from vacl_tf import reading
from vacl_tf.launch import command_line

KEY = 'import_digests'  # In config.json.
_MAX_BYTES = 1 << 24


def of_files(imports: Iterable[str]) -> dict[str, str]:
  """Returns the SHA-256 of files by their names; no two have the same name.

  Args:
    imports: modules, which are left out, and paths of files. A file that can't
      be read is left out, too.
  """
  found = {}
  for file in (command_line.folder(x) for x in imports if x.endswith('.py')):
    with contextlib.suppress(FileNotFoundError, reading.UnreadableError):
      content = reading.read_bytes(file, _MAX_BYTES)
      found[file.name] = hashlib.sha256(content).hexdigest()
  return found


def of_run(path: pathlib.Path) -> dict[str, str]:
  """Returns digests of the files with which a run began.

  Args:
    path: path of config.json; {} is returned if it can't be read.
  """
  try:
    return of_config(reading.read_json(path))
  except (FileNotFoundError, reading.UnreadableError):
    return {}


def of_config(content: Mapping[str, Any]) -> dict[str, str]:
  """Returns the digests in the content of a config.json, {} if it has none."""
  found = content.get(KEY)
  found = found if isinstance(found, dict) else {}
  return {name: x for name, x in found.items() if isinstance(x, str)}


def changed(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
  """Returns the names of files in `now` that had another digest `then`."""
  return [name for name in now if then.get(name, now[name]) != now[name]]
