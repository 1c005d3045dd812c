# Copyright 2026 The vacl_tf Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests of the package: tasks by name, and what they need installed."""

import importlib.metadata
import subprocess
import sys
from unittest import mock

from absl.testing import absltest
from absl.testing import parameterized

from vacl_tf.environments import hide_and_seek
from vacl_tf.environments.hide_and_seek import environment
from vacl_tf.environments.hide_and_seek import lock_and_return
from vacl_tf.environments.hide_and_seek import ramp_use
from vacl_tf.environments.hide_and_seek import speed
from vacl_tf.environments.hide_and_seek.rendering import film

_WITHOUT_TENSORFLOW = f"""
import sys
import numpy as np
import {environment.__name__} as environment
import {film.__name__} as film
import {speed.__name__} as speed
from {hide_and_seek.__name__} import NAMES, load
for name in NAMES:
  task = load(name)
  worlds = environment.HideAndSeekWorlds(task, 1, threads=1)
  worlds.place(task.sample_easy(1, np.random.default_rng(0)), 0)
  worlds.observe()
  worlds.step(np.zeros([1, len(task.actors), 5], int))
  speed.measure(task, 2, 1, 2)
print('tensorflow' in sys.modules)
"""


class LoadTest(parameterized.TestCase):
  def test_every_name_has_its_task(self):
    for name in hide_and_seek.NAMES:
      self.assertEqual(hide_and_seek.load(name).name, name)

  def test_options_are_those_of_the_task(self):
    task = hide_and_seek.load('lock_and_return', num_agents=4, num_boxes=3)
    self.assertIsInstance(task, lock_and_return.LockAndReturn)
    self.assertEqual(task.cast, (4, 3, 0))
    task = hide_and_seek.load('ramp_use', reward_scale=0.1, has_box=False)
    self.assertIsInstance(task, ramp_use.RampUse)
    self.assertEqual(task.reward_scale, 0.1)
    self.assertEqual(task.cast, (2, 0, 1))

  @parameterized.parameters(
    ('ramp_us', {}, "task='ramp_us' is unknown; did you mean ramp_use"),
    (
      'ramp_use',
      {'num_agents': 2},
      "option of ramp_use='num_agents' is unknown; allowed: reward_scale, has",
    ),
    ('lock_and_return', {'num_agents': 0}, 'num_agents=0 .*allowed: 1 to 8'),
  )
  def test_others_are_refused_in_a_line(self, name, options, message):
    with self.assertRaisesRegex(ValueError, message) as caught:
      hide_and_seek.load(name, **options)
    self.assertNotIn('\n', str(caught.exception))

  @parameterized.parameters('3.10.0', '2.3.7', '0')
  def test_an_old_mujoco_is_refused(self, version):
    with (
      mock.patch.object(importlib.metadata, 'version', return_value=version),
      self.assertRaisesRegex(
        ImportError, rf'mujoco is {version};.*4\.0 or newer: pip install'
      ),
    ):
      hide_and_seek.load('ramp_use')

  def test_no_mujoco_is_refused(self):
    missing = importlib.metadata.PackageNotFoundError('mujoco')
    with (
      mock.patch.object(importlib.metadata, 'version', side_effect=missing),
      self.assertRaisesRegex(ImportError, 'mujoco is not installed; .*pip'),
    ):
      hide_and_seek.load('ramp_use')

  @parameterized.parameters('4.0.0', '4.1', '10.0.0rc1')
  def test_a_new_one_is_taken(self, version):
    with mock.patch.object(importlib.metadata, 'version', return_value=version):
      hide_and_seek.load('ramp_use')

  def test_no_tensorflow_is_imported(self):
    done = subprocess.run(
      [sys.executable, '-c', _WITHOUT_TENSORFLOW],
      capture_output=True,
      text=True,
      check=False,
    )
    self.assertEqual(done.stdout, 'False\n', done.stderr)


if __name__ == '__main__':
  absltest.main()
