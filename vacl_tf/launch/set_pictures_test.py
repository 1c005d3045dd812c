# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pictures are dark where the tasks are, and white where none are."""

import numpy as np
from absl.testing import absltest

from vacl_tf.environments import map_layout
from vacl_tf.launch import set_pictures

_ROOM = (-3.0, 3.0, -3.0, 3.0)
_LAYOUT = map_layout.MapLayout(
  ('agent', 'landmark'), 'agent', 'landmark', _ROOM, _ROOM
)


class DrawTest(absltest.TestCase):
  def test_entities_are_where_the_tasks_put_them(self):
    # An agent at the upper left, and a landmark at the lower right.
    active = np.array([[-2.0, 2.0, 2.0, -2.0]] * 9, np.float32)
    history = {'active_phi': active, 'solved_phi': -active}
    found = set_pictures.draw(_LAYOUT, history)
    self.assertEqual(list(found), ['agent', 'landmark'])
    for kind, is_upper_left in (('agent', True), ('landmark', False)):
      picture = found[kind]
      self.assertEqual(picture.dtype, np.uint8)
      height, width, _ = picture.shape
      dark = (picture < 200).any(-1)
      left, right = dark[:, : width // 2], dark[:, width // 2 :]
      for part, is_first in ((left, is_upper_left), (right, not is_upper_left)):
        y, x = np.argwhere(part).mean(0)
        self.assertEqual((y < height / 2, x < width / 4), (is_first, is_first))

  def test_an_empty_set_is_white(self):
    phi = np.zeros([3, 4], np.float32)
    found = set_pictures.draw(
      _LAYOUT, {'active_phi': phi, 'solved_phi': phi[:0]}
    )
    width = found['agent'].shape[1]
    self.assertEqual(found['agent'][:, width // 2 :].min(), 255)
    self.assertLess(found['agent'].min(), 255)

  def test_tasks_of_another_map_have_none(self):
    odd = np.zeros([3, 5], np.float32)
    history = {'active_phi': odd, 'solved_phi': odd}
    self.assertEqual(set_pictures.draw(_LAYOUT, history), {})

  def test_a_curriculum_without_sets_has_none(self):
    self.assertEqual(set_pictures.draw(_LAYOUT, {'scores': np.zeros(3)}), {})


if __name__ == '__main__':
  absltest.main()
