# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""config.json: what was run, with what, on what."""

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
from vacl_tf.training import files

_PACKAGES = (
  'tensorflow',
  'tensorflow-probability',
  'dm-sonnet',
  'numpy',
  'scipy',
)
_FILE = pathlib.Path(__file__)
_MUJOCO = 'mujoco'  # Optional: particle worlds do without it.


def write(
  path: pathlib.Path,
  cfg: config.Config,
  length: config.RunLength,
  imports: Sequence[str] = (),
  num_replicas: int = 1,
  is_resumed: bool = False,
) -> None:
  """Writes what was run.

  Args:
    path: of config.json.
    cfg: all constants.
    length: when the run ends, is evaluated and saved.
    imports: modules with tasks, agents or curricula of the user's own.
    num_replicas: processes that train it.
    is_resumed: whether the run goes on. Then the revision is marked where the
      file says that other source or packages, or another processor, trained it
      so far.
  """
  files.write_json(
    path,
    {
      'config': overrides.leaves(cfg),
      'imports': list(imports),
      'run_length': dataclasses.asdict(length),
      'num_replicas': num_replicas,
      **(_marked(_made_by(), path) if is_resumed else _made_by()),
    },
  )


def shared(cfg: config.Config, length: config.RunLength) -> dict[str, Any]:
  """Returns what all processes that train a run together have in common."""
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
  """Returns it with a revision that tells if not all of a run is of it."""
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
  """Returns the commit of the source, marked if it was changed since."""
  try:
    # An installed package may lie in a repository of somebody else.
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
