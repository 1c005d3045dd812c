# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for film: what MuJoCo renders, and what happens where it cannot."""

import math
import os
import subprocess
import sys
from unittest import mock

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments import hide_and_seek
from vacl_tf.environments import rendering
from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek.rendering import drawing
from vacl_tf.environments.hide_and_seek.rendering import film

_WIDTH = 320
_PROGRAM = f"""
import numpy as np
{{first}}
from {hide_and_seek.__name__} import load
from {environment.__name__} import HideAndSeekWorlds
from {film.__name__} import shoot
task = load('ramp_use')
worlds = HideAndSeekWorlds(task, 2, 1)
worlds.place(task.sample_uniform(2, np.random.default_rng(0)), 0)
made = shoot(task, [worlds.state], 64)
print(made.renderer, *np.shape(made.frames))
"""
_TENSORFLOW = """
import tensorflow as tf
tf.function(lambda x: tf.sin(x) @ x, jit_compile=True)(tf.ones([2, 2]))
"""


def _worlds(name, num_worlds=1, **options):
  """Returns a task and the state at the start of some worlds."""
  task = hide_and_seek.load(name, **options)
  worlds = environment.HideAndSeekWorlds(task, num_worlds, threads=1)
  rng = np.random.default_rng(0)
  worlds.place(task.sample_uniform(num_worlds, rng), 0)
  return task, worlds.state


def _with_places(state, *places):
  """Returns a state of one world in which entities are at x and y."""
  position = np.zeros_like(state.position)
  position[0, :, :2] = places
  return state._replace(position=position)


def _platform(name):
  return mock.patch.dict(os.environ, {'MUJOCO_GL': name})


def _run(platform, first=''):
  """Runs the program above; returns it, and whether to use OpenGL or not."""
  variables = {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}
  variables.pop('MUJOCO_GL', None)
  if platform is not None:
    variables['MUJOCO_GL'] = platform
  return subprocess.run(
    [sys.executable, '-c', _PROGRAM.format(first=first)],
    env=variables,
    capture_output=True,
    text=True,
    check=False,
  )


class AnyMachineTest(parameterized.TestCase):
  @parameterized.parameters('egl', 'osmesa', 'glfw', 'bogus', 'disable', None)
  def test_there_are_pictures_whatever_there_is(self, platform):
    done = _run(platform)
    self.assertEqual(done.returncode, 0, done.stderr)
    renderer, *shape = done.stdout.split()
    self.assertEqual(shape, ['1', '2', '76', '64', '3'])
    if renderer == film.DRAWING:
      self.assertRegex(done.stderr, r'^WARNING:.*apt-get install libegl1.*\n$')
    else:
      self.assertEqual(done.stderr, '')
      self.assertIn(renderer, (platform,) if platform else ('egl', 'osmesa'))
    if platform in ('bogus', 'disable'):
      self.assertEqual(renderer, film.DRAWING)
      self.assertIn('unset MUJOCO_GL', done.stderr)

  def test_tensorflow_may_be_there_too(self):
    # Two LLVMs in a process have killed it.
    done = _run(None, _TENSORFLOW)
    self.assertEqual(done.returncode, 0, done.stderr)
    self.assertEndsWith(done.stdout, ' 1 2 76 64 3\n')

  def test_worlds_are_drawn_where_they_cannot_be_rendered(self):
    task, state = _worlds('lock_and_return', num_worlds=2)
    with _platform('disable'), self.assertLogs(level='WARNING') as logs:
      made = film.shoot(task, [state, state], _WIDTH)
    self.assertEqual(made.renderer, film.DRAWING)
    self.assertLen(logs.output, 1)
    self.assertNotIn('\n', logs.output[0])
    expected = [
      rendering.render(scene, _WIDTH) for scene in drawing.scenes(task, state)
    ]
    np.testing.assert_array_equal(made.frames, [expected, expected])

  def test_a_program_that_dies_does_no_harm(self):
    task, state = _worlds('ramp_use')
    died = subprocess.CompletedProcess((), -11, b'', b'')
    with (
      mock.patch.object(film.subprocess, 'run', return_value=died),
      _platform('glfw'),
      self.assertLogs(level='WARNING') as logs,
    ):
      made = film.shoot(task, [state], _WIDTH)
    self.assertEqual(made.renderer, film.DRAWING)
    self.assertIn('glfw: exit code -11', logs.output[0])

  def test_a_program_that_hangs_is_given_up(self):
    task, state = _worlds('ramp_use')
    with (
      mock.patch.object(film, '_PATIENCE', 0.01),
      _platform('egl'),
      self.assertLogs(level='WARNING') as logs,
    ):
      made = film.shoot(task, [state], _WIDTH)
    self.assertEqual(made.renderer, film.DRAWING)
    self.assertIn('egl: timed out after 0.01 s', logs.output[0])

  def test_impossible_orders_are_refused(self):
    task, state = _worlds('ramp_use')
    with self.assertRaisesRegex(ValueError, 'allowed: one state or more'):
      film.shoot(task, [])
    with self.assertRaisesRegex(ValueError, 'width=15; allowed: 16 pixels'):
      film.shoot(task, [state], 15)


class RenderedTest(parameterized.TestCase):
  """Needs OpenGL, and is skipped where there is none."""

  def shoot(self, task, *states):
    """Returns pictures [T, width, width, 3] of the first world, as floats."""
    made = film.shoot(task, states, _WIDTH)
    if made.renderer == film.DRAWING:
      self.skipTest('no OpenGL here')
    frames = np.array([worlds[0] for worlds in made.frames])
    self.assertEqual(frames.dtype, np.uint8)
    self.assertEqual(frames.shape[1:], (round(1.09 * _WIDTH), _WIDTH, 3))
    return frames[:, :_WIDTH].astype(float)

  def test_pictures_depend_on_the_state_alone(self):
    task, state = _worlds('lock_and_return', num_worlds=2)
    other = state._replace(position=state.position[::-1])
    made = film.shoot(task, [state, other, state], 64)
    np.testing.assert_array_equal(made.frames[0], made.frames[2])
    self.assertTrue(np.any(made.frames[0][0] != made.frames[1][0]))
    # The worlds have changed places, but not captions and birthplaces.
    task, state = _worlds('ramp_use', num_worlds=2)
    flipped = state._replace(
      position=state.position[::-1], is_seen=state.is_seen[::-1]
    )
    made = film.shoot(task, [state, flipped], 64)
    np.testing.assert_array_equal(made.frames[0], made.frames[1][::-1])

  @parameterized.parameters('lock_and_return', 'ramp_use')
  def test_the_whole_floor_is_in_the_picture(self, name):
    task, state = _worlds(name)
    side = task.arena.side
    away = [(side / 2, side / 2 + 0.5 * i) for i in range(3)]
    corners = [(x, y) for x in (0.2, side - 0.5) for y in (0.2, side - 0.5)]
    states = [
      _with_places(state, place, *away) for place in (away[0], *corners)
    ]
    empty, *frames = self.shoot(task, *states)
    for frame, (x, y) in zip(frames, corners, strict=True):
      # Where the agent is and was, the latter being in the middle.
      rows, columns = np.nonzero(np.abs(frame - empty).max(-1) > 40)
      for places, is_far in ((columns, x > side / 2), (rows, y < side / 2)):
        end = places.max() if is_far else _WIDTH - 1 - places.min()
        self.assertBetween(end, 0.8 * _WIDTH, _WIDTH - 2)

  def test_who_moves_changes_the_picture_near_by_only(self):
    task, state = _worlds('ramp_use')
    places = [(4.5, 1.0), (1.0, 1.5), (4.0, 2.0), (1.0, 4.0)]
    states = [_with_places(state, *places)]
    for index in range(4):
      moved = list(places)
      moved[index] = moved[index][0] + 0.6, moved[index][1]
      states.append(_with_places(state, *moved))
    first, *frames = self.shoot(task, *states)
    scale = _WIDTH / 6.6  # Pixels a metre, in the middle.
    for frame, (x, y) in zip(frames, places, strict=True):
      rows, columns = np.nonzero(np.abs(frame - first).max(-1) > 20)
      self.assertGreater(rows.size, 100)
      expected = _WIDTH / 2 + scale * (x + 0.5 - 3.0)
      self.assertLess(np.abs(columns - expected).max(), 1.1 * scale)
      expected = _WIDTH / 2 - scale * (y + 0.2 - 3.0)
      self.assertLess(np.abs(rows - expected).max(), 1.1 * scale)

  @parameterized.parameters(('lock_and_return', 0), ('ramp_use', 1))
  def test_what_is_locked_turns_dark(self, name, thing):
    task, state = _worlds(name)
    is_locked = state.is_locked.copy()
    is_locked[0, thing] = True
    before, after = self.shoot(task, state, state._replace(is_locked=is_locked))
    changes = (after - before).sum(-1)
    self.assertLess(changes.min(), -100)
    self.assertLess(changes.max(), 10)  # Nothing gets brighter.

  def test_rings_are_about_birthplaces(self):
    task, state = _worlds('lock_and_return')
    away = state._replace(birthplace=state.birthplace - [4.0, 0.0])
    frames = self.shoot(task, state, away)
    changed = np.abs(frames[1] - frames[0]).max(-1) > 40
    self.assertGreater(changed.sum(), 100)
    task, state = _worlds('ramp_use')
    away = state._replace(birthplace=state.birthplace - [1.0, 0.0])
    frames = self.shoot(task, state, away)
    np.testing.assert_array_equal(*frames)

  def test_the_heading_shows(self):
    task, state = _worlds('ramp_use')
    position = state.position.copy()
    position[0, 1] = 1.5, 1.5, 0.0, 0.0
    position[0, 2:, :2] = (5, 5), (4, 5)
    states = []
    for yaw in (0.0, math.pi / 2, math.pi, 2 * math.pi):
      position[0, 1, 3] = yaw
      states.append(state._replace(position=position.copy()))
    south, east, north, again = self.shoot(task, *states)
    self.assertLess(np.abs(again - south).max(), 20)
    rows, columns = np.nonzero(np.abs(east - south).max(-1) > 60)
    self.assertGreater(rows.size, 20)
    middle = _WIDTH / 2 + _WIDTH / 6.6 * (1.65 - 3.0)  # Of the agent.
    self.assertGreater(columns.max() - middle, middle - columns.min())
    dark_south, dark_north = (
      np.nonzero((frame.max(-1) < 130) & (np.abs(frame - other).max(-1) > 60))
      for frame, other in ((south, north), (north, south))
    )
    # Rows grow to the south.
    self.assertGreater(dark_south[0].mean(), dark_north[0].mean())

  def test_a_line_shows_that_the_hider_is_seen(self):
    task, state = _worlds('ramp_use')
    state = _with_places(state, (5, 1), (1, 5), (1, 1), (4, 4))
    frames = self.shoot(
      task,
      state._replace(is_seen=np.array([[False]])),
      state._replace(is_seen=np.array([[True]])),
    )
    rows, columns = np.nonzero(np.abs(frames[1] - frames[0]).max(-1) > 30)
    # From the upper left to the lower right.
    self.assertGreater(np.ptp(rows), 0.4 * _WIDTH)
    self.assertGreater(np.corrcoef(rows, columns)[0, 1], 0.99)


if __name__ == '__main__':
  absltest.main()
