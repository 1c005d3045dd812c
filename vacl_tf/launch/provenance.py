# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""config.json: what was run, with which versions, on which hardware."""

import contextlib
import dataclasses
import importlib.metadata
import os
import pathlib
import platform
import subprocess
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

import vacl_tf
from vacl_tf import config
from vacl_tf import launch
from vacl_tf import machine
from vacl_tf import overrides
from vacl_tf import reading
from vacl_tf.launch import import_digests
from vacl_tf.training import files

_PACKAGES = (
  'tensorflow',
  'tensorflow-probability',
  'dm-sonnet',
  'numpy',
  'scipy',
)
_FILE = pathlib.Path(__file__)
_MUJOCO = 'mujoco'  # Optional: particle worlds do not need it.


def write(
  path: pathlib.Path,
  cfg: config.Config,
  length: config.RunLength,
  imports: Sequence[str] = (),
  num_replicas: int = 1,
  is_resumed: bool = False,
) -> None:
  """Writes config.json.

  Args:
    path: path of config.json.
    cfg: all constants.
    length: when the run ends, is evaluated and saved.
    imports: modules and files with the user's own tasks, agents or curricula.
      The digests are those of the files with which the run began. If imports
      is empty, as it is from Python, a resumed run keeps those of its file.
    num_replicas: number of processes that train the run.
    is_resumed: whether the run is resumed. If so, and if the old file names
      another revision, other packages or another processor, the new revision is
      marked.
  """
  if is_resumed and not imports:
    imports = _recorded_imports(path)
  files.write_json(
    path,
    {
      'config': overrides.leaves(cfg),
      'imports': list(imports),
      import_digests.KEY: import_digests.of_files(imports)
      | (import_digests.of_run(path) if is_resumed else {}),
      'run_length': dataclasses.asdict(length),
      'num_replicas': num_replicas,
      **(_marked(_made_by(), path) if is_resumed else _made_by()),
    },
  )


def note_length(path: pathlib.Path, length: config.RunLength) -> None:
  """Records the length of a run that has reached it already.

  Args:
    path: path of config.json.
    length: when the run ends, is evaluated and saved.

  Raises:
    WriteError: the file can't be written.
  """
  content = reading.read_json(path)
  if content.get('run_length') != (new := dataclasses.asdict(length)):
    files.write_json(path, content | {'run_length': new})


def _recorded_imports(path: pathlib.Path) -> list[str]:
  """Returns the imports that a config.json names, if it can be read."""
  try:
    found = reading.read_json(path).get('imports')
  except (FileNotFoundError, reading.UnreadableError):
    found = None
  found = found if isinstance(found, list) else []
  return [x for x in found if isinstance(x, str)]


def shared(cfg: config.Config, length: config.RunLength) -> dict[str, Any]:
  """Returns what must be equal in all processes that train a run."""
  return {
    **overrides.leaves(cfg),
    **overrides.leaves(length),
    **{name: x for name, x in _versions().items() if name != 'python'},
    'git_revision': _git_revision(),
  }


def _made_by() -> dict[str, Any]:
  return {
    'versions': _versions(),
    'hardware': _hardware(),
    'git_revision': _git_revision(),
  }


def _marked(made_by: dict[str, Any], path: pathlib.Path) -> dict[str, Any]:
  """Returns made_by, its revision marked if the file at path differs."""
  try:
    before = reading.read_json(path)
    revision = str(before['git_revision'])
    is_same = (
      before['versions'] == made_by['versions']
      and before['hardware']['processor'] == made_by['hardware']['processor']
      and revision == made_by['git_revision']
    )
  except (FileNotFoundError, reading.UnreadableError, KeyError, TypeError):
    return made_by
  if is_same:
    return made_by
  return made_by | {'git_revision': made_by['git_revision'] + launch.RESUMED}


def _versions() -> dict[str, str]:
  packages = {name: importlib.metadata.version(name) for name in _PACKAGES}
  with contextlib.suppress(importlib.metadata.PackageNotFoundError):
    packages[_MUJOCO] = importlib.metadata.version(_MUJOCO)
  return {
    'vacl_tf': vacl_tf.__version__,
    'python': platform.python_version(),
  } | packages


def _hardware() -> dict[str, Any]:
  return {
    'processor': machine.processor(),
    'cores': os.cpu_count(),
    'gpus': [device.name for device in tf.config.list_physical_devices('GPU')],
  }


def _git_revision() -> str:
  """Returns the commit of the source, marked if it has changed since."""
  try:
    # An installed package may lie in somebody else's repository.
    _git('ls-files', '--error-unmatch', _FILE.name)
    return _git('describe', '--always', '--dirty', '--abbrev=40')
  except (OSError, subprocess.CalledProcessError):
    return 'unknown'


def _git(*arguments: str) -> str:
  return subprocess.run(
    ['git', *arguments],
    cwd=_FILE.parent,
    capture_output=True,
    text=True,
    check=True,
  ).stdout.strip()
