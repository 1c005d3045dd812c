# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a user's chooser declares is checked when it is made."""

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import config
from vacl_tf import randomness
from vacl_tf.curriculum import base
from vacl_tf.curriculum import python_curriculum
from vacl_tf.testing import fakes


def _made(feedback=(), **state):
  """Returns a curriculum whose chooser has this feedback and this state."""

  class Mine(python_curriculum.Chooser):
    def __init__(self, tasks, cfg, rng):
      self.tasks, self.feedback = tasks, feedback
      self.state = state.get('state', {})

    def sample(self, num_tasks, rng):
      return self.tasks.easy(num_tasks, rng)

    def update(self, tasks, told):
      return {}

  setting = base.Setting(
    cfg=config.Config(),
    space=fakes.LineWorld().task_space,
    num_tasks=4,
    most_tasks=4,
    seed=randomness.root(0),
  )
  return python_curriculum.PythonCurriculum('mine', Mine, setting)


class ChooserChecksTest(tf.test.TestCase, parameterized.TestCase):
  @parameterized.parameters(
    (0, np.zeros(3), r'^Mine.state: expected names of arrays, given 0; use a'),
    ((1, 2), 0.0, r'^Mine.state: expected names of arrays, given \(1, 2\)'),
    ('x', np.longdouble(1), r"^Mine.state\['x'\]: .* up to 64 bits, given"),
    ('x', 2**70, r"^Mine.state\['x'\]: .* up to 64 bits, given"),
  )
  def test_what_no_checkpoint_can_hold_is_refused(self, key, value, message):
    with self.assertRaisesRegex(base.CurriculumError, message) as caught:
      _made(state={key: value})
    self.assertNotIn('\n', str(caught.exception))

  @parameterized.parameters(
    *('f2', 'f4', 'f8', 'i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', '?'),
    *('>f4', '>i8'),
  )
  def test_what_a_checkpoint_can_hold_comes_back(self, kind):
    state = {'my numbers': np.array([1, 0, 1], kind)}
    made = _made(state=state)
    other = _made(state={'my numbers': np.zeros([3], kind)})
    path = tf.train.Checkpoint(it=made).write(self.create_tempfile().full_path)
    tf.train.Checkpoint(it=other).read(path).assert_consumed()
    self.assertAllEqual(other.variables[0], [1, 0, 1])

  @parameterized.parameters('success', None, 3)
  def test_feedback_that_is_no_tuple_is_refused(self, feedback):
    with self.assertRaisesRegex(
      base.CurriculumError,
      rf"^Mine.feedback: .* given {feedback!r}; .* write \('success',\)$",
    ):
      _made(feedback)

  def test_feedback_may_be_a_list(self):
    self.assertEqual(_made(['success']).feedback, ('success',))


if __name__ == '__main__':
  tf.test.main()
