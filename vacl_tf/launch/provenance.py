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
from typing import Any

import tensorflow as tf

import vacl_tf
from vacl_tf import config
from vacl_tf.training import saving

_PACKAGES = ('tensorflow', 'tensorflow-probability', 'dm-sonnet', 'numpy')
_MUJOCO = 'mujoco'  # Particle worlds do without it.


def write(
  path: pathlib.Path, cfg: config.Config, length: config.RunLength
) -> None:
  """Writes config, run length, versions, hardware and git revision."""
  saving.write_json(
    path,
    {
      'config': config.leaves(cfg),
      'run_length': dataclasses.asdict(length),
      'versions': _versions(),
      'hardware': _hardware(),
      'git_revision': _git_revision(),
    },
  )


def _versions() -> dict[str, str]:
  packages = {name: importlib.metadata.version(name) for name in _PACKAGES}
  with contextlib.suppress(importlib.metadata.PackageNotFoundError):
    packages[_MUJOCO] = importlib.metadata.version(_MUJOCO)
  return {
    'vacl_tf': vacl_tf.__version__,
    'python': platform.python_version(),
  } | packages


def _hardware() -> dict[str, Any]:
  processor = platform.processor()
  info = pathlib.Path('/proc/cpuinfo')
  if info.exists():
    lines = info.read_text().splitlines()
    names = [x.split(':', 1)[1] for x in lines if x.startswith('model name')]
    processor = names[0].strip() if names else processor
  return {
    'processor': processor,
    'cores': os.cpu_count(),
    'gpus': [device.name for device in tf.config.list_physical_devices('GPU')],
  }


def _git_revision() -> str:
  """Returns the commit of the source, marked if it was changed since."""
  try:
    return subprocess.run(
      ['git', 'describe', '--always', '--dirty', '--abbrev=40'],
      cwd=pathlib.Path(__file__).parent,
      capture_output=True,
      text=True,
      check=True,
    ).stdout.strip()
  except (OSError, subprocess.CalledProcessError):
    return 'unknown'
