# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Starts and ends tiny runs in separate processes."""

import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from vacl_tf import overrides
from vacl_tf import presets
from vacl_tf.testing import commands
from vacl_tf.testing import tiny

MAIN = 'vacl_tf.launch.main'
SECONDS = 600.0  # Far above what a tiny run takes on a busy machine.


class Kind(NamedTuple):
  """A tiny run.

  Attributes:
    env: the task.
    sizes: values that differ from the task's preset, by leaf of the config.
    steps: environment steps of an iteration.
    iterations: iterations of the whole run.
    every: iterations between checkpoints.
  """

  env: str
  sizes: Mapping[str, Any]
  steps: int
  iterations: int
  every: int

  def flags(self, iterations: int = 0) -> tuple[str, ...]:
    """Returns the flags of a run; 0 iterations mean `self.iterations`."""
    steps = (iterations or self.iterations) * self.steps
    return (
      f'--env={self.env}',
      *(f'--config.{name}={value}' for name, value in self.sizes.items()),
      f'--num_env_steps={steps}',
      f'--checkpoint_interval={self.every}',
      f'--evaluation_interval={2 * self.every}',
      '--num_checkpoints=2',
    )


def _kind(env: str, iterations: int, every: int) -> Kind:
  cfg = presets.make(env=env)
  small = tiny.shrunk(cfg)
  before, after = overrides.leaves(cfg), overrides.leaves(small)
  sizes = {name: x for name, x in after.items() if x != before[name]}
  steps = small.training.num_tasks * small.environment.horizon
  steps *= small.training.num_rollouts
  return Kind(env, sizes, steps, iterations, every)


PARTICLE = _kind('simple_spread', iterations=24, every=2)
RAMP_USE = _kind('ramp_use', iterations=12, every=1)
KINDS = (PARTICLE, RAMP_USE)


def environment(work: pathlib.Path) -> dict[str, str]:
  """Returns the environment of children, which share compiled programs."""
  return {
    **os.environ,
    'TF_CPP_MIN_LOG_LEVEL': '3',
    'TF_XLA_FLAGS': '',
    'XDG_CACHE_HOME': str(work),
  }


def command(module: str, *arguments: str) -> list[str]:
  """Returns the words of a command of the library."""
  return [sys.executable, '-m', module, *arguments]


class Child:
  """A process whose output goes to files, so that no pipe can block it."""

  def __init__(
    self, words: Iterable[str], work: pathlib.Path, **options: Any
  ) -> None:
    self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    options = {'stdout': self._out, 'stderr': self._err} | options
    options = {'env': environment(work)} | options
    self.process = subprocess.Popen(
      list(words), stdin=subprocess.DEVNULL, **options
    )

  def wait(self, seconds: float = SECONDS) -> commands.Ended:
    """Returns how the process ended; kills a process that hangs."""
    note = ''
    try:
      self.process.wait(seconds)
    except subprocess.TimeoutExpired:
      self.process.kill()
      self.process.wait()
      note = f'\nstill there after {seconds:.0f} s'
    texts = []
    for file in (self._out, self._err):
      file.seek(0)
      texts.append(file.read().decode(errors='replace'))
      file.close()
    return commands.Ended(self.process.returncode, texts[0], texts[1] + note)

  def output(self) -> str:
    """Returns what the process has printed so far."""
    return os.pread(self._out.fileno(), 1 << 20, 0).decode(errors='replace')


def train(
  kind: Kind, run_dir: pathlib.Path, work: pathlib.Path, **options: Any
) -> Child:
  """Starts the command that trains."""
  words = command(MAIN, *kind.flags(), f'--run_dir={run_dir}')
  return Child(words, work, **options)


def whole(kind: Kind, work: pathlib.Path) -> pathlib.Path:
  """Returns the folder of a run that was never interrupted."""
  path = work / f'whole_{kind.env}'
  if not (path / 'curves.png').exists():
    ended = train(kind, path, work).wait()
    if ended.code:
      raise RuntimeError(f'{kind.env} does not train: {ended.err}')
  return path
