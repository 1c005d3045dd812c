# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pictures of recorded worlds.

The caller keeps `worlds.state` after `place` and after each `step`:

  task = hide_and_seek.load('ramp_use')
  worlds = environment.HideAndSeekWorlds(task, num_worlds=4)
  worlds.place(task.sample_uniform(4, rng), seed=0)
  states = [worlds.state]
  for _ in range(task.horizon):
    worlds.step(actions)
    states.append(worlds.state)
  film = shoot(task, states)
  frames = [rendering.tile(pictures) for pictures in film.frames]
  rendering.write_video(frames, 'ramp_use.mp4')
  PIL.Image.fromarray(film.frames[20][0]).save('still.png')

MuJoCo renders pictures with OpenGL in a separate process, for three reasons.
Drivers that render on the CPU load a second LLVM, which crashes a process that
has loaded TensorFlow. MuJoCo selects its OpenGL backend when it is imported.
And a crash of the driver does not end the caller.
"""

import ctypes.util
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from absl import logging

from vacl_tf.environments import rendering
from vacl_tf.environments.hide_and_seek import task as task_lib
from vacl_tf.environments.hide_and_seek.rendering import drawing
from vacl_tf.environments.hide_and_seek.rendering import studio

DRAWING = 'drawing'  # The fallback if MuJoCo cannot render.
# Backends that need no display; on other systems, MuJoCo's default.
_PLATFORMS = ('egl', 'osmesa') if sys.platform == 'linux' else ('',)
_LIBRARIES = {'egl': 'EGL', 'osmesa': 'OSMesa'}
_LEAST_WIDTH = 16
_PATIENCE = 1200.0  # Seconds until a process that hangs is ended.


class Film(NamedTuple):
  """Pictures and how they were made."""

  frames: list[list[rendering.Frame]]  # T times B, [1.09 width, width, 3].
  renderer: str  # The backend that MuJoCo rendered with, or DRAWING.


class _NoPicturesError(Exception):
  """MuJoCo cannot render; the message says why."""


def shoot(
  task: task_lib.Task, states: Sequence[task_lib.State], width: int = 320
) -> Film:
  """Returns pictures of all worlds at all times, each with a caption below.

  MuJoCo renders them with the backend that the environment variable MUJOCO_GL
  names, or else with EGL or OSMesa. If that fails, worlds are drawn from above
  in pictures of the same size, and a warning says what is missing.

  Args:
    task: the task that was played.
    states: T states of the same B worlds.
    width: width of a picture in pixels; the caption adds 9 % to its height.

  Raises:
    ValueError: there are no states, or the width is too small.
  """
  if not len(states):
    raise ValueError('states is empty; allowed: one state or more')
  if width < _LEAST_WIDTH:
    raise ValueError(f'width={width}; allowed: {_LEAST_WIDTH} pixels or more')
  wish = os.environ.get('MUJOCO_GL', '').strip().lower()
  failures = []
  for platform in (wish,) if wish else _PLATFORMS:
    try:
      pictures = _render(task, states, width, platform)
    except _NoPicturesError as error:
      failures.append(str(error))
      continue
    captions = [task.captions(state) for state in states]
    frames = [
      [rendering.with_caption(*pair) for pair in zip(*row, strict=True)]
      for row in zip(pictures, captions, strict=True)
    ]
    return Film(frames, platform or 'MuJoCo')
  logging.warning(
    'MuJoCo cannot render here, so worlds are drawn from above (%s). On Debian '
    'and Ubuntu: apt-get install libegl1 libgl1-mesa-dri, or else libosmesa6%s',
    '; '.join(failures),
    '; and unset MUJOCO_GL' if wish else '',
  )
  frames = [
    [rendering.render(scene, width) for scene in drawing.scenes(task, state)]
    for state in states
  ]
  return Film(frames, DRAWING)


def _render(
  task: task_lib.Task,
  states: Sequence[task_lib.State],
  width: int,
  platform: str,
) -> np.ndarray:
  """Returns pictures [T, B, width, width, 3] from a separate process.

  Raises:
    _NoPicturesError: the process failed.
  """
  job = studio.Job(
    task.arena, task.cast, task.home_radius, task.looks, states, width
  )
  variables = {
    **os.environ,
    'MUJOCO_GL': platform,
    'PYTHONPATH': os.pathsep.join(sys.path),
  }
  with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / 'pictures.npy'
    try:
      done = subprocess.run(
        [sys.executable, '-m', studio.__name__, str(path)],
        input=pickle.dumps(job),
        env=variables,
        capture_output=True,
        check=False,
        timeout=_PATIENCE,
      )
    except subprocess.TimeoutExpired as error:
      raise _NoPicturesError(
        f'MUJOCO_GL={platform}: timed out after {_PATIENCE:.3g} s'
      ) from error
    if done.returncode == 0:
      return np.load(path)
  library = _LIBRARIES.get(platform)
  if library and not ctypes.util.find_library(library):
    reason = f'lib{library} is not installed'
  else:
    told = done.stderr.decode(errors='replace').strip().split('\n')[-1]
    reason = textwrap.shorten(told, 80) or f'exit code {done.returncode}'
  raise _NoPicturesError(f'MUJOCO_GL={platform}: {reason}')
