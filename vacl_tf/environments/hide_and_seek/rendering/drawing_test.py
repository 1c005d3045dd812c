# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests for drawing: what is where in a picture."""

import math

import numpy as np
from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments import hide_and_seek
from vacl_tf.environments import rendering
from vacl_tf.environments import shapes
from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek.rendering import drawing
from vacl_tf.environments.hide_and_seek.rendering import palette

_WIDTH = 600


def _worlds(name, num_worlds=2, **options):
  """Returns a task and the state at the start of some worlds."""
  task = hide_and_seek.load(name, **options)
  worlds = environment.HideAndSeekWorlds(task, num_worlds, threads=1)
  rng = np.random.default_rng(0)
  worlds.place(task.sample_uniform(num_worlds, rng), 0)
  return task, worlds.state


def _frame(task, state, world=0):
  return rendering.render(drawing.scenes(task, state)[world], _WIDTH)


def _pixel(frame, task, x, y):
  """Returns the colour at a place on the floor, in metres from its corner."""
  scale = _WIDTH / task.arena.side
  return tuple(frame[int(_WIDTH - scale * y), int(scale * x)].tolist())


def _ramp_use(index, *pose):
  """Returns Ramp-Use and a state with one entity in a pose, others far off."""
  task, state = _worlds('ramp_use')
  position = np.zeros_like(state.position)
  position[..., :2] = 4.0
  position[0, index] = pose
  return task, state._replace(position=position)


def _centre(task, state, index, world=0):
  """Returns x and y of the middle of an entity."""
  return state.position[world, index, :2] + task.cast.half_sizes()[index]


def _colours(task, state, world=0):
  colours = palette.colours(task.cast, state.is_locked[world])
  return [tuple(colour) for colour in colours.tolist()]


class PlaceTest(parameterized.TestCase):
  @parameterized.parameters(
    ('lock_and_return', {'num_agents': 8, 'num_boxes': 4}), ('ramp_use', {})
  )
  def test_every_entity_is_in_its_place_in_its_world(self, name, options):
    task, state = _worlds(name, **options)
    for world in range(2):
      frame = _frame(task, state, world)
      colours = _colours(task, state, world)
      for index in range(task.cast.num_entities):
        # Off the middle, where the arrow of a ramp is not.
        aside = [0.7 * task.cast.half_sizes()[index], 0.0]
        x, y = _centre(task, state, index, world) + aside
        self.assertEqual(_pixel(frame, task, x, y), colours[index], index)

  def test_colours_tell_who_is_who(self):
    task, state = _worlds('lock_and_return', num_agents=8, num_boxes=1)
    self.assertLen(set(_colours(task, state)), 9)
    task, state = _worlds('ramp_use')
    self.assertLen(set(_colours(task, state)), 4)

  @parameterized.parameters(*range(4))
  def test_who_moves_changes_the_picture_at_both_ends_only(self, index):
    task, state = _worlds('ramp_use')
    position = state.position.copy()
    position[0, :, :2] = (3.6, 0.5), (1.0, 1.0), (4.6, 1.5), (1.0, 4.0)
    state = state._replace(position=position)
    moved = position.copy()
    moved[0, index, :2] += [0.0, 0.8]
    before = _frame(task, state)
    after = _frame(task, state._replace(position=moved))
    rows, columns = np.nonzero(np.any(before != after, -1))
    scale = _WIDTH / task.arena.side
    x, y = columns / scale, task.arena.side - rows / scale
    middle = _centre(task, state, index)
    self.assertLess(np.abs(x - middle[0]).max(), 0.3)
    self.assertBetween(y.min(), middle[1] - 0.35, middle[1] - 0.1)
    self.assertBetween(y.max(), middle[1] + 0.9, middle[1] + 1.1)

  def test_other_worlds_do_not_matter(self):
    task, state = _worlds('ramp_use')
    position = state.position.copy()
    position[1] += 0.1
    other = state._replace(position=position)
    np.testing.assert_array_equal(_frame(task, state), _frame(task, other))
    self.assertTrue(np.any(_frame(task, state, 1) != _frame(task, other, 1)))

  def test_walls(self):
    task, state = _worlds('ramp_use')
    frame = _frame(task, state)
    for x, y in ((0.1, 3.0), (5.9, 3.0), (3.0, 5.9), (3.1, 0.2), (5.0, 3.1)):
      self.assertEqual(_pixel(frame, task, x, y), shapes.WALL)


class TurnTest(parameterized.TestCase):
  @parameterized.parameters(0.0, 0.5 * math.pi, math.pi, 1.0, -20.0)
  def test_beaks_are_in_front(self, yaw):
    task, state = _ramp_use(1, 1.5, 1.5, 0.0, yaw)
    frame = _frame(task, state)
    ahead = 0.22 * np.array([math.sin(yaw), -math.cos(yaw)])  # Front is -y.
    beak = _pixel(frame, task, *(1.65 + ahead))
    colour = _colours(task, state)[1]
    self.assertLess(max(beak), 0.6 * max(colour))
    self.assertGreater(min(_pixel(frame, task, *(1.65 - ahead))), 230)

  @parameterized.parameters(2, 3)
  def test_things_are_turned(self, index):
    for yaw, reaches in ((0.0, False), (math.pi / 4, True)):
      task, state = _ramp_use(index, 1.5, 1.5, 0.0, yaw)
      pixel = _pixel(_frame(task, state), task, 1.75 + 0.31, 1.75)
      self.assertEqual(pixel == _colours(task, state)[index], reaches)

  @parameterized.parameters(0.0, 0.5 * math.pi, math.pi)
  def test_arrows_point_to_the_high_end_of_ramps(self, yaw):
    task, state = _ramp_use(3, 1.5, 1.5, 0.0, yaw)
    frame = _frame(task, state)
    up = np.array([math.sin(yaw), -math.cos(yaw)])
    across = np.array([up[1], -up[0]])
    high = [0.2 * up + side * 0.12 * across for side in (-1, 1)]
    low = [-0.16 * up + side * 0.12 * across for side in (-1, 1)]
    colour = _colours(task, state)[3]
    for place in high:  # Beside the tip.
      self.assertEqual(_pixel(frame, task, *(1.75 + place)), colour)
    for place in low:  # Within the broad end.
      self.assertNotEqual(_pixel(frame, task, *(1.75 + place)), colour)


class MarkTest(parameterized.TestCase):
  @parameterized.parameters('lock_and_return', 'ramp_use')
  def test_what_is_locked_is_dark_and_nothing_else(self, name):
    task, state = _worlds(name)
    num_agents = task.cast.num_agents
    for locked in range(task.cast.num_objects):
      is_locked = state.is_locked.copy()
      is_locked[0, locked] = True
      frame = _frame(task, state._replace(is_locked=is_locked))
      for index in range(task.cast.num_objects):
        x, y = _centre(task, state, num_agents + index) + [0.2, 0.0]
        brightness = max(_pixel(frame, task, x, y))
        self.assertEqual(brightness < 100, index == locked)

  def test_rings_are_about_birthplaces(self):
    task, state = _worlds('lock_and_return')
    position = state.position.copy()
    position[0, :, :2] = (1, 1), (3, 1), (1, 3), (3, 3)
    state = state._replace(position=position)
    frame = _frame(task, state)
    for agent, home in enumerate(state.birthplace[0] + 0.15):
      for angle in np.linspace(0.0, 2.0 * math.pi, 8):
        toward = np.array([math.cos(angle), math.sin(angle)])
        ring = np.array(_pixel(frame, task, *(home + 0.47 * toward)))
        inside = np.array(_pixel(frame, task, *(home + 0.35 * toward)))
        colour = _colours(task, state)[agent]
        self.assertLess(np.abs(ring - colour).max(), 60)
        self.assertGreater(inside.min(), 180)

  def test_there_are_no_rings_where_nobody_has_to_return(self):
    task, state = _worlds('ramp_use')
    moved = state._replace(birthplace=state.birthplace + 1.0)
    np.testing.assert_array_equal(_frame(task, state), _frame(task, moved))

  def test_a_line_shows_that_the_hider_is_seen(self):
    task, state = _worlds('ramp_use')
    position = state.position.copy()
    position[0, :, :2] = (5, 1), (1, 5), (1, 1), (4, 4)
    state = state._replace(position=position)
    for is_seen in (False, True):
      frame = _frame(
        task, state._replace(is_seen=np.full_like(state.is_seen, is_seen))
      )
      for share in (0.2, 0.5, 0.8):
        place = np.array([1.15 + 4 * share, 5.15 - 4 * share])
        is_line = _pixel(frame, task, *place) == palette.SIGHT
        self.assertEqual(is_line, is_seen)
        beside = _pixel(frame, task, *(place + 0.1))
        self.assertNotEqual(beside, palette.SIGHT)


if __name__ == '__main__':
  absltest.main()
