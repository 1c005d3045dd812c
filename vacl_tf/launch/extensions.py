# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Imports users' modules, which register tasks, agents and so on."""

import importlib
import os
import pathlib
import sys
import types
from collections.abc import Callable, Iterable

from vacl_tf import builtin  # noqa: F401  Registers the built-in entries.
from vacl_tf import catalog
from vacl_tf import reading
from vacl_tf import studies
from vacl_tf import user_code

# Names of files that registered studies and nothing else.
_only_studies: set[str] = set()

_REGISTRIES = (
  catalog.TASKS,
  catalog.AGENTS,
  catalog.CURRICULA,
  studies.STUDIES,
)


class ImportFailure(Exception):
  """A module can't be imported; the message is one line and says why."""


def load(
  names: Iterable[str], folder: pathlib.Path, note: Callable[[str], None]
) -> None:
  """Imports modules.

  Args:
    names: names of modules, or paths of .py files.
    folder: the user's working directory; its modules can be imported, and paths
      are relative to it.
    note: function that is called with a line on each module that registers
      nothing.

  Raises:
    ImportFailure: a module is missing, or fails while it is imported.
  """
  for name in names:
    before = [entries.names() for entries in _REGISTRIES]
    is_path = name.endswith('.py')
    file = folder / os.path.expanduser(name)
    path = file.resolve() if is_path else None
    module = path.stem if is_path else name
    _add_to_path((path.parent if is_path else folder).resolve())
    is_new = module not in sys.modules
    imported = _import(name, module, path)
    if path is not None and not _is_from(imported, path):
      raise ImportFailure(
        f'import={name}: there is another module called {module}; rename the '
        'file'
      )
    if is_new:
      grown = [
        entries
        for entries, known in zip(_REGISTRIES, before, strict=True)
        if entries.names() != known
      ]
      if not grown:
        note(f'{name} registers no task, agent, curriculum or study')
      if grown == [studies.STUDIES]:
        _only_studies.add(file.name)


def has_only_studies(name: str) -> bool:
  """Returns whether all that a file registered when imported are studies."""
  return name in _only_studies


def _add_to_path(folder: pathlib.Path) -> None:
  # Last, so that no file hides an installed module of the same name.
  if str(folder) not in sys.path:
    sys.path.append(str(folder))
    importlib.invalidate_caches()


def _import(
  name: str, module: str, path: pathlib.Path | None
) -> types.ModuleType:
  if path is not None:
    _check_file(name, path)
  try:
    return importlib.import_module(module)
  except ModuleNotFoundError as error:
    if error.name and f'{module}.'.startswith(f'{error.name}.'):
      raise ImportFailure(
        f'import={name} is not a module that can be found from here; give its '
        'name, or the path of a .py file'
      ) from error
    raise _failure(name, error) from error
  # The user has to fix whatever the module raises. SystemExit comes from a
  # program, which a user may import by mistake.
  except (Exception, SystemExit) as error:
    raise _failure(name, error) from error


def _check_file(name: str, path: pathlib.Path) -> None:
  try:
    is_there = reading.kind(path) == reading.FILE
  except reading.UnreadableError as error:
    raise ImportFailure(f'import: {error}; give another file') from error
  if not is_there:
    raise ImportFailure(f'import={name} is not a file; give the path of one')
  if '.' in path.stem:
    raise ImportFailure(
      f'import={name}: {path.name} has a dot in its name, which a module '
      'cannot have; rename it'
    )


def _failure(name: str, error: BaseException) -> ImportFailure:
  return ImportFailure(f'import={name} failed: {user_code.told(error)}')


def _is_from(module: types.ModuleType, path: pathlib.Path) -> bool:
  file = getattr(module, '__file__', None)
  return file is not None and pathlib.Path(file).resolve() == path
