# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a curriculum in TensorFlow returns to a trainer is checked first."""

from unittest import mock

import numpy as np
import tensorflow as tf
from absl.testing import parameterized

from vacl_tf import builtin  # noqa: F401  Registers what has names.
from vacl_tf import catalog
from vacl_tf.curriculum import base
from vacl_tf.launch import curriculum_server
from vacl_tf.launch import curriculum_service
from vacl_tf.launch import curriculum_space

_NUM_TASKS = 8


class _Drawn(base.Uniform):
  """Draws as `draw` says, and notes how many tasks were played."""

  draw = None

  def __init__(self, setting):
    super().__init__(setting)
    self.calls = tf.Variable(0, trainable=False)

  def sample(self, num_tasks, seed, size=None):
    self.calls.assign_add(1)
    phi = self._space.sample_target(num_tasks, seed)
    return (type(self).draw(phi, size),)

  def update(self, batches, feedback, evaluation, seed):
    return {'played': batches[0].size}


def _typing_error(setting):
  return setting.cfg.curriculum.noize


class RefusalsTest(tf.test.TestCase, parameterized.TestCase):
  def setUp(self):
    super().setUp()
    self.enter_context(mock.patch.dict(catalog.CURRICULA._entries))

  def _service(self, make, oracle=None):
    catalog.register_curriculum(
      catalog.CurriculumSpec(name='of_a_user', make=make)
    )
    corner = np.ones([2])
    space = curriculum_space.TrainerSpace(-corner, corner, 2, None, oracle)
    cfg = curriculum_server.make_config('of_a_user', _NUM_TASKS, 0, {})
    return curriculum_service.Service(cfg, space)

  def _drawing(self, draw, oracle=None):
    self.enter_context(mock.patch.object(_Drawn, 'draw', draw))
    return self._service(_Drawn, oracle)

  def test_one_that_ignores_the_size_gets_it(self):
    service = self._drawing(lambda phi, size: base.fresh_batch(phi))
    self.assertLen(service.sample(3), 3)
    found = service.update({'value': np.ones([3])}, float('nan'))
    self.assertEqual(found['played'], 3)

  @parameterized.named_parameters(
    ('rows', lambda phi, size: base.fresh_batch(phi[:4]), 'given 4 tasks and'),
    ('size', lambda phi, size: base.fresh_batch(phi, size - 1), 'a size of 5$'),
    ('nan', lambda phi, size: base.fresh_batch(phi * np.nan, size), 'finite'),
    ('box', lambda phi, size: base.fresh_batch(phi + 9.0, size), 'feasible'),
    ('dims', lambda phi, size: base.fresh_batch(phi[:, :1], size), 'shape'),
  )
  def test_wrong_tasks_are_refused(self, draw, told):
    service = self._drawing(draw)
    with self.assertRaisesRegex(base.CurriculumError, told) as raised:
      service.sample(6)
    message = str(raised.exception)
    self.assertStartsWith(message, 'sample (curriculum_refusals_test.py, line')
    self.assertNotIn('\n', message)
    self.assertIsNone(service.open_round)
    self.assertAllEqual(service.state()[1]['000'], 0)  # As it was before.

  def test_what_the_trainer_refuses_is_refused(self):
    service = self._drawing(
      lambda phi, size: base.fresh_batch(-tf.abs(phi), size),
      lambda tasks: tasks[:, :1] > 0,
    )
    with self.assertRaisesRegex(base.CurriculumError, 'expected feasible tas'):
      service.sample(6)

  def test_a_typing_error_is_not_taken_for_a_need_of_worlds(self):
    with self.assertRaisesRegex(AttributeError, "attribute 'noize'"):
      self._service(_typing_error)


if __name__ == '__main__':
  tf.test.main()
